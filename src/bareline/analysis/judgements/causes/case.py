"""Rules, and what they look at: a loss, the facts of both platforms, what else was measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.causes.cause import Cause, NoCause
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.models import is_emulated
from bareline.analysis.numbers.programs import Split
from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.vocabulary.model import Layer, Scalar
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, Verdict

Facts = Mapping[str, Scalar]
_Where = Callable[[Place], bool]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What another probe measured of the same platforms, at its worst point."""

    finding: Finding
    point: Row
    ratio: Estimate

    @property
    def words(self) -> str:
        """How much worse it is: ``TCP throughput (nuttcp) is 2.00 [1.95, 2.05] times worse``."""
        return f"{self.finding.subject} is {times(self.ratio)}"

    @property
    def acquits(self) -> str:
        """Why it contradicts what it measures the effect of; empty where it does not."""
        if self.point.verdict in (Verdict.EQUIVALENT, Verdict.FASTER):
            return f"{self.finding.subject} is not worse: {with_interval(self.ratio)}"
        return ""

    @property
    def certain(self) -> bool:
        """Whether it is certainly worse."""
        return self.point.verdict is Verdict.SLOWER

    @property
    def decides(self) -> bool:
        """Whether it says anything of a cause: that it costs something, or nothing."""
        return bool(self.acquits) or self.certain


@dataclass(frozen=True, slots=True)
class LossCase:
    """What a rule may look at.

    - `findings`: all of the same platform; `others`: of the same probe, elsewhere, with the facts.
    - `split`: what of a program's time is computation and what communication; None where unknown.
    """

    finding: Finding
    point: Row
    findings: Sequence[Finding]
    facts: Facts
    baseline_facts: Facts
    others: Sequence[tuple[Finding, Facts]] = ()
    split: Split | None = None

    def both(self, key: str) -> tuple[Scalar | None, Scalar | None]:
        """Give a fact of the platform, and of the baseline."""
        return self.facts.get(key), self.baseline_facts.get(key)

    def quotient(self, *keys: str) -> float | None:
        """Give the baseline's value of a fact over the platform's, of the first that both tell."""
        for key in keys:
            own, base = (number(facts, key) for facts in (self.facts, self.baseline_facts))
            if own and base:
                return base / own
        return None

    @property
    def emulated(self) -> bool:
        """Whether the platform's processor is software, and the baseline's is not."""
        if is_emulated({}, self.finding.own_caveats):  # which the baseline does not share
            return not is_emulated(self.baseline_facts)
        return is_emulated(self.facts) and self.baseline_facts.get("cpu.emulated") is False

    @property
    def place(self) -> Place:
        """Where the loss stands."""
        return self.point.place

    @property
    def base_value(self) -> float | None:
        """The baseline's value, in the metric's unit."""
        return self.point.base.value if self.point.base and self.point.base.value > 0 else None

    def on_link(self, *probes: str) -> Measurement | None:
        """Give what one of some probes measured between nodes; a loopback tells of no link."""
        return self._measured(probes, lambda place: place.ran_on > 1)

    def on_node(self, *probes: str) -> Measurement | None:
        """Give what one of some probes measured within a node."""
        return self._measured(probes, within_node)

    def against(self, other: Finding) -> Estimate | None:
        """Give how much more is lost here than on another platform, at the same place."""
        point = next((p for p in other.compared if p.place == self.place), None)
        own, base = self.point.ratio, point.ratio if point else None
        if own is None or base is None or not (own.bounded and base.bounded):
            return None
        return own.over(base)

    def _measured(self, probes: Sequence[str], where: _Where) -> Measurement | None:
        for probe in probes:
            for other in self.findings:
                if other.probe == probe != self.finding.probe:
                    worst = other.worst
                    if worst and worst.ratio and worst.ratio.bounded and where(worst.place):
                        return Measurement(other, worst, worst.ratio)
        return None

    def points(self, probes: Collection[str], where: _Where) -> list[Measurement]:
        """Give all points of some probes that both sides have somewhere."""
        return [
            Measurement(finding, point, point.ratio)
            for finding in self.findings
            if finding.probe in probes and finding.probe != self.finding.probe
            for point in finding.compared
            if point.ratio is not None and point.ratio.bounded and where(point.place)
        ]


@dataclass(frozen=True, slots=True)
class Rule:
    """A cause that may be found, and what it rests on.

    - `layers`, `only`: those whose losses it may explain, and which of their probes, if not all.
    - `find`: looks; every fact of `needs` is there then, of ``one or another`` either.
    - `probes`: probes that measure its effect; any of them will do, and most causes do without.
    - `both`: it needs facts of both platforms, not of the slower one alone.
    - `between`: it explains losses between nodes alone.
    """

    name: str
    layers: tuple[Layer, ...]
    find: Callable[[LossCase], Cause | NoCause]
    needs: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    both: bool = True
    between: bool = False

    def concerns(self, layer: Layer, probe: str) -> bool:
        """Tell whether it is of a probe."""
        return layer in self.layers and (not self.only or probe in self.only)


def bound_below(ratio: Estimate, cause: Cause, where: str) -> Cause:
    """Bound a cause below by what is lost above a platform without it, or withdraw it."""
    (lo, hi), amount = ratio.ends, with_interval(ratio)
    if hi <= 1 + DEFAULT_MARGIN:
        return replace(cause, withdrawn=f"it takes {amount} times as long as {where}")
    if lo <= 1:
        words = f"{cause.words}, which may cost nothing ({amount} times as long as {where})"
        return replace(cause, words=words)
    words = f"{cause.words}, which costs {amount} times as much as {where}"
    return replace(cause, words=words, lo=lo)


def bound_by_probe(cause: Cause, by: Measurement | None) -> Cause:
    """Take the factor that a probe of the cause measured, or withdraw what it contradicts."""
    if by is None or not by.decides:
        return cause
    if by.acquits:
        return replace(cause, withdrawn=by.acquits)
    lo, hi = by.ratio.ends
    return replace(cause, lo=lo, hi=hi, measurement=by.finding.probe, measured=by.words)


def number(facts: Facts, key: str) -> float | None:
    """Give a fact that is a number above 0."""
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return float(value)


def within_node(place: Place) -> bool:
    """Tell whether a place is on one node, as all of a processor and its memory is."""
    return place.ran_on <= 1


def times(ratio: Estimate) -> str:
    """Write how much worse something is, with its interval."""
    return f"{with_interval(ratio)} times worse"
