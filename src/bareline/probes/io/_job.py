"""What the probes of ``iobench_mpi``, our program for files of many ranks, have in common.

A rate that is short, or that may be the memory's, is no rate of the storage: IO500 marks such a
result as invalid, here it carries the caveat that says why.

References
----------
J. Kunkel, J. Bent, J. Lofstead and G. S. Markomanolis, "Establishing the IO-500 benchmark", 2017.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bareline.probes._native import MeasuredPoint, Report, positive, read_report
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Output, Sample

#: Shortest phase whose rate is taken for one that lasts. IO500 asks for 300 s.
SUSTAINED_S = 10.0

Files = Literal["shared", "own"]
Readers = Literal["other", "same"]
Sync = Literal["none", "fsync"]


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of all ranks, from the first one's start to the last one's end.

    - `rate`: what was done in the phase over its time.
    - `slowest_s`, `median_s`: times of the slowest and of the median rank.
    """

    time_s: float
    rate: float
    slowest_s: float
    median_s: float
    call_max_s: float


def read_job(
    output: Output, benchmark: str, asked: Mapping[str, str | int | float]
) -> tuple[Report, int]:
    """Read a complete output and its number of ranks.

    Raises ParseError: it is not what the program prints, or of another job than was asked for.
    """
    report = read_report(output, "iobench_mpi", benchmark)
    given = report.header.get("options")
    options = given if isinstance(given, Mapping) else {}
    for key, value in asked.items():
        if options.get(key) != value:
            raise ParseError(f"the output is of another job: {key} = {options.get(key)}")
    return report, int(header_number(report, "ranks"))


def header_number(report: Report, key: str) -> float:
    """Give a number of the header that is above 0, or raise ParseError: there is none."""
    value = report.header.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParseError(f"the header has {key} = {value!r}")
    return value


def read_phase(point: MeasuredPoint, name: str, rate: str, amount: float) -> Phase:
    """Read a phase in which so much was done.

    - `name`: how the fields of its times begin.
    - `rate`: field of its rate.

    Raises ParseError: its figures contradict each other.
    """
    series = f"{name}_rank_time"
    phase = Phase(
        time_s=positive(point.number(f"{name}_time_s"), f"{name}_time_s", point),
        rate=positive(point.number(rate), rate, point),
        slowest_s=positive(point.quantile(series, "max"), series, point),
        median_s=positive(point.quantile(series, "median"), series, point),
        call_max_s=point.number(f"{name}_call_max_s"),
    )
    if not math.isclose(phase.rate * phase.time_s, amount, rel_tol=1e-6):
        raise ParseError(f"{name}: rate, amount and time contradict each other")
    if not phase.call_max_s <= phase.slowest_s <= phase.time_s * (1 + 1e-9):
        raise ParseError(f"{name}: a rank took longer than all of them")
    return phase


def phase_samples(
    phase: Phase, name: str, each: float, at: Mapping[str, str], caveats: tuple[str, ...]
) -> Iterator[Sample]:
    """Give a phase's time, its longest call, and what its slowest and its median rank had of it.

    - `name`: how the metrics of its times begin.
    - `each`: what every rank did in it.
    """
    rate = "rate" if at else f"{name}_rate"
    yield Sample(f"{name}_time", phase.time_s, at, caveats)
    yield Sample(f"{name}_call_max", phase.call_max_s, at, caveats)
    yield Sample(f"slowest_rank_{rate}", each / phase.slowest_s, at, caveats)
    yield Sample(f"median_rank_{rate}", each / phase.median_s, at, caveats)


def common_caveats(report: Report, phase: Phase) -> tuple[str, ...]:
    """Name what makes any phase doubtful."""
    found = () if report.header.get("one_folder") is True else ("node-local",)
    return (*found, "too-short") if phase.time_s < SUSTAINED_S else found


def reading_caveats(report: Report, cached_bytes: float, read_bytes: float) -> tuple[str, ...]:
    """Name whose memory may have answered instead of a device.

    - `cached_bytes`: what was in the page cache of the nodes that read when they began.
    """
    found = ("page-cache",) if cached_bytes > 0 else ()
    remote, own = report.header.get("remote"), report.header.get("own_readers")
    # What a network file system's own client keeps, no page cache shows; that servers have memory,
    # too, the platform says.
    cached = remote is not False and own != 0 and read_bytes < header_number(report, "memory_bytes")
    return (*found, "own-data") if cached else found
