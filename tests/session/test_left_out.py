"""What the build of the native programs left out is skipped, once, with the package to install."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bareline.build import native
from bareline.build.record import NativeBuild
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Failed, Stage

NATIVE = Path(__file__).parents[2] / "native"
#: The sources of nodebench that a build without a BLAS and FFTW leaves out.
LIBRARIES = ("blas.c", "dgemm.c", "linpack.c", "fft.c")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Build nodebench without a BLAS, as on a machine without OpenBLAS, and nothing else."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    root = tmp_path_factory.mktemp("native") / "build"
    (root / "bin").mkdir(parents=True)
    nodebench = sorted(NATIVE.glob("nodebench/*.c"))
    sources = [source for source in nodebench if source.name not in LIBRARIES]
    # The peak by SVE is compiled for Arm alone.
    common = sorted(NATIVE.glob("common/*.c"))
    sources += [source for source in common if source.name != "bl_peak_sve.c"]
    names = ("BL_C_COMPILER", "BL_FORTRAN_COMPILER", "BL_GIVEN_FLAGS")
    defined = [f'-D{name}=""' for name in names]
    options = ["-std=gnu11", "-O1", "-pthread", f"-I{NATIVE}/common", *defined]
    line = [compiler, *options, *sources, "-lm"]
    subprocess.run([*line, "-o", root / "bin" / "nodebench"], check=True)
    left_out = ("app_planewave: no FFTW (install libfftw3-dev)",)
    record = NativeBuild(
        toolchain="gcc", path=root, log=root / "log", left_out=left_out, seconds=1.0
    )
    (root / "build.json").write_text(json.dumps(record.to_dict()))
    return root


@pytest.fixture
def run_of(build, tmp_path, monkeypatch, execute):
    """Execute a study of one probe on this machine with that build."""
    monkeypatch.setattr(native, "ensure_native", lambda mpi, cache: build / "bin")

    def go(probe, **measure):
        table = {"study": {"name": "s", "launches": 6}, "measure": [{"probe": probe, **measure}]}
        study = study_from_toml(table, where="test")
        platforms = platforms_from_toml({"platform": {"p": {"type": "local"}}}, where="test")
        run = begin.create_run(study, list(platforms.values()), tmp_path / "run", baseline="p")
        return run, execute(run)

    return go


def test_without_a_blas_dgemm_is_skipped_once_and_names_the_package(run_of):
    run, tally = run_of("compute.dgemm", params={"n": 64, "repeat": 2})
    (record,) = run.records()
    assert isinstance(record.outcome, Failed)
    assert record.outcome.stage is Stage.ABSENT
    assert "libopenblas-dev" in record.outcome.reason
    assert (tally.failed, tally.remaining) == (0, 0)


def test_a_program_that_was_not_built_is_skipped_once_with_the_reason_of_the_build(run_of):
    run, tally = run_of("app.planewave", ranks=1)
    (record,) = run.records()
    assert isinstance(record.outcome, Failed)
    assert record.outcome.stage is Stage.ABSENT
    assert "libfftw3-dev" in record.outcome.reason
    assert (tally.failed, tally.remaining) == (0, 0)
