"""Claims: what a dead process left is removed, what a living one uses is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.host.owner import owner_mark
from bareline.platforms.made.vm import leftovers


def die_with_claim(cache, folder, *, bridge=None):
    """Let another process make a claim and be killed."""
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from bareline.platforms.made.vm import leftovers\n"
        "with leftovers.claimed(Path(sys.argv[1]), [Path(sys.argv[2])], bridge=sys.argv[3] or None)"
        " as holder:\n"
        "    holder.add_setting('net.ipv4.ip_default_ttl', sys.argv[4])\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ttl = Path("/proc/sys/net/ipv4/ip_default_ttl").read_text().strip()
    done = subprocess.run(
        [sys.executable, "-c", code, str(cache), str(folder), bridge or "", ttl], check=False
    )
    assert done.returncode == -9


def test_a_dead_process_leaves_nothing_after_clean(tmp_path):
    folder = tmp_path / "bl-vm-dead"
    folder.mkdir()
    (folder / "file").write_text("x")
    die_with_claim(tmp_path / "cache", folder)
    assert folder.exists()
    said = leftovers.clean(tmp_path / "cache")
    assert not folder.exists()
    assert any(str(folder) in line for line in said)
    assert leftovers.clean(tmp_path / "cache") == []


def test_a_living_process_keeps_its_claim(tmp_path):
    folder = tmp_path / "bl-vm-mine"
    folder.mkdir()
    with leftovers.claimed(tmp_path / "cache", [folder]):
        assert leftovers.clean(tmp_path / "cache") == []
        assert folder.exists()
    assert not folder.exists()
    assert list(leftovers.claims_folder(tmp_path / "cache").iterdir()) == []


def test_a_number_that_another_process_got_meanwhile_protects_nothing(tmp_path):
    folder = tmp_path / "bl-vm-old"
    folder.mkdir()
    claims = leftovers.claims_folder(tmp_path / "cache")
    claims.mkdir(parents=True)
    pid, _, host = owner_mark().split("-")
    claim = {"owner": f"{pid}-1-{host}", "folders": [str(folder)], "bridge": None}
    (claims / "bl-vm-old.json").write_text(json.dumps({**claim, "settings": {}}))
    leftovers.clean(tmp_path / "cache")
    assert not folder.exists()


@pytest.mark.netns
@pytest.mark.skipif(os.geteuid() != 0, reason="bridges need root")
@pytest.mark.skipif(shutil.which("ip") is None, reason="iproute2 is not installed")
def test_a_bridge_of_a_dead_process_is_removed(tmp_path):
    name = f"blt{os.getpid()}"
    subprocess.run(["ip", "link", "add", name, "type", "bridge"], check=True)
    try:
        die_with_claim(tmp_path / "cache", tmp_path / "bl-vm-bridge", bridge=name)
        said = leftovers.clean(tmp_path / "cache")
        assert any(name in line for line in said)
        assert subprocess.run(["ip", "link", "show", name], check=False).returncode != 0
    finally:
        subprocess.run(["ip", "link", "delete", name], check=False, capture_output=True)
