"""A study on bare metal and on real guests of a real cloud, to the comparison; `make cloud`."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from plane import CLOUD, openstack_plane

pytestmark = [pytest.mark.slow, pytest.mark.vm, pytest.mark.timeout(3600)]
PLATFORMS = """\
[platform.bare-pair]
type = "netns"
title = "bare metal: two hosts of this machine"
hosts = 2

[platform.guests]
type = "openstack"
title = "OpenStack: two emulated guests"
cloud = "bareline"
image = "stand-in"
flavor = "small"
ports = ["private"]
instances = 2
config_drive = true
active_s = 600
reach_s = 600
connect_s = 120
"""
STUDY = """\
[study]
name = "cloud"
title = "What an OpenStack cloud with emulated guests costs"
launches = 6
precision = 0
blocks_per_boot = 0

[[measure]]
probe = "net.nuttcp"
params = { duration_s = 1 }

[[measure]]
probe = "mpi.pingpong"
ranks = 2
params = { iterations = 20, warmup = 2, max_bytes = 1024, budget_s = 60 }
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    for program in ("qemu-system-x86_64", "qemu-img", "genisoimage", "mmdebstrap"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("guests") / "image"
    made = [sys.executable, str(Path(CLOUD[1]) / "image.py"), str(folder)]
    subprocess.run(made, check=True)
    return folder


@pytest.fixture(scope="module")
def guests(_may_run, image):
    with openstack_plane("--guests", str(image)) as plane:
        yield plane


def test_a_study_ends_with_a_comparison(guests, tmp_path, capsys):
    (tmp_path / "platforms.toml").write_text(PLATFORMS)
    (tmp_path / "study.toml").write_text(STUDY)
    asked = ["--on", "bare-pair", "--on", "guests", "--platforms", "platforms.toml"]

    def bareline(*words):
        line = [sys.executable, "-m", "bareline", *words]
        done = subprocess.run(
            line, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run = bareline("run", "study.toml", *asked, "--out", "run").splitlines()[-1]
    assert guests.left() == []
    rows = json.loads(bareline("compare", run, "--json"))
    told = [row for row in rows if row["platform"] == "guests" and row["n"] >= 6]
    assert {row["probe"] for row in told} == {"net.nuttcp", "mpi.pingpong"}
    facts = json.loads((tmp_path / "run/facts/guests.json").read_text())
    assert facts["cpu.emulated"] is True and facts["cloud.instances"] == 2
    # An emulated processor sends no message as fast as the machine that emulates it.
    latency = [row for row in told if row["metric"] == "latency"]
    assert latency and all(row["value"] > row["value_baseline"] for row in latency)
    with capsys.disabled():
        most_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        print(bareline("compare", run), f"largest process: {most_mib} MiB", sep="\n")
