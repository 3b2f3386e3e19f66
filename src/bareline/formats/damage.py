"""Parts of an output that a reader leaves out, with their places: damage stays local."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Omission:
    """A value, a row or a message that a reader left out.

    - `reason`: its content and the reason why it was left out.
    - `line`: number of the line in the text of its launch, from 1; 0 where it has none.
    - `lost`: a measured value is lost; False where nothing measured is missing, such as a rate that
      the program printed as 0.00 because it rounds to that.
    """

    reason: str
    line: int = 0
    lost: bool = True

    def __str__(self) -> str:
        """Return the reason behind the number of the line, unless the reason begins with it."""
        place = f"line {self.line}"
        if not self.line or self.reason.startswith(place):
            return self.reason
        return f"{place}: {self.reason}"


def lost_only(left_out: Iterable[Omission]) -> tuple[Omission, ...]:
    """Return the omissions that lost a measured value."""
    return tuple(each for each in left_out if each.lost)
