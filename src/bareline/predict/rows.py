"""Rows of predictions, of explained losses and of validations, as ``--json`` prints them."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict


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


class PredictionRow(TypedDict):
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


class _OfBase(TypedDict):
    type: Literal["call"]
    application: str
    platform: str


class LackingCall(_OfBase, CallLack):
    """``predict --validate``: the same, of each base that was replayed."""


class Refused(TypedDict):
    """``predict --validate``: what could not be predicted, and why."""

    type: Literal["refused"]
    case: str
    reason: str


ValidationRow = ModelScore | PredictedTrial | LackingCall | Refused
