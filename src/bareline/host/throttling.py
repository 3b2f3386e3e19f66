"""A count of how often this machine's processors lowered their clocks because of heat."""

from __future__ import annotations

from pathlib import Path

_PROCESSORS = Path("/sys/devices/system/cpu")
_COUNTERS = "cpu*/thermal_throttle/*_throttle_count"


def read_throttles(processors: Path = _PROCESSORS) -> int | None:
    """Return the sum of the kernel's throttling counters; None if there are none, as in guests."""
    total = None
    for counter in processors.glob(_COUNTERS):
        try:
            total = (total or 0) + int(counter.read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
    return total
