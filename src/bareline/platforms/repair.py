"""Nodes that are made or borrowed: brought up side by side, and replaced where they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bareline.vocabulary.errors import NotNow, PlatformError, TimeUp, ToolMissing
from bareline.vocabulary.model import Output
from bareline.vocabulary.units import count

M = TypeVar("M")


def bring_up(
    wanted: Iterable[M],
    attempt: Callable[[Sequence[M]], Sequence[tuple[M, str]]],
    end: Callable[[M], None],
    *,
    label: Callable[[M], str],
    attempts: int,
    tell: Callable[[str], None],
    hint: str,
    kind: type[PlatformError] = NotNow,
    pause: Callable[[int], None] = lambda _: None,
) -> None:
    """Bring nodes up together; those that fail are ended and tried anew, up to a limit.

    - `attempt`: tries nodes side by side, and gives those that failed with why.
    - `tell`: takes a sentence about each attempt that failed, and each that made up for one.
    """
    left = list(wanted)
    reasons: dict[int, list[str]] = {id(one): [] for one in left}
    for number in range(1, attempts + 1):
        failed = attempt(left)
        broken = {id(one) for one, _ in failed}
        for one in left:
            if number > 1 and id(one) not in broken:
                tell(f"{label(one)} came up at attempt {number}")
        for one, why in failed:
            reasons[id(one)].append(why)
            tell(f"{label(one)} did not come up, attempt {number} of {attempts}: {why}")
            end(one)
        left = [one for one, _ in failed]
        if not left:
            return
        if number < attempts:
            pause(number)
    numbered = "; ".join(f"{number}. {why}" for number, why in enumerate(reasons[id(left[0])], 1))
    what = f"did not come up in {count(attempts, 'attempt')}: {numbered}"
    raise kind(what, where=label(left[0]), hint=hint)


def run_repaired(run: Callable[[], Output], repaired: Callable[[PlatformError], bool]) -> Output:
    """Run a trial; where nodes were lost meanwhile, once more on others.

    - `repaired`: puts others in their place; tells whether any were lost.
    """
    try:
        return run()
    except (TimeUp, ToolMissing):
        raise
    except PlatformError as error:
        if not repaired(error):
            raise
    return run()
