"""Runs by short names, rows by names, and what is printed when little is wanted."""

import csv
import json
from pathlib import Path

import pytest


@pytest.fixture
def runs(bareline):
    """Two runs below ``runs``, the second of them the later one."""
    for name in ("alpha-1", "alpha-2"):
        bareline("run", "planted.toml", "--on", "a", "--on", "b", "-q", "-o", f"runs/{name}")
    return bareline


def test_short_names_stand_for_paths(runs):
    for name, path in (("@latest", 2), ("alpha@latest", 2), ("alpha-1", 1)):
        assert runs("status", name).stdout.splitlines()[0] == f"runs/alpha-{path}"
    assert runs("nodes", "@latest", code=2).ended_by("BL-CLI-865", "runs/alpha-2")
    assert runs("status", "alpha", code=2).ended_by("BL-STORE-890", "'alpha'", "alpha-2, alpha-1")
    assert runs("status", "beta@latest", code=2).ended_by("BL-STORE-924", "beta")
    assert runs("status", "beta", code=2).ended_by("BL-STORE-971", "beta")


def test_what_is_nearly_a_name_is_told(bareline):
    bareline("run", "planted.toml", "--on", "a")
    done = bareline("show", "@latets", code=2)
    assert done.ended_by("BL-STORE-394", "@latets", "@latest")


def test_runs_are_listed(runs):
    Path("runs/torn").mkdir()
    rows = json.loads(runs("runs", "--json").stdout)
    assert [row["run"] for row in rows] == ["runs/alpha-1", "runs/alpha-2"]
    assert rows[0]["platforms"] == ["a", "b"]
    assert rows[0]["trials"] == rows[1]["trials"] > 0
    said = runs("runs").stdout
    assert "bareline compare runs/alpha-2" in said
    assert all(line == line.rstrip() for line in said.splitlines())
    assert "alpha" not in runs("runs", "runs/alpha-1").stdout.replace("runs/alpha-1", "")
    assert runs("runs", "nowhere", code=2).ended_by("BL-STORE-980", "nowhere")


def test_quiet_says_the_path_alone(bareline):
    done = bareline("run", "planted.toml", "--on", "a", "-q", "-o", "r")
    assert (done.stdout, done.stderr) == ("r\n", "")


def test_rows_are_chosen_and_stay_what_they_are(runs):
    every = json.loads(runs("compare", "@latest", "--json").stdout)
    metric = every[0]["metric"]
    chosen = json.loads(runs("compare", "@latest", "--metric", metric, "--json").stdout)
    assert chosen == [row for row in every if row["metric"] == metric]
    said = " ".join(runs("compare", "@latest", "--probe", "null").stdout.split())
    assert f"{len(every)} of {len(every)} " in said
    shown = json.loads(runs("show", "@latest", "--platform", "b", "--json").stdout)
    assert {row["platform"] for row in shown} == {"b"}
    runs("export", "@latest", "--platform", "a", "-o", "a.csv")
    with Path("a.csv").open(newline="") as file:
        assert {row["platform"] for row in csv.DictReader(file)} == {"a"}


def test_a_wrong_name_of_a_row_is_told(runs):
    done = runs("show", "@latest", "--probe", "nul", code=2)
    assert done.ended_by("BL-ANALYSIS-101", "nul", "null")
