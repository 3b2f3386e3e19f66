"""What ``--json`` prints: the columns of each command's rows, from which their schemas are made.

Types are those of JSON: null stands where a number does not exist. Columns are added, never renamed
(docs/reference/stability.md).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from bareline.vocabulary.model import Better, Layer
from bareline.vocabulary.verdicts import Grade, Verdict

Scalar = bool | int | float | str
Params = dict[str, Scalar]

#: Of a row that has columns which are not listed.
OPEN = with_config(ConfigDict(extra="allow"))


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
    grade: Grade | None
    lost: int
    tried: int
    base_lost: int
    base_tried: int
    crashed: int
    base_crashed: int
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
    lacks: list[CallLack]


class CallLack(TypedDict):
    """What the replay of the base takes less or more than traced, of one function and size."""

    call: str
    size_bytes: int
    calls: float
    traced_s: float
    replayed_s: float
    share: float


class GrownRanks(TypedDict):
    """``predict --ranks``: what a program takes on a number of ranks."""

    program: str
    platform: str
    clock: Literal["simulated", "replayed"]
    ranks: int
    grid: str
    profiled: bool
    periods: int
    period_s: float
    period_lo_s: float
    period_hi_s: float
    period_measured_s: float | None
    time_s: float
    efficiency: float
    shares: dict[str, float]
    scaling_ends: int | None
    ended_by: str | None
    computing_from: str
    computing_error: float | None
    unchecked_calls: int
    sizes_off: float
    calls_beside: int
    notes: list[str]


class ModelScore(TypedDict):
    """``predict --validate``: how good a model is over all trials."""

    type: Literal["score", "score-calibrated", "score-again"]
    model: str
    n: int
    signed: float
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


class LackingCall(CallLack):
    """``predict --validate``: the same, of each base that was replayed."""

    type: Literal["call"]
    application: str
    platform: str


class Refused(TypedDict):
    """``predict --validate``: what could not be predicted, and why."""

    type: Literal["refused"]
    case: str
    reason: str


@OPEN
class ProfileRow(TypedDict):
    """``show`` and ``compare`` of profiles: the reference has the columns of each type."""

    type: Literal["profile", "rank", "call", "site", "sends", "split", "size"]
