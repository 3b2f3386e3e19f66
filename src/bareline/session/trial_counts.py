"""The state of a run, as numbers of trials."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """The state of a run, as numbers of trials.

    - `skipped`: trials whose program is not installed.
    - `saved`: trials that adaptive stopping made unnecessary.
    - `not_run`: trials that did not fit into the time budget.
    - `on`: the platforms that have records.
    - `blocks_had`: the number of blocks before the time budget ended the run; None if it did not.
    """

    planned: int
    measured: int
    failed: int
    skipped: int
    saved: int
    on: frozenset[str] = frozenset()
    blocks_had: int | None = None
    not_run: int = 0

    @property
    def remaining(self) -> int:
        """The number of trials that are still to run."""
        recorded = self.measured + self.failed + self.skipped
        return self.planned - recorded - self.saved - self.not_run

    @property
    def parts(self) -> dict[str, int]:
        """The results of the trials, for people: see `run_end_blocks`."""
        names = ("measured", "failed", "skipped", "saved", "not_run")
        return {name: getattr(self, name) for name in names}

    @property
    def wrong(self) -> bool:
        """Whether trials failed, or none was measured."""
        return bool(self.failed) or not self.measured
