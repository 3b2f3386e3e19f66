"""Where a loss comes from: what else differs between two platforms, and how much that explains.

Each cause predicts a bounded factor from other measurements and facts, never from the loss itself.
Measured is explained times residual: a residual about 1 says that nothing else is needed, a larger
one that something is unknown. A cause that its own measurement contradicts is withdrawn, with the
reason.
"""
