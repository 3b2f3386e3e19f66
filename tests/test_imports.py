"""CONTRIBUTING's structure: imports point one way, and the command line starts fast."""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_imports_point_one_way():
    lint = Path(sys.executable).with_name("lint-imports")
    if not lint.exists():
        pytest.skip("import-linter is not installed: `make setup-tests` installs it")
    done = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


#: In a program that a benchmark keeps as a text, and runs in a process of its own.
_IMPORT_IN_TEXT = re.compile(r"^\s*from (bareline[\w.]*) import ([\w, ]+)$", re.MULTILINE)


def _imports_of(source):
    """Yield module and name of what a source imports from bareline, itself or in its texts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield node.module, alias.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # What follows is for the code of an older release.
            text = node.value.partition("except ImportError:")[0]
            for module, names in _IMPORT_IN_TEXT.findall(text):
                for name in names.split(","):
                    yield module, name.strip()


@pytest.mark.parametrize("folder", ["benchmarks", "scripts"])
def test_what_is_seldom_run_imports_what_is_there(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for module, name in _imports_of(path.read_text()):
            if module.partition(".")[0] != "bareline":
                continue
            there = hasattr(importlib.import_module(module), name)
            place = ROOT / "src" / module.replace(".", "/") / name
            there |= place.is_dir() or place.with_suffix(".py").exists()
            assert there, f"{path}: {module} has no {name}"


#: Arguments and methods of the standard library that Python 3.11.2, stock Debian 12's, lacks.
_NEWER = {
    r"extract(all)?\([^)]*\bfilter=": "extract(filter=): 3.11.4",
    r"unpack_archive\([^)]*\bfilter=": "unpack_archive(filter=): 3.11.4",
    r"\b(tar|data|fully_trusted)_filter\b": "filters of tarfile: 3.11.4",
    r"\.replace\([^)]*\b(uname|gname|deep|linkname)=": "TarInfo.replace: 3.11.4",
    r"\b(parseaddr|getaddresses)\([^)]*\bstrict=": "email.utils strict=: 3.11.10",
    r"\bbatched\(": "itertools.batched: 3.12",
    r"^type [A-Z]\w* =": "the statement `type`: 3.12",
}


def _sources():
    for folder in ("src", "scripts", "benchmarks", "packages"):
        yield from sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("pattern", _NEWER)
def test_nothing_is_newer_than_the_python_of_debian_12(pattern):
    found = [
        str(path.relative_to(ROOT))
        for path in _sources()
        if re.search(pattern, path.read_text(), re.MULTILINE)
    ]
    assert found == [], _NEWER[pattern]


def test_every_name_of_the_standard_library_is_in_the_python_of_the_system():
    python = Path("/usr/bin/python3")
    if not python.exists():
        pytest.skip("this system has no Python of its own")
    names = {
        (node.module, alias.name)
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
        if node.module.partition(".")[0] in sys.stdlib_module_names
    }
    assert len(names) > 100
    program = (
        "import importlib, sys\n"
        "for line in sys.stdin:\n"
        "    module, name = line.split()\n"
        "    try: there = hasattr(importlib.import_module(module), name)\n"
        "    except ImportError: there = False\n"
        "    if not there:\n"
        "        try: importlib.import_module(f'{module}.{name}')\n"
        "        except ImportError: print(module, name)\n"
    )
    done = subprocess.run(
        [python, "-I", "-c", program],
        input="".join(f"{module} {name}\n" for module, name in sorted(names)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""


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
    packages = {name for layer in _layers() for name in re.findall(r"\w+", layer)}
    assert folders - {"studies"} == packages  # studies are data
    assert {path.stem for path in package.glob("*.py")} == {"__init__", "__main__"}


def test_the_table_counts_the_packages():
    script = [sys.executable, ROOT / "scripts" / "packages.py"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    table = dict(re.findall(r"^(.+?) +(\d+)$", done.stdout, re.MULTILINE))
    assert int(table["packages"]) == sum(len(re.findall(r"\w+", layer)) for layer in _layers())
    assert table["imports upwards"] == table["circles of packages"] == "0"
    assert table["circles of modules"] == "0", done.stdout


def _packages_script():
    spec = importlib.util.spec_from_file_location("packages", ROOT / "scripts" / "packages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_imports_and_long_files_become_no_more():
    script = [sys.executable, ROOT / "scripts" / "packages.py", "--hold"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_has_risen_is_named_and_what_moved_is_not():
    packages = _packages_script()
    held = {"imports": {"a -> b": 0}, "files": {"a/x.py": 410}, "functions": {"a: f": 50}}
    moved = {"imports": {"a -> c": 0}, "files": {"b/x.py": 405}, "functions": {}}
    assert not list(packages.risen(held, moved))
    more = {"imports": {"a -> b": 0, "c -> b": 0}, "files": {"a/x.py": 411}, "functions": {}}
    assert list(packages.risen(held, more)) == [
        "imports: 2, not 1 any more: c -> b",
        "files: the longest has grown: a/x.py (411 lines)",
    ]
    held = {"participles": {"a": 3, "b": 5}}
    assert not list(packages.risen(held, {"participles": {"b": 5}}))
    assert list(packages.risen(held, {"participles": {"a": 4, "b": 1, "c": 1}})) == [
        "participles of a: 4, not 3 any more",
        "participles of c: 1, not 0 any more",
    ]


def test_what_is_held_is_counted_from_the_sources(tmp_path):
    package = tmp_path / "pack"
    for name, text in {
        "a/x.py": "from pack.b import y\nclass C:\n def f(self):\n" + "  1\n" * 41,
        "b/y.py": "1\n" * 401,
        "a/z.py": "class C:\n x = 1\ndef told(_kept):\n x = 1\n",
    }.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert _packages_script().held_of(package) == {
        "imports": {"a -> b": 0}, "folders": {}, "upwards": {}, "namesakes": {"C": 2},
        "files": {"b/y.py": 401}, "functions": {"a/x: C.f": 42},
        "participles": {"a": 2},
    }  # fmt: skip


def test_a_folder_that_imports_upwards_is_a_new_import(tmp_path):
    package = tmp_path / "pack"
    for name, text in {
        "analysis/words/x.py": "from pack.analysis.numbers import y\n",
        "analysis/numbers/y.py": "from pack.analysis.words import x\n",
    }.items():
        file = package / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    assert set(_packages_script().held_of(package)["folders"]) == {
        "analysis/words -> analysis/numbers", "analysis/numbers -> analysis/words",
    }  # fmt: skip


def test_the_table_for_contributors_says_what_is_held():
    held = tomllib.loads((ROOT / "scripts" / "packages.toml").read_text())
    text = (ROOT / "CONTRIBUTING.md").read_text()
    now = dict(re.findall(r"^\| ([^|]+) \| (\d+) \|$", text, re.MULTILINE))
    assert int(now["imports"]) == len(held["imports"])
    assert int(now["files over 400 lines"]) == len(held["files"])
    assert int(now["functions over 40 lines"]) == len(held["functions"])


def test_help_loads_none_of_the_heavy_libraries():
    heavy = ["numpy", "scipy", "polars", "altair", "pydantic", "jinja2", "libvirt"]
    code = (
        f"import sys, bareline.cli.main\nprint([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_the_guides_name_is_there():
    pages = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs" / "contributing").glob("*.md")]
    text = "\n".join(page.read_text() for page in pages)
    named = re.findall(r"`((?:src|tests|scripts|native|docs)/[\w/.-]*)", text)
    assert len(named) > 30
    fixed = [name for name in named if "NNNN" not in name and f"{name}<" not in text]
    assert [name for name in fixed if not (ROOT / name).exists()] == []
    prototypes = ROOT / "native" / "pmpi" / "calls.def"
    files = re.findall(r"[\w*]+\.[ch]\b", prototypes.read_text().partition("*/")[0])
    assert [name for name in files if not list(prototypes.parent.glob(name))] == []


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
