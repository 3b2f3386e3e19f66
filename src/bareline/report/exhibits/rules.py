"""How publications report where bareline gives medians: named wherever it is used."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from bareline.analysis.cell import Cell
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
#: More trials than any run has: all are wanted.
_ALL = 1_000_000_000


def rule_text(rule: str, baseline: str) -> str:
    """Say which rule an exhibit follows; nothing for bareline's own."""
    return RULES[rule].format(baseline=baseline) if rule in RULES else ""


def ruled_value(document: Document, cell: Cell, rule: str) -> float | None:
    """Give what a rule reports of a cell; its median without one, None where nothing is known."""
    if rule not in RULES or cell.value is None:
        return cell.median
    values = [dot.value for dot in trial_dots(document, [cell], _ALL).dots]
    if not values:
        return None
    if rule == "mean":
        return fmean(values)
    best_is_low = cell.metric.better == "lower"
    wants_best = cell.platform == document.baseline
    return min(values) if best_is_low == wants_best else max(values)


def ruled_ratio(document: Document, cell: Cell, base: Cell | None, rule: str) -> float | None:
    """Give how many times worse a cell is than the baseline's by a rule.

    None without a direction, without the baseline, where either side is missing or zero, and where
    the two are not comparable.
    """
    if cell.verdict == Verdict.NOT_COMPARABLE:
        return None
    if rule not in RULES:
        return cell.ratio.value if cell.ratio else None
    if base is None or cell.metric.better not in ("lower", "higher"):
        return None
    own, other = (ruled_value(document, one, rule) for one in (cell, base))
    if not own or not other:
        return None
    return own / other if cell.metric.better == "lower" else other / own
