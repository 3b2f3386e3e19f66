"""The operation counts of the NAS Parallel Benchmarks, from which their Mop/s follow.

They belong to the benchmarks' definition: an implementation that needs fewer operations divides
the same count by its time. What ours do for each counted operation, arithmetic and bytes, is
declared here, too; docs/method/npb.md derives it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

CLASSES = "SWABCDE"

#: Floating-point operations that ours do for each counted one, which were counted instruction by
#: instruction. EP counts random numbers; IS counts keys and does none.
DONE_PER_COUNTED = {
    "ep": 47.0, "cg": 1.03, "mg": 1.04, "ft": 0.74, "bt": 0.76, "sp": 1.04, "lu": 0.39,
}  # fmt: skip
#: Bytes that have to pass between caches and memory for each counted operation, where the arrays
#: are larger than the caches. EP has none.
BYTES_PER_COUNTED = {
    "is": 16.0, "cg": 4.8, "mg": 0.92, "ft": 0.78, "bt": 0.069, "sp": 0.27, "lu": 0.18,
}  # fmt: skip
#: Classes whose arrays are.
BEYOND_CACHES = "ABCDE"

_EP_PAIRS_LOG2 = (24, 25, 28, 30, 32, 36, 40)
_IS_KEYS_LOG2 = (16, 20, 23, 25, 27, 31, 35)
#: Rows, nonzeros of a generating vector, iterations.
_CG = (
    (1_400, 7, 15),
    (7_000, 8, 15),
    (14_000, 11, 15),
    (75_000, 13, 75),
    (150_000, 15, 75),
    (1_500_000, 21, 100),
    (9_000_000, 26, 100),
)
#: Points in each direction, iterations.
_MG = ((32, 4), (128, 4), (256, 4), (256, 20), (512, 20), (1024, 50), (2048, 50))
_BT = ((12, 60), (24, 200), (64, 200), (102, 200), (162, 200), (408, 250), (1020, 250))
_SP = ((12, 100), (36, 400), (64, 400), (102, 400), (162, 400), (408, 500), (1020, 500))
_LU = ((12, 50), (33, 300), (64, 250), (102, 250), (162, 250), (408, 300), (1020, 300))
#: Logarithm of the points to the base 2, iterations.
_FT = ((18, 6), (19, 6), (23, 6), (25, 20), (27, 20), (31, 25), (34, 25))
_SIZES: Mapping[str, Sequence[Any]] = {
    "ep": _EP_PAIRS_LOG2,
    "cg": _CG,
    "mg": _MG,
    "bt": _BT,
    "sp": _SP,
    "lu": _LU,
}
#: Operations of an iteration as polynomials of the points in a direction, cubic term first.
_POLYNOMIALS = {
    "bt": (_BT, (3478.8, -17655.7, 28023.7, 0.0)),
    "sp": (_SP, (881.174, -4683.91, 11484.5, -19272.4)),
    "lu": (_LU, (1984.77, -10923.3, 27770.9, -144010.0)),
    "mg": (_MG, (58.0, 0.0, 0.0, 0.0)),
}


def size_of(kernel: str, problem_class: str) -> int:
    """Give the size of a class: points in a direction, rows (CG), or log2 of pairs (EP)."""
    row = _SIZES[kernel][CLASSES.index(problem_class)]
    return int(row if isinstance(row, int) else row[0])


def operation_count(kernel: str, problem_class: str) -> float:
    """Give the operations of a benchmark's problem class, as its Mop/s count them."""
    row = CLASSES.index(problem_class)
    if kernel == "ep":
        return 2.0 ** (_EP_PAIRS_LOG2[row] + 1)
    if kernel == "is":
        return 10 * 2.0 ** _IS_KEYS_LOG2[row]
    if kernel == "cg":
        rows, nonzer, iterations = _CG[row]
        in_row = nonzer * (nonzer + 1)
        return 2.0 * iterations * rows * (3 + in_row + 25 * (5 + in_row) + 3)
    if kernel == "ft":
        points_log2, iterations = _FT[row]
        log_points = points_log2 * math.log(2.0)
        forward = 14.8157 + 7.19641 * log_points
        return 2.0**points_log2 * (forward + (5.23518 + 7.21113 * log_points) * iterations)
    table, (cubic, square, linear, constant) = _POLYNOMIALS[kernel]
    points, iterations = table[row]
    return iterations * (((cubic * points + square) * points + linear) * points + constant)
