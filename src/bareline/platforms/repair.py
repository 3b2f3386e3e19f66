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
    reasons: list[tuple[M, list[str]]] = [(one, []) for one in left]
    for number in range(1, attempts + 1):
        failed = attempt(left)
        for one in left:
            if number > 1 and all(other is not one for other, _ in failed):
                tell(f"{label(one)} came up at attempt {number}")
        for one, why in failed:
            next(said for other, said in reasons if other is one).append(why)
            tell(f"{label(one)} did not come up, attempt {number} of {attempts}: {why}")
            end(one)
        left = [one for one, _ in failed]
        if not left:
            return
        if number < attempts:
            pause(number)
    first, said = next((one, said) for one, said in reasons if one is left[0])
    numbered = "; ".join(f"{number}. {why}" for number, why in enumerate(said, 1))
    tried = count(attempts, "attempt")
    raise kind(f"did not come up in {tried}: {numbered}", where=label(first), hint=hint)


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
