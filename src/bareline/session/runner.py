"""The runner: execute a plan trial by trial and record every outcome once.

Trials run one after another, so that platforms that share hardware never disturb each other. A
platform that is not in use is suspended. Finished trials stay recorded even if the runner is
killed, and `execute` on the same run continues with the next trial.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from bareline.host.cache import remove_abandoned_scratch
from bareline.host.load import read_load
from bareline.host.owner import owner_mark
from bareline.platforms.base import Allocation, exact_among
from bareline.platforms.hosts.process import kill_abandoned
from bareline.profile.launch import under_profiler
from bareline.session.allocations import Allocations, platforms_to_build
from bareline.session.disturbance import DisturbanceWatch
from bareline.session.history import History
from bareline.session.judge import Failures, JudgedOutput, judge_output
from bareline.session.looks import answers_its_question
from bareline.session.machine import Machine
from bareline.session.meter import Meter
from bareline.session.origin import declare_today, platforms_of, study_of
from bareline.session.pauses import (
    Pauses,
    foreign_load,
    terminated_like_interrupted,
    wait_for_allowed_hours,
)
from bareline.session.placement import Placements
from bareline.session.platform_failure import failure_of
from bareline.session.sources import Sources
from bareline.session.speeds import remeasure_changed_speeds
from bareline.session.submission import runs_in_job
from bareline.session.trial_counts import TrialCounts
from bareline.store.raw import shortened
from bareline.store.run import Run
from bareline.store.run_files import now
from bareline.study.plan import make_plan
from bareline.vocabulary.errors import (
    BuildError,
    LimitReached,
    Stopped,
    StoreError,
    TimeUp,
    ToolMissing,
)
from bareline.vocabulary.limits import NO_LIMITS, Limits
from bareline.vocabulary.message_codes import code_of
from bareline.vocabulary.model import (
    TRIAL_VARIABLE,
    Command,
    Failed,
    Measured,
    Output,
    Record,
    Stage,
    Trial,
)
from bareline.vocabulary.units import listing

#: Longest total of the kept outputs of failed trials, as a faulty program may print without end.
GARBAGE_CHARACTERS = 64 << 20


class Observer(Protocol):
    """The receiver of the events of a run."""

    def begin(self, planned: int, done: int) -> None:
        """Report that the run starts, or continues after `done` trials."""

    def note(self, platform: str, text: str) -> None:
        """Report an event of a platform, such as its start or the replacement of a node."""

    def trial(self, trial: Trial, position: int, eta_s: float | None) -> None:
        """Report that a trial starts.

        - `position`: the trial's number, from 1.
        - `eta_s`: expected time to the end of the run in s, or None.
        """

    def repeat(self, trial: Trial, number: int, of: int) -> None:
        """Report that a trial is measured again, as the `number`-th of `of` repeats."""

    def finished(self, record: Record) -> None:
        """Report that a trial was recorded."""

    def skipped(self, count: int, reason: str) -> None:
        """Report that trials are no longer needed."""

    def failing(self, failure: str) -> bool:
        """Report that a program fails on every platform; return whether to continue."""


def execute(
    run: Run,
    observer: Observer,
    *,
    retry_failed: bool = False,
    anyway: bool = False,
    limits: Limits | None = None,
) -> TrialCounts:
    """Run every trial of a run that has no record yet.

    - `retry_failed`: also run failed trials again; the new record of each counts.
    - `anyway`: also continue on a machine that differs from the machine of the earlier trials.
    - `limits`: limits that replace the limits of the run.

    Raises StoreError: ``run.toml`` was changed, so that the rest would belong to another plan; or
        the run directory cannot be written.
    Raises TimeUp: the job in which bareline runs ends.
    Raises OtherMachine: another machine, or another version of bareline, measured earlier trials.
    Raises Stopped: a program fails on every platform, and the observer ends the run.
    Raises LimitReached: the run may not use more core hours.
    """
    if run.header.edited:
        raise StoreError(
            "run.toml was changed after the run began, so that the plan would be different",
            where=f"{run.path}/run.toml",
            hint="take run.toml from a copy of the run, or measure again into a new folder",
        )
    return Runner(run, observer, limits or NO_LIMITS, anyway=anyway).execute(
        retry_failed=retry_failed
    )


class Runner:
    """The execution of the rest of a run's plan."""

    def __init__(self, run: Run, observer: Observer, limits: Limits, *, anyway: bool) -> None:
        study = study_of(run)
        platforms = platforms_of(run)
        self._run = run
        self._study = study
        self._observer = observer
        self._specs = {spec.name: spec for spec in platforms}
        self._plan = make_plan(study, platforms, seed=run.header.seed)
        self._history = History(
            study,
            self._plan,
            exact_among(platforms),
            run.header.baseline,
            run.header.control,
            answered=partial(answers_its_question, run),
        )
        self._failures = Failures(self._plan)
        self._meter = Meter(run, platforms, study.max_core_hours)
        # Each limit replaces all limits of its kind that the run was begun with.
        self._meter.lift(limits.max_core_hours)
        begun = [study.not_between, *(spec.limits.not_between for spec in platforms)]
        self._hours = begun if limits.not_between is None else [limits.not_between]
        self._machine = Machine(run, self._note, anyway=anyway)
        self._allocations = Allocations(
            run,
            platforms,
            self._plan,
            observer.note,
            self._machine,
            self._meter,
            blocks_per_boot=study.blocks_per_boot,
            native=platforms_to_build(study, self._plan),
        )
        self._placements = Placements(self._allocations)
        self._sources = Sources(self._allocations.update_facts, self._note)
        self._watch = DisturbanceWatch(self._note)
        self._repeat: tuple[int, int] | None = None
        self._between = Pauses()
        self._skipped: Counter[str] = Counter()
        self._garbage_left = GARBAGE_CHARACTERS

    def execute(self, *, retry_failed: bool) -> TrialCounts:
        """Run every trial that has no record yet."""
        with self._run.writing(), terminated_like_interrupted() as self._go_on, self._allocations:
            declare_today(self._run)
            attempts: dict[int, int] = {}
            finished = self._run.finished(self._history.wanted)
            for index, record in finished.items():
                if retry_failed and record.status == "failed":
                    attempts[index] = record.attempt
                else:
                    self._history.add(record)
                    self._failures.add(record)
            self._allocations.remember(finished)
            self._machine.remember(finished.values())
            self._meter.load()
            kill_abandoned()
            remove_abandoned_scratch()
            self._observer.begin(len(self._plan), len(self._history.records))
            for block in self._history.blocks():
                self._run_block(block, attempts)
            self._tell_skipped()
            remeasure_changed_speeds(self._run, self._study, self._note, self._again)
            return self._history.tally()

    def _note(self, platform: str, text: str) -> None:
        self._allocations.note(platform, text)

    def _run_block(self, block: Sequence[Trial], attempts: Mapping[int, int]) -> None:
        for trial in block:
            if trial.index in self._history.records:
                continue
            reason = self._history.unneeded(trial)
            if reason:
                self._skipped[reason] += 1
                continue
            self._tell_skipped()
            record = self._measure(trial, attempts.get(trial.index, 0) + 1)
            self._run.append(record)
            self._history.add(record)
            self._between.begin()
            self._observer.finished(record)
            self._watch.see(record)
            failure = self._failures.add(record)
            if failure and not self._observer.failing(failure):
                raise Stopped(f"stopped because {trial.case.probe} has failed on every platform")

    def _tell_skipped(self) -> None:
        """Report in one event the trials that the latest blocks did not need."""
        if self._skipped:
            reasons = listing(sorted(self._skipped))
            self._observer.skipped(self._skipped.total(), reasons)
            self._skipped.clear()

    def _measure(self, trial: Trial, attempt: int) -> Record:
        self._see_limits(trial)
        self._go_on()
        self._machine.begin()
        record = self._run_trial(trial, attempt)
        self._machine.keep()
        if record.status == "failed":
            self._go_on()  # a signal to bareline may also have ended the trial
        self._meter.ran(trial.platform, record.duration_s)
        return record

    def _again(self, trial: Trial, attempt: int, repeat: tuple[int, int]) -> Record | None:
        """Measure a trial again; None if the time budget is used up or the trial failed."""
        if not self._history.has_time:
            return None
        self._repeat = repeat
        record = self._measure(self._plan[trial.index], attempt)
        self._history.spent(record)
        return record if isinstance(record.outcome, Measured) else None

    def _see_limits(self, trial: Trial) -> None:
        """Wait until trials may begin; raises LimitReached, or TimeUp if a wait costs node time."""

        def wait(closed: str, until: str) -> None:
            if runs_in_job(self._run):
                raise TimeUp(f"{closed}, and waiting until {until} would keep the nodes idle")
            self._allocations.give_back()
            self._allocations.note(trial.platform, f"{closed}: waiting until {until}")

        with self._between.apart():
            wait_for_allowed_hours(self._hours, wait)
        left_s = self._meter.left_s(trial.platform)
        if left_s <= 0 or left_s < self._history.expected_s(trial):
            raise self._limit_reached()

    def _limit_reached(self) -> LimitReached:
        return LimitReached(self._meter.limit_words(self._history.tally().remaining))

    def _run_trial(self, trial: Trial, attempt: int) -> Record:
        job = self._job(trial)
        seen = self._placements.of(trial)
        self._between.end()
        self._announce(trial)
        started = now()
        clock_start = time.monotonic()
        if isinstance(job, Failed):
            judged = JudgedOutput(job)
        else:
            judged = self._launch(trial, *job)
            self._allocations.forward_events(trial.platform)
        if judged.output is not None:
            self._run.write_raw(trial, self._worth_keeping(judged), attempt)
        return Record(
            trial=replace(trial, layout=seen.layout),
            outcome=judged.outcome,
            started=started,
            duration_s=round(time.monotonic() - clock_start, 6),
            caveats=(*seen.caveats, *judged.caveats),
            clock=judged.output.clock if judged.output else "wall",
            attempt=attempt,
            session=self._machine.session,
            boot=None if isinstance(job, Failed) else self._allocations.boot(trial.platform),
            foreign_cores=judged.foreign_cores,
        )

    def _announce(self, trial: Trial) -> None:
        if self._repeat is not None:
            self._observer.repeat(trial, *self._repeat)
            return
        left_s = self._history.eta_s(trial.block, self._allocations, self._between.mean_s)
        self._observer.trial(trial, len(self._history.records) + 1, left_s)

    def _worth_keeping(self, judged: JudgedOutput) -> Output:
        """Return the output to store; shorten it if the trial failed, to limit a run's size."""
        assert judged.output is not None
        if isinstance(judged.outcome, Measured):
            return judged.output
        most = self._garbage_left // 4
        output = replace(
            judged.output,
            stdout=shortened(judged.output.stdout, most),
            stderr=shortened(judged.output.stderr, most),
        )
        self._garbage_left -= len(output.stdout) + len(output.stderr)
        return output

    def _job(self, trial: Trial) -> tuple[Allocation, Command] | Failed:
        """Start a trial's platform before the timed part; return the platform and the command."""
        hopeless = self._history.hopeless(trial)
        if hopeless:
            return Failed(Stage.GIVEN_UP, hopeless)
        with self._between.apart():
            allocation = self._allocations.ready(trial)
        if isinstance(allocation, Failed):
            return allocation
        assert trial.layout is not None, "a plan lays every case out"
        try:
            budgets = self._history.budgets(trial)
            command = self._study.command_of(trial.case, trial.layout, budgets=budgets)
            if trial.case.profile:
                command = under_profiler(command, self._study.trace_bytes(trial.case))
            command = self._specs[trial.platform].furnish(command)
            mark = ((TRIAL_VARIABLE, f"{owner_mark()}-{self._run.id}-{trial.index}"),)
            command = replace(command, env=command.env + mark)
            source = self._study.source_of(trial.case.probe)
            with self._between.apart():
                if source is not None:
                    where = self._specs[trial.platform], allocation
                    command = self._sources.furnish(trial.case.probe, source, *where, command)
                allocation.prepare(command)
                self._placements.see(trial, allocation, command)
        except StoreError:
            raise
        except Exception as error:
            return self._failure(trial, error)
        return allocation, command

    def _launch(self, trial: Trial, allocation: Allocation, command: Command) -> JudgedOutput:
        assert trial.layout is not None
        helpers_s = allocation.helpers_s()
        load = None if helpers_s is None else read_load()
        timeout_s = min(trial.timeout_s, self._meter.left_s(trial.platform))
        try:
            output = allocation.run(command, trial.layout, timeout_s=timeout_s)
        except StoreError:
            raise
        except TimeUp as error:
            self._allocations.forward_events(trial.platform)
            self._allocations.note(trial.platform, str(error))
            raise
        except Exception as error:  # a third party's platform may raise any error
            return JudgedOutput(self._failure(trial, error))
        if output.timed_out and timeout_s < trial.timeout_s:
            self._meter.ran(trial.platform, timeout_s)  # it has no record, but used core hours
            raise self._limit_reached()
        busy, caveats = foreign_load(load, helpers_s, allocation)
        if output.clock == "simulated":
            caveats = ()  # other programs do not change a simulated clock
        self._allocations.broke(trial.platform, broken=False)
        self._allocations.count_startup_failures(trial.platform, output.caveats)
        judged = self._judged(trial, output)
        outcome = judged.outcome
        if isinstance(outcome, Failed) and outcome.stage is Stage.BUDGET and busy:
            reason = f"{outcome.reason}; other programs kept {busy:.1f} cores of this machine busy"
            outcome = replace(outcome, reason=reason)
        codes = (*allocation.caveats(trial.layout), *output.caveats, *judged.caveats, *caveats)
        return replace(
            judged, outcome=outcome, caveats=tuple(dict.fromkeys(codes)), foreign_cores=busy
        )

    def _judged(self, trial: Trial, output: Output) -> JudgedOutput:
        """Judge an output, and store the facts that the program reported about the platform."""
        judged = judge_output(
            self._study.find_probe(trial.case.probe),
            self._study.params_of(trial.case),
            output,
            trial.timeout_s,
            profile=trial.case.profile,
            facts=self._allocations.facts(trial.platform),
        )
        if isinstance(judged.outcome, Measured):
            self._allocations.update_facts(trial.platform, judged.facts)
        return replace(judged, output=output)

    def _failure(self, trial: Trial, error: Exception) -> Failed:
        if isinstance(error, ToolMissing | BuildError):
            stage = Stage.ABSENT if isinstance(error, ToolMissing) else Stage.REQUIRE
            return Failed(stage, str(error), code_of(error))
        reason = failure_of(error)
        self._allocations.broke(trial.platform, broken=True)
        return Failed(Stage.PLATFORM, reason, code_of(error))
