"""What ``--json`` prints of findings and their reasons: as `bareline.cli.rows`."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from bareline.cli.rows import OPEN, Bounds, Scalar
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import Grade, Verdict


class PointOfFinding(Bounds):
    """A point of a finding, such as a message size."""

    label: str
    difference: float | None
    difference_lo: float | None
    difference_hi: float | None
    value_baseline: float | None
    unit: str
    n: int
    verdict: Verdict | None
    grade: Grade | None
    exact: bool


class MeanOfPoints(Bounds):
    """What the points of a finding say together."""

    verdict: Verdict


class Finding(Bounds):
    """``explain``: what a probe says of a platform."""

    kind: Literal["finding"]
    layer: Layer
    probe: str
    platform: str
    baseline: str
    title: str
    subject: str
    nodes: int | None
    rate: bool
    verdict: Verdict
    grade: Grade
    worst: str | None
    mean: MeanOfPoints | None
    by_mean: bool
    n: int | None
    reason: str
    caveats: list[str]
    points: list[PointOfFinding]


class Reach(TypedDict):
    """The bounds of a factor."""

    lo: float | None
    hi: float | None


class NamedCause(Reach):
    """A cause with the factor that it predicts."""

    name: str
    word: str | None
    words: str
    measurement: str
    withdrawn: str


class Explained(TypedDict):
    """``explain``: how much of a loss its causes explain."""

    kind: Literal["cause"]
    layer: Layer
    probe: str
    platform: str
    baseline: str
    subject: str
    point: str
    known: bool
    measured: Bounds
    explained: Reach | None
    residual: Reach | None
    word: str | None
    causes: list[NamedCause]
    text: str


class Concluded(Reach):
    """``explain``: what several figures mean together."""

    kind: Literal["conclusion"]
    layer: Layer
    platform: str
    text: str
    value: float | None
    n: int | None


# "class" is a word of Python, so that this one is not written as the others are.
Suited = TypedDict(
    "Suited",
    {
        "kind": Literal["suitability"],
        "class": str,
        "title": str,
        "platform": str,
        "baseline": str,
        "answer": str,
        "certainty": str,
        "reason": str,
        "caveats": list[str],
        "grounds": list[dict[str, Any]],
        "voided": list[dict[str, Any]],
    },
)


@OPEN
class Controlled(TypedDict):
    """``explain``: the baseline against itself; further columns count what came out."""

    kind: Literal["control"]
    floors: dict[str, float | None]
    text: str


class NeededFact(TypedDict):
    """``explain --why-not``: a fact that the cause needs."""

    kind: Literal["fact"]
    cause: str
    platform: str
    baseline: str
    key: str
    value: Scalar | None
    value_baseline: Scalar | None
    needs_baseline: bool


class NeededMeasurement(Bounds):
    """``explain --why-not``: a measurement that the cause needs."""

    kind: Literal["measurement"]
    cause: str
    platform: str
    baseline: str
    probe: str
    nodes: int | None
    verdict: Verdict | None


class WhyNot(TypedDict):
    """``explain --why-not``: what came of the cause for a loss."""

    kind: Literal["answer"]
    cause: str
    platform: str
    baseline: str
    layer: Layer
    probe: str
    subject: str
    point: str
    word: str | None
    reason: str
    figures: str
