"""Notices a program that fails wherever it is tried, before hours are spent on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bareline.vocabulary.model import Failed, Record, Stage, Trial
from bareline.vocabulary.units import listing

#: After so many failures on every platform, and not one success, somebody should look.
ENOUGH = 2


class Failures:
    """Counts what fails, by probe and platform.

    - `plan`: all trials of the run.
    """

    def __init__(self, plan: Sequence[Trial]) -> None:
        self._left = Counter((trial.case.probe, trial.platform) for trial in plan)
        self._planned = Counter(self._left)
        self._failed: Counter[tuple[str, str]] = Counter()
        #: Probes that worked once, that are not installed anywhere, or that were told of.
        self._settled: set[str] = set()
        self._absent: set[tuple[str, str]] = set()

    def add(self, record: Record) -> str:
        """Take a record into account; say what fails everywhere, the first time that it is so."""
        probe, platform = record.trial.case.probe, record.trial.platform
        self._left[probe, platform] -= 1
        outcome = record.outcome
        if not isinstance(outcome, Failed):
            self._settled.add(probe)
        elif record.skipped:
            self._absent.add((probe, platform))
        else:
            self._failed[probe, platform] += 1
            return self._told(probe, outcome)
        return ""

    def _told(self, probe: str, outcome: Failed) -> str:
        tried = [cell for cell in self._planned if cell[0] == probe and cell not in self._absent]
        left = sum(self._left[cell] for cell in tried)
        enough = all(self._failed[cell] >= min(ENOUGH, self._planned[cell]) for cell in tried)
        if probe in self._settled or not left or not enough:
            return ""
        self._settled.add(probe)
        counts = listing([f"{self._failed[cell]} on {cell[1]}" for cell in tried])
        reason = " ".join(outcome.reason.split())[:240]
        mend = "; `bareline reparse RUN --study FILE` reads these outputs again, once it is mended"
        return (
            f"{probe} has failed every time ({counts}), and {left} more trials of it are planned: "
            f"[{outcome.stage.value}] {reason}{mend if outcome.stage is Stage.PARSE else ''}"
        )
