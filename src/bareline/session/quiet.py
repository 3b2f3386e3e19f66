"""Before the first trial: whether this machine is quiet, and waiting until it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bareline.host.load import LoadReading, busy_cores, busy_words, read_load, wait_until_quiet
from bareline.platforms.base import load_platform_types
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import format_duration

#: Begin to look at this machine's load; what is asked later then needs not wait.
look = read_load


def see_to_quiet(
    platforms: Sequence[PlatformSpec],
    began: LoadReading | None,
    wait_s: float | None,
    say: Callable[[str], None],
) -> None:
    """Say that this machine is busy, or wait until it is not, where trials run on it.

    Parameters
    ----------
    began
        A reading of some time ago.
    wait_s
        Longest time to wait; None not at all.
    say
        Takes each line.
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
