"""Files of all ranks of a job over two nodes of a cluster, of real daemons."""

from __future__ import annotations

import pytest

from bareline.probes.base import find_probe
from bareline.session.judge import judge_output
from bareline.testing.bench import Bench
from bareline.vocabulary.model import Layout, Measured

pytestmark = [pytest.mark.netns, pytest.mark.mpi]
TWO_NODES = Layout(2, 1, 1)


@pytest.fixture(params=["ssh", pytest.param("slurm", marks=pytest.mark.slurm)])
def hosts(request, acquire):
    options = {"subnet": "10.94.0.0/24", "time_min": 10}
    if request.param == "slurm":
        request.getfixturevalue("slurm_cluster")
    else:
        options = request.getfixturevalue("ssh_options")
    with acquire(request.param, layout=TWO_NODES, mpi="openmpi", **options) as allocation:
        yield Bench(allocation, None)


@pytest.mark.slow
def test_ranks_of_two_nodes_read_what_the_other_node_wrote(hosts):
    for name, params in (
        ("io.parallel", {"block_bytes": 1 << 20, "api": "mpiio-collective"}),
        ("io.metadata", {"items": 5, "files": "shared"}),
    ):
        probe = find_probe(name)
        asked = probe.make_params(params)
        command = probe.command(asked, TWO_NODES)
        output = hosts.run(
            *command.argv,
            mpi=True,
            storage_bytes=command.storage_bytes,
            layout=TWO_NODES,
            timeout_s=120,
        )
        outcome = judge_output(probe, asked, output, 120).outcome
        assert isinstance(outcome, Measured), outcome
        assert '"ranks":2,"nodes":2,' in output.stdout
        assert '"one_folder":true' in output.stdout and '"own_readers":0' in output.stdout
