"""A study's own program, from the file of the study to records, without the file, and again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.session.begin import create_run
from bareline.session.origin import study_of
from bareline.session.reparse import reparse_run
from bareline.store.run import Run
from bareline.study.reading import load_study
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Failed, Measured

JOB = """\
import sys
steps = int(sys.argv[1])
print("set-up 9.9 s")
print("loop 0.25 s")
print("residual", 1.0 / steps)
"""
STUDY = """\
[study]
name = "mine"
launches = 1
min_launches = 1
precision = 0

[app.job]
command = [{python}, "job.py", "{{steps}}"]
mpi = false
inputs = {{ "job.py" = {{ file = "case/job.py" }} }}
params = {{ steps = 100 }}
verify = ["residual < 0.05"]

[app.job.metrics.time]
regex = '^loop (\\S+) s'

[app.job.values.residual]
regex = '^residual (\\S+)'

[[measure]]
probe = "app.job"
sweep = {{ steps = [10, 100] }}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    (folder / "case").mkdir(parents=True)
    (folder / "case" / "job.py").write_text(JOB)
    text = STUDY.format(python=f'"{sys.executable}"')
    (folder / "mine.toml").write_text(text)
    return folder


def test_a_program_of_the_users_own(
    folder: Path, tmp_path: Path, execute: Callable[[Run], object]
) -> None:
    study = load_study(folder / "mine.toml")
    specs = list(platforms_from_toml({"platform": {"here": {"type": "local"}}}, where="t").values())
    run = create_run(study, specs, tmp_path / "run", baseline="here", seed=1)
    # From here on the run directory alone counts.
    shutil.rmtree(folder)
    run = Run.open(tmp_path / "run")
    assert study_of(run).programs == study.programs
    execute(run)
    outcomes = {record.trial.case.params: record.outcome for record in run.records()}
    good, wrong = outcomes["steps=100"], outcomes["steps=10"]
    assert isinstance(good, Measured)
    assert {s.metric for s in good.samples} == {"time", "launch_time"}
    assert next(s.value for s in good.samples if s.metric == "time") == 0.25
    assert isinstance(wrong, Failed)
    assert wrong.reason == ("the result is wrong: residual < 0.05 is false (residual = 0.1)")
    assert run.header.probes["app.job"]["headline"] == "time"
    assert reparse_run(run).counts == (2, 0)


def launched(folder: Path, tmp_path: Path, execute: Callable[[Run], object]) -> Run:
    study = load_study(folder / "mine.toml")
    specs = list(platforms_from_toml({"platform": {"here": {"type": "local"}}}, where="t").values())
    run = create_run(study, specs, tmp_path / "run", baseline="here", seed=1)
    execute(run)
    return run


LOG = "for _ in range(700_000): print('a line of the log that is sixty characters long, or more')\n"


@pytest.mark.slow
def test_a_time_after_forty_megabytes_of_log_is_read(
    folder: Path, tmp_path: Path, execute: Callable[[Run], object]
) -> None:
    (folder / "case" / "job.py").write_text(JOB.replace('print("loop', LOG + 'print("loop'))
    run = launched(folder, tmp_path, execute)
    for again in (False, True):
        if again:
            assert reparse_run(run).counts == (2, 0)
        for record in run.records():
            assert record.caveats.count("output-cut") == 1
            if record.trial.case.params == "steps=100":
                assert isinstance(record.outcome, Measured)
                assert record.outcome.samples[0].value == 0.25
            else:
                assert isinstance(record.outcome, Failed)
                assert record.outcome.code == "BL-PROBES-630"
                assert "32 MiB" in record.outcome.reason


@pytest.mark.parametrize(
    ("write", "value"),
    [
        ("os.mkfifo('out')", "out "),
        ("os.symlink('/dev/zero', 'out')", "out "),
        ("open('out', 'w').truncate(1 << 40)", "32 MiB"),
    ],
)
def test_an_odd_file_of_a_program_is_named(
    folder: Path, tmp_path: Path, execute: Callable[[Run], object], write: str, value: str
) -> None:
    (folder / "case" / "job.py").write_text(f"import os\n{write}\n{JOB}")
    study = folder / "mine.toml"
    text = study.read_text().replace("[app.job.values", 'file = "out"\n\n[app.job.values')
    study.write_text(text.replace("steps = [10, 100]", "steps = [100]"))
    (record,) = launched(folder, tmp_path, execute).records()
    assert isinstance(record.outcome, Failed)
    assert record.outcome.code == "BL-PROBES-722"
    remark = record.outcome.reason.partition("'^loop ")[2]
    assert value in remark, record.outcome.reason
    assert record.duration_s < 20


def test_the_end_of_a_long_file_of_a_program_is_read(
    folder: Path, tmp_path: Path, execute: Callable[[Run], object]
) -> None:
    script = f"import sys\nreal, sys.stdout = sys.stdout, open('out', 'w')\n{LOG}"
    script += "print('loop 0.5 s')\nsys.stdout.close()\nsys.stdout = real\n"
    (folder / "case" / "job.py").write_text(script + JOB)
    study = folder / "mine.toml"
    text = study.read_text().replace("[app.job.values", 'file = "out"\n\n[app.job.values')
    study.write_text(text.replace("steps = [10, 100]", "steps = [100]"))
    (record,) = launched(folder, tmp_path, execute).records()
    assert isinstance(record.outcome, Measured)
    assert record.outcome.samples[0].value == 0.5
    assert "output-cut" in record.caveats


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("case/job.py", "case/none.py", "BL-STUDY-602"),
        ("[app.job]", "[app.lammps]", "BL-STUDY-821"),
        ('verify = ["residual < 0.05"]', "", "BL-KEY-MISSING"),
        ('probe = "app.job"', 'probe = "app.jib"', "BL-PROBES-832"),
        ("sweep = { steps", "sweep = { stops", "BL-PROBES-808"),
    ],
)
def test_mistakes_are_named(folder: Path, old: str, new: str, code) -> None:
    path = folder / "mine.toml"
    text = path.read_text()
    assert old in text
    text = text.replace(old, new)
    if "lammps" in new:
        text = text.replace("app.job", "app.lammps")
    path.write_text(text)
    with raises(StudyError, code):
        load_study(path)


def test_an_input_that_is_no_text_goes_into_a_folder_of_the_nodes(folder: Path) -> None:
    (folder / "case" / "job.py").write_bytes(b"\xff\xfe\x00")
    with raises(StudyError, "BL-STUDY-899"):
        load_study(folder / "mine.toml")
