"""The reference of the command line names all that there is, and pages name nothing else."""

import re
from pathlib import Path

import pytest
import typer.main

from bareline.analysis.judgements.conditions import parse_condition
from bareline.cli.main import app
from bareline.probes.base import load_probes

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
TEXT = REFERENCE.read_text(encoding="utf-8")


def commands(command, name=""):
    """Give every command by its name, those of groups among them."""
    found = {name: command} if command.params and name else {}
    for own, inner in getattr(command, "commands", {}).items():
        found |= commands(inner, f"{name} {own}".strip())
    return found


COMMANDS = commands(typer.main.get_command(app))


def told(name):
    """Give what the reference says of a command: its rows, and a chapter of its own."""
    rows = [line for line in TEXT.splitlines() if re.match(rf"\|[^|]*`{name}[ `]", line)]
    chapter = re.search(rf"^## `{name}`\n(.*?)^## ", TEXT, re.MULTILINE | re.DOTALL)
    shared = told("run") if name == "submit" else ""  # which takes each of them: test_submit.py
    return "\n".join([*rows, chapter[1] if chapter else "", shared])


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_stands_in_the_reference(name):
    text = told(name)
    assert text.strip(), "no row"
    named = set(re.findall(r"--?[a-z][a-z-]*", text))
    options = [param.opts for param in COMMANDS[name].params if param.opts[0].startswith("-")]
    assert [opts for opts in options if "--help" not in opts and not named & set(opts)] == []


def test_every_command_was_looked_at():
    assert {"run", "predict", "platforms show", "calibrate"} <= set(COMMANDS)


def test_conditions_on_pages_select_what_there_is():
    pages = set(REFERENCE.parents[1].rglob("*.md")) - {REFERENCE.with_name("messages.md")}
    texts = {
        text for page in pages for text in re.findall(r"--fail-if '([^']+)'", page.read_text())
    }
    known = set()
    for name, probe in load_probes().items():
        known |= {name, probe.layer.value}
        for metric in probe.delivers(probe.make_params({})):
            known |= {f"{name}.{metric}", f"{probe.layer.value}.{metric}"}
    selectors = {parse_condition(text).selector.rpartition(":")[2] for text in texts}
    assert selectors
    assert selectors - known == set()
