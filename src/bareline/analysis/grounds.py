"""What a judgement of suitability rests on: losses, measured here or published.

Which probe speaks of which class of applications is one table, `_SOURCES`. A ground is a span of
ratios to the baseline, above 1 is worse: the 95 % interval of a measured one, the printed value,
range or bound of a published one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bareline import stats
from bareline.analysis.sizes import LARGE_BYTES, SMALL_BYTES
from bareline.published.catalogue import conditions
from bareline.published.model import PublishedStudy, Trials
from bareline.published.quantities import Condition, Spread
from bareline.published.ratios import PublishedRatio, listed_trials, published_ratios
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Scalar, format_point, parse_point
from bareline.vocabulary.units import format_size, significant
from bareline.vocabulary.verdicts import Verdict

#: Caveats that leave a figure standing, but weaken what follows from it.
WEAKENING = frozenset(
    {
        "emulated-cpu", "oversubscribed", "shared-host", "steal-time", "simulated", "host-cache",
        "profiled", "short-file",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Which metric of which probe speaks of a class of applications.

    Attributes
    ----------
    size
        Only messages that are "small" or "large"; all of them without it.
    """

    application_class: str
    probe: str
    metric: str
    size: str = ""


def _sources(name: str, size: str, *pairs: tuple[str, str]) -> tuple[Source, ...]:
    return tuple(Source(name, probe, metric, size) for probe, metric in pairs)


_COLLECTIVES = (
    "allreduce", "alltoall", "allgather", "bcast", "reduce", "reduce_scatter", "gather", "scatter",
    "barrier",
)  # fmt: skip

_SOURCES: tuple[Source, ...] = (
    *_sources("parallel", "", ("npb.ep", "time"), ("hpcc", "dgemm_rate")),
    *_sources(
        "compute", "",
        ("compute.dgemm", "rate"), ("compute.linpack", "rate"), ("hpcc", "dgemm_rate"),
        ("hpcc", "dgemm_rate_single"), ("npb.*", "compute"),
    ),
    *_sources("memory", "", ("memory.stream", "bandwidth"), ("hpcc", "stream_triad")),
    *_sources(
        "large", "",
        ("net.nuttcp", "rate"), ("net.iperf3", "rate"), ("hpcc", "ptrans_bandwidth"),
        ("hpcc", "ring_bandwidth"),
    ),
    *_sources(
        "large", "large",
        ("net.ib_write_bw", "bandwidth"), ("mpi.bandwidth", "bandwidth"),
        ("mpi.pingpong", "latency"), ("mpi.sendrecv", "bandwidth"), ("mpi.exchange", "bandwidth"),
        *((f"mpi.{name}", "latency") for name in _COLLECTIVES),
    ),
    *_sources(
        "small", "small",
        ("net.ib_write_lat", "latency"), ("mpi.pingpong", "latency"),
        *((f"mpi.{name}", "latency") for name in _COLLECTIVES),
    ),
    *_sources("small", "", ("hpcc", "ring_latency"), ("mpi.barrier", "latency")),
    *_sources(
        "io", "",
        ("io.sequential", "write_rate"), ("io.sequential", "read_rate"),
        ("io.create", "create_rate"), ("io.fio", "write_rate"), ("io.fio", "read_rate"),
    ),
    *_sources(
        "coupled", "",
        ("npb.*", "time"), ("app.*", "time"), ("app.*", "rate"), ("hpcc", "hpl_rate"),
        ("compute.linpack_mpi", "rate"),
    ),
)  # fmt: skip

#: Whole programs that do not communicate: what they say, they say of "parallel".
_UNCOUPLED = frozenset({"npb.ep"})


@dataclass(frozen=True, slots=True)
class Ground:
    """How much worse one thing is on a platform than on the baseline.

    Attributes
    ----------
    application_class, platform, subject
        What it speaks of, where, and what was measured.
    lo, hi
        Span of the ratio; None where a bound or too few trials leave it open.
    told
        The figure in words.
    varies
        The span is a range over several programs or sizes that was seen, not an uncertainty.
    approximate
        Printed with "about".
    n
        Trials; 0 for a published figure.
    source
        Place in the publication, or nothing for what was measured here.
    failure
        Why there is no figure, in words; empty where there is one.
    """

    application_class: str
    platform: str
    subject: str
    lo: float | None
    hi: float | None
    told: str
    varies: bool = False
    approximate: bool = False
    n: int = 0
    caveats: tuple[str, ...] = ()
    source: str = ""
    probe: str = ""
    failure: str = ""

    @property
    def weakened(self) -> bool:
        """Whether a caveat weakens what follows from it."""
        return any(Caveat.read(text).code in WEAKENING for text in self.caveats)

    @property
    def words(self) -> str:
        """Subject and figure."""
        return f"{self.subject}, {self.told}"

    def row(self) -> dict[str, object]:
        """Give it as a plain row for ``--json``."""
        return {
            "subject": self.subject,
            "lo": self.lo,
            "hi": self.hi,
            "text": self.told,
            "n": self.n,
            "caveats": list(self.caveats),
            "source": self.source,
            "probe": self.probe,
        }


def ratio_words(lo: float | None, hi: float | None, ratio: float | None) -> str:
    """Write a ratio as people read it: ``2.3 times worse [2.1, 2.5]``."""
    if ratio is None:
        return "no ratio"
    if lo is None and hi is None:
        return f"{significant(ratio)} times worse, without an interval"
    if ratio < 1:
        ends = f"[{_end(hi and 1 / hi, '0')}, {_end(lo and 1 / lo, 'unlimited')}]"
        return f"{significant(1 / ratio)} times better {ends}"
    return f"{significant(ratio)} times worse [{_end(lo, '0')}, {_end(hi, 'unlimited')}]"


def _end(value: float | None, unknown: str) -> str:
    return significant(value) if value else unknown


# Measured here ------------------------------------------------------------------------------------


def measured_grounds(table: pl.DataFrame, titles: Mapping[str, str]) -> list[Ground]:
    """Give what a comparison says of each class, one ground per point; see `compare_points`.

    Parameters
    ----------
    titles
        What each probe measures, in words.
    """
    return [
        ground
        for row in table.filter(pl.col("better") != "none").iter_rows(named=True)
        for source in _SOURCES
        if row["metric"] == source.metric and _speaks(source, row["probe"])
        for ground in _measured(row, source, titles.get(row["probe"], row["probe"]))
    ]


def _measured(row: Mapping[str, Any], source: Source, title: str) -> Iterator[Ground]:
    """Give the ground of one point; none where its size is of no class, or it is missing."""
    point = {**parse_point(row["params"]), **parse_point(row["point"])}
    verdict = row["verdict"]
    without = verdict in _FAILURES and row["ratio"] is None
    if point.get("profile") is True or verdict in _NOT_THERE:
        return
    # A failed case has no points, and so no size.
    if not _of_size(source.size, point.get("size_bytes")) and not (without and not row["point"]):
        return
    failure = _FAILURES[verdict] if without else ""
    yield Ground(
        application_class=source.application_class,
        platform=row["platform"],
        subject=_subject(row, title),
        lo=None if without else row["lo"],
        hi=None if without else row["hi"],
        told=failure or ratio_words(row["lo"], row["hi"], row["ratio"]),
        n=min(row["n"] or 0, row["n_baseline"] or 0),
        caveats=tuple(row["caveats"]),
        probe=row["probe"],
        failure=failure,
    )


#: Verdicts that say nothing of what the platform would do.
_NOT_THERE = (Verdict.MISSING, Verdict.DOES_NOT_FIT, Verdict.SKIPPED)
#: Verdicts that mostly leave no figure, in words. What an emulated processor does has one: caveats
#: say for which classes it counts.
_FAILURES: Mapping[str, str] = {
    Verdict.FAILED.value: "every trial failed",
    Verdict.NOT_COMPARABLE.value: "not comparable",
}


def _speaks(source: Source, probe: str) -> bool:
    coupled = source.application_class == "coupled"
    return fnmatchcase(probe, source.probe) and not (coupled and probe in _UNCOUPLED)


def _of_size(wanted: str, size: Scalar | None) -> bool:
    if not wanted:
        return True
    if not isinstance(size, int | float) or isinstance(size, bool):
        return False
    return size < SMALL_BYTES if wanted == "small" else size >= LARGE_BYTES


def _number(value: float | NDArray[np.float64]) -> float | None:
    single = float(np.asarray(value).reshape(-1)[0])
    return None if np.isnan(single) else single


def _subject(row: Mapping[str, Any], title: str) -> str:
    """Name what was measured, with what tells it from other points of its probe."""
    title = title[0].upper() + title[1:]
    if not row["headline"]:
        title += f" ({row['metric'].replace('_', ' ')})"
    known = {key: value for key, value in parse_point(row["params"]).items() if key in _TELLING}
    point = parse_point(row["point"])
    size = point.pop("size_bytes", None)
    ranks = f"{row['ranks']} ranks" if row["ranks"] > 1 else ""
    nodes = f"{row['nodes']} nodes" if row["nodes"] > 1 else ("one node" if row["nodes"] else "")
    at = ", ".join(filter(None, [format_point({**known, **point}), ranks, nodes]))
    of_size = f" of {format_size(size)}" if isinstance(size, int | float) else ""
    return f"{title}{of_size}" + (f" ({at})" if at else "")


#: Parameters that tell cases apart for a reader.
_TELLING = frozenset({"mode", "sync", "directories", "streams", "order", "kernel", "problem_class"})


# Published ----------------------------------------------------------------------------------------


def published_grounds(study: PublishedStudy) -> list[Ground]:
    """Give what a publication's own figures say of each class.

    Only ratios to a platform that is not virtualized, and none that is cited from elsewhere. What
    the document prints twice counts once. Listed trials are compared as bareline compares trials
    that share no blocks.
    """
    grounds: dict[tuple[str, ...], Ground] = {}
    for ratio in published_ratios(study):
        base = study.platform(ratio.baseline)
        if ratio.cited or base is None or base.kind == "virtualized":
            continue
        for source in _SOURCES:
            if _published_speaks(source, ratio):
                ground = _published(study, ratio, source)
                key = (ground.application_class, ground.platform, ground.subject)
                grounds.setdefault(key, ground)
    return list(grounds.values())


def _published_speaks(source: Source, ratio: PublishedRatio) -> bool:
    if ratio.probe is None or ratio.probe_metric != source.metric:
        return False
    alike = fnmatchcase(ratio.probe, source.probe) or (
        ratio.probe.endswith("*") and fnmatchcase(source.probe, ratio.probe)
        and source.probe not in _UNCOUPLED
    )  # fmt: skip
    return alike and _published_size(source.size, ratio.conditions.get("size_bytes"))


def _published_size(wanted: str, size: Condition | None) -> bool:
    """Tell whether a published size or range of sizes is of a class, with both its ends."""
    if not wanted:
        return True
    if isinstance(size, Spread):
        if size.label is not None:
            return size.label.startswith("smaller" if wanted == "small" else "larger")
        low = size.low if size.low is not None else size.above
        if low is None or size.high is None:
            return False
        if wanted == "small":
            return size.high <= SMALL_BYTES
        # Printed ranges of large messages begin at 8 KiB and reach the largest.
        return low >= SMALL_BYTES and size.high >= LARGE_BYTES
    return isinstance(size, int) and _of_size(wanted, size)


def _published(study: PublishedStudy, ratio: PublishedRatio, source: Source) -> Ground:
    lo, hi = (None if end is None else float(end) for end in (ratio.span.low, ratio.span.high))
    told = f"{ratio.span} times worse ({ratio.text})"
    if ratio.text.endswith(("times worse", "times better")):
        told = ratio.text
    trials = listed_trials(study, ratio.benchmark)
    n = 0
    if ratio.platform in trials and ratio.baseline in trials and ratio.computed:
        lo, hi, told, n = _from_trials(trials[ratio.platform], trials[ratio.baseline])
    at = conditions(ratio.conditions)
    about = "about " if ratio.approx and not ratio.computed else ""
    return Ground(
        application_class=source.application_class,
        platform=ratio.platform,
        subject=f"{ratio.benchmark} {ratio.metric.replace('_', ' ')}" + (f" ({at})" if at else ""),
        lo=lo,
        hi=hi,
        told=about + told if about and not told.startswith("about") else told,
        varies=lo is not None and hi is not None and lo != hi and not n,
        approximate=ratio.approx,
        n=n,
        source=f"{study.publication.short}, {study.part(ratio.part.partition(':')[2]).label}",
        probe=ratio.probe or "",
    )


def _from_trials(own: Trials, base: Trials) -> tuple[float | None, float | None, str, int]:
    values, others = (np.array([float(value) for value in row.values]) for row in (own, base))
    pair = (others, values) if own.better == "higher" else (values, others)
    found = stats.unpaired_ratio(*pair)
    ratio, lo, hi = (_number(value) for value in (found.ratio, found.lo, found.hi))
    return lo, hi, ratio_words(lo, hi, ratio), len(values)
