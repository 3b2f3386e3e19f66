"""Whether this machine is quiet: before the first trial, waiting until it is, and beside each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import format_duration

#: Others disturb only if they kept cores busy for so long: it is no rounding of ticks of 10 ms.
BUSY_LEAST_S = 0.05

#: Begin to look at this machine's load; what is asked later then needs not wait.
look = read_load


def see_to_quiet(
    platforms: Sequence[PlatformSpec],
    began: LoadReading | None,
    wait_s: float | None,
    say: Callable[[str], None],
) -> None:
    """Say that this machine is busy, or wait until it is not, where trials run on it.

    - `began`: a reading of some time ago.
    - `wait_s`: longest time to wait; None not at all.
    - `say`: takes each line.
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
        say(f"{busy_words(cores)}, which disturbs what is measured; {then}")


def foreign_load(
    before: LoadReading | None, helpers_s: float | None, allocation: Allocation
) -> tuple[float | None, tuple[str, ...]]:
    """Say how many cores others kept busy since a reading, and whether that is a caveat."""
    if before is None or helpers_s is None:
        return None, ()
    after, helpers_after_s = read_load(), allocation.helpers_s()
    if after is None or helpers_after_s is None:
        return None, ()
    cores = foreign_cores(before, after, max(0.0, helpers_after_s - helpers_s))
    busy = cores > BUSY_CORES and cores * (after.at_s - before.at_s) > BUSY_LEAST_S
    return round(cores, 4), ("busy-machine",) if busy else ()
