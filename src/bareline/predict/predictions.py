"""What a validation found, kept in the run directory, so that a report can show it.

Replaying every pair takes minutes; a page is drawn in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bareline.analysis.numbers.records import Records
from bareline.predict.applications import applications
from bareline.predict.compute import AS_IT_IS
from bareline.predict.coverage import CurveCoverage, strips
from bareline.predict.ladder import read_ladder
from bareline.predict.pairs import Note
from bareline.predict.prediction import PredictionCase
from bareline.predict.questions import UPGRADES, Upgrade, upgrades
from bareline.predict.shares import TITLES, LossSplit, explain_application
from bareline.predict.validation import Validation
from bareline.profile.summary import DISTURBED
from bareline.vocabulary.errors import BarelineError, StoreError
from bareline.vocabulary.invalid import problem_of
from bareline.vocabulary.texts import shown_name

VERSION = 1


@dataclass(frozen=True, slots=True)
class ApplicationLoss:
    """The loss of an application between the baseline and a platform, the largest first."""

    application: str
    loss: LossSplit


@dataclass(frozen=True, slots=True)
class Predictions:
    """A validation and what its ladders tell; `losses` are clear ones whose base is reproduced."""

    version: int
    validation: Validation
    losses: tuple[ApplicationLoss, ...] = ()
    upgrades: tuple[Upgrade, ...] = ()
    strips: tuple[CurveCoverage, ...] = ()

    @property
    def platforms(self) -> set[str]:
        """Names of all platforms that a figure of it shows."""
        pairs = [(one.base, one.platform) for one in self.validation.trials]
        pairs += [(one.loss.base, one.loss.platform) for one in self.losses]
        return {one.platform for one in self.upgrades}.union(*pairs)

    def to_json(self) -> str:
        """Return it as a run directory keeps it."""
        return _adapter().dump_json(self, indent=1).decode() + "\n"


@cache
def _adapter() -> TypeAdapter[Predictions]:
    """Return what writes and reads it; made when it is needed, since that takes a while."""
    return TypeAdapter(Predictions)


def look_closer(
    records: Records,
    validation: Validation,
    *,
    max_queued: float = DISTURBED,
    note: Note | None = None,
) -> Predictions:
    """Explain each application's losses, rank upgrades, and lay sizes over the ladders.

    - `note`: is told what is looked at next, which application it is, and how many there are.
    """
    losses: list[ApplicationLoss] = []
    ranked: list[Upgrade] = []
    laid: list[CurveCoverage] = []
    found = applications(records, max_queued=max_queued)
    for position, (name, by_platform) in enumerate(found.items(), 1):
        usable = {key: one for key, one in by_platform.items() if one.launches}
        if note is not None:
            note(f"{name}: what it loses, what would help", position, len(found))
        base = usable.get(records.baseline)
        slower = [
            key for key, one in usable.items() if base is not None and one.median_s > base.median_s
        ]
        for key in sorted(slower, key=lambda key: -usable[key].median_s):
            # Else within noise, or not reproduced: there is nothing to share out.
            with suppress(BarelineError):
                loss = explain_application(records, name, records.baseline, key, found=found)
                losses.append(ApplicationLoss(name, loss))
        for one in usable.values():
            with suppress(BarelineError):  # the same refusal stands in the validation
                ladder = read_ladder(records, one.platform, one.typical.layout)
                case = PredictionCase(one.base(ladder), ladder, AS_IT_IS)
                ranked += upgrades(one.name, case)
        own = sorted(usable.values(), key=lambda one: one.platform != records.baseline)
        if own:
            ladders = [read_ladder(records, one.platform, one.launches[0].layout) for one in own]
            laid += strips(name, own[0].typical.profile, ladders)
    return Predictions(VERSION, validation, tuple(losses), tuple(ranked), tuple(laid))


def _check(found: Predictions) -> None:
    """Refuse what nobody can draw: other changes and layers than ours, times that are none."""
    trials = found.validation.trials
    times = [time for one in trials for time in (one.time_s, one.truth_s, one.lo_s, one.hi_s)]
    times += [time for one in found.upgrades for time in (one.base_s, one.time_s)]
    times += [time for one in found.losses for time in (*one.loss.measured_a, *one.loss.measured_b)]
    if any(time is not None and time <= 0 for time in times):
        raise ValueError("a time is not above 0")
    for change in {one.change for one in found.upgrades} - UPGRADES.keys():
        raise ValueError(f"'{shown_name(change)}' is no change that is predicted")
    for loss in (one.loss for one in found.losses):
        inputs = [share.input for share in loss.shares]
        if not set(inputs) <= TITLES.keys() or inputs.count("residual") != 1:
            raise ValueError("the shares of a loss are not those of its layers")
        if not (loss.measured_a and loss.measured_b):
            raise ValueError("a loss has no measured time")
    if not all(isfinite(one) for one in _numbers(astuple(found))):
        raise ValueError("a number is not finite")


def _numbers(values: Iterable[Any]) -> Iterator[float]:
    for value in values:
        if isinstance(value, tuple):
            yield from _numbers(value)
        elif isinstance(value, float):
            yield value


def read_predictions_of(text: bytes | None, run: Path) -> Predictions | None:
    """Read what `Predictions.to_json` wrote; None where nothing was, or by another version.

    Raises StoreError: it is damaged; `run` is where it was kept.
    """
    if text is None:
        return None
    try:
        found = _adapter().validate_json(text)
        _check(found)
    except ValueError as error:
        problem = problem_of(error) if isinstance(error, ValidationError) else None
        why = f"key '{problem.key}': {problem.said}" if problem else error
        raise StoreError(
            f"the predictions are damaged: {why}",
            where=str(run),
            hint=f"write them again: `bareline predict --validate {run}`",
        ) from error
    return found if found.version == VERSION else None
