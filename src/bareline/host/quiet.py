"""Whether this machine is quiet before a run begins, and waiting until it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from bareline.host.load import BUSY_CORES, LoadReading, foreign_cores, read_load

#: A shorter look sees ticks of 10 ms, not a load.
_LEAST_S = 0.3
#: What may be a moment's work is looked at again for so long.
_AGAIN_S = 1.0
#: A machine is quiet when it was for so long.
_QUIET_S = 5.0


def busy_cores(since: LoadReading | None) -> float:
    """Give how many cores other programs keep busy; 0 where it is quiet, or nobody can tell.

    - `since`: a reading of some time ago, which then needs not be waited for.
    """
    before = since or read_load()
    if before is None:
        return 0.0
    time.sleep(max(0.0, _LEAST_S - (time.monotonic() - before.at_s)))
    cores = _cores_since(before)
    if cores > BUSY_CORES:
        cores = _cores_for(_AGAIN_S)
    return cores if cores > BUSY_CORES else 0.0


def wait_until_quiet(most_s: float, tell: Callable[[float], None]) -> float:
    """Wait until other programs have let this machine alone for some seconds.

    - `most_s`: longest time to wait.
    - `tell`: called about every ten seconds with the number of cores that others keep busy.
    Gives cores that others kept busy at the end; 0 if it is quiet.
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


def told(cores: float) -> str:
    """Say how busy the machine is."""
    return f"other programs keep {cores:.1f} of this machine's {os.cpu_count()} cores busy"


def _cores_for(seconds: float) -> float:
    before = read_load()
    time.sleep(seconds)
    return _cores_since(before) if before is not None else 0.0


def _cores_since(before: LoadReading) -> float:
    after = read_load()
    return foreign_cores(before, after) if after is not None else 0.0
