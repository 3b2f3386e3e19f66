"""`bareline ab`: commands compared in blocks, by wall time or by what they print."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib

import pytest

#: Prints the figures that a file beside it plants, one a launch, so that no clock decides a test.
PRINTER = """#!/bin/sh
echo launched >>"$0.log"
echo "Mop/s total = $(cat "$0.value")"
"""


@pytest.fixture
def programs(place):
    """Two programs that print a planted rate: b's is a tenth lower than a's."""
    for name, rate in (("a", 100.0), ("b", 90.0)):
        path = place / name
        path.write_text(PRINTER)
        path.chmod(0o755)
        (place / f"{name}.value").write_text(str(rate))
    return place


METRIC = ("--metric", "Mop/s total *= *([0-9.]+)")
_TWO = ["echo x=1", "echo x=2"]
_LAST_WORDS = "echo last words >&2; exit 7"


@pytest.mark.long
def test_the_command_with_the_lower_rate_is_certainly_worse(bareline, programs, fits):
    done = bareline("ab", *METRIC, "--launches", 6, "-o", "r", "-q", "--json", "--", "./a", "./b")
    base, row = json.loads(done.stdout)
    fits("ab", [base, row])
    assert (base["command"], row["command"]) == ("./a", "./b")
    assert (row["verdict"], row["grade"]) == ("slower", "certain")
    assert row["ratio"] == pytest.approx(100 / 90)
    assert (row["n"], row["n_failed"], row["better"]) == (6, 0, "higher")
    assert base["ratio"] is None
    # One launch of each before the run, which is in no record.
    assert (programs / "a.log").read_text().splitlines() == ["launched"] * 7
    records = map(json.loads, (programs / "r" / "records.jsonl").read_text().splitlines())
    blocks = {(one["block"], one["platform"]) for one in records}
    assert blocks == {(block, name) for block in range(6) for name in "ab"}


@pytest.mark.long
def test_the_answer_comes_first_and_names_the_commands(bareline, programs):
    asked = ("ab", *METRIC, "--launches", 6, "-q", "--export-markdown", "m.md")
    done = bareline(*asked, "--", "./a", "./b")
    first = done.stdout.splitlines()[0]
    assert first.startswith("'./b' is 1.11 times lower than './a': certain, 6 launches of each")
    markdown = (programs / "m.md").read_text()
    assert markdown.startswith("'./b' is 1.11 times lower") and "| b | ./b | 6 | 90.0 |" in markdown


@pytest.mark.long
def test_a_condition_sets_the_exit_code(bareline, programs):
    asked = ("ab", *METRIC, "--launches", 6, "-q", "--fail-if")
    bareline(*asked, "> 1.05", "--", "./a", "./b", code=1)
    bareline(*asked, "is slower", "--", "./b", "./a")


def test_what_plan_prints_is_the_study_that_is_measured(bareline, programs):
    asked = ("ab", *METRIC, "--launches", 6, "--plan")
    plan = bareline(*asked, "--", "./a", "./b --fast 'x y'").stdout
    (programs / "ab.toml").write_text(plan)
    assert tomllib.loads(plan)["variant"]["b"]["command"] == ["./b", "--fast", "x y"]
    bareline("run", "ab.toml", "--on", "bare", "-q", "-o", "r")
    rows = json.loads(bareline("compare", "r", "--json").stdout)
    row = next(row for row in rows if row["headline"])
    assert (row["platform"], row["verdict"], row["n"]) == ("b", "slower", 6)


def test_that_commands_are_the_same_is_noted_once(bareline, place):
    done = bareline("ab", "--launches", 1, "-q", "--", "true", "true")
    assert done.stderr.count("one variant") == 1


def test_far_more_ranks_than_cores_are_refused(bareline, place):
    done = bareline("ab", "--ranks", 1_000_000, "-q", "--", "true", "true", code=2)
    assert done.ended_by("BL-SESSION-209", "--ranks", "1,000,000")


def test_dry_run_launches_nothing(bareline, programs, fits):
    rows = json.loads(bareline("ab", "--dry-run", "--json", "--", "./a", "./b").stdout)
    fits("ab-dry-run", rows)
    assert {row["platform"] for row in rows} == {"a", "b"}
    assert not (programs / "a.log").exists() and not (programs / "runs").exists()


@pytest.mark.long
def test_ab_killed_in_the_middle_goes_on(bareline, programs):
    """SIGKILL after the first record: `continue` measures the rest, and no launch twice."""
    argv = [sys.executable, "-m", "bareline", "ab", *METRIC, "--launches", "8", "-q", "-o", "r"]
    process = subprocess.Popen([*argv, "--", "./a", "./b"], cwd=programs, stdout=subprocess.DEVNULL)
    records = programs / "r" / "records.jsonl"
    while not records.exists() or records.read_text().count("\n") < 2:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    ended = bareline("continue", "r", "-q").stdout
    assert ended.startswith("'./b' is 1.11 times lower than './a': certain, 8 launches of each")
    assert "bareline show r" in ended and "compare" not in ended
    found = [json.loads(line) for line in records.read_text().splitlines()]
    assert sorted(one["trial"] for one in found) == list(range(16))


@pytest.mark.long
def test_continue_of_commands_ends_as_ab_does(bareline, programs, fits):
    bareline("ab", *METRIC, "--launches", 6, "-q", "-o", "r", "--", "./a", "./b")
    records = programs / "r" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:-2]))
    done = bareline("continue", "r")
    assert done.stdout.startswith("'./b' is 1.11 times lower than './a': certain")
    assert "bareline compare" not in done.stdout + done.stderr
    rows = json.loads(bareline("continue", "r", "--json").stdout)
    fits("continue", rows)


def test_continue_of_commands_that_fail_ends_as_ab_does(bareline, programs):
    (programs / "once").write_text("#!/bin/sh\n[ ! -e used ] || exit 3\n: >used\necho x=1\n")
    (programs / "once").chmod(0o755)
    asked = ("ab", "--metric", "x=(.*)", "--launches", 6, "-q", "-o", "r")
    bareline(*asked, "--", "echo x=1", "./once", code=3)
    done = bareline("continue", "r", "-q", code=3)
    assert "6 of 6 launches of './once' failed" in " ".join(done.stdout.split())


def test_the_plan_that_is_run_by_itself_still_prints_the_run(bareline, programs):
    asked = ("ab", *METRIC, "--launches", 6, "--plan", "--", "./a", "./b")
    (programs / "ab.toml").write_text(bareline(*asked).stdout)
    assert bareline("run", "ab.toml", "--on", "bare", "-q", "-o", "r").stdout == "r\n"


@pytest.mark.parametrize(("way", "code"), [("pass", 0), ("fail", 4)])
@pytest.mark.long
def test_what_is_undecided_passes_or_fails_as_asked(bareline, programs, way, code):
    asked = ("ab", *METRIC, "--launches", 4, "-q", "--fail-if", "> 1.05", "--undecided", way)
    done = bareline(*asked, "--", "./a", "./b", code=code)
    assert done.has_line("UNDECIDED", "app.command > 1.05")


def test_another_way_is_refused_before_anything_is_launched(bareline, programs):
    asked = ("ab", *METRIC, "--fail-if", "> 1.05", "--undecided", "maybe")
    assert bareline(*asked, "--", "./a", "./b", code=2).ended_by("BL-CLI-938", "maybe")
    assert not (programs / "a.log").exists()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["printf %s '{nodes}{workdir}{native}{brace}'"], "{nodes}{workdir}{native}{brace}"),
        (["echo $((1 + 2)) | cat"], "3\n"),
        (["VALUE=x sh -c 'echo $VALUE'"], "x\n"),
        (["echo 'two  spaces' \"and 'quotes'\""], "two  spaces and 'quotes'\n"),
        (["seq 200000"], "".join(f"{number}\n" for number in range(1, 200001))),
    ],
)
def test_a_command_line_reaches_the_program_as_it_is(bareline, place, lines, said):
    bareline("ab", "--launches", 1, "-q", "-o", "r", "--", *lines, "true")
    from bareline.store.run import Run

    run = Run.open(place / "r")
    record = next(one for one in run.heads().values() if one.trial.platform == "a")
    stdout = run.read_raw(record.trial).stdout
    assert stdout.startswith(said[:1000]) and stdout.endswith(said[-1000:])


@pytest.mark.parametrize(
    ("options", "commands", "error", "values"),
    [
        ("", ["true"], "BL-STUDY-470", ["1"]),
        ("", ["true", ""], "BL-STUDY-401", []),
        ("", ["true", "echo 'x"], "BL-STUDY-632", ["echo 'x"]),
        ("", ["true", f"sh -c '{_LAST_WORDS}'"], "BL-SESSION-759", ["7", "last words"]),
        ("", ["true", "./not-there"], "BL-SESSION-759", ["./not-there"]),
        ("--metric x([0-9", ["true", "true"], "BL-STUDY-220", ["--metric"]),
        ("--metric x[0-9]+", ["true", "true"], "BL-STUDY-950", ["--metric", "'x[0-9]+'", "0"]),
        ("--metric x=(.*)", ["echo x=1", "echo x=nan"], "BL-SESSION-759", ["'nan'"]),
        ("--metric x=(.*)", ["echo x=1", "echo x=1e999"], "BL-SESSION-759", ["value = inf"]),
        ("--metric x=(.*)", ["echo x=1", "echo y=2"], "BL-SESSION-759", ["echo y=2", "'x=(.*)'"]),
        ("--metric x=(.*) --unit furlong", _TWO, "BL-STUDY-410", ["--unit", "'furlong'"]),
        ("--metric x=(.*) --better more", _TWO, "BL-CLI-153", ["--better", "'more'"]),
        ("--on nowhere", ["true", "true"], "BL-PLATFORMS-780", ["'nowhere'"]),
    ],
)
def test_what_cannot_be_compared_is_one_line(bareline, place, options, commands, error, values):
    done = bareline("ab", *options.split(), "--", *commands, code=2)
    assert done.ended_by(error, *values) and "Traceback" not in done.stderr
    assert not (place / "runs").exists()


def test_a_command_that_fails_later_is_counted(bareline, programs):
    """It works in the first launch alone, which warms up."""
    (programs / "once").write_text("#!/bin/sh\n[ ! -e used ] || exit 3\n: >used\necho x=1\n")
    (programs / "once").chmod(0o755)
    asked = ("ab", "--metric", "x=(.*)", "--launches", 6, "-q", "--", "echo x=1", "./once")
    done = bareline(*asked, code=3)
    assert "6 of 6 launches of './once' failed" in " ".join(done.stdout.split())


@pytest.mark.long
def test_several_commands_are_compared_with_the_first(bareline, programs):
    asked = ("ab", *METRIC, "--launches", 6, "-q", "--json", "--", "./a", "./b", "./a again")
    rows = json.loads(bareline(*asked).stdout)
    assert [row["grade"] for row in rows] == [None, "certain", "equal"]


def test_short_commands_are_launched_more_often(tmp_path):
    from bareline.study.commands import CommandOptions, command_study

    options = CommandOptions(folder=tmp_path)
    launches = [command_study(["a", "b"], options, seconds).launches for seconds in
                ((), (0.001, 0.001), (0.05, 0.1), (10.0, 10.0))]  # fmt: skip
    assert launches == [12, 50, 20, 12]
