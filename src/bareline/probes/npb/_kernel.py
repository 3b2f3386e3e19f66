"""What the probes of the NAS Parallel Benchmarks have in common.

Each benchmark is a program of ours, ``npb_ep`` and so on, that computes what the specification
asks for and holds the result against the published values.

References
----------
D. Bailey et al., "The NAS Parallel Benchmarks", Int. J. Supercomputer Applications 5(3), 1991,
doi:10.1177/109434209100500306.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import Field

from bareline.probes._kernel import Kernel, kernel_metrics
from bareline.probes.npb._operations import BEYOND_CACHES, BYTES_PER_COUNTED, DONE_PER_COUNTED
from bareline.vocabulary.model import Layer, Metric, Output, Sample

ProblemClass = Literal["S", "W", "A", "B", "C", "D", "E"]


@dataclass(frozen=True, slots=True)
class ClassParams:
    """Parameters of a NAS Parallel Benchmark that has no iterations.

    Attributes
    ----------
    problem_class
        Size of the problem: S, W, A, B, C, D or E, each several times the one before.
    """

    problem_class: ProblemClass = "W"


@dataclass(frozen=True, slots=True)
class NpbParams(ClassParams):
    """Parameters of a NAS Parallel Benchmark.

    Attributes
    ----------
    problem_class
        Size of the problem: S, W, A, B, C, D or E, each several times the one before.
    iterations
        Run only the first so many of its iterations; 0 runs all. A part cannot be verified, which
        stands beside its times; it is there for large simulations.
    """

    iterations: Annotated[int, Field(ge=0)] = 0


P = TypeVar("P", bound=ClassParams)


class NpbProgram(Kernel[P]):
    """A NAS Parallel Benchmark; its rate is nominal, NPB's count of operations by the time."""

    layer: ClassVar[Layer] = Layer.NPB
    source: ClassVar[str] = "NAS Parallel Benchmarks 3.4"
    metrics: ClassVar[Mapping[str, Metric]] = {
        **kernel_metrics("op/s"),
        "arithmetic": Metric("flop/s", "higher", detail=True),
        "traffic": Metric("B/s", "higher", detail=True),
    }
    suite: ClassVar[str] = "npb"

    def delivers(self, params: P) -> Mapping[str, Metric]:
        """Leave out arithmetic where there is none, and traffic where the caches hold the data."""
        absent = {"arithmetic", "traffic"} - self._amounts(params).keys()
        return {name: metric for name, metric in self.metrics.items() if name not in absent}

    def parse(self, params: P, output: Output) -> Iterable[Sample]:
        """Add to what every kernel measures what the rate means in arithmetic and in bytes."""
        for sample in super().parse(params, output):
            yield sample
            if sample.metric == "rate":
                for metric, each in self._amounts(params).items():
                    yield Sample(metric, each * sample.value)

    def _amounts(self, params: P) -> Mapping[str, float]:
        """Give what a counted operation takes of the processor and of the memory."""
        amounts = {}
        if self.kernel in DONE_PER_COUNTED:
            amounts["arithmetic"] = DONE_PER_COUNTED[self.kernel]
        if self.kernel in BYTES_PER_COUNTED and params.problem_class in BEYOND_CACHES:
            amounts["traffic"] = BYTES_PER_COUNTED[self.kernel]
        return amounts


class NpbKernel(NpbProgram[NpbParams]):
    """A NAS Parallel Benchmark of iterations, of which a part may run."""

    params: type[NpbParams] = NpbParams

    def iterations_asked(self, params: NpbParams) -> int:
        """Give how many iterations are to run; 0 for all of them."""
        return params.iterations


def power_of_two(ranks: int) -> str:
    """Say that a number of ranks is no power of two; "" when it is one."""
    return "" if ranks.bit_count() == 1 else "it takes a power of two"


def square(ranks: int) -> str:
    """Say that a number of ranks is no square; "" when it is one."""
    return "" if math.isqrt(ranks) ** 2 == ranks else "it takes a square number"


def at_most(ranks: int, most: int) -> str:
    """Say that there are too many ranks; "" when there are not."""
    return "" if ranks <= most else f"it takes at most {most}"


def at_least(ranks: int, least: int) -> str:
    """Say that there are too few ranks; "" when there are not."""
    return "" if ranks >= least else f"it takes at least {least}"
