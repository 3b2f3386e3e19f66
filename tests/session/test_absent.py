"""Programs that are not installed: skipped once with the command that gets them, no failure."""

import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.platforms.config import platforms_from_toml
from bareline.report.content.document import document_of
from bareline.report.content.missing import missing_blocks
from bareline.session import begin
from bareline.session.status import status_of
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Failed, Stage
from bareline.vocabulary.verdicts import Verdict

_TIMER = "bareline-test-timer"
_TIME = {"time": {"regex": r"^time (\S+)$"}}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make a run of two programs, of which one is not on the path yet, on two platforms."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    apps = {
        name: {"command": command, "mpi": False, "metrics": _TIME, "verify": ["time > 0"]}
        for name, command in {"here": ["echo", "time 2"], "gone": [_TIMER]}.items()
    }
    study = study_from_toml(
        {"study": {"name": "s", "launches": 6, "precision": 0}, "app": apps,
         "measure": [{"probe": f"app.{name}"} for name in apps]}, where="t",
    )  # fmt: skip
    tables = {name: {"type": "local"} for name in ("one", "two")}
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    run = begin.create_run(study, specs, tmp_path / "r", baseline="one")

    def install():
        program = folder / _TIMER
        program.write_text("#!/bin/sh\necho time 3\n")
        program.chmod(0o755)

    return run, install


def test_it_is_tried_once_on_each_platform(made, execute):
    run, _ = made
    tally = execute(run)
    assert (tally.planned, tally.measured, tally.failed) == (24, 12, 0)
    assert (tally.skipped, tally.saved, tally.remaining) == (2, 10, 0)
    skipped = [r.outcome for r in run.records() if isinstance(r.outcome, Failed)]
    assert {outcome.stage for outcome in skipped} == {Stage.ABSENT}
    assert all(f"'{_TIMER}'" in outcome.reason for outcome in skipped)
    counts = status_of(run)["platforms"]["two"]
    assert counts.pop("seconds") > 0
    assert counts.pop("core_hours") > 0
    nothing = {"cost": None, "currency": None, "running": ""}
    assert counts == {"planned": 12, "measured": 6, "failed": 0, "skipped": 1, **nothing}


@pytest.mark.long
def test_what_came_meanwhile_is_measured_in_every_launch(made, execute):
    run, install = made
    execute(run)
    install()
    assert execute(run).skipped == 2
    tally = execute(run, retry_failed=True)
    assert (tally.measured, tally.skipped, tally.saved) == (24, 0, 0)


@pytest.mark.long
def test_comparisons_say_skipped_and_why(made, execute):
    run, _ = made
    execute(run)
    comparison = Comparison(read_runs([run]))
    verdicts = dict(comparison.table.filter(metric="time").select("probe", "verdict").rows())
    assert verdicts["app.gone"] == "skipped" and verdicts["app.here"] != "skipped"
    (finding,) = (one for one in comparison.findings if one.verdict is Verdict.SKIPPED)
    assert _TIMER in finding.reason
    (statement,) = comparison.statements
    assert "skipped: " in statement.text and _TIMER in statement.text
    assert not check(parse_condition("app is failed"), comparison).violations
    assert len(check(parse_condition("app is skipped"), comparison).violations) >= 1
    failed, *_ = missing_blocks(document_of(comparison), [])
    (table,) = failed.blocks
    assert failed.title == "Failed and skipped trials"
    stages = {(platform.plain, stage.plain) for platform, *_, stage, _ in table.rows}
    assert stages == {("one", "absent"), ("two", "absent")}


@pytest.mark.long
def test_a_baseline_that_lacks_it_is_named(made, execute):
    run, install = made
    execute(run)
    install()
    execute(run, retry_failed=True)
    lines = (run.path / "records.jsonl").read_text().splitlines(keepends=True)
    # The second platform got the program, the first never did.
    kept = [line for line in lines if '"one"' not in line or "gone" not in line]
    kept += [line for line in lines if '"one"' in line and '"absent"' in line]
    (run.path / "records.jsonl").write_text("".join(kept))
    comparison = Comparison(read_runs([run]))
    (finding,) = (one for one in comparison.findings if one.verdict is Verdict.SKIPPED)
    assert finding.reason.startswith("one: ")
