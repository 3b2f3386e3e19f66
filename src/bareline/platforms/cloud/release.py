"""Giving back: everything that a journal names is removed, last made first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from bareline.platforms.cloud.patience import Insistence
from bareline.platforms.cloud.provider import INSTANCE, Steward, Thing
from bareline.vocabulary.errors import PlatformError

#: How long an instance may take to go.
_GONE_S = 180.0
_LOOK_S = 1.0


def remove(
    steward: Steward,
    things: Sequence[Thing],
    insist: Insistence,
    gone: Callable[[Thing], None],
) -> list[Thing]:
    """Remove things, and see that they are gone; give those that were there.

    `things`: in the order of making; those without an id are looked for by their names.
    `gone`: called with each that does not exist any more.
    """
    known: list[Thing] = []
    for thing in things:
        ids = (
            [thing.id]
            if thing.id
            else insist.ask(f"looking for {thing.name}", partial(steward.find, thing))
        )
        if not ids:
            gone(thing)
        known += [replace(thing, id=each) for each in ids]
    instances = [thing for thing in known if thing.kind == INSTANCE]
    _remove(steward, instances, insist, gone)
    # What instances use can only go after them.
    others = [thing for thing in known if thing.kind != INSTANCE]
    others.sort(key=lambda thing: -steward.kinds.index(thing.kind))
    _remove(steward, others, insist, gone)
    return known


def _remove(
    steward: Steward,
    things: Sequence[Thing],
    insist: Insistence,
    gone: Callable[[Thing], None],
) -> None:
    for thing in things:
        insist.ask(f"removing {thing.name}", partial(steward.delete, thing))
    left, deadline = list(things), time.monotonic() + _GONE_S
    while left:
        for thing in list(left):
            if insist.ask(f"looking for {thing.name}", partial(steward.is_gone, thing)):
                left.remove(thing)
                gone(thing)
        if left and time.monotonic() > deadline:
            raise PlatformError(
                f"the {left[0].kind} is still there {_GONE_S:.0f} s after it was to be removed",
                where=left[0].name,
                hint="`bareline platforms clean` tries again; it may cost until then",
            )
        if left:
            time.sleep(_LOOK_S)
