"""Explain a loss as a sum of terms, which change because of facts that differ between platforms.

The extra time of an operation is a sum of terms and an unexplained rest. A term is measured by
benchmarks of the layer below, on both platforms. A cause is a fact that differs between the
platforms and has a share of a term, with bounds. A cause that a measurement contradicts is
*withdrawn*: it stays in the list with the reason why it is not a cause after all.
"""
