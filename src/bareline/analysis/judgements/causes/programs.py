"""Causes of whole programs: what their computation and their communication lose by themselves.

A program's own clock, or its profile, says which share of its time either is. Computation then
costs at least what the least and at most what the most of all probes of processor and memory lose;
communication at most what the most of the probes of MPI on as many nodes lose, and perhaps nothing,
since it holds the waiting for slower ranks. Without a split a program loses at most the most.
"""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.causes.case import LossCase, Measurement, Rule, within_node
from bareline.analysis.judgements.causes.cause import Cause, NoCause, Term
from bareline.analysis.judgements.causes.node import uses_all_cores
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import percent
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

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
#: A part that may cost nothing, or so many times the loss, says nothing of it.
_SAYS_NOTHING = 10.0
_UNKNOWN = NoCause("neither its own clock nor a profile says what it computes and communicates")


def _part(
    case: LossCase,
    term: Term,
    name: str,
    share: float,
    source: str,
    own: Estimate | None,
    worse: Sequence[Measurement],
    least: float,
) -> Cause | NoCause:
    """Return what a part of a program's time costs it, by the probes of what it consists of.

    Its own clock (`own`) narrows what the probes leave open, and never widens it, since what no
    probe below it lost has another reason. All probes lose the `least`.
    """
    most = max(worse, key=lambda each: each.ratio.value)
    loses, subject = with_interval(most.ratio), most.finding.subject
    lo, hi = least, max(each.ratio.hi or 1.0 for each in worse)
    if 1 + share * (hi - 1) <= 1 + DEFAULT_MARGIN:
        return NoCause(f"its {name} is only {percent(share, 2)} of its time")
    words = f"its {name}, {percent(share, 2)} of its time {source}"
    withdrawn = ""
    if own is None or own.lo is None or own.hi is None:
        words += f", loses up to {loses} times ({subject})"
    else:
        words += f", takes {with_interval(own)} times as long, and {subject} loses up to {loses} "
        words += "times"
        if own.hi <= 1 + DEFAULT_MARGIN:
            withdrawn = f"by itself it takes {with_interval(own)} times as long"
        elif own.lo <= hi and lo <= own.hi:
            lo, hi = max(lo, own.lo), min(hi, own.hi)
    most_hi = share * (hi - 1)
    # By its own clock, if that tells; else the middle of what the probes leave open.
    usual = share * (own.value - 1) if own is not None else share * ((lo + hi) / 2 - 1)
    if lo <= 1 and most_hi > _SAYS_NOTHING * max(case.extra.hi, DEFAULT_MARGIN):
        return Cause(words, (term,), withdrawn=withdrawn)
    part = Share.within(share * (lo - 1), usual, most_hi)
    return Cause(words, (term,), part, withdrawn=withdrawn)


def computation(case: LossCase) -> Cause | NoCause:
    """What computing loses, in the share of the time that is computation."""
    split, every = case.split, _computing(case)
    if split is None:
        return _UNKNOWN
    worse = [each for each in every if each.certain]
    if not worse:
        return NoCause("no probe of processor or memory is certainly worse")
    least = max(1.0, min(each.ratio.lo or 1.0 for each in every))
    share, own = split.computing, split.own_computing
    return _part(case, Term.COMPUTING, "computation", share, split.source, own, worse, least)


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
    share, own = split.communicating, split.own_communicating
    return _part(case, Term.MESSAGES, "communication", share, split.source, own, worse, 1.0)


def layers_below(case: LossCase) -> Cause | NoCause:
    """What all layers below lose, of a program whose parts are not known."""
    if case.split is not None:
        return NoCause(f"its computation and communication are known {case.split.source}")
    groups = [_computing(case), _messages(case)]
    worse = [own for group in groups if (own := [each for each in group if each.certain])]
    if not worse:
        return NoCause("no probe of the layers below is certainly worse")
    worst = [max(group, key=lambda each: each.ratio.value) for group in worse]
    words = " and ".join(each.words for each in worst)
    most = max(each.ratio.hi or 1.0 for group in worse for each in group)
    if most - 1 > _SAYS_NOTHING * max(case.extra.hi, DEFAULT_MARGIN):
        return Cause(f"below it {words}")
    return Cause(f"below it {words}", (Term.MESSAGES,), Share.at_most(most - 1))


def _computing(case: LossCase) -> list[Measurement]:
    """Return what a core and its memory lose; a program's ranks are as many on any node."""
    return case.points(COMPUTING, lambda place: within_node(place) and not uses_all_cores(place))


def _messages(case: LossCase) -> list[Measurement]:
    return case.points(MESSAGES, lambda place: 0 < place.ran_on == case.place.ran_on)


_PROGRAMS = (Layer.NPB, Layer.APP)
RULES = (
    Rule("computation", _PROGRAMS, computation, probes=COMPUTING),
    Rule("communication", _PROGRAMS, communication, probes=MESSAGES),
    Rule("layers below", _PROGRAMS, layers_below, probes=(*COMPUTING, *MESSAGES)),
)
