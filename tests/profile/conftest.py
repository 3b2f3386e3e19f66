"""The profiler and its planted programs, built for each MPI library that is installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from bareline.build.sources import source_folder
from bareline.platforms.launchers import MpiInstallation, find_mpi
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.vocabulary.errors import PlatformError

FLAVOURS = ("openmpi", "mpich")
#: make reads the rules of every program of the project before it builds one.
GENERATOR = ("-G", "Ninja") if shutil.which("ninja") else ()
#: Ranks share cores here, and Open MPI asks root whether it is meant.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


@dataclass(frozen=True, slots=True)
class Bench:
    """The profiler and the programs for one MPI library."""

    mpi: MpiInstallation
    build: Path
    folder: Path

    @property
    def library(self) -> Path:
        return self.build / "native" / "pmpi" / "libbareline_pmpi.so"

    def program(self, name: str) -> Path:
        return self.build / "native" / "pmpi" / "tests" / name

    def launch(
        self,
        ranks: int,
        program: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        profiled: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as a batch script would: with nothing but environment variables."""
        preload = {
            "LD_PRELOAD": str(self.library),
            "BARELINE_PROFILE": str(self.folder / "app.profile"),
        }
        variables = {**os.environ, **SETTINGS, **(preload if profiled else {}), **(env or {})}
        line = [self.mpi.mpirun, "-n", str(ranks), str(self.program(program)), *arguments]
        return subprocess.run(
            line, env=variables, capture_output=True, text=True, check=False, timeout=240
        )

    def profile(
        self, ranks: int, program: str, *arguments: str, env: Mapping[str, str] | None = None
    ) -> Profile:
        """Run a program that must succeed, and read its profile."""
        done = self.launch(ranks, program, *arguments, env=env)
        assert done.returncode == 0, done.stderr
        return read_profile(self.folder / "app.profile")


def _build(flavour: str, folder: Path) -> tuple[MpiInstallation, Path]:
    try:
        mpi = find_mpi(flavour)
    except PlatformError as error:
        pytest.skip(str(error))
    if mpi.mpicc is None or shutil.which("cmake") is None:
        pytest.skip(f"{mpi.title} without its compiler wrapper, or no cmake")
    configure = ["cmake", "-S", str(source_folder()), "-B", str(folder), "-DBARELINE_STRICT=ON"]
    configure += [f"-DMPI_C_COMPILER={mpi.mpicc}", *GENERATOR]
    make = ["cmake", "--build", str(folder), "--target", "pmpi_tests", "--parallel", "2"]
    for line in (configure, make):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return mpi, folder


_builds: dict[str, tuple[MpiInstallation, Path]] = {}


@pytest.fixture(params=FLAVOURS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """Give the profiler with each MPI library in turn; built once and kept between sessions."""
    flavour = str(request.param)
    if flavour not in _builds:
        assert request.config.cache is not None
        # A folder of its own for each generator: CMake refuses one that another has made.
        name = "-".join(("pmpi", flavour, *GENERATOR[1:]))
        _builds[flavour] = _build(flavour, request.config.cache.mkdir(name))
    return Bench(*_builds[flavour], tmp_path)


def rows(profile: Profile, *calls: str) -> list[tuple[object, ...]]:
    """Give (call, size, communicator size, count, bytes, sent, received) of some calls."""
    table = profile.calls
    if calls:
        table = table.filter(pl.col("call").is_in(calls))
    columns: Sequence[str] = (
        "call",
        "size_low",
        "comm_size",
        "count",
        "bytes",
        "sent_bytes",
        "received_bytes",
    )
    return sorted(table.select(columns).rows())
