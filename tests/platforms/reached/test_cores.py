"""Nodes with different numbers of cores: layouts follow the smallest one, and it is named."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bareline.testing.bench import Bench
from bareline.vocabulary.model import Layout

pytestmark = [pytest.mark.netns, pytest.mark.slow]


def daemons_of(machines, host, name):
    """List the processes of a host by the name of their program."""
    own = Path(f"/proc/{machines.hosts._hosts[host].pid}/ns/pid").readlink()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "ns/pid").readlink() == own and (entry / "comm").read_text() == f"{name}\n":
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.fixture
def small_second_node(ssh_cluster):
    """Yield the second of two hosts one core: what its sshd starts inherits that."""
    machines, _ = ssh_cluster
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("this machine has one core")
    daemons = daemons_of(machines, 1, "sshd")
    assert daemons
    for daemon in daemons:
        os.sched_setaffinity(daemon, cores[:1])
    yield
    for daemon in daemons_of(machines, 1, "sshd"):
        os.sched_setaffinity(daemon, cores)


def test_the_node_that_is_too_small_is_named_once(small_second_node, ssh_options, acquire):
    with acquire("ssh", mpi="openmpi", **ssh_options) as hosts:
        assert [node.cores for node in hosts.nodes][1] == 1
        bench = Bench(hosts, None)
        for layout in (Layout(2, 1, 1), Layout(2, 1, 2), Layout(2, 1, 2)):
            output = bench.run("sh", "-c", "true", mpi=True, layout=layout)
            assert output.exit_code == 0, output.stderr
        (told,) = [text for text in hosts.events() if "cores there" in text]
        assert told == (
            "1 rank of 2 threads on each node need 2 cores, and node2 has 1 core: "
            "they share cores there"
        )
        assert hosts.caveats(Layout(2, 1, 2)) == ("oversubscribed",)
        assert hosts.caveats(Layout(1, 1, 2)) == ()


@pytest.mark.slurm
def test_slurm_starts_more_threads_than_a_node_has_cores(slurm_cluster, acquire):
    options = {"subnet": "10.94.0.0/24", "time_min": 10, "mpi": "openmpi"}
    with acquire("slurm", **options) as hosts:
        output = Bench(hosts, None).run("hostname", mpi=True, layout=Layout(2, 1, 4))
        assert output.exit_code == 0, output.stderr
        assert sorted(re.findall(r"node\d", output.stdout)) == ["node1", "node2"]
