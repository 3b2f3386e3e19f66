"""Common parts of the probes of bareline's kernels: the NAS benchmarks and the mini-apps."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from bareline.probes._native import MeasuredPoint, Report, native, read_report
from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.caveats import NOT_VERIFIED
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Command, Layout, Metric, Output, Sample, Scalar

#: Relative deviation that rounding to the 12 digits of the output explains.
_ROUNDING = 1e-9

KERNEL_METRICS: Mapping[str, Metric] = {
    "time": Metric("s", "lower"),
    "rate": Metric("op/s", "higher"),
    "compute": Metric("s", "lower"),
    "communication": Metric("s", "lower"),
    "compute_mean": Metric("s", "lower", detail=True),
    "communication_mean": Metric("s", "lower", detail=True),
    "imbalance": Metric("1", "lower", detail=True),
}


def squarest(ranks: int) -> tuple[int, int]:
    """Return two factors of a number of ranks that differ least, the smaller one first."""
    width = next(n for n in range(math.isqrt(ranks), 0, -1) if ranks % n == 0)
    return width, ranks // width


class Kernel(Probe[Any]):
    """The probe of a kernel, which measures time, rate and the communication part of the time.

    The probe ``npb.cg`` runs the program ``npb_cg``; the parameters include a ``problem_class``.
    ``compute`` and ``communication`` are the largest values over the ranks. Their sum exceeds
    ``time`` if a rank with more computation makes the other ranks wait. The means over the ranks
    add up to ``time``. ``imbalance`` is the largest computing time divided by the mean.
    """

    def command(self, params: Any, layout: Layout) -> Command:
        iterations = self.iterations_asked(params)
        part = ("-i", str(iterations)) if iterations else ()
        return native(self.name.replace(".", "_"), params.problem_class, *part, mpi=True)

    def iterations_asked(self, params: Any) -> int:
        """Return the number of iterations to run; 0 for all iterations of the problem."""
        return 0

    def check_ranks(self, params: Any, ranks: int, *, where: str | None = None) -> None:
        """Check that a number of ranks is valid for the benchmark.

        The error names the nearest valid numbers.
        """
        size = params.problem_class
        if trouble := self.rank_rule(size, ranks):
            near = " or ".join(map(str, self._near_ranks(size, ranks)))
            hint = f"set ranks = {near}" if near else ""
            raise ProbeError(
                f"{self.name}, class {size}, cannot run on {ranks} ranks: {trouble}",
                where=where,
                hint=hint,
            )

    def _near_ranks(self, problem_class: str, ranks: int) -> list[int]:
        """Return the next smaller and the next larger number of ranks that can run."""
        near: list[int] = []
        for side in (range(ranks - 1, 0, -1), range(ranks + 1, 4 * ranks + 65)):
            fitting = (count for count in side if not self.rank_rule(problem_class, count))
            near += itertools.islice(fitting, 1)
        return near

    @abstractmethod
    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Return the rule that a number of ranks violates; "" if the number is valid."""

    def parse(self, params: Any, output: Output) -> ProbeReading:
        report = read_report(output, *self.name.split("."))
        self.check_header(params, report.header)
        unverified = _unverified(report.point)
        caveats = (f"{NOT_VERIFIED}: {unverified}",) if unverified else ()
        return ProbeReading(
            samples=tuple(self.samples(params, report.point)),
            caveats=caveats,
            facts=self.facts_of(report),
        )

    def check_header(self, params: Any, header: Mapping[str, Any]) -> None:
        """Check that an output is of the requested problem.

        Raises ParseError: the output is of another problem.
        """
        reported = header.get("class")
        if reported != params.problem_class:
            raise ParseError(f"the output is of class {reported} instead of {params.problem_class}")

    def facts_of(self, report: Report) -> Mapping[str, Scalar]:
        """Return the facts of the platform that the program prints."""
        return {}

    def samples(self, params: Any, point: MeasuredPoint) -> list[Sample]:
        """Return the samples of the only point of an output.

        Raises ParseError: the point's numbers contradict each other or the parameters.
        """
        iterations = self.iterations_asked(params)
        unverified = _unverified(point)
        if iterations and point.number("iterations") != iterations:
            raise ParseError(
                f"the program made {point.number('iterations'):g} iterations instead of "
                f"{iterations}"
            )
        if not iterations and "iterations" in unverified:
            raise ParseError(
                f"the result is not verified ({unverified}), but all iterations were requested"
            )
        if not unverified:
            _check_verification(point)
        time = point.positive("time_s")
        rate = point.positive("rate_op_s")
        _check_equal(
            rate * time, point.number("operations"), "rate times time", "the number of operations"
        )
        compute, compute_mean = _spread(point, "compute_s", time)
        communication, communication_mean = _spread(point, "communication_s", time)
        imbalance = point.positive("imbalance")
        _check_equal(
            imbalance * compute_mean,
            compute,
            "imbalance times mean computation",
            "the longest computation",
        )
        most = (compute, communication)
        means = (compute_mean, communication_mean)
        values = (time, rate, *most, *means, imbalance)
        return [Sample(*pair) for pair in zip(KERNEL_METRICS, values, strict=True)]


def _unverified(point: MeasuredPoint) -> str:
    reason = point.fields.get("not_verified", "")
    return reason if isinstance(reason, str) else ""


def _check_verification(point: MeasuredPoint) -> None:
    if point.fields.get("verified") is not True:
        raise ParseError("the output does not show whether the result is right")
    quantities = point.fields.get("verification")
    if not isinstance(quantities, list) or not quantities:
        raise ParseError("the output names no verified quantity")
    for quantity in quantities:
        if not isinstance(quantity, Mapping):
            raise ParseError(
                f"an entry of the verification is not an object: {repr(quantity)[:80]}"
            )
        if quantity.get("passed") is not True:
            text = f"{quantity.get('name')} = {quantity.get('value')}"
            reference = quantity.get("reference")
            raise ParseError(f"the program's result is wrong: {text}, but {reference} is expected")


def _spread(point: MeasuredPoint, name: str, time: float) -> tuple[float, float]:
    least, mean, most = (point.quantile(name, key) for key in ("min", "mean", "max"))
    slack = _ROUNDING * time
    if not (-slack <= least <= mean + slack and mean <= most + slack and most <= time + slack):
        raise ParseError(
            f"{name}: min {least}, mean {mean} and max {most} are not in ascending order, or"
            f" max exceeds the total time of {time} s"
        )
    return most, mean


def _check_equal(value: float, other: float, name: str, other_name: str) -> None:
    if not math.isclose(value, other, rel_tol=_ROUNDING):
        raise ParseError(
            f"two numbers of the output must be equal: {name} is {value}, but {other_name} is"
            f" {other}"
        )
