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
        low, high = (None if end is None else f"{end:.3g}" for end in (self.low, self.high))
        if low is None:
            return f"at most {high}"
        if high is None:
            return f"at least {low}"
        return low if low == high else f"{low} to {high}"


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

    def span(form: Callable[[Decimal], Decimal]) -> Span:
        return Span(*(None if end is None else form(end) for end in result.ends))

    def inverse(form: Callable[[Decimal], Decimal]) -> Span:
        return Span(*(None if end is None else 1 / form(end) for end in reversed(result.ends)))

    if result.kind == "factor":
        return (span if result.relation == "worse_by" else inverse)(lambda end: end)
    if result.kind == "percent_increase":
        return span(lambda end: 1 + end / 100)
    if result.kind == "efficiency":
        return inverse(lambda end: end / 100)
    # A loss of performance: the rest is a share of the baseline.
    rates = span(lambda end: 1 / (1 - end / 100))
    return Span(span(lambda end: 1 + end / 100).low, rates.high) if result.unclear else rates


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
        share = benchmark.shares.get(result.metric) if benchmark else None
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
        what = (result.benchmark, result.metric, result.platform, platform.against)
        if (*what, *_texts(result.at)) in printed:
            continue
        ratio = worse(result.value, base.value, better=result.better)
        text = f"{result.words} against {base.words}"
        found = _ratio(study, result, result.platform, platform.against, Span(ratio, ratio), text)
        yield replace(found, computed=True, results=(result.id, base.id))
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
        found = _ratio(study, result, platform, baseline, Span(ratio, ratio), text)
        yield replace(found, computed=True, results=(result.id, base.id))


def _trial_ratios(study: PublishedStudy) -> Iterator[PublishedRatio]:
    by_platform = {(row.benchmark, row.platform): row for row in study.trials}
    for trials in study.trials:
        platform = study.platform(trials.platform)
        base = by_platform.get((trials.benchmark, (platform and platform.against) or ""))
        if base is None:
            continue
        own, other = median(trials.values), median(base.values)
        ratio = worse(own, other, better=trials.better)
        unit = trials.unit
        text = f"median of {len(trials.values)} trials {own} {unit} against {other} {unit}"
        found = _ratio(study, trials, trials.platform, base.platform, Span(ratio, ratio), text)
        yield replace(found, computed=True, results=(trials.id, base.id))


def published_ratios(study: PublishedStudy) -> list[PublishedRatio]:
    """Return all ratios of a publication between two platforms, once for each probe of them."""
    ratios = [*printed_ratios(study), *computed_ratios(study)]
    return [*ratios, *(again for ratio in ratios for again in likewise(study, ratio))]


def likewise(study: PublishedStudy, ratio: PublishedRatio) -> Iterator[PublishedRatio]:
    """Yield a ratio for each other probe of its benchmark that measures it."""
    benchmark = study.benchmark(ratio.benchmark)
    for other in benchmark.also if benchmark else ():
        if ratio.metric in other.metrics:
            at = tuple(sorted({**ratio.conditions, **other.at}.items(), key=lambda item: item[0]))
            metric = other.metrics[ratio.metric]
            yield replace(ratio, probe=other.probe, probe_metric=metric, at=at)


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
    found = study.benchmark(printed.benchmark)
    ratio = PublishedRatio(
        publication=study.id,
        benchmark=printed.benchmark,
        metric=printed.metric,
        platform=platform,
        baseline=baseline,
        span=span,
        text=text,
        probe=found.probe if found else None,
        probe_metric=found.metrics.get(printed.metric) if found else None,
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
        at=tuple(sorted(printed.at.items(), key=lambda item: item[0])),
        excludes=tuple(printed.excludes),
        note=printed.note,
        doubts=tuple(study.doubts(printed.id)),
    )


def _texts(at: Mapping[str, Condition]) -> tuple[str, ...]:
    return tuple(sorted(f"{key}={value}" for key, value in at.items()))


def _key(result: Result, platform: str) -> tuple[object, ...]:
    """Return the key that two absolute values must share to be compared, and the platform."""
    at = {key: value for key, value in result.at.items() if key not in _OWN}
    return result.benchmark, result.metric, result.unit, *_texts(at), platform
