"""Each hint names a package that really brings the program."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from bareline.tools import TOOLS, install_hint, package_hint

#: Programs that update-alternatives links to one of several packages.
_ALTERNATIVES = {"mpirun", "mpicc", "mpifort"}


def test_hint_names_the_package() -> None:
    assert "nuttcp" in install_hint("nuttcp")
    assert "iproute" in install_hint("tc")
    assert re.search(r"`[^`]*install[^`]*perftest`", install_hint("ib_write_bw"))


def test_unknown_program_still_gets_a_next_step() -> None:
    assert install_hint("flowcart") == "install 'flowcart' and put it on the path"


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


def test_package_hint_for_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "apt-get" else None)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert package_hint("libfftw3-dev") == "install it with `apt-get install libfftw3-dev`"


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian system")
def test_debian_packages_bring_the_programs() -> None:
    wrong = []
    for tool in TOOLS.values():
        files = subprocess.run(
            ["dpkg-query", "--listfiles", tool.debian], capture_output=True, text=True, check=False
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
        "import sys, bareline.tools;"
        "print([m for m in ('numpy', 'polars', 'pydantic', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
