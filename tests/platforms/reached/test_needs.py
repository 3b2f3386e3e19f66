"""The nodes' cores, Python and compilers are seen before any node is held."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from test_programs import without
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.doctor.check import Health
from bareline.doctor.nodes import node_checks
from bareline.platforms.reached.slurm import commands
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.session.batch import JobRequest
from bareline.session.node_needs import see_to_nodes
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.message_codes import code_of

pytestmark = pytest.mark.netns

_STUDY = """\
study = { name = "s", launches = 1, precision = 0 }
[[measure]]
probe = "null"
params = { points = 1 }
"""


@pytest.fixture
def checks(tmp_path):
    """Return the checks of one platform by name."""

    def look(name, **options):
        file = tmp_path / "platforms.toml"
        keys = "".join(f"{key} = {value}\n" for key, value in options.items())
        file.write_text(f"[platform.{name}]\n{keys}")
        found = {}
        for check in node_checks([name], file):
            owner, _, what = check.name.partition(": ")
            assert owner == name
            found[what] = check
        return found

    return look


def as_toml(options):
    return {
        "hosts": f'["{options["hosts"][0]}"]',
        "config": f'"{options["config"]}"',
        "agent": f'"{options["agent"]}"',
    }


def test_hosts_are_looked_at_one_by_one(ssh_cluster, ssh_options, checks, monkeypatch):
    found = checks("pair", type='"ssh"', cores_per_node=10_000, **as_toml(ssh_options))
    assert found["cores"].status is Health.WARN
    cores = len(os.sched_getaffinity(0))
    assert f"node[1-2] have {cores} core" in found["cores"].detail
    assert "cores_per_node = 10000" in found["cores"].detail
    assert found["Python"].status is Health.OK
    assert found["build on node1"].status is Health.OK
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    found = checks("pair", type='"ssh"', **as_toml(ssh_options))
    assert found["cores"].status is Health.OK
    assert "/nowhere/python does not start on node[1-2]" in found["Python"].detail


def test_a_host_that_can_build_nothing_is_named(ssh_cluster, ssh_options, checks, monkeypatch):
    monkeypatch.setattr("bareline.platforms.reached.remote.needs.sources_key", lambda _: "0" * 12)
    with without(ssh_cluster[0], {"cmake"}) as config:
        options = {**ssh_options, "config": config, "hosts": ("bare",)}
        found = checks("one", type='"ssh"', **as_toml(options))
    assert found["build on bare"].status is Health.WARN
    assert "no cmake" in found["build on bare"].detail


def test_a_host_that_does_not_answer_is_a_finding(ssh_cluster, ssh_options, checks):
    options = {**as_toml(ssh_options), "hosts": '["nobody.invalid"]', "connect_s": 2}
    (found,) = checks("gone", type='"ssh"', **options).values()
    assert found.status is Health.MISSING


@pytest.mark.slurm
def test_a_job_whose_nodes_lack_its_python_is_not_submitted(slurm_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    study = tmp_path / "s.toml"
    study.write_text(_STUDY)
    line = ["submit", str(study), "--on", "null", "--out", str(tmp_path / "run")]
    file = tmp_path / "platforms.toml"
    file.write_text('[platform.null]\ntype = "null"\n')
    done = CliRunner().invoke(app, [*line, "--platforms", str(file)])
    assert isinstance(done.exception, UsageError), done.output
    assert code_of(done.exception) == "BL-SESSION-180"
    assert "/nowhere/python" in str(done.exception)
    assert not (tmp_path / "run").exists()
    assert commands.ask("squeue", "--noheader", "--states=PENDING,RUNNING").stdout == ""


@pytest.mark.slurm
def test_a_plan_that_is_too_large_for_the_nodes_is_remarked(slurm_cluster):
    options = SlurmOptions(nodes=2, time_min=5)
    request = JobRequest(2, 5, resources=tuple(options.request()))
    assert see_to_nodes(request, options, 2, builds=False) == []
    (remark,) = see_to_nodes(request, options, 3, builds=False)
    assert "has 2 cores, and the plan needs 3 on a node" in remark


@pytest.mark.slurm
def test_a_full_cluster_is_not_looked_at_and_refuses_nothing(slurm_cluster, monkeypatch):
    monkeypatch.setattr("bareline.platforms.reached.slurm.needs._WAIT_S", 1)
    line = ["sbatch", "--parsable", "--nodes=4", "--exclusive", "--output=/dev/null"]
    held = subprocess.run(
        [*line, "--wrap=sleep 60"], capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        request = JobRequest(1, 5, options=("--partition=all",))
        (remark,) = see_to_nodes(request, None, 1, builds=False)
        assert "the nodes were not looked at: no node is free within 1 s" in remark
    finally:
        subprocess.run(["scancel", held], check=True)
        slurm_cluster.wait_idle()


@pytest.mark.slurm
def test_a_request_that_slurm_refuses_is_left_to_sbatch(slurm_cluster):
    request = JobRequest(1, 5, options=("--partition=nonsense",))
    (remark,) = see_to_nodes(request, None, 1, builds=False)
    assert "could not be looked at" in remark


@pytest.mark.slurm
def test_nodes_of_slurm_are_looked_at(slurm_cluster, checks):
    found = checks("slurm", type='"slurm"', nodes=2, time_min=5)
    assert "node[1-4] have 2 cores" in found["cores"].detail
    assert found["Python"].status is Health.OK
    assert commands.ask("squeue", "--noheader", "--states=PENDING,RUNNING").stdout == ""
