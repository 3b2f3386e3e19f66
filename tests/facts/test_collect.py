"""The script that collects facts runs on the smallest nodes."""

from __future__ import annotations

import os
import platform as host
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline.facts.gather import parse_node, script

_APPLETS = ("sh", "cat", "grep", "head", "id", "ls", "uname", "cut", "tr", "dirname", "df", "ip")


@pytest.mark.skipif(shutil.which("busybox") is None, reason="busybox is not installed")
def test_busybox_is_enough(tmp_path: Path, expect: Callable[..., None]) -> None:
    busybox = shutil.which("busybox")
    assert busybox is not None
    for applet in _APPLETS:
        (tmp_path / applet).symlink_to(busybox)
    done = subprocess.run(
        [str(tmp_path / "sh"), "-s", "--", "localhost", "/tmp"],
        input=script(),
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "not found" not in done.stderr
    facts = parse_node(done.stdout)
    expect(
        facts,
        cpu__logical=os.sysconf("SC_NPROCESSORS_ONLN"),
        kernel__release=host.release(),
        net__device="lo",
    )
    assert {"cpu.cores", "memory.total_bytes", "fs.type", "clock.source"} <= facts.keys()


@pytest.mark.skipif(shutil.which("dash") is None, reason="dash is not installed")
def test_script_is_plain_shell() -> None:
    done = subprocess.run(
        ["dash", "-n"], input=script(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
