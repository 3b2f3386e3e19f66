"""The records of a run so far, and their consequences: the rest, hopeless cases, the time left.

Every decision depends on the plan and on records alone, so that a continued run decides as the
uninterrupted one would have.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from bareline.study.study import Study
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import (
    PROCESSOR_LAYERS,
    Case,
    Failed,
    Measured,
    Record,
    Stage,
    Trial,
    format_point,
)
from bareline.vocabulary.verdicts import MIN_LAUNCHES

if TYPE_CHECKING:
    from bareline.session.allocations import Allocations

#: After so many time-outs in a row a case is not tried again on that platform: three of three
#: against none of six are a certain loss (docs/method/statistics.md), two of two would not be.
_TIMEOUTS_IN_A_ROW = 3

_BUDGET_USED = "the time budget is used up"

#: Factor by which a time budget grows each time that it was too short for any point, and the most.
_LONGER, _LONGEST = 4.0, 64.0


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """The state of a run, in numbers of trials.

    - `skipped`: trials whose program is not installed.
    - `saved`: trials that adaptive stopping made unnecessary.
    - `not_run`: trials that the time budget left no time for.
    - `on`: the platforms that have records.
    - `blocks_had`: blocks begun before the time budget ended the run, if it did.
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
        """Trials still to run."""
        recorded = self.measured + self.failed + self.skipped
        return self.planned - recorded - self.saved - self.not_run

    @property
    def parts(self) -> dict[str, int]:
        """Results of the trials, for people: see `run_end_blocks`."""
        names = ("measured", "failed", "skipped", "saved", "not_run")
        return {name: getattr(self, name) for name in names}

    @property
    def wrong(self) -> bool:
        """Whether trials failed, or none was measured."""
        return bool(self.failed) or not self.measured


class History:
    """The records of a run, and their consequences for the rest of the plan.

    A repeated trial on an `exact` platform gives the same values. The `control` is the baseline
    once more: it shares the baseline's fate, and no case goes on for its sake. At a planned look
    `answered` returns whether the run's records answer the question.
    """

    def __init__(
        self,
        study: Study,
        plan: Sequence[Trial],
        exact: Collection[str] = (),
        baseline: str | None = None,
        control: str = "",
        answered: Callable[[], bool] | None = None,
    ) -> None:
        self._study = study
        self._answered = answered
        self._looked_at: dict[int, bool] = {}
        self._plan = plan
        self._exact = frozenset(exact)
        self._baseline = baseline
        self._control = control
        self._blocks: dict[int, list[Trial]] = defaultdict(list)
        for trial in plan:
            self._blocks[trial.block].append(trial)
        self.records: dict[int, Record] = {}
        self._by_case: dict[Case, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
        self._planned = Counter((trial.platform, trial.case) for trial in plan)
        self._on: dict[Case, set[str]] = defaultdict(set)
        for platform, case in self._planned:
            self._on[case].add(platform)
        self._emulated: dict[str, bool] = {}
        #: The first block in which a case's program was not there.
        self._absent: dict[tuple[str, Case], int] = {}
        self._durations: dict[tuple[str, Case], tuple[float, int]] = {}
        self._decided: dict[tuple[int, Case], str] = {}
        self._spent_s: dict[int, float] = defaultdict(float)

    def add(self, record: Record) -> None:
        """Take a record into account; raises StoreError where another bareline planned it."""
        trial = record.trial
        planned = self._plan[trial.index] if trial.index < len(self._plan) else None
        if planned is None or (planned.platform, planned.case) != (trial.platform, trial.case):
            raise StoreError(
                f"trial {trial.index} ({trial.case.label} on {trial.platform}) is not what this "
                "bareline plans there",
                hint="go on with the bareline that began it, or measure again into a new folder",
            )
        if isinstance(record.outcome, Measured):  # without samples that no decision looks at
            wanted = self.wanted(trial.case.probe)
            samples = tuple(sample for sample in record.outcome.samples if sample.metric in wanted)
            record = replace(record, outcome=Measured(samples))
        self.records[trial.index] = record
        self._by_case[trial.case][trial.platform].append(record)
        if isinstance(record.outcome, Measured):
            self._emulated[trial.platform] = "emulated-cpu" in record.caveats
        cell = (trial.platform, trial.case)
        if record.skipped:
            self._absent[cell] = min(trial.block, self._absent.get(cell, trial.block))
        seconds, count = self._durations.get(cell, (0.0, 0))
        self._durations[cell] = (seconds + record.duration_s, count + 1)
        self.spent(record)

    def spent(self, record: Record) -> None:
        """Take the time into account that a trial took, though another of its records counts."""
        self._spent_s[record.trial.block] += record.duration_s

    @property
    def has_time(self) -> bool:
        """Whether the time budget, if there is one, is not used up."""
        budget_s = self._study.budget_s
        return not budget_s or sum(self._spent_s.values()) < budget_s

    def wanted(self, probe: str) -> Collection[str]:
        """Return the metrics of a probe that decisions look at.

        A run may have millions of further trials.
        """
        measured = self._study.find_probe(probe)
        return (measured.headline,) if self._study.precision_of(measured.layer) > 0 else ()

    def blocks(self) -> Iterator[Sequence[Trial]]:
        """Yield the plan block by block."""
        return (self._blocks[block] for block in range(self._study.launches))

    def blocks_done(self) -> int:
        """Return how many blocks are complete: nothing is left to do in them, nor before them."""
        complete = 0
        for block in sorted(self._blocks):
            trials = self._blocks[block]
            begun = any(trial.index in self.records for trial in trials)
            left = (t for t in trials if t.index not in self.records and not self.unneeded(t))
            if not begun or any(left):
                break
            complete = block + 1
        return complete

    def unneeded(self, trial: Trial) -> str:
        """Describe why a trial is not needed any more, or nothing if it is.

        A case ends on all platforms at once, so that its blocks stay complete; but where a trial
        repeats exactly the first one is all.
        """
        if trial.platform in self._exact and self._measured_before(trial, trial.platform):
            return "a simulation repeats exactly"
        if self._absent.get((trial.platform, trial.case), trial.block) < trial.block:
            return "its program is not installed"
        emulates, enough = partial(self._emulates, trial), self._study.emulated_launches
        if enough and trial.block >= enough and self._meets_emulation(trial, emulates):
            return "an emulated processor is not comparable"
        look = self._answered_at(trial.block)
        if look is not None:
            return f"the question is answered at the look after {look} blocks"
        if trial.block < max(self._study.required_launches, 1):
            return ""
        key = (trial.block, trial.case)
        if key not in self._decided:
            self._decided[key] = self._decide(trial.block, trial.case)
        return self._decided[key]

    def _answered_at(self, block: int) -> int | None:
        """Return the planned look up to a block that answered the question; None where none did."""
        if self._answered is None:
            return None
        for look in (self._study.looks or [])[:-1]:
            if look > block:
                return None
            if look not in self._looked_at:
                # The run went on after a look without an answer; later trials must not decide.
                went_on = any(record.trial.block >= look for record in self.records.values())
                self._looked_at[look] = not went_on and self._answered()
            if self._looked_at[look]:
                return look
        return None

    def _meets_emulation(self, trial: Trial, emulates: Callable[[str], bool | None]) -> bool:
        """Return whether an emulated processor would be compared with a real one.

        Nor are the real one's case and its control's needed once nothing else is compared with it.
        """
        if self._baseline is None or emulates(self._baseline) is not False:
            return False
        if self._study.find_probe(trial.case.probe).layer not in PROCESSOR_LAYERS:
            return False
        twice = {self._baseline, self._control}
        if trial.platform not in twice:
            return emulates(trial.platform) is True
        others = self._on[trial.case] - twice
        return bool(others) and all(emulates(name) for name in others)

    def _emulates(self, trial: Trial, platform: str) -> bool | None:
        """Return whether a platform's processor was software in the blocks before a trial's."""
        record = self._measured_before(trial, platform)
        return None if record is None else "emulated-cpu" in record.caveats

    def _measured_before(self, trial: Trial, platform: str) -> Record | None:
        of_case = self._by_case[trial.case][platform]
        before = (record for record in of_case if record.trial.block < trial.block)
        return next((record for record in before if record.status == "measured"), None)

    def _decide(self, block: int, case: Case) -> str:
        earlier = self._decided.get((block - 1, case))
        if earlier:
            return earlier
        budget_s = self._study.budget_s
        if (
            budget_s
            and block >= self._study.required_launches
            and self._spent_until(block) >= budget_s
        ):
            return _BUDGET_USED
        return "the target precision is reached" if self._reached(block, case) else ""

    def _reached(self, block: int, case: Case) -> bool:
        probe = self._study.find_probe(case.probe)
        target = self._study.precision_of(probe.layer)
        if not target or block < MIN_LAUNCHES:
            return False
        from bareline.stats import reached

        for platform, records in self._by_case[case].items():
            if platform in self._exact or platform == self._control:
                continue
            values = _headline_values(records, probe.headline, block)
            if values is None:
                continue  # only failures: more trials give no new information
            if len(values[0]) < MIN_LAUNCHES or not reached(values, target).all():
                return False
        return True

    def hopeless(self, trial: Trial) -> str:
        """Describe why a trial would only time out again, or nothing if it may work."""
        before = (
            record
            for record in reversed(self._by_case[trial.case][trial.platform])
            if record.trial.block < trial.block
        )
        recent = list(islice(before, _TIMEOUTS_IN_A_ROW))
        stages = [r.outcome.stage if isinstance(r.outcome, Failed) else None for r in recent]
        given_up = stages[:1] == [Stage.GIVEN_UP]
        if given_up or stages == [Stage.TIMEOUT] * _TIMEOUTS_IN_A_ROW:
            return f"not started: it timed out {_TIMEOUTS_IN_A_ROW} times in a row"
        return ""

    def budgets(self, trial: Trial) -> float:
        """Return the factor of a case's time budget: fourfold for each earlier one too short."""
        short = {
            record.trial.block
            for records in self._by_case[trial.case].values()
            for record in records
            if record.trial.block < trial.block
            and isinstance(record.outcome, Failed)
            and record.outcome.stage is Stage.BUDGET
        }
        return min(_LONGER ** len(short), _LONGEST)

    def eta_s(self, block: int, platforms: Allocations, pause_s: float) -> float | None:
        """Estimate the time until the run ends from this block on; None before something is known.

        `platforms` knows how long they take to come up; `pause_s` is the mean between two trials.
        """
        if not self._durations:
            return None
        seconds, counts = zip(*self._durations.values(), strict=True)
        mean_s = sum(seconds) / sum(counts)
        used = {platform for platform, _ in self._planned}
        total_s = sum(platforms.coming_up_s(name, block) for name in used)
        going = [trial for trial in self._blocks[block] if not self.unneeded(trial)]
        left = [trial for trial in going if trial.index not in self.records]
        left_s = sum(self.expected_s(trial, mean_s) for trial in left)
        total_s += left_s + pause_s * len(left)
        # Trials of later blocks: neither exact repetitions nor a profile taken once.
        going = [
            trial
            for trial in going
            if trial.platform not in self._exact
            and self._planned[trial.platform, trial.case] > block + 1
        ]
        real = going  # without enough launches of an emulated processor
        if self._study.emulated_launches:
            real = [t for t in going if not self._meets_emulation(t, self._emulated.get)]
        whole_s, less_s = (
            sum(self.expected_s(trial, mean_s) * self._later(trial) for trial in some)
            for some in (going, real)
        )
        whole, less = self._later_blocks(block, left_s, whole_s, less_s)
        to_the_end = {trial.platform for trial in real}
        again_s = sum(
            platforms.again_s(name)
            * platforms.renewals(name, block, block + whole + less * (name in to_the_end))
            for name in used
        )
        pauses = whole * sum(map(self._later, going)) + less * sum(map(self._later, real))
        pauses_s = pause_s * pauses
        return total_s + whole * whole_s + less * less_s + pauses_s + again_s

    def _later(self, trial: Trial) -> float:
        """Return the share of the later blocks with a trial's case: after a look some lack it."""
        blocks = self._study.launches - trial.block - 1
        return (self._planned[trial.platform, trial.case] - trial.block - 1) / blocks

    def _later_blocks(
        self, block: int, left_s: float, whole_s: float, less_s: float
    ) -> tuple[int, int]:
        """Estimate how many blocks follow one, of which so much is still to run.

        First the trials that take `whole_s`, then without enough launches of an emulated processor.
        """
        planned = self._study.launches - block - 1
        whole = min(planned, max(0, self._study.emulated_launches - block - 1))
        budget_s = self._study.budget_s
        if not budget_s:
            return whole, planned - whole
        required = max(0, self._study.required_launches - block - 1)
        budget_s -= self._spent_until(block + 1) + left_s
        if whole_s > 0:
            whole = min(whole, max(required, math.ceil(budget_s / whole_s)))
        less = planned - whole
        if less_s > 0:
            affordable = math.ceil((budget_s - whole * whole_s) / less_s)
            less = min(less, max(0, required - whole, affordable))
        return whole, less

    def expected_s(self, trial: Trial, first_s: float = 0.0) -> float:
        """Estimate a trial's time from its case's earlier trials; `first_s` of a first one."""
        seconds, count = self._durations.get((trial.platform, trial.case), (0.0, 0))
        return seconds / count if count else first_s

    def _spent_until(self, block: int) -> float:
        return sum(spent_s for number, spent_s in self._spent_s.items() if number < block)

    def tally(self) -> TrialCounts:
        """Count the planned, finished and saved trials."""
        failed = sum(isinstance(r.outcome, Failed) for r in self.records.values())
        skipped = sum(record.skipped for record in self.records.values())
        saved = not_run = 0
        had = None
        for number, block in enumerate(self.blocks()):
            left = [trial for trial in block if trial.index not in self.records]
            reasons = [reason for trial in left if (reason := self.unneeded(trial))]
            if had is None and _BUDGET_USED in reasons:
                had = number
            cut = reasons.count(_BUDGET_USED)
            not_run += cut
            saved += len(reasons) - cut
            if len(reasons) < len(left):
                break  # the need of later blocks depends on this one
        measured = len(self.records) - failed
        on = frozenset(name for cells in self._by_case.values() for name in cells)
        failed -= skipped
        return TrialCounts(len(self._plan), measured, failed, skipped, saved, on, had, not_run)


def _headline_values(records: Sequence[Record], metric: str, block: int) -> Any:
    """Stack a metric's values before a block as (points, trials); None without a measured trial."""
    import numpy as np

    points: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if record.trial.block < block and isinstance(record.outcome, Measured):
            for sample in record.outcome.samples:
                if sample.metric == metric:
                    points[format_point(sample.point)].append(sample.value)
    if not points:
        return None
    fewest = min(len(values) for values in points.values())
    return np.array([values[:fewest] for values in points.values()])
