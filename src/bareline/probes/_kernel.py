"""What the probes of bareline's kernels have in common: the NAS benchmarks and the mini-apps.

Each is a program of ours, ``npb_ep`` or ``app_ocean``, that is given a problem class, holds its
result against reference values, and says what of its time was communication.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from bareline.probes._native import MeasuredPoint, positive, read_report
from bareline.probes.base import Probe
from bareline.vocabulary.caveats import NOT_VERIFIED
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Command, Layout, Metric, Output, Sample

#: Relative deviation that rounding to the 12 digits of the output explains.
_ROUNDING = 1e-9


class KernelParams(Protocol):
    """What the parameters of every kernel have."""

    @property
    def problem_class(self) -> str:
        """Size of the problem, a letter."""


P = TypeVar("P", bound=KernelParams)


def kernel_metrics(rate_unit: str) -> Mapping[str, Metric]:
    """Give what every kernel measures."""
    return {
        "time": Metric("s", "lower"),
        "rate": Metric(rate_unit, "higher"),
        "compute": Metric("s", "lower"),
        "communication": Metric("s", "lower"),
        "compute_mean": Metric("s", "lower", detail=True),
        "communication_mean": Metric("s", "lower", detail=True),
        "imbalance": Metric("1", "lower", detail=True),
    }


class Kernel(Probe[P]):
    """A kernel: time, rate, and what of the time was communication.

    ``compute`` and ``communication`` are the largest over the ranks; together they exceed
    ``time`` where a rank that computes longer keeps others waiting. The means over the ranks add
    up to ``time``. ``imbalance`` is the largest over the mean computation time.

    - `suite`: what the program belongs to: "npb" or "app".
    - `kernel`: name of the kernel, e.g. "cg".
    """

    suite: ClassVar[str]
    kernel: ClassVar[str]

    def command(self, params: P, layout: Layout) -> Command:
        """Run the program under MPI, also with one rank."""
        asked = self.iterations_asked(params)
        part = ("-i", str(asked)) if asked else ()
        return Command(
            argv=(f"{{native}}/{self.suite}_{self.kernel}", params.problem_class, *part), mpi=True
        )

    def iterations_asked(self, params: P) -> int:
        """Give how many of its iterations are to run; 0 for all of them."""
        return 0

    def caveats(self, params: P, output: Output) -> Iterable[str]:
        """Say why the result was not verified, where it was not."""
        reason = _unverified(read_report(output, self.suite, self.kernel).points[0])
        return (f"{NOT_VERIFIED}: {reason}",) if reason else ()

    def check_ranks(self, params: P, ranks: int, *, where: str | None = None) -> None:
        """Refuse a number of ranks that the benchmark is not defined for."""
        trouble = self.rank_rule(params.problem_class, ranks)
        if trouble:
            raise ProbeError(
                f"{self.name}, class {params.problem_class}, cannot run on {ranks} ranks: "
                f"{trouble}",
                where=where,
                hint=self._nearest(params.problem_class, ranks),
            )

    @abstractmethod
    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Say which rule a number of ranks breaks; "" when it breaks none."""

    def _nearest(self, problem_class: str, ranks: int) -> str:
        """Name the permitted numbers of ranks around one that is not."""
        below = (count for count in range(ranks - 1, 0, -1))
        above = (count for count in range(ranks + 1, 4 * ranks + 65))
        near = []
        for counts in (below, above):
            for count in counts:
                if not self.rank_rule(problem_class, count):
                    near.append(count)
                    break
        return f"set ranks = {' or '.join(map(str, near))}" if near else ""

    def parse(self, params: P, output: Output) -> Iterable[Sample]:
        """Read the program's JSON lines and hold its figures against each other."""
        report = read_report(output, self.suite, self.kernel)
        said = report.header.get("class")
        if said != params.problem_class:
            raise ParseError(f"class {said} instead of {params.problem_class}")
        if len(report.points) != 1:
            raise ParseError(f"{len(report.points)} points instead of one")
        point = report.points[0]
        self._check_iterations(params, point)
        if not _unverified(point):
            _check_verification(point)
        time = positive(point.number("time_s"), "time_s", point)
        rate = positive(point.number("rate_op_s"), "rate_op_s", point)
        _check_equal(rate * time, point.number("operations"), "rate by time", "operations")
        compute, compute_mean = _spread(point, "compute_s", time)
        communication, communication_mean = _spread(point, "communication_s", time)
        imbalance = positive(point.number("imbalance"), "imbalance", point)
        _check_equal(imbalance * compute_mean, compute, "imbalance by mean", "largest computation")
        yield Sample("time", time)
        yield Sample("rate", rate)
        yield Sample("compute", compute)
        yield Sample("communication", communication)
        yield Sample("compute_mean", compute_mean)
        yield Sample("communication_mean", communication_mean)
        yield Sample("imbalance", imbalance)

    def _check_iterations(self, params: P, point: MeasuredPoint) -> None:
        """Refuse another number of iterations than what was asked for."""
        asked = self.iterations_asked(params)
        if asked and point.number("iterations") != asked:
            raise ParseError(f"{point.number('iterations'):g} iterations instead of {asked}")
        if not asked and "iterations" in _unverified(point):
            raise ParseError(f"{_unverified(point)}, but all were asked for")


def _unverified(point: MeasuredPoint) -> str:
    """Say why the program verified nothing; "" where it did, or should have."""
    reason = point.fields.get("not_verified", "")
    return reason if isinstance(reason, str) else ""


def _check_verification(point: MeasuredPoint) -> None:
    """Refuse a point that does not say of every quantity that it is right."""
    if point.fields.get("verified") is not True:
        raise ParseError("the output does not say whether the result is right")
    quantities = point.fields.get("verification")
    if not isinstance(quantities, list) or not quantities:
        raise ParseError("the output names no verified quantity")
    for quantity in quantities:
        if not isinstance(quantity, Mapping) or quantity.get("passed") is not True:
            raise ParseError(f"a quantity is wrong: {_quantity_text(quantity)}")


def _quantity_text(quantity: Any) -> str:
    if not isinstance(quantity, Mapping):
        return repr(quantity)[:80]
    return f"{quantity.get('name')} = {quantity.get('value')}, expected {quantity.get('reference')}"


def _spread(point: MeasuredPoint, name: str, time: float) -> tuple[float, float]:
    """Give the largest and the mean of a time over the ranks."""
    least, mean, most = (point.quantile(name, key) for key in ("min", "mean", "max"))
    slack = _ROUNDING * time
    if not (-slack <= least <= mean + slack and mean <= most + slack and most <= time + slack):
        raise ParseError(
            f"{name}: min {least}, mean {mean} and max {most} within {time} s contradict each other"
        )
    return most, mean


def _check_equal(value: float, other: float, name: str, other_name: str) -> None:
    if not math.isclose(value, other, rel_tol=_ROUNDING):
        raise ParseError(f"{name} is {value}, but {other_name} {other}")
