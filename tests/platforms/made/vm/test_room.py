"""Memory for guests: what they need with QEMU, and who gives way when it is short."""

from __future__ import annotations

import pytest

from bareline.platforms.made.vm import fleet as room
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

GIB = 1 << 30


class Guests:
    """Guests that take 2 GiB while they are up."""

    def __init__(self, machine, *, paused=True):
        self.machine, self.paused, self.up = machine, paused, True

    def may_end(self):
        return self.up and self.paused

    def end_paused(self):
        self.up = False
        self.machine["available"] += 2 * GIB


@pytest.fixture
def machine(monkeypatch):
    found = {"available": 1 * GIB}
    monkeypatch.setattr(room, "available_bytes", lambda: found["available"])
    return found


def test_emulated_guests_need_more_than_their_memory():
    assert room.needed_bytes(GIB, 2, "tcg") == 2 * (GIB + (640 << 20))
    assert room.needed_bytes(GIB, 1, "kvm") < room.needed_bytes(GIB, 1, "tcg")


def test_paused_guests_give_way_only_as_far_as_needed(machine):
    first, second, third = (Guests(machine) for _ in range(3))
    room.make_room(2 * GIB, [first, second, third])
    assert (first.up, second.up, third.up) == (False, True, True)


def test_guests_in_use_are_never_ended(machine):
    busy = Guests(machine, paused=False)
    with raises(PlatformError, "BL-PLATFORMS-451", "4096 MiB", "768 MiB"):
        room.make_room(4 * GIB, [busy])
    assert busy.up


def test_nothing_ends_while_memory_is_enough(machine):
    machine["available"] = 8 * GIB
    paused = Guests(machine)
    room.make_room(4 * GIB, [paused])
    assert paused.up
