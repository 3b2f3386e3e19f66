"""Parts of an output that a reader leaves out, with their positions, so that damage stays local."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Omission:
    """A value, a row or a message that a reader left out.

    - `reason`: the omitted content, and the reason for the omission.
    - `line`: number of the line in the text of the launch, from 1; 0 if the omission has no line.
    - `lost`: whether a measured value is lost. It is False if the program did not print the value,
      for example if it rounded a rate to 0.00.
    """

    reason: str
    line: int = 0
    lost: bool = True

    def __str__(self) -> str:
        """Return the reason, with the line's number at its beginning if there is a line."""
        place = f"line {self.line}"
        if not self.line or self.reason.startswith(place):
            return self.reason
        return f"{place}: {self.reason}"


def lost_only(left_out: Iterable[Omission]) -> tuple[Omission, ...]:
    """Return the omissions that lost a measured value."""
    return tuple(each for each in left_out if each.lost)
