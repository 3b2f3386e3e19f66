"""How publications report where bareline gives medians: named wherever it is used."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.vocabulary.verdicts import Verdict

#: What stands in a caption when a rule is used.
RULES: Mapping[str, str] = {
    "best-against-worst": (
        "By InfiniCloud's rule: the best trial of {baseline} against the worst trial of the other "
        "platform, so that the loss is the largest that was seen; such a ratio has no interval."
    ),
    "mean": (
        "By the publication's rule: means of the trials instead of medians; the ratio of two means "
        "has no interval here."
    ),
}


def rule_text(rule: str, baseline: str) -> str:
    """Say which rule an exhibit follows; nothing for bareline's own."""
    return RULES[rule].format(baseline=baseline) if rule in RULES else ""


def ruled_value(document: Document, cell: Cell, rule: str) -> float | None:
    """Give what a rule reports of a cell; its median without one, None where nothing is known."""
    if rule not in RULES or cell.value is None:
        return cell.median
    values = [dot.value for dot in trial_dots(document, [cell]).dots]
    if not values:
        return None
    if rule == "mean":
        return fmean(values)
    best_is_low = cell.metric.better == "lower"
    wants_best = cell.platform == document.baseline
    return min(values) if best_is_low == wants_best else max(values)


def ruled_ratio(document: Document, cell: Cell, base: Cell | None, rule: str) -> Estimate | None:
    """Give how many times worse a cell is than the baseline's by a rule; none has an interval.

    None without a direction, without the baseline, where either side is missing or zero, and where
    the two are not comparable.
    """
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return None
    if rule not in RULES:
        return cell.ratio
    if base is None:
        return None
    worse = cell.metric.worse(*(ruled_value(document, one, rule) for one in (cell, base)))
    return None if worse is None else Estimate(worse)


def lost(ratio: Estimate | None) -> Estimate | None:
    """Give the performance lost in percent for a ratio; None without one."""
    if ratio is None or not ratio.value:
        return None
    value, *ends = (
        100 * (1 - 1 / end) if end else None for end in (ratio.value, ratio.lo, ratio.hi)
    )
    assert value is not None
    return Estimate(value, *ends)
