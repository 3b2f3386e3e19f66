"""Published figures as ratios: how many times worse than the baseline, the way bareline compares.

A ratio above 1 is worse than the baseline, for every direction of a metric. A factor, a percentage
or two absolute values of the document become a span of ratios; a bound leaves one end of it open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from statistics import median

from bareline.published.model import PEAK, PublishedStudy, Result, Trials
from bareline.published.quantities import Condition

#: Conditions that describe a platform's own size, which may differ between compared values.
_OWN = frozenset({"cores", "threads", "streams"})


@dataclass(frozen=True, slots=True)
class Span:
    """A span of ratios; None where a bound leaves an end open."""

    low: Decimal | None
    high: Decimal | None

    def __str__(self) -> str:
        if self.low is None:
            return f"at most {self.high:.3g}"
        if self.high is None:
            return f"at least {self.low:.3g}"
        low = f"{self.low:.3g}"
        high = f"{self.high:.3g}"
        return low if low == high else f"{low} to {high}"

    def each(self, change: Callable[[Decimal], Decimal]) -> Span:
        """Return the span with both ends changed, where they are known."""
        low = None if self.low is None else change(self.low)
        high = None if self.high is None else change(self.high)
        return Span(low, high)

    def inverse(self) -> Span:
        """Return the span of the reciprocal ratios."""
        low = None if self.high is None else 1 / self.high
        high = None if self.low is None else 1 / self.low
        return Span(low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRatio:
    """A published figure of a platform against a baseline, as a ratio.

    - `computed`: the document prints both values, and this is their ratio.
    - `probe`, `probe_metric`: the probe and metric that measure the same here; None without one.
    """

    publication: str
    benchmark: str
    metric: str
    platform: str
    baseline: str
    span: Span
    text: str
    computed: bool = False
    approx: bool = False
    cited: bool = False
    at: tuple[tuple[str, Condition], ...] = ()
    probe: str | None = None
    probe_metric: str | None = None
    results: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    part: str = ""
    where: str = ""
    note: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def conditions(self) -> dict[str, Condition]:
        """Conditions by name."""
        return dict(self.at)

    def leaves_out(self, probe: str) -> bool:
        """Whether the document leaves out the program of a probe: ``npb.cg`` if it excludes CG."""
        return probe.rpartition(".")[2].upper() in self.excludes

    def measured_by(self, probe: str) -> bool:
        """Whether a probe measures this ratio."""
        alike = self.probe is not None and fnmatchcase(probe, self.probe)
        return alike and not self.leaves_out(probe)


def span_of(result: Result) -> Span | None:
    """Return how many times worse than its baseline a result is.

    None for a result that is not a ratio to another platform.
    """
    if result.baseline in (None, PEAK) or result.better == "none":
        return None
    return _times_worse(result)


def _times_worse(result: Result) -> Span:
    """Return how many times worse than its baseline, which may be a peak, a result is."""
    printed = Span(*result.ends)
    if result.kind == "factor":
        return printed if result.relation == "worse_by" else printed.inverse()
    if result.kind == "percent_increase":
        return printed.each(_more_time)
    if result.kind == "efficiency":
        return printed.each(_share).inverse()
    # A loss of performance: the rest is a share of the baseline.
    rates = printed.each(_less_rate)
    if result.unclear:
        return Span(printed.each(_more_time).low, rates.high)
    return rates


def _more_time(percent: Decimal) -> Decimal:
    """Return the ratio of times of so many per cent more."""
    return 1 + percent / 100


def _less_rate(percent: Decimal) -> Decimal:
    """Return the ratio of rates, inverted, of so many per cent less."""
    return 1 / (1 - percent / 100)


def _share(percent: Decimal) -> Decimal:
    return percent / 100


def printed_ratios(study: PublishedStudy) -> Iterator[PublishedRatio]:
    """Yield every ratio to a platform that the document prints, without second printings."""
    for result in study.results:
        span = span_of(result)
        if span is None or result.restates or result.baseline in (result.platform, PEAK):
            continue
        pairs = [(result.platform, result.baseline)]
        if result.also_platform and result.also_baseline:
            pairs.append((result.also_platform, result.also_baseline))
        for platform, baseline in pairs:
            assert baseline is not None
            yield _ratio(study, result, platform, baseline, span, result.words)


def peak_ratios(study: PublishedStudy) -> Iterator[PublishedRatio]:
    """Yield every share of a peak that the document prints, as how many times it is below it."""
    for result in study.results:
        if result.restates or result.baseline != PEAK:
            continue
        ratio = _ratio(study, result, result.platform, PEAK, _times_worse(result), result.words)
        benchmark = study.benchmark(result.benchmark)
        share = None
        if benchmark:
            share = benchmark.shares.get(result.metric)
        yield replace(ratio, probe_metric=share)


def again_printed(study: PublishedStudy, ratio: PublishedRatio) -> list[Result]:
    """Return all other printings of a ratio, direct and indirect, in the document's order."""
    printings = set(ratio.results)
    for _ in study.results:
        restated = {row.id for row in study.results if not printings.isdisjoint(row.restates)}
        if restated <= printings:
            break
        printings |= restated
    return [row for row in study.results if row.id in printings - {*ratio.results}]


def own_bases(study: PublishedStudy) -> list[Result]:
    """Return the results that are printed relative to their own platform: 1 by definition."""
    return [row for row in study.results if row.baseline == row.platform]


def computed_ratios(study: PublishedStudy) -> Iterator[PublishedRatio]:
    """Yield the ratios of the absolute values that the document prints for two platforms.

    The median represents listed trials. A pair with a printed ratio is left out.
    """
    printed = {
        (row.benchmark, row.metric, row.platform, row.baseline, *_texts(row.conditions))
        for row in printed_ratios(study)
    }
    absolute = [row for row in study.results if row.kind == "absolute" and row.value is not None]
    values: dict[tuple[object, ...], Result] = {_key(row, row.platform): row for row in absolute}
    for result in absolute:
        platform = study.platform(result.platform)
        if platform is None or platform.against is None or result.better == "none":
            continue
        base = values.get(_key(result, platform.against))
        if base is None or base.value is None or result.value is None:
            continue
        key = (result.benchmark, result.metric, result.platform, platform.against)
        if (*key, *_texts(result.at)) in printed:
            continue
        times_worse = worse(result.value, base.value, better=result.better)
        span = Span(times_worse, times_worse)
        text = f"{result.words} against {base.words}"
        ratio = _ratio(study, result, result.platform, platform.against, span, text)
        yield replace(ratio, computed=True, results=(result.id, base.id))
    yield from _trial_ratios(study)


def ratios_across(study: PublishedStudy, platform: str, baseline: str) -> Iterator[PublishedRatio]:
    """Yield the ratios of values in one table of two platforms that the document never compares.

    InfiniCloud draws two generations of servers next to each other, each with its own native pair.
    """
    compared = {
        (row.platform, row.baseline) for row in (*printed_ratios(study), *computed_ratios(study))
    }
    if platform == baseline or {(platform, baseline), (baseline, platform)} & compared:
        return
    absolute = [row for row in study.results if row.kind == "absolute" and row.value is not None]
    bases = {(*_key(row, ""), row.part): row for row in absolute if row.platform == baseline}
    for result in absolute:
        base = bases.get((*_key(result, ""), result.part))
        if result.platform != platform or result.better == "none" or base is None:
            continue
        assert result.value is not None and base.value is not None
        ratio = worse(result.value, base.value, better=result.better)
        text = f"{result.words} against {base.words}"
        between = _ratio(study, result, platform, baseline, Span(ratio, ratio), text)
        yield replace(between, computed=True, results=(result.id, base.id))


def _trial_ratios(study: PublishedStudy) -> Iterator[PublishedRatio]:
    """Yield the ratios of the medians of listed trials."""
    by_platform = {(row.benchmark, row.platform): row for row in study.trials}
    for trials in study.trials:
        platform = study.platform(trials.platform)
        if platform is None or platform.against is None:
            continue
        base = by_platform.get((trials.benchmark, platform.against))
        if base is None:
            continue
        value = median(trials.values)
        base_value = median(base.values)
        times_worse = worse(value, base_value, better=trials.better)
        span = Span(times_worse, times_worse)
        unit = trials.unit
        text = f"median of {len(trials.values)} trials {value} {unit} against {base_value} {unit}"
        ratio = _ratio(study, trials, trials.platform, base.platform, span, text)
        yield replace(ratio, computed=True, results=(trials.id, base.id))


def published_ratios(study: PublishedStudy) -> list[PublishedRatio]:
    """Return all ratios of a publication between two platforms, once for each probe of them."""
    ratios = [*printed_ratios(study), *computed_ratios(study)]
    of_other_probes: list[PublishedRatio] = []
    for ratio in ratios:
        of_other_probes += likewise(study, ratio)
    return [*ratios, *of_other_probes]


def likewise(study: PublishedStudy, ratio: PublishedRatio) -> Iterator[PublishedRatio]:
    """Yield a ratio for each other probe of its benchmark that measures it."""
    benchmark = study.benchmark(ratio.benchmark)
    if benchmark is None:
        return
    for other in benchmark.also:
        if ratio.metric in other.metrics:
            yield replace(
                ratio,
                probe=other.probe,
                probe_metric=other.metrics[ratio.metric],
                at=_by_name({**ratio.conditions, **other.at}),
            )


def _by_name(given: Mapping[str, Condition]) -> tuple[tuple[str, Condition], ...]:
    """Return conditions in the order of their names."""
    return tuple((name, given[name]) for name in sorted(given))


def listed_trials(study: PublishedStudy, benchmark: str) -> dict[str, Trials]:
    """Return the trials of a benchmark that the document lists, by platform."""
    return {row.platform: row for row in study.trials if row.benchmark == benchmark}


def worse(value: Decimal, base: Decimal, *, better: str) -> Decimal:
    """Return how many times worse a value is than the baseline's."""
    return base / value if better == "higher" else value / base


def _ratio(
    study: PublishedStudy,
    printed: Result | Trials,
    platform: str,
    baseline: str,
    span: Span,
    text: str,
) -> PublishedRatio:
    benchmark = study.benchmark(printed.benchmark)
    ratio = PublishedRatio(
        publication=study.id,
        benchmark=printed.benchmark,
        metric=printed.metric,
        platform=platform,
        baseline=baseline,
        span=span,
        text=text,
        probe=benchmark.probe if benchmark else None,
        probe_metric=benchmark.metrics.get(printed.metric) if benchmark else None,
        results=(printed.id,),
        part=f"{study.id}:{printed.part}",
        where=printed.where,
    )
    if isinstance(printed, Trials):
        return replace(ratio, at=(("nodes", printed.nodes),))
    return replace(
        ratio,
        approx=printed.approx,
        cited=printed.cited,
        at=_by_name(printed.at),
        excludes=tuple(printed.excludes),
        note=printed.note,
        doubts=tuple(study.doubts(printed.id)),
    )


def _texts(given: Mapping[str, Condition]) -> tuple[str, ...]:
    return tuple(sorted(f"{name}={value}" for name, value in given.items()))


def _key(result: Result, platform: str) -> tuple[object, ...]:
    """Return the key that two absolute values must share to be compared, and the platform."""
    shared = {name: value for name, value in result.at.items() if name not in _OWN}
    return result.benchmark, result.metric, result.unit, *_texts(shared), platform
