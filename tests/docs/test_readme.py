"""The README's examples of runs that the repository contains print what the README shows."""

import runpy
import shlex
import sys
from pathlib import Path

import pytest

from bareline.cli.main import main

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "tutorial.py"))
STEPS = list(SCRIPT["steps"]((ROOT / "README.md").read_text(encoding="utf-8")))
EXAMPLES = [step for step in STEPS if "docs/examples" in step.command]
#: The verb of each of the five questions.
VERBS = ("compare", "ab", "forecast", "trend", "show")


def in_order(printed, shown):
    """Whether the shown lines are printed in this order; ``...`` stands for any."""
    lines = iter(printed)
    return all(line in lines for line in shown if line != "...")


def test_each_question_has_its_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Five questions")[2].partition("\n\n[")[0]
    assert [verb for verb in VERBS if f"| `bareline {verb} " not in table] == []


def test_three_questions_have_examples_that_measure_nothing():
    assert [step.command.split()[1] for step in EXAMPLES] == ["compare", "trend", "show"]


@pytest.mark.parametrize("step", EXAMPLES, ids=lambda step: step.command.split()[1])
def test_an_example_prints_what_the_readme_shows(step, monkeypatch, capfd):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    words = shlex.split(step.command)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    done = capfd.readouterr()
    printed = [line.rstrip() for line in (done.out + done.err).splitlines()]
    assert in_order(printed, step.shown), done.out + done.err
    assert ended.value.code == (0 if "compare" in words else 1)
