"""The probes of the NAS Parallel Benchmarks, a table row for each.

Each benchmark is a program of bareline that compares its result with the published values. This
module declares the valid numbers of ranks. It also declares the arithmetic operations and the bytes
that each program needs per counted operation; docs/method/npb.md derives these numbers.

References
----------
D. Bailey et al., "The NAS Parallel Benchmarks", Int. J. Supercomputer Applications 5(3), 1991,
doi:10.1177/109434209100500306.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._kernel import KERNEL_METRICS, Kernel
from bareline.probes._native import MeasuredPoint
from bareline.probes.base import declared
from bareline.vocabulary.model import Layer, Metric, Sample

#: Floating-point operations of bareline's programs per counted operation; they were determined by
#: counting instructions. EP counts random numbers; IS counts keys and has no such operations.
DONE_PER_COUNTED = {
    "ep": 47.0, "cg": 1.03, "mg": 1.04, "ft": 0.74, "bt": 0.76, "sp": 1.04, "lu": 0.39,
}  # fmt: skip
#: Bytes between caches and memory per counted operation, if the arrays are larger than the caches.
#: EP has no large arrays.
BYTES_PER_COUNTED = {
    "is": 16.0, "cg": 4.8, "mg": 0.92, "ft": 0.78, "bt": 0.069, "sp": 0.27, "lu": 0.18,
}  # fmt: skip
#: Classes whose arrays are larger than the caches.
BEYOND_CACHES = "ABCDE"

#: Sizes of the classes. EP: log2 of the pairs. IS: log2 of the keys. CG: rows, nonzeros of a
#: generating vector, iterations. FT: log2 of all points, iterations. MG, BT, SP, LU: points in a
#: direction, iterations.
_CLASSES: Mapping[str, Sequence[tuple[int, ...]]] = {
    "ep": ((24,), (25,), (28,), (30,), (32,), (36,), (40,)),
    "is": ((16,), (20,), (23,), (25,), (27,), (31,), (35,)),
    "cg": (
        *((1_400, 7, 15), (7_000, 8, 15), (14_000, 11, 15), (75_000, 13, 75), (150_000, 15, 75)),
        *((1_500_000, 21, 100), (9_000_000, 26, 100)),
    ),
    "mg": ((32, 4), (128, 4), (256, 4), (256, 20), (512, 20), (1024, 50), (2048, 50)),
    "ft": ((18, 6), (19, 6), (23, 6), (25, 20), (27, 20), (31, 25), (34, 25)),
    "bt": ((12, 60), (24, 200), (64, 200), (102, 200), (162, 200), (408, 250), (1020, 250)),
    "sp": ((12, 100), (36, 400), (64, 400), (102, 400), (162, 400), (408, 500), (1020, 500)),
    "lu": ((12, 50), (33, 300), (64, 250), (102, 250), (162, 250), (408, 300), (1020, 300)),
}
#: Operations of an iteration as polynomials of the points in a direction, cubic term first.
_POLYNOMIALS = {
    "bt": (3478.8, -17655.7, 28023.7, 0.0),
    "sp": (881.174, -4683.91, 11484.5, -19272.4),
    "lu": (1984.77, -10923.3, 27770.9, -144010.0),
    "mg": (58.0, 0.0, 0.0, 0.0),
}


def _class(kernel: str, problem_class: str) -> tuple[int, ...]:
    return _CLASSES[kernel]["SWABCDE".index(problem_class)]


def operation_count(kernel: str, problem_class: str) -> float:
    """Return the number of operations of a problem class, from which NPB computes the Mop/s.

    The benchmark defines the number. An implementation that needs fewer operations uses the same
    number.
    """
    size, *more = _class(kernel, problem_class)
    if kernel == "ep":
        return 2.0 ** (size + 1)
    if kernel == "is":
        return 10 * 2.0**size
    if kernel == "cg":
        nonzer, iterations = more
        in_row = nonzer * (nonzer + 1)
        return 2.0 * iterations * size * (3 + in_row + 25 * (5 + in_row) + 3)
    (iterations,) = more
    if kernel == "ft":
        log_points = size * math.log(2.0)
        forward = 14.8157 + 7.19641 * log_points
        return 2.0**size * (forward + (5.23518 + 7.21113 * log_points) * iterations)
    cubic, square, linear, constant = _POLYNOMIALS[kernel]
    return iterations * (((cubic * size + square) * size + linear) * size + constant)


ProblemClass = Literal["S", "W", "A", "B", "C", "D", "E"]


@dataclass(frozen=True, slots=True)
class ClassParams:
    """Parameters of a NAS Parallel Benchmark that has no iterations.

    - `problem_class`: size of the problem: S, W, A, B, C, D or E, each several times as large as
      the previous one.
    """

    problem_class: ProblemClass = "W"


@dataclass(frozen=True, slots=True)
class NpbParams(ClassParams):
    """Parameters of a NAS Parallel Benchmark.

    - `problem_class`: size of the problem: S, W, A, B, C, D or E, each several times as large as
      the previous one.
    - `iterations`: number of iterations to run; 0 runs all. Fewer iterations are useful for large
      simulations. Their result cannot be verified, so that the times get a caveat.
    """

    iterations: Annotated[int, Field(ge=0)] = 0


class NpbProgram(Kernel):
    """The probe of a NAS Parallel Benchmark; its rate is `operation_count` divided by the time."""

    layer: ClassVar[Layer] = Layer.NPB
    source: ClassVar[str] = "NAS Parallel Benchmarks 3.4"
    params: type[ClassParams] = NpbParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **KERNEL_METRICS,
        "arithmetic": Metric("flop/s", "higher", detail=True),
        "traffic": Metric("B/s", "higher", detail=True),
    }

    def iterations_asked(self, params: ClassParams) -> int:
        return params.iterations if isinstance(params, NpbParams) else 0

    def delivers(self, params: ClassParams) -> Mapping[str, Metric]:
        """Return the metrics.

        ``arithmetic`` is left out if the kernel has no arithmetic in floating point. ``traffic`` is
        left out if the kernel has no memory traffic, for instance because the data fit into caches.
        """
        absent = {"arithmetic", "traffic"} - self._amounts(params).keys()
        return {name: metric for name, metric in self.metrics.items() if name not in absent}

    def samples(self, params: ClassParams, point: MeasuredPoint) -> list[Sample]:
        """Return the samples of `Kernel`, and the rates of arithmetic and of memory traffic."""
        samples: list[Sample] = []
        for sample in super().samples(params, point):
            samples.append(sample)
            if sample.metric == "rate":
                for metric, each in self._amounts(params).items():
                    samples.append(Sample(metric, each * sample.value))
        return samples

    def _amounts(self, params: ClassParams) -> Mapping[str, float]:
        kernel = self.name.removeprefix("npb.")
        large = params.problem_class in BEYOND_CACHES
        amounts = {"arithmetic": DONE_PER_COUNTED.get(kernel, 0.0)}
        if large:
            amounts["traffic"] = BYTES_PER_COUNTED.get(kernel, 0.0)
        return {metric: amount for metric, amount in amounts.items() if amount}


def _power_of_two(ranks: int) -> str:
    return "" if ranks.bit_count() == 1 else "it needs a power of two"


def _at_most(ranks: int, most: int) -> str:
    return "" if ranks <= most else f"it takes at most {most}"


def _ep(problem_class: str, ranks: int) -> str:
    """Return "" if every rank gets a batch of 2^16 pairs, else the reason."""
    return _at_most(ranks, 1 << (_class("ep", problem_class)[0] - 16))


def _is(problem_class: str, ranks: int) -> str:
    """Return "" if a number of ranks is a power of two within NPB's limits, else the reason."""
    least, most = {"S": (1, 128), "D": (4, 1024), "E": (64, 1024)}.get(problem_class, (1, 1024))
    few = "" if ranks >= least else f"it takes at least {least}"
    return _power_of_two(ranks) or few or _at_most(ranks, most)


def _cg(problem_class: str, ranks: int) -> str:
    """Return "" if the ranks are a power of two, at most the matrix's order, else the reason."""
    return _power_of_two(ranks) or _at_most(ranks, _class("cg", problem_class)[0])


def _mg(problem_class: str, ranks: int) -> str:
    """Return "" if a number of ranks can divide MG's grid, else the reason.

    The number must be a power of two, and each rank needs two points in every direction.
    """
    return _power_of_two(ranks) or _at_most(ranks, (_class("mg", problem_class)[0] // 2) ** 3)


def _ft(problem_class: str, ranks: int) -> str:
    """Return "" if a number of ranks can divide FT's grid, else the reason.

    The number must be a power of two. Up to the number of planes, ranks share the planes; above it,
    they also share the lines of a plane.
    """
    planes = {"S": 64, "W": 32, "A": 128, "B": 256, "C": 512, "D": 1024, "E": 2048}
    return _power_of_two(ranks) or _at_most(ranks, planes[problem_class] ** 2)


def _cells(kernel: str) -> Callable[[str, int], str]:
    """Return the function that checks a number of ranks for BT or SP.

    These kernels cut the grid into cells of at least three points in every direction. The number of
    cells along a side is the square root of the number of ranks.
    """

    def rule(problem_class: str, ranks: int) -> str:
        if math.isqrt(ranks) ** 2 != ranks:
            return "it needs a square number"
        return _at_most(ranks, (_class(kernel, problem_class)[0] // 3) ** 2)

    return rule


def _lu(problem_class: str, ranks: int) -> str:
    """Return "" if the ranks form a rectangle that is at most twice as long as wide, else a reason.

    Each rank needs three points in every direction.
    """
    lengths = [
        ranks // width
        for width in range(1, ranks + 1)
        if ranks % width == 0 and width <= ranks // width <= 2 * width
    ]
    if not lengths:
        return "it needs a product of two factors, the larger at most twice the smaller"
    points = _class("lu", problem_class)[0]
    fewest = 3
    if points // min(lengths) < fewest:
        return f"each needs {fewest} of the {points} points in a direction"
    return ""


_ROWS = (
    ("ep", "pure floating-point computation", _ep),
    ("is", "ranking of integers; memory and all-to-all messages", _is),
    ("cg", "sparse linear algebra; irregular memory, long messages", _cg),
    ("mg", "multigrid; memory bandwidth, messages near and far", _mg),
    ("ft", "Fourier transforms; all data moves all-to-all", _ft),
    ("bt", "flow solver, dense blocks; computation, few large messages", _cells("bt")),
    ("sp", "flow solver, scalar systems; memory and many messages", _cells("sp")),
    ("lu", "pipelined flow solver; many small messages", _lu),
)


def _probe(kernel: str, summary: str, rank_rule: Callable[[str, int], str]) -> NpbProgram:
    title = kernel.upper()
    params = ClassParams if kernel == "ep" else NpbParams
    return declared(
        NpbProgram,
        f"npb.{kernel}",
        title=f"the NAS benchmark {title}",
        summary=f"NAS {title}: {summary}",
        params=params,
        rank_rule=rank_rule,
    )


PROBES = tuple(_probe(*row) for row in _ROWS)
