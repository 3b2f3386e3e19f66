"""What a package brings besides the program: completion in a real shell, a manual page."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bareline.build.sources import sources_key
from bareline.cli import output

REPOSITORY = Path(__file__).parents[2]
PACKAGING = REPOSITORY / "packaging"


def test_the_files_are_as_the_parser_has_them():
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts" / "shell_files.py", "--check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("bareline comp", "compare"),
        ("bareline run infinic", "infinicloud"),
        ("bareline run quick --on bare-t", "bare-tcp"),
        ("bareline show @", "@latest"),
        ("bareline compare --fail", "--fail-if"),
    ],
)
def test_bash_completes(tmp_path, line, offered):
    """The words are split as bash does before it calls the function."""
    run = "import sys; from bareline.cli.main import main; sys.argv[0] = 'bareline'; main()"
    program = tmp_path / "bareline"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{run}" "$@"\n')
    program.chmod(0o755)
    source = REPOSITORY / "tests" / "data" / "runs-0.1.0" / "planted"
    shutil.copytree(source, tmp_path / "runs" / "planted")
    script = (
        f"source {PACKAGING / 'bareline.bash'}; COMP_WORDS=({line}); "
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bareline_completion ./bareline; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert offered in done.stdout.split(), done.stderr


def test_the_manual_explains_every_exit_code():
    codes = {code for name, code in vars(output).items() if name.startswith("EXIT_")}
    listed = re.findall(r"^\.B (\d+)$", (PACKAGING / "bareline.1").read_text(), re.MULTILINE)
    assert set(map(int, listed)) == codes | {0}


def test_every_verb_has_its_section_in_the_manual():
    text = (PACKAGING / "bareline.1").read_text()
    for verb in ("run", "compare", "platforms clean", "predict"):
        assert f"\n.SS {verb}" in text
    if groff := shutil.which("groff"):
        done = subprocess.run(
            [groff, "-man", "-ww", "-z", PACKAGING / "bareline.1"], capture_output=True, check=False
        )
        assert done.stderr == b""


def test_a_wheel_builds_the_same_programs_as_a_checkout(tmp_path):
    """Their key is one, so that what either has built serves the other."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=REPOSITORY, capture_output=True, check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    assert sources_key(tmp_path / "installed" / "bareline" / "_native") == sources_key(REPOSITORY)
    assert not [name for name in names if "/native/" in name and "/tests/" in name]
    assert {"bareline/py.typed", "bareline/_sample/pyproject.toml"} <= set(names)


def test_no_script_has_the_name_of_a_package():
    """A script's own folder comes first: one called like a package takes its place for all."""
    scripts = {path.stem for path in (REPOSITORY / "scripts").glob("*.py")}
    files = (REPOSITORY / "scripts").glob("requirements*.txt")
    pinned = [line for file in files for line in file.read_text().splitlines()]
    packages = {line.partition("==")[0].replace("-", "_").lower() for line in pinned}
    assert scripts & (packages | set(sys.stdlib_module_names)) == set()


def test_what_measuring_needs_is_pinned_apart_from_what_tests_need():
    """`make setup` installs the first file alone: packages, their extras and what these need."""
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    todo = [*project["dependencies"], *extras["figures"], *extras["cluster"]]
    needed: set[str] = set()
    while todo:
        wanted = Requirement(todo.pop())
        name = canonicalize_name(wanted.name)
        if name not in needed and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            needed.add(name)
            todo += metadata.requires(name) or ()
    pinned = (REPOSITORY / "scripts" / "requirements.txt").read_text().lower()
    names = {line.partition("==")[0].replace("_", "-") for line in pinned.splitlines()[2:]}
    assert needed - names == set()
    assert names & {"pytest", "scipy", "playwright", "mypy", "ruff", "hypothesis"} == set()
