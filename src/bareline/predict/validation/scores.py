"""The quality of predictions: each prediction with the measured time, and each model's scores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from bareline.predict.interval import LEVEL
from bareline.predict.replay.validity import CallLack
from bareline.predict.validation.wrong import WrongTerm
from bareline.vocabulary.rows import row_of

#: The models that are compared; the last two do not use the application's single calls.
MODELS = ("replay", "replay-ratio", "replay-difference", "delta", "no-change", "latency-ratio")
#: Not a prediction, but the application measured again on the same platform.
AGAIN = "measured again"
_Scored = Literal["score", "score-calibrated", "score-again"]


class PredictedTrial(TypedDict):
    """``predict --validate``: a predicted and the measured time of an application."""

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
    launches: float
    ladder: float
    residual: float
    term: str | None
    term_s: float | None
    warnings: list[str]
    reasons: list[str]
    calibrated: bool


class LackingCall(TypedDict):
    """``predict --validate``: the error of a base's replay in the time of one function's calls.

    - `size_bytes`: the largest size; all sizes up to a power of two are one group.
    - `calls`, `traced_s`, `replayed_s`: number and times of the calls, as the mean over the ranks.
    - `share`: replayed minus traced time, as a share of the application's time.
    """

    type: Literal["call"]
    application: str
    platform: str
    call: str
    size_bytes: int
    calls: float
    traced_s: float
    replayed_s: float
    share: float


class Refused(TypedDict):
    """``predict --validate``: a case that could not be predicted, and the reason."""

    type: Literal["refused"]
    case: str
    reason: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A prediction with the measured time.

    - `time_s`, `truth_s`: predicted and measured time; `truth` has the times of the launches.
    - `launches`: the part of the interval's half-width from differences of launches, in ln.
    - `ladder`: the part from the uncertainty of the measured curves, in ln.
    - `residual`: the part from the model's error, in ln.
    - `lo_s`, `hi_s`: the ends of the interval, or None.
    - `term`: the kind of calls, or computing, whose predicted time has the largest error.
    - `reasons`: reasons that are large enough to explain the error.
    - `calibrated`: whether the processors differ, so that computing was measured with one rank of
      the application.
    """

    application: str
    base: str
    platform: str
    model: str
    base_s: float
    time_s: float
    truth_s: float
    truth: tuple[float, ...]
    launches: float = 0.0
    lo_s: float | None = None
    hi_s: float | None = None
    warnings: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    calibrated: bool = False
    ladder: float = 0.0
    residual: float = 0.0
    term: WrongTerm | None = None

    @property
    def drawn(self) -> float:
        """The half-width of the interval from launches alone, in ln."""
        return math.hypot(self.launches, self.ladder)

    @property
    def code(self) -> str:
        """The program, without its size."""
        return self.application.split(" ", 1)[0]

    @property
    def error(self) -> float:
        """The relative error: the predicted time divided by the measured time, minus one."""
        return self.time_s / self.truth_s - 1

    @property
    def log_error(self) -> float:
        """The absolute error |ln(true/predicted)|."""
        return abs(math.log(self.truth_s / self.time_s))

    @property
    def unseen(self) -> float:
        """The part of the absolute error that launches do not explain, in ln."""
        return math.sqrt(max(0.0, self.log_error**2 - self.drawn**2))

    @property
    def inside(self) -> bool | None:
        """Whether the measured time is in the interval; None if there is no interval."""
        if self.lo_s is None or self.hi_s is None:
            return None
        return self.lo_s <= self.truth_s <= self.hi_s

    def row(self) -> PredictedTrial:
        """Return the prediction as a tidy row in SI units."""
        term = str(self.term) if self.term else None
        term_s = self.term.too_long_s if self.term else None
        return row_of(
            PredictedTrial,
            self,
            type="trial",
            n=len(self.truth),
            truth_min_s=min(self.truth),
            truth_max_s=max(self.truth),
            term=term,
            term_s=term_s,
            warnings=list(self.warnings),
            reasons=list(self.reasons),
        )


@dataclass(frozen=True, slots=True)
class ModelScore:
    """``predict --validate``: the quality of a model over all trials.

    - `median`, `p90`, `worst`: median, 90 % quantile and maximum of |predicted/true - 1|.
    - `signed`: median of predicted/true - 1.
    - `within_15`: share of trials within 15 %.
    - `order_of`: number of pairs of platforms whose measured times differ clearly.
    - `order_right`: number of these pairs whose predicted times are in the right order.
    - `coverage`: share of measured times within the interval.
    - `residual`: the `LEVEL` quantile of the errors that launches do not explain, in ln.
    """

    type: _Scored
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


@dataclass(frozen=True, slots=True)
class Lacking:
    """The differences between the replay of an application's base and its trace."""

    application: str
    platform: str
    calls: tuple[CallLack, ...]


@dataclass(frozen=True)
class Validation:
    """All trials of a validation, and the refused cases with their reasons.

    - `disturbed`: number of launches that were left out because ranks had no core for too long.
    - `again`: for each application and platform, every second launch compared with the other
      launches. No prediction can be expected to have a smaller error than this comparison.
    - `lacking`: the replay errors of each replayed base.
    """

    trials: tuple[Trial, ...]
    refused: tuple[tuple[str, str], ...] = field(default=())
    disturbed: int = 0
    again: tuple[Trial, ...] = field(default=())
    lacking: tuple[Lacking, ...] = field(default=())

    @property
    def scores(self) -> list[ModelScore]:
        """The score of each model for pairs of platforms with equal processors."""
        return _scores("score", [trial for trial in self.trials if not trial.calibrated])

    @property
    def calibrated(self) -> list[ModelScore]:
        """The score of each model for pairs with different processors.

        Times of one rank on both platforms then replace a model of computing.
        """
        return _scores("score-calibrated", [trial for trial in self.trials if trial.calibrated])

    @property
    def repeated(self) -> ModelScore | None:
        """The score of a repeated measurement; None if no application has four launches."""
        return _score("score-again", AGAIN, self.again) if self.again else None

    @property
    def best(self) -> str:
        """The first model of `MODELS` that predicted a case; better models come first there."""
        return min((trial.model for trial in self.trials), key=MODELS.index)

    def rows(self) -> list[Any]:
        """Return tidy rows; the column ``type`` is the kind of each row."""
        scores = [*self.scores, *self.calibrated]
        if self.repeated:
            scores.append(self.repeated)
        rows: list[Any] = [asdict(score) for score in scores]
        rows += [trial.row() for trial in self.trials]
        for lacking in self.lacking:
            for lack in lacking.calls:
                base = {"application": lacking.application, "platform": lacking.platform}
                rows.append(row_of(LackingCall, lack, type="call", **base))
        rows += [Refused(type="refused", case=case, reason=why) for case, why in self.refused]
        return rows


ValidationRow = ModelScore | PredictedTrial | LackingCall | Refused


def _scores(kind: _Scored, trials: Sequence[Trial]) -> list[ModelScore]:
    scores: list[ModelScore] = []
    for model in MODELS:
        of_model = [trial for trial in trials if trial.model == model]
        if of_model:
            scores.append(_score(kind, model, of_model))
    return scores


def _score(kind: _Scored, model: str, trials: Sequence[Trial]) -> ModelScore:
    errors = np.abs([trial.error for trial in trials])
    inside = [trial.inside for trial in trials if trial.inside is not None]
    coverage = float(np.mean(inside)) if inside else None
    right, distinct = _orders(trials)
    return ModelScore(
        type=kind,
        model=model,
        n=len(trials),
        signed=float(np.median([trial.error for trial in trials])),
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        worst=float(np.max(errors)),
        within_15=float(np.mean(errors <= 0.15)),
        order_right=right,
        order_of=distinct,
        coverage=coverage,
        residual=float(np.quantile([trial.unseen for trial in trials], LEVEL)),
    )


def _orders(trials: Sequence[Trial]) -> tuple[int, int]:
    """Return how many platform pairs are predicted in the right order, and how many pairs count.

    A pair counts if the times of the launches on the two platforms do not overlap.
    """
    groups: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.application, trial.base), []).append(trial)
    right = 0
    distinct = 0
    for group in groups.values():
        for a, b in itertools.permutations(group, 2):
            if max(a.truth) < min(b.truth):
                distinct += 1
                right += a.time_s < b.time_s
    return right, distinct
