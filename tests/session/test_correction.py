"""A regular expression that was wrong is mended from the outputs that were kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.cli.main import main
from bareline.platforms.config import platforms_from_toml
from bareline.session import runner
from bareline.session.begin import create_run
from bareline.session.reparse import read_correction, reparse_run
from bareline.session.status import status_of
from bareline.store.raw import was_shortened
from bareline.store.run import Run
from bareline.study.reading import load_study
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError, UsageError
from bareline.vocabulary.model import Failed, Measured

JOB = """\
case $1 in 100) time=0.25 ;; *) time=0.5 ;; esac
echo "energy $1" >log
printf 'PLAQ:\\t0.%s\\n' "$1"
echo "loop $time s"
echo "rate $1 things"
"""
STUDY = """\
[study]
name = "mine"
launches = 2
min_launches = 1
precision = 0

[app.job]
command = ["sh", "job.sh", "{steps}"]
mpi = false
inputs = { "job.sh" = { file = "job.sh" } }
params = { steps = 100 }
verify = ["plaquette < 1"]

[app.job.metrics.time]
regex = '^loop (\\S+) s'

[app.job.values]
plaquette = { regex = '^PLAQ: +(\\S+)' }
energy = { regex = '^energy (\\S+)', file = "log" }

[app.still]
command = ["echo", "t 1"]
mpi = false
verify = ["time == 1"]
metrics.time = { regex = '^t (\\S+)' }

[[measure]]
probe = "app.job"
sweep = { steps = [100, 200] }
timeout_s = 60

[[measure]]
probe = "app.still"
timeout_s = 30
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.sh").write_text(JOB)
    (tmp_path / "mine.toml").write_text(STUDY)
    return tmp_path


def begun(folder: Path, platforms: tuple[str, ...] = ("here",)) -> Run:
    tables = {name: {"type": "local"} for name in platforms}
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    study = load_study(folder / "mine.toml")
    return create_run(study, specs, folder / "run", baseline=platforms[0], seed=1)


def corrected(folder: Path, *changes: tuple[str, str]) -> Path:
    text = (folder / "mine.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "corrected.toml").write_text(text)
    return folder / "corrected.toml"


MENDED = ("^PLAQ: +", r"^PLAQ:\s+")


def times(run: Run) -> dict[int, float]:
    return {
        index: next(s.value for s in record.outcome.samples if s.metric == "time")
        for index, record in run.finished().items()
        if isinstance(record.outcome, Measured) and record.trial.case.probe == "app.job"
    }


def test_a_wrong_expression_is_mended_without_measuring_again(
    folder: Path, execute: Callable[..., object]
) -> None:
    run = begun(folder)
    execute(run)
    assert times(run) == {}
    before, header = (run.path / "records.jsonl").read_bytes(), (run.path / "run.toml").read_text()

    correction = read_correction(run, corrected(folder, MENDED))
    assert correction.changed == {"app.job": ["values"]}
    planned = reparse_run(run, correction=correction, dry_run=True)
    assert planned.counts == (4, 4)
    assert (run.path / "records.jsonl").read_bytes() == before
    assert (run.path / "run.toml").read_text() == header
    assert not [event for event in run.events() if "read otherwise" in event.event]

    done = reparse_run(run, correction=correction)
    assert done.changed == planned.changed
    assert not done.unread
    again = Run.open(run.path)
    assert not again.header.edited
    assert sorted(times(again).values()) == [0.25, 0.25, 0.5, 0.5]
    # What stood there stays, before what counts now.
    assert (run.path / "records.jsonl").read_bytes().startswith(before)
    failed = [record for record in again.records() if isinstance(record.outcome, Failed)]
    assert len(failed) == 4
    assert len(list(again.records())) == 2 + 4 + 4
    assert "4 trials of app.job read otherwise: values corrected" in again.events()[-1].event
    row = status_of(again)
    assert (row["measured"], row["failed"], row["remaining"]) == (6, 0, 0)
    tables = read_runs([again]).samples
    assert tables.filter(tables["metric"] == "time").height == 4 + 2
    # From here on it is the study of the run: reading again changes nothing, nor does going on.
    assert reparse_run(again).counts == (6, 0)
    assert execute(again).measured == 6
    assert read_correction(again, folder / "corrected.toml").changed == {}


@pytest.mark.long
def test_what_a_killed_run_lacks_goes_on_with_the_corrected_study(
    folder: Path, execute: Callable[..., object]
) -> None:
    run = begun(folder)
    execute(run)
    lines = (run.path / "records.jsonl").read_text().splitlines(keepends=True)
    (run.path / "records.jsonl").write_text("".join(lines[:3]))
    reparse_run(run, correction=read_correction(run, corrected(folder, MENDED)))
    again = Run.open(run.path)
    assert execute(again).measured == 6


def test_a_metric_is_added_and_the_headline_replaced(
    folder: Path, execute: Callable[..., object]
) -> None:
    (folder / "mine.toml").write_text(corrected(folder, MENDED).read_text())
    run = begun(folder)
    execute(run)
    assert len(times(run)) == 4
    new = '[app.job.metrics.rate]\nregex = \'^rate (\\S+)\'\nunit = "op/s"\nbetter = "higher"\n'
    file = corrected(folder, ("[app.job.metrics.time]", f"{new}\n[app.job.metrics.time]"))
    correction = read_correction(run, file)
    assert reparse_run(run, correction=correction).counts == (4, 4)
    again = Run.open(run.path)
    assert again.header.probes["app.job"]["headline"] == "rate"
    rates = {
        s.value
        for record in again.finished().values()
        for s in record.outcome.samples
        if s.metric == "rate"
    }
    assert rates == {100, 200}
    assert reparse_run(again).counts == (6, 0)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ((('"job.sh", "{steps}"', '"job.sh", "7"'),), "BL-SESSION-230"),
        ((("params = { steps = 100 }", "params = { steps = 50 }"),), "BL-SESSION-230"),
        ((("verify =", 'env = { A = "b" }\nverify ='),), "BL-SESSION-230"),
        ((("[100, 200]", "[100, 300]"),), "BL-SESSION-661"),
        ((("[100, 200]", "[100, 200, 300]"),), "BL-SESSION-661"),
        ((('"app.still"', '"app.still"\nthreads = 2'),), "BL-SESSION-661"),
        ((("app.job", "app.jab"),), "BL-SESSION-661"),
        (
            (("regex = '^loop", 'file = "other"\nregex = \'^loop'),),
            "BL-SESSION-579",
        ),
        ((("(\\S+) s'", "(\\S+'"),), "BL-PROBES-628"),
    ],
)
def test_only_reading_may_change(
    folder: Path, changes: tuple[tuple[str, str], ...], code: str
) -> None:
    run = begun(folder)
    with raises(StudyError, code):
        read_correction(run, corrected(folder, *changes))


def test_a_unit_is_not_changed_under_values_that_stand_there(
    folder: Path, execute: Callable[..., object]
) -> None:
    (folder / "mine.toml").write_text(corrected(folder, MENDED).read_text())
    run = begun(folder)
    file = corrected(folder, ("regex = '^loop", 'unit = "op/s"\nregex = \'^loop'))
    assert read_correction(run, file).changed == {"app.job": ["metrics"]}  # nothing is measured yet
    execute(run)
    with raises(StudyError, "BL-SESSION-733", "app.job", "op/s"):
        read_correction(run, file)


def test_what_cannot_be_read_again_is_named(
    folder: Path, execute: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "job.sh").write_text(JOB + "[ $1 = 100 ] || seq 9999\n")
    run = begun(folder)
    monkeypatch.setattr(runner, "GARBAGE_CHARACTERS", 8192)
    execute(run)
    cut = {
        index for index, r in run.finished().items() if r.trial.case.params == "steps=200"
    }  # fmt: skip
    assert all(was_shortened(run.read_raw(run.finished()[index].trial)) for index in cut)
    lost = min(
        index for index, r in run.finished().items() if r.trial.case.params == "steps=100"
    )  # fmt: skip
    about = run.raw_folder(lost) / "command.json"
    about.unlink()
    done = reparse_run(run, correction=read_correction(run, corrected(folder, MENDED)))
    assert done.counts == (1, 1)
    assert {(record.trial.index, reason) for record, reason in done.unread} == {
        (lost, "its output was not kept"),
        *((index, "only both ends of its output were kept") for index in cut),
    }
    assert len(times(run)) == 1


def test_an_imported_run_has_no_study_to_correct(folder: Path) -> None:
    from bareline.session.intake import import_files

    output = Path(__file__).parents[1] / "probes" / "data" / "osu.good.out"
    run = import_files([output], "ib", folder / "imported", ranks=2).run
    with raises(UsageError, "BL-SESSION-963"):
        read_correction(run, folder / "mine.toml")


def test_the_command_shows_and_then_does_it(
    folder: Path,
    execute: Callable[..., object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = begun(folder)
    execute(run)
    file = corrected(folder, MENDED)

    def say(*more: str) -> tuple[int, str]:
        command = ["bareline", "reparse", str(run.path), "--study", str(file), *more]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().out

    code, said = say("--dry-run")
    assert code == 0
    assert "app.job: other values" in said
    assert "failed [parse] plaquette" in said
    assert "-> time 250 ms" in said
    assert said.endswith("4 trials read again, 4 came out differently; nothing was written\n")
    assert say()[1].endswith("4 trials read again, 4 came out differently\n")
    assert "nothing is to be read again" in say()[1]
    assert say("--only", "app.still")[0] == 2
