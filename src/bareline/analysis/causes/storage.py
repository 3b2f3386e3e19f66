"""Causes in the storage: another file system, another kind of disk."""

from __future__ import annotations

from bareline.analysis.causes.case import Case
from bareline.analysis.causes.cause import Absent, Cause
from bareline.analysis.causes.rule import Need, Rule
from bareline.vocabulary.model import Layer


def file_system(case: Case) -> Cause | Absent:
    """Another file system."""
    own, base = case.both("fs.type")
    if own == base:
        return Absent(f"both are {own}")
    return Cause(f"its file system is another one ({own} against {base})")


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
