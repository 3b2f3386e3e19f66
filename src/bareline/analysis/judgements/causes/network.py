"""Causes between nodes: what a link carries, who cuts its frames, latency, adapter, transport.

A stream or a latency that was measured over the link says what messages can have of it, and an
added delay is a part of the latency; without one the link's own rate, or delay, does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bareline.analysis.judgements.causes.case import (
    Facts,
    LossCase,
    Measurement,
    Rule,
    bound_below,
    number,
)
from bareline.analysis.judgements.causes.cause import Cause, NoCause
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.numbers.sizes import Size
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value, significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

STREAMS = ("net.nuttcp", "net.iperf3", "net.ib_write_bw")
#: Probes of MPI whose message crosses the link once, in one direction, and nothing else does.
ONE_WAY = ("mpi.pingpong", "mpi.bandwidth")
#: A link that carries less than this share of its rate is not what limits a stream.
_LINK_FULL = 0.70
#: Bytes of a frame that are no payload: Ethernet's preamble, head and gap, IP's and TCP's heads.
_FRAME_BYTES, _HEAD_BYTES = 38, 52
_USUAL_MTU = 1500
#: A shaper's bucket refills while an answer travels: of a few buckets at most half pass at once.
_FEW_BUCKETS_BYTES, _AT_ONCE = 64 << 10, 0.5
_LINK_FACTS = ("net.shaped_bps", "net.speed_bps")
LATENCIES = ("net.sockperf", "net.ib_write_lat")
#: Ways of a guest to the wire that cost something, dearest first, with what each frame meets.
_NICS = {
    "emulated": "every access to it ends in the hypervisor",
    "paravirtual": "frames pass through the hypervisor",
}
#: What must be alike for the kind of NIC to be what two guests differ in.
_BESIDE_NICS = ("cpu.emulated", "cpu.allowed", "net.mtu")


def link_rate(case: LossCase) -> Cause | NoCause:
    """A link that carries less than the baseline's stream did, or than the baseline's link."""
    if case.finding.layer is Layer.NETWORK:
        return _filled_link(case)
    rate, base_rate = link_bps(case.facts), link_bps(case.baseline_facts)
    if not carries_much(case):
        return NoCause("its messages are too small for a link's rate to matter")
    if rate is None or base_rate is None:
        return NoCause("the baseline's link rate is not known")
    times = base_rate / rate
    if times <= 1 + DEFAULT_MARGIN:
        return NoCause(f"its link carries no less ({format_value(rate, 'bit/s')})")
    words = f"its link carries {significant(times)} times less than the baseline's"
    stream = case.on_link(*STREAMS)
    if stream is not None and stream.decides:
        return _by_stream(case, Cause(words), stream)
    if case.finding.probe in ONE_WAY:
        ratio = Estimate(times, 1.0, times)
        return Cause(words, *_carried(case, rate, rate * payload(case.facts), ratio))
    # Whatever else a collective function does, its message crosses the link at least once.
    return Cause(words, min(times, _at_least(case, rate)), times)


def _filled_link(case: LossCase) -> Cause | NoCause:
    rate, base, ratio = link_bps(case.facts), case.base_value, case.point.ratio
    if rate is None or base is None or ratio is None or not case.finding.rate:
        return NoCause("it is no rate that a link could limit")
    least = base * _bits(case.point) / rate
    carries = f"its link carries {format_value(rate, 'bit/s')}"
    cause = Cause(carries, least, least / payload(case.facts))
    if cause.hi is not None and cause.hi <= 1 + DEFAULT_MARGIN:
        return NoCause(f"the baseline did not carry more than {format_value(rate, 'bit/s')} either")
    reached = least / ratio.value
    if reached < _LINK_FULL:
        return replace(cause, withdrawn=f"only {100 * reached:.0f} % of the link is used")
    return cause


def network_rate(case: LossCase) -> Cause | NoCause:
    """What a stream over the same link lost, for large messages and for rates."""
    if not carries_much(case):
        return NoCause("its messages are too small for a link's rate to matter")
    stream = case.on_link(*STREAMS)
    if stream is None:
        return NoCause("no stream between nodes was measured on both platforms")
    return _by_stream(case, Cause(stream.words), stream)


def _by_stream(case: LossCase, cause: Cause, stream: Measurement) -> Cause | NoCause:
    def bounds(lo: float, hi: float) -> tuple[float, float]:
        if stream.point.base is None:
            return lo, hi
        base = stream.point.base.value * _bits(stream.point)
        return _carried(case, base / lo, base / hi, stream.ratio)

    return _foretold(cause, stream, bounds)


def _foretold(
    cause: Cause, by: Measurement, bounds: Callable[[float, float], tuple[float, float]]
) -> Cause | NoCause:
    if by.acquits:
        return replace(cause, withdrawn=by.acquits)
    if not by.certain:
        return NoCause(f"{by.finding.title} is not certainly worse")
    lo, hi = bounds(*by.ratio.ends)
    measured = "" if cause.words == by.words else by.words
    return replace(cause, lo=lo, hi=hi, measurement=by.finding.probe, measured=measured)


def _or_by_stream(case: LossCase, cause: Cause) -> Cause | NoCause:
    stream = case.on_link(*STREAMS) if case.finding.layer is Layer.MPI else None
    return _by_stream(case, cause, stream) if stream and stream.decides else cause


def _bits(point: Row) -> int:
    return 8 if point.metric.unit == "B/s" else 1


def _carried(case: LossCase, most: float, least: float, ratio: Estimate) -> tuple[float, float]:
    """Bound what messages lose where a link carries from `least` to `most` bit/s.

    A message that crosses the link once takes at least the wire's time, and at most that beside all
    of its time on the baseline, or what a stream loses. Any other loses the stream's `ratio`.
    """
    (lo, hi), unit = ratio.ends, case.point.metric.unit
    base, size = case.base_value, case.place.size_bytes
    if case.finding.probe not in ONE_WAY or base is None:
        return lo, hi
    if unit == "B/s":
        return max(1.0, _waits(case) * 8 * base / most), max(hi, 8 * base / least)
    if unit != "s" or size is None:
        return lo, hi
    return _at_least(case, most), max(hi, 1 + 8 * size / least / base)


def _at_least(case: LossCase, bits_per_s: float) -> float:
    base, size = case.base_value, case.place.size_bytes
    if base is None or size is None or case.point.metric.unit != "s":
        return 1.0
    return max(1.0, _waits(case) * 8 * size / bits_per_s / base)


def _waits(case: LossCase) -> float:
    """Give the share of a message that waits for the link's rate, at least."""
    size, shaped = case.place.size_bytes, number(case.facts, "net.shaped_bps")
    bursts = shaped and case.finding.probe in ONE_WAY and size and size <= _FEW_BUCKETS_BYTES
    return _AT_ONCE if bursts else 1.0


def carries_much(case: LossCase) -> bool:
    """Whether a loss is of a rate, or of messages that are not small."""
    sizes = case.finding.sizes
    large = sizes is not None and sizes.of_messages and sizes.size is not Size.SMALL
    return large or case.point.metric.unit == "B/s"


def link_bps(facts: Facts) -> float | None:
    """Give what a link carries, in bit/s: what it is limited to, or its own rate."""
    known = [rate for key in _LINK_FACTS if (rate := number(facts, key))]
    return min(known) if known else None


def link_use(case: LossCase) -> float | None:
    """Give the share of its link's rate that a stream reached; None where it is no stream."""
    rate, base, ratio = link_bps(case.facts), case.base_value, case.point.ratio
    if rate is None or base is None or ratio is None or not case.finding.rate:
        return None
    return base * _bits(case.point) / ratio.value / rate


def payload(facts: Facts) -> float:
    """Give the share of a link's rate that heads and frames of TCP leave."""
    mtu = number(facts, "net.mtu") or _USUAL_MTU
    return (mtu - _HEAD_BYTES) / (mtu + _FRAME_BYTES)


def mtu(case: LossCase) -> Cause | NoCause:
    """Shorter frames: more of them for the same data, each with its heads and its handling."""
    own, base = number(case.facts, "net.mtu"), number(case.baseline_facts, "net.mtu")
    if own is None or base is None or own >= base:
        return NoCause("its frames are no shorter")
    size = case.place.size_bytes
    if case.finding.layer is Layer.NETWORK and not case.finding.rate:
        return NoCause("it is no stream")
    if size is not None and size + _HEAD_BYTES <= own:
        return NoCause(f"a message of {size} B fits into one of its frames")
    words = f"its frames contain {own:.0f} bytes instead of {base:.0f}"
    use = link_use(case) if case.finding.layer is Layer.NETWORK else None
    if use is not None and use >= _LINK_FULL:  # the wire limits it, not the work on each frame
        return Cause(words, 1.0, payload(case.baseline_facts) / payload(case.facts))
    cause = Cause(words, 1.0, base / own)
    return _or_by_stream(case, cause) if carries_much(case) else cause


def offload(case: LossCase) -> Cause | NoCause:
    """Segmentation that only the baseline's adapter does: here the processor cuts every frame."""
    if not carries_much(case) and not case.finding.rate:
        return NoCause("its messages fit into few frames")
    if case.both("net.offload.tso") != (False, True):
        return NoCause("its adapter cuts frames, or the baseline's does not either")
    words = "its adapter leaves cutting frames to the processor (TSO is off)"
    return _or_by_stream(case, Cause(words))


def network_latency(case: LossCase) -> Cause | NoCause:
    """What small messages over sockets or RDMA lost, for small messages of MPI."""
    sizes = case.finding.sizes
    small = sizes is not None and sizes.of_messages and sizes.size is Size.SMALL
    if not small or carries_much(case):
        return NoCause("it is no time of small messages")
    probe = case.on_link(*LATENCIES)
    if probe is None:
        return NoCause("no latency between nodes was measured on both platforms")
    return _by_latency(case, Cause(probe.words), probe)


def delay(case: LossCase) -> Cause | NoCause:
    """A delay that was added to the link, over the baseline's own time."""
    own, base = (number(facts, "net.delay_s") or 0.0 for facts in (case.facts, case.baseline_facts))
    before, added = case.base_value, own - base
    if added <= 0:
        return NoCause("its link adds no longer delay")
    if before is None or case.finding.rate or case.point.metric.unit != "s":
        return NoCause("it is no time")
    message = f"a message that takes {format_value(before, 's')} on the baseline"
    words = f"its link adds {format_value(added, 's')} to {message}"
    # One way at least, and there and back at most: probes differ in what they call latency.
    cause = Cause(words, 1 + added / before, 1 + 2 * added / before)
    probe = case.on_link(*LATENCIES)
    return _by_latency(case, cause, probe) if probe and probe.decides else cause


def _by_latency(case: LossCase, cause: Cause, probe: Measurement) -> Cause | NoCause:
    def bounds(lo: float, hi: float) -> tuple[float, float]:
        base, before = case.base_value, probe.point.base
        if case.finding.probe in ONE_WAY and base and before and case.point.metric.unit == "s":
            lo = min(lo, 1 + before.value * (lo - 1) / base)
            hi = max(hi, 1 + before.value * (hi - 1) / base)
        return lo, hi

    return _foretold(cause, probe, bounds)


def measured_below(case: LossCase) -> Measurement | None:
    """Give the stream or latency that went the same way as messages of a loss, and is worse."""
    if case.place.on_one_node:
        return None
    for rule in (network_rate, network_latency):
        found = rule(case)
        if isinstance(found, Cause) and not found.withdrawn:
            return case.on_link(found.measurement)
    return None


def nic(case: LossCase) -> Cause | NoCause:
    """The kind of a guest's adapter; another guest with a faster kind bounds its part below."""
    if case.finding.layer is Layer.MPI and (below := measured_below(case)):
        return NoCause(f"{below.finding.title} went through the same adapter")
    own, base = case.both("net.kind")
    if not isinstance(own, str) or own not in _NICS or own == base:
        return NoCause(f"its NIC is {own}, the baseline's {base}")
    driver = case.facts.get("net.driver")
    words = f"its NIC is {own}{f' ({driver})' if driver else ''}"
    cause = Cause(words, name=f"{own} NIC")
    kinds = [*_NICS, "virtual function", "hardware"]
    faster = kinds[kinds.index(own) + 1 :]
    for other, facts in case.others:
        alike = all(case.facts.get(key) == facts.get(key) for key in _BESIDE_NICS)
        ratio = case.against(other) if alike and facts.get("net.kind") in faster else None
        if ratio is not None:
            where = f"on {other.platform}, whose NIC is {facts['net.kind']}"
            return bound_below(ratio, cause, where)
    return replace(cause, words=f"{words}: {_NICS[own]}")


def transport(case: LossCase) -> Cause | NoCause:
    """Another way for MPI's messages, e.g. TCP instead of shared memory; nothing bounds it."""
    own, base = case.both("mpi.transport")
    # What was seen to carry messages: each library has names of its own for the same.
    seen = case.both(f"mpi.carrier.{'within_node' if case.place.on_one_node else 'between_nodes'}")
    flavour, base_flavour = case.both("mpi.flavour")
    known = flavour == base_flavour and None not in seen
    if known and seen[0] != seen[1]:
        return Cause(f"its messages are carried by {seen[0]}, the baseline's by {seen[1]}")
    if own == base:
        return NoCause(f"both talk over {seen[0] if known else own}")
    named = ["what the library chooses" if way == "auto" else way for way in (own, base)]
    return Cause(f"its ranks talk over {named[0]}, the baseline's over {named[1]}")


_LAYERS = (Layer.NETWORK, Layer.MPI)
_RATES = (" or ".join(_LINK_FACTS),)
RULES = (
    Rule("link rate", _LAYERS, link_rate, _RATES, STREAMS, both=False, between=True),
    Rule("network rate", (Layer.MPI,), network_rate, probes=STREAMS, between=True),
    Rule("MTU", _LAYERS, mtu, ("net.mtu",), STREAMS, between=True),
    Rule("offload", _LAYERS, offload, ("net.offload.tso",), STREAMS, between=True),
    Rule("transport", (Layer.MPI,), transport, ("mpi.transport",)),
    Rule("network latency", (Layer.MPI,), network_latency, probes=LATENCIES, between=True),
    Rule("delay", _LAYERS, delay, ("net.delay_s",), LATENCIES, both=False, between=True),
    Rule("NIC", _LAYERS, nic, ("net.kind",), between=True),
)
