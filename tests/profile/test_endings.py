"""However a program ends: its result and exit code are its own, and nothing gathered is lost."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline.profile.files import is_profile, read_profile
from bareline.profile.journal import journal_of
from bareline.session.profiling import profile_command
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ProfileError

from .conftest import SETTINGS, Bench, rows

pytestmark = pytest.mark.mpi


def _launched_into_files(bench: Bench, way: str, *, profiled: bool) -> tuple[int, str]:
    """Run the planted program with each rank's output in a file; return exit code and output.

    Open MPI 5 often loses the output of ranks that end with an error: it must not pass through
    the launcher.
    """
    folder = bench.folder / ("profiled" if profiled else "plain")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    script = f'exec "$0" "$@" >{shlex.quote(str(folder))}/$$'
    program = str(bench.program("ending"))
    done = bench.launch(2, Path("/bin/sh"), "-c", script, program, way, profiled=profiled)
    return done.returncode, "".join(path.read_text() for path in folder.iterdir())


@pytest.mark.parametrize("way", ["return", "exit", "abort", "segv", "kill", "term"])
def test_exit_code_and_output_are_the_programs_own(bench: Bench, way: str) -> None:
    path = bench.folder / "app.profile"
    # MPICH's launcher now and then returns the code of the rank that it killed afterwards.
    for _ in range(10):
        path.unlink(missing_ok=True)
        journal_of(path).unlink(missing_ok=True)
        plain, plain_output = _launched_into_files(bench, way, profiled=False)
        profiled, profiled_output = _launched_into_files(bench, way, profiled=True)
        if profiled == plain:
            break
    assert profiled == plain
    assert plain_output == profiled_output == "checksum 42\n"
    assert path.exists() == (way == "return")
    assert journal_of(path).exists() == (way != "return")
    assert is_profile(path)
    profile = read_profile(path)
    assert profile.complete == (way == "return")
    assert rows(profile, "MPI_Send", "MPI_Recv", "MPI_Barrier") == [
        ("MPI_Barrier", 0, 2, 2, 0, 0, 0),
        ("MPI_Recv", 80, 2, 10, 800, 0, 800),
        ("MPI_Send", 80, 2, 10, 800, 800, 0),
    ]
    assert profile.send_table.rows() == [(0, 1, 10, 800)]
    assert profile.command == f"ending {way}"
    if way == "abort":
        assert profile.ended == "rank 1 called MPI_Abort with 5"
    elif way != "return":
        assert profile.ended == "ended before MPI_Finalize"


def test_a_rank_that_left_nothing_is_said(bench: Bench) -> None:
    bench.launch(2, "ending", "kill")
    journal = journal_of(bench.folder / "app.profile")
    with journal.open("r+b") as file:
        # All of rank 1's slice.
        file.truncate(65536 + (8 << 20))
    profile = read_profile(journal)
    assert profile.ended == "ended before MPI_Finalize; 1 of 2 ranks left nothing"
    assert rows(profile, "MPI_Send") == [("MPI_Send", 80, 2, 10, 800, 800, 0)]
    with journal.open("r+b") as file:
        file.truncate(65536)
    with raises(ProfileError, "BL-PROFILE-462"):
        read_profile(journal)


def test_an_unwritable_profile_does_not_stop_the_program(bench: Bench) -> None:
    done = bench.launch(2, "ending", "return", env={"BARELINE_PROFILE": "/proc/no/such/file"})
    assert done.returncode == 3
    assert "checksum 42" in done.stdout
    assert done.stderr.count("this run is not profiled") == 1


def test_profile_command_turns_a_crash_into_an_unfinished_profile(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bareline.session import profiling

    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(
        profiling,
        "profile_environment",
        lambda _mpi, out, **_: {
            "LD_PRELOAD": str(bench.library),
            "BARELINE_PROFILE": str(out),
        },
    )
    out = tmp_path / "crashed.profile"
    line = [bench.mpi.mpirun, "-n", "2", str(bench.program("ending"))]
    crashed = profile_command([*line, "abort"], out)
    assert crashed.exit_code == 5 and not crashed.complete
    assert crashed.path == out and out.exists() and not journal_of(out).exists()
    assert read_profile(out).ended == "rank 1 called MPI_Abort with 5"
    # The next run replaces it.
    done = profile_command([*line, "return"], out)
    assert done.exit_code == 3 and done.complete
    assert read_profile(out).complete
    killed = profile_command([*line, "segv"], out)
    assert killed.ended.startswith("ended before MPI_Finalize")
    if bench.mpi.flavour == "openmpi":  # MPICH's launcher keeps the signal to itself.
        assert killed.ended.endswith(", by SIGSEGV (exit code 139)")
    nothing = profile_command(["true"], out)
    assert nothing.exit_code == 0 and nothing.path is None and "no MPI program" in nothing.ended
    assert "linked with no MPI library" in nothing.ended


def test_a_program_without_a_period_keeps_its_exit_code(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The fault: `profile --period` ended with 2 for a program that sends nothing and gave 0."""
    from bareline.cli.main import main

    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    (bench.folder / "quiet.c").write_text(
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Finalize();"
        " return c > 1 ? 5 : 0; }\n"
    )
    assert bench.mpi.mpicc is not None
    program, out = bench.folder / "quiet", bench.folder / "quiet.profile"
    subprocess.run([bench.mpi.mpicc, "-o", program, f"{program}.c"], check=True)
    for more, code in (((), 0), (("x",), 5)):
        line = [str(bench.mpi.mpirun), "-n", "2", str(program), *more]
        argv = ["profile", "--mpi", str(bench.mpi.mpirun), "--period", "-o", str(out), "--", *line]
        monkeypatch.setattr(sys, "argv", ["bareline", *argv])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capfd.readouterr().err
        assert ended.value.code == code, said
        assert "was not stored" in said and out.exists()


@pytest.mark.parametrize("make", [os.mkfifo, lambda p: p.symlink_to("victim")])
def test_a_pipe_or_a_link_is_not_taken_away_for_a_profile(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    """Root's `-o /dev/null` would have lost the device."""
    out = tmp_path / "x.profile"
    make(out)
    with raises(ProfileError, "BL-SESSION-540"):
        profile_command(["true"], out)
    assert os.path.lexists(out)
