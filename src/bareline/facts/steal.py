"""Steal time: the processor time that a hypervisor took from a node during a program."""

from __future__ import annotations

from dataclasses import dataclass

#: Half of the default margin of a verdict: from here on, stolen time can change one.
STEAL_LIMIT = 0.01
_LEAST_TICKS = 2  # one tick of 10 ms may be rounding
#: Kinds of time in the line, up to the stolen one.
_KINDS = 8
#: A longer number cannot be a number of ticks.
_MOST_DIGITS = 20


@dataclass(frozen=True, slots=True)
class StealReading:
    """The number of processor ticks of a node since its boot.

    - `stolen`: ticks in which the node had work and the hypervisor ran something else.
    - `wanted`: ticks in which the node ran or had work: all ticks except idle ones.
    """

    stolen: int
    wanted: int

    @property
    def since_boot(self) -> float:
        """The share of the wanted time that was stolen since the boot of the node."""
        return self.stolen / self.wanted if self.wanted else 0.0


def parse_stat(text: str) -> StealReading | None:
    """Read the first line of ``/proc/stat``; None if the kernel does not count stolen time."""
    words = text.partition("\n")[0].split()
    ticks = [int(word) for word in words[1:] if word.isdecimal() and len(word) < _MOST_DIGITS]
    is_whole = len(ticks) >= _KINDS and len(ticks) == len(words) - 1
    if not is_whole or words[0] != "cpu":
        return None
    user, nice, system, _idle, _iowait, irq, softirq, stolen = ticks[:_KINDS]
    return StealReading(stolen, user + nice + system + irq + softirq + stolen)


def steal_ratio(before: StealReading | None, after: StealReading | None) -> float | None:
    """Return the share of the wanted time that was stolen between two readings."""
    if before is None or after is None:
        return None
    stolen = after.stolen - before.stolen
    wanted = after.wanted - before.wanted
    if stolen < _LEAST_TICKS or wanted <= 0:
        return 0.0
    return stolen / wanted


def steal_caveats(before: StealReading | None, after: StealReading | None) -> tuple[str, ...]:
    """Return the caveats of a trial between two readings; empty if little time was stolen."""
    ratio = steal_ratio(before, after)
    return ("steal-time",) if ratio is not None and ratio > STEAL_LIMIT else ()
