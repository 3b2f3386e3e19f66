"""docs/how-to/continuous-integration.md: its files are sound, its scripts run as printed."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "continuous-integration.md"
#: The files of the page, by the name in their first line.
SCRIPT = runpy.run_path(str(PAGE.parents[2] / "scripts" / "tutorial.py"))
FILES = SCRIPT["files_of"](PAGE.read_text(encoding="utf-8"))
WORK = """#!/bin/sh
printf 'time %s\\nsum 1.0\\n' {seconds}
"""
NIGHT = """
[study]
name = "night"
launches = 6
precision = 0
[[measure]]
probe = "null"
"""


@pytest.fixture
def shell(tmp_path):
    """Run a script of the page in a folder that has them all, as a repository has."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    command = scripts / "bareline"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m bareline "$@"\n')
    command.chmod(0o755)
    place = tmp_path / "repository"
    for name, text in FILES.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    def run(*line, code=0):
        done = subprocess.run(
            line, cwd=place, env=env, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    run.place = place
    return run


def test_the_page_holds_them_all():
    assert set(FILES) == {
        "perf.toml", "ci/two-builds.sh", ".github/workflows/performance.yml", ".gitlab-ci.yml",
        "Jenkinsfile", "ci/nightly.sh",
    }  # fmt: skip


def test_each_service_calls_the_script():
    github = yaml.safe_load(FILES[".github/workflows/performance.yml"])
    steps = github["jobs"]["two-builds"]["steps"]
    assert [step["run"] for step in steps if "ci/" in step.get("run", "")] == [
        'sh ci/two-builds.sh "$BASE"'
    ]
    gitlab = yaml.safe_load(FILES[".gitlab-ci.yml"])["two-builds"]
    assert gitlab["script"][-1].startswith("sh ci/two-builds.sh ")
    assert gitlab["artifacts"]["reports"] == {"junit": "perf.xml"}
    jenkins = FILES["Jenkinsfile"]
    assert jenkins.count("{") == jenkins.count("}")
    (line,) = re.findall(r"sh '(.*)'", jenkins)
    subprocess.run(["sh", "-n", "-c", line], check=True)
    assert line.startswith("sh ci/two-builds.sh ")


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("git") and shutil.which("make")), reason="no git or no make")
def test_the_slower_of_two_commits_fails_the_job(shell):
    def commit(says):
        (shell.place / "Makefile").write_text("work: work.sh\n\tinstall -m 755 work.sh work\n")
        (shell.place / "work.sh").write_text(WORK.format(seconds=says))
        shell("git", "add", "Makefile", "work.sh")
        shell("git", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", says)

    study = shell.place / "perf.toml"
    study.write_text(study.read_text().replace("launches = 20", "launches = 6"))
    shell("git", "init", "-q")
    commit("1.0")
    base = shell("git", "rev-parse", "HEAD").stdout.strip()
    commit("1.1")
    shell("sh", "ci/two-builds.sh", base, code=1)
    assert "<testsuite" in (shell.place / "perf.xml").read_text()
    assert (shell.place / "perf.html").stat().st_size > 1000
    shell("bareline", "compare", "perf", "--fail-if", "app is faster")
    assert shell("git", "worktree", "list").stdout.count("\n") == 1


def test_a_night_is_measured_and_looked_at(shell):
    (shell.place / "night.toml").write_text(NIGHT)
    (shell.place / "platforms.toml").write_text('[platform.calm]\ntype = "null"\n')
    nightly = ("sh", "ci/nightly.sh", "night.toml", "--on", "calm")
    shell(*nightly)
    (first,) = (shell.place / "nights").iterdir()
    for night in range(8):
        shutil.copytree(first, first.with_name(f"night-{night}"))
    time.sleep(1)  # the name of a night is its second
    assert "none meet it" in shell("env", "WATCH=null", *nightly).stderr
