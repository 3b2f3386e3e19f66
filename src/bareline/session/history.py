"""The records of a run and their consequences: remaining trials, hopeless cases, time left.

Every decision depends only on the plan and on records, so that a continued run decides in the same
way as an uninterrupted run.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from bareline.session.case_records import CaseRecords
from bareline.session.trial_counts import TrialCounts
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
)
from bareline.vocabulary.verdicts import MIN_LAUNCHES

if TYPE_CHECKING:
    from bareline.session.allocations import Allocations

#: After so many time-outs in a row a case is not tried again on that platform: three of three
#: against none of six are a certain loss (docs/method/statistics.md), two of two would not be.
_TIMEOUTS_IN_A_ROW = 3

_BUDGET_USED = "the time budget is used up"

#: Factor by which a time budget grows after each block in which it was too short to measure.
_LONGER = 4.0
#: Largest factor of a time budget.
_LONGEST = 64.0

#: Returns whether a platform's processor is emulated; None if this is unknown.
Emulates = Callable[[str], bool | None]


class History:
    """The records of a run, and their consequences for the rest of the plan.

    - `exact`: simulated platforms, on which a repeated trial has the same values.
    - `control`: the baseline under a second name, whose cases end together with the baseline's.
    - `answered`: returns whether the run's records answer the run's question. It is called at the
      planned looks (interim analyses).
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
        self._plan = plan
        self._exact = frozenset(exact)
        self._baseline = baseline
        self._control = control
        self._answered = answered
        self._looked_at: dict[int, bool] = {}
        self._blocks: dict[int, list[Trial]] = defaultdict(list)
        self._cells: dict[Case, dict[str, CaseRecords]] = defaultdict(dict)
        for trial in plan:
            self._blocks[trial.block].append(trial)
            self._cells[trial.case].setdefault(trial.platform, CaseRecords()).planned += 1
        self.records: dict[int, Record] = {}
        self._emulated: dict[str, bool] = {}
        self._decided: dict[tuple[int, Case], str] = {}
        self._spent_s: dict[int, float] = defaultdict(float)

    def add(self, record: Record) -> None:
        """Add a record; raises StoreError if another version of bareline planned it."""
        trial = record.trial
        if not self._is_planned(trial):
            raise StoreError(
                f"trial {trial.index} of the run ({trial.case.label} on {trial.platform})"
                " differs from the trial that this "
                "version of bareline plans at this place",
                hint="continue with the bareline that began the run, or measure into a new folder",
            )
        if isinstance(record.outcome, Measured):
            self._emulated[trial.platform] = "emulated-cpu" in record.caveats
            # Without samples that no decision looks at.
            wanted = self.wanted(trial.case.probe)
            samples = tuple(sample for sample in record.outcome.samples if sample.metric in wanted)
            record = replace(record, outcome=Measured(samples))
        self.records[trial.index] = record
        self._cell_of(trial).add(record)
        self.spent(record)

    def _is_planned(self, trial: Trial) -> bool:
        if trial.index >= len(self._plan):
            return False
        planned = self._plan[trial.index]
        return planned.platform == trial.platform and planned.case == trial.case

    def _cell_of(self, trial: Trial) -> CaseRecords:
        return self._cells[trial.case][trial.platform]

    def spent(self, record: Record) -> None:
        """Add the duration of a launch to the time of its block, even if the launch is repeated."""
        self._spent_s[record.trial.block] += record.duration_s

    @property
    def has_time(self) -> bool:
        """Whether the time budget, if there is one, is not used up."""
        budget_s = self._study.budget_s
        return not budget_s or sum(self._spent_s.values()) < budget_s

    def wanted(self, probe: str) -> Collection[str]:
        """Return the metrics of a probe that decisions use; all other values can be dropped."""
        measured = self._study.find_probe(probe)
        if self._study.precision_of(measured.layer) > 0:
            return (measured.headline,)
        return ()

    def blocks(self) -> Iterator[Sequence[Trial]]:
        """Yield the plan block by block."""
        return (self._blocks[block] for block in range(self._study.launches))

    def blocks_done(self) -> int:
        """Return how many blocks at the beginning of the plan are complete."""
        complete = 0
        for block in sorted(self._blocks):
            left = self._without_record(self._blocks[block])
            begun = len(left) < len(self._blocks[block])
            if not begun or not all(map(self.unneeded, left)):
                break
            complete = block + 1
        return complete

    def _without_record(self, trials: Iterable[Trial]) -> list[Trial]:
        return [trial for trial in trials if trial.index not in self.records]

    def unneeded(self, trial: Trial) -> str:
        """Return why a trial is no longer needed; empty if it is needed.

        Precision, time budget and looks (interim analyses) end a case on all platforms at once, so
        that its blocks stay complete. Of trials that repeat exactly, only the first is needed.
        """
        cell = self._cell_of(trial)
        if trial.platform in self._exact and cell.measured_before(trial.block):
            return "a simulation repeats exactly"
        if cell.absent_since is not None and cell.absent_since < trial.block:
            return "its program is not installed"
        enough = self._study.emulated_launches
        emulates = partial(self._emulates, trial)
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
        """Return the look (interim analysis) up to `block` that answered the question, or None."""
        if self._answered is None:
            return None
        for look in (self._study.looks or [])[:-1]:
            if look > block:
                return None
            if look not in self._looked_at:
                # If trials of later blocks exist, the look gave no answer; they must not decide.
                went_on = any(record.trial.block >= look for record in self.records.values())
                self._looked_at[look] = not went_on and self._answered()
            if self._looked_at[look]:
                return look
        return None

    def _meets_emulation(self, trial: Trial, emulates: Emulates) -> bool:
        """Return whether an emulated processor would be compared with a real one.

        Also true for the baseline and its control, if every other platform of the case emulates.
        """
        if self._baseline is None or emulates(self._baseline) is not False:
            return False
        if self._study.find_probe(trial.case.probe).layer not in PROCESSOR_LAYERS:
            return False
        twice = {self._baseline, self._control}
        if trial.platform not in twice:
            return emulates(trial.platform) is True
        compared = self._cells[trial.case].keys() - twice
        return bool(compared) and all(map(emulates, compared))

    def _emulates(self, trial: Trial, platform: str) -> bool | None:
        """Return whether a platform's processor was emulated in earlier blocks; None if unknown."""
        cell = self._cells[trial.case].get(platform)
        record = cell.measured_before(trial.block) if cell else None
        return None if record is None else "emulated-cpu" in record.caveats

    def _decide(self, block: int, case: Case) -> str:
        earlier = self._decided.get((block - 1, case))
        if earlier:
            return earlier
        budget_s = self._study.budget_s
        is_required = block < self._study.required_launches
        if budget_s and not is_required and self._spent_until(block) >= budget_s:
            return _BUDGET_USED
        if self._is_precise(block, case):
            return "the target precision is reached"
        return ""

    def _is_precise(self, block: int, case: Case) -> bool:
        """Whether a case has reached the study's target precision on all platforms."""
        probe = self._study.find_probe(case.probe)
        target = self._study.precision_of(probe.layer)
        if not target or block < MIN_LAUNCHES:
            return False
        from bareline.stats import reached

        for platform, cell in self._cells[case].items():
            if platform in self._exact or platform == self._control:
                continue
            values = cell.values_before(block, probe.headline)
            if values is None:
                continue  # only failures: more trials give no new information
            if len(values[0]) < MIN_LAUNCHES or not reached(values, target).all():
                return False
        return True

    def hopeless(self, trial: Trial) -> str:
        """Return why a trial would only exceed its time limit again; empty if it may work."""
        before = list(self._cell_of(trial).before(trial.block))
        latest = [_failed_stage(record) for record in before[-_TIMEOUTS_IN_A_ROW:]]
        given_up = latest[-1:] == [Stage.GIVEN_UP]
        if given_up or latest == [Stage.TIMEOUT] * _TIMEOUTS_IN_A_ROW:
            return f"not started: it timed out {_TIMEOUTS_IN_A_ROW} times in a row"
        return ""

    def budgets(self, trial: Trial) -> float:
        """Return the factor of a case's time budget; each budget that was too short raises it."""
        short: set[int] = set()
        for cell in self._cells[trial.case].values():
            for record in cell.before(trial.block):
                if _failed_stage(record) is Stage.BUDGET:
                    short.add(record.trial.block)
        return min(_LONGER ** len(short), _LONGEST)

    def eta_s(self, block: int, platforms: Allocations, pause_s: float) -> float | None:
        """Estimate the time in s from a block to the end of the run; None before anything is known.

        `platforms` estimates the times to start; `pause_s` is the mean time between two trials.
        """
        mean_s = self._mean_s()
        if mean_s is None:
            return None
        going = [trial for trial in self._blocks[block] if not self.unneeded(trial)]
        left = self._without_record(going)
        left_s = sum(self.expected_s(trial, mean_s) for trial in left)
        repeated = [trial for trial in going if self._is_repeated(trial)]
        whole = self._later_block(repeated, mean_s)
        less = self._later_block(self._without_emulation(repeated), mean_s)
        whole_blocks, less_blocks = self._later_blocks(block, left_s, whole.seconds, less.seconds)
        total_s = left_s + whole_blocks * whole.seconds + less_blocks * less.seconds
        pauses = len(left) + whole_blocks * whole.trials + less_blocks * less.trials
        for name in self._platforms():
            last = block + whole_blocks
            if name in less.platforms:
                last += less_blocks
            total_s += platforms.coming_up_s(name, block)
            total_s += platforms.again_s(name) * platforms.renewals(name, block, last)
        return total_s + pause_s * pauses

    def _mean_s(self) -> float | None:
        """Return the mean duration of the recorded trials in s; None without any."""
        seconds = 0.0
        count = 0
        for cells in self._cells.values():
            for cell in cells.values():
                seconds += cell.seconds
                count += len(cell.records)
        return seconds / count if count else None

    def _platforms(self) -> set[str]:
        return set().union(*self._cells.values())

    def _is_repeated(self, trial: Trial) -> bool:
        """Whether later blocks repeat the trial; a simulation and most profiles run only once."""
        if trial.platform in self._exact:
            return False
        return self._cell_of(trial).planned > trial.block + 1

    def _without_emulation(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        """Return the trials that are repeated even after the last launch on emulated processors."""
        if not self._study.emulated_launches:
            return trials
        emulates = self._emulated.get
        return [trial for trial in trials if not self._meets_emulation(trial, emulates)]

    def _later_block(self, trials: Sequence[Trial], mean_s: float) -> _LaterBlock:
        """Return the mean of the later blocks, of which only some may repeat a trial.

        - `mean_s`: the time of a trial whose case has no record yet.
        """
        count = 0.0
        seconds = 0.0
        for trial in trials:
            later_blocks = self._study.launches - trial.block - 1
            with_the_case = self._cell_of(trial).planned - trial.block - 1
            share = with_the_case / later_blocks
            count += share
            seconds += share * self.expected_s(trial, mean_s)
        return _LaterBlock(count, seconds, frozenset(trial.platform for trial in trials))

    def _later_blocks(
        self, block: int, left_s: float, whole_s: float, less_s: float
    ) -> tuple[int, int]:
        """Estimate how many blocks follow a block that still has `left_s` to run.

        First come blocks that take `whole_s`, then blocks without emulation that take `less_s`.
        """
        planned = self._study.launches - block - 1
        whole = min(planned, max(0, self._study.emulated_launches - block - 1))
        budget_s = self._study.budget_s
        if not budget_s:
            return whole, planned - whole
        required = max(0, self._study.required_launches - block - 1)
        budget_s -= self._spent_until(block + 1) + left_s
        if whole_s > 0:
            affordable = math.ceil(budget_s / whole_s)
            whole = min(whole, max(required, affordable))
        less = planned - whole
        if less_s > 0:
            affordable = math.ceil((budget_s - whole * whole_s) / less_s)
            less = min(less, max(0, required - whole, affordable))
        return whole, less

    def expected_s(self, trial: Trial, first_s: float = 0.0) -> float:
        """Return the mean time of earlier trials of a trial's case; `first_s` if there are none."""
        cell = self._cell_of(trial)
        if not cell.records:
            return first_s
        return cell.seconds / len(cell.records)

    def _spent_until(self, block: int) -> float:
        return sum(spent_s for number, spent_s in self._spent_s.items() if number < block)

    def tally(self) -> TrialCounts:
        """Return the numbers of planned, finished and unneeded trials."""
        statuses = Counter(map(counted_as, self.records.values()))
        saved = 0
        not_run = 0
        blocks_had = None
        for number, block in enumerate(self.blocks()):
            reasons = [self.unneeded(trial) for trial in self._without_record(block)]
            cut = reasons.count(_BUDGET_USED)
            needed = reasons.count("")
            if cut and blocks_had is None:
                blocks_had = number
            not_run += cut
            saved += len(reasons) - cut - needed
            if needed:
                break  # the need of later blocks depends on this one
        return TrialCounts(
            planned=len(self._plan),
            measured=statuses["measured"],
            failed=statuses["failed"],
            skipped=statuses["skipped"],
            saved=saved,
            on=frozenset(record.trial.platform for record in self.records.values()),
            blocks_had=blocks_had,
            not_run=not_run,
        )


@dataclass(frozen=True, slots=True)
class _LaterBlock:
    """The mean number of trials and mean time of the blocks that follow, and their platforms."""

    trials: float
    seconds: float
    platforms: frozenset[str]


def _failed_stage(record: Record) -> Stage | None:
    return record.outcome.stage if isinstance(record.outcome, Failed) else None


def counted_as(record: Record) -> str:
    """Return the name of the field of `TrialCounts` that counts a record."""
    return "skipped" if record.skipped else record.status
