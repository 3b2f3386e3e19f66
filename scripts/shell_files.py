#!/usr/bin/env python3
"""Write what a package brings that is made from the program: manual, completion, list of studies.

::

    scripts/shell_files.py            writes them
    scripts/shell_files.py --check    exit code 1 if one is not as the program has it

The wheel installs the manual page and the completions where `man`, bash, zsh and fish look
(pyproject.toml, shared-data). The list of built-in studies lies beside them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer._completion_shared import get_completion_script

from bareline.cli.completing import VARIABLE
from bareline.cli.main import app
from bareline.study.catalogue import LISTING, listing

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "packaging"
STUDIES = ROOT / "src" / "bareline" / "studies"
_SHELLS = {"bash": "bareline.bash", "zsh": "_bareline", "fish": "bareline.fish"}
_REST = r"""
.SH EXIT STATUS
.TP
.B 0
All that was asked for was done; of \fBprofile\fR, what the program exits with.
.TP
.B 1
A condition of \fB\-\-fail\-if\fR is met.
.TP
.B 2
What was asked for cannot be done; the one line says what, where, and the next step.
.TP
.B 3
Trials failed, or nothing was measured.
.TP
.B 4
The launches cannot decide a condition, and \fB\-\-undecided fail\fR is given or CI is set.
.TP
.B 130
Interrupted, or the time of the batch job is up; \fBbareline continue\fR goes on.
.SH ENVIRONMENT
.TP
.B NO_COLOR
No colours, bold or dim letters.
.TP
.B COLUMNS
Width of tables where there is no terminal.
.TP
.B XDG_CACHE_HOME
Where the built programs and images of guests are kept.
.SH FILES
.TP
.I platforms.toml
Platforms of one's own, in the current folder.
.TP
.I runs/
Run directories, where \fB\-\-out\fR names no other.
"""


def main() -> int:
    """Write the files, or compare them; give the exit code."""
    wanted = files()
    if "--check" not in sys.argv[1:]:
        for path, text in wanted.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    old = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in old:
        name = path.relative_to(ROOT)
        print(f"{name} is not as the program has it: run scripts/shell_files.py")
    return 1 if old else 0


def files() -> dict[Path, str]:
    """Return each file's text."""
    scripts = {FOLDER / name: _completion(shell) for shell, name in _SHELLS.items()}
    studies = json.dumps(listing(), indent=1, ensure_ascii=False) + "\n"
    return {FOLDER / "bareline.1": manual(), STUDIES / LISTING: studies, **scripts}


def _completion(shell: str) -> str:
    text = get_completion_script(prog_name="bareline", complete_var=VARIABLE, shell=shell)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def manual() -> str:
    """Return the manual page in the man macros of roff."""
    root = typer.main.get_command(app)
    parts = [
        ".TH BARELINE 1",
        ".SH NAME",
        "bareline \\- what does a platform cost an MPI application?",
        ".SH SYNOPSIS",
        ".B bareline",
        ".I command",
        "[options]",
        ".SH DESCRIPTION",
        "Runs the same ladder of benchmarks and applications on two or more platforms, compares",
        "them with their spread, says which layer a loss comes from, and predicts what an",
        "application that was profiled on one platform will do on another.",
        ".SH COMMANDS",
    ]
    for name, command in _commands(root):
        parts += _section(name, command)
    return "\n".join(parts) + _REST


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if name and (command.params or not below):
        yield name, command
    for own, inner in below.items():
        yield from _commands(inner, f"{name} {own}".strip())


def _section(name: str, command: Any) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(_text(argument.metavar or argument.name.upper()) for argument in arguments)
    lines = [f".SS {name} {usage}".rstrip(), _text(" ".join((command.help or "").split()))]
    for option in options:
        named = ", ".join(f"\\fB{_text(one)}\\fR" for one in (*option.opts, *option.secondary_opts))
        kind = option.metavar or "VALUE"
        value = "" if option.is_flag else f" \\fI{_text(kind)}\\fR"
        lines += [".TP", f"{named}{value}".rstrip(), _text(option.help or "")]
    return lines


def _text(text: str) -> str:
    """Escape what roff would read as its own."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped)


if __name__ == "__main__":
    sys.exit(main())
