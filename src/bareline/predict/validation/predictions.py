"""The results of a validation, kept in the run directory for reports.

They are kept because the replays of all pairs take minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bareline.analysis.numbers.records import Records
from bareline.predict.applications import Application, applications
from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import AS_IT_IS
from bareline.predict.curves.coverage import CurveCoverage, strips
from bareline.predict.curves.platform_curves import read_ladder
from bareline.predict.questions import UPGRADES, Upgrade, upgrades
from bareline.predict.shares import TITLES, LossSplit, explain_application
from bareline.predict.validation.cross_validation import Note
from bareline.predict.validation.scores import Validation
from bareline.profile.summary import DISTURBED
from bareline.vocabulary.errors import BarelineError, StoreError
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.validation_errors import problem_of

#: Files of version 1 contain intervals of 90 %.
VERSION = 2


@dataclass(frozen=True, slots=True)
class ApplicationLoss:
    """The loss of an application between the baseline and a platform, with its shares."""

    application: str
    loss: LossSplit


@dataclass(frozen=True, slots=True)
class Predictions:
    """A validation, and the losses, upgrades and message sizes of each application.

    - `losses`: the losses that are above noise and whose base the replay reproduces.
    """

    version: int
    validation: Validation
    losses: tuple[ApplicationLoss, ...] = ()
    upgrades: tuple[Upgrade, ...] = ()
    strips: tuple[CurveCoverage, ...] = ()

    @property
    def platforms(self) -> set[str]:
        """The names of all platforms in the figures of these predictions."""
        names = {upgrade.platform for upgrade in self.upgrades}
        for trial in self.validation.trials:
            names |= {trial.base, trial.platform}
        for loss in self.losses:
            names |= {loss.loss.base, loss.loss.platform}
        return names

    def to_json(self) -> str:
        """Return the predictions as JSON for the run directory."""
        return _adapter().dump_json(self, indent=1).decode() + "\n"


@cache
def _adapter() -> TypeAdapter[Predictions]:
    """Return the adapter that writes and reads predictions; it is built once."""
    return TypeAdapter(Predictions)


def analyse_losses(
    records: Records,
    validation: Validation,
    *,
    max_queued: float = DISTURBED,
    note: Note | None = None,
) -> Predictions:
    """Return the losses, the possible upgrades and the message sizes of each application.

    Each loss is divided among its causes. The upgrades that save most time come first. The message
    sizes are assigned to the measured curves.

    - `note`: called before each application with its name, its position and the number of
      applications.
    """
    losses: list[ApplicationLoss] = []
    ranked: list[Upgrade] = []
    laid: list[CurveCoverage] = []
    by_name = applications(records, max_queued=max_queued)
    for position, (name, by_platform) in enumerate(by_name.items(), 1):
        if note is not None:
            note(f"{name}: its losses and possible upgrades", position, len(by_name))
        usable = {
            platform: application
            for platform, application in by_platform.items()
            if application.launches
        }
        losses += _losses(records, by_name, name, usable)
        for application in usable.values():
            ranked += _upgrades(records, application)
        if usable:
            laid += _strips(records, name, usable)
    return Predictions(VERSION, validation, tuple(losses), tuple(ranked), tuple(laid))


_ByPlatform = Mapping[str, Application]


def _losses(
    records: Records,
    by_name: Mapping[str, dict[str, Application]],
    name: str,
    usable: _ByPlatform,
) -> Iterator[ApplicationLoss]:
    """Yield the losses of an application against the baseline, the slowest platform first."""
    base = usable.get(records.baseline)
    if base is None:
        return
    times_s = {platform: application.median_s for platform, application in usable.items()}
    slower = [platform for platform in usable if times_s[platform] > base.median_s]
    for platform in sorted(slower, key=lambda platform: -times_s[platform]):
        # An error means that the loss is within noise, or that the replay does not reproduce it.
        with suppress(BarelineError):
            loss = explain_application(records, name, records.baseline, platform, by_name=by_name)
            yield ApplicationLoss(name, loss)


def _upgrades(records: Records, application: Application) -> Sequence[Upgrade]:
    """Return the effects of changes of the application's platform.

    The result is empty if the prediction is refused; the validation contains the refusal.
    """
    with suppress(BarelineError):
        ladder = read_ladder(records, application.platform, application.typical.layout)
        case = PredictionCase(application.base(ladder), ladder, AS_IT_IS)
        return upgrades(application.name, case)
    return []


def _strips(records: Records, name: str, usable: _ByPlatform) -> Sequence[CurveCoverage]:
    """Return an application's message sizes on the curves that all platforms have."""

    def is_elsewhere(application: Application) -> bool:
        return application.platform != records.baseline

    ordered = sorted(usable.values(), key=is_elsewhere)
    ladders = [
        read_ladder(records, application.platform, application.launches[0].layout)
        for application in ordered
    ]
    return strips(name, ordered[0].typical.profile, ladders)


def _check(predictions: Predictions) -> None:
    """Refuse values that figures cannot show.

    Raises ValueError: a time is not above 0, a change or a layer is unknown to this version, or a
    number is not finite.
    """
    for trial in predictions.validation.trials:
        _check_times(trial.time_s, trial.truth_s, trial.lo_s, trial.hi_s)
    for upgrade in predictions.upgrades:
        _check_times(upgrade.base_s, upgrade.time_s)
        if upgrade.change not in UPGRADES:
            raise ValueError(
                f"'{sanitized_name(upgrade.change)}' is not one of the changes that bareline"
                " predicts"
            )
    for loss in predictions.losses:
        _check_loss(loss.loss)
    if not all(isfinite(number) for number in _numbers(astuple(predictions))):
        raise ValueError("one of the numbers is not finite")


def _check_times(*times_s: float | None) -> None:
    if any(time_s is not None and time_s <= 0 for time_s in times_s):
        raise ValueError("one of the times is not above 0")


def _check_loss(loss: LossSplit) -> None:
    _check_times(*loss.measured_a, *loss.measured_b)
    inputs = [share.input for share in loss.shares]
    if not set(inputs) <= TITLES.keys() or inputs.count("residual") != 1:
        raise ValueError(
            "the shares of a loss are not exactly those of the known causes and the residual"
        )
    if not (loss.measured_a and loss.measured_b):
        raise ValueError("a loss lacks the measured times of one of its platforms")


def _numbers(values: Iterable[Any]) -> Iterator[float]:
    for value in values:
        if isinstance(value, tuple):
            yield from _numbers(value)
        elif isinstance(value, float):
            yield value


def read_predictions_of(text: bytes | None, run: Path) -> Predictions | None:
    """Return the predictions in an output of `Predictions.to_json`.

    None if there is no output, or if it is of another version.

    - `run`: the run that contains the output.

    Raises StoreError: the output is damaged.
    """
    if text is None:
        return None
    try:
        predictions = _adapter().validate_json(text)
        _check(predictions)
    except ValueError as error:
        problem = problem_of(error) if isinstance(error, ValidationError) else None
        why = f"key '{problem.key}': {problem.clause}" if problem else error
        raise StoreError(
            f"the predictions are damaged: {why}",
            where=str(run),
            hint=f"write them again: `bareline predict --validate {run}`",
        ) from error
    return predictions if predictions.version == VERSION else None
