"""Causes between nodes: the rate of a link, the cutting of frames, delay, adapter, transport.

Each is a fact that differs, and changes the cost of a message's start, of its bytes, or of both.
Streams and latencies measure these terms (`bareline...causes.terms`).
"""

from __future__ import annotations

from dataclasses import replace

from bareline.analysis.judgements.causes.case import LossCase, Measurement, Rule, bound_below
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
from bareline.vocabulary.model import PROGRAM_LAYERS, Layer
from bareline.vocabulary.units import format_value
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: Ways of a guest to the wire that cost something, dearest first, with the reason for the cost.
_NICS = {
    "emulated": "every access to it ends in the hypervisor",
    "paravirtual": "frames pass through the hypervisor",
}
#: Facts that must be equal, so that two guests differ only in the kind of NIC.
_BESIDE_NICS = ("cpu.emulated", "cpu.allowed", "net.mtu")
_NO_BYTES = NoCause("its bytes over a link are not known")


def link_rate(case: LossCase) -> Cause | NoCause:
    """A link that carries less than the baseline's: its bytes wait for it."""
    rate = link_bps(case.facts)
    base_rate = link_bps(case.baseline_facts)
    if rate is None:
        return NoCause(f"{' or '.join(LINK_FACTS)} is not above 0")
    has_bytes = case.base_s is not None and case.work is not None and case.work.size_bytes.most
    if not has_bytes and not case.is_program:
        return _NO_BYTES
    if base_rate is not None and base_rate / rate <= 1 + DEFAULT_MARGIN:
        return NoCause(f"its link carries no less ({format_value(rate, 'bit/s')})")
    shown = format_value(rate, "bit/s")
    instead = "" if base_rate is None else f" instead of {format_value(base_rate, 'bit/s')}"
    cause = Cause(f"its link carries {shown}{instead}", (Term.BYTES,), noun=f"its bytes at {shown}")
    if case.finding.layer is Layer.NETWORK:
        return _filled(case, cause, rate)
    stream = case.on_link(*STREAMS)
    if stream is not None:
        if reason := _unused(case, stream):
            return replace(cause, withdrawn=reason)
        cause = replace(cause, certain=link_use(case, stream)[0] >= LINK_FULL)
    return _with_bytes(case, cause, rate, base_rate) if has_bytes else cause


def _unused(case: LossCase, stream: Measurement) -> str:
    """Return how a stream shows that the link's rate limits nothing; empty where it does not."""
    _, most = link_use(case, stream)
    if stream.acquits or most >= LINK_FULL:
        return stream.acquits
    return f"{stream.finding.subject} uses at most {100 * most:.0f} % of the link"


def _with_bytes(case: LossCase, cause: Cause, rate: float, base_rate: float | None) -> Cause:
    """Return the rate of a link with the share of the bytes that an operation sends over it.

    The wire takes that long; on the baseline its bytes took from nothing to all of the time.
    """
    assert case.work is not None and case.base_s is not None
    count = case.work.size_bytes
    wire_s = count.of(Share(8 / rate, 8 / rate, 8 / rate / payload(case.facts)))
    before_s = count.usual * 8 / base_rate if base_rate else case.sized_s
    least_s = max(0.0, wire_s.lo * waits(case) - max(case.sized_s, before_s))
    usual_s = wire_s.value - min(before_s, case.base_s)
    share = Share.within(least_s, usual_s, wire_s.hi).times(1 / case.base_s)
    return replace(cause, share=share)


def _filled(case: LossCase, cause: Cause, rate: float) -> Cause | NoCause:
    """Judge the link's rate by the stream over it that is the loss."""
    ratio, base_s = case.point.ratio, case.base_s
    if ratio is None or base_s is None or not case.finding.rate:
        return NoCause("it is no rate that a link could limit")
    least = 8 / rate / base_s
    if least / payload(case.facts) <= 1 + DEFAULT_MARGIN:
        carried = format_value(rate, "bit/s")
        return NoCause(f"the baseline did not carry more than {carried} either")
    reached = least / (ratio.lo or ratio.value)
    if reached < LINK_FULL:
        return replace(cause, withdrawn=f"at most {100 * reached:.0f} % of the link is used")
    heads = least / payload(case.facts) - 1
    return replace(cause, share=Share(heads, max(0.0, least - 1), heads))


def mtu(case: LossCase) -> Cause | NoCause:
    """Shorter frames: more of them for the same data, each with its heads and its handling."""
    own, base = case.both_numbers("net.mtu")
    if own is None or base is None or own >= base:
        return NoCause("its frames are no shorter")
    size, base_s = case.place.size_bytes, case.base_s
    if case.finding.layer is Layer.NETWORK and not case.finding.rate:
        return NoCause("it is no stream")
    if size is not None and size + HEAD_BYTES <= own:
        return NoCause(f"a message of {size} B fits into one of its frames")
    words = f"its frames contain {own:.0f} bytes instead of {base:.0f}"
    part = case.sized_s / base_s if base_s else 1.0
    if link_is_full(case):  # the wire limits it, not the work on each frame
        heads = payload(case.baseline_facts) / payload(case.facts) - 1
        whole = 1 + case.extra.hi
        return Cause(words, (Term.BYTES,), Share.at_most(heads * whole))
    return Cause(words, (Term.BYTES,), Share.at_most((base / own - 1) * part))


def link_is_full(case: LossCase) -> bool:
    """Whether a stream over the platform's link, this one or another, is limited by its rate."""
    if case.finding.layer is Layer.NETWORK:
        rate, ratio, base_s = link_bps(case.facts), case.point.ratio, case.base_s
        if rate is None or ratio is None or base_s is None or not case.finding.rate:
            return False
        return 8 / rate / base_s / ratio.value >= LINK_FULL
    stream = case.on_link(*STREAMS)
    return stream is not None and link_use(case, stream)[0] >= LINK_FULL


def offload(case: LossCase) -> Cause | NoCause:
    """Segmentation that only the baseline's adapter does: here the processor cuts every frame."""
    own_mtu, size = positive_number(case.facts, "net.mtu"), case.place.size_bytes
    if case.finding.layer is Layer.NETWORK and not case.finding.rate:
        return NoCause("it is no stream")
    if own_mtu is not None and size is not None and size + HEAD_BYTES <= own_mtu:
        return NoCause("its messages fit into one frame")
    if case.both("net.offload.tso") != (False, True):
        return NoCause("its adapter cuts frames, or the baseline's does not either")
    words = "its adapter leaves cutting frames to the processor (TSO is off)"
    if link_is_full(case):
        return NoCause(f"{words}, but its link is full: the wire limits it, not the processor")
    return Cause(words, (Term.BYTES,))


def delay(case: LossCase) -> Cause | NoCause:
    """A delay that was added to the link: every message that begins waits for it."""
    own, base = (delay_s or 0.0 for delay_s in case.both_numbers("net.delay_s"))
    work, base_s, added = case.work, case.base_s, own - base
    if added <= 0:
        return NoCause("its link adds no longer delay")
    shown = format_value(added, "s")
    if case.is_program:
        return Cause(f"its link adds {shown} to each message", (Term.START,))
    if work is None or base_s is None or not work.starts.most:
        return NoCause("none of its messages waits for the one before")
    # One way at least, and there and back at most: probes define latency differently.
    each = Share(added, added, 2 * added).times(1 / base_s)
    before = format_value(base_s, "s")
    return Cause(
        f"its link adds {shown} to a message that takes {before} on the baseline",
        (Term.START,),
        work.starts.of(each),
        noun=f"the delay of its link, {shown} each way",
    )


def nic(case: LossCase) -> Cause | NoCause:
    """The kind of a guest's adapter; another guest with a faster kind shows its cost."""
    own, base = case.both("net.kind")
    if not isinstance(own, str) or own not in _NICS or own == base:
        return NoCause(f"its NIC is {own}, the baseline's {base}")
    driver = case.facts.get("net.driver")
    words = f"its NIC is {own}{f' ({driver})' if driver else ''}"
    cause = Cause(words, (Term.START, Term.BYTES), name=f"{own} NIC")
    kinds = [*_NICS, "virtual function", "hardware"]
    faster = kinds[kinds.index(own) + 1 :]
    for other, facts in case.others:
        alike = all(case.facts.get(key) == facts.get(key) for key in _BESIDE_NICS)
        ratio = case.against(other) if alike and facts.get("net.kind") in faster else None
        if ratio is not None and case.point.ratio is not None:
            where = f"on {other.platform}, whose NIC is {facts['net.kind']}"
            found = bound_below(ratio, case.point.ratio, cause, where)
            if found.share is None:
                return found
            # The faster kind costs something as well: it may be all of the loss.
            return replace(found, share=replace(found.share, hi=case.extra.hi))
    return replace(cause, words=f"{words}: {_NICS[own]}")


def transport(case: LossCase) -> Cause | NoCause:
    """Another way for MPI's messages, e.g. TCP instead of shared memory; nothing bounds it."""
    own, base = case.both("mpi.transport")
    # The observed carriers of messages, since each library has its own names for the same one.
    seen = case.both(f"mpi.carrier.{'within_node' if case.place.on_one_node else 'between_nodes'}")
    flavour, base_flavour = case.both("mpi.flavour")
    known = flavour == base_flavour and None not in seen
    terms = (Term.START, Term.BYTES)
    if known and seen[0] != seen[1]:
        return Cause(f"its messages are carried by {seen[0]}, the baseline's by {seen[1]}", terms)
    if own == base:
        return NoCause(f"both talk over {seen[0] if known else own}")
    named = ["what the library chooses" if way == "auto" else way for way in (own, base)]
    return Cause(f"its ranks talk over {named[0]}, the baseline's over {named[1]}", terms)


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
