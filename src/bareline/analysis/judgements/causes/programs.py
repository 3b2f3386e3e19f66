"""Terms of whole programs: the extra time of their computing and of their messages.

If the program's trace was replayed, the program has the terms of the replay, whose sum is also the
prediction. Otherwise the program's own clock or its profile divides the baseline's time into
computing and communicating.

- Computing takes longer by a factor between the smallest and the largest loss that the probes of
  processor and memory measured.
- Messages take longer by a factor between 1 and the largest loss of the MPI probes on as many
  nodes. It may be 1 because communication includes waiting for slower ranks.

The program's own clock narrows these bounds and never widens them. If the program lost more than
the benchmarks of lower layers permit, the additional time has another reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.causes.case import LossCase, Measurement, within_node
from bareline.analysis.judgements.causes.cause import Cause, Term
from bareline.analysis.judgements.causes.node import uses_all_cores
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.terms import PEAK, MeasuredTerm, MissingTerm
from bareline.analysis.judgements.causes.work import LATENCIES, STREAMS
from bareline.analysis.numbers.programs import REPLAYED_TERMS, Split
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

COMPUTING = (
    *("compute.dgemm", "compute.fft", "compute.linpack", "compute.peak"),
    *("memory.stream", "memory.latency", "memory.random_access"),
)
#: Probes of messages, without probes of starting ranks and of computing after messages.
MESSAGES = (
    *("mpi.pingpong", "mpi.bandwidth", "mpi.bibandwidth", "mpi.multi_pair", "mpi.sendrecv"),
    *("mpi.exchange", "mpi.ring"),
    *(collective.probe for collective in MEASURED),
)
#: A term between 0 and more than this multiple of the loss explains nothing.
_SAYS_NOTHING = 10.0
REPLAY = "by the replay of its trace"
_BY_INPUT = {
    "compute": Term.COMPUTING,
    "latency": Term.START,
    "bandwidth": Term.BYTES,
    "collectives": Term.ALGORITHMS,
    "cores": Term.CORES,
    "io": Term.FILES,
}
_REPLAYED: Mapping[str, Term] = {REPLAYED_TERMS[name]: term for name, term in _BY_INPUT.items()}
#: For each term of an operation, the program's term that includes it, unless a replay divides the
#: program's time.
_WHOLE = {
    Term.START: Term.MESSAGES,
    Term.BYTES: Term.MESSAGES,
    Term.ARITHMETIC: Term.COMPUTING,
    Term.MEMORY: Term.COMPUTING,
}


def program_terms(case: LossCase) -> tuple[list[MeasuredTerm], list[MissingTerm]]:
    """Return the measured terms of a program's extra time, and the terms that nothing measured."""
    if case.replayed:
        return _replayed_terms(case), []
    if case.split is None:
        return _without_split(case)
    parts = [_computing(case, case.split), _messages(case, case.split)]
    measured: list[MeasuredTerm] = []
    missing: list[MissingTerm] = []
    for part in parts:
        if not part.matters:
            continue
        if not part.below:
            missing_term = MissingTerm(part.term, part.probe)
            missing.append(missing_term)
        elif (term := part.measured(case)) is not None:
            measured.append(term)
    return measured, missing


def cause_of_program(cause: Cause, case: LossCase, measured: Sequence[MeasuredTerm]) -> Cause:
    """Return the cause of a single operation's loss as the cause of a program's loss.

    The terms of the operation are replaced by terms of the program. The cause is withdrawn if the
    layer below measured each of the operation's terms and shows no loss. If the cause changes only
    computing, its share is multiplied by the program's share of computing. Any other cause gets no
    share, because the share of a single operation does not bound the program's messages.
    """
    if _WHOLE.keys().isdisjoint(cause.terms):
        return cause
    refusal = cause.withdrawn or _refusal(cause, case)
    terms = _terms_in_program(cause, measured)
    share = None
    if cause.share is not None and case.split is not None and terms == (Term.COMPUTING,):
        share = cause.share.times(case.split.computing)
    return replace(
        cause,
        terms=terms,
        share=share,
        certain=False,
        withdrawn=refusal,
    )


def _terms_in_program(cause: Cause, measured: Sequence[MeasuredTerm]) -> tuple[Term, ...]:
    """Return the terms of a cause.

    An unmeasured term is replaced by the program's term that includes this term.
    """
    terms_measured = {term.term for term in measured}
    terms = []
    for term in cause.terms:
        if term not in terms_measured:
            term = _WHOLE.get(term, term)
        terms.append(term)
    return tuple(dict.fromkeys(terms))


def _refusal(cause: Cause, case: LossCase) -> str:
    """Return why measurements exclude all terms that a fact changes; empty if any term is left."""
    rungs = {
        Term.START: case.on_link(*LATENCIES),
        Term.BYTES: case.on_link(*STREAMS),
        Term.ARITHMETIC: case.on_node(PEAK),
    }
    reasons: list[str] = []
    for term in cause.terms:
        rung = rungs.get(term)
        if rung is None or not rung.contradicts:
            return ""
        reasons.append(rung.contradicts)
    return " and ".join(dict.fromkeys(reasons))


def _replayed_terms(case: LossCase) -> list[MeasuredTerm]:
    probe = case.finding.probe
    terms = []
    for term in case.replayed:
        kind = _REPLAYED.get(term.name)
        if kind is not None:
            share = Share.within(term.lo, term.extra, term.hi)
            terms.append(MeasuredTerm(kind, share, probe, REPLAY, predicts=True))
    return terms


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a program's time on the baseline, and the measurements that bound its loss.

    - `share`: the part as a share of the baseline's time.
    - `alone`: the part's time divided by its time on the baseline, by the program's own clock.
    - `below`: the results of the layer below.
    - `probe`: the probe to run if `below` is empty.
    - `least`: the smallest factor by which the part is slower according to the layer below.
    """

    term: Term
    share: float
    alone: Estimate | None
    below: Sequence[Measurement]
    probe: str
    least: float = 1.0

    @property
    def matters(self) -> bool:
        """Whether the part is so large that a loss of it counts."""
        if self.share > DEFAULT_MARGIN:
            return True
        return bool(self.below) and self.share * (_most(self.below) - 1) > DEFAULT_MARGIN

    def measured(self, case: LossCase) -> MeasuredTerm | None:
        """Return the part's extra time; None if the layer below does not bound it."""
        worse = [measurement for measurement in self.below if measurement.certain]
        if not worse:
            return None
        dearest = max(worse, key=lambda measurement: measurement.ratio.value)
        refuses, times = self._narrowed(_most(worse))
        share = times.times(self.share)
        if share.lo <= 0 and share.hi > _SAYS_NOTHING * max(case.extra.hi, DEFAULT_MARGIN):
            return None
        return MeasuredTerm(self.term, share, dearest.finding.probe, dearest.words, refuses)

    def _narrowed(self, most: float) -> tuple[str, Share]:
        """Return the reason why the part costs nothing (else empty), and the part's extra time.

        The extra time is a share of the part's own time on the baseline.

        - `most`: the largest factor by which the part may be slower according to the layer below.
        """
        least = self.least
        alone = self.alone
        if alone is None or alone.lo is None or alone.hi is None:
            middle = (least + most) / 2
            return "", Share(middle - 1, least - 1, most - 1)
        if alone.hi <= 1 + DEFAULT_MARGIN:
            reason = f"this part takes {with_interval(alone)} times as long by its own clock"
            return reason, Share.of(alone)
        if alone.hi < least:  # it loses certainly less than the rung below
            return "", Share.of(alone)
        if alone.lo <= most:
            least = max(least, alone.lo)
            most = min(most, alone.hi)
        return "", Share.within(least - 1, alone.value - 1, most - 1)


def _most(measurements: Sequence[Measurement]) -> float:
    return max(measurement.ratio.hi or 1.0 for measurement in measurements)


def _computing(case: LossCase, split: Split) -> _Part:
    below = computing_below(case)
    ratios = (measurement.ratio.lo or 1.0 for measurement in below)
    least = min(ratios, default=1.0)
    part = _Part(Term.COMPUTING, split.computing, split.own_computing, below, COMPUTING[0])
    return replace(part, least=max(1.0, least))


def _messages(case: LossCase, split: Split) -> _Part:
    below = messages_below(case)
    return _Part(Term.MESSAGES, split.communicating, split.own_communicating, below, MESSAGES[0])


def _without_split(case: LossCase) -> tuple[list[MeasuredTerm], list[MissingTerm]]:
    """Return one term for a program without a profile.

    The term is at most the largest loss of the layers below.
    """
    missing = [MissingTerm(Term.MESSAGES, f"{case.finding.probe} profile=true")]
    below = [*computing_below(case), *messages_below(case)]
    worse = [measurement for measurement in below if measurement.certain]
    if not worse:
        return [], missing
    most = _most(worse) - 1
    if most > _SAYS_NOTHING * max(case.extra.hi, DEFAULT_MARGIN):
        return [], missing
    dearest = max(worse, key=lambda measurement: measurement.ratio.value)
    computes = dearest.finding.probe in COMPUTING
    if computes:
        term = Term.COMPUTING
    else:
        term = Term.MESSAGES
    share = Share.at_most(most)
    measured = MeasuredTerm(term, share, dearest.finding.probe, dearest.words)
    return [measured], missing


def computing_below(case: LossCase) -> list[Measurement]:
    """Return the results of core and memory probes.

    These results apply to programs on any number of nodes.
    """
    return case.points(COMPUTING, lambda place: within_node(place) and not uses_all_cores(place))


def messages_below(case: LossCase) -> list[Measurement]:
    """Return the results of MPI's messages on as many nodes as the program uses."""
    return case.points(MESSAGES, lambda place: 0 < place.ran_on == case.place.ran_on)
