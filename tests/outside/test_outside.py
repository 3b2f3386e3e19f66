"""A package from outside brings one of each kind; it is installed here as any other would be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.cli.template import KINDS, write_package
from bareline.store.raw import read_raw

SAMPLE = Path(__file__).with_name("sample")


def found_too(folder):
    """Give an environment in which packages of a folder are found beside all others."""
    before = filter(None, (os.environ.get("PYTHONPATH"),))
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), *before))}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the sample, and give what runs a command where it is found."""
    target = tmp_path_factory.mktemp("site")
    build = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *build, "--target", target, SAMPLE],
        check=True,
        cwd=target,
    )
    env = found_too(target)

    def run(*arguments, cwd=target, module="bareline"):
        line = [sys.executable, "-m", module, *map(str, arguments)]
        return subprocess.run(line, env=env, cwd=cwd, capture_output=True, text=True, check=False)

    run.target = target
    return run


def rows(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_of_each_is_found(installed):
    assert rows(installed("probes", "compute.interpreter", "--json"))[0]["layer"] == "compute"
    assert "outside" in {row["study"] for row in rows(installed("studies", "--json"))}


def test_its_study_runs_on_its_platform_and_is_reported(installed, tmp_path):
    (tmp_path / "platforms.toml").write_text(
        '[platform.calm]\ntype = "local"\n[platform.nice]\ntype = "niced"\nniceness = 3\n'
    )
    names = ("--on", "calm", "--on", "nice")
    done = installed("run", "outside", *names, "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    output = read_raw(tmp_path / "run", tmp_path / "run" / "raw" / "000000")
    assert ("nice" in output.argv) == (_platform(tmp_path / "run", 0) == "nice")
    done = installed("report", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Points of each metric" in (tmp_path / "run" / "report.html").read_text()


def _platform(run, trial):
    lines = map(json.loads, (run / "records.jsonl").read_text().splitlines())
    return next(line["platform"] for line in lines if line["trial"] == trial)


def test_its_importer_takes_files(installed, tmp_path):
    file = SAMPLE / "tests" / "timings.out"
    done = installed("import", file, "--platform", "x", "--out", "run", "--json", cwd=tmp_path)
    assert [row["probe"] for row in rows(done)] == ["timings.task-clock"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write a package of each kind from the sample and install them; give what runs a command."""
    place = tmp_path_factory.mktemp("written")
    target = place / "site"
    for kind in KINDS:
        write_package(kind, f"my_{kind}", place / kind)
    build = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    folders = [place / kind for kind in KINDS]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *build, "--target", target, *folders],
        check=True,
    )
    return place, found_too(target)


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(sorted(set(KINDS) - {"platform"}), id="quick"),
        pytest.param(["platform"], id="platform", marks=pytest.mark.slow),
    ],
)
def test_what_new_writes_passes_its_contract_at_once(written, kinds, tmp_path):
    place, env = written
    passes([place / kind for kind in kinds], env, tmp_path)


def passes(folders, env, cwd):
    """Run the tests of packages from outside."""
    line = [
        sys.executable, "-m", "pytest", *folders, "-q", "-p",
        "no:cacheprovider", "--import-mode=importlib", f"--rootdir={cwd}", "-c", os.devnull,
    ]  # fmt: skip
    done = subprocess.run(line, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.parametrize(
    "tests",
    [
        "test_contrib.py",
        "test_runtimes.py",
        "test_xen.py",
        pytest.param("test_ec2.py", marks=pytest.mark.slow),
    ],
)
def test_the_contributed_package_passes_its_tests(contrib_folder, tests, tmp_path):
    package = Path(__file__).parents[2] / "packages" / "bareline-contrib"
    passes([package / "tests" / tests], found_too(contrib_folder), tmp_path)


def test_contributed_platform_type_is_found(contrib_folder):
    line = [sys.executable, "-m", "bareline", "schema", "platforms.toml"]
    found = [
        subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout
        for env in (os.environ, found_too(contrib_folder))
    ]
    assert ["Ec2Options" in schema for schema in found] == [False, True]


def test_what_new_writes_is_of_one_kind_and_of_its_name(written):
    place, _ = written
    for kind, of in KINDS.items():
        texts = {
            str(path.relative_to(place / kind)): path.read_text()
            for path in (place / kind).rglob("*")
            if path.suffix in (".py", ".toml", ".out")
        }
        whole = "\n".join([*texts, *texts.values()])
        assert whole.count("[project.entry-points.") == 1
        assert f'"bareline.{of.group}"]' in whole
        assert f"bareline_my_{kind}" in whole
        stems = "|".join(other.stem for other in KINDS.values())
        assert re.findall(rf"(?i)(?<![a-z])({stems})", whole) == [], whole


@pytest.mark.parametrize(
    ("group", "value", "told"),
    [
        ("bareline.probes", "bareline.probes.null:PROBE", "the probe 'null' comes from two"),
        (
            "bareline.platforms",
            "bareline.platforms.null:PLATFORM",
            "the platform type 'null' comes from two",
        ),
        (
            "bareline.importers",
            "bareline.formats.osu:IMPORTER",
            "the importer 'osu' comes from two",
        ),
        ("bareline.probes", "bareline.formats.osu:IMPORTER", "is not a valid probe"),
        ("bareline.probes", "no_such_module:PROBE", "cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_a_name_taken_twice_and_other_mistakes_are_one_line(
    installed, tmp_path, group, value, told
):
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text(f"[{group}]\nbroken = {value}\n")
    code = {
        "bareline.probes": "from bareline.probes.base import load_probes as load",
        "bareline.platforms": "from bareline.platforms.base import load_platform_types as load",
        "bareline.importers": "from bareline.formats.importer import load_importers as load",
    }[group]
    script = (
        f"{code}\nfrom bareline.vocabulary.errors import PluginError\n"
        "try:\n load()\nexcept PluginError as error:\n print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=found_too(tmp_path),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told in done.stdout
    assert done.stdout.count("\n") == 1


def test_a_platform_type_that_no_platform_has_is_named_with_what_to_write(installed, tmp_path):
    """The package was installed, and nothing said how its type is used."""
    done = installed("platforms", cwd=tmp_path)
    (line,) = [line for line in done.stderr.splitlines() if "type 'niced' of " in line]
    written = line.partition("write: ")[2]
    assert written == 'platform.NAME = { type = "niced" }'
    (tmp_path / "platforms.toml").write_text(written.replace("NAME", "nice"))
    done = installed("platforms", cwd=tmp_path)
    assert done.returncode == 0 and "'niced'" not in done.stderr
