"""Nodes that are left out, and which switch has which."""

import pytest
from pydantic import ValidationError

from bareline.platforms.hosts.scripts.description import common_set
from bareline.platforms.reached.remote.cluster import cluster_facts, read_topology, scattered
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.platforms.reached.ssh.options import SshOptions

TOPOLOGY = """SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[001-016]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=node[017-032]
SwitchName=spine Level=1 LinkSpeed=1 Nodes=node[001-032] Switches=leaf[1-2]
"""


def test_hosts_that_are_left_out_are_not_used():
    options = SshOptions(hosts=("n[1-6]",), exclude=["n2", "n[4-5]"])
    assert options.names == ("n1", "n3", "n6") and options.node_count == 3
    assert options.exclude == "n[2,4-5]"


def test_slurm_is_asked_for_other_nodes():
    assert "--exclude=n[2,4-5]" in SlurmOptions(exclude="n2,n[4-5]").request()
    assert not any("exclude" in word for word in SlurmOptions().request())


def test_slurm_is_asked_for_few_switches_and_held_against_it():
    assert "--switches=1@60" in SlurmOptions(switch_count="1@60").request()
    for wrong in ("0", "many", "1@60; id"):
        with pytest.raises(ValidationError):
            SlurmOptions(switch_count=wrong)
    told = {"nodes.switches": "leaf1: node[001,016]; leaf2: node017"}
    assert scattered(told, "1@60") == "the nodes hang on 2 switches, 1 asked for"
    assert scattered(told, "2") == scattered(told, None) == scattered({}, "1") == ""


@pytest.mark.parametrize("exclude", ["n[1-", "n;rm -rf", "n[1-2]"])
def test_what_is_no_list_or_leaves_nobody_is_refused(exclude):
    with pytest.raises(ValidationError):
        SshOptions(hosts=("n1", "n2"), exclude=exclude)


def test_switches_with_nodes_are_read_and_told_for_the_nodes_that_are_used():
    switches = read_topology(TOPOLOGY)
    assert switches == {"leaf1": "node[001-016]", "leaf2": "node[017-032]"}
    assert cluster_facts(["node001", "node016", "node017"], switches, ["node020"]) == {
        "nodes.names": "node[001,016-017]",
        "nodes.switches": "leaf1: node[001,016]; leaf2: node017",
        "nodes.excluded": "node020",
    }
    assert read_topology("No topology information available") == {}


def test_alike_nodes_share_one_clause_of_what_they_lack():
    flags = {f"n{number}": ["sse2", "avx2"] for number in range(1, 10)}
    flags |= {f"n{number}": ["sse2"] for number in range(10, 600)}
    assert len(str(common_set(flags))) < 200
