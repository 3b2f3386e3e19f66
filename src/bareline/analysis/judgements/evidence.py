"""The grounds of a judgement of suitability: losses, measured here or published.

A ground is a span of ratios to the baseline, above 1 is worse: the 95 % interval of a measured
loss, or the printed value, range or bound of a published loss.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from bareline import stats
from bareline.analysis.numbers.row import Estimate, Row, finite
from bareline.analysis.numbers.sizes import LARGE_BYTES, SMALL_BYTES
from bareline.published.catalogue import conditions
from bareline.published.model import PublishedStudy, Trials
from bareline.published.quantities import Condition, Spread
from bareline.published.ratios import PublishedRatio, listed_trials, published_ratios
from bareline.vocabulary.caveats import Caveat, codes
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import format_size
from bareline.vocabulary.verdicts import Grade, Verdict

#: Why a ground has no figure where two sides were measured, but must not be compared.
NOT_COMPARABLE = "not comparable"

#: Caveats that leave a figure valid, but weaken conclusions from it.
WEAKENING = frozenset(
    {
        "emulated-cpu", "oversubscribed", "shared-host", "steal-time", "simulated", "host-cache",
        "profiled", "short-file",
    }
)  # fmt: skip


class GroundSource(NamedTuple):
    """A metric of a probe, at a size of messages, that is evidence on a class of applications."""

    application_class: str
    size: str
    probe: str
    metric: str


_COLLECTIVES = tuple((collective.probe, "latency") for collective in MEASURED)

#: By class and size of messages, "" for any, the metrics of probes that are evidence on it.
_SOURCES = {
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
    for (application_class, size), metrics in _SOURCES.items():
        for probe, metric in metrics:
            yield GroundSource(application_class, size, probe, metric)


_ALL_SOURCES = tuple(_all_sources())

#: Whole programs that do not communicate: they are evidence on "parallel" only.
_UNCOUPLED = frozenset({"npb.ep"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much worse one thing is on a platform than on the baseline.

    - `lo`, `hi`: span of the ratio; None where a bound or too few trials leave it open.
    - `printed`, `source`: the figure as it is printed, and where; empty for a measured ground.
    - `figure`, `cell`, `grade`: the measured ratio, its row and its grade; `rate`: whether more of
      the metric is better.
    - `varies`: the span is an observed range over programs or sizes, not an uncertainty.
    - `approximate`: printed with "about".
    - `failure`: why there is no figure, in words.
    - `crashed`: how many of how many launches crashed or never ended.
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
    def weakened(self) -> bool:
        """Whether a caveat weakens conclusions from it."""
        return bool(WEAKENING & codes(self.caveats))


def measured_grounds(
    cells: Sequence[Row], titles: Mapping[str, str], emulated: Collection[str] = ()
) -> list[Evidence]:
    """Return the grounds that a comparison provides for each class, one ground per point."""
    places_of = {
        probe: [cell.place for cell in group]
        for probe, group in grouped_by(cells, lambda cell: cell.place.probe).items()
    }
    telling = {probe: varying(places) for probe, places in places_of.items()}
    # A program that was measured under the profiler only is judged by its profiled points.
    plain = {probe for probe, places in places_of.items() if not all(map(_profiled, places))}
    grounds: list[Evidence | None] = []
    for cell in cells:
        probe = cell.place.probe
        superseded = _profiled(cell.place) and probe in plain
        if cell.metric.better == "none" or superseded:
            continue
        subject = _subject(cell, titles.get(probe, probe), telling[probe])
        caveats = _caveats(cell, emulated)
        sources = [source for source in _ALL_SOURCES if _speaks(cell.place, source)]
        grounds += [_measured(cell, source, subject, caveats) for source in sources]
    return [ground for ground in grounds if ground is not None]


def _speaks(place: Place, source: GroundSource) -> bool:
    """Whether a place has the metric and the probe of a source of evidence."""
    if place.metric != source.metric or not fnmatchcase(place.probe, source.probe):
        return False
    if source.application_class != "coupled":
        return True
    return place.probe not in _UNCOUPLED


def _caveats(cell: Row, emulated: Collection[str]) -> tuple[Caveat, ...]:
    """Return the caveats of a cell; a platform with an emulated processor always has its caveat."""
    if cell.platform in emulated and "emulated-cpu" not in codes(cell.caveats):
        return (Caveat("emulated-cpu"), *cell.caveats)
    return cell.caveats


def _profiled(place: Place) -> bool:
    return place.coordinates.get("profile") is True


def _measured(
    cell: Row, source: GroundSource, subject: str, caveats: tuple[Caveat, ...]
) -> Evidence | None:
    """Return the ground of one point; None if its size belongs to no class, or it is missing."""
    if cell.verdict in _NOT_THERE:
        return None
    without = cell.verdict in _FAILURES and cell.ratio is None
    # A failed case has no points, and so no size.
    failed_whole = without and not cell.place.point
    if not _of_size(source.size, cell.place.size_bytes) and not failed_whole:
        return None
    span = None
    if not without:
        span = _span(cell)
    return Evidence(
        application_class=source.application_class,
        platform=cell.platform,
        subject=subject,
        lo=span.lo if span else None,
        hi=span.hi if span else None,
        n=cell.n_both,
        caveats=caveats,
        probe=cell.place.probe,
        failure=_FAILURES.get(cell.verdict, "") if without else "",
        ratio=span.value if span else None,
        grade=cell.grade,
        crashed=cell.lost.ended_badly(worse=True) if cell.lost else (0, 0),
        figure=cell.ratio,
        rate=cell.rate,
        cell=cell,
    )


def _span(cell: Row) -> Estimate | None:
    """Return the span of a cell's ratio, or the bound that its lost launches set."""
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
    """Return the bound of a ratio by lost launches, where their number alone decides a claim."""
    claimed = cell.grade is not None and cell.grade.is_claim
    if not claimed or cell.lost is None or not cell.lost.by_loss:
        return None
    bound = cell.lost.at_least
    if bound is None:
        return None
    if bound > 1:
        return Estimate(bound, lo=bound)
    return Estimate(bound, hi=bound if bound < 1 else None)


#: Verdicts that are not evidence on how the platform would perform.
_NOT_THERE = (Verdict.MISSING, Verdict.DOES_NOT_FIT, Verdict.SKIPPED)
#: Words for verdicts that mostly leave no figure; caveats decide whether an emulated processor's
#: figure counts.
_FAILURES: Mapping[Verdict | None, str] = {
    Verdict.FAILED: "every trial failed",
    Verdict.NOT_COMPARABLE: NOT_COMPARABLE,
}


def _of_size(wanted: str, size: Scalar | None) -> bool:
    if not wanted:
        return True
    if not isinstance(size, int | float) or isinstance(size, bool):
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


def published_grounds(study: PublishedStudy) -> list[Evidence]:
    """Return the grounds that a publication's own figures provide for each class.

    Only ratios to a platform that is not virtualized count, without ratios cited from elsewhere; a
    ratio that is printed twice counts once. Listed trials are compared as trials that share no
    blocks.
    """
    grounds: dict[tuple[str, ...], Evidence] = {}
    for ratio in published_ratios(study):
        base = study.platform(ratio.baseline)
        if ratio.cited or base is None or base.kind == "virtualized":
            continue
        for source in _ALL_SOURCES:
            if _is_printed_evidence(ratio, source):
                ground = _published(study, ratio, source)
                key = (ground.application_class, ground.platform, ground.subject)
                grounds.setdefault(key, ground)
    return list(grounds.values())


def _is_printed_evidence(ratio: PublishedRatio, source: GroundSource) -> bool:
    """Whether a printed ratio is of the metric, the probe and the size of a source of evidence."""
    if ratio.probe is None or ratio.probe_metric != source.metric:
        return False
    is_family = ratio.probe.endswith("*") and source.probe not in _UNCOUPLED
    alike = fnmatchcase(ratio.probe, source.probe)
    alike = alike or (is_family and ratio.measured_by(source.probe))
    if not alike:
        return False
    return _published_size(source.size, ratio.conditions.get("size_bytes"))


def _published_size(wanted: str, size: Condition | None) -> bool:
    if not wanted:
        return True
    if isinstance(size, Spread):
        return _spread_size(wanted, size)
    return isinstance(size, int) and _of_size(wanted, size)


def _spread_size(wanted: str, size: Spread) -> bool:
    """Whether a printed range of sizes is of small, or of large, messages."""
    if size.label is not None:
        return size.label.startswith("smaller" if wanted == "small" else "larger")
    low = size.low
    if low is None:
        low = size.above
    if low is None or size.high is None:
        return False
    if wanted == "small":
        return size.high <= SMALL_BYTES
    # Printed ranges of large messages begin at 8 KiB and reach the largest.
    return low >= SMALL_BYTES and size.high >= LARGE_BYTES


def _published(study: PublishedStudy, ratio: PublishedRatio, source: GroundSource) -> Evidence:
    """Return the ground of a printed ratio, computed again where the trials are listed."""
    lo = None
    if ratio.span.low is not None:
        lo = float(ratio.span.low)
    hi = None
    if ratio.span.high is not None:
        hi = float(ratio.span.high)
    subject = f"{ratio.benchmark} {ratio.metric.replace('_', ' ')}"
    printed_conditions = conditions(ratio.conditions)
    if printed_conditions:
        subject = f"{subject} ({printed_conditions})"
    _, _, part = ratio.part.partition(":")
    ground = Evidence(
        application_class=source.application_class,
        platform=ratio.platform,
        subject=subject,
        lo=lo,
        hi=hi,
        varies=lo is not None and hi is not None and lo != hi,
        approximate=ratio.approx,
        source=f"{study.publication.short}, {study.part(part).label}",
        probe=ratio.probe or "",
    )
    trials = listed_trials(study, ratio.benchmark)
    if ratio.platform in trials and ratio.baseline in trials and ratio.computed:
        return _by_trials(ground, trials[ratio.platform], trials[ratio.baseline])
    return replace(ground, printed=_printed(ratio))


def _by_trials(ground: Evidence, trials: Trials, base_trials: Trials) -> Evidence:
    """Return a ground with the ratio of listed trials, which share no blocks."""
    values = np.array([float(value) for value in trials.values])
    base_values = np.array([float(value) for value in base_trials.values])
    rate = trials.better == "higher"
    if rate:
        result = stats.unpaired_ratio(base_values, values)
    else:
        result = stats.unpaired_ratio(values, base_values)
    times_worse = finite(result.ratio.item())
    lo = finite(result.lo.item())
    hi = finite(result.hi.item())
    figure = None
    if times_worse is not None:
        figure = Estimate(times_worse, lo, hi)
    return replace(ground, lo=lo, hi=hi, varies=False, n=len(values), figure=figure, rate=rate)


def _printed(ratio: PublishedRatio) -> str:
    """Return a ratio as it is printed, in times worse or better."""
    text = f"{ratio.span} times worse ({ratio.text})"
    if ratio.text.endswith(("times worse", "times better")):
        text = ratio.text
    if ratio.approx and not ratio.computed and not text.startswith("about"):
        return f"about {text}"
    return text
