"""The contract of every cause, and artificial losses for tests of causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from bareline.analysis.judgements.causes.case import Facts, Rule
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.search import explain, load_rules
from bareline.analysis.judgements.causes.work import LATENCIES, STREAMS
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.numbers.sizes import classes
from bareline.probes.base import find_probe
from bareline.vocabulary.caveats import read_caveats
from bareline.vocabulary.model import PROGRAM_LAYERS, Layer, Metric, Scalar
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.verdicts import Verdict, grade_of

#: The platforms of a made loss.
PLATFORM, BASELINE = "vm", "bare"
_LAYERS = {layer.value: layer for layer in Layer} | {"net": Layer.NETWORK}


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeLoss:
    """An artificial loss: a platform is worse than the baseline by a known ratio, at one point.

    - `ratio`: factor by which the platform is worse than the baseline.
    - `half`: the interval of the ratio is from ``ratio / half`` to ``ratio * half``.
    - `rate`: whether the metric is a rate (B/s, or bit/s of a stream) instead of a time in s; if
      None, the probe decides.
    - `base`: the baseline's value, in the metric's unit; if None, a typical value of the metric.
    - `point`: the parameters of the point, such as ``size_bytes=64``.
    - `params`: the parameters of the trial.
    - `own_caveats`: codes of caveats that the platform has and the baseline does not.
    """

    probe: str
    ratio: float
    half: float = 1.05
    rate: bool | None = None
    base: float | None = None
    nodes: int = 1
    ranks: int = 1
    point: str = ""
    params: str = ""
    platform: str = PLATFORM
    verdict: Verdict = Verdict.SLOWER
    own_caveats: Iterable[str] = ()

    @property
    def layer(self) -> Layer:
        """Layer of the loss, from the name of its probe."""
        return _LAYERS[self.probe.partition(".")[0]]

    @property
    def metric(self) -> Metric:
        """Metric of the loss: a rate or a time."""
        if not self._is_rate:
            return Metric("s", "lower")
        return Metric("bit/s" if self.probe in STREAMS else "B/s", "higher")

    def finding(self, title: str = "") -> Finding:
        """Return the loss as a finding.

        - `title`: title of the probe; by default its name.
        """
        place = Place(
            self.probe, "m", self.params, ranks=self.ranks, point=self.point, used=self.nodes
        )
        verdict = Verdict(self.verdict)
        row = Row(
            place,
            self.platform,
            self.layer,
            self.metric,
            baseline=BASELINE,
            n=10,
            n_baseline=10,
            base=Estimate(self._usual if self.base is None else self.base),
            ratio=Estimate(self.ratio, self.ratio / self.half, self.ratio * self.half),
            verdict=verdict,
            grade=grade_of(verdict, sure=True),
            own_caveats=read_caveats(self.own_caveats),
        )
        sizes = next(classes([place.point]))[0]
        return Finding(title or self.probe, (row,), sizes, varying([place, Place("")]))

    @property
    def _is_rate(self) -> bool:
        if self.rate is None:
            return self.layer not in PROGRAM_LAYERS and self.probe not in LATENCIES
        return self.rate

    @property
    def _usual(self) -> float:
        return {"s": 1e-3, "B/s": 1e9, "bit/s": 10e9}[self.metric.unit]


def explained(finding: Finding, facts: Facts, baseline_facts: Facts) -> Explanation:
    """Return how the facts of the platform and of the baseline explain a loss."""
    (explanation,) = explain([finding], {PLATFORM: facts, BASELINE: baseline_facts}, BASELINE)
    return explanation


class CauseContract:
    """Tests of a cause; the test class gives facts with which the cause explains a loss."""

    rule: Rule
    loss: MadeLoss
    facts: ClassVar[Mapping[str, Scalar]]
    baseline_facts: ClassVar[Mapping[str, Scalar]]

    def test_it_is_found_by_its_name(self) -> None:
        assert self.rule in load_rules()

    def test_it_concerns_the_loss(self) -> None:
        assert self.rule.concerns(self.loss.layer, self.loss.probe)

    def test_its_probes_exist(self) -> None:
        for name in (*self.rule.probes, *self.rule.only, self.loss.probe):
            assert find_probe(name).name == name

    def test_a_difference_is_a_cause_in_words(self) -> None:
        explanation = self._explained(self.facts, self.baseline_facts)
        (cause,) = (cause for cause in explanation.causes if cause.rule == self.rule.name)
        assert not cause.withdrawn
        assert cause.words
        assert not cause.words.endswith("."), "the words end a sentence that bareline begins"

    def test_sides_that_are_the_same_have_the_reason_why_not(self) -> None:
        for facts in (self.facts, self.baseline_facts):
            assert self._explained(facts, facts).absent[self.rule.name]

    def test_each_fact_that_it_needs_is_named_where_it_is_missing(self) -> None:
        for need in self.rule.needs:
            keys = need.split(" or ")
            facts = {key: value for key, value in self.facts.items() if key not in keys}
            assert keys[0] in self._explained(facts, self.baseline_facts).absent[self.rule.name]

    def _explained(self, facts: Facts, baseline_facts: Facts) -> Explanation:
        return explained(self.loss.finding(), facts, baseline_facts)
