"""Every cause that is known, by family: a rule that stands in its family's file is known here."""

from __future__ import annotations

from bareline.analysis.judgements.causes import (
    containers,
    links,
    memory,
    neighbours,
    network,
    processor,
    programs,
    simulated,
    software,
    storage,
)
from bareline.analysis.judgements.causes.case import Case
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.analysis.judgements.rule import Rule

CauseRule = Rule[[Case], Cause | Absent]
#: In the order in which causes are told.
RULES: tuple[CauseRule, ...] = (
    *neighbours.RULES,
    *processor.RULES,
    *memory.RULES,
    *links.RULES,
    *network.RULES,
    *containers.RULES,
    *storage.RULES,
    *software.RULES,
    *programs.RULES,
    *simulated.RULES,
)
