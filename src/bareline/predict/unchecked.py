"""How much of a period for more ranks rests on laws that the profiles do not check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unchecked:
    """What of a made period rests on laws that neither a second count nor a second rank checks.

    - `calls`, `of_calls`: of all ranks; `byte_share`, `time_share`: of what is sent, and of the
      time that calls took where they were profiled.
    - `first`: the first such call, with what the profiles do not distinguish.
    """

    calls: int
    of_calls: int
    byte_share: float
    time_share: float
    first: str

    @property
    def call_share(self) -> float:
        """The share of all calls."""
        return self.calls / max(1, self.of_calls)
