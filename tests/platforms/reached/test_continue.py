"""A run in which the cluster fails ends with its reasons, and `continue` completes it."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack

import pytest

from bareline.build.native import ensure_native
from bareline.platforms.localhost.netns import links
from bareline.platforms.reached.remote import allocation as remote_allocation
from bareline.platforms.reached.slurm.platform import SlurmPlatform
from bareline.platforms.reached.ssh import connection as connection_module
from bareline.session import allocations, begin, runner
from bareline.study.study import study_from_toml
from bareline.testing.runs import SilentObserver

pytestmark = [pytest.mark.netns, pytest.mark.mpi]


class After(SilentObserver):
    """Lets something happen when the first trial has ended."""

    def __init__(self, happens):
        self._happens = happens

    def finished(self, record):
        if self._happens is not None:
            self._happens()
        self._happens = None


def make_run(spec, nodes, tmp_path):
    head = {"name": "s", "launches": 3, "precision": 0}
    # Time enough for ranks that spin on fewer cores than they are.
    params = {"iterations": 20, "budget_s": 20}
    measure = {"probe": "mpi.barrier", "params": params, "ranks": nodes, "nodes": nodes}
    measure["timeout_s"] = 60
    study = study_from_toml({"study": head, "measure": [measure]}, where="test")
    return begin.create_run(study, [spec], tmp_path / "run", baseline=spec.name)


def check(run, fail, mend, code=None):
    """Execute a run that fails in its middle; mend the cluster, and go on."""
    runner.execute(run, After(fail))
    first, *others = run.finished().values()
    assert first.status == "measured"
    assert len(others) == 2
    for record in others:
        assert record.status == "failed"
        assert "node2" in record.outcome.reason
        assert code in (None, record.outcome.code)
    mend()
    runner.execute(run, SilentObserver(), retry_failed=True)
    every = run.finished().values()
    failed = [record.outcome.reason for record in every if record.status != "measured"]
    assert len(every) == 3 and not failed
    assert [record.attempt for record in every] == [1, 2, 2]


@pytest.mark.slow
def test_a_run_over_ssh_whose_link_was_cut_is_completed(
    ssh_cluster, ssh_options, make_spec, tmp_path, monkeypatch
):
    monkeypatch.setattr(connection_module, "_ALIVE", ("ServerAliveInterval=1",))
    monkeypatch.setattr(allocations, "_PAUSES_S", (0.1,))
    machines, _ = ssh_cluster
    spec = make_spec("ssh", mpi="openmpi", **{**ssh_options, "connect_s": 2})

    def link(state):
        machines.check(-1, "ip", "link", "set", links.port(1), state)

    try:
        check(make_run(spec, 2, tmp_path), lambda: link("down"), lambda: link("up"))
    finally:
        link("up")


@pytest.mark.slurm
def test_what_can_be_built_is_built_before_nodes_are_held(
    slurm_cluster, make_spec, tmp_path, monkeypatch
):
    held = []

    def build(mpi, cache):
        held.append(subprocess.check_output(["squeue", "-h"], text=True))
        return ensure_native(mpi, cache)

    monkeypatch.setattr(remote_allocation, "ensure_native", build)
    spec = make_spec("slurm", mpi="openmpi", nodes=2, time_min=10, subnet="10.94.0.0/24")
    run = make_run(spec, 2, tmp_path)
    runner.execute(run, SilentObserver())
    assert held == [""]
    assert {record.status for record in run.finished().values()} == {"measured"}


@pytest.mark.slurm
def test_where_nothing_can_be_built_before_that_is_said(make_spec, tmp_path):
    spec = make_spec("slurm", mpi="/nowhere/mpi", nodes=2)
    said = SlurmPlatform.build_ahead(spec, tmp_path)
    assert "/nowhere/mpi" in said and "`bareline build --on slurm`" in said


@pytest.mark.slurm
def test_a_run_in_slurm_whose_node_died_is_completed(slurm_cluster, make_spec, tmp_path):
    options = {"nodes": 4, "queue_s": 2, "time_min": 10, "subnet": "10.94.0.0/24"}
    spec = make_spec("slurm", mpi="openmpi", **options)
    with ExitStack() as stack:

        def fail():
            stack.enter_context(slurm_cluster.dead(1))

        check(make_run(spec, 4, tmp_path), fail, stack.close, "BL-PLATFORMS-870")
