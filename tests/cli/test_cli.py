"""The command line as a user meets it: output, exit codes, one line for every mistake."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.cli.main import main
from bareline.vocabulary.message_codes import code_of


@pytest.fixture
def finished(bareline):
    bareline("run", "planted.toml", "--on", "a", "--on", "b", "--out", "r")
    return "r"


def test_the_run_directory_is_the_last_line_and_progress_is_on_stderr(bareline):
    done = bareline("run", "planted.toml", "--on", "a", "--on", "b", "--out", "r")
    assert done.stdout == "r\n"
    assert done.has_line(14) and "bareline compare r" in done.stderr


def test_without_out_a_folder_below_runs_is_made(bareline, place):
    done = bareline("run", "planted.toml", "--on", "a")
    assert done.stdout.startswith("runs/planted-")
    assert (place / done.stdout.strip() / "records.jsonl").exists()


def test_failed_trials_end_with_3_and_keep_the_rest(bareline, place):
    done = bareline("run", "planted.toml", "--on", "a", "--on", "broken", "--out", "r", code=3)
    assert done.has_line("broken", "planted failure")
    (row,) = json.loads(bareline("status", "r", "--json").stdout)
    assert (row["measured"], row["failed"], row["remaining"]) == (7, 7, 0)


def test_show_names_what_failed_though_nothing_was_measured(bareline):
    bareline("run", "planted.toml", "--on", "broken", "--out", "r", code=3)
    said = bareline("show", "r").stdout
    assert "7 of 7 trials" in said and "planted failure" in said
    (row,) = json.loads(bareline("show", "r", "--json").stdout)
    assert (row["platform"], row["n"], row["n_failed"]) == ("broken", 0, 7)


def test_dry_run_shows_the_plan_and_makes_nothing(bareline, place):
    done = bareline("run", "planted.toml", "--on", "a", "--dry-run")
    assert re.search(r"\b7 trials\b.*\b7 blocks\b", done.stdout)
    rows = json.loads(bareline("run", "planted.toml", "--on", "a", "--dry-run", "--json").stdout)
    assert [row["trial"] for row in rows] == list(range(7))
    assert {path.name for path in place.iterdir()} == {"planted.toml", "platforms.toml"}


def test_a_run_at_its_limit_of_core_hours_tells_as_asked(bareline, place):
    # A trial takes 0.2 s on one core, and 0.0001 core hours are 0.36 s.
    (place / "platforms.toml").write_text('[platform.slow]\ntype = "null"\npause_s = 0.2\n')
    least = ("--max-core-hours", "0.0001", "--json", "--out", "r")
    done = bareline("run", "planted.toml", "--on", "slow", *least, code=130)
    (row,) = json.loads(done.stdout)
    assert row["measured"] < row["planned"] and "--max-core-hours" in done.stderr


def test_a_run_says_first_what_it_measures_on_where_nobody_named_it(bareline, place):
    study = (
        (place / "planted.toml")
        .read_text()
        .replace("precision", 'platforms = ["a", "b"]\nprecision')
    )
    study = study.replace("min_launches = 2", 'min_launches = 2\nplatforms = ["b"]')
    (place / "own.toml").write_text(study)
    done = bareline("run", "own.toml", "--out", "r")
    assert " a and b;" in done.stderr.partition("\n")[0] and "`--on`" in done.stderr
    small = bareline("run", "own.toml", "--scale", "small", "--out", "s")
    assert " b;" in small.stderr.partition("\n")[0] and "`--on`" in small.stderr
    named = bareline("run", "own.toml", "--on", "a", "--out", "t")
    assert "`--on`" not in named.stderr.partition("\n")[0]


def test_a_scale_is_shown_and_kept_by_the_run(bareline, place):
    small = ("run", "planted.toml", "--on", "a", "--scale", "small")
    plan = bareline(*small, "--dry-run").stdout
    assert re.search(r"\b2 trials\b.*\b2 blocks on a\b.*\bsmall\b", plan)
    (row, _) = json.loads(bareline(*small, "--dry-run", "--json").stdout)
    assert row["params"] == "points=1 spread=0.01"
    done = bareline("run", "planted.toml", "--on", "a", "--scale", "tiny", code=2)
    assert done.ended_by("BL-STUDY-247", "tiny", "small")
    bareline(*small, "--out", "r")
    # As after a kill: the second record is lost, and the study file is gone.
    records = place / "r" / "records.jsonl"
    records.write_text(records.read_text().splitlines(keepends=True)[0])
    (place / "planted.toml").unlink()
    bareline("continue", "r")
    (row,) = json.loads(bareline("status", "r", "--json").stdout)
    assert (row["scale"], row["planned"], row["measured"]) == ("small", 2, 2)
    assert "study planted at scale small" in bareline("status", "r").stdout


def test_compare_prints_the_verdict_and_fits_a_hundred_columns(bareline, finished):
    done = bareline("compare", finished)
    row = next(line for line in done.stdout.splitlines() if line.startswith("  Planted time"))
    ratio, interval = row.split("  ")[-1].split(" [")
    assert float(ratio) == pytest.approx(2.0, rel=0.05) and interval.startswith(("1.9", "2.0"))
    assert "1.5 times slower" not in done.stdout and " times slower on b (" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "\x1b" not in done.stdout


def test_json_is_nothing_but_rows(bareline, finished):
    compared = json.loads(bareline("compare", finished, "--json").stdout)
    assert {row["verdict"] for row in compared} == {"slower"}
    assert {row["platform"] for row in compared} == {"b"}
    shown = json.loads(bareline("show", finished, "--json").stdout)
    assert {row["platform"] for row in shown} == {"a", "b"}
    assert all(row["n"] == 7 for row in shown)
    told = json.loads(bareline("explain", finished, "--json").stdout)
    assert told[0]["ratio"] == pytest.approx(2.0, rel=0.02)
    probes = {row["probe"]: row for row in json.loads(bareline("probes", "--json").stdout)}
    assert probes["mpi.pingpong"]["layer"] == "mpi"
    assert {"mpi.allreduce", "memory.stream", "compute.dgemm", "net.nuttcp", "null"} <= set(probes)
    studies = json.loads(bareline("studies", "--json").stdout)
    assert "quick" in {row["study"] for row in studies}
    platforms = json.loads(bareline("platforms", "--json").stdout)
    assert {"a", "bare", "net-10g"} <= {row["platform"] for row in platforms}


def test_why_not_says_what_a_cause_needs_and_what_came_of_it(bareline, finished):
    rows = json.loads(bareline("explain", finished, "--why-not", "blas-kernels", "--json").stdout)
    assert [(row["kind"], row.get("key")) for row in rows] == [("fact", "library.blas_kernels")]
    said = bareline("explain", finished, "--why-not", "shared cores").stdout
    assert "Shared cores on b, compared with a" in said
    assert "is not named as its cause" in " ".join(said.split())
    wrong = bareline("explain", finished, "--why-not", "clok", code=2)
    assert wrong.ended_by("BL-ANALYSIS-161", "'clok'", "'clock'")
    bareline("explain", finished, "--why-not", "clock", "--app", "null", code=2)


@pytest.mark.parametrize(
    ("condition", "code"),
    [("null > 1.5", 1), ("null > 3", 0), ("b:null is slower", 1), ("app.time is failed", 0)],
)
def test_fail_if_sets_the_exit_code(bareline, finished, condition, code):
    done = bareline("compare", finished, "--fail-if", condition, code=code)
    result = "FAIL" if code else "PASS"
    assert done.has_line(result, condition)


def test_report_writes_one_page_and_figures(bareline, finished, place):
    done = bareline("report", finished, "--figures", "figures")
    page = place / done.stdout.splitlines()[-1]
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert list((place / "figures").glob("*.svg"))
    assert list((place / "figures").glob("*.png"))


def test_continue_reparse_export_and_lists(bareline, finished, place):
    assert bareline("continue", finished).has_line(14)
    assert re.findall(r"\d+", bareline("reparse", finished).stdout) == ["14", "0"]
    assert "42" in bareline("export", finished, "--out", "s.csv").stdout.split()
    assert len((place / "s.csv").read_text().splitlines()) == 43
    for command in (("probes",), ("probes", "mpi.pingpong"), ("platforms",), ("studies",),
                    ("status", "r"), ("show", "r"), ("show", "r", "--facts"),
                    ("platforms", "show", "bare"), ("explain", "r"), ("--version",)):  # fmt: skip
        assert bareline(*command).stdout.strip()


def test_a_wrong_table_hides_no_other_platform(bareline, place):
    wrong = '[platform.wrong]\ntype = "null"\nspeeed = 1\n[platform.last]\ntype = "null"\n'
    with (place / "platforms.toml").open("a", encoding="utf-8") as file:
        file.write(wrong)
    listed = bareline("platforms", "--json", code=2)
    assert {"a", "last", "bare"} <= {row["platform"] for row in json.loads(listed.stdout)}
    assert "[platform.wrong]: 'speeed': " in listed.stderr
    assert bareline("platforms", "show", "last").stdout
    assert bareline("platforms", "show", "wrong", code=2).ended_by("BL-PLATFORMS-613", "speeed")
    bareline("run", "planted.toml", "--on", "a", "--out", "r")


def test_a_platform_file_can_be_shown_and_read_again(bareline, place):
    (place / "shown.toml").write_text(bareline("platforms", "show", "b").stdout)
    done = bareline("platforms", "show", "b", "--platforms", "shown.toml", "--json")
    assert json.loads(done.stdout)["factor"] == 2.0


@pytest.mark.parametrize(
    ("arguments", "error", "values"),
    [
        ("run nope --on a", "BL-STUDY-437", ("'nope'",)),
        ("run nope.toml --on a", "BL-STUDY-648", ("nope.toml: ",)),
        ("run planted.toml", "BL-CLI-903", ("--on",)),
        ("run planted.toml --on c", "BL-PLATFORMS-780", ("'c'",)),
        ("run planted.toml --on a --on a", "BL-PLATFORMS-510", ("'a'",)),
        ("run planted.toml --on a --baseline b", "BL-SESSION-968", ("'b'", "--on b")),
        ("run planted.toml --on a --out .", "BL-STORE-823", ("--out",)),
        ("run planted.toml --on a --out /proc/x", "BL-STORE-614", ("/proc/x: ", "--out")),
        ("show nowhere", "BL-STORE-971", ("nowhere: ",)),
        ("continue nowhere", "BL-STORE-971", ("nowhere: ",)),
        ("probes mpi.pingpnog", "BL-PROBES-832", ("'mpi.pingpnog'", "'mpi.pingpong'")),
        ("platforms show bear", "BL-PLATFORMS-780", ("'bear'", "'bare'")),
        ("platforms show bare --xml", "BL-PLATFORMS-212", ("'bare'", "'local'")),
        ("platforms --platforms planted.toml", "BL-PLATFORMS-370", ("'study'",)),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(bareline, arguments, error, values):
    done = bareline(*arguments.split(), code=2)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("bareline: ")
    assert done.ended_by(error, *values)
    assert done.stdout == ""


def test_a_platform_given_for_a_command_names_the_command_that_shows_it(bareline):
    wrong = bareline("platforms", "lan", code=2).stderr
    assert "`bareline platforms show lan`" in wrong
    assert "clean" not in wrong


@pytest.mark.parametrize(
    ("text", "error", "values"),
    [
        ("[platform.x]\ntype = 'nul'\n", "BL-PLATFORMS-143", ["[platform.x]", "'null'"]),
        ("[platform.x]\nfactor = 1\n", "BL-PLATFORMS-455", ["[platform.x]", "'type'"]),
        ("[platform.x]\ntype = 'null'\nfactr = 1\n", "BL-PLATFORMS-613", ["'factr'", "'factor'"]),
        ("[platform.x]\ntype = 'null'\nfactor = -1\n", "BL-PLATFORMS-613", ["'factor'", "-1"]),
        ("[platform.'x y']\ntype = 'null'\n", "BL-PLATFORMS-645", ["'x y'"]),
        ("[platforms.x]\n", "BL-PLATFORMS-370", ["'platforms'", "[platform.NAME]"]),
        ("[platform.x\n", "BL-PLATFORMS-362", ["line 1"]),
        ("platform = 3\n", "BL-PLATFORMS-758", ["[platform.NAME]"]),
    ],
)
def test_malformed_platform_files_are_named_with_key_and_next_step(
    bareline, place, text, error, values
):
    (place / "p.toml").write_text(text)
    done = bareline("platforms", "--platforms", "p.toml", code=2)
    assert done.stderr.count("\n") == 1 and done.has_line("p.toml", *values)
    name = "x y" if "x y" in text else "x"
    shown = bareline("platforms", "show", name, "--platforms", "p.toml", code=2)
    assert shown.ended_by(error, "p.toml", *values)


def test_a_damaged_run_is_named(bareline, finished, place):
    records = place / "r" / "records.jsonl"
    records.write_text("{broken}\n" + records.read_text())
    assert bareline("show", finished, code=2).ended_by("BL-STORE-109")
    (place / "r" / "run.toml").write_text("schema = 1\n")
    assert bareline("show", finished, code=2).ended_by("BL-STORE-641", "run.toml")


def test_a_reader_that_leaves_early_is_no_error(place, finished):
    done = subprocess.run(
        f"{sys.executable} -m bareline compare r --json | head -n 1",
        shell=True, cwd=place, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""


def test_an_error_is_one_line_without_a_traceback_in_a_real_process(place):
    done = subprocess.run(
        [sys.executable, "-m", "bareline", "show", "nowhere"],
        cwd=place, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_a_control_is_priced_marked_and_shown_on_demand(bareline):
    both = ("run", "planted.toml", "--on", "a", "--on", "b")
    plan = bareline(*both, "--control", "--dry-run").stdout
    assert re.search(r"\b21 trials\b.*\b7 blocks\b", plan)
    assert re.search(r"\b7 trials\b.*\ba-again\b", plan)
    assert "a-again" not in bareline(*both, "--dry-run").stdout
    bareline(*both, "--control", "--out", "r")
    said = bareline("compare", "r").stdout
    assert "The baseline against itself: 0 of 3 rows differ" in " ".join(said.split())
    assert "a-again" not in said
    assert "a-again" in bareline("compare", "r", "--control").stdout
    rows = json.loads(bareline("compare", "r", "--json").stdout)
    assert {(row["platform"], row["control"]) for row in rows} == {("b", False), ("a-again", True)}
    # What its two halves differ by meets no condition about platforms.
    bareline("compare", "r", "--fail-if", "null is faster")
    assert "a-again" not in bareline("show", "r").stdout
    assert "a-again" in bareline("show", "r", "--control").stdout
    told = json.loads(bareline("explain", "r", "--json").stdout)
    assert [row["differ"] for row in told if row["kind"] == "control"] == [0]
    bareline("report", "r", "--out", "r.md")
    bareline("report", "r", "--out", "r.html")
    for page in ("r.md", "r.html"):
        text = " ".join(Path(page).read_text().split())
        assert "he baseline against itself: 0 of 3 rows differ" in text
    bareline("export", "r", "--out", "r.csv")
    assert "a-again" in Path("r.csv").read_text()


def test_one_platform_against_itself(bareline):
    bareline("run", "planted.toml", "--on", "a", "--control", "--out", "r")
    assert "The baseline against itself: 0 of 3" in bareline("compare", "r").stdout
    assert "The baseline against itself: 0 of 3" in bareline("explain", "r").stdout
    assert json.loads(bareline("compare", "r", "--json").stdout)[0]["control"]


def next_commands(stderr):
    """Give the commands that a run proposes, as arguments."""
    lines = stderr[stderr.index("next: ") :].splitlines()
    found = [line.removeprefix("next:").strip() for line in lines]
    return [shlex.split(line)[1:] for line in found if line.startswith("bareline ")]


@pytest.mark.parametrize("options", [
    ["--on", "a"], ["--on", "a", "--control"], ["--on", "a", "--on", "b"], ["--on", "broken"],
    ["--on", "broken", "--on", "a"], ["--on", "a", "--on", "narrow"],
])  # fmt: skip
def test_what_is_proposed_next_works(bareline, place, options):
    with (place / "platforms.toml").open("a") as file:
        file.write('[platform.narrow]\ntype = "null"\nnodes = 1\n')
    study = place / "planted.toml"
    if "narrow" in options:
        study.write_text(study.read_text().replace('"null"\n', '"null"\nranks = 2\nnodes = 2\n'))
        text = (place / "platforms.toml").read_text()
        (place / "platforms.toml").write_text(text.replace("a]\n", "a]\nnodes = 2\n", 1))
    failing = 3 if "broken" in options else 0
    done = bareline("run", "planted.toml", *options, "--out", "my r", code=failing)
    commands = next_commands(done.stderr)
    assert [command[0] for command in commands][1] == "report"
    for command in commands:
        bareline(*command, code=failing if command[0] == "continue" else 0)
    comparable = "--control" in options or options[3:] in (["a"], ["b"])
    assert commands[0][0] == ("compare" if comparable else "show")


def test_layouts_that_never_meet_are_said_before_the_run(bareline, place):
    (place / "platforms.toml").write_text(
        '[platform.a]\ntype = "null"\n[platform.two]\ntype = "null"\nnodes = 2\n'
    )
    text = (place / "planted.toml").read_text()
    (place / "planted.toml").write_text(text.replace('"null"\n', '"null"\nranks = 2\n'))
    done = bareline("run", "planted.toml", "--on", "a", "--on", "two", "--dry-run")
    assert done.has_line("a", "two") and done.has_line("two", "nodes = 1")
    (place / "planted.toml").write_text(text.replace('"null"\n', '"null"\nranks = 2\nnodes = 1\n'))
    assert not bareline("run", "planted.toml", "--on", "a", "--on", "two", "--dry-run").stderr
    text = text.replace("precision", 'layouts = "any"\nprecision')
    (place / "planted.toml").write_text(text.replace('"null"\n', '"null"\nranks = 2\n'))
    assert not bareline("run", "planted.toml", "--on", "a", "--on", "two", "--dry-run").stderr


def test_waiting_takes_a_time_or_none(bareline):
    assert bareline(
        "run", "planted.toml", "--on", "a", "--wait-quiet=x", code=2
    ).ended_by("BL-VOCABULARY-925")  # fmt: skip
    # A word after it is an argument of its own; null trials run nowhere, so nothing is waited for.
    done = bareline("run", "--wait-quiet", "planted.toml", "--on", "a", "--out", "r")
    assert done.has_line(7) and "waiting" not in done.stderr


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ('type = "slurm"\nallocation = "inherit"\nnodes = 2', ""),
        ('type = "local"\nio_folder = "/there/is/none"', "'/there/is/none'"),
        ('type = "local"\nmpi = "/there/is/none"', "'/there/is/none'"),
    ],
)
def test_a_platform_that_cannot_be_used_is_refused_before_anything_is_made(
    tmp_path, monkeypatch, capsys, table, value
):
    (tmp_path / "p.toml").write_text(f'[platform.a]\ntype = "null"\n[platform.b]\n{table}\n')
    (tmp_path / "s.toml").write_text('[study]\nname = "s"\n[[measure]]\nprobe = "null"\n')
    monkeypatch.chdir(tmp_path)
    argv = ["run", "s.toml", "--platforms", "p.toml", "--on", "a", "--on", "b", "--out", "run"]
    monkeypatch.setattr(sys, "argv", ["bareline", *argv])
    with pytest.raises(SystemExit) as end:
        main()
    error = capsys.readouterr().err
    assert end.value.code == 2 and code_of(end.value.__context__) == "BL-SESSION-104"
    assert value in error and "'b'" in error and "--on b" in error
    assert len(error.splitlines()) == 1 and "Traceback" not in error
    assert not (tmp_path / "run").exists()


def test_without_root_guests_are_refused_with_the_remedy(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path))
    (tmp_path / "s.toml").write_text('[study]\nname = "s"\n[[measure]]\nprobe = "null"\n')
    argv = ["run", "s.toml", "--on", "vm-virtio", "--out", "run"]
    monkeypatch.setattr(sys, "argv", ["bareline", *argv])
    with pytest.raises(SystemExit) as end:
        main()
    error = capsys.readouterr().err
    assert end.value.code == 2 and code_of(end.value.__context__) == "BL-SESSION-104"
    assert "'vm-virtio'" in error and "sudo" in error
    assert not (tmp_path / "run").exists()
