"""Steal time: the processor time that a hypervisor took from a node during a program."""

from __future__ import annotations

from dataclasses import dataclass

#: Half of the default margin of a verdict: from here on, stolen time can change one.
STEAL_LIMIT = 0.01
_LEAST_TICKS = 2  # one tick of 10 ms may be rounding


@dataclass(frozen=True, slots=True)
class StealReading:
    """Processor ticks of a node since its boot.

    - `stolen`: ticks in which the node wanted to run and the hypervisor ran something else.
    - `wanted`: ticks in which it ran or wanted to: all but idle ones.
    """

    stolen: int
    wanted: int

    @property
    def since_boot(self) -> float:
        """Share of the wanted time that was stolen since boot."""
        return self.stolen / self.wanted if self.wanted else 0.0


def parse_stat(text: str) -> StealReading | None:
    """Read the first line of ``/proc/stat``; None where the kernel does not count steal time."""
    words = text.split("\n", 1)[0].split()
    ticks = [int(word) for word in words[1:] if word.isdecimal() and len(word) < 20]
    if not words or words[0] != "cpu" or len(ticks) < 8 or len(ticks) != len(words) - 1:
        return None
    user, nice, system, _idle, _iowait, irq, softirq, stolen = ticks[:8]
    return StealReading(stolen, user + nice + system + irq + softirq + stolen)


def steal_ratio(before: StealReading | None, after: StealReading | None) -> float | None:
    """Return the share of the wanted time that was stolen between two readings."""
    if before is None or after is None:
        return None
    stolen, wanted = after.stolen - before.stolen, after.wanted - before.wanted
    if stolen < _LEAST_TICKS or wanted <= 0:
        return 0.0
    return stolen / wanted


def steal_caveats(before: StealReading | None, after: StealReading | None) -> tuple[str, ...]:
    """Return the caveat of a trial that ran between two readings, if it deserves one."""
    ratio = steal_ratio(before, after)
    return ("steal-time",) if ratio is not None and ratio > STEAL_LIMIT else ()
