"""Causes of whole programs: what their computation and their communication lose by themselves.

A program's own clock, or its profile, says which share of its time either is. Computation then
costs at least what the least and at most what the most of all probes of processor and memory lose;
communication at most what the most of the probes of MPI on as many nodes lose, and perhaps nothing,
since it holds the waiting for slower ranks. Where the program times both by itself, on both
platforms, that narrows the bounds. Without a split a program loses at most the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.causes.case import LossCase, Measurement, within_node
from bareline.analysis.judgements.causes.cause import Cause, NoCause, Rule
from bareline.analysis.judgements.causes.node import uses_all_cores
from bareline.analysis.numbers.cell import Estimate, with_interval
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import percent
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: What measures how fast a core computes, in registers, caches and memory.
COMPUTING = (
    *("compute.dgemm", "compute.fft", "compute.linpack", "compute.peak"),
    *("memory.stream", "memory.latency", "memory.random_access"),
)
#: What measures messages: not what starts ranks, nor what messages cost a computation beside them.
MESSAGES = (
    *("mpi.pingpong", "mpi.bandwidth", "mpi.bibandwidth", "mpi.multi_pair", "mpi.sendrecv"),
    *("mpi.exchange", "mpi.ring"),
    *(collective.probe for collective in MEASURED),
)
_UNKNOWN = NoCause("neither its own clock nor a profile says what it computes and communicates")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a program's time: its name, its share, and how much longer it got by itself."""

    name: str
    share: float
    source: str
    own: Estimate | None

    def cause(self, worse: Sequence[Measurement], least: float) -> Cause | NoCause:
        """Give what it costs the program, by the probes of what it consists of.

        A program that times its parts itself narrows what the probes leave open; it never widens
        it, since what no probe below it lost has another reason.

        - `worse`: those probes that are certainly worse.
        - `least`: what all of them lose at least.
        """
        most = max(worse, key=lambda each: each.ratio.value)
        lo, hi = least, max(each.ratio.hi or 1.0 for each in worse)
        if 1 + self.share * (hi - 1) <= 1 + DEFAULT_MARGIN:
            return NoCause(f"its {self.name} is only {percent(self.share, 2)} of its time")
        begin = f"its {self.name}, {percent(self.share, 2)} of its time {self.source}"
        own = self.own
        if own is None or own.lo is None or own.hi is None:
            words = f"{begin}, loses up to {_loses(most)}"
            return self._bounded(words, lo, hi)
        words = f"{begin}, takes {with_interval(own)} times as long, and {most.finding.subject} "
        words += f"loses up to {with_interval(most.ratio)} times"
        if own.hi <= 1 + DEFAULT_MARGIN:
            why = f"by itself it takes {with_interval(own)} times as long"
            return replace(self._bounded(words, lo, hi), withdrawn=why)
        if own.lo <= hi and lo <= own.hi:
            lo, hi = max(lo, own.lo), min(hi, own.hi)
        return self._bounded(words, lo, hi)

    def _bounded(self, words: str, lo: float, hi: float) -> Cause:
        return Cause(words, 1 + self.share * (lo - 1), 1 + self.share * (hi - 1), part=True)


def computation(case: LossCase) -> Cause | NoCause:
    """What computing loses, in the share of the time that is computation."""
    split, every = case.split, _computing(case)
    if split is None:
        return _UNKNOWN
    worse = [each for each in every if each.certain]
    if not worse:
        return NoCause("no probe of processor or memory is certainly worse")
    part = _Part("computation", split.computing, split.source, split.own_computing)
    return part.cause(worse, max(1.0, min(each.ratio.lo or 1.0 for each in every)))


def communication(case: LossCase) -> Cause | NoCause:
    """What messages lose, in the share of the time that is communication."""
    split = case.split
    if split is None:
        return _UNKNOWN
    if split.communicating == 0:
        return NoCause(f"it does not communicate: {split.source}")
    worse = [each for each in _messages(case) if each.certain]
    if not worse:
        return NoCause("no probe of MPI on as many nodes is certainly worse")
    part = _Part("communication", split.communicating, split.source, split.own_communicating)
    return part.cause(worse, 1.0)


def layers_below(case: LossCase) -> Cause | NoCause:
    """What all layers below lose, of a program whose parts are not known."""
    if case.split is not None:
        return NoCause(f"its computation and communication are known {case.split.source}")
    groups = [_computing(case), _messages(case)]
    worse = [[each for each in group if each.certain] for group in groups]
    worst = [max(group, key=lambda each: each.ratio.value) for group in worse if group]
    if not worst:
        return NoCause("no probe of the layers below is certainly worse")
    words = " and ".join(each.words for each in worst)
    return Cause(f"below it {words}", 1.0, _most([*worse[0], *worse[1]]))


def _computing(case: LossCase) -> list[Measurement]:
    """Give what a core and its memory lose; a program's ranks are as many on any node."""
    return case.points(COMPUTING, lambda place: within_node(place) and not uses_all_cores(place))


def _messages(case: LossCase) -> list[Measurement]:
    """Give what messages lose on as many nodes as the program has."""

    def alike(place: Place) -> bool:
        return 0 < place.ran_on == case.nodes

    return case.points(MESSAGES, alike)


def _most(measured: Sequence[Measurement]) -> float:
    """Give the most that any of some measurements may have lost."""
    return max(each.ratio.hi or 1.0 for each in measured)


def _loses(most: Measurement) -> str:
    return f"{with_interval(most.ratio)} times ({most.finding.subject})"


_PROGRAMS = (Layer.NPB, Layer.APP)
RULES = (
    Rule("computation", _PROGRAMS, computation, probes=COMPUTING),
    Rule("communication", _PROGRAMS, communication, probes=MESSAGES),
    Rule("layers below", _PROGRAMS, layers_below, probes=(*COMPUTING, *MESSAGES)),
)
