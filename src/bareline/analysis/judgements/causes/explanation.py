"""The explanation of one loss: its terms, the causes that divide them, and the unexplained rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from bareline.analysis.judgements.causes.cause import Cause, CauseStatus
from bareline.analysis.judgements.causes.division import TermShare
from bareline.analysis.judgements.causes.share import Share, total
from bareline.analysis.judgements.causes.terms import MissingTerm
from bareline.analysis.judgements.causes.work import STREAMS
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, Row, finite, with_interval
from bareline.vocabulary.units import percent, scale_of
from bareline.vocabulary.verdicts import DEFAULT_MARGIN


def _estimate(share: Share) -> Estimate:
    lo = finite(share.lo)
    hi = finite(share.hi)
    return Estimate(share.value, lo, hi)


def _largest_first(cause: Cause) -> float:
    if cause.share is None:
        return 1.0
    return -cause.share.value


@dataclass(frozen=True, slots=True)
class Explanation:
    """The worst loss of a finding, explained as a sum of terms and an unexplained rest.

    - `terms`: the parts of the extra time.
    - `missing`: terms that no benchmark of the layer below measured.
    - `absent`: for each rule that found no cause, the reason.
    - `base_s`: the baseline's time of one message; None if the operation is not a message.
    """

    finding: Finding
    point: Row
    causes: tuple[Cause, ...]
    terms: tuple[TermShare, ...] = ()
    missing: tuple[MissingTerm, ...] = ()
    absent: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    base_s: float | None = None

    @property
    def standing(self) -> tuple[Cause, ...]:
        """The causes that no measurement contradicts, the largest share first."""
        standing = [cause for cause in self.causes if not cause.withdrawn]
        return tuple(sorted(standing, key=_largest_first))

    @property
    def sized(self) -> tuple[Cause, ...]:
        """The causes that no measurement contradicts, and whose share is known."""
        return tuple(cause for cause in self.standing if cause.sized)

    @property
    def differing(self) -> tuple[Cause, ...]:
        """The causes that no measurement contradicts, but whose share is unknown."""
        return tuple(cause for cause in self.standing if not cause.sized)

    @property
    def known(self) -> bool:
        """Whether a possible explanation is known: a term, or a fact that differs."""
        return bool(self.standing or self.terms)

    @property
    def measured(self) -> Estimate:
        """The measured ratio that the terms explain."""
        assert self.point.ratio is not None
        return self.point.ratio

    @property
    def extra(self) -> Share:
        """The extra time divided by the baseline's time."""
        return Share.of(self.measured)

    @property
    def explained(self) -> Share:
        """The sum of all terms."""
        return total(term.share for term in self.terms)

    @property
    def left(self) -> Share:
        """The extra time minus the sum of the terms; negative if the sum is larger."""
        return self.extra.less(self.explained)

    @property
    def margin(self) -> float:
        """The margin, as a share of the baseline's time: smaller differences do not matter."""
        return DEFAULT_MARGIN * self.measured.value

    @property
    def word(self) -> CauseStatus | None:
        """The status of all terms together; None if no term or fact is known."""
        if not self.terms:
            if self.standing:
                return CauseStatus.DIFFERS
            return None
        if self.point.exact:
            return CauseStatus.EXPLAINS
        if not self.left.holds(0.0, self.margin):
            return CauseStatus.CONTRIBUTES
        # Terms that may cost nothing are a possible cause, however well their upper bound fits.
        if self.explained.lo <= self.margin:
            return CauseStatus.MAY_EXPLAIN
        return CauseStatus.EXPLAINS

    def word_of(self, cause: Cause) -> CauseStatus | None:
        """Return the status of a cause of this loss; None if the cause is withdrawn."""
        if cause.withdrawn:
            return None
        if cause.share is None:
            return CauseStatus.DIFFERS
        least_loss = self.extra.lo - self.margin
        whole = cause.share.hi >= least_loss
        if whole:
            return self.word
        return CauseStatus.CONTRIBUTES

    @property
    def rests(self) -> tuple[TermShare, ...]:
        """The terms whose facts leave a relevant part unexplained, the largest part first."""
        rests = [term for term in self.terms if self._has_rest(term)]
        largest_first = sorted(rests, key=lambda term: -term.rest.value)
        return tuple(largest_first)

    def _has_rest(self, term: TermShare) -> bool:
        """Whether the facts of a term leave, or may leave, a relevant part of it unexplained."""
        if term.rest.value > self.margin:
            return True
        return not term.rules and term.rest.hi > self.margin

    @property
    def explained_part(self) -> float:
        """The sum of the terms as a share of the extra time, from 0 to 1."""
        extra = max(self.extra.value, 1e-12)
        return min(1.0, max(0.0, self.explained.value / extra))

    @property
    def timed(self) -> bool:
        """Whether amounts are formatted as times; for a stream, they are percentages."""
        return self.base_s is not None and self.point.place.probe not in STREAMS

    def amount(self, share: Share) -> str:
        """Format a share as a time with bounds.

        The share of a stream, or of an unknown time, is formatted as a part of the loss.
        """
        base_s = self.base_s
        if base_s is None or not self.timed:
            loss = max(self.extra.value, 1e-12)
            part_of_loss = _estimate(share.times(1 / loss))
            return with_interval(part_of_loss, write=partial(percent, digits=2))
        largest = max(abs(share.value), abs(share.lo), abs(share.hi))
        factor, unit = scale_of(largest * base_s, "s")
        scaled = _estimate(share.times(base_s * factor))
        return with_interval(scaled, unit)

    @property
    def figures(self) -> str:
        """The explained time, the measured time and the rest, in words; empty without terms."""
        if not self.terms:
            return ""
        explained = self.amount(self.explained)
        part = f"{explained} of {self.amount(self.extra)}"
        left = self.amount(self.left)
        return f"{part}, {left} are left over"

    @property
    def withdrawn(self) -> str:
        """The withdrawn causes, each with its reason; empty if there are none."""
        withdrawn = [cause for cause in self.causes if cause.withdrawn]
        return "; ".join(f"{cause.name}: {cause.withdrawn}" for cause in withdrawn)

    @property
    def probes_to_run(self) -> tuple[str, ...]:
        """The probes that would measure the unexplained rest; empty if there is no rest."""
        if self.left.holds(0.0, self.margin) and self.terms:
            return ()
        probes = dict.fromkeys(term.probe for term in self.missing)
        return tuple(probes)
