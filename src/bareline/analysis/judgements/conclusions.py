"""What the figures of each platform mean together, as a performance engineer would put it.

The verdict says how far a platform is from the baseline. These sentences say where each platform
stands by itself: which share of its peak it reaches, what finding a page costs it, how much of its
memory bandwidth one core can use. Each holds for one platform alone, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import polars as pl

from bareline import stats
from bareline.analysis.numbers.emulation import emulated_platforms
from bareline.analysis.numbers.records import Records
from bareline.analysis.words.parts import (
    Evidence,
    Interval,
    Lead,
    Piece,
    Platform,
    Sentence,
    joined,
    sentence,
)
from bareline.vocabulary.model import Layer, Scalar, parse_point
from bareline.vocabulary.place import CASE
from bareline.vocabulary.units import format_size, format_value, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: A trial's value by the key that pairs it with others: the run and the block or the trial.
_Values = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median over launches with its 95 % interval, which needs six."""

    median: float
    lo: float | None
    hi: float | None
    n: int

    def pieces(self, write: Callable[[float], str] = significant) -> list[Piece]:
        """Write it with its interval: ``1.62 [1.58, 1.66]``."""
        if self.lo is None or self.hi is None:
            return [write(self.median)]
        return [f"{write(self.median)} ", Interval(write(self.lo), write(self.hi))]


def estimate(values: Iterable[float]) -> Estimate | None:
    """Summarize launches; None without any."""
    listed = list(values)
    if not listed:
        return None
    summary = stats.summarize(listed)
    known = len(listed) >= MIN_LAUNCHES
    return Estimate(
        median=float(summary.median),
        lo=float(summary.lo) if known else None,
        hi=float(summary.hi) if known else None,
        n=len(listed),
    )


def ratio(over: _Values, under: _Values) -> Estimate | None:
    """Summarize the quotients of values that belong to the same trial or block."""
    return estimate(over[key] / under[key] for key in over if under.get(key, 0) > 0)


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{significant(100 * share)} %"


@dataclass(frozen=True, slots=True)
class _Figures:
    """The values of one probe's measured trials, found by metric and parameters."""

    probe: str
    samples: pl.DataFrame
    platforms: Sequence[str]
    defaults: Mapping[str, Scalar]

    def of(
        self,
        platform: str,
        metric: str,
        *,
        key: str = "block",
        params: Mapping[str, Scalar] | None = None,
        **point: Scalar,
    ) -> _Values:
        """Give one value per trial or block; what stands for several cases is left out."""
        rows = self.rows(platform, metric).filter(~pl.col("profile").fill_null(False))
        asked = (params or {}).items()
        rows = _where(rows, "params", lambda said: asked <= {**self.defaults, **said}.items())
        rows = _where(rows, "point", lambda said: said == point)
        if rows.n_unique(list(CASE)) != 1:
            return {}
        return {(run, at): value for run, at, value in rows.select("run", key, "value").iter_rows()}

    def rows(self, platform: str, metric: str) -> pl.DataFrame:
        """Give the samples of a metric."""
        return self.samples.filter((pl.col("platform") == platform) & (pl.col("metric") == metric))


def _where(
    rows: pl.DataFrame, column: str, fits: Callable[[dict[str, Scalar]], bool]
) -> pl.DataFrame:
    """Give the rows whose parameters fit; each text is read once."""
    texts = [text for text in rows.get_column(column).unique() if fits(parse_point(text))]
    return rows.filter(pl.col(column).is_in(texts))


@dataclass(frozen=True, slots=True)
class _Clause:
    """What a rule says of one platform."""

    platform: str
    words: Sequence[Piece]
    value: Estimate


@dataclass(frozen=True, slots=True)
class _Rule:
    """What can be concluded from the figures of one probe.

    `conclude` gives how the sentence begins, and a clause for each platform that it holds for.
    """

    layer: Layer
    probe: str
    conclude: Callable[[_Figures], tuple[str, list[_Clause]]]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the figures of a probe mean together, in one sentence.

    `platform`, `value`, `lo` and `hi` are those of the platform where the figure is largest, `n`
    the fewest launches behind any.
    """

    layer: Layer
    platform: str
    sentence: Sentence
    value: float
    lo: float | None
    hi: float | None
    n: int

    @property
    def text(self) -> str:
        """The sentence in plain words."""
        return self.sentence.text


def conclusions(records: Records) -> list[Conclusion]:
    """Say what the figures of each platform mean together; a sentence for each rule that applies.

    - `records`: runs of one or several platforms.
    """
    measured = set(records.trials.get_column("probe").unique())
    emulated = emulated_platforms(records)
    told = []
    for rule in _RULES:
        if rule.probe not in measured:
            continue
        figures = _Figures(
            rule.probe,
            records.samples_of(rule.probe),
            records.platforms,
            records.defaults.get(rule.probe, {}),
        )
        begin, clauses = rule.conclude(figures)
        if clauses:
            told.append(_conclusion(rule.layer, begin, clauses, emulated))
    return told


def _conclusion(
    layer: Layer, begin: str, clauses: Sequence[_Clause], emulated: Set[str]
) -> Conclusion:
    worst = max(clauses, key=lambda clause: clause.value.median)
    fewest = min(clause.value.n for clause in clauses)
    lead, _, rest = begin.partition(": ")
    parts: list[list[Piece]] = [
        [
            *part.words,
            " on ",
            Platform(part.platform),
            " (emulated CPU)" if part.platform in emulated else "",
        ]
        for part in clauses
    ]
    return Conclusion(
        layer=layer,
        platform=worst.platform,
        sentence=sentence(
            Lead(lead), f"{rest} ", *joined(parts), ".", Evidence(f"layer-{layer.value}", fewest)
        ),
        value=worst.value.median,
        lo=worst.value.lo,
        hi=worst.value.hi,
        n=fewest,
    )


def _translation(figures: _Figures) -> tuple[str, list[_Clause]]:
    """What 4 KiB pages cost above 2 MiB pages at the largest working set that has both."""
    small, huge = 4 << 10, 2 << 20
    sizes = _common_sizes(figures, small, huge)
    clauses = []
    for platform in figures.platforms if sizes else ():
        over, under = (
            figures.of(
                platform,
                "latency",
                key="trial",
                working_set_bytes=max(sizes),
                page_bytes=page,
            )
            for page in (small, huge)
        )
        cost = ratio(over, under)
        base = estimate(under.values())
        if cost is not None and base is not None:
            words = f" times the {format_value(base.median, 's')} with 2 MiB pages"
            clauses.append(_Clause(platform, [*cost.pieces(), words], cost))
    size = format_size(max(sizes)) if sizes else ""
    return f"Finding a page: with 4 KiB pages a load out of {size} takes", clauses


def _common_sizes(figures: _Figures, *pages: int) -> set[int]:
    """List working sets that every platform which has any measured with all page sizes."""
    common: set[int] | None = None
    for platform in figures.platforms:
        rows = figures.rows(platform, "latency")
        points = [parse_point(point) for point in rows.get_column("point").unique()]
        for page in pages if points else ():
            sizes = {
                int(point["working_set_bytes"])
                for point in points
                if point.get("page_bytes") == page and "working_set_bytes" in point
            }
            common = sizes if common is None else common & sizes
    return common or set()


def _bandwidth(figures: _Figures) -> tuple[str, list[_Clause]]:
    """Which share of the node's bandwidth one core can use, and what is left for each of all."""
    clauses = []
    for platform in figures.platforms:
        one, every, each = (
            figures.of(platform, metric, params={"mode": mode}, kernel="triad")
            for metric, mode in (
                ("bandwidth", "single"),
                ("bandwidth", "all"),
                ("bandwidth_per_core", "all"),
            )
        )
        share, alone, per_core = ratio(one, every), estimate(one.values()), estimate(each.values())
        if share is not None and alone is not None and per_core is not None:
            words = [
                f"{format_value(alone.median, 'B/s')}, ",
                *share.pieces(percent),
                " of what all cores get together "
                f"({format_value(per_core.median, 'B/s')} for each)",
            ]
            clauses.append(_Clause(platform, words, share))
    return "Bandwidth by core: in triad one core alone gets", clauses


def _beside_others(figures: _Figures) -> tuple[str, list[_Clause]]:
    """What a core keeps of its random updates when all cores update at once."""
    clauses = []
    for platform in figures.platforms:
        alone, beside = (
            figures.of(platform, "rate", params={"mode": mode}) for mode in ("single", "star")
        )
        kept = ratio(beside, alone)
        if kept is not None:
            clauses.append(_Clause(platform, kept.pieces(percent), kept))
    begin = "Random updates: with all cores at once, each keeps of the rate it has alone"
    return begin, clauses


def _shares(
    begin: str, metric: str, *, ending: str = "", params: Mapping[str, Scalar] | None = None
) -> Callable[[_Figures], tuple[str, list[_Clause]]]:
    """Make a rule that says one share of each platform as it was measured."""

    def conclude(figures: _Figures) -> tuple[str, list[_Clause]]:
        shares = {
            platform: estimate(figures.of(platform, metric, params=params).values())
            for platform in figures.platforms
        }
        return begin, [
            _Clause(platform, [*share.pieces(percent), ending], share)
            for platform, share in shares.items()
            if share is not None
        ]

    return conclude


def _cached(figures: _Figures) -> tuple[str, list[_Clause]]:
    """Say which reads may come from memory: they tell little of the device."""
    clauses = []
    for platform in figures.platforms:
        rows = figures.rows(platform, "read_rate")
        caveats = pl.col("caveats").list
        cached = rows.filter(caveats.contains("page-cache") | caveats.contains("host-cache"))
        if cached.height:
            share = estimate([cached.height / rows.height])
            assert share is not None
            words = [f"{cached.height} of {rows.height} read rates"]
            clauses.append(_Clause(platform, words, share))
    begin = "Cached reads: memory instead of the device may have answered for"
    return begin, clauses


#: In the order of the ladder.
_RULES = (
    _Rule(
        Layer.COMPUTE,
        "compute.dgemm",
        _shares(
            "Share of peak: DGEMM reaches, of what one core's instructions can do,",
            "share_of_peak",
            params={"mode": "single"},
        ),
    ),
    _Rule(
        Layer.COMPUTE,
        "hpcc",
        _shares(
            "HPL (HPC Challenge) reaches, of the rate of DGEMM alone on as many cores,",
            "hpl_efficiency",
        ),
    ),
    _Rule(
        Layer.COMPUTE,
        "compute.noise",
        _shares(
            "Jitter: beyond its undisturbed time, equal work takes on average",
            "lost_share",
            ending=" more",
        ),
    ),
    _Rule(Layer.MEMORY, "memory.stream", _bandwidth),
    _Rule(Layer.MEMORY, "memory.latency", _translation),
    _Rule(Layer.MEMORY, "memory.random_access", _beside_others),
    _Rule(Layer.IO, "io.sequential", _cached),
)
