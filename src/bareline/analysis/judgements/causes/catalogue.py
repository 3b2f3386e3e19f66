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
from bareline.analysis.judgements.causes.rule import Rule

#: In the order in which causes are told.
RULES: tuple[Rule, ...] = (
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
