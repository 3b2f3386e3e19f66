"""Terms of an operation's extra time that benchmarks of lower layers measured.

Sockets and streams measure the terms of MPI's messages. Messages measure the terms of the other MPI
functions. The attainable peak measures arithmetic. A benchmark's results on two platforms give a
difference in seconds per message or per byte, which is multiplied by the numbers of messages and
bytes of the operation (module `work`).
"""

from __future__ import annotations

from dataclasses import dataclass

from bareline.analysis.judgements.causes.case import LossCase, Measurement
from bareline.analysis.judgements.causes.cause import Term
from bareline.analysis.judgements.causes.links import link_bps
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.work import LATENCIES, PINGPONG, STREAMS, Work
from bareline.analysis.numbers.messages import beyond_start
from bareline.analysis.numbers.row import Row
from bareline.vocabulary.facts import positive_number
from bareline.vocabulary.model import Layer

#: The probe of the attainable peak, which depends on the width of instructions and the clock.
PEAK = "compute.peak"
#: Up to this size, the whole time of a message is start-up time.
_SHORT_BYTES = 1024
#: A stream that reaches this share of its link's rate is limited by it.
LINK_FULL = 0.70
#: A shaper's bucket refills while an answer travels: of a few buckets at most half pass at once.
_FEW_BUCKETS_BYTES = 64 << 10
_AT_ONCE = 0.5


@dataclass(frozen=True, slots=True)
class MeasuredTerm:
    """A term of the extra time, with the probe that measured it.

    - `share`: the term divided by the baseline's time.
    - `words`: the probe's result in words.
    - `refuses`: the reason why a fact that would change the term costs nothing; empty if the fact
      may cost something.
    - `predicts`: the term is also a term of the prediction, so that it is not changed, even if it
      is negative or larger than the loss.
    """

    term: Term
    share: Share
    probe: str
    words: str
    refuses: str = ""
    predicts: bool = False


@dataclass(frozen=True, slots=True)
class MissingTerm:
    """A term that was not measured on both platforms, and the probe that would measure it."""

    term: Term
    probe: str


def terms_of(case: LossCase) -> tuple[list[MeasuredTerm], list[MissingTerm]]:
    """Return the measured terms of an operation, and the terms that were not measured."""
    if case.finding.layer is Layer.COMPUTE:
        return _arithmetic(case)
    work = case.work
    if case.finding.layer is not Layer.MPI or work is None or case.place.on_one_node:
        return [], []
    if not work.direct:
        messages = _Messages.of(case)
        if messages is not None:
            return messages.terms(case, work), []
    return _of_link(case, work)


def _of_link(case: LossCase, work: Work) -> tuple[list[MeasuredTerm], list[MissingTerm]]:
    """Return the terms that sockets and streams measured, and the terms without a measurement."""
    measured: list[MeasuredTerm] = []
    missing: list[MissingTerm] = []
    if work.starts.most:
        latency = case.on_link(*LATENCIES)
        if latency is not None:
            measured.append(_start(case, work, latency))
        else:
            probe = PINGPONG
            if work.direct:
                probe = LATENCIES[0]
            missing.append(MissingTerm(Term.START, probe))
    if work.size_bytes.most:
        stream = case.on_link(*STREAMS)
        if stream is not None:
            measured.append(_bytes(case, work, stream))
        else:
            probe = PINGPONG
            if work.direct:
                probe = STREAMS[0]
            missing.append(MissingTerm(Term.BYTES, probe))
    return measured, missing


def _arithmetic(case: LossCase) -> tuple[list[MeasuredTerm], list[MissingTerm]]:
    if case.finding.probe == PEAK:
        return [], []
    peak = case.on_node(PEAK)
    if peak is None:
        return [], [MissingTerm(Term.ARITHMETIC, PEAK)]
    arithmetic = _measured(Term.ARITHMETIC, Share.of(peak.ratio), peak)
    return [arithmetic], []


def _measured(term: Term, share: Share, by: Measurement) -> MeasuredTerm:
    return MeasuredTerm(term, share, by.finding.probe, by.words, by.contradicts)


def _start(case: LossCase, work: Work, latency: Measurement) -> MeasuredTerm:
    """Return the start-up term from a measured latency.

    The bounds include two estimates: the latency's extra time for each message, and the latency's
    ratio applied to the time of a short message.
    """
    factor = Share.of(latency.ratio)
    base_s = case.base_s
    base_latency = latency.point.base
    if base_s is None or base_latency is None:
        return _measured(Term.START, factor, latency)
    each = factor.times(base_latency.value / base_s)
    added = work.starts.of(each)
    scaled = factor.times(case.short_s / base_s)
    lo = min(added.lo, scaled.lo)
    share = Share.within(lo, added.value, max(added.hi, scaled.hi))
    return _measured(Term.START, share, latency)


def _bytes(case: LossCase, work: Work, stream: Measurement) -> MeasuredTerm:
    """Return the term of bytes from a measured stream.

    The term is the extra time per byte multiplied by the number of bytes. Its upper bound also
    includes the stream's ratio applied to the time of a message's bytes.
    """
    factor = Share.of(stream.ratio)
    base_s = case.base_s
    base_rate = stream.point.base
    if base_s is None or base_rate is None:
        return _measured(Term.BYTES, factor, stream)
    byte_s = seconds_per_byte(stream.point, base_rate.value)
    each_byte = factor.times(byte_s / base_s)
    added = work.size_bytes.of(each_byte)
    scaled = factor.times(case.sized_s / base_s)
    share = Share(added.value, added.lo, max(added.hi, scaled.hi))
    wire_bps = possible_wire_bps(case, stream)
    if wire_bps is not None:
        share = _on_full_link(case, work, share, byte_s, wire_bps)
    return _measured(Term.BYTES, share, stream)


def _on_full_link(
    case: LossCase, work: Work, share: Share, byte_s: float, wire_bps: float
) -> Share:
    """Return the term of bytes if the link may be full.

    The estimate is computed from the link's rate.

    - `share`: the term according to a measured stream.
    - `byte_s`: the time of a byte on the baseline, in s.
    """
    assert case.base_s is not None
    wire_s = 8 / wire_bps
    count = work.size_bytes
    waiting_bytes = count.least * waits(case)
    least_s = waiting_bytes * wire_s
    usual_s = count.usual * wire_s
    baseline_s = count.usual * byte_s
    # The time of the baseline's bytes is not extra time.
    least_extra_s = least_s - max(baseline_s, case.sized_s)
    lo = max(0.0, least_extra_s / case.base_s)
    usual = (usual_s - baseline_s) / case.base_s
    least = min(lo, share.lo)
    return Share.within(least, usual, share.hi)


def seconds_per_byte(point: Row, rate: float) -> float:
    """Return the time of a byte at a rate that is in the unit of the point, bit/s or B/s."""
    units_per_byte = 8
    if point.metric.unit == "B/s":
        units_per_byte = 1
    return units_per_byte / rate


def link_use(case: LossCase, stream: Measurement) -> tuple[float, float]:
    """Return the share of the platform's link rate that a stream uses, and its upper bound.

    Both are 0 if the rate of the link is not known.
    """
    rate = link_bps(case.facts)
    if rate is None or stream.point.base is None:
        return 0.0, 0.0
    byte_s = seconds_per_byte(stream.point, stream.point.base.value)
    fewest_times = stream.ratio.lo or stream.ratio.value
    used_bps = 8 / (byte_s * stream.ratio.value)
    most_bps = 8 / (byte_s * fewest_times)
    return used_bps / rate, most_bps / rate


def possible_wire_bps(case: LossCase, stream: Measurement) -> float | None:
    """Return the platform's link rate in bit/s.

    The result is None if a stream certainly does not fill the link.
    """
    _, most = link_use(case, stream)
    if most >= LINK_FULL:
        return link_bps(case.facts)
    return None


def waits(case: LossCase) -> float:
    """Return which share of a message's bytes waits for the link's rate, as a lower bound.

    A link with a configured rate limit may send half of a short message at once.
    """
    size = case.place.size_bytes
    shaped_bps = positive_number(case.facts, "net.shaped_bps")
    if shaped_bps and size and size <= _FEW_BUCKETS_BYTES:
        return _AT_ONCE
    return 1.0


@dataclass(frozen=True, slots=True)
class _Messages:
    """The extra time of MPI's messages between nodes, in s, in ascending order of their sizes."""

    sizes: tuple[int, ...]
    extra_s: tuple[Share, ...]
    worst: Measurement

    @classmethod
    def of(cls, case: LossCase) -> _Messages | None:
        """Return the ping-pong results of both platforms; None without short messages."""
        by_size: dict[int, Measurement] = {}
        for measurement in case.points([PINGPONG], lambda place: place.ran_on > 1):
            point = measurement.point
            size = point.place.size_bytes
            if size is not None and point.metric.unit == "s" and point.base is not None:
                by_size.setdefault(size, measurement)
        if not by_size or min(by_size) > _SHORT_BYTES:
            return None
        sizes = sorted(by_size)
        extra_s = tuple(_extra_s(by_size[size]) for size in sizes)
        measurements = by_size.values()
        worst = max(measurements, key=lambda measurement: measurement.ratio.value)
        return cls(tuple(sizes), extra_s, worst)

    def beyond_start(self, size: float) -> Share:
        """Return the extra time of the bytes of a message, in s; at least 0.

        All sizes have the same start-up time, whose uncertainty therefore cancels.
        """
        values = [extra.value for extra in self.extra_s]
        value = beyond_start(self.sizes, values, size)
        lows = [extra.lo for extra in self.extra_s]
        lo = beyond_start(self.sizes, lows, size)
        highs = [extra.hi for extra in self.extra_s]
        hi = beyond_start(self.sizes, highs, size)
        return Share(value, lo, hi).without_gain()

    def terms(self, case: LossCase, work: Work) -> list[MeasuredTerm]:
        """Return the terms of an operation that consists of messages over the link.

        The start-up term is checked by socket latency, the term of bytes by TCP throughput. If
        this benchmark shows no loss, the term gets a reason (`refuses`) why the facts that would
        change it cost nothing.
        """
        base_s = case.base_s
        if base_s is None:
            return []
        start_s = work.starts.of(self.extra_s[0])
        start = start_s.times(1 / base_s)
        latency = case.on_link(*LATENCIES)
        terms = [self._term(Term.START, start, latency)]
        if work.size_bytes.most:
            sized = self._bytes(work).times(1 / base_s)
            stream = case.on_link(*STREAMS)
            terms.append(self._term(Term.BYTES, sized, stream))
        return terms

    def _bytes(self, work: Work) -> Share:
        """Return the extra time of the bytes of an operation, in s."""
        count = work.size_bytes
        least = self.beyond_start(count.least)
        usual = self.beyond_start(count.usual)
        most = self.beyond_start(count.most)
        lo = min(least.lo, usual.lo, most.lo)
        hi = max(least.hi, usual.hi, most.hi)
        return Share.within(lo, usual.value, hi)

    def _term(self, term: Term, share: Share, below: Measurement | None) -> MeasuredTerm:
        refuses = ""
        if below is not None:
            refuses = below.contradicts
        return MeasuredTerm(term, share, PINGPONG, self.worst.words, refuses)


def _extra_s(measurement: Measurement) -> Share:
    """Return the extra time of a message compared with the baseline, in s."""
    base = measurement.point.base
    assert base is not None
    return Share.of(measurement.ratio).times(base.value)
