"""The native programs on Arm: cross-compiled, and run by an emulator of the processor."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from bareline.probes.base import find_probe
from bareline.vocabulary.model import Output

ROOT = Path(__file__).parents[2]
KERNELS = ("cg", "ep", "mg", "is", "ft")
TARGETS = (*(f"npb_{kernel}_generic" for kernel in KERNELS), "nodebench")
TOOLS = ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gfortran", "qemu-aarch64", "mmdebstrap")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_TOOLCHAIN = """\
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_Fortran_COMPILER aarch64-linux-gnu-gfortran)
set(CMAKE_SYSROOT {system})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
"""
#: MPICH's own wrappers name the compilers of the machine that they are for.
_WRAPPER = """\
#!/bin/sh
folders="-I{system}/usr/include/aarch64-linux-gnu/mpich -L{system}/usr/lib/aarch64-linux-gnu"
case $1 in
-show) echo "aarch64-linux-gnu-{compiler} $folders {libraries}"; exit ;;
-*show*) exit 1 ;;
esac
exec aarch64-linux-gnu-{compiler} --sysroot={system} "$@" $folders {libraries}
"""


@dataclass(frozen=True)
class Arm:
    """An Arm system without a kernel, and the programs that were built for it."""

    system: Path
    programs: Path

    def line(self, program: str, *arguments: str, processor: str = "max") -> list[str]:
        path = str(self.programs / program)
        emulated = ["qemu-aarch64", "-cpu", processor, "-L", str(self.system)]
        return [*emulated, path, *arguments]

    def run(self, line: list[str]) -> str:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _package_lines() -> list[str]:
    """Return this machine's own sources of Debian packages."""
    form = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(REPO_URI) $(RELEASE)"
    line = ["apt-get", "indextargets", "--format", f"{form} $(COMPONENT)"]
    line += ["Created-By: Packages"]
    told = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    return list(dict.fromkeys(told.splitlines()))


def _package_settings() -> str:
    """Return proxies, certificates and patience of this machine's apt."""
    told = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    wanted = re.compile(r'Acquire::(https?::|Retries |Check-).*"[^"]+";')
    return "\n".join(line for line in told.splitlines() if wanted.fullmatch(line)) + "\n"


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """Unpack an Arm system with the C library and MPICH; nothing of it is executed."""
    for tool in TOOLS:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    release = Path("/etc/os-release").read_text()
    codename = re.search(r"^VERSION_CODENAME=(\w+)", release, re.MULTILINE)
    if codename is None or "ID=debian" not in release.splitlines():
        pytest.skip("this is no Debian, whose packages for Arm are used")
    folder = tmp_path_factory.mktemp("arm") / "system"
    line = ["mmdebstrap", "--architectures=arm64", "--variant=extract", "--quiet"]
    line += ["--include=libmpich-dev,libc6-dev,libgfortran5"]
    settings = folder.with_name("apt.conf")
    settings.write_text(_package_settings())
    line += [f"--aptopt={settings}"]
    done = subprocess.run(
        [*line, codename[1], str(folder), *_package_lines()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"no packages for Arm: {done.stderr[-200:]}")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def arm(system, tmp_path_factory):
    """Build the programs for an Arm system."""
    folder = tmp_path_factory.mktemp("build")
    toolchain = folder / "aarch64.cmake"
    toolchain.write_text(_TOOLCHAIN.format(system=system))
    wrappers = {
        "mpicc": ("gcc", "-lmpich"),
        "mpifort": ("gfortran", "-lmpichfort -lmpich"),
    }
    for name, (compiler, libraries) in wrappers.items():
        path = folder / name
        text = _WRAPPER.format(system=system, compiler=compiler, libraries=libraries)
        path.write_text(text)
        path.chmod(0o755)
    build = folder / "build"
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DBARELINE_TESTS=OFF"]
    configure += ["-DBARELINE_STRICT=ON", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"]
    configure += [f"-DMPI_C_COMPILER={folder / 'mpicc'}", "-DCMAKE_BUILD_TYPE=Release"]
    cores = str(len(os.sched_getaffinity(0)))
    for line in (
        configure,
        ["cmake", "--build", str(build), "--parallel", cores, "--target", *TARGETS],
    ):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    programs = build / "native" / "prefix" / "bin"
    (programs / "nodebench").symlink_to(build / "native" / "nodebench" / "nodebench")
    yield Arm(system, programs)
    shutil.rmtree(build)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_verifies_in_class_s(arm, kernel):
    printed = arm.run(arm.line(f"npb_{kernel}", "S"))
    points = [json.loads(line) for line in printed.splitlines() if '"verified"' in line]
    assert [point["verified"] for point in points] == [True]


def test_ranks_of_one_job_find_each_other(arm):
    if shutil.which("mpiexec.hydra") is None:
        pytest.skip("mpiexec.hydra is not installed")
    printed = arm.run(["mpiexec.hydra", "-n", "2", *arm.line("npb_cg", "S")])
    assert '"verified":true' in printed


@pytest.mark.parametrize(
    ("processor", "sets"),
    [
        ("cortex-a72", ["asimd"]),
        ("max,sve-default-vector-length=16", ["asimd", "sve 128"]),
        ("max,sve-default-vector-length=32", ["asimd", "sve 256"]),
        ("a64fx", ["asimd", "sve 512"]),
        ("max,sve-default-vector-length=256", ["asimd", "sve 2048"]),
    ],
)
def test_the_peak_is_measured_with_vectors_of_the_width_at_run_time(arm, processor, sets):
    printed = arm.run(arm.line("nodebench", "peak", "--repeat", "2", processor=processor))
    assert re.findall(r'"instructions":"([^"]+)"', printed) == sets
    output = Output(stdout=printed, stderr="", exit_code=0, duration_s=1.0)
    probe = find_probe("compute.peak")
    samples = probe.read(probe.make_params({"repeat": 2}), output).samples
    seen = [sample.point["instructions"] for sample in samples if sample.metric == "set_rate"]
    assert seen == sets
