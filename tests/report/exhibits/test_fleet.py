"""The map of a fleet: every node a cell, what deviates framed and listed."""

import json
import sys
from pathlib import Path

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.content.document import document_of
from bareline.report.exhibits.base import find_exhibit
from bareline.vocabulary.exhibit import ExhibitSpec

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from planted_fleet import Faults, plant

NODES = 48


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    run = plant(NODES, tmp_path_factory.mktemp("fleet") / "run", faults=Faults(node=1.3))
    document = document_of(Comparison(read_runs([run])))
    return find_exhibit("fleet").figures(document, ExhibitSpec(kind="fleet"))


def cells(figure):
    found = []
    for chart in (*figure.panels, *figure.narrow):
        drawn = json.dumps(chart)
        found.append({name for name in names() if f"{name}: " in drawn})
    return found


def names():
    return [f"node{number:03d}" for number in range(1, NODES + 1)]


def test_the_list_names_the_bad_node_and_how_to_leave_it_out(figures):
    listed = figures[0]
    assert [field.text for field in listed.data_table.rows[0][:2]] == [
        "node node017",
        "memory bandwidth",
    ]
    assert 'exclude = "node017"' in listed.caption
    assert len(listed.data) == 4 * NODES


def test_every_metric_has_a_map_with_every_node(figures):
    assert len(figures) == 1 + 4
    for figure in figures[1:]:
        assert all(found == set(names()) for found in cells(figure))
        assert f"{NODES} nodes" in figure.text_summary
