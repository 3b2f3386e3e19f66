"""`bareline forecast`: its steps before anything runs, and what it refuses."""

import json

import pytest


def test_dry_run_lists_the_steps_and_runs_nothing(bareline, place, fits):
    asked = ("forecast", "--on", "bare", "--to", "bare-tcp", "--check", "--dry-run")
    launched = ("--", "mpirun", "-n", "2", "./app")
    rows = json.loads(bareline(*asked, "--json", *launched).stdout)
    fits("forecast-dry-run", rows)
    assert [row["step"] for row in rows] == ["profile", "ladder", "check"]
    assert all(row["measures"] and row["run"] is None for row in rows)
    assert "known after the profile" in " ".join(bareline(*asked, *launched).stdout.split())
    assert not (place / "runs").exists()


@pytest.mark.long
def test_a_program_that_fails_ends_it_with_the_run_that_says_why(bareline, place):
    """`false` under the profiler: no profile, no ladder, and the same command tries again."""
    asked = (
        "forecast",
        "--on",
        "bare",
        "--to",
        "bare-tcp",
        "-q",
        "--",
        "mpirun",
        "-n",
        "1",
        "false",
    )
    for number in (1, 2):
        assert "`bareline show runs/profile-false-" in bareline(*asked, code=3).stderr
        assert len(list((place / "runs").iterdir())) == number


@pytest.mark.parametrize(
    ("arguments", "error", "value"),
    [
        ("--to bare -- ./app", "BL-STUDY-801", "'./app'"),
        ("--to nowhere -- mpirun -n 2 ./app", "BL-PLATFORMS-780", "'nowhere'"),
        ("--to bare -- mpirun -n 2 ./app", "BL-PLATFORMS-510", "'bare'"),
        ("--to b --max-age soon -- mpirun -n 2 ./app", "BL-VOCABULARY-925", "'soon'"),
        ("--to b --from gone -- app.x", "BL-STORE-971", "gone"),
    ],
)
def test_what_cannot_be_forecast_is_one_line(bareline, place, arguments, error, value):
    done = bareline("forecast", *arguments.split(), code=2)
    assert done.ended_by(error, value) and "Traceback" not in done.stderr
    assert not (place / "runs").exists()
