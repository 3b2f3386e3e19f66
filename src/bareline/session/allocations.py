"""The platforms of a run: start them, let one platform measure at a time, restart and end them.

The start of a platform is an event of the run with a duration; the durations in the records of
trials do not contain it. After an unexpected error of a platform, its trials fail, and the run
continues.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, count
from typing import Any, Self

from bareline.host.cache import cache_folder, scratch_folder
from bareline.platforms.base import Allocation, Context, Platform, load_platform_types
from bareline.platforms.hosts.allocation import mentions
from bareline.session.machine import Machine
from bareline.session.meter import Meter, price_facts
from bareline.session.platform_failure import failure_of, reason_of
from bareline.session.variants import build_facts
from bareline.store.run import Run
from bareline.study.plan import largest_layout
from bareline.study.study import Study
from bareline.vocabulary.caveats import STARTUP_REPEATED
from bareline.vocabulary.errors import NotNow, StoreError, TimeUp
from bareline.vocabulary.events import CAME_UP, MADE_AGAIN
from bareline.vocabulary.instructions import BLAS_KERNELS
from bareline.vocabulary.message_codes import code_of
from bareline.vocabulary.model import Failed, Record, Scalar, Stage, Trial
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import format_duration

#: A platform is started again after this number of successive trials in which it broke.
_BREAKS_IN_A_ROW = 2
#: A broken platform is started again at most this number of times in a session.
_MOST_REPAIRS = 3
#: Pauses between the first tries to acquire a platform that may come back by itself.
_PAUSES_S = (2.0, 8.0)
#: Pause before later trials try to acquire the platform again, doubled each time up to the longest.
_LATER_S = 30.0
_LONGEST_S = 960.0


#: Beginnings of the keys of facts that only programs on the platform report.
_STARTUP_FAILURES = "mpi.startup_failures"
_BY_PROGRAMS = (
    *(BLAS_KERNELS, "native.", "mpi.library", "mpi.carrier.", "placement.", "from."),
    _STARTUP_FAILURES,
)


def platforms_to_build(study: Study, plan: Sequence[Trial]) -> set[str]:
    """Return the platforms on which a plan runs bareline's own programs."""
    platforms = set()
    for name, case in {(trial.platform, trial.case) for trial in plan}:
        if case.profile or mentions(study.command_of(case), "native"):
            platforms.add(name)
    return platforms


class Allocations:
    """The platforms of a run; each is acquired at its first use, and `__exit__` ends them all.

    - `tell`: called with a platform and an event of this platform.
    - `machine`: compares each platform with its state in earlier sessions of the run.
    - `blocks_per_boot`: the number of blocks after which a platform that boots (virtual machines)
      is started again; 0 means never.
    - `native`: the platforms on which bareline's own programs run.
    """

    def __init__(
        self,
        run: Run,
        platforms: Sequence[PlatformSpec],
        plan: Sequence[Trial],
        tell: Callable[[str, str], None],
        machine: Machine,
        meter: Meter,
        *,
        blocks_per_boot: int,
        native: Collection[str] = (),
    ) -> None:
        self._run = run
        self._specs = {spec.name: spec for spec in platforms}
        self._layouts = {name: largest_layout(plan, name) for name in self._specs}
        self._tell = tell
        self._machine = machine
        self._meter = meter
        self._blocks_per_boot = blocks_per_boot
        self._to_build = set(native)
        self._stacks: dict[str, ExitStack] = {}
        self._current: dict[str, Allocation | Failed] = {}
        self._epochs: dict[str, int] = {}
        self._resumed: str | None = None
        self._breaks: Counter[str] = Counter()
        self._repairs: Counter[str] = Counter()
        self._boots: dict[str, int] = {}
        self._coming_up_s: dict[str, float] = {}
        self._tries: Counter[str] = Counter()
        self._again_at: dict[str, float] = {}
        self._facts: dict[str, dict[str, Scalar]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as stack:
            for name in list(self._stacks):
                stack.callback(self._end, name)

    def remember(self, records: Mapping[int, Record]) -> None:
        """Read from the records of earlier sessions how often each platform has booted."""
        for record in records.values():
            name = record.trial.platform
            self._boots[name] = max(self._boots.get(name, 0), record.boot or 0)

    # In use ------------------------------------------------------------------------------------

    def ready(self, trial: Trial) -> Allocation | Failed:
        """Start a trial's platform and suspend the other platforms.

        Return the allocation of the started platform, or the failure of its start.
        """
        name = trial.platform
        epoch = self._epoch(name, trial.block)
        if name in self._current and self._must_end(name, epoch):
            self._end(name)
        if name not in self._current:
            self._current[name] = self._bring_up(name, epoch)
        allocation = self._current[name]
        if isinstance(allocation, Failed):
            return allocation
        try:
            self._resume(name, allocation)
        except (StoreError, TimeUp):
            raise
        except Exception as error:
            return Failed(Stage.PLATFORM, failure_of(error), code_of(error))
        return allocation

    def _must_end(self, name: str, epoch: int) -> bool:
        """Whether a platform must be started again.

        The reasons are: the platform is broken; the number of its blocks per boot is used up (a new
        epoch begins); or its start failed, and the pause before the next try is over.
        """
        if self._epochs.get(name) != epoch:
            return True
        if self._is_broken(name):
            self.note(name, f"broke {_BREAKS_IN_A_ROW} times in a row: {MADE_AGAIN}")
            self._repairs[name] += 1
            return True
        again_at = self._again_at.get(name, math.inf)
        return time.monotonic() >= again_at or (again_at < math.inf and self._waits(name))

    def _resume(self, name: str, allocation: Allocation) -> None:
        """Let one platform use the machine, and suspend every other platform."""
        if self._resumed != name:
            self._suspend_all()
            allocation.resume()
            self._resumed = name

    def boot(self, name: str) -> int | None:
        """Return how often a platform has started, from 1; None if its nodes stay the same."""
        return self._boots.get(name) if self._is_new_each_time(name) else None

    def broke(self, name: str, *, broken: bool) -> None:
        """Count the consecutive trials in which the platform itself broke.

        - `broken`: whether it broke in this trial; a trial without failure resets the count.
        """
        self._breaks[name] = self._breaks[name] + 1 if broken else 0

    def count_startup_failures(self, name: str, caveats: Collection[str]) -> None:
        """Count launches that the platform failed to start and that were repeated."""
        if STARTUP_REPEATED in caveats:
            before = self._facts.get(name, {}).get(_STARTUP_FAILURES, 0)
            self.update_facts(name, {_STARTUP_FAILURES: int(before) + 1})

    def forward_events(self, name: str) -> None:
        """Report the events that a platform has collected about its nodes."""
        allocation = self._current.get(name)
        if isinstance(allocation, Allocation):
            for text in allocation.events():
                self.note(name, text)

    def give_back(self) -> None:
        """Return borrowed nodes before a long pause; the next trial acquires them again."""
        lent = [name for name in self._current if self._type(name).borrows]
        for name in lent:
            self._end(name)

    # Facts -------------------------------------------------------------------------------------

    def facts(self, name: str) -> Mapping[str, Scalar]:
        """Return the facts of a platform; empty if it never started."""
        return self._facts.get(name, {})

    def update_facts(self, name: str, facts: Mapping[str, Scalar]) -> None:
        """Add the facts that a program reports to the facts of its platform."""
        earlier = self._facts.get(name, {})
        if facts.items() <= earlier.items():
            return
        self._facts[name] = {**earlier, **facts}
        self._run.write_facts(name, self._facts[name], self._machine.session)

    def _describe(self, name: str, allocation: Allocation) -> None:
        """Write a platform's facts to the run, and compare them with earlier sessions."""
        kind = self._type(name)
        spec = self._specs[name]
        facts = allocation.facts()
        # A platform whose helpers use this machine's time runs on it; a simulated one does not.
        here = allocation.helpers_s() is not None and not kind.exact
        self._machine.check_unchanged(name, facts, here=here, named=not kind.borrows)
        facts = {**build_facts(spec, allocation), **facts}
        try:
            before = self._run.facts(self._machine.number).get(name, {})
        except StoreError:
            before = {}  # A damaged file: it is written again.
        by_programs = {key: before[key] for key in before if key.startswith(_BY_PROGRAMS)}
        chosen = {f"environment.{key}": text for key, text in spec.environment}
        price = price_facts(spec.limits, facts, allocation.cores)
        self._facts[name] = {**by_programs, **chosen, **facts, **price}
        self._run.write_facts(name, self._facts[name], self._machine.session)

    # How long it takes -------------------------------------------------------------------------

    def coming_up_s(self, name: str, block: int) -> float:
        """Estimate the time in s until a platform has started for a block; 0 if it is running.

        The estimate is the shortest start of a platform of this type in this session, because the
        first start may include building an image.
        """
        same = self._epochs.get(name) == self._epoch(name, block)
        stays = name in self._current and same and not self._is_broken(name)
        return 0.0 if stays else self.again_s(name)

    def again_s(self, name: str) -> float:
        """Estimate the time in s to start a platform again; 0 if no such platform has started."""
        kind = self._specs[name].type
        times_s = [s for other, s in self._coming_up_s.items() if self._specs[other].type == kind]
        return min(times_s, default=0.0)

    def renewals(self, name: str, block: int, last: int) -> int:
        """Return how often a platform is started again between `block` and the block `last`."""
        return self._epoch(name, last) - self._epoch(name, block)

    # Coming and going --------------------------------------------------------------------------

    def _type(self, name: str) -> type[Platform[Any]]:
        return load_platform_types()[self._specs[name].type]

    def _is_new_each_time(self, name: str) -> bool:
        kind = self._type(name)
        return kind.boots or kind.borrows

    def _epoch(self, name: str, block: int) -> int:
        if not self._blocks_per_boot or not self._type(name).boots:
            return 0
        return block // self._blocks_per_boot

    def _is_broken(self, name: str) -> bool:
        return self._breaks[name] >= _BREAKS_IN_A_ROW and self._repairs[name] < _MOST_REPAIRS

    def _bring_up(self, name: str, epoch: int) -> Allocation | Failed:
        self._suspend_all()
        self._breaks[name] = 0
        self._epochs[name] = epoch
        self._tell(name, "coming up")
        started = time.monotonic()
        pauses = self._pauses_s(name, started)
        while True:
            try:
                allocation = self._acquire(name)
                self._describe(name, allocation)
                break
            except StoreError:
                raise
            except TimeUp as error:
                self.note(name, str(error))
                raise
            except Exception as error:  # a platform of a third party may raise anything
                reason = failure_of(error)
                self._end(name)
                self.note(name, f"did not come up: {reason}", time.monotonic() - started)
                failure = Failed(Stage.ACQUIRE, reason, code_of(error))
                if not isinstance(error, NotNow):
                    self._again_at.pop(name, None)
                    return failure
            pause_s = next(pauses, None)
            if pause_s is None:
                return self._give_up_for_now(name, failure)
            self._tell(name, f"tried again in {pause_s:.3g} s")
            time.sleep(pause_s)
        self._again_at.pop(name, None)
        self._tries[name] = 0
        self._came_up(name, time.monotonic() - started)
        self._resumed = name
        return allocation

    def _came_up(self, name: str, seconds: float) -> None:
        """Store the time that a platform took to start, and count its boots."""
        self._coming_up_s[name] = seconds
        if self._is_new_each_time(name):
            self._boots[name] = self._boots.get(name, 0) + 1
            unit = "boot" if self._type(name).boots else "allocation"
            text = f"{CAME_UP} {format_duration(seconds)} ({unit} {self._boots[name]})"
            self.note(name, text, seconds)

    def _waits(self, name: str) -> bool:
        """Whether trials wait up to `queue_s` for this platform.

        They wait if the platform is the only one of the run, and its options include `queue_s`.
        """
        return len(self._specs) == 1 and hasattr(self._specs[name].options, "queue_s")

    def _pauses_s(self, name: str, started: float) -> Iterator[float]:
        ends = started + getattr(self._specs[name].options, "queue_s", math.inf)
        pauses: Iterable[float] = _PAUSES_S
        if self._waits(name):
            pauses = chain(_PAUSES_S, map(_later_s, count()))
        for pause_s in pauses:
            left_s = ends - time.monotonic()
            if left_s <= 0:
                return
            yield min(pause_s, left_s)

    def _give_up_for_now(self, name: str, failure: Failed) -> Failed:
        """Go on without a platform that failed to start; later trials try again after a pause."""
        later_s = _later_s(self._tries[name])
        self._tries[name] += 1
        self._again_at[name] = time.monotonic() + later_s
        self.note(name, f"tried again after {format_duration(later_s)}, or by `bareline continue`")
        return failure

    def _acquire(self, name: str) -> Allocation:
        kind = self._type(name)
        spec = self._specs[name]
        if name in self._to_build and kind.borrows:  # nodes cost as long as they are reserved
            self._to_build.discard(name)
            built = kind.build_ahead(spec, cache_folder())
            if built:
                self.note(name, built)
        stack = ExitStack()
        self._stacks[name] = stack
        scratch = stack.enter_context(scratch_folder(name))
        platform = kind(spec, Context(scratch))
        allocation = stack.enter_context(platform.acquire(self._layouts[name]))
        self._meter.begin(name, allocation.cores, lent=platform.borrows)
        for text in allocation.events():
            self.note(name, text)
        return allocation

    def _end(self, name: str) -> None:
        self._current.pop(name, None)
        if self._resumed == name:
            self._resumed = None
        stack = self._stacks.pop(name, None)
        if stack is None:
            return
        try:
            stack.close()
        except Exception as error:
            self.note(name, f"did not end cleanly: {reason_of(error)}")
        self._meter.end(name)

    def _suspend_all(self) -> None:
        for name, allocation in self._current.items():
            if not isinstance(allocation, Allocation):
                continue
            try:
                allocation.suspend()
            except StoreError:
                raise
            except Exception as error:
                self.note(name, f"cannot be suspended: {reason_of(error)}")
        self._resumed = None

    def note(self, name: str, text: str, seconds: float | None = None) -> None:
        """Report an event of a platform, and record it in the run."""
        self._tell(name, text)
        if seconds is not None:
            seconds = round(seconds, 3)
        self._run.append_event(name, text, seconds)


def _later_s(tries: int) -> float:
    """Return the pause in s before a platform is tried again, after `tries` earlier pauses."""
    return min(_LATER_S * 2.0**tries, _LONGEST_S)
