"""What the profiler writes goes through no link and into no pipe, whatever has the name of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from .conftest import Bench

pytestmark = pytest.mark.mpi

_VICTIM = "mine\n"
_OBSTACLES = ("link", "FIFO", "folder")
_OUTPUTS = ("app.profile", "app.profile.journal", "app.trace", "app.trace.journal")
#: Names under which release 0.1 wrote what was not whole.
_FORESEEABLE = ("app.profile.writing", "app.trace.writing")


def _plant(kind: str, path: Path, victim: Path) -> None:
    """Put an obstacle in the place of an output; a link leads to the victim."""
    if kind == "link":
        path.symlink_to(victim)
    elif kind == "FIFO":
        os.mkfifo(path)
    else:
        path.mkdir()


@pytest.fixture
def victim(bench: Bench) -> Path:
    path = bench.folder / "victim"
    path.write_text(_VICTIM)
    return path


def _launch(bench: Bench) -> tuple[int, str]:
    trace = {"BARELINE_TRACE": str(bench.folder / "app.trace")}
    done = bench.launch(2, "sizes", env=trace, limit_s=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("kind", _OBSTACLES)
@pytest.mark.parametrize("name", _OUTPUTS)
def test_an_output_that_is_no_file_is_refused_and_stays(
    bench: Bench, victim: Path, name: str, kind: str
) -> None:
    path = bench.folder / name
    _plant(kind, path, victim)
    before = stat.S_IFMT(path.lstat().st_mode)
    code, complained = _launch(bench)
    assert code == 0, complained
    assert stat.S_IFMT(path.lstat().st_mode) == before
    assert victim.read_text() == _VICTIM
    assert f"{name}: " in complained
    assert "is not profiled" in complained or "is not traced" in complained
    if name.startswith("app.trace"):  # the profile is written without it
        assert (bench.folder / "app.profile").is_file()
    assert not list(bench.folder.glob(".*.part"))


@pytest.mark.parametrize("kind", _OBSTACLES)
def test_no_output_has_a_name_that_can_be_foreseen(bench: Bench, victim: Path, kind: str) -> None:
    for name in _FORESEEABLE:
        _plant(kind, bench.folder / name, victim)
    code, complained = _launch(bench)
    assert code == 0, complained
    assert victim.read_text() == _VICTIM
    assert (bench.folder / "app.profile").is_file()
    assert (bench.folder / "app.trace").is_file()


def test_a_launch_of_a_series_takes_no_name_that_a_link_has(bench: Bench) -> None:
    nothing = bench.folder / "nothing"
    (bench.folder / "app.profile").symlink_to(nothing)
    bench.launch(2, "sizes", env={"BARELINE_PROFILE_SERIES": "1"}, limit_s=60)
    assert not nothing.exists()
    assert (bench.folder / "app.profile.2").is_file()
