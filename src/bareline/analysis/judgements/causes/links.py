"""Causes in what a link carries: its rate, its frames, and who cuts them.

A stream that was measured over the link says what messages can have of it; without one the link's
own rate does. Several causes that one stream measured explain one factor together.
"""

from __future__ import annotations

from dataclasses import replace

from bareline.analysis.judgements.causes.case import Case, Facts, Measurement, number
from bareline.analysis.judgements.causes.cause import WITHIN_NODE, Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.analysis.numbers.cell import Estimate
from bareline.analysis.numbers.sizes import Size
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value, significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: Probes that measure what a link carries.
STREAMS = ("net.nuttcp", "net.iperf3", "net.ib_write_bw")
#: Probes of MPI whose message crosses the link once, in one direction, and nothing else does.
ONE_WAY = ("mpi.pingpong", "mpi.bandwidth")
#: A link that carries less than this share of its rate is not what limits a stream.
_LINK_FULL = 0.70
#: Bytes of a frame that are no payload: Ethernet's preamble, head and gap, IP's and TCP's heads.
_FRAME_BYTES, _HEAD_BYTES = 38, 52
_USUAL_MTU = 1500
#: A shaper's bucket fills again while an answer travels: of messages of a few buckets at most half
#: passes at once.
_FEW_BUCKETS_BYTES, _AT_ONCE = 64 << 10, 0.5
_LINK_FACTS = ("net.shaped_bps", "net.speed_bps")


def link_rate(case: Case) -> Cause | Absent:
    """A link that carries less than the baseline's stream did, or than the baseline's link."""
    if not case.uses_network:
        return WITHIN_NODE
    if case.finding.layer is Layer.NETWORK:
        return _filled_link(case)
    rate, base_rate = link_bps(case.facts), link_bps(case.baseline_facts)
    if not carries_much(case):
        return Absent("its messages are too small for a link's rate to matter")
    if rate is None or base_rate is None:
        return Absent("the baseline's link rate is not known")
    if base_rate / rate <= 1 + DEFAULT_MARGIN:
        return Absent(f"its link carries no less ({format_value(rate, 'bit/s')})")
    words = f"its link carries {significant(base_rate / rate)} times less than the baseline's"
    stream = case.on_link(*STREAMS)
    if stream is not None and (stream.acquits or stream.certain):
        return _by_stream(case, Cause(words), stream)
    times = base_rate / rate
    if case.finding.probe in ONE_WAY:
        return Cause(
            words, *_carried(case, rate, rate * payload(case.facts), Estimate(times, 1.0, times))
        )
    # Whatever else a collective function does, its message crosses the link at least once.
    return Cause(words, min(times, _at_least(case, rate)), times)


def _filled_link(case: Case) -> Cause | Absent:
    """Bound a stream by its link, if it fills it."""
    rate, base, ratio = link_bps(case.facts), case.base_value, case.point.ratio
    if rate is None or base is None or ratio is None or not case.finding.rate:
        return Absent("it is no rate that a link could limit")
    bits_per_s = base * (8 if case.point.metric.unit == "B/s" else 1)
    cause = Cause(
        f"its link carries {format_value(rate, 'bit/s')}",
        bits_per_s / rate,
        bits_per_s / rate / payload(case.facts),
    )
    if cause.hi is not None and cause.hi <= 1 + DEFAULT_MARGIN:
        return Absent(f"the baseline did not carry more than {format_value(rate, 'bit/s')} either")
    reached = link_use(case)
    if reached is not None and reached < _LINK_FULL:
        return replace(cause, withdrawn=f"only {100 * reached:.0f} % of the link is used")
    return cause


def network_rate(case: Case) -> Cause | Absent:
    """What a stream over the same link lost, for large messages and for rates."""
    if not case.uses_network:
        return WITHIN_NODE
    if not carries_much(case):
        return Absent("its messages are too small for a link's rate to matter")
    stream = case.on_link(*STREAMS)
    if stream is None:
        return Absent("no stream between nodes was measured on both platforms")
    return _by_stream(case, Cause(stream.words), stream)


def _by_stream(case: Case, cause: Cause, stream: Measurement) -> Cause | Absent:
    """Give the factor that a stream's rate foretells, or withdraw what the stream contradicts."""
    if stream.acquits:
        return replace(cause, withdrawn=stream.acquits)
    if not stream.certain:
        return Absent(f"{stream.finding.title} is not certainly worse")
    base, lo, hi = stream.point.base, stream.ratio.lo, stream.ratio.hi
    assert lo is not None and hi is not None
    if base is not None:
        bits = 8 if stream.point.metric.unit == "B/s" else 1
        lo, hi = _carried(case, bits * base.value / lo, bits * base.value / hi, stream.ratio)
    measured = "" if cause.words == stream.words else stream.words
    return replace(cause, lo=lo, hi=hi, measurement=stream.finding.probe, measured=measured)


def _carried(case: Case, most: float, least: float, ratio: Estimate) -> tuple[float, float]:
    """Bound what messages lose where a link carries from `least` to `most` bit/s.

    A message that crosses the link once takes at least the wire's time, and at most that beside all
    of its time on the baseline, or what a stream loses if it never reached the stream's rate. What
    crosses the link many times, or both ways, loses what a stream loses.

    - `ratio`: what a stream loses.
    """
    assert ratio.lo is not None and ratio.hi is not None
    base, size = case.base_value, case.place.size_bytes
    if case.finding.probe not in ONE_WAY or base is None:
        return ratio.lo, ratio.hi
    if case.point.metric.unit == "B/s":
        least_factor = _waits(case) * 8 * base / most
        return max(1.0, least_factor), max(ratio.hi, 8 * base / least)
    if case.point.metric.unit != "s" or size is None:
        return ratio.lo, ratio.hi
    return _at_least(case, most), max(ratio.hi, 1 + 8 * size / least / base)


def _at_least(case: Case, bits_per_s: float) -> float:
    """Give the factor of a message's time that the wire alone takes."""
    base, size = case.base_value, case.place.size_bytes
    if base is None or size is None or case.point.metric.unit != "s":
        return 1.0
    return max(1.0, _waits(case) * 8 * size / bits_per_s / base)


def _waits(case: Case) -> float:
    """Give the share of a message that waits for the link's rate, at least."""
    size, shaped = case.place.size_bytes, number(case.facts, "net.shaped_bps")
    bursts = shaped and case.finding.probe in ONE_WAY and size and size <= _FEW_BUCKETS_BYTES
    return _AT_ONCE if bursts else 1.0


def carries_much(case: Case) -> bool:
    """Whether a loss is of a rate, or of messages that are not small."""
    sizes = case.finding.sizes
    large = sizes is not None and sizes.of_messages and sizes.size is not Size.SMALL
    return large or case.point.metric.unit == "B/s"


def link_bps(facts: Facts) -> float | None:
    """Give what a link carries, in bit/s: what it is limited to, or its own rate."""
    known = [rate for key in _LINK_FACTS if (rate := number(facts, key))]
    return min(known) if known else None


def link_use(case: Case) -> float | None:
    """Give the share of its link's rate that a stream reached; None where it is no stream."""
    rate, base, ratio = link_bps(case.facts), case.base_value, case.point.ratio
    if rate is None or base is None or ratio is None or not case.finding.rate:
        return None
    return base * (8 if case.point.metric.unit == "B/s" else 1) / ratio.value / rate


def payload(facts: Facts) -> float:
    """Give the share of a link's rate that heads and frames of TCP leave."""
    mtu = number(facts, "net.mtu") or _USUAL_MTU
    return (mtu - _HEAD_BYTES) / (mtu + _FRAME_BYTES)


# Frames -------------------------------------------------------------------------------------------


def mtu(case: Case) -> Cause | Absent:
    """Shorter frames: more of them for the same data, each with its heads and its handling."""
    if not case.uses_network:
        return WITHIN_NODE
    own, base = number(case.facts, "net.mtu"), number(case.baseline_facts, "net.mtu")
    if own is None or base is None or own >= base:
        return Absent("its frames are no shorter")
    size = case.place.size_bytes
    if case.finding.layer is Layer.NETWORK and not case.finding.rate:
        return Absent("it is no stream")
    if size is not None and size + _HEAD_BYTES <= own:
        return Absent(f"a message of {size} B fits into one of its frames")
    words = f"its frames hold {own:.0f} bytes instead of {base:.0f}"
    use = link_use(case) if case.finding.layer is Layer.NETWORK else None
    if use is not None and use >= _LINK_FULL:  # the wire limits it, not the work on each frame
        return Cause(words, 1.0, payload(case.baseline_facts) / payload(case.facts))
    cause = Cause(words, 1.0, base / own)
    stream = case.on_link(*STREAMS) if case.finding.layer is Layer.MPI else None
    if stream is None or not (stream.acquits or stream.certain):
        return cause
    if not carries_much(case):
        return cause
    return _by_stream(case, cause, stream)


def offload(case: Case) -> Cause | Absent:
    """Segmentation that only the baseline's adapter does: here the processor cuts every frame."""
    if not case.uses_network:
        return WITHIN_NODE
    if not carries_much(case) and not case.finding.rate:
        return Absent("its messages fit into few frames")
    if case.both("net.offload.tso") != (False, True):
        return Absent("its adapter cuts frames, or the baseline's does not either")
    cause = Cause("its adapter leaves cutting frames to the processor (TSO is off)")
    stream = case.on_link(*STREAMS) if case.finding.layer is Layer.MPI else None
    if stream is None or not (stream.acquits or stream.certain):
        return cause
    return _by_stream(case, cause, stream)


_LAYERS = (Layer.NETWORK, Layer.MPI)
RULES = (
    Rule("link rate", _LAYERS, link_rate, (Need.any(*_LINK_FACTS, both=False),), STREAMS),
    Rule("network rate", (Layer.MPI,), network_rate, probes=STREAMS),
    Rule("MTU", _LAYERS, mtu, (Need.any("net.mtu"),), STREAMS),
    Rule("offload", _LAYERS, offload, (Need.any("net.offload.tso"),), STREAMS),
)
