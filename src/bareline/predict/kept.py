"""What a validation found, kept in the run directory, so that a report can show it.

Replaying every pair takes minutes; a page is drawn in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bareline.analysis.records import Records
from bareline.predict.applications import Application, applications
from bareline.predict.compute import ComputeFactor
from bareline.predict.coverage import Strip, strips
from bareline.predict.ladder import read_ladder
from bareline.predict.pairs import Note
from bareline.predict.prediction import Case
from bareline.predict.questions import Upgrade, upgrades
from bareline.predict.shares import Loss, explain_application
from bareline.predict.validation import Validation
from bareline.profile.summary import DISTURBED
from bareline.vocabulary.errors import BarelineError, StoreError

VERSION = 1
_AS_IT_IS = ComputeFactor(1.0, 1.0, 1.0, "the same platform")


@dataclass(frozen=True, slots=True)
class ApplicationLoss:
    """The loss of an application between the baseline and the platform where it loses most."""

    application: str
    loss: Loss


@dataclass(frozen=True, slots=True)
class Kept:
    """A validation, and what else its ladders tell of its applications.

    - `losses`: where the loss is clear and the replay reproduces the base.
    """

    version: int
    validation: Validation
    losses: tuple[ApplicationLoss, ...] = ()
    upgrades: tuple[Upgrade, ...] = ()
    strips: tuple[Strip, ...] = ()

    def to_json(self) -> str:
        """Give it as a run directory keeps it."""
        return _adapter().dump_json(self, indent=1).decode() + "\n"


@cache
def _adapter() -> TypeAdapter[Kept]:
    """Give what writes and reads it; made when it is needed, since that takes a while."""
    return TypeAdapter(Kept)


def look_closer(
    records: Records,
    validation: Validation,
    *,
    max_queued: float = DISTURBED,
    note: Note | None = None,
) -> Kept:
    """Explain each application's largest loss, rank upgrades, and lay sizes over the ladders.

    - `note`: is told what is looked at next, which of the applications it is, and how many there
      are.
    """
    losses: list[ApplicationLoss] = []
    ranked: list[Upgrade] = []
    laid: list[Strip] = []
    found = applications(records, max_queued=max_queued)
    for position, (name, by_platform) in enumerate(found.items(), 1):
        usable = {key: one for key, one in by_platform.items() if one.launches}
        if note is not None:
            note(f"{name}: what it loses, what would help", position, len(found))
        losses += _loss(records, name, usable, found)
        for one in usable.values():
            ranked += _upgrades(records, one)
        laid += _strips(records, name, usable)
    return Kept(VERSION, validation, tuple(losses), tuple(ranked), tuple(laid))


def _loss(
    records: Records,
    name: str,
    usable: Mapping[str, Application],
    found: Mapping[str, dict[str, Application]],
) -> Iterator[ApplicationLoss]:
    if records.baseline not in usable or len(usable) < 2:
        return
    slowest = max(usable, key=lambda key: usable[key].median_s)
    if slowest == records.baseline:
        return
    try:
        loss = explain_application(records, name, records.baseline, slowest, found=found)
    except BarelineError:
        return  # within noise, or not reproduced: there is nothing to share out
    yield ApplicationLoss(name, loss)


def _upgrades(records: Records, one: Application) -> list[Upgrade]:
    launch = one.typical
    try:
        ladder = read_ladder(records, one.platform, launch.layout)
        return upgrades(one.name, Case(launch.profile, launch.trace, ladder, ladder, _AS_IT_IS))
    except BarelineError:
        return []  # the same refusal stands in the validation


def _strips(records: Records, name: str, usable: Mapping[str, Application]) -> list[Strip]:
    if not usable:
        return []
    order = sorted(usable, key=lambda key: key != records.baseline)
    ladders = [read_ladder(records, key, usable[key].launches[0].layout) for key in order]
    return strips(name, usable[order[0]].typical.profile, ladders)


def read_kept(text: bytes | None, run: Path) -> Kept | None:
    """Read what a run directory keeps; None where nothing was predicted, or by another version.

    - `text`: as `Kept.to_json` wrote it.
    - `run`: where it was kept, for the error.

    Raises StoreError: it is damaged.
    """
    if text is None:
        return None
    try:
        kept = _adapter().validate_json(text)
    except ValidationError as error:
        raise StoreError(
            "the predictions are damaged",
            where=str(run),
            hint=f"write them again: `bareline predict --validate {run}`",
        ) from error
    return kept if kept.version == VERSION else None
