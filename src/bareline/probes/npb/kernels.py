"""The NAS Parallel Benchmarks, a row of a table each: what they do, and on how many ranks.

Each is a program of ours, ``npb_ep`` and so on, that computes what the specification asks for and
holds the result against the published values.

References
----------
D. Bailey et al., "The NAS Parallel Benchmarks", Int. J. Supercomputer Applications 5(3), 1991,
doi:10.1177/109434209100500306.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bareline.probes._kernel import Kernel, kernel_metrics
from bareline.probes.base import declared
from bareline.probes.npb._operations import (
    BEYOND_CACHES,
    BYTES_PER_COUNTED,
    DONE_PER_COUNTED,
    size_of,
)
from bareline.vocabulary.model import Layer, Metric, Output, Sample

ProblemClass = Literal["S", "W", "A", "B", "C", "D", "E"]


@dataclass(frozen=True, slots=True)
class ClassParams:
    """Parameters of a NAS Parallel Benchmark that has no iterations.

    - `problem_class`: size of the problem: S, W, A, B, C, D or E, each several times the one
      before.
    """

    problem_class: ProblemClass = "W"


@dataclass(frozen=True, slots=True)
class NpbParams(ClassParams):
    """Parameters of a NAS Parallel Benchmark.

    - `problem_class`: size of the problem: S, W, A, B, C, D or E, each several times the one
      before.
    - `iterations`: run only the first so many of its iterations; 0 runs all. A part cannot be
      verified, which stands beside its times; it is there for large simulations.
    """

    iterations: Annotated[int, Field(ge=0)] = 0


class NpbProgram(Kernel[Any]):
    """A NAS Parallel Benchmark; its rate is nominal, NPB's count of operations by the time."""

    layer: ClassVar[Layer] = Layer.NPB
    source: ClassVar[str] = "NAS Parallel Benchmarks 3.4"
    params: type[ClassParams] = NpbParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **kernel_metrics("op/s"),
        "arithmetic": Metric("flop/s", "higher", detail=True),
        "traffic": Metric("B/s", "higher", detail=True),
    }
    suite: ClassVar[str] = "npb"

    def iterations_asked(self, params: ClassParams) -> int:
        """Give how many iterations are to run; 0 for all of them."""
        return params.iterations if isinstance(params, NpbParams) else 0

    def delivers(self, params: ClassParams) -> Mapping[str, Metric]:
        """Leave out arithmetic where there is none, and traffic where the caches hold the data."""
        absent = {"arithmetic", "traffic"} - self._amounts(params).keys()
        return {name: metric for name, metric in self.metrics.items() if name not in absent}

    def parse(self, params: ClassParams, output: Output) -> Iterable[Sample]:
        """Add to what every kernel measures what the rate means in arithmetic and in bytes."""
        for sample in super().parse(params, output):
            yield sample
            if sample.metric == "rate":
                for metric, each in self._amounts(params).items():
                    yield Sample(metric, each * sample.value)

    def _amounts(self, params: ClassParams) -> Mapping[str, float]:
        """Give what a counted operation takes of the processor and of the memory."""
        amounts = {}
        if self.kernel in DONE_PER_COUNTED:
            amounts["arithmetic"] = DONE_PER_COUNTED[self.kernel]
        if self.kernel in BYTES_PER_COUNTED and params.problem_class in BEYOND_CACHES:
            amounts["traffic"] = BYTES_PER_COUNTED[self.kernel]
        return amounts


def _power_of_two(ranks: int) -> str:
    return "" if ranks.bit_count() == 1 else "it needs a power of two"


def _at_most(ranks: int, most: int) -> str:
    return "" if ranks <= most else f"it takes at most {most}"


def _ep(problem_class: str, ranks: int) -> str:
    """Every rank needs a batch of 2^16 pairs."""
    return _at_most(ranks, 1 << (size_of("ep", problem_class) - 16))


def _is(problem_class: str, ranks: int) -> str:
    """Keys and buckets are shared out evenly, within the limits of the benchmark's definition."""
    least, most = {"S": (1, 128), "D": (4, 1024), "E": (64, 1024)}.get(problem_class, (1, 1024))
    few = "" if ranks >= least else f"it takes at least {least}"
    return _power_of_two(ranks) or few or _at_most(ranks, most)


def _cg(problem_class: str, ranks: int) -> str:
    """The ranks form a grid of powers of two over the matrix."""
    return _power_of_two(ranks) or _at_most(ranks, size_of("cg", problem_class))


def _mg(problem_class: str, ranks: int) -> str:
    """The ranks form a block of powers of two, each with two points in every direction."""
    return _power_of_two(ranks) or _at_most(ranks, (size_of("mg", problem_class) // 2) ** 3)


def _ft(problem_class: str, ranks: int) -> str:
    """Planes of the slowest direction are shared out first, then lines."""
    planes = {"S": 64, "W": 32, "A": 128, "B": 256, "C": 512, "D": 1024, "E": 2048}
    return _power_of_two(ranks) or _at_most(ranks, planes[problem_class] ** 2)


def _cells(kernel: str, problem_class: str, ranks: int) -> str:
    """The ranks cut the grid into cells of at least three points, as many as their root."""
    if math.isqrt(ranks) ** 2 != ranks:
        return "it needs a square number"
    return _at_most(ranks, (size_of(kernel, problem_class) // 3) ** 2)


def _bt(problem_class: str, ranks: int) -> str:
    return _cells("bt", problem_class, ranks)


def _sp(problem_class: str, ranks: int) -> str:
    return _cells("sp", problem_class, ranks)


def _lu(problem_class: str, ranks: int) -> str:
    """The ranks form a rectangle at most twice as long as wide, each with three points."""
    lengths = [
        ranks // width
        for width in range(1, ranks + 1)
        if ranks % width == 0 and width <= ranks // width <= 2 * width
    ]
    if not lengths:
        return "it needs a product of two factors, the larger at most twice the smaller"
    points, fewest = size_of("lu", problem_class), 3
    if points // min(lengths) < fewest:
        return f"each needs {fewest} of the {points} points in a direction"
    return ""


_ROWS = (
    ("ep", "pure floating-point computation", _ep),
    ("is", "ranking of integers; memory and all-to-all messages", _is),
    ("cg", "sparse linear algebra; irregular memory, long messages", _cg),
    ("mg", "multigrid; memory bandwidth, messages near and far", _mg),
    ("ft", "Fourier transforms; all data moves all-to-all", _ft),
    ("bt", "flow solver, dense blocks; computation, few large messages", _bt),
    ("sp", "flow solver, scalar systems; memory and many messages", _sp),
    ("lu", "pipelined flow solver; many small messages", _lu),
)
PROBES = tuple(
    declared(
        NpbProgram,
        f"npb.{kernel}",
        kernel=kernel,
        title=f"the NAS benchmark {kernel.upper()}",
        summary=f"NAS {kernel.upper()}: {summary}",
        params=ClassParams if kernel == "ep" else NpbParams,
        rank_rule=rank_rule,
    )
    for kernel, summary, rank_rule in _ROWS
)
