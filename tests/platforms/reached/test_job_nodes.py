"""Nodes that a batch job names, reached by ssh: two real hosts, named as PBS names them."""

from __future__ import annotations

import pytest

from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Layout

pytestmark = pytest.mark.netns


@pytest.fixture
def options(ssh_options, monkeypatch, tmp_path):
    (tmp_path / "nodes").write_text("node2\nnode2\nnode1\nnode1\n")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    return {key: value for key, value in ssh_options.items() if key != "hosts"}


@pytest.mark.mpi
def test_an_mpi_job_runs_on_the_nodes_of_the_job_in_its_order(ssh_cluster, open_bench, options):
    bench = open_bench("job", nodes=2, mpi="openmpi", **options)
    assert [node.name for node in bench.allocation.nodes] == ["node2", "node1"]
    output = bench.shell("hostname", mpi=True, layout=Layout(2))
    assert output.exit_code == 0, output.stderr
    assert len(output.stdout.split()) == 2


def test_a_job_of_fewer_nodes_than_a_layout_wants_is_told(ssh_cluster, acquire, options):
    with (
        raises(PlatformError, "BL-PLATFORMS-689", "3 ", "2 "),
        acquire("job", nodes=3, layout=Layout(3), **options),
    ):
        pass
