"""The mini-apps as set-up has built them for Open MPI, on four ranks of this machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

RANKS = 4
#: Ranks share cores here.
_SETTINGS = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


@dataclass(frozen=True, slots=True)
class Apps:
    """The programs, the profiler and the library that loses messages."""

    mpi: MpiInstallation
    build: NativeBuild
    losing: Path

    def run(
        self,
        app: str,
        *words: str,
        preload: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``app.ocean`` and the like, with these words behind it and a library before it."""
        name = app.replace(".", "_")
        if not (self.build.programs / name).exists():
            pytest.skip(f"{name} was not built: {', '.join(self.build.left_out)}")
        # The build of the oldest processors, without the launcher: what is preloaded stays with it.
        generic = self.build.path / "libexec" / "bareline" / "kernels" / "generic" / name
        program = generic if generic.exists() else self.build.programs / name
        line = [self.mpi.mpirun, "--oversubscribe", "-n", str(RANKS), str(program), *words]
        variables = {**os.environ, **_SETTINGS, **(env or {})}
        if preload is not None:
            variables["LD_PRELOAD"] = str(preload)
        return subprocess.run(
            line, env=variables, capture_output=True, text=True, check=False, timeout=120
        )

    def profile(self, app: str, *words: str, folder: Path) -> Profile:
        """Run an app that must succeed under bareline's profiler."""
        path = folder / f"{app}.profile"
        done = self.run(
            app,
            *words,
            preload=profiler_library(self.build.path),
            env={"BARELINE_PROFILE": str(path)},
        )
        assert done.returncode == 0, done.stderr
        return read_profile(path)


def point_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the point of an app's three lines."""
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return next(row for row in rows if "point" in row)


@pytest.fixture(scope="session")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Apps:
    """Return the mini-apps, or skip where they cannot be built."""
    try:
        mpi = find_mpi("openmpi")
        build = build_native(mpi, cache_folder())
    except BarelineError as error:
        pytest.skip(str(error))
    assert mpi.mpicc is not None
    losing = tmp_path_factory.mktemp("apps") / "lose.so"
    source = source_folder() / "native" / "harness" / "tests" / "lose.c"
    line = [mpi.mpicc, "-std=c11", "-O2", "-shared", "-fPIC", "-o", str(losing), str(source)]
    subprocess.run(line, check=True)
    return Apps(mpi, build, losing)
