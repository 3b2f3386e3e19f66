"""Launches of several programs, several launches of one command, and ranks that do not come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mpmd import skip_where_two_programs_crash

from bareline.profile.files import read_profile
from bareline.profile.journal import journal_of
from bareline.profile.trace import read_trace, trace_of
from bareline.session import profiling
from bareline.session.profiling import ProfiledRun, profile_command
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ProfileError

from .conftest import SETTINGS, Bench

pytestmark = pytest.mark.mpi
Run = Callable[..., ProfiledRun]


@pytest.fixture
def run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Yield `profile_command` with the profiler of the bench's library."""
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

    def profile(argv: list[str], out: str = "app.profile", **options: object) -> ProfiledRun:
        options = {"mpi": bench.mpi.mpirun} | options
        return profile_command(argv, bench.folder / out, **options)  # type: ignore[arg-type]

    yield profile
    assert not list(bench.folder.glob("app.profile.*journal"))


def other_program(bench: Bench) -> Path:
    """Return a second program under another name."""
    copy = bench.programs / "other"
    if not copy.exists():
        copy.symlink_to(bench.program("leaving"))
    return copy


@pytest.mark.parametrize("same", [True, False])
def test_a_launch_of_several_programs_has_one_profile(bench: Bench, run: Run, same: bool) -> None:
    skip_where_two_programs_crash(bench.mpi.mpirun)
    first = str(bench.program("leaving"))
    second = first if same else str(other_program(bench))
    line = [bench.mpi.mpirun, "-n", "1", first, ":", "-n", "2", second]
    done = run(line)
    assert done.exit_code == 0
    assert done.complete
    profile = read_profile(bench.folder / "app.profile")
    assert profile.ranks == 3
    assert profile.command == ("leaving" if same else "leaving : other")
    assert profile.rank_table["calls"].min() == profile.rank_table["calls"].max()


def test_a_file_of_programs_is_profiled(bench: Bench, run: Run) -> None:
    if bench.mpi.flavour != "openmpi":
        pytest.skip("--app is an option of Open MPI")
    skip_where_two_programs_crash(bench.mpi.mpirun)
    programs = bench.folder / "programs"
    text = f"# two\n-np 1 {bench.program('leaving')}\n\n-np 1 {other_program(bench)} last\n"
    programs.write_text(text)
    done = run([bench.mpi.mpirun, "--app", str(programs)])
    assert done.complete
    assert read_profile(bench.folder / "app.profile").command == "leaving : other last"
    assert programs.read_text() == text
    with raises(ProfileError, "BL-SESSION-358"):
        run([bench.mpi.mpirun, "--app", str(bench.folder / "absent")])
    with raises(ProfileError, "BL-SESSION-358"):
        run([bench.mpi.mpirun, "--app", str(bench.folder)])


def test_each_launch_of_a_script_has_a_profile(bench: Bench, run: Run) -> None:
    program = bench.program("leaving")
    script = bench.folder / "job.sh"
    mpirun = bench.mpi.mpirun
    script.write_text(
        # Open MPI's launchers that begin at the same moment fail to share a new folder.
        f"{mpirun} -n 2 {program} one\n"
        f"mkdir -p {bench.folder}/two\n"
        f"OMPI_MCA_orte_tmpdir_base={bench.folder}/two {mpirun} -n 1 {program} two & "
        f"{mpirun} -n 1 {program} three & wait\n"
    )
    existing = bench.folder / "app.1.profile"
    existing.write_text("somebody's")
    done = run(["sh", str(script)], trace=True)
    assert done.exit_code == 0
    assert done.complete
    paths = [bench.folder / f"app.{number}.profile" for number in (2, 3, 4)]
    assert [launch.path for launch in done.launches] == paths
    commands = [read_profile(path).command for path in paths]
    assert commands[0] == "leaving one"
    assert sorted(commands[1:]) == ["leaving three", "leaving two"]
    assert [read_trace(trace_of(path)).ranks for path in paths] == [2, 1, 1]
    assert existing.read_text() == "somebody's"
    assert not (bench.folder / "app.profile").exists()


def test_a_script_whose_second_launch_dies_keeps_both(bench: Bench, run: Run) -> None:
    line = f"{bench.mpi.mpirun} -n 2 {bench.program('leaving')}"
    done = run(["sh", "-c", f"{line}; {line} kill; exit 5"])
    assert done.exit_code == 5
    first, second = done.launches
    assert first.complete
    assert second.ended.startswith("ended before")
    assert not read_profile(bench.folder / "app.2.profile").complete


def test_the_launches_of_a_killed_command_do_not_mix_with_the_next(bench: Bench, run: Run) -> None:
    out = bench.folder / "app.profile"
    program = str(bench.program("leaving"))
    for name in ("app.profile.2", "app.profile.3.journal", "app.trace.2"):
        (bench.folder / name).write_text("left by a killed one")
    done = run([bench.mpi.mpirun, "-n", "1", program])
    assert [launch.path for launch in done.launches] == [out]
    assert not list(bench.folder.glob("app.*.[0-9]*"))


def test_a_rank_without_the_profiler_stops_nothing(bench: Bench, run: Run) -> None:
    skip_where_two_programs_crash(bench.mpi.mpirun)
    program = str(bench.program("leaving"))
    line = [bench.mpi.mpirun, "-n", "1", "env", "LD_PRELOAD=", program, ":", "-n", "2", program]
    began = time.monotonic()
    done = run(line, wait_s=2)
    assert time.monotonic() - began < 60
    assert done.path is None
    # Ranks of one node agree without MPI under Open MPI; the others can only be ended.
    assert (done.exit_code == 0) == (bench.mpi.flavour == "openmpi")


def test_a_missing_profiler_is_named(bench: Bench) -> None:
    if bench.mpi.flavour != "openmpi":
        pytest.skip("ranks of one node agree without MPI under Open MPI alone")
    environment = {"BARELINE_PROFILE_WAIT": "1"}
    wrapper = bench.folder / "some.sh"
    wrapper.write_text('[ "$PMIX_RANK" = 1 ] && unset LD_PRELOAD\nexec "$@"\n')
    done = bench.launch(
        3, Path("/bin/sh"), str(wrapper), str(bench.program("leaving")), env=environment
    )
    assert done.returncode == 0
    assert "sum 3" in done.stdout
    assert done.stderr.count("1 of 3 ranks on this node have no profiler") == 1
    assert not journal_of(bench.folder / "app.profile").exists()


@pytest.mark.parametrize("way", ["return", "exit", "kill"])
def test_a_rank_that_never_ends_properly_is_named(bench: Bench, run: Run, way: str) -> None:
    line = ["timeout", "40", bench.mpi.mpirun, "-n", "3", str(bench.program("leaving")), way]
    done = run(line, wait_s=5)
    assert done.path is not None
    assert not done.complete
    ended = done.launches[0].ended
    calls = read_profile(done.path).call_table
    recorded = calls.filter(call="MPI_Allreduce")["count"].sum()
    assert ended.startswith("ended before")
    if bench.mpi.flavour == "mpich":
        # Hydra ends the other ranks at once, perhaps before their call has returned.
        assert 1 <= recorded <= 3
        return
    assert recorded == 3
    if way != "kill":  # which may come before another rank ended
        assert ended.startswith("ended before rank")
        assert "2" in ended


def test_a_late_rank_ends_the_merge_and_not_the_program(bench: Bench, run: Run) -> None:
    line = [bench.mpi.mpirun, "-n", "2", str(bench.program("leaving")), "late"]
    done = run(line, wait_s=1)
    assert done.exit_code == 0
    assert not done.complete
    assert "later than the time limit" in done.launches[0].ended
    patient = run(line, wait_s=60)
    assert patient.complete


def test_the_late_rank_is_named(bench: Bench) -> None:
    done = bench.launch(3, "leaving", "late", env={"BARELINE_PROFILE_WAIT": "1"})
    assert done.stderr.count("rank 2 did not reach MPI_Finalize within 1 s") == 1


def test_a_child_process_of_a_rank_changes_nothing(bench: Bench, run: Run) -> None:
    done = run([bench.mpi.mpirun, "-n", "2", str(bench.program("leaving")), "fork"])
    assert done.complete
    assert len(done.launches) == 1
    assert read_profile(bench.folder / "app.profile").ranks == 2
