"""Causes in containers: what ranks of one node may no longer do with each other's memory."""

from __future__ import annotations

from dataclasses import replace

from bareline.analysis.judgements.causes.case import Case, Facts, beside, nodes_of
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.analysis.numbers.cell import Cell
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_size

#: Up to here MPI libraries copy a message twice in any case, into memory that ranks share and out
#: of it; what is longer they copy once, straight out of the sender's memory (CMA).
_COPIED_TWICE_BYTES = 4096
#: Messages with which sender and receiver agree on one that is handed over in pieces.
_HANDSHAKE = 2
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
    most = _most(case, size)
    cause = Cause(words, 1.0, most)
    for other, facts in case.others:
        if not _shared_otherwise_alike(case.facts, facts):
            continue
        ratio = case.against(other)
        if ratio is not None:
            found = beside(ratio, cause, f"on {other.platform}, where they share one")
            if found.lo > 1 and most is not None:
                return replace(found, hi=max(most, ratio.hi or 0.0))
            return found
    return cause


def _most(case: Case, size: int) -> float | None:
    """Bound the second copy: each piece takes as long as a message that is copied twice anyway.

    That is without any overlap of the two copies. None where no such message was measured there.
    """
    pieces = [
        (piece, point.ratio.value * piece_s)
        for finding in case.findings
        for point in finding.compared
        if point.place.series == case.place.series and point.ratio is not None
        if (piece := point.place.size_bytes or 0) and piece <= _COPIED_TWICE_BYTES
        if (piece_s := _time_s(point, piece)) is not None
    ]
    once_s = _time_s(case.point, size)
    if not pieces or once_s is None:
        return None
    piece, twice_s = max(pieces)
    return max(1.0, (size / piece + _HANDSHAKE) * twice_s / once_s)


def _time_s(point: Cell, size: int) -> float | None:
    """Give how long the baseline takes for a message."""
    if point.base is None or point.base.value <= 0:
        return None
    if not point.rate:
        return point.base.value
    return (size if point.metric.unit == "B/s" else 1) / point.base.value


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
