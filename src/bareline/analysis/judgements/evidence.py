"""The evidence ("grounds") for a judgement of suitability: losses, measured or published.

A ground is a range of ratios to the baseline; above 1 is worse. It is the 95 % interval of a
measured loss, or the printed value, range or bound of a published loss.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from typing import NamedTuple

from bareline.analysis.numbers.row import Estimate, Row, bounds
from bareline.analysis.numbers.sizes import LARGE_BYTES, SMALL_BYTES
from bareline.vocabulary.caveats import Caveat, codes
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import format_size
from bareline.vocabulary.verdicts import Grade, Verdict

#: Why a ground has no value if both platforms were measured but must not be compared.
NOT_COMPARABLE = "not comparable"

#: Caveats that leave a figure valid, but weaken conclusions from it.
WEAKENING = frozenset(
    {
        "emulated-cpu", "oversubscribed", "shared-host", "steal-time", "simulated", "host-cache",
        "profiled", "short-file",
    }
)  # fmt: skip


class GroundSource(NamedTuple):
    """A metric of a probe, at a size of messages, that is evidence for a class of applications."""

    application_class: str
    size: str
    probe: str
    metric: str


_COLLECTIVES = tuple((collective.probe, "latency") for collective in MEASURED)

#: For each class and size of messages ("" is any size), the metrics of probes that are evidence.
_METRICS = {
    ("parallel", ""): (("npb.ep", "time"), ("hpcc", "dgemm_rate")),
    ("compute", ""): (
        ("compute.dgemm", "rate"), ("compute.linpack", "rate"), ("hpcc", "dgemm_rate"),
        ("hpcc", "dgemm_rate_single"), ("npb.*", "compute"),
    ),
    ("memory", ""): (("memory.stream", "bandwidth"), ("hpcc", "stream_triad")),
    ("large", ""): (
        ("net.nuttcp", "rate"), ("net.iperf3", "rate"), ("hpcc", "ptrans_bandwidth"),
        ("hpcc", "ring_bandwidth"),
    ),
    ("large", "large"): (
        ("net.ib_write_bw", "bandwidth"), ("mpi.bandwidth", "bandwidth"),
        ("mpi.pingpong", "latency"), ("mpi.sendrecv", "bandwidth"), ("mpi.exchange", "bandwidth"),
        *_COLLECTIVES,
    ),
    ("small", "small"): (
        ("net.ib_write_lat", "latency"), ("mpi.pingpong", "latency"), *_COLLECTIVES,
    ),
    ("small", ""): (("hpcc", "ring_latency"), ("mpi.barrier", "latency")),
    ("io", ""): (
        ("io.sequential", "write_rate"), ("io.sequential", "read_rate"),
        ("io.create", "create_rate"), ("io.fio", "write_rate"), ("io.fio", "read_rate"),
        ("io.parallel", "write_rate"), ("io.parallel", "read_rate"),
        ("io.metadata", "create_rate"),
    ),
    ("coupled", ""): (
        ("npb.*", "time"), ("app.*", "time"), ("app.*", "rate"), ("hpcc", "hpl_rate"),
        ("compute.linpack_mpi", "rate"),
    ),
}  # fmt: skip


def _all_sources() -> Iterator[GroundSource]:
    for (application_class, size), metrics in _METRICS.items():
        for probe, metric in metrics:
            yield GroundSource(application_class, size, probe, metric)


SOURCES = tuple(_all_sources())

#: Whole programs that do not communicate: they are evidence for the class "parallel" only.
UNCOUPLED = frozenset({"npb.ep"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much worse a metric or program is on a platform than on the baseline.

    - `lo`, `hi`: the range of the ratio; None for a bound that is open or needs more trials.
    - `printed`: the value as it is printed; empty if measured.
    - `source`: the publication; empty if measured.
    - `figure`: the measured ratio.
    - `cell`: the row of the measured ratio.
    - `grade`: the grade of the measured ratio.
    - `rate`: a higher value of the metric is better.
    - `varies`: the range consists of the values of several programs or sizes; it is not an
      uncertainty.
    - `approximate`: the value is printed with "about".
    - `failure`: why there is no value, in words.
    - `crashed`: two numbers: the launches that crashed or never ended, and all launches.
    """

    application_class: str
    platform: str
    subject: str
    lo: float | None
    hi: float | None
    printed: str = ""
    varies: bool = False
    approximate: bool = False
    n: int = 0
    caveats: tuple[Caveat, ...] = ()
    source: str = ""
    probe: str = ""
    failure: str = ""
    ratio: float | None = None
    grade: Grade | None = None
    crashed: tuple[int, int] = (0, 0)
    figure: Estimate | None = None
    rate: bool = False
    cell: Row | None = field(default=None, compare=False)

    @property
    def most(self) -> float:
        """The largest ratio that a program may have on the platform; infinite without a bound."""
        if self.hi is None:
            return inf
        return self.hi

    @property
    def weakened(self) -> bool:
        """Whether a caveat weakens conclusions from this evidence."""
        return bool(WEAKENING & codes(self.caveats))


def measured_grounds(
    cells: Sequence[Row], titles: Mapping[str, str], emulated: Collection[str] = ()
) -> list[Evidence]:
    """Return the measured evidence for each class of applications, with an entry for each point."""
    telling = {}
    for probe, group in grouped_by(cells, lambda cell: cell.place.probe).items():
        telling[probe] = varying([cell.place for cell in group])
    grounds: list[Evidence | None] = []
    for cell in _judged(cells):
        probe = cell.place.probe
        subject = _subject(cell, titles.get(probe, probe), telling[probe])
        caveats = _caveats(cell, emulated)
        sources = [source for source in SOURCES if _speaks(cell.place, source)]
        grounds += [_measured(cell, source, subject, caveats) for source in sources]
    return [ground for ground in grounds if ground is not None]


def _judged(cells: Sequence[Row]) -> list[Row]:
    """Return the rows by which platforms are judged.

    A program that was only measured under the profiler is judged by its profiled points.
    """
    plain = {cell.place.probe for cell in cells if not _profiled(cell.place)}
    judged = []
    for cell in cells:
        superseded = _profiled(cell.place) and cell.place.probe in plain
        if cell.metric.better != "none" and not superseded:
            judged.append(cell)
    return judged


def _speaks(place: Place, source: GroundSource) -> bool:
    """Whether a place (case and metric) has the metric and the probe of a source of evidence."""
    if place.metric != source.metric:
        return False
    if not fnmatchcase(place.probe, source.probe):
        return False
    if source.application_class != "coupled":
        return True
    return place.probe not in UNCOUPLED


def _caveats(cell: Row, emulated: Collection[str]) -> tuple[Caveat, ...]:
    """Return the caveats of a row, including the caveat of an emulated processor."""
    if cell.platform in emulated and "emulated-cpu" not in codes(cell.caveats):
        return (Caveat("emulated-cpu"), *cell.caveats)
    return cell.caveats


def _profiled(place: Place) -> bool:
    return place.coordinates.get("profile") is True


def _measured(
    cell: Row, source: GroundSource, subject: str, caveats: tuple[Caveat, ...]
) -> Evidence | None:
    """Return the evidence from one point for one class of applications.

    The result is None if the point's message size does not belong to `source`, or if the point was
    not measured.
    """
    if cell.verdict in _NOT_THERE:
        return None
    without = cell.verdict in _FAILURES and cell.ratio is None
    # A failed case has no points, and so no size.
    failed_whole = without and not cell.place.point
    if not is_of_size(source.size, cell.place.size_bytes) and not failed_whole:
        return None
    failure = ""
    span = None
    if without:
        failure = _FAILURES.get(cell.verdict, "")
    else:
        span = _span(cell)
    limits = bounds(span)
    crashed = (0, 0)
    if cell.lost is not None:
        crashed = cell.lost.ended_badly(worse=True)
    return Evidence(
        application_class=source.application_class,
        platform=cell.platform,
        subject=subject,
        lo=limits["lo"],
        hi=limits["hi"],
        n=cell.n_both,
        caveats=caveats,
        probe=cell.place.probe,
        failure=failure,
        ratio=limits["ratio"],
        grade=cell.grade,
        crashed=crashed,
        figure=cell.ratio,
        rate=cell.rate,
        cell=cell,
    )


def _span(cell: Row) -> Estimate | None:
    """Return the range of a row's ratio, or the bound from its lost launches."""
    if cell.ratio is None:
        return _bound(cell)
    span = cell.ratio
    if cell.exact:
        span = span.with_ends()  # as certain as its verdict
    if cell.grade is not Grade.OPEN:
        return span
    # No loss is shown.
    lo = span.lo
    if lo:
        lo = min(lo, 1.0)
    hi = span.hi
    if hi:
        hi = max(hi, 1.0)
    return Estimate(span.value, lo, hi)


def _bound(cell: Row) -> Estimate | None:
    """Return the bound of a ratio, if lost launches alone show that the row differs."""
    claimed = cell.grade is not None and cell.grade.is_claim
    if not claimed:
        return None
    if cell.lost is None:
        return None
    if not cell.lost.by_loss:
        return None
    bound = cell.lost.at_least
    if bound is None:
        return None
    if bound > 1:
        return Estimate(bound, lo=bound)
    if bound < 1:
        return Estimate(bound, hi=bound)
    return Estimate(bound)


#: Verdicts that are not evidence of the platform's performance.
_NOT_THERE = (Verdict.MISSING, Verdict.DOES_NOT_FIT, Verdict.SKIPPED)
#: Words for verdicts that usually have no value; caveats decide whether the value of an emulated
#: processor counts.
_FAILURES: Mapping[Verdict | None, str] = {
    Verdict.FAILED: "every trial failed",
    Verdict.NOT_COMPARABLE: NOT_COMPARABLE,
}


def is_of_size(wanted: str, size: Scalar | None) -> bool:
    """Whether a message size is in the class `wanted`, "small" or "large".

    True if `wanted` is empty.
    """
    if not wanted:
        return True
    if not isinstance(size, int | float):
        return False
    if isinstance(size, bool):
        return False
    if wanted == "small":
        return size < SMALL_BYTES
    return size >= LARGE_BYTES


def _subject(cell: Row, title: str, telling: Sequence[str]) -> str:
    if not cell.headline:
        metric = cell.place.metric.replace("_", " ")
        # "The rate of sequential writing" is the name of one of its probe's rates.
        named = title.startswith("the rate of ")
        if named:
            title = f"the {metric} ({cell.place.probe})"
        else:
            title = f"{title} ({metric})"
    size = cell.place.size_bytes
    if size is not None:
        title = f"{title} of {format_size(size)}"
    others = [name for name in telling if name not in ("size_bytes", "nodes")]
    details = ", ".join(filter(None, [cell.place.words_of(others), cell.place.where]))
    if details:
        return f"{title} ({details})"
    return title
