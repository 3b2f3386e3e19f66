"""A nightly job: every change, the present state, what was accepted, and nights that are broken."""

import json
import os
import shutil
from pathlib import Path

import pytest

from bareline.analysis.numbers import digest
from bareline.store.accepted import ACCEPTED_FILE
from bareline.testing.runs import planted_run

PARAMS = {"points": 1, "spread": 0.01}


def night(folder, number, factor=1.0, *, spread=0.01, facts=None, **head):
    """Plant the run of a night in February 2026 or later, on a platform `a`."""
    params = {**PARAMS, "spread": spread}
    run = planted_run(
        folder / f"n{number:02}", {"a": {"seed": number, "factor": factor}}, params, **head
    )
    header = run.path / "run.toml"
    day = f"2026-{2 + number // 28:02}-{number % 28 + 1:02}T03:00:00+00:00"
    header.write_text(header.read_text().replace(run.header.created, day))
    if facts is not None:
        file = run.path / "facts" / "a.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps({**known, **facts}))
    return run


@pytest.fixture
def nights(place):
    """Make nights with one factor each."""

    def make(*factors, **more):
        for number, factor in enumerate(factors):
            night(place / "nights", number, factor, **more)

    return make


def rows(bareline, *words):
    return json.loads(bareline("trend", "nights", "--json", *words).stdout)


@pytest.mark.long
def test_all_changes_are_named_and_the_newest_level_decides(bareline, nights):
    nights(*[1.0] * 12, *[0.7] * 12, *[0.77] * 10)
    said = bareline("trend", "nights").stdout
    assert "better since 2026-02-13 (n12)" in said and "worse since 2026-02-25 (n24)" in said
    (row,) = rows(bareline)
    assert [change["run"] for change in row["changes"]] == ["nights/n12", "nights/n24"]
    assert [change["grade"] for change in row["changes"]] == ["certain", "certain"]
    assert row["verdict"] == "slower" and row["reference"] == "nights/n23"
    assert row["lo"] < 1.1 < row["hi"] < 1.2
    met = bareline("trend", "nights", "--fail-if", "null is slower", code=1).stderr
    assert "to the level at n23" in met
    # Against the first level it is still faster.
    bareline("trend", "nights", "--since", "n03", "--fail-if", "null is slower")
    bareline("trend", "nights", "--last", "33", "--fail-if", "null is faster", code=1)
    bareline("trend", "nights", "--last", "3", "--fail-if", "null is slower")


@pytest.mark.long
def test_a_regression_that_was_fixed_meets_no_condition(bareline, nights):
    nights(*[1.0] * 14, *[1.15] * 8, *[1.0] * 4)
    (row,) = rows(bareline)
    assert [change["verdict"] for change in row["changes"]] == ["slower", "faster"]
    assert row["changes"][0]["lo"] < 1.15 < row["changes"][0]["hi"]
    bareline("trend", "nights", "--fail-if", "null is slower")
    for last in ("n25", "n24", "n23"):
        shutil.rmtree(f"nights/{last}")
    bareline("trend", "nights", "--fail-if", "null is slower", code=1)


def test_a_change_is_likely_before_it_is_certain(bareline, nights):
    # One order in 182 puts the same three of 14 runs at an end: too many for 1 / 14^2.
    nights(*[1.0] * 11, *[1.2] * 3)
    (row,) = rows(bareline)
    assert [change["grade"] for change in row["changes"]] == ["likely"]
    assert row["changes"][0]["run"] == "nights/n11" and row["verdict"] == "changed"
    bareline("trend", "nights", "--fail-if", "null is slower")
    bareline("trend", "nights", "--fail-if", "null is likely slower", code=1)


@pytest.mark.long
def test_an_accepted_change_meets_no_condition(bareline, nights):
    nights(*[1.0] * 12, *[1.2] * 8)
    bareline("trend", "nights", "--fail-if", "null is slower", code=1)
    said = bareline("trend", "nights", "--accept", "n12", "--reason", "safer locks").stdout
    assert "accepted: safer locks" in said
    kept = [json.loads(line) for line in Path("nights", ACCEPTED_FILE).read_text().splitlines()]
    assert [(one["run"], one["reason"]) for one in kept] == [("n12", "safer locks")]
    bareline("trend", "nights", "--fail-if", "null is slower", "--fail-if", "null is likely slower")
    (row,) = rows(bareline)
    assert row["verdict"] == "changed" and row["changes"][0]["accepted"] == "safer locks"
    # A later change is another one.
    for number in range(20, 26):
        night(Path("nights"), number, 1.4)
    done = bareline("trend", "nights", "--fail-if", "null is slower", code=1)
    assert done.has_line("null", "n19")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--accept", "n12"), "BL-CLI-479"),
        (("--reason", "x"), "BL-CLI-479"),
        (("--accept", "n12", "--reason", " "), "BL-ANALYSIS-967"),
        (("--accept", "n03", "--reason", "x"), "BL-ANALYSIS-298"),
        (("--accept", "n99", "--reason", "x"), "BL-ANALYSIS-476"),
        (("--since", "n99"), "BL-ANALYSIS-476"),
        (("--since", "n03", "--last", "4"), "BL-CLI-849"),
    ],
)
def test_what_cannot_be_accepted_or_referred_to(bareline, nights, words, error):
    nights(*[1.0] * 12, *[1.3] * 4)
    assert bareline("trend", "nights", *words, code=2).ended_by(error)
    assert not Path("nights", ACCEPTED_FILE).exists()


def test_acceptances_lead_nowhere_else(bareline, nights):
    nights(*[1.0] * 12, *[1.3] * 6)
    Path("elsewhere").write_text("")
    Path("nights", ACCEPTED_FILE).symlink_to(Path("elsewhere").absolute())
    line = ("trend", "nights", "--accept", "n12", "--reason", "x")
    assert bareline(*line, code=2).ended_by("BL-STORE-271")
    assert Path("elsewhere").read_text() == ""
    Path("nights", ACCEPTED_FILE).unlink()
    Path("nights", ACCEPTED_FILE).write_text('{"run": 3}\n')
    assert bareline("trend", "nights", code=2).ended_by("BL-STORE-109", "1")
    Path("nights", ACCEPTED_FILE).write_text('{"run": "n12", "reason": "x", "accep')  # torn
    bareline("trend", "nights", "--fail-if", "null is slower", code=1)


def test_acceptances_that_were_edited_by_hand_count_and_stay(bareline, nights):
    nights(*[1.0] * 12, *[1.3] * 6)
    file = Path("nights", ACCEPTED_FILE)
    line = '{"run": "n12", "reason": "by hand", "accepted": "2026-03-01"}'
    file.write_text(line)  # as an editor leaves it, without a newline
    bareline("trend", "nights", "--fail-if", "null is slower")
    bareline("trend", "nights", "--accept", "n12", "--reason", "again")
    reasons = [json.loads(one)["reason"] for one in file.read_text().splitlines()]
    assert reasons == ["by hand", "again"]
    file.write_text(line + "\n" + line[:30])  # torn: a kill
    bareline("trend", "nights", "--accept", "n12", "--reason", "third")
    reasons = [json.loads(one)["reason"] for one in file.read_text().splitlines()]
    assert reasons == ["by hand", "third"]
    file.write_text("nonsense\n")
    assert bareline("trend", "nights", code=2).ended_by("BL-STORE-109")


@pytest.mark.parametrize("created", ["yesterday", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00"])
def test_a_run_without_a_date_is_left_out(bareline, nights, created):
    nights(*[1.0] * 9)
    header = Path("nights/n04/run.toml")
    lines = header.read_text().splitlines()
    dated = [f'created = "{created}"' if one.startswith("created") else one for one in lines]
    header.write_text("\n".join(dated) + "\n")
    said = " ".join(bareline("trend", "nights").stdout.split())
    assert "8 runs from" in said and "left out: nights/n04: run.toml is damaged" in said


def test_the_page_of_a_history_leaves_out_what_is_no_run(bareline, nights):
    nights(*[1.0] * 12, *[1.3] * 6)
    bareline("trend", "nights", "--accept", "n12", "--reason", "wanted")
    Path("nights/n03/run.toml").write_text("")
    paths = sorted(map(str, Path("nights").iterdir()))
    assert f"nights/{ACCEPTED_FILE}" in paths  # as `nights/*` gives them
    bareline("report", *paths, "-o", "page.md")
    page = Path("page.md").read_text()
    assert "accepted: wanted" in page
    assert "nights/n03: run.toml is damaged" in page and ACCEPTED_FILE not in page
    assert bareline("report", "nights/n03", "nights/n04", code=2).ended_by(
        "BL-STORE-641", "nights/n03"
    )


def test_a_long_history_fits_a_line(bareline, nights, monkeypatch):
    monkeypatch.setattr("bareline.report.terminal.histories._MOST_BLOCKS", 5)
    nights(*[1.0] * 8, *[1.3] * 8)
    (line,) = [one for one in bareline("trend", "nights").stdout.splitlines() if "▁" in one]
    assert sum(one in "▁▂▃▄▅▆▇█" for one in line) == 4


def test_broken_nights_are_listed_and_left_out(bareline, nights):
    nights(*[1.0] * 16)
    Path("nights/n02/records.jsonl").write_text("")
    records = Path("nights/n05/records.jsonl")
    records.write_text(records.read_text()[:-20])
    header = Path("nights/n07/run.toml")
    text = header.read_text()
    schema = text.split("schema = ")[1].split("\n")[0]
    header.write_text(text.replace(f"schema = {schema}", "schema = 999"))
    Path("nights/n09/run.toml").unlink()
    damaged = Path("nights/n11/records.jsonl")
    damaged.write_text("{}\n" + damaged.read_text())
    Path("nights/n13/records.jsonl").unlink()
    os.mkfifo("nights/n13/records.jsonl")
    Path("nights/n14/run.toml").unlink()
    Path("nights/n14/run.toml").symlink_to("run.toml")  # a loop
    Path("nights/plots").mkdir()
    os.mkfifo("nights/pipe")
    said = " ".join(bareline("trend", "nights").stdout.split())
    assert "9 runs from 2026-02-01 to 2026-02-16" in said
    for broken in ("n02", "n05", "n07", "n09", "n11"):
        assert f"left out: nights/{broken}: " in said
    assert "left out: 2 more runs" in said
    assert "plots" not in said and "pipe" not in said
    odd = bareline("trend", "nights/n13", "nights/n14", "nights/n00", "nights/n01").stdout
    assert "left out: nights/n14: run.toml is damaged: the path is a symbolic link" in odd
    only = bareline("trend", "nights/n02", "nights/n05", code=2).stderr
    assert "none of 2 runs can be a part of a history" in only


def test_a_run_that_a_link_names_again_counts_once(bareline, nights):
    nights(*[1.0] * 9)
    Path("nights/latest").symlink_to("n08")
    Path("nights/again").symlink_to(".")
    (row,) = rows(bareline)
    assert [value["run"] for value in row["runs"]] == [f"nights/n{night:02}" for night in range(9)]
    paths = sorted(map(str, Path("nights").iterdir()))
    found = json.loads(bareline("trend", *paths, "--json").stdout)
    assert len(found[0]["runs"]) == 9


def test_a_night_that_is_measured_now_is_left_out(bareline, nights):
    nights(*[1.0] * 9)
    run = night(Path("nights"), 9)
    with run.writing():
        said = " ".join(bareline("trend", "nights").stdout.split())
    assert "9 runs from" in said
    assert "left out: nights/n09: the run is being measured now" in said


def test_what_changed_near_a_step_although_it_changed_elsewhere_too(bareline, place):
    for number in range(24):
        facts = {"host.kernel": "6.1" if number < 12 else "6.8", "host.memory": "8 GB"}
        if number >= 20:
            facts["host.kernel"] = "6.9"
        if number == 5:
            del facts["host.kernel"]
        facts["host.serial"] = str(number)  # other in every run: tells nothing
        night(place / "nights", number, 1.0 if number < 12 else 1.2, facts=facts)
    (row,) = rows(bareline)
    assert ["host.kernel", "6.1", "6.8"] in row["changes"][0]["changed"]
    names = [name for name, *_ in row["changes"][0]["changed"]]
    assert "host.serial" not in names and "host.memory" not in names


@pytest.mark.long
def test_why_nothing_is_named_is_told_apart(bareline, nights, place):
    nights(*[1.0] * 6)
    assert {row["verdict"] for row in rows(bareline)} == {"too-few-runs"}
    for number in range(6, 16):
        night(place / "nights", number)
    assert {row["verdict"] for row in rows(bareline)} == {"stable"}
    for number in range(16):
        shutil.rmtree(f"nights/n{number:02}")
        night(place / "nights", number, spread=0.2)
    found = rows(bareline)
    assert {row["verdict"] for row in found} == {"nothing-found"}
    assert all(row["p"] > 0.05 for row in found)
    for number in range(16, 50):
        night(place / "nights", number, 1.0, spread=0.01)
    for number in range(50):
        shutil.rmtree(f"nights/n{number:02}")
        night(place / "nights", number, 1.004**number)
    (row,) = rows(bareline)
    assert row["verdict"] == "drifting" and 0.003 < row["slope"] < 0.005
    assert "drifts by +0.39 %" in bareline("trend", "nights").stdout


@pytest.mark.long
def test_a_step_upon_a_drift_meets_a_condition_by_its_own_size(bareline, nights):
    nights(
        *[1.002**night for night in range(30)], *[1.15 * 1.002**night for night in range(30, 50)]
    )
    (row,) = rows(bareline)
    assert [change["run"] for change in row["changes"]] == ["nights/n30"]
    assert row["verdict"] == "slower" and 0.001 < row["slope"] < 0.003
    # The levels on both sides are farther apart: the drift is not the step's.
    assert row["lo"] < 1.15 < row["hi"] < 1.18
    said = " ".join(
        bareline("trend", "nights", "--fail-if", "null is slower", code=1).stdout.split()
    )
    assert "per run (+ is worse), between its changes" in said


def test_other_studies_units_and_parameters_are_named(bareline, nights, place):
    nights(*[1.0] * 8)
    for number in range(8, 12):
        run = night(place / "nights", number, name="another")
        header = run.path / "run.toml"
        header.write_text(header.read_text().replace('unit = "s"', 'unit = "ms"'))
    night(place / "nights", 12).path.joinpath("run.toml")
    said = " ".join(bareline("trend", "nights").stdout.split())
    assert "the runs are of several studies" in said and "another (4 runs)" in said
    (row,) = rows(bareline)
    # Milliseconds of the same numbers are a thousandth.
    values = [value["value"] for value in row["runs"]]
    assert values[8] == pytest.approx(values[0] / 1000, rel=0.1)
    header = Path("nights/n11/run.toml")
    header.write_text(header.read_text().replace('unit = "ms"', 'unit = "B"'))
    said = " ".join(bareline("trend", "nights").stdout.split())
    assert "null time of n11 is left out: it is in B there, not in s" in said


def test_other_parameters_are_named(bareline, nights, place):
    nights(*[1.0] * 8)
    for number in range(8, 12):
        night(place / "nights", number, spread=0.02)
    said = " ".join(bareline("trend", "nights").stdout.split())
    assert "null on a has other parameters from n08 on: " in said
    assert "spread 0.02 instead of " in said


def test_a_second_look_reads_no_records(bareline, nights, monkeypatch):
    nights(*[1.0] * 10)
    first = rows(bareline)

    def refuse(_):
        raise AssertionError("a run was read again")

    read = digest.read_runs
    monkeypatch.setattr(digest, "read_runs", refuse)
    assert rows(bareline) == first
    # A run with other content is another one.
    night(Path("nights"), 10)
    monkeypatch.setattr(digest, "read_runs", read)
    assert len(rows(bareline)[0]["runs"]) == 11
    records = Path("nights/n03/records.jsonl")
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:-1]))
    assert rows(bareline)[0]["runs"][3]["value"] != first[0]["runs"][3]["value"]


def test_a_damaged_or_missing_cache_costs_time_only(bareline, nights, monkeypatch, tmp_path):
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "own-cache"))
    nights(*[1.0] * 10)
    first = rows(bareline)
    for file in (tmp_path / "own-cache" / "digests").glob("*/*.json"):
        file.write_text('{"created": 3}')
    assert rows(bareline) == first
    shutil.rmtree(tmp_path / "own-cache" / "digests")
    Path(tmp_path / "own-cache" / "digests").write_text("not a folder")
    assert rows(bareline) == first


def test_the_help_shows_conditions_of_a_trend(bareline):
    said = " ".join(bareline("trend", "--help").stdout.split())
    assert "mpi is slower" in said and "mpi.latency > 1.1" not in said


def test_runs_of_one_platform_are_a_page_without_a_baseline(bareline, nights):
    nights(*[1.0] * 12, *[1.2] * 8)
    paths = sorted(map(str, Path("nights").iterdir()))
    bareline("report", *paths, "-o", "page.html")
    page = Path("page.html").read_text()
    assert "of null over runs" in page and "worse since 2026-02-13 (n12)" in page
    bareline("trend", "nights", "--accept", "n12", "--reason", "safer locks")
    bareline("report", *paths, "-o", "page.md")
    assert "accepted: safer locks" in Path("page.md").read_text()
