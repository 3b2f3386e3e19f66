"""Unmodified programs of Debian's packages: the tutorial's two, with and without the profiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.vocabulary.errors import PlatformError

from .conftest import SETTINGS

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "profile-an-application.md"
_INPUT = re.compile(r"`(\w+\.in)`:\n\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What differs from run to run: times, dates, and what the profiler's command prints itself.
_TIMED = re.compile(r"CPU|WALL|cpu|secs|time|starts on|terminated on|Performance|\.profile$")
#: LAMMPS ends with a table of times, and the histograms of atoms that follow it.
_LAMMPS_TABLE = re.compile(r"^Pair .*?^$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in _INPUT.findall(PAGE.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, *line: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **SETTINGS, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        line, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=240
    )


def both_ways(folder: Path, *program: str) -> tuple[str, str, Profile]:
    """Run a program on 2 ranks without and with the profiler; give both outputs."""
    if shutil.which(program[0]) is None:
        packages = "apt-get install --no-install-recommends lammps quantum-espresso"
        pytest.skip(f"{program[0]} is not installed: {packages}")
    try:
        mpi = find_mpi("openmpi")  # Debian's packages are linked with it
    except PlatformError as error:
        pytest.skip(str(error))
    launch = [mpi.mpirun, "-n", "2", *program]
    plain = run(folder, *launch)
    profiled = run(
        folder, sys.executable, "-m", "bareline", "profile", "-o", "app.profile", "--", *launch
    )
    assert plain.returncode == profiled.returncode == 0, plain.stderr + profiled.stderr
    return plain.stdout, profiled.stdout, read_profile(folder / "app.profile")


def untimed(output: str) -> list[str]:
    lines = _LAMMPS_TABLE.sub("", output).splitlines()
    return [line for line in lines if not _TIMED.search(line)]


def counts(profile: Profile) -> dict[str, int]:
    return dict(profile.calls.group_by("call").agg(pl.col("count").sum()).rows())


def test_lammps(folder: Path) -> None:
    plain, profiled, profile = both_ways(folder, "lmp", "-in", "liquid.in")
    assert untimed(plain) == untimed(profiled)
    assert any(line.split()[:1] == ["200"] for line in untimed(profiled)), "no last step"
    assert profile.complete and profile.ranks == 2
    found = counts(profile)
    # Each of 200 steps: positions to both neighbours and forces back, but for ghosts made anew.
    assert found["MPI_Send"] >= 2 * 4 * 200
    assert found["MPI_Irecv"] == found["MPI_Send"]
    sends = profile.send_table
    messages = profile.calls.filter(pl.col("kind").is_in(["send", "send-receive"]))
    assert sends["bytes"].sum() == messages["sent_bytes"].sum() > 0
    assert profile.rank_table["untracked"].sum() == profile.rank_table["dropped"].sum() == 0


def test_quantum_espresso(folder: Path) -> None:
    if shutil.which("ld1.x"):
        pseudo = (folder / "si.in").read_bytes()
        made = subprocess.run(["ld1.x"], cwd=folder, input=pseudo, capture_output=True, check=False)
        assert (folder / "Si.UPF").exists(), made.stdout
    plain, profiled, profile = both_ways(folder, "pw.x", "-in", "silicon.in")
    assert untimed(plain) == untimed(profiled)
    energies = [line for line in untimed(profiled) if line.startswith("!")]
    assert len(energies) == 1
    assert "JOB DONE." in profiled
    assert profile.complete and profile.ranks == 2
    found = counts(profile)
    # What two ranks do together, both do; the transposes of the transform carry most data.
    assert found["MPI_Alltoall"] > 100 and found["MPI_Alltoall"] % 2 == 0
    bytes_of = dict(profile.calls.group_by("call").agg(pl.col("bytes").sum()).rows())
    assert max(bytes_of, key=lambda call: bytes_of[call]) == "MPI_Alltoall"
    assert found["MPI_Init"] + found.get("MPI_Init_thread", 0) == 2
