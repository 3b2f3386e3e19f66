"""Terms that a rung below measured: their share of an operation's extra time.

Sockets and streams measure the terms of MPI's messages, messages those of the other functions, the
attainable peak that of arithmetic. What a rung measured on both platforms is a difference in
seconds: of a message, of a byte. An operation has so many of them (`bareline...causes.work`).
"""

from __future__ import annotations

from dataclasses import dataclass

from bareline.analysis.judgements.causes.case import LossCase, Measurement
from bareline.analysis.judgements.causes.cause import Term
from bareline.analysis.judgements.causes.links import link_bps, number
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.work import LATENCIES, PINGPONG, STREAMS, Work
from bareline.analysis.numbers.row import Row
from bareline.vocabulary.model import Layer

#: Measures what the width of instructions and the clock give.
PEAK = "compute.peak"
#: A message up to here is all start.
_SHORT_BYTES = 1024
#: A stream that reaches this share of its link's rate is limited by it.
LINK_FULL = 0.70
#: A shaper's bucket refills while an answer travels: of a few buckets at most half pass at once.
_FEW_BUCKETS_BYTES, _AT_ONCE = 64 << 10, 0.5


@dataclass(frozen=True, slots=True)
class MeasuredTerm:
    """A term's share of the extra time, by the probe that measured it, in words.

    - `refuses`: why a fact that would change the term costs nothing; empty where it may.
    """

    term: Term
    share: Share
    probe: str
    words: str
    refuses: str = ""


@dataclass(frozen=True, slots=True)
class MissingTerm:
    """A term that no rung below measured on both platforms, and the probe that would."""

    term: Term
    probe: str


def terms_of(case: LossCase) -> tuple[list[MeasuredTerm], list[MissingTerm]]:
    """Return the terms of an operation that rungs below measured, and those that none did."""
    if case.finding.layer is Layer.COMPUTE:
        return _arithmetic(case)
    work = case.work
    if case.finding.layer is not Layer.MPI or work is None or case.place.on_one_node:
        return [], []
    if not work.direct and (messages := _Messages.of(case)) is not None:
        return messages.terms(case, work, *_refusals(case)), []
    measured: list[MeasuredTerm] = []
    missing: list[MissingTerm] = []
    start, stream = case.on_link(*LATENCIES), case.on_link(*STREAMS)
    if work.starts.most:
        if start is None:
            missing.append(MissingTerm(Term.START, LATENCIES[0]))
        else:
            measured.append(_start(case, work, start))
    if work.size_bytes.most:
        if stream is None:
            missing.append(MissingTerm(Term.BYTES, STREAMS[0]))
        else:
            measured.append(_bytes(case, work, stream))
    if not work.direct:
        missing = [MissingTerm(one.term, PINGPONG) for one in missing]
    return measured, missing


def _refusals(case: LossCase) -> tuple[str, str]:
    """Return why what sockets and streams measured acquits facts of starts, and of bytes."""
    start, stream = case.on_link(*LATENCIES), case.on_link(*STREAMS)
    return start.acquits if start else "", stream.acquits if stream else ""


def _arithmetic(case: LossCase) -> tuple[list[MeasuredTerm], list[MissingTerm]]:
    if case.finding.probe == PEAK:
        return [], []
    peak = case.on_node(PEAK)
    if peak is None:
        return [], [MissingTerm(Term.ARITHMETIC, PEAK)]
    return [_measured(Term.ARITHMETIC, Share.of(peak.ratio), peak)], []


def _measured(term: Term, share: Share, by: Measurement) -> MeasuredTerm:
    return MeasuredTerm(term, share, by.finding.probe, by.words, by.acquits)


def _start(case: LossCase, work: Work, latency: Measurement) -> MeasuredTerm:
    """Carry a latency over as the time that it adds, or as what it multiplies of a message."""
    factor = Share.of(latency.ratio)
    base_s, before = case.base_s, latency.point.base
    if base_s is None or before is None:
        return _measured(Term.START, factor, latency)
    added = work.starts.of(factor.times(before.value / base_s))
    scaled = factor.times(case.short_s / base_s)
    share = Share.within(min(added.lo, scaled.lo), added.value, max(added.hi, scaled.hi))
    return _measured(Term.START, share, latency)


def _bytes(case: LossCase, work: Work, stream: Measurement) -> MeasuredTerm:
    """Carry a stream over as what its bytes add, or as what it multiplies of a message's bytes."""
    factor = Share.of(stream.ratio)
    base_s, base = case.base_s, stream.point.base
    if base_s is None or base is None:
        return _measured(Term.BYTES, factor, stream)
    byte_s = seconds_per_byte(stream.point, base.value)
    added = work.size_bytes.of(factor.times(byte_s / base_s))
    own_s = case.sized_s
    scaled = factor.times(own_s / base_s)
    share = Share(added.value, added.lo, max(added.hi, scaled.hi))
    if wire := possible_wire_bps(case, stream):
        # The wire's own time is the least, whatever the stream lost beside it.
        least = work.size_bytes.least * waits(case) * 8 / wire
        hidden_s = max(work.size_bytes.usual * byte_s, own_s)
        usual = (work.size_bytes.usual * (8 / wire - byte_s)) / base_s
        lo = max(0.0, (least - hidden_s) / base_s)
        share = Share.within(min(lo, share.lo), usual, share.hi)
    return _measured(Term.BYTES, share, stream)


def seconds_per_byte(point: Row, rate: float) -> float:
    """Return the time of a byte at a rate in the unit of a point, bit/s or B/s."""
    return (1 if point.metric.unit == "B/s" else 8) / rate


def link_use(case: LossCase, stream: Measurement) -> tuple[float, float]:
    """Return which part of the platform's link a stream over it uses, and the most by its interval.

    Both are 0 where the rate of the link is not known.
    """
    rate = link_bps(case.facts)
    if rate is None or stream.point.base is None:
        return 0.0, 0.0
    byte_s = seconds_per_byte(stream.point, stream.point.base.value)
    least = stream.ratio.lo or stream.ratio.value
    used, most = (8 / (byte_s * times) / rate for times in (stream.ratio.value, least))
    return used, most


def possible_wire_bps(case: LossCase, stream: Measurement) -> float | None:
    """Return the rate of the platform's link in bit/s, unless a stream is certainly below it."""
    _, most = link_use(case, stream)
    return link_bps(case.facts) if most >= LINK_FULL else None


def waits(case: LossCase) -> float:
    """Return the share of a message that waits for the link's rate, at least."""
    size, shaped = case.place.size_bytes, number(case.facts, "net.shaped_bps")
    bursts = shaped and size and size <= _FEW_BUCKETS_BYTES
    return _AT_ONCE if bursts else 1.0


@dataclass(frozen=True, slots=True)
class _Messages:
    """What MPI's messages between nodes take longer, in s, by size, ascending."""

    sizes: tuple[int, ...]
    extra_s: tuple[Share, ...]
    worst: Measurement

    @classmethod
    def of(cls, case: LossCase) -> _Messages | None:
        """Return what the ping-pong measured on both platforms; None without short messages."""
        found: dict[int, Measurement] = {}
        for one in case.points([PINGPONG], lambda place: place.ran_on > 1):
            size = one.point.place.size_bytes
            if size is not None and one.point.metric.unit == "s" and one.point.base is not None:
                found.setdefault(size, one)
        if not found or min(found) > _SHORT_BYTES:
            return None
        ordered = sorted(found.items())
        extra = tuple(
            Share.of(one.ratio).times(one.point.base.value)
            for _, one in ordered
            if one.point.base is not None
        )
        worst = max(found.values(), key=lambda one: one.ratio.value)
        return cls(tuple(size for size, _ in ordered), extra, worst)

    def at(self, size: float) -> Share:
        """Return what a message of a size takes longer: on the line between two measured ones."""
        if size <= self.sizes[0] or len(self.sizes) == 1:
            return self.extra_s[0]
        above = next((n for n, known in enumerate(self.sizes) if known >= size), None)
        if above is None:  # beyond the last, bytes cost what they cost until there
            return self.extra_s[-1].times(size / self.sizes[-1])
        low, high = self.sizes[above - 1], self.sizes[above]
        part = (size - low) / (high - low)
        return self.extra_s[above - 1].times(1 - part) + self.extra_s[above].times(part)

    def terms(self, case: LossCase, work: Work, no_start: str, no_bytes: str) -> list[MeasuredTerm]:
        """Return the terms of an operation that is made of such messages.

        - `no_start`, `no_bytes`: why facts of either cost nothing; empty where they may.
        """
        base_s = case.base_s
        if base_s is None:
            return []
        words = self.worst.words
        start = work.starts.of(self.extra_s[0].times(1 / base_s))
        found = [MeasuredTerm(Term.START, start, PINGPONG, words, no_start)]
        if work.size_bytes.most:
            first = self.extra_s[0]
            ends = []
            for size in (work.size_bytes.least, work.size_bytes.usual, work.size_bytes.most):
                there = self.at(size)
                ends.append(Share(*(max(0.0, end) for end in _beyond(there, first))))
            lo, hi = min(end.lo for end in ends), max(end.hi for end in ends)
            share = Share.within(lo, ends[1].value, hi).times(1 / base_s)
            found.append(MeasuredTerm(Term.BYTES, share, PINGPONG, words, no_bytes))
        return found


def _beyond(there: Share, first: Share) -> tuple[float, float, float]:
    """Return what bytes add to a start: launches share the start, so that its bounds cancel."""
    return there.value - first.value, there.lo - first.lo, there.hi - first.hi
