"""Planted fleets: what is slow is named, by what is to blame, and nothing else is."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bareline.analysis.judgements.survey import server_node, survey
from bareline.analysis.numbers.fleet import fleets, read_switches
from bareline.analysis.numbers.records import read_runs
from bareline.report.content.fleet import (
    deviating_rows,
    node_rows,
    remedy,
    server_words,
    survey_lines,
)

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


def with_faster_links(found, name, ratio):
    """Return a survey in which the links of a node are so many times worse; below 1 better."""
    at = found.fleet.nodes.index(name)
    maps = []
    for one in found.maps:
        ends = [np.array(each) for each in (one.ratios, one.lo, one.hi)]
        for values, factor in zip(ends, (1.0, 0.99, 1.01), strict=True):
            values[at] = ratio * factor
        maps.append(replace(one, ratios=ends[0], lo=ends[1], hi=ends[2]))
    return replace(found, maps=tuple(maps))


def test_the_node_with_certainly_better_links_is_for_the_file_server(tmp_path):
    found = surveyed(tmp_path, node=1.2, switch=1.3)
    assert server_words(found).startswith("for a file server any healthy node will do")
    best = with_faster_links(found, "node007", 0.8)
    assert server_words(best).startswith("for a file server: node node007, bandwidth between nodes")
    assert "1.25 times higher" in server_words(best)
    # A node that deviates, or whose switch does, is none.
    for name in ("node022", "node050"):
        assert server_node(with_faster_links(found, name, 0.5)).name != name


def test_without_links_no_node_is_proposed(tmp_path):
    found = surveyed(tmp_path)
    assert server_words(replace(found, maps=())) == ""
    unknown = replace(found.maps[-1], ratios=np.full(64, np.nan))
    assert server_node(replace(found, maps=(unknown,))) is None


@pytest.mark.parametrize("text", ["", "leaf", "leaf1: n[1-", "leaf1: elsewhere"])
def test_switches_that_nobody_names_are_none(text):
    assert read_switches(text, {"n1": 0}) == {}


def test_switches_name_the_nodes_that_are_known():
    read = read_switches("leaf1: n[1-2]; leaf2: n[3-9]", {"n1": 0, "n2": 1, "n5": 2})
    assert read == {"leaf1": ("n1", "n2"), "leaf2": ("n5",)}
