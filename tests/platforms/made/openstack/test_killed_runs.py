"""`bareline run`, killed between a request and its answer, and `platforms clean`; for `make cloud`.

What a killed process leaves at each line of its journal, while the first instance is made, is tried
in test_kills.py, in seconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PLATFORMS = """\
[platform.cloud]
type = "openstack"
cloud = "bareline"
image = "stand-in"
flavor = "small"
ports = ["private"]
placement = "soft-anti-affinity"
instances = 2
"""
STUDY = """\
[study]
name = "few"
launches = 1
precision = 0

[[measure]]
probe = "net.nuttcp"
params = { duration_s = 1 }
"""
#: After which request, carried out and not answered, bareline is killed: service, method, path and
#: how many of them went well before.
STEPS = {
    "second server made": ("compute", "POST", "/servers$", 1),
    "first look": ("compute", "GET", "/servers/[0-9a-f-]{36}$", 0),
    "first server deleted": ("compute", "DELETE", "/servers/", 0),
    "first port deleted": ("network", "DELETE", "/ports/", 0),
    "key pair deleted": ("compute", "DELETE", "/os-keypairs/", 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_left(plane, tmp_path, step):
    service, method, path, before = STEPS[step]
    (tmp_path / "platforms.toml").write_text(PLATFORMS)
    (tmp_path / "study.toml").write_text(STUDY)
    env = {**os.environ, "BARELINE_CACHE": str(tmp_path / "cache")}

    def bareline(*words):
        line = [sys.executable, "-m", "bareline", *words]
        return subprocess.Popen(
            line, env=env, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True
        )

    run = bareline("run", "study.toml", "--on", "cloud", "--platforms", "platforms.toml")

    def kill():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)

    plane.refuse(service, method, path, after=before, meanwhile=kill)
    said = run.communicate(timeout=120)[1]
    assert run.returncode == -signal.SIGKILL, said
    if step != "key pair deleted":
        assert plane.left(), "it was killed before anything was there"
    # Of another bareline's, nothing is touched.
    other = plane.user.compute.create_keypair(name="bareline-another-key", key_type="ssh")
    cleaned = bareline("platforms", "clean")
    said = cleaned.communicate(timeout=120)[1]
    assert cleaned.returncode == 0, said
    assert plane.left() == [f"key pair {other.name}"], said
    assert plane.machines() == []
    assert list(Path("/tmp").glob(f"bareline-{run.pid}-*")) == []
