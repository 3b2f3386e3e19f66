"""Memory of this machine for guests: paused guests of other platforms give way when it is short.

A run may keep the guests of many platforms paused, and QEMU takes more than a guest's memory. What
is needed is held against what is available, summed over all platforms of this process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bareline.vocabulary.errors import PlatformError

#: What QEMU takes beside a guest's memory. Under emulation it keeps translated code: a guest of
#: 1 GiB was seen to take 1.5 to 1.7 GB.
_QEMU_BYTES = {"kvm": 160 << 20, "tcg": 640 << 20}
#: What is left to everything else on this machine.
_RESERVE_BYTES = 256 << 20


class Parking(Protocol):
    """A platform's guests, which can be ended while they are paused."""

    def may_end(self) -> bool:
        """Tell whether they are up and nobody uses them."""

    def end_paused(self) -> None:
        """End them; they start anew when they are used again."""


#: The platforms of this process whose guests are up, the one that was used longest ago first.
_PARKING: list[Parking] = []


def enter(parking: Parking) -> None:
    """Take note that a platform's guests are in use now."""
    leave(parking)
    _PARKING.append(parking)


def leave(parking: Parking) -> None:
    """Forget a platform; idempotent."""
    if parking in _PARKING:
        _PARKING.remove(parking)


def needed_bytes(guest_bytes: int, guests: int, accelerator: str) -> int:
    """Estimate what guests take of this machine's memory."""
    return guests * (guest_bytes + _QEMU_BYTES[accelerator])


def available_bytes() -> int:
    """Give what this machine can hand out without swapping."""
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    if match := re.search(r"^MemAvailable:\s+(\d+)", text, re.MULTILINE):
        return int(match[1]) << 10
    raise PlatformError("this kernel does not report the available memory (no MemAvailable)")


def make_room(needed: int, parkings: Sequence[Parking] | None = None) -> None:
    """See that memory is available, and end paused guests until it is."""
    for parking in tuple(_PARKING if parkings is None else parkings):
        if available_bytes() - _RESERVE_BYTES >= needed:
            return
        if parking.may_end():
            parking.end_paused()
    if (available := available_bytes() - _RESERVE_BYTES) < needed:
        raise PlatformError(
            f"the guests need {needed >> 20} MiB with what QEMU takes, {max(0, available) >> 20} "
            "MiB are available",
            where="memory.size_bytes",
            hint="use fewer or smaller guests, or end what else takes memory on this machine",
        )
