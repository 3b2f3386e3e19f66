"""The profiler and its planted programs, for each MPI library that is installed here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from bareline.build.native import build_native
from bareline.build.record import NativeBuild
from bareline.build.sources import source_folder
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.session.profiling import profiler_library
from bareline.vocabulary.errors import BarelineError

FLAVOURS = ("openmpi", "mpich")
#: Ranks share cores here, and Open MPI asks root whether it is meant.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # the same for version 5
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


@dataclass(frozen=True, slots=True)
class Bench:
    """The profiler that set-up has built for one MPI library, and programs for that one."""

    mpi: MpiInstallation
    build: NativeBuild
    programs: Path
    folder: Path

    @property
    def library(self) -> Path:
        return profiler_library(self.build.path)

    def program(self, name: str) -> Path:
        """Return a planted program, compiled when it is first asked for; skip without Fortran."""
        path = self.programs / name
        if not path.exists():
            _compile(self.mpi, name, path)
        return path

    def kernel(self, name: str) -> Path:
        """Return a NAS kernel as every processor runs it, or skip."""
        generic = self.build.path / "libexec" / "bareline" / "kernels" / "generic" / name
        path = generic if generic.exists() else self.build.programs / name
        if not path.exists():
            pytest.skip(f"{name} was not built: {', '.join(self.build.left_out)}")
        return path

    def launch(
        self,
        ranks: int,
        program: str | Path,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        profiled: bool = True,
        limit_s: float = 240,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as a batch script would: with nothing but environment variables."""
        path = self.program(program) if isinstance(program, str) else program
        preload = {
            "LD_PRELOAD": str(self.library),
            "BARELINE_PROFILE": str(self.folder / "app.profile"),
        }
        variables = {**os.environ, **SETTINGS, **(preload if profiled else {}), **(env or {})}
        line = [self.mpi.mpirun, "-n", str(ranks), str(path), *arguments]
        return subprocess.run(
            line, env=variables, capture_output=True, text=True, check=False, timeout=limit_s
        )

    def profile(
        self, ranks: int, program: str, *arguments: str, env: Mapping[str, str] | None = None
    ) -> Profile:
        """Run a program that must succeed, and read its profile."""
        return self.profile_of(self.launch(ranks, program, *arguments, env=env))

    def profile_of(self, done: subprocess.CompletedProcess[str]) -> Profile:
        """Read the profile of a program that has succeeded."""
        assert done.returncode == 0, done.stderr
        return read_profile(self.folder / "app.profile")


def _compile(mpi: MpiInstallation, name: str, path: Path) -> None:
    """Compile a program of native/pmpi/tests with the library's own wrapper.

    planted.F90 is one source for three bindings, ``planted_mpif`` and the like. mpif.h knows no
    generic interfaces, so that buffers of several types are a mismatch to gfortran.
    """
    assert mpi.mpicc is not None
    folder = source_folder() / "native" / "pmpi" / "tests"
    stem, _, binding = name.partition("_")
    if binding:
        wrapper = Path(mpi.mpicc)
        wrapper = wrapper.with_name(wrapper.name.replace("mpicc", "mpifort", 1))
        if not wrapper.exists():
            pytest.skip(f"no Fortran compiler, or {mpi.title} without Fortran")
        line = [str(wrapper), "-cpp", "-w", "-fallow-argument-mismatch", f"-DBL_{binding.upper()}"]
        source = folder / f"{stem}.F90"
    else:
        line = [mpi.mpicc, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-pthread"]
        source = folder / f"{stem}.c"
    made = path.with_suffix(".part")
    subprocess.run([*line, "-O2", str(source), "-o", str(made)], check=True)
    made.rename(path)


_found: dict[str, tuple[MpiInstallation, NativeBuild, Path]] = {}


@pytest.fixture(params=FLAVOURS)
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> Bench:
    """Return the profiler with each MPI library in turn."""
    flavour = str(request.param)
    if flavour not in _found:
        try:
            mpi = find_mpi(flavour)
            build = build_native(mpi, cache_folder())
        except BarelineError as error:
            pytest.skip(str(error))
        _found[flavour] = mpi, build, tmp_path_factory.mktemp(flavour)
    return Bench(*_found[flavour], tmp_path)


def rows(profile: Profile, *calls: str) -> list[tuple[object, ...]]:
    """Return (call, size, communicator size, count, bytes, sent, received) of some calls."""
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
