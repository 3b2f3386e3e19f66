"""The load of this machine by programs other than bareline's, and the wait for a quiet machine."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from bareline.host.throttling import read_throttles

#: A machine is not quiet if other programs use more cores than this.
BUSY_CORES = 0.1

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_KERNEL_PARENT = 2
_THREADS_KNOWN_S = 10.0
#: Enough for the first line of /proc/stat, and for the stat file of a process.
_LINE_BYTES = 1024

#: Times in user and kernel mode among the fields after the name: of the process, and of children
#: that it has waited for.
_OWN, _REAPED = slice(11, 13), slice(13, 15)

_threads: tuple[float, tuple[int, ...]] = (0.0, ())


@dataclass(frozen=True, slots=True)
class LoadReading:
    """The processor time of this machine from its boot until the reading, in seconds.

    - `at_s`: time of the reading, on a monotonic clock.
    - `busy_s`: time of all processes and kernel threads, without interrupts and stolen time.
    - `kernel_s`: time of kernel threads, which may work for any process.
    - `own_s`: time of this process and of the children that it has waited for.
    - `throttles`: how often processors lowered their clocks because of heat; None if unknown.
    """

    at_s: float
    busy_s: float
    kernel_s: float
    own_s: float
    throttles: int | None = None


def read_load() -> LoadReading | None:
    """Return the present processor times; None if the kernel does not provide them."""
    try:
        busy_s = parse_busy_s(_start_of("/proc/stat").decode("ascii"))
    except (OSError, ValueError):
        return None
    times = os.times()
    own_s = times.user + times.system + times.children_user + times.children_system
    kernel_s = processor_s(_kernel_threads())
    return LoadReading(time.monotonic(), busy_s, kernel_s, own_s, read_throttles())


def foreign_cores(before: LoadReading, after: LoadReading, helpers_s: float = 0.0) -> float:
    """Return the mean number of cores that other programs used between two readings.

    - `helpers_s`: processor time, between the readings, of long-lived processes that work for a
      trial, such as guests.
    """
    busy_s = after.busy_s - before.busy_s
    ours_s = after.own_s - before.own_s + after.kernel_s - before.kernel_s + helpers_s
    elapsed_s = max(after.at_s - before.at_s, _TICK_S)
    return max(0.0, busy_s - ours_s) / elapsed_s


def parse_busy_s(text: str) -> float:
    """Return the time of all processes, in s, from the text of ``/proc/stat``.

    Raises ValueError: the text does not have the form of Linux's file.
    """
    words = text.split("\n", 1)[0].split()
    if len(words) < 5 or words[0] != "cpu":
        raise ValueError("the file has no line for all processors together")
    user, nice, system = (int(word) for word in words[1:4])
    return (user + nice + system) * _TICK_S


def processor_s(pids: tuple[int, ...]) -> float:
    """Return the processor time that running processes have used so far, in s."""
    return sum(_ticks(pid, _OWN) for pid in pids) * _TICK_S


def orphans_s(pid: int) -> float:
    """Return the processor time of the children of an init process, in s.

    Ended descendants are counted, but not living grandchildren.
    """
    ticks = _ticks(pid, _REAPED)
    with contextlib.suppress(OSError):
        for child in _start_of(f"/proc/{pid}/task/{pid}/children").split():
            ticks += _ticks(int(child), _OWN) + _ticks(int(child), _REAPED)
    return ticks * _TICK_S


def _ticks(pid: int, times: slice) -> int:
    """Return the sum of some time fields of a process, in ticks; 0 if the process has ended."""
    with contextlib.suppress(OSError, ValueError):
        return sum(map(int, _after_name(_start_of(f"/proc/{pid}/stat"))[times]))
    return 0


def _start_of(path: str) -> bytes:
    """Return the beginning of a file in /proc, with only three system calls.

    Every trial waits until hundreds of such files are read.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, _LINE_BYTES)
    finally:
        os.close(descriptor)


def _after_name(stat: bytes) -> list[bytes]:
    """Return the fields after the name of the process in a stat file; a name may contain blanks."""
    return stat.rpartition(b")")[2].split(None, _REAPED.stop)


def _kernel_threads() -> tuple[int, ...]:
    """Return the process numbers of the kernel's threads.

    The list is cached for a while, because it rarely changes.
    """
    global _threads  # noqa: PLW0603 - a cache of the list in /proc
    read_s, pids = _threads
    if pids and time.monotonic() - read_s < _THREADS_KNOWN_S:
        return pids
    found_pids = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                if int(_after_name(_start_of(f"{entry.path}/stat"))[1]) == _KERNEL_PARENT:
                    found_pids.append(int(entry.name))
    _threads = (time.monotonic(), tuple(found_pids))
    return _threads[1]


def memory_bytes() -> int:
    """Return the size of the memory that the kernel manages, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


#: The kernel counts in ticks of 10 ms, so a shorter measurement does not show the load.
_LEAST_S = 0.3
#: Duration of a second measurement, because a short activity may end by itself.
_AGAIN_S = 1.0
#: A machine counts as quiet if it was quiet for this time.
_QUIET_S = 5.0


def busy_cores(since: LoadReading | None) -> float:
    """Return the number of cores that other programs use; 0 if the machine is quiet.

    - `since`: an earlier reading; if it is None, the function takes two readings with a pause
      between them.
    """
    before = since or read_load()
    if before is None:
        return 0.0
    time.sleep(max(0.0, _LEAST_S - (time.monotonic() - before.at_s)))
    cores = cores_since(before)
    if cores > BUSY_CORES:
        cores = _cores_for(_AGAIN_S)
    return cores if cores > BUSY_CORES else 0.0


def wait_until_quiet(most_s: float, tell: Callable[[float], None]) -> float:
    """Wait at most `most_s` until the machine was quiet for some seconds.

    Return 0, or the number of cores still in use if the time is over.

    - `tell`: called about every ten seconds with the number of cores in use by other programs.
    """
    ends = time.monotonic() + most_s
    looks = 0
    while (cores := _cores_for(_QUIET_S)) > BUSY_CORES:
        if time.monotonic() >= ends:
            return cores
        if looks % 2 == 0:
            tell(cores)
        looks += 1
    return 0.0


def busy_words(cores: float) -> str:
    """Return a text about the number of cores that are in use."""
    return f"other programs keep {cores:.1f} of this machine's {os.cpu_count()} cores busy"


def _cores_for(seconds: float) -> float:
    before = read_load()
    time.sleep(seconds)
    return cores_since(before)


def cores_since(before: LoadReading | None) -> float:
    """Return the mean number of cores that other programs used since a reading.

    The result is 0 if the number is unknown.
    """
    after = read_load()
    return foreign_cores(before, after) if before and after else 0.0
