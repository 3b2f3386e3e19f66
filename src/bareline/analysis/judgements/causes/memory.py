"""Causes in the memory: slower modules, no huge pages."""

from __future__ import annotations

from bareline.analysis.judgements.causes.case import Case
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: What finding a page costs at most above loading from it, with pages of 4 KiB.
_PAGE_WALK = 3.0


def memory_speed(case: Case) -> Cause | Absent:
    """Slower memory modules."""
    quotient = case.quotient("memory.transfers_per_s")
    if quotient is None or quotient <= 1 + DEFAULT_MARGIN:
        return Absent("its memory makes no fewer transfers a second")
    words = f"its memory makes {significant(quotient)} times fewer transfers a second"
    return Cause(words, 1.0, quotient)


def pages(case: Case) -> Cause | Absent:
    """Huge pages that only the baseline has: finding a page then costs more."""
    own, base = case.both("memory.transparent_hugepages")
    if own != "never" or base == "never":
        return Absent(f"transparent huge pages are '{own}' there and '{base}' on the baseline")
    return Cause("it has no transparent huge pages", 1.0, _PAGE_WALK)


RULES = (
    Rule(
        "memory speed",
        (Layer.MEMORY,),
        memory_speed,
        (Need.any("memory.transfers_per_s"),),
    ),
    Rule(
        "pages",
        (Layer.MEMORY,),
        pages,
        (Need.any("memory.transparent_hugepages"),),
        only=("memory.latency", "memory.random_access"),
    ),
)
