"""Recipes of other tools, as far as they can be held here: they name what bareline has."""

import ast
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from bareline import __version__

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
PYTHON = sorted((*PACKAGING.glob("*/*.py"), *PACKAGING.glob("*/*.eb")))


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: file.name)
def test_recipes_are_python(file):
    ast.parse(file.read_text())


def test_spack_asks_for_what_the_wheel_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (PACKAGING / "spack" / "package.py").read_text()
    wanted = {re.match(r"[\w-]+", one)[0] for one in project["dependencies"]}
    assert wanted <= set(re.findall(r'"py-([\w-]+)@', recipe))


def test_conda_asks_for_what_the_wheel_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (PACKAGING / "conda" / "meta.yaml").read_text()
    assert f'version: "{__version__}"' in recipe
    asked = set(re.findall(r"^    - ([\w-]+) (\S+)$", recipe.partition("  run:")[2], re.MULTILINE))
    wanted = {re.fullmatch(r"([\w-]+)(.*)", one).groups() for one in project["dependencies"]}
    assert {(name.replace("-", "_"), bounds) for name, bounds in wanted} <= {
        (name.replace("-", "_"), bounds) for name, bounds in asked
    }


def test_easybuild_builds_this_version():
    (file,) = (PACKAGING / "easybuild").glob("bareline-*.eb")
    assert f'version = "{__version__}"' in file.read_text()
    assert file.name.startswith(f"bareline-{__version__}-")


@pytest.mark.skipif(shutil.which("eb") is None, reason="EasyBuild is not on the path")
def test_easybuilds_own_checks_of_contributions_pass(tmp_path, monkeypatch):
    (file,) = (PACKAGING / "easybuild").glob("bareline-*.eb")
    for name, value in {
        "PREFIX": str(tmp_path),
        "ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES": "1",
        "MODULES_TOOL": "EnvironmentModules",
        "MODULE_SYNTAX": "Tcl",
    }.items():
        monkeypatch.setenv(f"EASYBUILD_{name}", value)
    line = ["bash", "-lc", 'PATH=$1 exec eb --check-contrib "$2"', "bash", os.environ["PATH"], file]
    said = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    if "module is required" in said.stdout + said.stderr:
        pytest.skip("EasyBuild's style check has no pycodestyle here")
    assert said.returncode == 0, said.stdout + said.stderr


def test_images_copy_what_there_is():
    for name in ("Dockerfile", "bareline.def"):
        text = (PACKAGING / "container" / name).read_text()
        for path in re.findall(r"packaging/container/\S+\.sh", text):
            assert (ROOT / path).stat().st_mode & 0o111
    script = PACKAGING / "container" / "install.sh"
    subprocess.run(["sh", "-n", str(script)], check=True)


def test_no_page_installs_bareline_from_an_index_that_lacks_it():
    """Extras (``bareline[vm]``) work: pip takes the bareline that is installed already."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *PACKAGING.rglob("*.yml")]
    wrong = [
        (page.name, line)
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.search(r"\b(pip|pipx|uv tool) install (-\S+ )*'?bareline'?(\s|`|$|[<=>~])", line)
    ]
    assert wrong == []
