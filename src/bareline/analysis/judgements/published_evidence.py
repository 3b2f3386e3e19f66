"""The evidence that a publication prints, for a judgement of suitability."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from bareline import stats
from bareline.analysis.judgements.evidence import (
    SOURCES,
    UNCOUPLED,
    Evidence,
    GroundSource,
    is_of_size,
)
from bareline.analysis.numbers.row import Estimate, finite
from bareline.analysis.numbers.sizes import LARGE_BYTES, SMALL_BYTES
from bareline.published.catalogue import conditions
from bareline.published.model import PublishedStudy, Trials
from bareline.published.quantities import Condition, Spread
from bareline.published.ratios import PublishedRatio, listed_trials, published_ratios


def published_grounds(study: PublishedStudy) -> list[Evidence]:
    """Return the evidence from a publication's own values for each class of applications.

    Only ratios to a platform that is not virtualized count. Ratios cited from other publications do
    not count, and a ratio that is printed twice counts once. If the publication lists the trials,
    the ratio is computed from these trials, which are not paired.
    """
    grounds: dict[tuple[str, ...], Evidence] = {}
    for ratio in published_ratios(study):
        base = study.platform(ratio.baseline)
        if ratio.cited:
            continue
        if base is None:
            continue
        if base.kind == "virtualized":
            continue
        for source in SOURCES:
            if _is_printed_evidence(ratio, source):
                ground = _published(study, ratio, source)
                key = (ground.application_class, ground.platform, ground.subject)
                grounds.setdefault(key, ground)
    return list(grounds.values())


def _is_printed_evidence(ratio: PublishedRatio, source: GroundSource) -> bool:
    """Whether a printed ratio has the metric, the probe and the size of a source of evidence."""
    if ratio.probe is None:
        return False
    if ratio.probe_metric != source.metric:
        return False
    is_family = ratio.probe.endswith("*") and source.probe not in UNCOUPLED
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
    return isinstance(size, int) and is_of_size(wanted, size)


def _spread_size(wanted: str, size: Spread) -> bool:
    """Whether a printed range of sizes is in the class `wanted`, "small" or "large" messages."""
    if size.label is not None:
        if wanted == "small":
            return size.label.startswith("smaller")
        return size.label.startswith("larger")
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
    """Return the evidence of a printed ratio, computed from the trials if these are listed."""
    lo = None
    if ratio.span.low is not None:
        lo = float(ratio.span.low)
    hi = None
    if ratio.span.high is not None:
        hi = float(ratio.span.high)
    metric = ratio.metric.replace("_", " ")
    subject = f"{ratio.benchmark} {metric}"
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
    """Return the evidence with the ratio computed from the trials that the publication lists.

    The trials of the two platforms are not paired.
    """
    numbers = [float(value) for value in trials.values]
    values = np.array(numbers)
    base_numbers = [float(value) for value in base_trials.values]
    base_values = np.array(base_numbers)
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
    """Format a ratio as it is printed, with the words "times worse" or "times better"."""
    text = f"{ratio.span} times worse ({ratio.text})"
    if ratio.text.endswith(("times worse", "times better")):
        text = ratio.text
    if ratio.approx and not ratio.computed and not text.startswith("about"):
        return f"about {text}"
    return text
