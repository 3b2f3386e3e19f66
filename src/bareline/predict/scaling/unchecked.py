"""The share of a predicted period that depends on laws that the profiles do not check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bareline.predict.scaling.place_call import PlaceCall


@dataclass(frozen=True, slots=True)
class Unchecked:
    """The calls of a predicted period whose laws no second profile and no second rank checks.

    - `calls`: the unchecked calls of all ranks.
    - `of_calls`: all calls of all ranks.
    - `byte_share`: the share of the bytes that unchecked calls move.
    - `time_share`: the share of unchecked calls in the profiled time of all calls.
    - `first`: the first unchecked call, with the reason.
    """

    calls: int
    of_calls: int
    byte_share: float
    time_share: float
    first: str

    @classmethod
    def of(cls, calls: Iterable[PlaceCall], whole_bytes: int) -> Unchecked:
        """Return the counts for the given calls, which moved `whole_bytes`."""
        made = list(calls)
        whole_s = sum(call.spent_s * call.made / call.times for call in made)
        loose = [call for call in made if call.unchecked]
        loose_bytes = sum(call.unchecked_bytes for call in loose)
        loose_s = sum(call.spent_s * call.unchecked / call.times for call in loose)
        first = f"{loose[0].key.step.call} ({loose[0].why})" if loose else ""
        return cls(
            calls=sum(call.unchecked for call in loose),
            of_calls=sum(call.made for call in made),
            byte_share=loose_bytes / max(1, whole_bytes),
            time_share=loose_s / (whole_s or 1.0),
            first=first,
        )

    @property
    def call_share(self) -> float:
        """The share of unchecked calls among all calls."""
        return self.calls / max(1, self.of_calls)
