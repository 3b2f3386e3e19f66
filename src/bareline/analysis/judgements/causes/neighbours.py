"""The cause of those who share the machine: busy neighbours on its cores, memory, links or disk."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.analysis.judgements.causes.case import Case, Facts, number
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.vocabulary.model import Layer

#: What is shared by loads that have cores of their own, and the layers that it may slow down.
_SHARED: Mapping[str, tuple[str, tuple[Layer, ...]]] = {
    "cpu": ("its caches and clock", (Layer.COMPUTE, Layer.MEMORY, Layer.NPB, Layer.APP)),
    "memory": ("its caches and memory", (Layer.COMPUTE, Layer.MEMORY, Layer.NPB, Layer.APP)),
    "network": ("its links", (Layer.NETWORK, Layer.MPI, Layer.NPB, Layer.APP)),
    "disk": ("its disk", (Layer.IO, Layer.APP)),
    "same": ("its machine", tuple(Layer)),
}
#: Of these the time is that of computation: who has a third of a core takes three times as long.
#: Ranks that wait for each other wait for turns, too, which nothing bounds.
_COMPUTING = (Layer.COMPUTE, Layer.MEMORY)


def neighbours(case: Case) -> Cause | Absent:
    """More tenants, or others, beside the platform than beside the baseline."""
    own, base = _count(case.facts), _count(case.baseline_facts)
    load, base_load = case.both("neighbours.load")
    if own == 0 or load == "idle":
        return Absent("nobody works beside it")
    if own <= base and load == base_load:
        return Absent("as many neighbours work beside the baseline")
    told = f"{own} busy neighbour{'s' if own > 1 else ''} (load: {load})"
    beside = f"{base} beside the baseline" if base else "none beside the baseline"
    what, layers = _SHARED.get(str(load), _SHARED["same"])
    reached = case.finding.layer in layers
    promised = number(case.facts, "neighbours.processors_per_core") or 1.0
    promised_base = number(case.baseline_facts, "neighbours.processors_per_core") or 1.0
    if promised > promised_base:
        turns = f"take{'' if own > 1 else 's'} turns with it on its cores"
        also = f" and use{'' if own > 1 else 's'} {what}" if reached and load != "cpu" else ""
        words = f"{told} {turns}{also}, {beside}: for each core {promised:.3g} processors are "
        words += "promised" + (", and a hypervisor took time away" if _stolen(case) else "")
        most = promised / promised_base if case.finding.layer in _COMPUTING else None
        return Cause(words, 1.0, most, caveat="cores-with-neighbours")
    if not reached:
        return Absent(f"neighbours of load {load} share {what} alone")
    return Cause(f"{told} use{'' if own > 1 else 's'} {what}, {beside}")


def _stolen(case: Case) -> bool:
    return any(caveat.code == "steal-time" for caveat in case.finding.own_caveats)


def _count(facts: Facts) -> int:
    count = facts.get("neighbours.count")
    return count if isinstance(count, int) else 0


RULES = (
    Rule(
        "neighbours",
        tuple(Layer),
        neighbours,
        (Need.any("neighbours.count", both=False), Need.any("neighbours.load", both=False)),
    ),
)
