"""Saved states that are not what was saved: found before a guest starts from them, and told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bareline.platforms.made.vm.states import SavedStates

needs_keys = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")


class Memory:
    """What libvirt writes, without the guest."""

    def saveFlags(self, path: str) -> None:
        Path(path).write_bytes(os.urandom(3 << 20))


@pytest.fixture
def told():
    return []


@pytest.fixture
def states(tmp_path, told):
    for name in ("disk", "initrd"):
        (tmp_path / name).write_bytes(name.encode() * 1000)
    made = SavedStates(tmp_path / "states", told.append)
    for guest in ("g1", "g2"):
        save(made, guest, tmp_path)
    return made


def save(states, guest, folder):
    disk, initrd = folder / "disk", folder / "initrd"
    states.save(guest, Memory(), disk=disk, initrd=initrd, report={"now_s": "1"})


def test_a_whole_state_is_found_with_its_report(states, told):
    found = states.find("g1")
    assert found.report == {"now_s": "1"}
    assert found.initrd.read_bytes() == b"initrd" * 1000
    assert states.find("g3") is None
    assert told == []


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def harms(parts, record):
    """Give every part with every harm; a flipped bit of a record need not change what it says."""
    ways = [(part, harm) for part in parts for harm in (flip, cut, Path.unlink)]
    return pytest.mark.parametrize(("part", "harm"), [*ways, (record, cut), (record, Path.unlink)])


@harms(["memory", "disk.qcow2", "initrd"], "report.json")
def test_a_damaged_state_is_told_once_removed_and_saved_anew(states, told, tmp_path, part, harm):
    harm(states.folder / "g1" / part)
    assert states.find("g1") is None
    assert len(told) == 1
    assert told[0].startswith("the saved state of g1 is damaged and made again: ")
    assert states.find("g1") is None and len(told) == 1
    assert states.find("g2") is not None
    save(states, "g1", tmp_path)
    assert states.find("g1") is not None and len(told) == 1


@needs_keys
@harms(["client", "client.pub", "host", "host.pub"], "keys.json")
def test_states_go_with_the_keys_that_their_guests_know(states, told, part, harm):
    first = states.keys()
    assert states.keys() == first
    assert told == []
    harm(states.folder / "keys" / part)
    again = states.keys()
    assert again != first
    assert len(told) == 1 and told[0].startswith("the keys of saved guests are damaged")
    assert states.find("g1") is None
    assert states.keys() == again and len(told) == 1
