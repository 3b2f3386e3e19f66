"""Clusters of these tests mount and remove nothing of the machine that they run on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from machines import machines

from conftest import need_namespaces

pytestmark = pytest.mark.netns


def test_a_cluster_mounts_and_removes_nothing_of_this_machine():
    """A root is made on a host, with its shared memory bound into it, and removed again."""
    need_namespaces()
    kept = Path(f"/dev/shm/bl-kept-{os.getpid()}")
    kept.write_text("here")
    mounts = Path("/proc/self/mountinfo")
    try:
        with machines(2) as those:
            root = those.folder / "root"
            (root / "dev/shm").mkdir(parents=True)
            assert str(those.folder) not in mounts.read_text()
            for host in (-1, 0, 1):
                place = those.hosts._switch if host < 0 else those.hosts._hosts[host]
                table = Path(f"/proc/{place.pid}/mountinfo").read_text()
                # Neither a peer nor a slave: what is mounted there shows nowhere else.
                assert "shared:" not in table and "master:" not in table
                assert not Path(f"/proc/{place.pid}/root{kept}").exists()
                those.check(host, "mount", "--bind", "/dev/shm", f"{root}/dev/shm")
                those.check(host, "sh", "-c", f"touch {root}/dev/shm/own; rm -rf {root}/dev/shm/*")
                assert str(root) not in mounts.read_text()
                assert kept.read_text() == "here"
        assert not those.folder.exists()
        assert str(those.folder) not in mounts.read_text()
        assert kept.read_text() == "here"
    finally:
        kept.unlink()
