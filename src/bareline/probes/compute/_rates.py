"""What the probes of floating-point rates have in common: rates, and their share of the peak.

The peak is measured, not computed: just before and after a benchmark the same program runs
independent multiplications and additions in registers, with the widest instructions that the
processor shows, on as many cores at once. A nominal frequency says little where clocks follow the
load, and nothing in a guest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from bareline.probes._native import (
    MeasuredPoint,
    Report,
    positive,
    spread_metrics,
    spread_samples,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layout, Metric, Sample, Scalar

#: A measured rate may exceed a measured peak by their noise, not by more.
_MOST_OF_PEAK = 1.5


def rate_metrics() -> dict[str, Metric]:
    """Give the metrics of a floating-point rate without a peak: median, quantiles."""
    return spread_metrics("rate", "flop/s", "higher")


def peak_metrics() -> dict[str, Metric]:
    """Give the metrics of a rate beside its peak."""
    return {
        **rate_metrics(),
        "share_of_peak": Metric("1", "higher"),
        "peak_rate": Metric("flop/s", "higher"),
        "cores": Metric("1", "none", detail=True),
    }


def peak_samples(report: Report) -> Iterable[Sample]:
    """Give the samples of `peak_metrics` from the only point of an output.

    ``peak_rate`` is that of a core; the share is over all cores that work on the problem.
    """
    point = only_point(report)
    yield from spread_samples(point, "rate", "rate", {})
    rate = point.quantile("rate", "median")
    peak = positive(point.number("peak_rate"), "peak_rate", point)
    together = positive(point.number("peak_cores"), "peak_cores", point)
    share = rate / (peak * together)
    if share > _MOST_OF_PEAK:
        raise ParseError(f"a rate of {rate:g} flop/s is above the peak of {peak * together:g}")
    yield Sample("share_of_peak", share)
    yield Sample("peak_rate", peak)


def only_point(report: Report) -> MeasuredPoint:
    """Give the point of an output that has one, or raise ParseError: it has more."""
    if len(report.points) != 1:
        raise ParseError(f"{len(report.points)} points instead of one")
    return report.points[0]


def check_options(report: Report, asked: Mapping[str, Scalar]) -> None:
    """Hold what the program says it did against what it was asked for.

    Raises ParseError: it did something else.
    """
    said: Any = report.header.get("options")
    for key, value in asked.items():
        found = said.get(key) if isinstance(said, Mapping) else None
        equal = (
            math.isclose(found, value, rel_tol=1e-9)
            if isinstance(value, float) and isinstance(found, int | float)
            else found == value
        )
        if not equal:
            raise ParseError(f"the program says {key} = {found!r}, asked for was {value!r}")


def count_of(report: Report, name: str) -> int:
    """Give a count above zero of the header.

    Raises ParseError: it is missing or no such count.
    """
    value = report.header.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParseError(f"the header has no count '{name}'")
    return value


def thread_options(mode: str, layout: Layout) -> tuple[str, ...]:
    """Give nodebench's options: a layout of one thread leaves the number to the mode."""
    threads = layout.threads_per_rank
    chosen = ("--threads", str(threads)) if threads > 1 else ()
    return ("--mode", mode, *chosen)
