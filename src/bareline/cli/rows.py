"""What ``--json`` prints: the columns of each command's rows, from which their schemas are made.

Types are those of JSON: null stands where a number does not exist. Columns are added, never renamed
(docs/reference/stability.md).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from bareline.vocabulary.model import Better, Layer
from bareline.vocabulary.verdicts import Verdict

Scalar = bool | int | float | str
Params = dict[str, Scalar]

#: Has columns that are not listed here.
_OPEN = with_config(ConfigDict(extra="allow"))


class Bounds(TypedDict):
    """A ratio with its 95 % interval; more than 1 is worse than the baseline."""

    ratio: float | None
    lo: float | None
    hi: float | None


# Results ------------------------------------------------------------------------------------------


class MetricRow(TypedDict):
    """A metric of one case on one platform."""

    platform: str
    probe: str
    params: Params
    metric: str
    layer: Layer
    unit: str
    better: Better
    detail: bool
    headline: bool
    n: int
    caveats: list[str]


class Summary(MetricRow):
    """``show``: a median, its 95 % interval, and how values spread."""

    value: float
    lo: float | None
    hi: float | None
    p5: float
    p95: float
    iqr_rel: float | None
    outliers: int
    n_failed: int


class Silent(TypedDict):
    """``show``: a case of which every trial failed."""

    platform: str
    probe: str
    params: Params
    n: int
    n_failed: int
    stage: str | None
    reason: str | None


class Compared(MetricRow, Bounds):
    """``compare``: a metric of one case held against the baseline's."""

    baseline: str
    n_baseline: int
    value: float | None
    value_baseline: float | None
    difference: float | None
    difference_lo: float | None
    difference_hi: float | None
    delta: float | None
    p_adjusted: float | None
    verdict: Verdict | None
    lost: int
    tried: int
    base_lost: int
    base_tried: int
    limit_s: float | None
    by_points: bool
    took_s: float | None
    at_least: float | None
    by_loss: int
    boots: int | None
    few_boots: bool
    control: bool


class Fact(TypedDict):
    """``show --facts``: what a platform is, what changes from hour to hour, what names it."""

    kind: Literal["characteristic", "volatile", "identity"]
    key: str
    label: str
    group: str
    unit: str
    platform: str
    value: Scalar | None
    text: str
    equal: bool


class TrendValue(TypedDict):
    """A median of one run."""

    run: str
    created: str
    version: str | None
    value: float | None
    lo: float | None
    hi: float | None


class Series(Bounds):
    """``trend``: a metric over runs, and the step in it that is certain."""

    platform: str
    layer: Layer
    probe: str
    metric: str
    params: Params
    unit: str
    better: Better
    headline: bool
    runs: list[TrendValue]
    verdict: Verdict
    first_of_new_level: str | None
    changed: list[list[Scalar | None]]


class Deviation(TypedDict):
    """``nodes``: a node, link or switch held against the others of its cluster."""

    platform: str
    kind: Literal["node", "link", "uplink", "switch"]
    name: str
    peer: str | None
    probe: str
    metric: str
    params: str
    ratio: float | None
    lo: float | None
    hi: float | None
    p: float | None
    n: int
    deviates: bool


# Explanations -------------------------------------------------------------------------------------


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


@_OPEN
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


# Predictions and profiles -------------------------------------------------------------------------


class LossShare(TypedDict):
    """``explain --app``: a share of an application's loss."""

    base: str
    platform: str
    loss_s: float
    input: str
    title: str
    time_s: float
    lo_s: float | None
    hi_s: float | None
    share: float


class Prediction(TypedDict):
    """``predict``: what an application will take."""

    base: str
    platform: str
    model: str
    base_s: float
    time_s: float | None
    lo_s: float | None
    hi_s: float | None
    ratio: float | None
    level: float
    reproduced: float | None
    residual: float | None
    ladder: Any
    compute: float | None
    compute_lo: float | None
    compute_hi: float | None
    compute_from: str
    start_up_s: float | None
    connections: float | None
    connecting_s: float | None
    warnings: list[str]
    measured_s: list[float]


class ModelScore(TypedDict):
    """``predict --validate``: how good a model is over all trials."""

    type: Literal["score", "score-calibrated", "score-again"]
    model: str
    n: int
    median: float
    p90: float
    worst: float
    within_15: float
    order_right: int
    order_of: int
    coverage: float | None
    residual: float


class PredictedTrial(TypedDict):
    """``predict --validate``: an application, predicted and measured."""

    type: Literal["trial"]
    application: str
    base: str
    platform: str
    model: str
    n: int
    base_s: float
    time_s: float
    lo_s: float | None
    hi_s: float | None
    truth_s: float
    truth_min_s: float
    truth_max_s: float
    error: float
    inside: bool | None
    warnings: list[str]
    reasons: list[str]
    calibrated: bool


class Refused(TypedDict):
    """``predict --validate``: what could not be predicted, and why."""

    type: Literal["refused"]
    case: str
    reason: str


@_OPEN
class ProfileRow(TypedDict):
    """``show`` and ``compare`` of profiles: the reference has the columns of each type."""

    type: Literal["profile", "rank", "call", "site", "sends", "split", "size"]
