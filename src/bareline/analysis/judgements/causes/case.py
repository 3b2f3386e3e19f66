"""Rules, and their input: a loss, the facts of both platforms, and other measurements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.causes.cause import Cause, NoCause
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.work import Work, work_of
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.models import is_emulated
from bareline.analysis.numbers.programs import ReplayedTerm, Split
from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.vocabulary.facts import positive_number
from bareline.vocabulary.model import PROGRAM_LAYERS, Layer, Scalar
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, Verdict

Facts = Mapping[str, Scalar]
_Where = Callable[[Place], bool]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result at one point of a probe other than the probe of the loss."""

    finding: Finding
    point: Row
    ratio: Estimate

    @property
    def words(self) -> str:
        """The result in words: ``TCP throughput (nuttcp) is 2.00 [1.95, 2.05] times worse``."""
        return f"{self.finding.subject} is {times(self.ratio)}"

    @property
    def contradicts(self) -> str:
        """Why the measurement contradicts a cause: the probe shows no loss.

        Empty if the probe may show a loss.
        """
        if self.point.verdict in (Verdict.EQUIVALENT, Verdict.FASTER):
            ratio = with_interval(self.ratio)
            return f"{self.finding.subject} is not worse ({ratio})"
        return ""

    @property
    def certain(self) -> bool:
        """Whether the result is certainly worse than the baseline's."""
        return self.point.verdict is Verdict.SLOWER


@dataclass(frozen=True, slots=True)
class LossCase:
    """A loss with all data that a rule needs to find its causes.

    - `findings`: all findings of the same platform.
    - `others`: findings of the same probe on other platforms, with the facts of these platforms.
    - `split`: a program's time divided into computation and communication; None if unknown.
    - `replayed`: the terms into which the replay of the program's trace divides the loss; empty
      without a replay. They are also terms of the prediction.
    """

    finding: Finding
    point: Row
    findings: Sequence[Finding]
    facts: Facts
    baseline_facts: Facts
    others: Sequence[tuple[Finding, Facts]] = ()
    split: Split | None = None
    replayed: Sequence[ReplayedTerm] = ()

    @property
    def is_program(self) -> bool:
        """Whether the loss is of a whole program."""
        return self.finding.layer in PROGRAM_LAYERS

    def both(self, key: str) -> tuple[Scalar | None, Scalar | None]:
        """Return a fact of the platform, and of the baseline."""
        base_value = self.baseline_facts.get(key)
        return self.facts.get(key), base_value

    def both_numbers(self, key: str) -> tuple[float | None, float | None]:
        """Return a fact of the platform and of the baseline; None unless it is a number above 0."""
        base_number = positive_number(self.baseline_facts, key)
        return positive_number(self.facts, key), base_number

    def quotient(self, *keys: str) -> float | None:
        """Return the baseline's value of a fact divided by the platform's value.

        If there are several keys, the first fact that is known on both platforms counts.
        """
        for key in keys:
            value, base_value = self.both_numbers(key)
            if value and base_value:
                return base_value / value
        return None

    @property
    def emulated(self) -> bool:
        """Whether the platform's processor is emulated, and the baseline's is not."""
        if is_emulated({}, self.finding.own_caveats):  # which the baseline does not share
            return not is_emulated(self.baseline_facts)
        if not is_emulated(self.facts):
            return False
        return self.baseline_facts.get("cpu.emulated") is False

    @property
    def place(self) -> Place:
        """The place of the loss: its probe, case, metric and point."""
        return self.point.place

    @property
    def base_value(self) -> float | None:
        """The baseline's value, in the metric's unit."""
        base = self.point.base
        if base is None or base.value <= 0:
            return None
        return base.value

    @property
    def extra(self) -> Share:
        """The loss as a share: the extra time divided by the baseline's time."""
        assert self.point.ratio is not None
        return Share.of(self.point.ratio)

    @property
    def work(self) -> Work | None:
        """The messages and bytes of the operation; None if unknown."""
        return work_of(self.place)

    @property
    def base_s(self) -> float | None:
        """The baseline's time of one message, or of one byte of a stream, in s.

        The result is None if not measured.
        """
        return operation_s(self.point)

    @property
    def sized_s(self) -> float:
        """The part of the baseline's time that is due to the message's bytes.

        This part is the time minus the time of the shortest message on the same curve. For the
        shortest message, the part is estimated from the next size. If the curve has no other size,
        the part is the whole time.
        """
        base_s = self.base_s or 0.0
        size = self.place.size_bytes or 0
        curve = self._curve
        short, short_s = min(curve, default=(size, base_s))
        if short < size:
            return max(0.0, base_s - short_s)
        longer = [point for point in curve if point[0] > size]
        if not longer:
            return base_s
        long, long_s = min(longer)
        slope_s = max(0.0, long_s - base_s)
        return min(base_s, slope_s * size / (long - size))

    @property
    def short_s(self) -> float:
        """The part of the baseline's time that is due to the start of the message, in s.

        This is the whole time if the curve does not separate start and bytes.
        """
        base_s = self.base_s or 0.0
        sized_s = self.sized_s
        if sized_s < base_s:
            return base_s - sized_s
        return base_s

    @property
    def _curve(self) -> list[tuple[int, float]]:
        """The baseline's sizes and times on the curve of the loss (same probe and parameters)."""
        curve = []
        for finding in self.findings:
            if finding.probe != self.finding.probe:
                continue
            for point in finding.compared:
                size = point.place.size_bytes
                time_s = operation_s(point)
                of_curve = point.place.series == self.place.series
                if of_curve and size is not None and time_s is not None:
                    curve.append((size, time_s))
        return curve

    def on_link(self, *probes: str) -> Measurement | None:
        """Return the worst result of a probe, if this result is between nodes.

        The probes are tried in order. The result is None if no probe has its worst result between
        nodes.
        """
        return self._measured(probes, lambda place: place.ran_on > 1)

    def on_node(self, *probes: str) -> Measurement | None:
        """Return the worst result of a probe, if this result is within a node.

        The probes are tried in order. The result is None if no probe has its worst result within a
        node.
        """
        return self._measured(probes, within_node)

    def _same_point(self, other: Finding) -> Row | None:
        """Return another platform's row at the place of this loss; None without a row."""
        for point in other.compared:
            if point.place == self.place:
                return point
        return None

    def against(self, other: Finding) -> Estimate | None:
        """Return the ratio of this loss to another platform's loss at the same place.

        None unless both losses have an interval.
        """
        ratio = self.point.ratio
        if ratio is None or not ratio.bounded:
            return None
        point = self._same_point(other)
        if point is None:
            return None
        if point.ratio is None:
            return None
        if not point.ratio.bounded:
            return None
        return ratio.over(point.ratio)

    def _measured(self, probes: Sequence[str], where: _Where) -> Measurement | None:
        """Return the worst point of a probe, if `where` accepts the place of this point.

        The probes are tried in order; the first probe with an accepted worst point counts.
        """
        for probe in probes:
            if probe == self.finding.probe:
                continue
            for other in self.findings:
                worst = None
                if other.probe == probe:
                    worst = other.worst
                if worst is not None and _is_bounded(worst, where):
                    assert worst.ratio is not None
                    return Measurement(other, worst, worst.ratio)
        return None

    def points(self, probes: Collection[str], where: _Where) -> list[Measurement]:
        """Return the results of some probes at all places that `where` accepts.

        Both platforms measured these places.
        """
        measurements = []
        for finding in self.findings:
            if finding.probe not in probes:
                continue
            if finding.probe == self.finding.probe:
                continue
            for point in finding.compared:
                if point.ratio is not None and _is_bounded(point, where):
                    measurement = Measurement(finding, point, point.ratio)
                    measurements.append(measurement)
        return measurements


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that finds one cause, with the facts and probes that it needs.

    - `layers`: the layers whose losses the cause may explain.
    - `only`: the probes of these layers whose losses the cause may explain; empty for all probes.
    - `find`: the function that judges whether the cause explains a loss. It is called if every fact
      in `needs` is known. For an entry of the form ``one or another``, one of the two facts is
      enough.
    - `probes`: probes that measure the effect of the cause; empty for most causes. It is enough if
      the run contains one of them.
    - `both`: the facts of both platforms are needed, not only of the slower platform.
    - `between`: the cause explains only losses between nodes.
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
        """Whether the cause may explain losses of a probe."""
        if layer not in self.layers:
            return False
        return not self.only or probe in self.only


def bound_below(ratio: Estimate, loss: Estimate, cause: Cause, where: str) -> Cause:
    """Return a cause with its share of a loss.

    The share is bounded by a comparison with another platform, which does not have the cause.

    If the platform is not slower than the other platform, the cause gets the reason why it is not a
    cause (`withdrawn`).

    - `ratio`: the platform's time divided by the other platform's time.
    - `loss`: the platform's extra time divided by the baseline's time.
    - `where`: the name of the other platform in words.
    """
    lo, hi = ratio.ends
    amount = with_interval(ratio)
    if hi <= 1 + DEFAULT_MARGIN:
        return replace(cause, withdrawn=f"it takes {amount} times as long as {where}")
    if lo <= 1:
        words = f"{cause.words}, which may cost nothing ({amount} times as long as {where})"
        return replace(cause, words=words)
    words = f"{cause.words}, which costs {amount} times as much as {where}"
    least_share = 1 - 1 / lo
    least = (loss.lo or loss.value) * least_share
    usual = loss.value * (1 - 1 / ratio.value)
    most_share = 1 - 1 / hi
    most = (loss.hi or loss.value) * most_share
    share = Share.within(least, usual, most)
    return replace(cause, words=words, share=share)


def _is_bounded(point: Row, where: _Where) -> bool:
    """Whether a point has a ratio with an interval, and `where` accepts the point's place."""
    if point.ratio is None:
        return False
    if not point.ratio.bounded:
        return False
    return where(point.place)


def within_node(place: Place) -> bool:
    """Whether a place uses only one node, as all places of processor and memory probes do."""
    return place.ran_on <= 1


def times(ratio: Estimate) -> str:
    """Format a ratio with its interval and the words "times worse"."""
    return f"{with_interval(ratio)} times worse"


def operation_s(point: Row) -> float | None:
    """Return the baseline's time in s of one message; of one byte for a rate without a size."""
    base = point.base
    if base is None or base.value <= 0:
        return None
    size_bytes = point.place.size_bytes or 1
    match point.metric.unit:
        case "s":
            return base.value
        case "B/s":
            return size_bytes / base.value or None
        case "bit/s":
            return 8 * size_bytes / base.value or None
        case _:
            return None
