"""CONTRIBUTING's structure: imports point one way, and the command line starts fast."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_imports_point_one_way():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_help_loads_none_of_the_heavy_libraries():
    heavy = ["numpy", "scipy", "polars", "altair", "pydantic", "jinja2", "libvirt"]
    code = f"import sys, bareline.cli\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_in_the_project_names_a_place_outside_of_it():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    # Put together here, so that this file does not name them itself.
    forbidden = ["/".join(["..", "shared"]), "/".join(["", "work", "main"])]
    for name in tracked.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".c", ".h", ".f90", ".txt", ".sh"}:
            text = path.read_text(encoding="utf-8")
            assert not [word for word in forbidden if word in text], name
