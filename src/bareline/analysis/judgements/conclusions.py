"""Draw conclusions from several values of a platform, such as the share of its peak."""

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

_SMALL_PAGE_BYTES = 4 << 10
_LARGE_PAGE_BYTES = 2 << 20

#: The value of each trial; values with the same key (run, and block or trial) are paired.
_Values = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class PlatformShare:
    """The median of a share over launches on a platform; at least six launches give an interval.

    - `context`: further medians for the sentence about the conclusion.
    - `size_bytes`: the size at which all these values were measured.
    """

    value: Estimate
    n: int
    platform: str = ""
    context: tuple[float, ...] = ()
    size_bytes: int = 0
    emulated: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A conclusion from values of a probe, with a share for each platform that has these values."""

    rule: str
    layer: Layer
    shares: tuple[PlatformShare, ...]

    @property
    def worst(self) -> PlatformShare:
        """The largest of the platforms' shares."""
        return max(self.shares, key=lambda share: share.value.value)

    @property
    def n(self) -> int:
        """The smallest number of launches of any share."""
        return min(share.n for share in self.shares)


def _share(values: Iterable[float]) -> PlatformShare | None:
    """Summarize the values of launches; None without values."""
    listed = list(values)
    if not listed:
        return None
    summary = stats.summarize(listed)
    median = Estimate(float(summary.median))
    if len(listed) >= MIN_LAUNCHES:
        median = replace(median, lo=float(summary.lo), hi=float(summary.hi))
    return PlatformShare(median, len(listed))


def _ratio(
    over: _Values, under: _Values, *context: _Values, size_bytes: int = 0
) -> PlatformShare | None:
    """Summarize the quotients of paired values; None if pairs or context values are missing."""
    quotients = []
    for key, value in over.items():
        if under.get(key, 0) > 0:
            quotients.append(value / under[key])
    share = _share(quotients)
    if share is None:
        return None
    medians = []
    for values in context:
        median = _share(values.values())
        if median is None:
            return None
        medians.append(median.value.value)
    return replace(share, context=tuple(medians), size_bytes=size_bytes)


@dataclass(frozen=True, slots=True)
class _Figures:
    """The samples of one probe, and the defaults of its parameters."""

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
        """Return one value per trial or block; empty unless the rows belong to exactly one case.

        - `key`: "block" or "trial".
        - `params`: parameters of the case.
        - `point`: parameters of the point.
        """
        is_plain = ~pl.col("profile").fill_null(False)
        rows = self.rows(platform, metric).filter(is_plain)
        wanted = (params or {}).items()
        rows = _where(rows, "params", lambda given: wanted <= {**self.defaults, **given}.items())
        rows = _where(rows, "point", lambda coordinates: coordinates == point)
        if rows.n_unique(list(CASE)) != 1:
            return {}
        values: _Values = {}
        for run, number, value in rows.select("run", key, "value").iter_rows():
            values[run, number] = value
        return values

    def rows(self, platform: str, metric: str) -> pl.DataFrame:
        """Return the samples of a metric on a platform."""
        is_here = pl.col("platform") == platform
        return self.samples.filter(is_here, pl.col("metric") == metric)


def _where(
    rows: pl.DataFrame, column: str, fits: Callable[[dict[str, Scalar]], bool]
) -> pl.DataFrame:
    """Return the rows whose parameters in `column` fulfil the test `fits`."""
    chosen = []
    for text in rows.get_column(column).unique():
        if fits(parse_point(text)):
            chosen.append(text)
    return rows.filter(pl.col(column).is_in(chosen))


def conclude(records: Records) -> list[Conclusion]:
    """Return a conclusion for each rule that applies to the records."""
    probes = records.trials.get_column("probe").unique()
    measured = set(probes)
    emulated = emulated_platforms(records)
    conclusions = []
    for name, layer, probe, find in _RULES:
        if probe not in measured:
            continue
        defaults = records.defaults.get(probe, {})
        samples = records.samples_of(probe)
        figures = _Figures(samples, records.platforms, defaults)
        shares = []
        for platform in records.platforms:
            share = find(figures, platform)
            if share is not None:
                share_here = replace(share, platform=platform, emulated=platform in emulated)
                shares.append(share_here)
        if shares:
            conclusion = Conclusion(name, layer, tuple(shares))
            conclusions.append(conclusion)
    return conclusions


def _translation(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return the latency with 4 KiB pages divided by the latency with 2 MiB pages.

    The working set is the largest one that all platforms measured with both page sizes.
    """
    size = max(_common_sizes(figures), default=0)

    def with_pages(page_bytes: int) -> _Values:
        return figures.of(
            platform, "latency", key="trial", working_set_bytes=size, page_bytes=page_bytes
        )

    with_small = with_pages(_SMALL_PAGE_BYTES)
    with_large = with_pages(_LARGE_PAGE_BYTES)
    return _ratio(with_small, with_large, with_large, size_bytes=size)


def _common_sizes(figures: _Figures) -> set[int]:
    """Return the working sets that all platforms measured with both page sizes."""
    sizes: list[set[int]] = []
    for platform in figures.platforms:
        rows = figures.rows(platform, "latency")
        texts = rows.get_column("point").unique()
        points = [parse_point(point) for point in texts]
        if points:
            sizes.append(_working_sets(points, _SMALL_PAGE_BYTES))
            sizes.append(_working_sets(points, _LARGE_PAGE_BYTES))
    if sizes:
        return set.intersection(*sizes)
    return set()


def _working_sets(points: Iterable[Mapping[str, Scalar]], page_bytes: int) -> set[int]:
    sizes = set()
    for point in points:
        if point.get("page_bytes") == page_bytes and "working_set_bytes" in point:
            sizes.add(int(point["working_set_bytes"]))
    return sizes


def _bandwidth(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return the share of the node's memory bandwidth that one core can use.

    The context is the bandwidth of one core alone, and of each core if all are busy.
    """

    def of_triad(metric: str, mode: str) -> _Values:
        return figures.of(platform, metric, params={"mode": mode}, kernel="triad")

    of_one = of_triad("bandwidth", "single")
    of_all = of_triad("bandwidth", "all")
    of_each = of_triad("bandwidth_per_core", "all")
    return _ratio(of_one, of_all, of_one, of_each)


def _all_cores(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return a core's rate of random updates if all cores work, divided by its rate alone."""
    alone = figures.of(platform, "rate", params={"mode": "single"})
    together = figures.of(platform, "rate", params={"mode": "star"})
    return _ratio(together, alone)


def _measured(metric: str, **params: Scalar) -> Callable[[_Figures, str], PlatformShare | None]:
    return lambda figures, platform: _share(figures.of(platform, metric, params=params).values())


def _cached(figures: _Figures, platform: str) -> PlatformShare | None:
    """Return the share of reads that may come from memory instead of from the device."""
    rows = figures.rows(platform, "read_rate")
    caveats = pl.col("caveats").list
    in_memory = caveats.contains("page-cache") | caveats.contains("host-cache")
    cached = rows.filter(in_memory).height
    if not cached:
        return None
    share = _share([cached / rows.height])
    if share is None:
        return None
    return replace(share, context=(cached, rows.height))


_RULES: tuple[tuple[str, Layer, str, Callable[[_Figures, str], PlatformShare | None]], ...] = (
    ("share of peak", Layer.COMPUTE, "compute.dgemm", _measured("share_of_peak", mode="single")),
    ("HPL", Layer.COMPUTE, "hpcc", _measured("hpl_efficiency")),
    ("jitter", Layer.COMPUTE, "compute.noise", _measured("lost_share")),
    ("bandwidth by core", Layer.MEMORY, "memory.stream", _bandwidth),
    ("finding a page", Layer.MEMORY, "memory.latency", _translation),
    ("random updates", Layer.MEMORY, "memory.random_access", _all_cores),
    ("cached reads", Layer.IO, "io.sequential", _cached),
)
