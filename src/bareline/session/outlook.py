"""The expected duration of a plan, from earlier runs on this machine or declared budgets.

A run's wall time is the sum of its trials' durations and of the gaps between them. If a case was
launched here before, the estimate comes from its earlier trials and their spread. Otherwise it
comes from the time budgets that the case's parameters declare; an undisturbed machine needs only a
part of a budget.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

import numpy as np

from bareline.session.machine import host_of_today
from bareline.store.naming import RUNS, list_runs
from bareline.store.run import Run
from bareline.study.study import Study
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import Case, Layer, Record, Trial
from bareline.vocabulary.units import format_duration, percent

#: Number of earlier runs that are read, the latest first.
_MOST_RUNS = 12
#: Larger records are not read.
_MOST_BYTES = 16 << 20
#: Time of bareline itself between two trials, where no gap was measured, in s.
_BETWEEN_S = 0.1
#: Time that a launch takes to start, where no launch was measured, in s.
_START_S = 0.3
#: Longest gap between two trials in s; after a longer gap, a user had continued the run.
_LONGEST_GAP_S = 60.0
#: Share of a declared budget that is used: least, usual and most, with warm-up and ends.
_USED_LOW = 0.2
_USED = 0.6
_USED_HIGH = 1.5
#: Factor by which the times of a machine may differ from day to day.
_DAYS = 1.15


@dataclass(frozen=True, slots=True)
class WallTime:
    """The expected duration of a plan, with its uncertainty.

    - `known`: the share of the trials whose case was launched here before; the times of all other
      trials are estimated from declared budgets.
    - `undeclared`: probes that were not launched here before and declare no budget. They are left
      out, so that the time is a lower bound.
    """

    middle_s: float
    lo_s: float
    hi_s: float
    known: float
    undeclared: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.undeclared:
            names = ", ".join(self.undeclared)
            least = f"at least {format_duration(self.lo_s)}: " if self.lo_s >= 1 else ""
            return f"{least}nothing is known of {names}, which did not run here before"
        about = f"about {format_duration(self.middle_s)}"
        span = f"{format_duration(self.lo_s)} to {format_duration(self.hi_s)}"
        if self.known >= 1:
            source = "as in earlier runs here"
        elif self.known > 0:
            source = f"{percent(round(self.known, 2))} of the trials as in earlier runs here"
        else:
            source = "by declared time budgets"
        return f"{about} ({span}), {source}"

    @property
    def brief(self) -> str:
        """The usual duration as a text; if probes are left out, the lower bound."""
        if self.undeclared:
            return f"at least {format_duration(self.lo_s)}"
        return f"about {format_duration(self.middle_s)}"

    def then(self, other: WallTime) -> WallTime:
        """Return the time of this plan followed by another one."""
        middle_s = self.middle_s + other.middle_s
        seen = 1.0
        if middle_s:
            seen = (self.known * self.middle_s + other.known * other.middle_s) / middle_s
        return WallTime(
            middle_s=middle_s,
            lo_s=self.lo_s + other.lo_s,
            hi_s=self.hi_s + other.hi_s,
            known=seen,
            undeclared=tuple(dict.fromkeys((*self.undeclared, *other.undeclared))),
        )


@dataclass(frozen=True, slots=True)
class _TrialTime:
    """The short, usual and long duration of a trial, in s."""

    low_s: float
    middle_s: float
    high_s: float


#: A launch of an MPI probe without a budget: its start.
_ONE_START = _TrialTime(0.2, 0.6, 3.0)


@dataclass(frozen=True, slots=True)
class Earlier:
    """The times of earlier runs on this machine.

    - `trials`: durations in s by platform and case.
    - `gaps`: times between trials in s.
    """

    trials: Mapping[tuple[str, Case], Sequence[float]] = field(default_factory=dict)
    gaps: Sequence[float] = ()

    @property
    def gap_s(self) -> float:
        """The typical time between two trials in s."""
        return float(np.median(self.gaps)) if self.gaps else _BETWEEN_S


def earlier_runs(runs: Iterable[Run] | None = None) -> Earlier:
    """Return how long trials took in the latest runs that this machine measured.

    - `runs`: the runs to read; by default all runs in the folder ``runs``.
    """
    trials: dict[tuple[str, Case], list[float]] = defaultdict(list)
    gaps: list[float] = []
    latest = list(list_runs(RUNS) if runs is None else runs)[-_MOST_RUNS:]
    for run in latest:
        with suppress(StoreError):
            if run.records_bytes > _MOST_BYTES or not _measured_here(run):
                continue
            records = list(run.heads().values())
            for record in records:
                trials[record.trial.platform, record.trial.case].append(record.duration_s)
            gaps += _gaps_s(records)
    return Earlier(trials, gaps)


def _measured_here(run: Run) -> bool:
    here = host_of_today()
    hosts = [session.host for session in run.sessions().values()]
    return any(
        host.get("name") == here.get("name") and host.get("processor") == here.get("processor")
        for host in hosts
    )


def _gaps_s(records: Sequence[Record]) -> list[float]:
    """Return the gaps between successive trials, in s."""
    moments = []
    for record in records:
        with suppress(ValueError):
            began = datetime.fromisoformat(record.started).timestamp()
            moments.append((began, began + record.duration_s))
    gaps = [later[0] - before[1] for before, later in pairwise(sorted(moments))]
    return [gap for gap in gaps if 0 <= gap <= _LONGEST_GAP_S]


def wall_time(
    study: Study,
    plan: Sequence[Trial],
    exact: Collection[str] = (),
    earlier: Earlier | None = None,
) -> WallTime:
    """Estimate how long a plan takes from its first trial to its last.

    The time in which platforms boot or wait in a queue is not included, because it is not known
    before. The lower bound is the time of a run that ends as early as the study permits.

    - `exact`: simulated platforms, on which each case is launched only once.
    - `earlier`: times of earlier runs; by default of the runs on this machine.
    """
    past_runs = earlier_runs() if earlier is None else earlier
    plan = [trial for trial in plan if trial.block == 0 or trial.platform not in exact]
    estimates = _Estimates(study, past_runs)
    sure_blocks = _sure_blocks(study)
    middle = 0.0
    low = 0.0
    high = 0.0
    sure = 0
    undeclared: dict[str, None] = {}
    for trial in plan:
        estimate = estimates.time_of(trial)
        if estimate is None:
            undeclared[trial.case.probe] = None
            continue
        middle += estimate.middle_s
        high += estimate.high_s
        if trial.block < sure_blocks:
            low += estimate.low_s
            sure += 1
    limit = study.budget_s or math.inf
    between = past_runs.gap_s * len(plan)
    timed = sum((trial.platform, trial.case) in past_runs.trials for trial in plan)
    return WallTime(
        middle_s=min(middle, limit) + between,
        lo_s=min(low, limit) + past_runs.gap_s * sure,
        hi_s=min(high, limit) + between,
        known=timed / len(plan) if plan else 1.0,
        undeclared=tuple(undeclared),
    )


class _Estimates:
    """The times of a study's trials; each case on a platform is estimated once."""

    def __init__(self, study: Study, earlier: Earlier) -> None:
        self._study = study
        self._earlier = earlier
        self._times: dict[tuple[str, Case], _TrialTime | None] = {}

    def time_of(self, trial: Trial) -> _TrialTime | None:
        """Return the time of a trial; None if nothing is known about it."""
        cell = (trial.platform, trial.case)
        if cell not in self._times:
            durations = self._earlier.trials.get(cell)
            if durations:
                self._times[cell] = _by_earlier(durations)
            else:
                self._times[cell] = _declared(self._study, trial)
        return self._times[cell]


def _sure_blocks(study: Study) -> int:
    """Return the number of blocks of a run that ends as early as the study permits."""
    may_end = study.looks is not None or study.precision != 0
    return study.required_launches if may_end else study.launches


def _by_earlier(durations: Sequence[float]) -> _TrialTime:
    """Return the time of a trial in s from earlier trials."""
    low, middle, high = np.percentile(durations, [10, 50, 90])
    return _TrialTime(float(low) / _DAYS, float(middle), float(high) * _DAYS)


def _declared(study: Study, trial: Trial) -> _TrialTime | None:
    """Estimate a trial's time from the budget that its case declares; None without a budget."""
    params = study.params_of(trial.case)
    duration_s = getattr(params, "duration_s", None)
    if duration_s is not None:
        whole_s = float(duration_s) + _START_S
        return _TrialTime(whole_s, whole_s, whole_s * _USED_HIGH)
    budget_s = getattr(params, "budget_s", None)
    if budget_s is None:
        starts = study.find_probe(trial.case.probe).layer is Layer.MPI
        return _ONE_START if starts else None
    sizes = getattr(params, "sizes", None)
    points = len(sizes()) if callable(sizes) else 1
    whole_s = float(budget_s) * points
    return _TrialTime(
        min(_USED_LOW * whole_s + _START_S, trial.timeout_s),
        min(_USED * whole_s + _START_S, trial.timeout_s),
        _USED_HIGH * whole_s + _START_S,
    )


def wall_time_line(time: WallTime) -> str:
    """Return the wall time as a line for people."""
    return f"wall time: {time}"
