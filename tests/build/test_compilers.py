"""The native programs with other C compilers, and how each shows what compiled it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILERS = ("clang", "gcc-11", "gcc-13", "gcc-14", "gcc")
TARGETS = ("nodebench", "mpiplace", "bareline_pmpi")
pytestmark = [pytest.mark.mpi, pytest.mark.slow, pytest.mark.timeout(600)]


def _run(line, **more):
    done = subprocess.run(line, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_compiler_builds_programs_that_show_it(compiler, tmp_path):
    for tool in (compiler, "cmake", "mpicc", "mpirun"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    build = tmp_path / "build"
    environment = {**os.environ, "CC": compiler, "CFLAGS": "-fno-plt"}
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DBARELINE_TESTS=OFF"]
    configure += ["-DBARELINE_STRICT=ON", "-DCMAKE_BUILD_TYPE=Release"]
    _run(configure, env=environment)
    cores = str(len(os.sched_getaffinity(0)))
    _run(["cmake", "--build", str(build), "--parallel", cores, "--target", *TARGETS])
    printed = _run([str(build / "native" / "nodebench" / "nodebench"), "peak", "--repeat", "2"])
    compiled = json.loads(printed.partition("\n")[0])["compiled"]
    version = _run([compiler, "-dumpfullversion" if "gcc" in compiler else "-dumpversion"]).strip()
    name = "Clang" if compiler == "clang" else "GNU"
    assert compiled["c"] == f"{name} {version}"
    assert compiled["flags"] == "-fno-plt"
    (program,) = (path for path in build.rglob("mpiplace") if path.is_file())
    root = ["--allow-run-as-root"] if os.geteuid() == 0 and "Open MPI" in _run(
        ["mpirun", "--version"]
    ) else []  # fmt: skip
    ranks = _run(["mpirun", *root, "--host", "localhost:2", "-np", "2", str(program)])
    assert re.search(r'"ranks":2,.*"compiled":\{"c":"' + name, ranks)


def test_without_openmp_every_core_is_refused(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one core")
    for tool in ("cmake", "cc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    configure = ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-DBARELINE_TESTS=OFF"]
    configure += ["-DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON", "-DBARELINE_STRICT=ON"]
    configured = _run(configure)
    assert "left out: nodebench --threads: no OpenMP" in configured
    _run(["cmake", "--build", str(tmp_path), "--target", "nodebench"])
    program = str(tmp_path / "native" / "nodebench" / "nodebench")
    _run([program, "peak", "--mode", "single", "--repeat", "2"])
    for words in (["peak", "--mode", "star"], ["noise"], ["stream"]):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        assert done.returncode != 0, words
        assert "built without OpenMP for one" in done.stderr
