"""Conclusions from each platform's figures together: the share of its peak, and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from bareline import stats
from bareline.analysis.numbers.models import emulated_platforms
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Estimate
from bareline.vocabulary.model import Layer, Scalar, parse_point
from bareline.vocabulary.place import CASE
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: A trial's value by its key, which pairs trials: the run, and the block or the trial.
_Values = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class PlatformShare:
    """The median over launches (the interval needs six) at `size_bytes`, with `context` figures."""

    value: Estimate
    n: int
    platform: str = ""
    context: tuple[float, ...] = ()
    size_bytes: int = 0
    emulated: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A conclusion from the figures of a probe: a share for each platform with these figures."""

    rule: str
    layer: Layer
    shares: tuple[PlatformShare, ...]

    @property
    def worst(self) -> PlatformShare:
        """The platform where the figure is largest."""
        return max(self.shares, key=lambda share: share.value.value)

    @property
    def n(self) -> int:
        """The fewest launches behind any of the shares."""
        return min(share.n for share in self.shares)


def _share(values: Iterable[float]) -> PlatformShare | None:
    """Summarize launches; None without any."""
    listed = list(values)
    if not listed:
        return None
    summary = stats.summarize(listed)
    ends = (float(summary.lo), float(summary.hi)) if len(listed) >= MIN_LAUNCHES else (None, None)
    return PlatformShare(Estimate(float(summary.median), *ends), len(listed))


def _ratio(
    over: _Values, under: _Values, *context: _Values, size_bytes: int = 0
) -> PlatformShare | None:
    share = _share(over[key] / under[key] for key in over if under.get(key, 0) > 0)
    beside = [_share(values.values()) for values in context]
    known = tuple(one.value.value for one in beside if one is not None)
    if share is None or len(known) < len(context):
        return None
    return replace(share, context=known, size_bytes=size_bytes)


@dataclass(frozen=True, slots=True)
class _Figures:
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
        """Return one value per trial or block; none unless the rows are of exactly one case."""
        rows = self.rows(platform, metric).filter(~pl.col("profile").fill_null(False))
        asked = (params or {}).items()
        rows = _where(rows, "params", lambda said: asked <= {**self.defaults, **said}.items())
        rows = _where(rows, "point", lambda said: said == point)
        if rows.n_unique(list(CASE)) != 1:
            return {}
        return {(run, at): value for run, at, value in rows.select("run", key, "value").iter_rows()}

    def rows(self, platform: str, metric: str) -> pl.DataFrame:
        return self.samples.filter((pl.col("platform") == platform) & (pl.col("metric") == metric))


def _where(
    rows: pl.DataFrame, column: str, fits: Callable[[dict[str, Scalar]], bool]
) -> pl.DataFrame:
    texts = [text for text in rows.get_column(column).unique() if fits(parse_point(text))]
    return rows.filter(pl.col(column).is_in(texts))


def conclude(records: Records) -> list[Conclusion]:
    """Return the conclusions from each platform's figures, one for each rule that applies."""
    measured = set(records.trials.get_column("probe").unique())
    emulated = emulated_platforms(records)
    found = []
    for name, layer, probe, find in _RULES:
        if probe not in measured:
            continue
        figures = _Figures(
            records.samples_of(probe), records.platforms, records.defaults.get(probe, {})
        )
        known = tuple(
            replace(share, platform=platform, emulated=platform in emulated)
            for platform in records.platforms
            if (share := find(figures, platform)) is not None
        )
        if known:
            found.append(Conclusion(name, layer, known))
    return found


def _translation(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return the latency with 4 KiB pages over the latency with 2 MiB pages.

    Both are at the largest working set that all platforms have with both sizes of pages.
    """
    pages, sizes = (4 << 10, 2 << 20), []
    for name in figures.platforms:
        rows = figures.rows(name, "latency")
        points = [parse_point(point) for point in rows.get_column("point").unique()]
        for page in pages if points else ():
            own = [point for point in points if point.get("page_bytes") == page]
            sizes.append({int(p["working_set_bytes"]) for p in own if "working_set_bytes" in p})
    size = max(set.intersection(*sizes), default=0) if sizes else 0
    over, under = (
        figures.of(platform, "latency", key="trial", working_set_bytes=size, page_bytes=page)
        for page in pages
    )
    return _ratio(over, under, under, size_bytes=size)


def _bandwidth(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return the share of the node's bandwidth that one core can use.

    The context is the bandwidth of one core alone, and of each core when all are busy.
    """
    one, every, each = (
        figures.of(platform, metric, params={"mode": mode}, kernel="triad")
        for metric, mode in (
            ("bandwidth", "single"),
            ("bandwidth", "all"),
            ("bandwidth_per_core", "all"),
        )
    )
    return _ratio(one, every, one, each)


def _all_cores(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return the share of its rate of random updates that a core keeps when all cores update."""
    alone, together = (
        figures.of(platform, "rate", params={"mode": mode}) for mode in ("single", "star")
    )
    return _ratio(together, alone)


def _measured(metric: str, **params: Scalar) -> Callable[[_Figures, str], PlatformShare | None]:
    return lambda figures, platform: _share(figures.of(platform, metric, params=params).values())


def _cached(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return the share of reads that may come from memory, and so show little of the device."""
    rows = figures.rows(platform, "read_rate")
    caveats = pl.col("caveats").list
    cached = rows.filter(caveats.contains("page-cache") | caveats.contains("host-cache")).height
    share = _share([cached / rows.height]) if cached else None
    return share and replace(share, context=(cached, rows.height))


_RULES: tuple[tuple[str, Layer, str, Callable[[_Figures, str], PlatformShare | None]], ...] = (
    ("share of peak", Layer.COMPUTE, "compute.dgemm", _measured("share_of_peak", mode="single")),
    ("HPL", Layer.COMPUTE, "hpcc", _measured("hpl_efficiency")),
    ("jitter", Layer.COMPUTE, "compute.noise", _measured("lost_share")),
    ("bandwidth by core", Layer.MEMORY, "memory.stream", _bandwidth),
    ("finding a page", Layer.MEMORY, "memory.latency", _translation),
    ("random updates", Layer.MEMORY, "memory.random_access", _all_cores),
    ("cached reads", Layer.IO, "io.sequential", _cached),
)
