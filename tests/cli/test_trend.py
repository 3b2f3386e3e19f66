"""Many runs of one study: what changed certainly, since when, and what else changed there."""

import json
from pathlib import Path

import pytest

STUDY = """
[study]
name = "nightly"
launches = 6
precision = 0
[[measure]]
probe = "null"
params = {points = 3, spread = 0.01}
"""


@pytest.fixture
def nightly(bareline, place):
    """Twelve runs, of which the last six are 1.2 times as slow on one platform."""

    def make(factor=1.2, runs=12):
        (place / "nightly.toml").write_text(STUDY)
        for night in range(runs):
            slow = factor if night >= 6 else 1.0
            (place / "nights.toml").write_text(
                f'[platform.a]\ntype = "null"\nfactor = {slow}\nseed = {night}\n'
                f'[platform.b]\ntype = "null"\nseed = {night + 100}\n'
            )
            out = f"nights/{night:02}"
            bareline("run", "nightly.toml", "--on", "a", "--on", "b", "--platforms", "nights.toml",
                     "-q", "-o", out)  # fmt: skip
            header = Path(out, "run.toml")
            text = header.read_text()
            created = text.split('created = "')[1].split('"')[0]
            header.write_text(text.replace(created, f"2026-02-{night + 1:02}T03:00:00+00:00"))
        return bareline

    return make


def test_a_step_is_told_with_its_date_and_meets_a_condition(nightly, fits):
    bareline = nightly()
    said = " ".join(bareline("trend", "nights").stdout.split())
    assert "12 runs from 2026-02-01 to 2026-02-12, 6 series" in said
    assert "point 0, points 3, spread 0.01 on a: worse since 2026-02-07 (06), ratio 1.2" in said
    assert "on b: worse" not in said and "on b: better" not in said
    rows = json.loads(bareline("trend", "nights", "--platform", "a", "--json").stdout)
    fits("trend", rows)
    assert {row["first_of_new_level"] for row in rows} == {"nights/06"}
    assert all(row["lo"] < 1.2 < row["hi"] and len(row["runs"]) == 12 for row in rows)
    met = bareline("trend", "nights", "--fail-if", "null is slower", code=1).stderr
    assert "3 meet it" in met
    bareline("trend", "nights", "--fail-if", "b:null is slower")
    assert bareline("trend", "nights", "--fail-if", "null > 1.1", code=2).ended_by(
        "BL-ANALYSIS-336"
    )


def test_without_a_step_or_with_few_runs_nothing_is_said(nightly):
    bareline = nightly(factor=1.0)
    assert "no certain change" in bareline("trend", "nights").stdout
    few = bareline("trend", *[f"nights/0{night}" for night in range(3)]).stdout
    assert "8 runs are needed to decide" in few
    assert bareline("trend", "nights/00", code=2).ended_by("BL-ANALYSIS-284")
    assert bareline("trend", "nowhere", code=2).ended_by("BL-STORE-980")
