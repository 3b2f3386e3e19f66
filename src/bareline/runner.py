"""The runner: execute a plan trial by trial and record every outcome once.

Trials run one after another, so that platforms that share hardware never disturb each other;
a platform that is not in use is suspended. Whatever ends the runner, what was finished stays
recorded, and `execute` on the same run goes on with the next trial.
"""

from __future__ import annotations

import re
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from bareline.cache import cache_folder, scratch_folder
from bareline.errors import BarelineError, BuildError, ParseError, StoreError, ToolMissing
from bareline.intake import read_again
from bareline.model import (
    TRIAL_VARIABLE,
    Case,
    Failed,
    Measured,
    Output,
    Record,
    Sample,
    Stage,
    Trial,
    format_point,
    parse_point,
)
from bareline.plan import largest_layout, make_plan
from bareline.platforms.base import (
    Allocation,
    Context,
    Platform,
    PlatformSpec,
    load_platform_types,
)
from bareline.platforms.process import kill_marked
from bareline.probes.base import Probe, find_probe
from bareline.profile.trial import under_profiler, why_unprofiled
from bareline.store import Run, now, with_outcome
from bareline.study import FEWEST_LAUNCHES, Study
from bareline.units import listing

#: After so many time-outs in a row a case is not tried again on that platform.
_TIMEOUTS_IN_A_ROW = 2
_TAIL_CHARACTERS = 600


class Observer(Protocol):
    """Who is told how a run goes on."""

    def begin(self, planned: int, done: int) -> None:
        """The run starts, or goes on after `done` trials."""

    def note(self, platform: str, text: str) -> None:
        """Something happened to a platform: it is coming up, a node was replaced."""

    def trial(self, trial: Trial, position: int, eta_s: float | None) -> None:
        """A trial starts; `position` counts from 1."""

    def finished(self, record: Record) -> None:
        """A trial was recorded."""

    def skipped(self, count: int, reason: str) -> None:
        """Trials are not needed any more."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How a run stands.

    Parameters
    ----------
    planned, measured, failed
        Numbers of trials.
    saved
        Trials that adaptive stopping or the budget made unnecessary.
    """

    planned: int
    measured: int
    failed: int
    saved: int

    @property
    def remaining(self) -> int:
        """Trials still to run."""
        return self.planned - self.measured - self.failed - self.saved


class Runner:
    """Executes what is left of a run's plan."""

    def __init__(
        self, run: Run, study: Study, platforms: Sequence[PlatformSpec], observer: Observer
    ) -> None:
        self._run = run
        self._study = study
        self._specs = {spec.name: spec for spec in platforms}
        self._observer = observer
        self._plan = make_plan(study, platforms, seed=run.header.seed)
        self._history = History(study, self._plan)
        self._allocations: dict[str, Allocation | Failed] = {}
        self._resumed: str | None = None

    def execute(self, *, retry_failed: bool = False) -> Tally:
        """Run every trial that has no record yet.

        Parameters
        ----------
        retry_failed
            Also run again what failed; the new record then counts instead of the old one.

        Raises
        ------
        StoreError
            The run directory cannot be written.
        """
        with ExitStack() as stack:
            stack.enter_context(self._run.writing())
            stack.enter_context(_terminated_like_interrupted())
            attempts: dict[int, int] = {}
            for index, record in self._run.finished().items():
                if retry_failed and record.status == "failed":
                    attempts[index] = record.attempt
                else:
                    self._history.add(record)
            kill_marked(f"{self._run.id}-")
            self._observer.begin(len(self._plan), len(self._history.records))
            for block in self._history.blocks():
                self._run_block(block, attempts, stack)
            return self._history.tally()

    def _run_block(
        self, block: Sequence[Trial], attempts: Mapping[int, int], stack: ExitStack
    ) -> None:
        saved, reasons = 0, set()
        for trial in block:
            if trial.index in self._history.records:
                continue
            reason = self._history.unneeded(trial)
            if reason:
                saved += 1
                reasons.add(reason)
                continue
            position = len(self._history.records) + 1
            self._observer.trial(trial, position, self._history.eta_s())
            record = self._run_trial(trial, attempts.get(trial.index, 0) + 1, stack)
            self._run.append(record)
            self._history.add(record)
            self._observer.finished(record)
        if saved:
            self._observer.skipped(saved, listing(sorted(reasons)))

    def _run_trial(self, trial: Trial, attempt: int, stack: ExitStack) -> Record:
        started, clock_start = now(), time.monotonic()
        outcome, caveats, output = self._attempt(trial, stack)
        if output is not None:
            self._run.write_raw(trial, output, attempt)
        return Record(
            trial=trial,
            outcome=outcome,
            started=started,
            duration_s=round(time.monotonic() - clock_start, 6),
            caveats=caveats,
            clock=output.clock if output else "wall",
            attempt=attempt,
        )

    def _attempt(
        self, trial: Trial, stack: ExitStack
    ) -> tuple[Measured | Failed, tuple[str, ...], Output | None]:
        if trial.layout is None:
            return Failed(Stage.LAYOUT, trial.misfit or "does not fit"), (), None
        hopeless = self._history.hopeless(trial)
        if hopeless:
            return Failed(Stage.TIMEOUT, hopeless), (), None
        allocation = self._allocation(trial.platform, stack)
        if isinstance(allocation, Failed):
            return allocation, (), None
        try:
            probe = find_probe(trial.case.probe)
            params = probe.make_params(parse_point(trial.case.params))
            command = probe.command(params, trial.layout)
            if trial.case.profile:
                command = under_profiler(command)
            mark = ((TRIAL_VARIABLE, f"{self._run.id}-{trial.index}"),)
            self._resume(trial.platform)
            output = allocation.run(
                replace(command, env=command.env + mark), trial.layout, timeout_s=trial.timeout_s
            )
        except (ToolMissing, BuildError) as error:
            return Failed(Stage.REQUIRE, str(error)), (), None
        except StoreError:
            raise
        except BarelineError as error:
            return Failed(Stage.PLATFORM, str(error)), (), None
        finally:
            self._tell_events(trial.platform, allocation)
        outcome, caveats = judge_output(
            probe, params, output, trial.timeout_s, profile=trial.case.profile
        )
        noticed = (*allocation.caveats(trial.layout), *output.caveats, *caveats)
        return outcome, tuple(dict.fromkeys(noticed)), output

    def _allocation(self, name: str, stack: ExitStack) -> Allocation | Failed:
        """Bring a platform up at its first use; remember when it does not come up."""
        if name not in self._allocations:
            self._suspend_all()
            self._observer.note(name, "coming up")
            try:
                self._allocations[name] = self._acquire(name, stack)
            except StoreError:
                raise
            except BarelineError as error:
                self._allocations[name] = Failed(Stage.ACQUIRE, str(error))
                self._observer.note(name, f"did not come up: {error}")
                self._run.append_event(name, f"did not come up: {error}")
        return self._allocations[name]

    def _acquire(self, name: str, stack: ExitStack) -> Allocation:
        spec = self._specs[name]
        scratch = stack.enter_context(scratch_folder(f"{self._run.id}-{name}"))
        platform: Platform = load_platform_types()[spec.type](
            spec, Context(scratch=scratch, cache=cache_folder())
        )
        layout = largest_layout(self._plan, name)
        allocation = stack.enter_context(platform.acquire(layout))
        self._tell_events(name, allocation)
        self._run.write_facts(name, allocation.facts())
        self._resumed = name
        return allocation

    def _resume(self, name: str) -> None:
        """Let one platform use the machine, and no other."""
        if self._resumed == name:
            return
        self._suspend_all()
        allocation = self._allocations[name]
        assert isinstance(allocation, Allocation)
        allocation.resume()
        self._resumed = name

    def _suspend_all(self) -> None:
        for allocation in self._allocations.values():
            if isinstance(allocation, Allocation):
                allocation.suspend()
        self._resumed = None

    def _tell_events(self, name: str, allocation: Allocation) -> None:
        for text in allocation.events():
            self._observer.note(name, text)
            self._run.append_event(name, text)


class History:
    """What a run has recorded so far, and what follows from it for the rest of the plan.

    Every decision depends on the plan and on records alone, so that a continued run decides as
    the uninterrupted one would have.
    """

    def __init__(self, study: Study, plan: Sequence[Trial]) -> None:
        self._study = study
        self._plan = plan
        self.records: dict[int, Record] = {}
        self._by_case: dict[Case, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
        self._planned = Counter((trial.platform, trial.case) for trial in plan)
        self._durations: dict[tuple[str, Case], tuple[float, int]] = {}
        self._decided: dict[tuple[int, Case], str] = {}
        self._spent_s: dict[int, float] = defaultdict(float)

    def add(self, record: Record) -> None:
        """Take a record into account."""
        trial = record.trial
        self.records[trial.index] = record
        self._by_case[trial.case][trial.platform].append(record)
        cell = (trial.platform, trial.case)
        seconds, count = self._durations.get(cell, (0.0, 0))
        self._durations[cell] = (seconds + record.duration_s, count + 1)
        self._spent_s[trial.block] += record.duration_s

    def blocks(self) -> Iterator[Sequence[Trial]]:
        """Give the plan block by block."""
        per_block = len(self._plan) // self._study.launches
        for start in range(0, len(self._plan), per_block):
            yield self._plan[start : start + per_block]

    def unneeded(self, trial: Trial) -> str:
        """Say why a trial is not needed any more, or nothing if it is.

        A case ends on all platforms at once, so that its blocks stay complete.
        """
        if trial.block < max(self._study.min_launches, 1):
            return ""
        key = (trial.block, trial.case)
        if key not in self._decided:
            self._decided[key] = self._decide(trial.block, trial.case)
        return self._decided[key]

    def _decide(self, block: int, case: Case) -> str:
        earlier = self._decided.get((block - 1, case))
        if earlier:
            return earlier
        budget_s = self._study.budget_s
        if budget_s and sum(t for b, t in self._spent_s.items() if b < block) >= budget_s:
            return "the time budget is used up"
        return "the target precision is reached" if self._reached(block, case) else ""

    def _reached(self, block: int, case: Case) -> bool:
        probe = find_probe(case.probe)
        target = self._study.precision_of(probe.layer)
        if not target or block < FEWEST_LAUNCHES:
            return False
        from bareline.stats import relative_half_width

        for records in self._by_case[case].values():
            values = _headline_values(records, probe.headline, block)
            if values is None:
                continue  # nothing but failures: more trials tell nothing new
            if len(values[0]) < FEWEST_LAUNCHES:
                return False
            if not bool((relative_half_width(values) <= target).all()):
                return False
        return True

    def hopeless(self, trial: Trial) -> str:
        """Say why a trial would only time out again, or nothing if it may work."""
        recent = [
            record
            for record in self._by_case[trial.case][trial.platform]
            if record.trial.block < trial.block
        ][-_TIMEOUTS_IN_A_ROW:]
        stages = [r.outcome.stage for r in recent if isinstance(r.outcome, Failed)]
        if len(recent) == _TIMEOUTS_IN_A_ROW and stages == [Stage.TIMEOUT] * _TIMEOUTS_IN_A_ROW:
            return f"not started: it timed out {_TIMEOUTS_IN_A_ROW} times in a row"
        return ""

    def eta_s(self) -> float | None:
        """Estimate the time until the plan ends, once something is known."""
        spent = [seconds for seconds, _ in self._durations.values()]
        counts = [count for _, count in self._durations.values()]
        if not counts:
            return None
        mean = sum(spent) / sum(counts)
        total = 0.0
        for cell, planned in self._planned.items():
            seconds, count = self._durations.get(cell, (0.0, 0))
            total += (planned - count) * (seconds / count if count else mean)
        return total

    def tally(self) -> Tally:
        """Count what is planned, done and saved."""
        failed = sum(isinstance(r.outcome, Failed) for r in self.records.values())
        saved = 0
        for block in self.blocks():
            left = [trial for trial in block if trial.index not in self.records]
            unneeded = sum(1 for trial in left if self.unneeded(trial))
            saved += unneeded
            if unneeded < len(left):
                break  # what later blocks need depends on this one
        return Tally(len(self._plan), len(self.records) - failed, failed, saved)


def _headline_values(records: Sequence[Record], metric: str, block: int) -> Any:
    """Stack a metric's values as (points, trials) from trials before a block.

    None when no trial was measured.
    """
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


def judge_output(
    probe: Probe[Any], params: Any, output: Output, timeout_s: float, *, profile: bool = False
) -> tuple[Measured | Failed, tuple[str, ...]]:
    """Turn what a launch printed into samples, or say why it gave none.

    Parameters
    ----------
    profile
        The launch was to be profiled: without its profile it failed.

    Returns
    -------
    tuple
        The outcome and the caveats that the probe sees in the output.
    """
    if output.timed_out:
        return Failed(Stage.TIMEOUT, _with_tail(f"no end after {timeout_s:g} s", output.stderr)), ()
    if output.exit_code < 0:
        return Failed(
            Stage.SIGNAL, _with_tail(f"died by {_signal_name(-output.exit_code)}", output.stderr)
        ), ()
    if output.exit_code > 0:
        text = f"exit code {output.exit_code}"
        if output.exit_code > 128:
            text += f" ({_signal_name(output.exit_code - 128)})"
        return Failed(Stage.EXIT, _with_tail(text, output.stderr)), ()
    try:
        samples: tuple[Sample, ...] = probe.read(params, output)
        caveats = tuple(probe.caveats(params, output))
    except ParseError as error:
        return Failed(Stage.PARSE, _with_tail(str(error), output.stderr)), ()
    except Exception as error:  # a probe of a third party may raise anything
        reason = f"{probe.name} cannot read its output: {type(error).__name__}: {error}"
        return Failed(Stage.PARSE, _with_tail(reason, output.stderr)), ()
    if profile:
        reason = why_unprofiled(output)
        if reason:
            return Failed(Stage.PARSE, _with_tail(f"no profile: {reason}", output.stderr)), ()
        caveats = (*caveats, "profiled")
    return Measured(samples), caveats


def reparse(run: Run, *, only: str | None = None) -> tuple[int, int]:
    """Read the raw output of finished trials again, with the parsers of today.

    Parameters
    ----------
    only
        Only this probe's trials.

    Returns
    -------
    tuple of int
        Number of trials read again, and how many of them came out differently.
    """
    with run.writing():
        records, read, changed = [], 0, 0
        for record in run.records():
            probe_name = record.trial.case.probe
            output = run.read_raw(record.trial, record.attempt)
            if output is None or (only and only != probe_name):
                records.append(record)
                continue
            if run.header.imported:
                new = with_outcome(record, *read_again(record.trial.case, output.stdout))
            else:
                new = _judge_again(record, output)
            read += 1
            changed += new != record
            records.append(new)
        if changed:
            run.replace_records(records)
    return read, changed


def _judge_again(record: Record, output: Output) -> Record:
    """Give a measured trial's record with what its probe reads today."""
    trial = record.trial
    probe = find_probe(trial.case.probe)
    params = probe.make_params(parse_point(trial.case.params))
    old = set(probe.caveats(params, output)) if record.status == "measured" else set()
    outcome, caveats = judge_output(
        probe, params, output, trial.timeout_s, profile=trial.case.profile
    )
    kept = [code for code in record.caveats if code not in old]
    return with_outcome(record, outcome, tuple(dict.fromkeys((*kept, *caveats))))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


#: Launchers frame what they add themselves, such as that a process returned a non-zero exit code.
_FRAMED = re.compile(r"^-{60,}\n.*?\n-{60,}$\n?", re.MULTILINE | re.DOTALL)


def _with_tail(reason: str, stderr: str) -> str:
    """Add the last lines of standard error to a reason: the program's own, if it wrote any."""
    said = _FRAMED.sub("", stderr).strip() or stderr.strip()
    tail = said[-_TAIL_CHARACTERS:].strip()
    return f"{reason}; stderr ends: {tail}" if tail else reason


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM and SIGHUP release platforms as Ctrl-C does."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = {
            number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
        }
    except ValueError:  # not in the main thread: whoever called cares for signals
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
