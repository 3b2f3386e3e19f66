"""Many pretended hosts (see ``benchmarks/fleet_overhead.py``): what a trial costs for each."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

import pytest

from bareline.platforms.hosts.scripts.node_channel import make_room
from bareline.platforms.reached.ssh.platform import SshPlatform
from bareline.testing.bench import open_bench
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Layout

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def overhead(monkeypatch):
    """Yield the benchmark, and the environment back."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = dict(os.environ)
    import fleet_overhead

    yield fleet_overhead
    os.environ.clear()
    os.environ.update(before)
    sys.modules.pop("fleet_overhead")


def test_a_trial_on_many_hosts_starts_one_process(overhead, tmp_path):
    """It was one for each host, and 14 s on 128 of them."""
    count = 24
    calls = overhead.take_places(tmp_path, count)
    with open_bench(
        SshPlatform,
        tmp_path,
        folder=str(tmp_path),
        mpi=f"{tmp_path}/mpirun",
        hosts=(f"n[1-{count}]",),
    ) as bench:
        bench.run("true", mpi=True, layout=Layout(count))
        overhead.counted(calls)
        for _ in range(3):
            assert bench.run("true", mpi=True, layout=Layout(count)).exit_code == 0
        assert overhead.counted(calls) == 3


def test_more_hosts_than_open_files_allow_are_made_room_for_or_refused():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    _, hard = before
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
        make_room(500)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 2000
        make_room(2)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 2000, "it never falls"
        if hard != resource.RLIM_INFINITY:
            with raises(PlatformError, "BL-PLATFORMS-474", str(hard)):
                make_room(hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
