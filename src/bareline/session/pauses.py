"""Handle events between trials: closed hours, a busy machine, pauses, and signals."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from bareline.host.load import (
    BUSY_CORES,
    LoadReading,
    busy_cores,
    busy_words,
    foreign_cores,
    read_load,
    wait_until_quiet,
)
from bareline.platforms.base import Allocation, load_platform_types
from bareline.vocabulary.limits import parse_hours
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import format_duration

#: Longest single sleep in s: if the machine is suspended during a long sleep, the run resumes late.
_LOOK_S = 30.0


def wait_for_allowed_hours(
    every: Iterable[str | None],
    wait: Callable[[str, str], None],
    now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
) -> None:
    """Wait until the time of day is outside of all spans of hours in which no trial may begin.

    - `every`: these spans, each written as ``08:00-18:00``.
    - `wait`: called before each wait with the closed hours and their end, in words. It may return
      nodes that are not needed during the wait, or end the run.
    """
    spans = [text for text in every if text]
    while closed := [(until, text) for text in spans if (until := closed_until(text, now()))]:
        until, text = max(closed)
        zone = f"{until:%Z}, UTC{until:%z}" if f"{until:%Z}" != "UTC" else "UTC"
        wait(f"no trial begins between {text}", f"{until:%H:%M} ({zone})")
        while (left_s := (until - now()).total_seconds()) > 0:
            time.sleep(min(left_s, _LOOK_S))


def closed_until(not_between: str, now: datetime) -> datetime | None:
    """Return when trials may begin again; None if they may begin now.

    - `not_between`: the spans of hours in which no trial may begin, in the time zone of `now`.
    """
    opens = now
    # The end of a span may be inside another span, so check once more for each span.
    for _ in range(not_between.count(",") + 1):
        for begins, ends in parse_hours(not_between):
            clock = opens.time()
            if begins < ends:
                inside = begins <= clock < ends
                later = 0
            else:  # over midnight
                inside = clock >= begins or clock < ends
                later = int(clock >= begins)
            if inside:
                day = opens.date() + timedelta(days=later)
                opens = datetime.combine(day, ends, tzinfo=opens.tzinfo)
    return None if opens == now else opens


#: Take a first reading of this machine's load, so that a later question needs no wait.
look = read_load


def wait_until_idle(
    platforms: Sequence[PlatformSpec],
    began: LoadReading | None,
    wait_s: float | None,
    say: Callable[[str], None],
) -> None:
    """Wait until this machine is idle, if trials run on it; report that it is busy.

    - `wait_s`: the longest time to wait; with None, the busy machine is only reported.
    """
    types = load_platform_types()
    if not any(types[spec.type].here for spec in platforms):
        return
    if wait_s is None:
        cores = busy_cores(began)
        then = "`--wait-quiet` waits until they end"
    else:
        cores = wait_until_quiet(wait_s, lambda cores: say(f"waiting: {busy_words(cores)}"))
        then = f"measured all the same after {format_duration(wait_s)}"
    if cores:
        say(f"{busy_words(cores)}, which disturbs the measurements; {then}")


def foreign_load(
    before: LoadReading | None, helpers_s: float | None, allocation: Allocation
) -> tuple[float | None, tuple[str, ...]]:
    """Return how many cores other programs kept busy since a reading, and caveats.

    The possible caveats are ``busy-machine`` and ``throttled``. If a reading is missing, the number
    is None, and there are no caveats.
    """
    if before is None or helpers_s is None:
        return None, ()
    after = read_load()
    helpers_after_s = allocation.helpers_s()
    if after is None or helpers_after_s is None:
        return None, ()
    cores = foreign_cores(before, after, max(0.0, helpers_after_s - helpers_s))
    # Less than 50 ms of core time may be a rounding of ticks of 10 ms.
    busy = cores > BUSY_CORES and cores * (after.at_s - before.at_s) > 0.05
    caveats = ("busy-machine",) if busy else ()
    if before.throttles is not None and (after.throttles or 0) > before.throttles:
        caveats = (*caveats, "throttled")
    return round(cores, 4), caveats


class Pauses:
    """The time that bareline itself takes between trials.

    The time of code in a ``with`` block of `apart` is not included.
    """

    def __init__(self) -> None:
        self._since: float | None = None
        self._apart_s = 0.0
        self._sum_s = 0.0
        self._count = 0

    @property
    def mean_s(self) -> float:
        """The mean pause in s; 0 before the first pause."""
        return self._sum_s / self._count if self._count else 0.0

    def begin(self) -> None:
        """Begin a pause, because a trial has ended."""
        self._since = time.monotonic()
        self._apart_s = 0.0

    def end(self) -> None:
        """End the pause, because the next trial starts."""
        if self._since is not None:
            self._sum_s += time.monotonic() - self._since - self._apart_s
            self._count += 1

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Exclude the time of a block of code, such as a platform's start, from the pause."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._apart_s += time.monotonic() - began


@contextmanager
def terminated_like_interrupted() -> Iterator[Callable[[], None]]:
    """Let SIGTERM and SIGHUP release platforms as Ctrl-C does.

    Yields a function that raises the interruption again after a signal. It is needed because Python
    drops an exception that no code can catch, for example in a signal handler during a fork.
    """
    received: list[int] = []
    print_dropped = sys.unraisablehook

    def drop(unraisable: sys.UnraisableHookArgs) -> None:
        if not (received and unraisable.exc_type is KeyboardInterrupt):
            print_dropped(unraisable)

    def interrupt(number: int, _frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def go_on() -> None:
        if received:
            raise KeyboardInterrupt

    try:
        before = {
            number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
        }
    except ValueError:  # not in the main thread: the caller handles signals
        yield go_on
        return
    sys.unraisablehook = drop
    try:
        yield go_on
    finally:
        sys.unraisablehook = print_dropped
        for number, handler in before.items():
            signal.signal(number, handler)
