"""Causes in containers: what ranks of one node may no longer do with each other's memory."""

from __future__ import annotations

from dataclasses import replace

from bareline.analysis.judgements.causes.case import Case, Facts, beside, nodes_of
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_size

#: Up to here MPI libraries copy a message twice in any case, into memory that ranks share and out
#: of it; what is longer they copy once, straight out of the sender's memory (CMA).
_COPIED_TWICE_BYTES = 4096
#: Two copies in place of one, and handing over fragments: 2.7 times was seen at 128 KiB (Open MPI
#: 4.1); nearly nothing of large ones, where the receiver copies while the sender still does.
_MOST = 3.0
#: What must be alike for the namespaces to be what two containers differ in.
_BESIDE = ("container.runtime", "container.image", "container.image_hash", "mpi.version")


def user_namespaces(case: Case) -> Cause | Absent:
    """A user namespace for each rank: the kernel lets none of them read another one's memory.

    A container that all ranks of a node share bounds its part, or shows that it costs nothing.
    """
    own, base = case.both("container.userns")
    if own != "per-rank":
        return Absent("its ranks share a user namespace")
    if base == own:
        return Absent("both have a user namespace for each rank")
    if case.place.ranks <= max(1, nodes_of(case.place)):
        return Absent("no ranks share a node")
    size = case.place.size_bytes
    if size is None or size <= _COPIED_TWICE_BYTES:
        least = format_size(_COPIED_TWICE_BYTES)
        return Absent(f"only messages above {least} within a node are copied once without it")
    words = "each rank has a user namespace of its own, so that its messages are copied twice"
    cause = Cause(words, 1.0, _MOST)
    for other, facts in case.others:
        if not _shared_otherwise_alike(case.facts, facts):
            continue
        ratio = case.against(other)
        if ratio is not None:
            found = beside(ratio, cause, f"on {other.platform}, where they share one")
            return replace(found, hi=max(_MOST, ratio.hi or 0.0)) if found.lo > 1 else found
    return cause


def _shared_otherwise_alike(own: Facts, other: Facts) -> bool:
    """Tell whether another container differs in that ranks share its user namespace."""
    alike = all(own.get(key) == other.get(key) for key in _BESIDE)
    return alike and other.get("container.userns") == "per-node"


RULES = (
    Rule(
        "user namespace for each rank",
        (Layer.MPI,),
        user_namespaces,
        (Need.any("container.userns", both=False),),
    ),
)
