"""Causes on the way between nodes: latency and delay, the adapter, the transport.

Where a latency was measured between nodes, it says what small messages lose, and an added delay is
a part of it.
"""

from __future__ import annotations

from dataclasses import replace

from bareline.analysis.judgements.causes.case import Case, Facts, Measurement, beside, number
from bareline.analysis.judgements.causes.cause import WITHIN_NODE, Absent, Cause
from bareline.analysis.judgements.causes.links import ONE_WAY, carries_much, network_rate
from bareline.analysis.judgements.rule import Need, Rule
from bareline.analysis.numbers.sizes import Size
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value

#: Probes that measure how long a small message takes.
LATENCIES = ("net.sockperf", "net.ib_write_lat")
#: Ways of a guest to the wire that cost something, dearest first, with what each frame meets.
_NICS = {
    "emulated": "every access to it ends in the hypervisor",
    "paravirtual": "frames pass through the hypervisor",
}
#: What must be alike for the kind of NIC to be what two guests differ in.
_BESIDE_NICS = ("cpu.emulated", "cpu.allowed", "net.mtu")


# Latency ------------------------------------------------------------------------------------------


def network_latency(case: Case) -> Cause | Absent:
    """What small messages over sockets or RDMA lost, for small messages of MPI."""
    if not case.uses_network:
        return WITHIN_NODE
    sizes = case.finding.sizes
    small = sizes is not None and sizes.of_messages and sizes.size is Size.SMALL
    if not small or carries_much(case):
        return Absent("it is no time of small messages")
    probe = case.on_link(*LATENCIES)
    if probe is None:
        return Absent("no latency between nodes was measured on both platforms")
    return _by_latency(case, Cause(probe.words), probe)


def delay(case: Case) -> Cause | Absent:
    """A delay that was added to the link, over the baseline's own time."""
    if not case.uses_network:
        return WITHIN_NODE
    own, base = (number(facts, "net.delay_s") or 0.0 for facts in (case.facts, case.baseline_facts))
    before, added = case.base_value, own - base
    if added <= 0:
        return Absent("its link adds no longer delay")
    if before is None or case.finding.rate or case.point.metric.unit != "s":
        return Absent("it is no time")
    words = (
        f"its link adds {format_value(added, 's')} to the baseline's {format_value(before, 's')}"
    )
    # One way at least, and there and back at most: probes differ in what they call latency.
    cause = Cause(words, 1 + added / before, 1 + 2 * added / before)
    probe = case.on_link(*LATENCIES)
    if probe is None or not (probe.acquits or probe.certain):
        return cause
    return _by_latency(case, cause, probe)


def _by_latency(case: Case, cause: Cause, probe: Measurement) -> Cause | Absent:
    """Give the factor that a measured latency foretells: as a ratio, and as the time it adds."""
    if probe.acquits:
        return replace(cause, withdrawn=probe.acquits)
    if not probe.certain:
        return Absent(f"{probe.finding.title} is not certainly worse")
    lo, hi = probe.ratio.lo, probe.ratio.hi
    assert lo is not None and hi is not None
    base, before = case.base_value, probe.point.base
    if case.finding.probe in ONE_WAY and base and before and case.point.metric.unit == "s":
        lo = min(lo, 1 + before.value * (lo - 1) / base)
        hi = max(hi, 1 + before.value * (hi - 1) / base)
    measured = "" if cause.words == probe.words else probe.words
    return replace(cause, lo=lo, hi=hi, measurement=probe.finding.probe, measured=measured)


# The way to the wire ------------------------------------------------------------------------------


def measured_below(case: Case) -> Measurement | None:
    """Give the stream or latency that went the same way as messages of a loss, and is worse."""
    if not case.uses_network:
        return None
    for rule in (network_rate, network_latency):
        found = rule(case)
        if isinstance(found, Cause) and not found.withdrawn:
            return case.on_link(found.measurement)
    return None


def nic(case: Case) -> Cause | Absent:
    """The kind of a guest's adapter; another guest with a faster kind bounds its part below."""
    if not case.uses_network:
        return WITHIN_NODE
    if case.finding.layer is Layer.MPI and (below := measured_below(case)):
        return Absent(f"{below.finding.title} went through the same adapter")
    own, base = case.both("net.kind")
    if not isinstance(own, str) or own not in _NICS or own == base:
        return Absent(f"its NIC is {own}, the baseline's {base}")
    driver = case.facts.get("net.driver")
    words = f"its NIC is {own}{f' ({driver})' if driver else ''}"
    cause = Cause(words, name=f"{own} NIC")
    for other, facts in case.others:
        ratio = case.against(other) if _faster_nic(case.facts, facts) else None
        if ratio is not None:
            return beside(ratio, cause, f"on {other.platform}, whose NIC is {facts['net.kind']}")
    return replace(cause, words=f"{words}: {_NICS[own]}")


def _faster_nic(own: Facts, other: Facts) -> bool:
    """Tell whether another guest differs in having a NIC of a faster kind."""
    kinds = [*_NICS, "virtual function", "hardware"]
    kind, faster = own.get("net.kind"), other.get("net.kind")
    alike = all(own.get(key) == other.get(key) for key in _BESIDE_NICS)
    return alike and faster in kinds and kinds.index(str(kind)) < kinds.index(str(faster))


def _carriers(case: Case) -> tuple[str, str] | None:
    """Give what was seen to carry messages; each library has names of its own for the same."""
    key = f"mpi.carrier.{'within_node' if case.place.on_one_node else 'between_nodes'}"
    sides = (case.facts, case.baseline_facts)
    if len({facts.get("mpi.flavour") for facts in sides}) > 1 or not all(key in f for f in sides):
        return None
    own, base = (str(facts[key]) for facts in sides)
    return own, base


def transport(case: Case) -> Cause | Absent:
    """Another way for MPI's messages, e.g. TCP instead of shared memory; nothing bounds it."""
    own, base = case.both("mpi.transport")
    seen = _carriers(case)
    if seen and seen[0] != seen[1]:
        return Cause(f"its messages are carried by {seen[0]}, the baseline's by {seen[1]}")
    if own == base:
        return Absent(f"both talk over {seen[0] if seen else own}")
    named = ["what the library chooses" if way == "auto" else way for way in (own, base)]
    return Cause(f"its ranks talk over {named[0]}, the baseline's over {named[1]}")


_LAYERS = (Layer.NETWORK, Layer.MPI)
RULES = (
    Rule("transport", (Layer.MPI,), transport, (Need.any("mpi.transport"),)),
    Rule("network latency", (Layer.MPI,), network_latency, probes=LATENCIES),
    Rule("delay", _LAYERS, delay, (Need.any("net.delay_s", both=False),), LATENCIES),
    Rule("NIC", _LAYERS, nic, (Need.any("net.kind"),)),
)
