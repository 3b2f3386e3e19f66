"""Core hours: the estimate for a plan, the use by a run, and the limits.

Nodes of a batch system or a cloud use core hours from their start until they are returned, even
while they are idle. Any other platform uses core hours only while its trials run.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean

from bareline.platforms.base import load_platform_types
from bareline.store.naming import RUNS, list_runs
from bareline.store.run import Run
from bareline.study.plan import largest_layout
from bareline.study.study import Study
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.facts import PRICE_CURRENCY, PRICE_PER_CORE_HOUR, PRICE_PER_HOUR
from bareline.vocabulary.limits import Terms
from bareline.vocabulary.model import Case, Scalar, Trial
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import HOUR_S, count

#: Shortest time between two writes of the file, in s: a kill loses no more than that.
_WRITE_S = 5.0
#: Number of earlier runs of a study that are read, the latest first.
_MOST_RUNS = 3
#: Larger records are not read.
_MOST_BYTES = 16 << 20


def price_facts(limits: Terms, facts: Mapping[str, Scalar], cores: int) -> dict[str, Scalar]:
    """Return the prices of a node and of a core of a platform as facts; empty without a price."""
    price = limits.price_per_hour
    nodes = facts.get("node.count", 1)
    if price is None or not cores or not isinstance(nodes, int):
        return {}
    prices: dict[str, Scalar] = {PRICE_PER_HOUR: price, PRICE_PER_CORE_HOUR: price * nodes / cores}
    if limits.currency:
        prices[PRICE_CURRENCY] = limits.currency
    return prices


@dataclass(slots=True)
class _Nodes:
    cores: int
    counted_s: float
    lent: bool


class Meter:
    """The core hours of a run by platform, and its limits.

    - `limit`: the maximum of core hours for the whole run, or None. In addition, the spec of each
      platform may contain a limit for this platform.
    """

    def __init__(
        self,
        run: Run,
        platforms: Sequence[PlatformSpec],
        limit: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run
        self._clock = clock
        self._limit = limit
        self._limits = {spec.name: spec.limits.max_core_hours for spec in platforms}
        self._used_s = dict.fromkeys(self._limits, 0.0)
        self._nodes: dict[str, _Nodes] = {}
        self._written_s = -_WRITE_S

    def load(self) -> None:
        """Read the core hours that earlier sessions of the run have used."""
        self._used_s |= self._run.cost() or {}

    def lift(self, limit: float | None) -> None:
        """Replace the limits of the run and of its platforms by `limit`; None keeps them."""
        if limit is not None:
            self._limit = limit
            self._limits = dict.fromkeys(self._limits)

    @property
    def core_hours(self) -> Mapping[str, float]:
        """The core hours used until now, by platform."""
        return {name: used / HOUR_S for name, used in self._used_s.items()}

    # Use -----------------------------------------------------------------------------------------

    def begin(self, name: str, cores: int, *, lent: bool) -> None:
        """Begin to count the core hours of a platform whose nodes have started.

        - `lent`: whether the nodes are borrowed, so that idle nodes also use core hours.
        """
        self._nodes[name] = _Nodes(cores, self._clock(), lent)

    def end(self, name: str) -> None:
        """Stop counting the core hours of a platform whose nodes were returned."""
        self.count()
        self._nodes.pop(name, None)
        self.write()

    def ran(self, name: str, seconds: float) -> None:
        """Count the core hours of a trial that took `seconds`."""
        nodes = self._nodes.get(name)
        if nodes is not None and not nodes.lent:
            self._used_s[name] += nodes.cores * seconds
        self.count()
        if self._clock() - self._written_s >= _WRITE_S:
            self.write()

    def count(self) -> None:
        """Count the core hours of the borrowed nodes up to now."""
        now = self._clock()
        for name, nodes in self._nodes.items():
            if nodes.lent:
                self._used_s[name] += nodes.cores * (now - nodes.counted_s)
            nodes.counted_s = now

    def write(self) -> None:
        """Write the core hours to the run."""
        self._written_s = self._clock()
        self._run.write_cost(self._used_s)

    # Limits --------------------------------------------------------------------------------------

    def left_s(self, name: str) -> float:
        """Return how many seconds a trial may run on a platform before a limit is reached."""
        self.count()
        limits = [({other}, limit) for other, limit in self._limits.items()]
        limits.append((set(self._used_s), self._limit))
        return min(self._left_s(limit, names, name) for names, limit in limits)

    def _left_s(self, limit: float | None, names: set[str], running: str) -> float:
        """Return how many seconds a trial on the platform `running` may take.

        After this time, the platforms `names` together reach `limit`, in core hours.
        """
        if limit is None:
            return float("inf")
        left = limit * HOUR_S - sum(self._used_s.get(name, 0.0) for name in names)
        if left <= 0:
            return 0.0
        rate = 0
        for name, nodes in self._nodes.items():
            if name in names and (nodes.lent or name == running):
                rate += nodes.cores
        return left / rate if rate else float("inf")

    def limit_words(self, left: int) -> str:
        """Return a text about the reached limit, the used core hours and the `left` trials."""
        used = ", ".join(f"{name} {hours:.3g}" for name, hours in self.core_hours.items())
        limits = [f"{name} {most:g}" for name, most in self._limits.items() if most is not None]
        if self._limit is not None:
            limits.insert(0, f"{self._limit:g}")
        return (
            f"the limit of core hours ({', '.join(limits)}) is reached: used {used}; "
            f"{count(left, 'trial')} left"
        )


@dataclass(frozen=True, slots=True)
class CostOutlook:
    """The estimated cost of a platform.

    - `cores`: the number of cores; None if it is not known before the platform starts.
    - `expected_h`: core hours estimated from earlier runs on this machine; without earlier runs,
      estimated from the study's time budget; None if the study has no budget.
    - `most_h`: core hours if every trial took its time limit.
    """

    platform: str
    cores: int | None
    expected_h: float | None
    most_h: float | None

    def __str__(self) -> str:
        if self.cores is None or self.most_h is None:
            return f"{self.platform}: not known before it is up"
        about = "" if self.expected_h is None else f"about {self.expected_h:.2g}, "
        return f"{self.platform} ({self.cores} cores): {about}at most {self.most_h:.2g}"


def outlook(
    study: Study, platforms: Sequence[PlatformSpec], plan: Sequence[Trial]
) -> list[CostOutlook]:
    """Estimate the cost of each platform.

    Borrowed nodes (of a batch system or a cloud) use core hours also during the trials of other
    platforms. All other nodes use core hours only during their own trials.
    """
    types = load_platform_types()
    most_s = _summed(plan, lambda trial: trial.timeout_s)
    expected_s = _expected_s(study, plan)
    outlooks = []
    for spec in platforms:
        kind = types[spec.type]
        cores = kind.cores(spec, largest_layout(plan, spec.name))
        during = list(most_s) if kind.borrows else [spec.name]
        expected_h = _core_hours(cores, expected_s, during)
        most_h = _core_hours(cores, most_s, during)
        outlooks.append(CostOutlook(spec.name, cores, expected_h, most_h))
    return outlooks


def _core_hours(
    cores: int | None, seconds: Mapping[str, float], platforms: Iterable[str]
) -> float | None:
    """Return the core hours of `cores` cores in trials of `platforms`; None if unknown."""
    if cores is None or not seconds:
        return None
    return cores * sum(seconds.get(name, 0.0) for name in platforms) / HOUR_S


def expected_s(study: Study, plan: Sequence[Trial], trials: Sequence[Trial]) -> float | None:
    """Estimate the time in s that some trials of a plan will take; None if it is not known."""
    expected = _expected_s(study, plan)
    if not expected:
        return None
    planned = Counter(trial.platform for trial in plan)
    chosen = Counter(trial.platform for trial in trials)
    return sum(expected[name] * chosen[name] / planned[name] for name in expected)


def _summed(plan: Sequence[Trial], seconds: Callable[[Trial], float]) -> dict[str, float]:
    """Return for each platform the sum of `seconds` over its trials."""
    total: dict[str, float] = defaultdict(float)
    for trial in plan:
        total[trial.platform] += seconds(trial)
    return total


def _expected_s(study: Study, plan: Sequence[Trial]) -> Mapping[str, float]:
    """Estimate the time in s of a plan's trials by platform; empty if it is not known."""
    took = _earlier(study.name)
    if all((trial.platform, trial.case) in took for trial in plan):
        seconds = _summed(plan, lambda trial: took[trial.platform, trial.case])
    elif study.budget_s:
        planned = Counter(trial.platform for trial in plan)
        seconds = {name: study.budget_s * planned[name] / len(plan) for name in planned}
    else:
        return {}
    total_s = sum(seconds.values())
    if not study.budget_s or total_s <= study.budget_s:
        return seconds
    share = study.budget_s / total_s
    return {name: platform_s * share for name, platform_s in seconds.items()}


def _earlier(study: str) -> dict[tuple[str, Case], float]:
    """Return the mean time of a trial in the latest runs of a study here, by platform and case."""
    took: dict[tuple[str, Case], list[float]] = defaultdict(list)
    runs = [run for run in list_runs(RUNS) if run.header.study["study"]["name"] == study]
    for run in runs[-_MOST_RUNS:]:
        with suppress(StoreError):
            if run.records_bytes > _MOST_BYTES:
                continue
            for record in run.heads().values():
                took[record.trial.platform, record.trial.case].append(record.duration_s)
    return {cell: fmean(times) for cell, times in took.items()}


def outlook_lines(rows: Sequence[CostOutlook], limit: float | None) -> list[str]:
    """Return one line about the cost of a plan and its limit of core hours; empty without rows."""
    if not rows:
        return []
    ends = "" if limit is None else f"; it ends at {limit:g}"
    return [f"core hours: {'; '.join(map(str, rows))}{ends}"]
