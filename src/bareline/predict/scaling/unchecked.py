"""The share of a period for more ranks that rests on laws that the profiles do not check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unchecked:
    """The calls of a made period with laws that neither a second count nor a second rank checks.

    - `calls`, `of_calls`: of all ranks; `byte_share`, `time_share`: of the bytes sent, and of the
      time that calls took where they were profiled.
    - `first`: the first such call, with the reason.
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
