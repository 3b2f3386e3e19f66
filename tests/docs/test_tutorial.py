"""The tutorials print what their commands print."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FABRICS = ROOT / "docs" / "tutorial" / "compare-two-fabrics.md"
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "tutorial.py"))
#: Pages whose measurements are kept beside them.
KEPT = [file.with_suffix("").with_suffix(".md") for file in FABRICS.parent.glob("*.tar.xz")]
#: What a page's text quotes from what its commands print.
_QUOTED = re.compile(r'\*\*"([^"]+)"\*\*')


def same(printed, shown):
    """Tell whether a page shows what was printed; ``...`` stands for any lines."""
    parts = [[]]
    for line in shown:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line.rstrip())
    position = 0
    for number, part in enumerate(parts):
        starts = range(position, len(printed) - len(part) + 1) if number else [0]
        at = next((at for at in starts if printed[at : at + len(part)] == part), None)
        if at is None:
            return False
        position = at + len(part)
    return position == len(printed)


@pytest.mark.slow
def test_compare_two_fabrics(tmp_path):
    environment = {**SCRIPT["environment_for"](tmp_path), "PYTHONPATH": str(ROOT / "src")}
    folder = ROOT
    commands = [
        (step.command, step.shown) for step in SCRIPT["steps"](FABRICS.read_text(encoding="utf-8"))
    ]
    assert len(commands) >= 9
    for command, shown in commands:
        if command.startswith("cd "):
            folder = ROOT / command.removeprefix("cd ")
            continue
        # What a reader does in a scratch folder stays in one here.
        here = command.replace("/tmp/fabrics", str(tmp_path / "fabrics"))
        here = here.replace("fabrics.json", str(tmp_path / "fabrics.json"))
        done = subprocess.run(
            ["sh", "-c", f"{here} 2>&1"], cwd=folder, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        text = done.stdout.replace(str(tmp_path / "fabrics"), "/tmp/fabrics")
        printed = [line.rstrip() for line in text.rstrip().splitlines()]
        assert same(printed, shown), f"{command}\n{text}"


@pytest.mark.slow
@pytest.mark.parametrize("page", KEPT, ids=lambda page: page.stem)
def test_a_kept_run_is_read_as_the_page_says(page, tmp_path):
    """Where this fails, words have changed: `scripts/tutorial.py PAGE` writes the page anew."""
    shown = page.read_text(encoding="utf-8")
    assert SCRIPT["rewritten"](page, tmp_path, measure=False) == shown


@pytest.mark.parametrize("page", KEPT, ids=lambda page: page.stem)
def test_what_the_text_quotes_was_printed(page):
    text = page.read_text(encoding="utf-8")
    lines = [line for step in SCRIPT["steps"](text) for line in step.shown]
    printed = " ".join(" ".join(lines).split())
    quoted = [" ".join(phrase.split()) for phrase in _QUOTED.findall(text)]
    assert quoted
    assert [phrase for phrase in quoted if phrase not in printed] == []


def test_what_a_page_leaves_out_is_left_out_again():
    shortened = SCRIPT["shortened"]
    lines = [f"line {n}" for n in range(9)]
    assert shortened(lines, ["x", "...", "y", "z"]) == ["line 0", "...", "line 7", "line 8"]
    assert shortened(lines[:2], ["x", "...", "y"]) == lines[:2]
    assert shortened(lines, ["older"]) == lines


def test_a_page_has_commands_with_what_they_print():
    text = "a\n```console\n$ one \\\n  two\nout\n$ three\n```\nb\n```\n$ no\n```\n"
    first, last = SCRIPT["steps"](text)
    assert (first.command, first.written, first.shown) == (
        "one   two", ["$ one \\", "  two"], ["out"]
    )  # fmt: skip
    assert (last.command, last.shown) == ("three", [])
