"""`submit` takes what `run` takes, shows what it would do, and hands over what was asked for."""

from __future__ import annotations

import json
import shlex

import pytest
import typer.main

from bareline.cli.main import app

#: Options of `run` that a batch job has no use for, and why. There are none.
SENSELESS: dict[str, str] = {}

SBATCH = """\
#!/bin/sh
printf '%s\\n' "$@" >>"{folder}/asked"
echo 7
"""


def options(name):
    command = typer.main.get_command(app).commands[name]
    return {option for param in command.params for option in (*param.opts, *param.secondary_opts)}


def test_submit_takes_every_option_of_run():
    lacking = options("run") - options("submit")
    assert lacking == set(SENSELESS)
    assert {"--as", "--launches", "--wait-quiet", "--no-control", "--dry-run"} <= options("submit")


@pytest.fixture
def slurm(place, monkeypatch):
    """Let a program stand for sbatch that notes what it is asked."""
    program = place / "bin" / "sbatch"
    program.parent.mkdir()
    program.write_text(SBATCH.format(folder=place))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return place / "asked"


def submit(bareline, *words, code=0):
    return bareline("submit", "planted.toml", "--on", "a", "--on", "b", *words, code=code)


def test_dry_run_shows_script_command_and_plan_and_submits_nothing(bareline, place, slurm):
    words = ("--dry-run", "--chain", "3", "--launches", "2", "--nodes", "2", "--out", "run")
    said = submit(bareline, *words).stdout
    assert said.startswith("#!/bin/sh\n")
    assert "sbatch --parsable" in said and "--nodes=2" in said
    assert " 2 jobs " in said and " 2 blocks" in said
    assert not slurm.exists() and not (place / "run").exists()


def test_a_chain_that_nobody_means_is_refused(bareline, place, slurm):
    done = submit(bareline, "--chain", "101", "--out", "run", code=2)
    assert done.ended_by("BL-SESSION-704", "--chain", "101", "100")
    assert not slurm.exists() and not (place / "run").exists()


def test_dry_run_as_json_has_all_of_it(bareline, place, slurm, fits):
    said = json.loads(submit(bareline, "--dry-run", "--json", "--out", "run").stdout)
    fits("submit-dry-run", said)
    assert said["command"][0] == "sbatch" and said["script"].startswith("#!/bin/sh\n")
    assert {row["platform"] for row in said["plan"]} >= {"a", "b"}
    assert (said["run"], said["system"], said["chain"]) == ("run", "slurm", 1)
    assert not slurm.exists() and not (place / "run").exists()


def test_json_gives_job_run_and_command(bareline, place, slurm, fits):
    (row,) = json.loads(submit(bareline, "--json", "--out", "run").stdout)
    fits("submit", [row])
    assert (row["run"], row["system"], row["jobs"]) == ("run", "slurm", ["7"])
    assert row["command"][1:] == slurm.read_text().splitlines()


def test_the_job_measures_as_run_would_have(bareline, place, slurm):
    words = ("--wait-quiet", "--quiet", "--stop-on-failure", "--launches", "3", "--no-control")
    said = submit(bareline, *words, "--out", "my run")
    assert said.stdout == "my run\n"
    last = (place / "my run" / "submission.sh").read_text().splitlines()[-1]
    assert shlex.split(last)[-5:] == [
        "continue", "--wait-quiet=30min", "--quiet", "--stop-on-failure", str(place / "my run"),
    ]  # fmt: skip
    status = json.loads(bareline("status", "my run", "--json").stdout)[0]
    assert (status["planned"], status["control"]) == (6, None)


def test_words_for_the_batch_system_come_last_and_whole(bareline, slurm):
    submit(bareline, "--after", "12", "--batch-options", "-p short --comment 'a b'")
    words = slurm.read_text().splitlines()
    assert words[-4:-1] == ["short", "--comment", "a b"]
    assert "--dependency=afterok:12" in words
    done = submit(bareline, "--batch-options", "'", code=2)
    assert done.ended_by("BL-CLI-228", "--batch-options")


def test_a_time_that_is_none_is_refused_at_once_and_not_in_the_job(bareline, place, slurm):
    done = submit(bareline, "--wait-quiet=soon", "--out", "run", code=2)
    assert done.ended_by("BL-VOCABULARY-925", "'soon'")
    assert not slurm.exists() and not (place / "run").exists()
