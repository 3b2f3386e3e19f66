"""The cloud of these tests is a real one: what is asked of it happens."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from plane import CLOUD

from bareline.testing.bench import until


def _make(user, name, **more):
    network = user.network.find_network("private")
    return user.compute.create_server(
        name=name,
        image_id=user.image.find_image("stand-in").id,
        flavor_id=user.compute.find_flavor(more.pop("flavor", "small")).id,
        networks=more.pop("networks", [{"uuid": network.id}]),
        **more,
    )


def test_four_instances_are_active_and_answer(plane, tmp_path):
    user = plane.user
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    user.compute.create_keypair(name="k", public_key=key.with_suffix(".pub").read_text())
    made = [_make(user, f"s{number}", key_name="k") for number in range(4)]
    active = [user.compute.wait_for_server(one, interval=0.2) for one in made]
    options = ["-i", key, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    for server in active:
        address = server.addresses["private"][0]["addr"]
        said = subprocess.run(
            ["ssh", *options, f"root@{address}", "hostname"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.stdout.strip() == server.name, said.stderr
    assert len(plane.left()) == 4 + 4 + 1
    plane.clear()
    assert plane.left() == []


@pytest.mark.slow
@pytest.mark.usefixtures("_may_run")
def test_nothing_outlives_who_started_it(tmp_path):
    """The killed one is between: this test, it, and the cloud."""
    between = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    words = [*CLOUD, str(tmp_path / "plane")]
    with subprocess.Popen(
        [sys.executable, "-c", between, *words], stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline().endswith("clouds.yaml\n")
        assert len(_running(str(tmp_path))) > 4
        killed.kill()
    until(lambda: len(_running(str(tmp_path))) == 0, timeout_s=60)


def _running(word):
    """List the processes whose command line has a word."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found
