"""Plug-ins import from the places that the documentation and `bareline new` named before."""

import pytest

from bareline.platforms import hosts, local, nodes
from bareline.platforms.hosts import allocation
from bareline.platforms.hosts import nodes as new_nodes
from bareline.platforms.hosts.launchers import job as new_job
from bareline.platforms.hosts.layers.container import runtimes as new_runtimes
from bareline.platforms.launchers import job
from bareline.platforms.layers.container import runtimes
from bareline.platforms.localhost import local as new_local


@pytest.mark.parametrize(
    ("former", "new"),
    [(local, new_local), (runtimes, new_runtimes), (nodes, new_nodes), (job, new_job)],
    ids=["local", "runtimes", "nodes", "job"],
)
def test_the_former_place_has_the_objects_of_the_new_place(former, new):
    for name in former.__all__:
        assert getattr(former, name) is getattr(new, name)


def test_the_allocation_of_hosts_is_in_its_former_place():
    assert hosts.HostsAllocation is allocation.HostsAllocation
    with pytest.raises(AttributeError, match="other"):
        _ = hosts.other
