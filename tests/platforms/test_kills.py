"""Nothing of a trial is left behind, whenever and however bareline is killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.config import platforms_from_toml
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.platforms.hosts.process import processes_with
from bareline.session import begin
from bareline.study.study import study_from_toml

#: Imports once, then executes the run in a fresh child for every line that it is sent.
ZYGOTE = """
import os, sys
from pathlib import Path
from bareline.session.runner import execute
from bareline.store.run import Run
from bareline.testing.runs import SilentObserver
import bareline.stats, bareline.platforms.localhost.local, bareline.platforms.localhost.netns
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        execute(Run.open(Path(sys.argv[1])), SilentObserver())
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""

TRIALS = {
    "nuttcp": {"probe": "net.nuttcp", "params": {"duration_s": 1}},
    "iperf3": {"probe": "net.iperf3", "params": {"duration_s": 2}},
    "mpi": {"probe": "mpi.pingpong", "ranks": 2, "params": {"budget_s": 0.05}},
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", TRIALS)
@pytest.mark.parametrize(
    ("platform", "kills"),
    [
        pytest.param({"type": "local"}, 5, id="local"),
        pytest.param({"type": "netns"}, 2, id="netns", marks=pytest.mark.netns),
    ],
)
def test_kills_leave_nothing(tmp_path, kind, platform, kills):
    """Three kinds of trial, on this machine and on namespaces; `make faults` kills far more."""
    tool = "mpirun" if kind == "mpi" else kind
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    if platform["type"] == "netns":
        from bareline.platforms.localhost.netns import PLATFORM

        (spec,) = platforms_from_toml({"platform": {"p": platform}}, where="t").values()
        available = PLATFORM.available(spec)
        if not available.ok:
            pytest.skip(available.reason)
    # This machine is one node: what measures between two of them talks to itself there.
    nodes = {"nodes": 1} if platform["type"] == "local" else {}
    study = study_from_toml(
        {
            "study": {"name": "s", "launches": 1000, "precision": 0},
            "measure": [{**TRIALS[kind], **nodes}],
        },
        where="t",
    )
    if kind == "mpi":
        build_native(find_mpi("auto"), cache_folder())  # the kills are meant for the trials
    specs = list(platforms_from_toml({"platform": {"p": platform}}, where="t").values())
    run = begin.create_run(study, specs, tmp_path / "r", baseline="p")
    generator = random.Random(kind)
    with subprocess.Popen(
        [sys.executable, "-c", ZYGOTE, str(run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as zygote:
        for _ in range(kills):
            zygote.stdin.write("go\n")
            zygote.stdin.flush()
            runner = int(zygote.stdout.readline())
            _wait(lambda: processes_with(lambda mark: run.id in mark), 60)
            time.sleep(generator.uniform(0, 1.0))
            os.kill(runner, signal.SIGKILL)
            assert os.WIFSIGNALED(int(zygote.stdout.readline()))
            left = _wait(lambda: not processes_with(lambda mark: run.id in mark), 15)
            assert left, [_describe(pid) for pid in processes_with(lambda mark: run.id in mark)]
        zygote.stdin.close()


def _wait(condition, limit_s):
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def _describe(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:  # noqa: PTH123
            return pid, file.read().replace("\0", " ")
    except OSError:
        return pid, "gone"
