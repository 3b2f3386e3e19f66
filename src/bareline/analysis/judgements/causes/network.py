"""Causes of losses between nodes: link rate, frame size, offload, delay, adapter and transport.

Each cause is a fact that differs, and that changes the start-up time of a message, the time of its
bytes, or both. Probes of streams and of latency measure these two terms (module `terms`).
"""

from __future__ import annotations

from dataclasses import replace

from bareline.analysis.judgements.causes.case import Facts, LossCase, Measurement, Rule, bound_below
from bareline.analysis.judgements.causes.cause import Cause, NoCause, Term
from bareline.analysis.judgements.causes.links import (
    HEAD_BYTES,
    LINK_FACTS,
    link_bps,
    payload,
)
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.terms import LINK_FULL, link_use, waits
from bareline.analysis.judgements.causes.work import LATENCIES, STREAMS
from bareline.vocabulary.facts import positive_number
from bareline.vocabulary.model import PROGRAM_LAYERS, Layer, Scalar
from bareline.vocabulary.units import format_value
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: Kinds of a guest's NIC that cost time, dearest first, with the reason for the cost.
_NICS = {
    "emulated": "every access to it ends in the hypervisor",
    "paravirtual": "frames pass through the hypervisor",
}
#: Facts that must be equal, so that two guests differ only in the kind of NIC.
_BESIDE_NICS = ("cpu.emulated", "cpu.allowed", "net.mtu")
_NO_STREAM = NoCause("it is not a stream")
_NO_BYTES = NoCause("its bytes over a link are not known")


def link_rate(case: LossCase) -> Cause | NoCause:
    """Judge whether a lower link rate than the baseline's delays the operation's bytes."""
    rate = link_bps(case.facts)
    base_rate = link_bps(case.baseline_facts)
    if rate is None:
        return NoCause(f"{' or '.join(LINK_FACTS)} is not above 0")
    has_bytes = _has_bytes(case)
    if not has_bytes and not case.is_program:
        return _NO_BYTES
    if base_rate is not None and base_rate / rate <= 1 + DEFAULT_MARGIN:
        return NoCause(f"its link carries no less ({format_value(rate, 'bit/s')})")
    carried = format_value(rate, "bit/s")
    words = f"its link carries {carried}"
    if base_rate is not None:
        words += f" instead of {format_value(base_rate, 'bit/s')}"
    cause = Cause(words, (Term.BYTES,), noun=f"the link rate ({carried})")
    if case.finding.layer is Layer.NETWORK:
        return _filled(case, cause, rate)
    stream = case.on_link(*STREAMS)
    if stream is not None:
        unused = _unused(case, stream)
        if unused:
            return replace(cause, withdrawn=unused)
        used, _ = link_use(case, stream)
        cause = replace(cause, certain=used >= LINK_FULL)
    if has_bytes:
        return _with_bytes(case, cause, rate, base_rate)
    return cause


def _has_bytes(case: LossCase) -> bool:
    """Whether the operation is known to send bytes over a link."""
    if case.base_s is None or case.work is None:
        return False
    return case.work.size_bytes.most > 0


def _unused(case: LossCase, stream: Measurement) -> str:
    """Return the reason why the link does not limit a TCP stream.

    The result is empty if the link limits this stream.
    """
    _, most = link_use(case, stream)
    if stream.contradicts or most >= LINK_FULL:
        return stream.contradicts
    return f"{stream.finding.subject} uses at most {100 * most:.0f} % of the link"


def _with_bytes(case: LossCase, cause: Cause, rate: float, base_rate: float | None) -> Cause:
    """Return the cause with its share of the loss.

    The share is the time in which the link sends the operation's bytes, minus the time of the same
    bytes on the baseline. If the baseline's time is not known, its bounds are 0 and the operation's
    whole time.
    """
    assert case.work is not None and case.base_s is not None
    count = case.work.size_bytes
    byte_s = 8 / rate
    most_byte_s = byte_s / payload(case.facts)
    wire_s = count.of(Share(byte_s, byte_s, most_byte_s))
    before_s = case.sized_s
    if base_rate:
        before_s = count.usual * 8 / base_rate
    waiting_s = wire_s.lo * waits(case)
    least_s = max(0.0, waiting_s - max(case.sized_s, before_s))
    usual_s = wire_s.value - min(before_s, case.base_s)
    extra_s = Share.within(least_s, usual_s, wire_s.hi)
    share = extra_s.times(1 / case.base_s)
    return replace(cause, share=share)


def _filled(case: LossCase, cause: Cause, rate: float) -> Cause | NoCause:
    """Judge the link's rate if the loss is the lower rate of a TCP stream over this link."""
    ratio = case.point.ratio
    base_s = case.base_s
    if ratio is None or base_s is None or not case.finding.rate:
        return NoCause("it is not a rate that a link could limit")
    least = 8 / rate / base_s
    if least / payload(case.facts) <= 1 + DEFAULT_MARGIN:
        carried = format_value(rate, "bit/s")
        return NoCause(f"the baseline did not carry more than {carried} either")
    reached = least / (ratio.lo or ratio.value)
    if reached < LINK_FULL:
        return replace(cause, withdrawn=f"at most {100 * reached:.0f} % of the link is used")
    heads = least / payload(case.facts) - 1
    share = Share(heads, max(0.0, least - 1), heads)
    return replace(cause, share=share)


def mtu(case: LossCase) -> Cause | NoCause:
    """Judge whether frames are shorter: the same data then needs more frames and more headers."""
    frame_bytes, base_bytes = case.both_numbers("net.mtu")
    if frame_bytes is None or base_bytes is None or frame_bytes >= base_bytes:
        return NoCause("its frames are no shorter")
    size = case.place.size_bytes
    if _is_latency(case):
        return _NO_STREAM
    if size is not None and size + HEAD_BYTES <= frame_bytes:
        return NoCause(f"a message of {size} B fits into one of its frames")
    words = f"its frames contain {frame_bytes:.0f} bytes instead of {base_bytes:.0f}"
    if link_is_full(case):  # the wire limits it, not the work on each frame
        base_payload = payload(case.baseline_facts)
        heads = base_payload / payload(case.facts) - 1
        whole = 1 + case.extra.hi
        share_of_heads = Share.at_most(heads * whole)
        return Cause(words, (Term.BYTES,), share_of_heads)
    part = 1.0
    if case.base_s:
        part = case.sized_s / case.base_s
    more_frames = base_bytes / frame_bytes - 1
    share_of_frames = Share.at_most(more_frames * part)
    return Cause(words, (Term.BYTES,), share_of_frames)


def _is_latency(case: LossCase) -> bool:
    """Whether a loss is a latency of the network itself, and not of a stream."""
    return case.finding.layer is Layer.NETWORK and not case.finding.rate


def link_is_full(case: LossCase) -> bool:
    """Whether the link's rate limits a stream over the platform's link.

    If the loss is of the network layer, the stream is the TCP stream that became slower. For every
    other loss, the stream is a result of a network probe.
    """
    if case.finding.layer is Layer.NETWORK:
        rate = link_bps(case.facts)
        ratio = case.point.ratio
        base_s = case.base_s
        if rate is None:
            return False
        if ratio is None:
            return False
        if base_s is None:
            return False
        if not case.finding.rate:
            return False
        used = 8 / rate / base_s / ratio.value
        return used >= LINK_FULL
    stream = case.on_link(*STREAMS)
    if stream is None:
        return False
    return link_use(case, stream)[0] >= LINK_FULL


def offload(case: LossCase) -> Cause | NoCause:
    """Judge whether the baseline's adapter cuts frames (TSO) and the platform's does not."""
    frame_bytes = positive_number(case.facts, "net.mtu")
    size = case.place.size_bytes
    if _is_latency(case):
        return _NO_STREAM
    if frame_bytes is not None and size is not None and size + HEAD_BYTES <= frame_bytes:
        return NoCause("its messages fit into one frame")
    if case.both("net.offload.tso") != (False, True):
        return NoCause("its adapter cuts frames, or the baseline's does not either")
    words = "its adapter leaves cutting frames to the processor (TSO is off)"
    if link_is_full(case):
        return NoCause(f"{words}, but its link is full: the wire limits it, not the processor")
    return Cause(words, (Term.BYTES,))


def delay(case: LossCase) -> Cause | NoCause:
    """Judge whether a delay was added to the link; every message waits for this delay."""
    delay_s, base_delay_s = case.both_numbers("net.delay_s")
    added_s = (delay_s or 0.0) - (base_delay_s or 0.0)
    if added_s <= 0:
        return NoCause("its link adds no longer delay")
    added = format_value(added_s, "s")
    if case.is_program:
        return Cause(f"its link adds {added} to each message", (Term.START,))
    work = case.work
    base_s = case.base_s
    if work is None or base_s is None or not work.starts.most:
        return NoCause("none of its messages waits for the one before")
    # One way at least, and there and back at most: probes define latency differently.
    delay_of_message = Share(added_s, added_s, 2 * added_s)
    each = delay_of_message.times(1 / base_s)
    before = format_value(base_s, "s")
    return Cause(
        f"its link adds {added} to a message that takes {before} on the baseline",
        (Term.START,),
        work.starts.of(each),
        noun=f"the link delay ({added} each way)",
    )


def nic(case: LossCase) -> Cause | NoCause:
    """Judge the kind of a guest's network adapter.

    If another platform differs only by a faster kind of adapter, a comparison with this platform
    gives a lower bound of the cost. The upper bound is the whole loss.
    """
    kind, base_kind = case.both("net.kind")
    if not isinstance(kind, str) or kind not in _NICS or kind == base_kind:
        return NoCause(f"its NIC is {kind}, the baseline's {base_kind}")
    driver = case.facts.get("net.driver")
    words = f"its NIC is {kind}"
    if driver:
        words += f" ({driver})"
    cause = Cause(words, (Term.START, Term.BYTES), name=f"{kind} NIC")
    for other, facts in case.others:
        ratio = None
        if _has_faster_nic(facts, case.facts, kind):
            ratio = case.against(other)
        if ratio is not None and case.point.ratio is not None:
            where = f"on {other.platform}, whose NIC is {facts['net.kind']}"
            bounded = bound_below(ratio, case.point.ratio, cause, where)
            if bounded.share is None:
                return bounded
            # The faster kind costs something as well: it may be all of the loss.
            share = replace(bounded.share, hi=case.extra.hi)
            return replace(bounded, share=share)
    return replace(cause, words=f"{words}: {_NICS[kind]}")


def _has_faster_nic(other: Facts, facts: Facts, kind: str) -> bool:
    """Whether another platform has a faster kind of adapter.

    All other compared facts must be equal.
    """
    kinds = [*_NICS, "virtual function", "hardware"]
    position = kinds.index(kind)
    faster = kinds[position + 1 :]
    alike = all(facts.get(key) == other.get(key) for key in _BESIDE_NICS)
    return alike and other.get("net.kind") in faster


def transport(case: LossCase) -> Cause | NoCause:
    """Judge whether MPI uses another transport, e.g. TCP instead of shared memory.

    No measurement bounds the cost of the transport.
    """
    way, base_way = case.both("mpi.transport")
    # The observed carriers of messages, since each library has its own names for the same one.
    place = "between_nodes"
    if case.place.on_one_node:
        place = "within_node"
    carrier, base_carrier = case.both(f"mpi.carrier.{place}")
    flavour, base_flavour = case.both("mpi.flavour")
    observed = flavour == base_flavour and carrier is not None and base_carrier is not None
    terms = (Term.START, Term.BYTES)
    if observed and carrier != base_carrier:
        words = f"its messages are carried by {carrier}, the baseline's by {base_carrier}"
        return Cause(words, terms)
    if way == base_way:
        common = way
        if observed:
            common = carrier
        return NoCause(f"both talk over {common}")
    way_here = _way_words(way)
    way_there = _way_words(base_way)
    words = f"its ranks talk over {way_here}, the baseline's over {way_there}"
    return Cause(words, terms)


def _way_words(way: Scalar | None) -> str:
    if way == "auto":
        return "the library's choice"
    return str(way)


_LAYERS = (Layer.NETWORK, Layer.MPI, *PROGRAM_LAYERS)
_RATES = (" or ".join(LINK_FACTS),)
RULES = (
    Rule("link rate", _LAYERS, link_rate, _RATES, STREAMS, both=False, between=True),
    Rule("MTU", _LAYERS, mtu, ("net.mtu",), STREAMS, between=True),
    Rule("offload", _LAYERS, offload, ("net.offload.tso",), STREAMS, between=True),
    Rule("transport", (Layer.MPI, *PROGRAM_LAYERS), transport, ("mpi.transport",)),
    Rule("delay", _LAYERS, delay, ("net.delay_s",), LATENCIES, both=False, between=True),
    Rule("NIC", _LAYERS, nic, ("net.kind",), between=True),
)
