"""Values, ratios and losses by a publication's rule, e.g. the best trial against the worst."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.vocabulary.verdicts import Verdict

#: The sentence in a caption when a rule is used.
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
    """Describe the rule of an exhibit; "" if it does not use a publication's rule."""
    return RULES[rule].format(baseline=baseline) if rule in RULES else ""


def ruled_value(document: Document, cell: Row, rule: str, *, is_base: bool) -> float | None:
    """Return the value of a cell by an exhibit's rule, e.g. the best trial; None without a value.

    Without a rule, the value is the median.

    - `is_base`: whether other cells are compared with this cell. A rule may use the best trial of
      such a cell, and the worst trial of every other cell.
    """
    if rule not in RULES or cell.value is None:
        return cell.median
    values = [dot.value for dot in trial_dots(document, [cell]).dots]
    if not values:
        return None
    if rule == "mean":
        return fmean(values)
    lower_is_better = cell.metric.better == "lower"
    return min(values) if is_base == lower_is_better else max(values)


def ruled_ratio(document: Document, cell: Row, base: Row | None, rule: str) -> Estimate | None:
    """Return the ratio of a cell to the baseline by a rule, without an interval.

    Without a rule, return the cell's own ratio. None if the metric has no direction, if a value is
    missing or zero, or if the two values are not comparable.
    """
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return None
    if rule not in RULES:
        return cell.ratio
    if base is None:
        return None
    worse = worse_by_rule(document, cell, base, rule)
    return None if worse is None else Estimate(worse)


def worse_by_rule(document: Document, cell: Row, base: Row, rule: str) -> float | None:
    """Return how many times worse a cell is than `base`; a rule may replace their medians."""
    value = ruled_value(document, cell, rule, is_base=False)
    base_value = ruled_value(document, base, rule, is_base=True)
    return cell.metric.worse(value, base_value)


def lost(ratio: Estimate | None) -> Estimate | None:
    """Return the performance lost in percent for a ratio; None if there is no ratio."""
    if ratio is None or not ratio.value:
        return None
    value = _lost_percent(ratio.value)
    assert value is not None
    return Estimate(value, _lost_percent(ratio.lo), _lost_percent(ratio.hi))


def _lost_percent(ratio: float | None) -> float | None:
    return 100 * (1 - 1 / ratio) if ratio else None
