"""Causes in the storage: another file system, another kind of disk."""

from __future__ import annotations

from bareline.analysis.judgements.causes.case import Case, Facts
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import Layer


def file_system(case: Case) -> Cause | Absent:
    """Another file system."""
    own, base = named(case.facts), named(case.baseline_facts)
    if own == base:
        return Absent(f"both are {own}")
    return Cause(f"its file system is another one ({own} against {base})")


def named(facts: Facts) -> str:
    """Name a file system by what is decided about it: where its data lies, and who serves it."""
    kind = str(facts["fs.type"])
    if below := facts.get("fs.below"):
        return f"{kind} in a file on {below}"
    if bricks := facts.get("fs.bricks"):
        return f"GlusterFS of {bricks} brick{'s' if bricks != 1 else ''}"
    if server := facts.get("fs.server"):
        return f"{kind} of a server {format_fact('fs.server', server)}"
    return f"{kind}, striped: {facts['fs.striping']}" if facts.get("fs.striping") else kind


def kind_of_disk(case: Case) -> Cause | Absent:
    """A disk that rotates in place of one that does not, or the other way round."""
    own, base = case.both("fs.disk.rotational")
    if own == base:
        return Absent("both disks are of one kind")
    return Cause("its disk rotates, the baseline's does not" if own else "its disk does not rotate")


RULES = (
    Rule("file system", (Layer.IO,), file_system, (Need.any("fs.type"),)),
    Rule("kind of disk", (Layer.IO,), kind_of_disk, (Need.any("fs.disk.rotational"),)),
)
