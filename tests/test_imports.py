"""CONTRIBUTING's structure: imports point one way, and the command line starts fast."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_imports_point_one_way():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def _layers():
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return content["tool"]["importlinter"]["contracts"][0]["layers"]


def test_the_diagram_for_contributors_is_the_contract():
    structure = (ROOT / "CONTRIBUTING.md").read_text().partition("## Structure")[2]
    drawn = structure.split("```")[1].strip().splitlines()
    assert [re.split(r"  +", line)[0] for line in drawn] == _layers()


def test_the_folders_are_the_layers():
    package = ROOT / "src" / "bareline"
    folders = {path.name for path in package.iterdir() if path.is_dir()} - {"__pycache__"}
    rooms = {room for layer in _layers() for room in re.findall(r"\w+", layer)}
    assert folders - {"studies"} == rooms  # studies are data
    assert {path.stem for path in package.glob("*.py")} == {"__init__", "__main__"}


def test_the_table_of_rooms_counts_what_is_there():
    rooms = [sys.executable, ROOT / "scripts" / "rooms.py"]
    done = subprocess.run(rooms, capture_output=True, text=True, check=True)
    table = dict(re.findall(r"^(.+?) +(\d+)$", done.stdout, re.MULTILINE))
    assert int(table["rooms"]) == sum(len(re.findall(r"\w+", layer)) for layer in _layers())
    assert table["arrows upwards"] == table["circles of rooms"] == "0"
    assert table["circles of modules"] == "0", done.stdout


def test_the_budgets_of_rooms_are_ten_minutes_together():
    tests = ROOT / "tests"
    budgets = tomllib.loads((tests / "budgets.toml").read_text())
    rooms = {str(path.relative_to(tests)) for path in tests.rglob("*") if path.is_dir()}
    assert set(budgets) - {"others"} <= rooms
    # Two processes and four lanes: seconds of tests, not of the clock.
    assert sum(budgets.values()) <= 1550


def test_help_loads_none_of_the_heavy_libraries():
    heavy = ["numpy", "scipy", "polars", "altair", "pydantic", "jinja2", "libvirt"]
    code = (
        f"import sys, bareline.cli.main\nprint([name for name in {heavy!r} if name in sys.modules])"
    )
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
