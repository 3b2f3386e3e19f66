"""Published figures as ratios: how many times worse a platform is than the baseline.

A ratio above 1 is worse than the baseline, whether a high or a low value of the metric is better. A
factor, a percentage or two absolute values of the document are converted to a span of ratios. A
bound is converted to a span with an open end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from operator import itemgetter
from statistics import median
from typing import TypeAlias

from bareline.published.model import PEAK, PublishedStudy, Result, Trials
from bareline.published.quantities import Condition

#: Conditions that describe the size of a platform. They may differ between compared values.
_OWN = frozenset({"cores", "threads", "streams"})

#: The conditions of a figure by name, e.g. its number of nodes.
Conditions: TypeAlias = Mapping[str, Condition]
#: A pair of platforms: the measured one and its baseline.
_Pair: TypeAlias = tuple[str, str]
#: Ratios of a publication, one after the other.
_Ratios: TypeAlias = "Iterator[PublishedRatio]"
#: The values that must be equal for two figures to be comparable.
_Key: TypeAlias = tuple[object, ...]
#: A printed figure, or the list of trials of one.
_Figure: TypeAlias = Result | Trials
#: A change of a number, e.g. from a percentage to a ratio.
_Change: TypeAlias = Callable[[Decimal], Decimal]


@dataclass(frozen=True, slots=True)
class Span:
    """A range of ratios.

    A bound is a range with one open end, which is None.
    """

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

    def each(self, change: _Change) -> Span:
        """Return the span with `change` applied to both ends; an open end stays open."""
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

    - `computed`: whether the ratio is not printed, but computed from two printed values.
    - `probe`, `probe_metric`: the probe and metric of bareline that measure the same quantity; None
      without such a probe or metric.
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
        """The conditions of the ratio by name."""
        return dict(self.at)

    def leaves_out(self, probe: str) -> bool:
        """Whether the document excludes a probe's program from the ratio (CG for ``npb.cg``)."""
        return probe.rpartition(".")[2].upper() in self.excludes

    def measured_by(self, probe: str) -> bool:
        """Whether a probe measures this ratio."""
        alike = self.probe is not None and fnmatchcase(probe, self.probe)
        return alike and not self.leaves_out(probe)


def span_of(result: Result) -> Span | None:
    """Return how many times worse a result is than its baseline.

    None if the result is not a ratio to another platform.
    """
    if result.baseline in (None, PEAK) or result.better == "none":
        return None
    return _times_worse(result)


def _times_worse(result: Result) -> Span:
    """Return how many times worse a result is than its baseline, which may be a peak."""
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
    """Return the longer of two times divided by the shorter; it is `percent` per cent longer."""
    return 1 + percent / 100


def _less_rate(percent: Decimal) -> Decimal:
    """Return the higher of two rates divided by the lower; the lower is `percent` per cent less."""
    return 1 / (1 - percent / 100)


def _share(percent: Decimal) -> Decimal:
    return percent / 100


def printed_ratios(study: PublishedStudy) -> _Ratios:
    """Yield every printed ratio of two platforms, once even if several results print it."""
    for result in study.results:
        span = span_of(result)
        if span is None or result.restates or result.baseline == result.platform:
            continue
        for platform, baseline in _pairs(result):
            yield _ratio(study, result, platform, baseline, span, result.words)


def _pairs(result: Result) -> Iterator[_Pair]:
    """Yield the pairs of platforms for which a result prints the ratio."""
    if result.baseline:
        yield result.platform, result.baseline
    if result.also_platform and result.also_baseline:
        yield result.also_platform, result.also_baseline


def peak_ratios(study: PublishedStudy) -> _Ratios:
    """Yield every printed share of a peak, as the ratio of the peak to the measured value."""
    for result in study.results:
        if result.restates or result.baseline != PEAK:
            continue
        span = _times_worse(result)
        ratio = _ratio(study, result, result.platform, PEAK, span, result.words)
        benchmark = study.benchmark(result.benchmark)
        share = None
        if benchmark:
            share = benchmark.shares.get(result.metric)
        yield replace(ratio, probe_metric=share)


def again_printed(study: PublishedStudy, ratio: PublishedRatio) -> list[Result]:
    """Return the other results that print a ratio, in the document's order.

    A result that repeats one of these results is also returned.
    """
    printings = set(ratio.results)
    for _ in study.results:
        restated = {row.id for row in study.results if not printings.isdisjoint(row.restates)}
        if restated <= printings:
            break
        printings |= restated
    others = printings.difference(ratio.results)
    return [row for row in study.results if row.id in others]


def own_bases(study: PublishedStudy) -> list[Result]:
    """Return the results whose baseline is their own platform; their ratio is always 1."""
    return [row for row in study.results if row.baseline == row.platform]


def computed_ratios(study: PublishedStudy) -> _Ratios:
    """Yield the ratios of the absolute values that the document prints for two platforms.

    Listed trials are represented by their median. Pairs with a printed ratio are left out.
    """
    printed: set[_Key] = set()
    for ratio in printed_ratios(study):
        quantity = (ratio.benchmark, ratio.metric, *_texts(ratio.conditions))
        printed.add((ratio.platform, ratio.baseline, *quantity))
    absolute = _absolute_values(study)
    values = {(result.platform, *_key(result)): result for result in absolute}
    for result in absolute:
        against = _counterpart(study, result)
        base = values.get((against, *_key(result)))
        if base is None or result.better == "none":
            continue
        quantity = (result.benchmark, result.metric, *_texts(result.at))
        if (result.platform, against, *quantity) not in printed:
            yield _ratio_of_values(study, result, base)
    yield from _trial_ratios(study)


def _absolute_values(study: PublishedStudy) -> list[Result]:
    """Return the results that are absolute values, not relative to a baseline."""
    return [row for row in study.results if row.kind == "absolute" and row.value is not None]


def _counterpart(study: PublishedStudy, figure: _Figure) -> str | None:
    """Return the platform to compare a figure's platform with; None if there is none."""
    platform = study.platform(figure.platform)
    if platform is None:
        return None
    return platform.against


def ratios_across(study: PublishedStudy, platform: str, baseline: str) -> _Ratios:
    """Yield ratios of two platforms whose values a table or figure prints but does not compare.

    For example, InfiniCloud draws two generations of servers next to each other, and compares each
    only with the native platform of its generation.
    """
    ratios = [*printed_ratios(study), *computed_ratios(study)]
    compared = {frozenset((ratio.platform, ratio.baseline)) for ratio in ratios}
    if platform == baseline or frozenset((platform, baseline)) in compared:
        return
    bases: dict[_Key, Result] = {}
    results: list[Result] = []
    for value in _absolute_values(study):
        if value.platform == baseline:
            bases[value.part, *_key(value)] = value
        elif value.platform == platform and value.better != "none":
            results.append(value)
    for result in results:
        base = bases.get((result.part, *_key(result)))
        if base is not None:
            yield _ratio_of_values(study, result, base)


def _trial_ratios(study: PublishedStudy) -> _Ratios:
    """Yield the ratios of the medians of the single trials that the publication lists."""
    by_platform = {(trials.benchmark, trials.platform): trials for trials in study.trials}
    for trials in study.trials:
        against = _counterpart(study, trials)
        if against is None:
            continue
        base = by_platform.get((trials.benchmark, against))
        if base is None:
            continue
        value = median(trials.values)
        base_value = median(base.values)
        times_worse = worse(value, base_value, better=trials.better)
        unit = trials.unit
        text = f"median of {len(trials.values)} trials {value} {unit} against {base_value} {unit}"
        yield _computed_ratio(study, trials, base, times_worse, text)


def _ratio_of_values(study: PublishedStudy, result: Result, base: Result) -> PublishedRatio:
    """Return the ratio of two absolute values."""
    assert result.value is not None and base.value is not None
    times_worse = worse(result.value, base.value, better=result.better)
    text = f"{result.words} against {base.words}"
    return _computed_ratio(study, result, base, times_worse, text)


def _computed_ratio(
    study: PublishedStudy, figure: _Figure, base: _Figure, times_worse: Decimal, text: str
) -> PublishedRatio:
    """Return the ratio of two printed figures; the document does not print it (`computed`)."""
    span = Span(times_worse, times_worse)
    ratio = _ratio(study, figure, figure.platform, base.platform, span, text)
    return replace(ratio, computed=True, results=(figure.id, base.id))


def published_ratios(study: PublishedStudy) -> list[PublishedRatio]:
    """Return the printed and the computed ratios, once for each probe that measures a ratio."""
    ratios = [*printed_ratios(study), *computed_ratios(study)]
    of_other_probes: list[PublishedRatio] = []
    for ratio in ratios:
        of_other_probes += likewise(study, ratio)
    return ratios + of_other_probes


def likewise(study: PublishedStudy, ratio: PublishedRatio) -> _Ratios:
    """Yield a copy of a ratio for each other probe that measures it."""
    benchmark = study.benchmark(ratio.benchmark)
    if benchmark is None:
        return
    for other in benchmark.also:
        metric = other.metrics.get(ratio.metric)
        if metric is not None:
            conditions = _by_name(ratio.conditions | other.at)
            yield replace(ratio, probe=other.probe, probe_metric=metric, at=conditions)


def _by_name(given: Conditions) -> tuple[tuple[str, Condition], ...]:
    """Return the conditions sorted by their names."""
    return tuple(sorted(given.items(), key=itemgetter(0)))


def listed_trials(study: PublishedStudy, benchmark: str) -> dict[str, Trials]:
    """Return the trials of a benchmark that the publication lists, by platform."""
    return {row.platform: row for row in study.trials if row.benchmark == benchmark}


def worse(value: Decimal, base: Decimal, *, better: str) -> Decimal:
    """Return how many times worse `value` is than `base`.

    - `better`: "higher" or "lower", whichever value of the metric is better.
    """
    return base / value if better == "higher" else value / base


def _ratio(
    study: PublishedStudy,
    printed: _Figure,
    platform: str,
    baseline: str,
    span: Span,
    text: str,
) -> PublishedRatio:
    ratio = PublishedRatio(
        publication=study.id,
        benchmark=printed.benchmark,
        metric=printed.metric,
        platform=platform,
        baseline=baseline,
        span=span,
        text=text,
        probe=study.probe_of(printed),
        probe_metric=study.probe_metric_of(printed),
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


def _texts(given: Conditions) -> list[str]:
    return sorted(f"{name}={value}" for name, value in given.items())


def _key(result: Result) -> _Key:
    """Return a key that is equal for two absolute values if they can be compared."""
    shared = {name: value for name, value in result.at.items() if name not in _OWN}
    return (result.benchmark, result.metric, result.unit, *_texts(shared))
