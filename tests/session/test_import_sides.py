"""Two imported sides that differ in their ranks, and a command line that names two baselines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bareline.cli.main import main

_ALLREDUCE = """\
# OSU MPI Allreduce Latency Test v5.8
# Size       Avg Latency(us)
4                       {:.2f}
8                       {:.2f}
16                      {:.2f}
"""


@pytest.fixture
def bareline(monkeypatch, capsys):
    """Run a command line; give its exit code and all that it prints, on one line."""

    def run(*argv: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["bareline", *map(str, argv)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, " ".join((printed.out + printed.err).split())

    return run


def import_sides(bareline, tmp_path: Path, ranks: dict[str, int | None]) -> Path:
    """Import an output for each platform, with its number of ranks where one is given."""
    run = tmp_path / "run"
    for index, (platform, number) in enumerate(ranks.items()):
        output = tmp_path / f"{platform}.txt"
        output.write_text(_ALLREDUCE.format(3.1 + index, 3.2 + index, 3.3 + index))
        given = [] if number is None else ["--ranks", number]
        code, _ = bareline("import", output, "--platform", platform, *given, "-o", run)
        assert code == 0
    return run


@pytest.mark.parametrize(
    ("ranks", "reason"),
    [
        ({"x": 8, "y": 16}, "not the same number of ranks: x has 8, y has 16"),
        (
            {"x": 8, "y": None},
            "the number of ranks of y is not known, x has 8; import with --ranks",
        ),
        ({"x": None, "y": 16}, "the number of ranks of x is not known, y has 16"),
    ],
)
def test_other_ranks_are_the_reason_why_nothing_is_compared(bareline, tmp_path, ranks, reason):
    run = import_sides(bareline, tmp_path, ranks)
    for verb in ("compare", "explain"):
        code, printed = bareline(verb, run, "--baseline", "x")
        assert code == 0
        assert reason in printed
        assert "has no figure" not in printed


def test_ranks_that_neither_side_gives_are_compared(bareline, tmp_path):
    run = import_sides(bareline, tmp_path, {"x": None, "y": None})
    _, printed = bareline("compare", run, "--baseline", "x")
    assert "number of ranks of" not in printed
    assert "missing" not in printed


@pytest.mark.parametrize("second", [["--baseline", "y"], ["--baseline=y"], ["--baseline", "x"]])
@pytest.mark.parametrize("verb", ["compare", "explain", "report"])
def test_two_baselines_are_refused(bareline, tmp_path, verb, second):
    run = import_sides(bareline, tmp_path, {"x": 8, "y": 8})
    code, printed = bareline(verb, run, "--baseline", "x", *second)
    assert (code, printed) == (2, "bareline: --baseline is given twice; give it once")


def test_options_of_a_profiled_program_may_repeat(bareline, tmp_path):
    line = [
        "profile",
        "-o",
        tmp_path / "f.profile",
        "--",
        "no-such-program",
        "--out",
        1,
        "--out",
        2,
    ]
    code, printed = bareline(*line)
    assert code == 2
    assert "twice" not in printed
