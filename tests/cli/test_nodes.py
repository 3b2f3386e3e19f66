"""``bareline nodes``: a list for people, rows for programs, an exit code for a nightly job."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bareline.cli.main import app

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from planted_fleet import Faults, plant


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return plant(32, tmp_path_factory.mktemp("nodes") / "run", faults=Faults(node=1.3)).path


def test_the_bad_node_is_told_and_fails_on_demand(run):
    done = CliRunner().invoke(app, ["nodes", str(run), "--fail"])
    assert done.exit_code == 1
    assert "node node011: memory bandwidth 1.3" in done.stdout
    assert 'exclude = "node011"' in done.stdout


def test_rows_name_what_deviates(run, fits):
    done = CliRunner().invoke(app, ["nodes", str(run), "--json"])
    assert done.exit_code == 0
    (row,) = json.loads(done.stdout)
    fits("nodes", [row])
    assert (row["kind"], row["name"], row["deviates"]) == ("node", "node011", True)
    assert row["lo"] < row["ratio"] < row["hi"]
