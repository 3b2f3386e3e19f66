"""Rows of predictions, of explained losses and of validations, as ``--json`` prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from bareline.predict.fitness import CallLack


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


@dataclass(frozen=True)
class _OfBase:
    type: Literal["call"]
    application: str
    platform: str


@dataclass(frozen=True)
class LackingCall(CallLack, _OfBase):
    """``predict --validate``: the same, of each base that was replayed."""


class Refused(TypedDict):
    """``predict --validate``: what could not be predicted, and why."""

    type: Literal["refused"]
    case: str
    reason: str
