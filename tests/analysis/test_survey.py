"""Planted fleets: what is slow is named, by what is to blame, and nothing else is."""

import sys
from pathlib import Path

import pytest

from bareline.analysis.judgements.survey import survey
from bareline.analysis.numbers.fleet import fleets, read_switches
from bareline.analysis.numbers.records import read_runs
from bareline.report.content.fleet import deviating_rows, node_rows, remedy, survey_lines

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from planted_fleet import Faults, plant


def surveyed(folder, nodes=64, **faults):
    run = plant(nodes, folder / "run", faults=Faults(**faults))
    records = read_runs([run])
    (fleet,) = fleets(records)
    return survey(fleet, records.margin)


def named(found):
    return {(one.kind, one.names) for one in found.deviating}


def test_a_slow_node_switch_and_link_are_told_apart(tmp_path):
    found = surveyed(tmp_path, node=1.2, link=1.8, switch=1.3)
    assert named(found) == {
        ("node", ("node022",)),
        ("switch", ("leaf4",)),
        ("uplink", ("leaf4",)),
        ("link", ("node033", "node034")),
    }
    (node,) = (one for one in found.deviating if one.kind == "node")
    assert node.measured.probe == "memory.each_node"
    low, high = node.ratio.ends
    assert low < 1.2 < high
    assert remedy(found).endswith('exclude = "node022"')
    text = "\n".join(survey_lines(found))
    assert "switch leaf4 (node[049-064]): bandwidth between nodes 1.3" in text


def test_a_healthy_fleet_has_nothing_to_tell_and_every_node_a_row(tmp_path):
    found = surveyed(tmp_path)
    assert named(found) == set() and remedy(found) == ""
    assert deviating_rows(found) == []
    rows = node_rows(found)
    assert len(rows) == 64 * 4 and not any(row["deviates"] for row in rows)
    assert "nothing deviates certainly" in list(survey_lines(found))


@pytest.mark.parametrize("text", ["", "leaf", "leaf1: n[1-", "leaf1: elsewhere"])
def test_switches_that_nobody_names_are_none(text):
    assert read_switches(text, {"n1": 0}) == {}


def test_switches_name_the_nodes_that_are_known():
    read = read_switches("leaf1: n[1-2]; leaf2: n[3-9]", {"n1": 0, "n2": 1, "n5": 2})
    assert read == {"leaf1": ("n1", "n2"), "leaf2": ("n5",)}
