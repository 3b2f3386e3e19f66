"""Each hint names a package that really brings the program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.host.tools import TOOLS, install_hint, package_hint
from bareline.probes.base import required_programs

ROOT = Path(__file__).parents[2]
#: Programs that update-alternatives links to one of several packages.
_ALTERNATIVES = {"mpirun", "mpicc", "mpifort"}


def test_hint_names_the_package() -> None:
    assert "nuttcp" in install_hint("nuttcp")
    assert "iproute" in install_hint("tc")
    assert re.search(r"`[^`]*install[^`]*perftest`", install_hint("ib_write_bw"))


def test_unknown_program_still_gets_a_next_step() -> None:
    assert install_hint("flowcart") == "install 'flowcart' and put it on the path"
    assert "OSU micro-benchmarks (Spack: osu-micro-benchmarks)" in install_hint("osu_bw")


@pytest.mark.parametrize(
    ("programs", "uid", "expected"),
    [
        ({"apt-get"}, 0, "install it with `apt-get install fio`"),
        ({"apt-get", "sudo"}, 1000, "install it with `sudo apt-get install fio`"),
        ({"apt-get"}, 1000, "ask your administrator to run `apt-get install fio`"),
        ({"dnf"}, 0, "install it with `dnf install fio`"),
        (set(), 0, "install it with `apt-get install fio` or `dnf install fio`"),
    ],
)
def test_hint_speaks_the_system_s_language(
    monkeypatch: pytest.MonkeyPatch, programs: set[str], uid: int, expected: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name in programs else None)
    monkeypatch.setattr("os.geteuid", lambda: uid)
    assert install_hint("fio") == expected


def test_every_program_of_a_probe_is_in_the_table() -> None:
    assert set(required_programs()) <= set(TOOLS)


def test_set_up_installs_what_the_table_marks() -> None:
    script = (ROOT / "scripts" / "setup.sh").read_text()
    (function,) = re.findall(r"^packages\(\) \{.*?^\}", script, re.MULTILINE | re.DOTALL)
    for mark in ("needed", "optional", "cloud"):
        done = subprocess.run(
            ["bash", "-c", f"{function}; packages {mark}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        listed = set(done.stdout.split())
        for tool in TOOLS.values():
            if tool.setup == mark:
                assert set(tool.debian.split()) <= listed
        assert all(re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", name) for name in listed)


def test_each_set_up_installs_what_its_aim_needs() -> None:
    script = (ROOT / "scripts" / "setup.sh").read_text()
    functions = re.findall(r"^\w*packages\(\) \{.*?^\}", script, re.MULTILINE | re.DOTALL)
    assert len(functions) == 3

    def optional(**variables: str) -> set[str]:
        text = "\n".join(functions) + "\noptional_packages"
        done = subprocess.run(
            ["bash", "-uc", text],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return set(done.stdout.split())

    real = subprocess.run(["scripts/kvm.sh"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert bool(real.stdout) == bool(real.returncode)  # a reason where it is no use
    found = optional(aim="demo")
    assert ("qemu-system-x86" in found) == (real.returncode == 0)
    assert "slurmd" not in found
    assert {"qemu-system-x86", "slurmd", "libvirt-dev", "clang-format"} <= optional(aim="tests")
    assert "python3-nova" not in optional(aim="tests")  # a minute: `make cloud` brings it
    assert "python3-nova" in optional(aim="cloud")
    measuring = optional(aim="")
    assert {"qemu-system-x86", "libvirt-dev", "libsimgrid-dev"} <= measuring
    assert {"slurmd", "clang-format", "chromium", "valgrind"}.isdisjoint(measuring)


def test_hint_for_packages_without_a_program_knows_fedora(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "dnf" else None)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert package_hint("libfftw3-dev") == "install it with `dnf install fftw-devel`"
    hint = package_hint("mpich libmpich-dev")
    assert hint == "install it with `dnf install mpich mpich-devel`"


def test_package_hint_for_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "apt-get" else None)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert package_hint("libfftw3-dev") == "install it with `apt-get install libfftw3-dev`"


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian system")
def test_debian_packages_bring_the_programs() -> None:
    wrong = []
    for tool in (tool for tool in TOOLS.values() if tool.debian):
        files = subprocess.run(
            ["dpkg-query", "--listfiles", *tool.debian.split()],
            capture_output=True,
            text=True,
            check=False,
        )
        if files.returncode != 0 or tool.name in _ALTERNATIVES:
            continue  # not installed here, or linked by update-alternatives
        names = {line.rpartition("/")[2] for line in files.stdout.splitlines()}
        # Metapackages bring the program through what they depend on.
        if tool.name not in names and shutil.which(tool.name) is None:
            wrong.append(f"{tool.debian} does not bring {tool.name}")
    assert not wrong


def test_table_needs_no_heavy_import() -> None:
    code = (
        "import sys, bareline.host.tools;"
        "print([m for m in ('numpy', 'polars', 'pydantic', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
