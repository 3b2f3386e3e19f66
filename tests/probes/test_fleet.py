"""Samples of a fleet carry the names that the platform has for its nodes."""

import json
from pathlib import Path

import pytest

from bareline.probes.base import find_probe
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).parent / "data"


def read(name, **changed):
    header, *rest = (DATA / f"{name}.good.out").read_text().splitlines()
    text = "\n".join([json.dumps({**json.loads(header), **changed}), *rest])
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    probe = find_probe(name)
    return probe.read(probe.make_params({}), output).samples


def nodes(samples):
    return [sample.point["node"] for sample in samples if sample.point]


def test_the_names_that_were_given_stand_where_hosts_are_one():
    assert nodes(read("compute.each_node")) == ["node01", "node02", "node03", "node04"]


def test_ranks_in_another_order_than_the_names_are_told_by_their_hosts():
    hosts = ["node03", "node01.cluster", "node04", "node02"]
    assert nodes(read("compute.each_node", hosts=hosts)) == ["node03", "node01", "node04", "node02"]


def test_without_names_ranks_are_counted():
    assert nodes(read("memory.each_node", names=""))[:2] == ["rank0", "rank1"]


def test_a_header_whose_names_are_cut_out_is_refused():
    header, *rest = (DATA / "memory.each_node.good.out").read_text().splitlines()
    cut = header[: header.index("timer")] + header[header.index("names") + 1 :]
    assert "names" not in json.loads(cut)
    probe = find_probe("memory.each_node")
    output = Output(stdout="\n".join([cut, *rest]), stderr="", exit_code=0, duration_s=1.0)
    with raises(ParseError, "BL-PROBES-950"):
        probe.read(probe.make_params({}), output)


def test_a_pair_names_both_its_nodes():
    ends = {
        (sample.point["node"], sample.point["peer"])
        for sample in read("mpi.each_pair")
        if sample.metric == "pair_bandwidth"
    }
    assert len(ends) == 6 and ("node02", "node04") in ends


@pytest.mark.parametrize("changed", [{"hosts": ["one"]}, {"hosts": "vm"}, {"names": "n[1-"}])
def test_a_header_that_does_not_fit_is_refused(changed):
    with pytest.raises(ParseError):
        read("mpi.each_pair", **changed)


def test_the_platform_names_the_nodes():
    probe = find_probe("mpi.each_pair")
    command = probe.command(probe.make_params({"together": True}), Layout(4, 1))
    assert command.argv[-3:] == ("--together", "--names", "{nodes}") and command.mpi
