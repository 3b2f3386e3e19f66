"""Where a loss comes from: a sum of terms, and the facts that differ and change them.

The extra time of an operation is the sum of its terms, each measured by the rung below on both
platforms, and of a rest. A cause is a fact that differs and has a share of a term, with bounds. A
cause that its own measurement contradicts is withdrawn, with the reason.
"""
