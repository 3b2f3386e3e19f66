#!/usr/bin/env python3
"""Commands of the documentation's pages, as they are printed there.

A console block shows what its commands print, and this writes it: it runs them.

::

    scripts/tutorial.py docs/tutorial/first-comparison.md --measure
    scripts/tutorial.py docs/tutorial/first-comparison.md

With ``--measure`` the page's ``bareline run`` is run, and what it measured is kept beside the page
(``first-comparison.tar.xz``: without the trials' raw outputs); with ``--run DIR`` a run that the
same command made before. Without either the kept run is read again: when words change, the page
follows without a new measurement, and a test tells when it has to.

A line ``...`` in an output stands for lines that the page leaves out; as many lines before and
after it as there were are shown again.

A ``sh`` block has commands without what they print; tests/docs/test_commands.py runs them. Those
that it cannot run in seconds are marked above the block, all or those that begin in some way::

    <!-- minutes: `bareline run`: why; `make docs-check` runs them -->
    <!-- elsewhere: what they need that no machine of ours has -->
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TYPED = re.compile(r"((?:^<!-- .*? -->\n)*)^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (minutes|elsewhere): (.*?) -->", re.DOTALL)
_FILE = re.compile(
    r"^```(?:toml|sh|yaml|groovy)\n((?:#|//) ([\w./-]*\.\w+|Jenkinsfile)\b.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LEFT_OUT = "..."
#: What begins a measurement, and the option that names its run directory.
MEASURES = "bareline run "
_OUT = re.compile(r"--out (\S+)")


@dataclass(slots=True)
class Step:
    """A command of a page.

    Parameters
    ----------
    command
        What a shell runs.
    written
        Its lines on the page, with the prompt.
    shown
        The lines under it: what it printed.
    """

    command: str
    written: list[str]
    shown: list[str] = field(default_factory=list)

    @property
    def measures(self) -> bool:
        """Whether it measures, which takes minutes and gives other figures each time."""
        return self.command.startswith(MEASURES)

    @property
    def run(self) -> str:
        """The run directory that it makes."""
        found = _OUT.search(self.command)
        if found is None:
            sys.exit(f"tutorial: '{self.command}' names no run directory: add --out DIR")
        return found[1]


@dataclass(frozen=True, slots=True)
class Typed:
    """A command of a ``sh`` block.

    Parameters
    ----------
    command
        What a shell runs; of several lines where one alone is none.
    mark
        ``minutes`` or ``elsewhere`` where it is not run with the tests, else "".
    """

    command: str
    mark: str


def typed(text: str) -> Iterator[Typed]:
    """Yield all commands of a page's ``sh`` blocks; one that begins with a file's name is none."""
    for marks, block in _TYPED.findall(text):
        if files_of(f"```sh\n{block}```"):
            continue
        rules = [
            (kind, tuple(re.findall(r"`([^`]+)`", said)) or ("",))
            for kind, said in _MARK.findall(marks)
        ]
        for command in _commands(block):
            kinds = [kind for kind, begins in rules if command.startswith(begins)]
            yield Typed(command, kinds[0] if kinds else "")


def _commands(block: str) -> Iterator[str]:
    waiting = ""
    for line in block.splitlines():
        waiting = f"{waiting}\n{line}" if waiting else line
        if line.endswith("\\") or (waiting.startswith("for ") and not line.startswith("done")):
            continue
        if waiting and not waiting.startswith("#"):
            yield waiting
        waiting = ""


def files_of(text: str) -> dict[str, str]:
    """Return the files that a page shows: blocks whose first line is a comment with their name."""
    return {name: content for content, name in _FILE.findall(text)}


def steps_of(block: str) -> list[Step]:
    """Return the commands of a console block, each with the lines under it."""
    found: list[Step] = []
    lines = iter(block.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            found[-1].shown.append(line)
            continue
        written, command = [line], line.removeprefix("$ ")
        while command.endswith("\\"):
            written.append(next(lines))
            command = command[:-1] + written[-1]
        if command.endswith("<<'END'"):
            here: list[str] = []
            while (line := next(lines)) != "END":
                here.append(line)
            written += [*here, "END"]
            command = command.removesuffix("<<'END'") + "-c " + shlex.quote("\n".join(here))
            command = command.replace("python3 - ", "python3 ")
        found.append(Step(command, written))
    return found


def steps(text: str) -> Iterator[Step]:
    """Yield all commands of a page."""
    for block in _BLOCK.findall(text):
        yield from steps_of(block)


def archive_of(page: Path) -> Path:
    """Return the file that keeps what a page's commands measured."""
    return page.with_suffix(".tar.xz")


def environment_for(folder: Path) -> dict[str, str]:
    """Let `bareline` be this one, with lines as wide as the page's and no colours."""
    program = folder / "bin" / "bareline"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bareline "$@"\n')
    program.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def printed(command: str, folder: Path, environment: dict[str, str]) -> list[str]:
    """Run a command and give the lines that it printed."""
    done = subprocess.run(
        ["sh", "-c", f"{{ {command}\n}} 2>&1"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"tutorial: '{command}' ended with {done.returncode}:\n{done.stdout}")
    return [line.rstrip() for line in done.stdout.rstrip().splitlines()]


def shortened(lines: list[str], shown: Sequence[str]) -> list[str]:
    """Leave out of an output what the page leaves out of it."""
    if _LEFT_OUT not in shown:
        return lines
    head = shown.index(_LEFT_OUT)
    tail = len(shown) - head - 1
    if len(lines) <= head + tail:
        return lines
    return [*lines[:head], _LEFT_OUT, *lines[len(lines) - tail :]]


def pack(run: Path, archive: Path, name: str) -> None:
    """Keep a run directory without the raw outputs of its trials, which nothing here reads."""
    with tarfile.open(archive, "w:xz") as packed:
        for path in sorted(run.iterdir()):
            if path.name == "raw" or path.suffix in {".html", ".csv"}:
                continue
            packed.add(path, f"{name}/{path.name}")


def unpack(archive: Path, folder: Path) -> None:
    """Put a kept run into a folder."""
    if not archive.exists():
        sys.exit(f"tutorial: no run is kept in {archive}: add --measure, or --run DIR")
    # The filters of the module `tarfile` are newer than the Python of Debian 12.
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", folder], check=True)


def rewritten(page: Path, folder: Path, *, measure: bool) -> str:
    """Return the page with the outputs of its commands as they are now."""
    environment = environment_for(folder)
    archive = archive_of(page)
    if not measure:
        unpack(archive, folder)

    def of_block(match: re.Match[str]) -> str:
        lines = []
        for step in steps_of(match[1]):
            lines += step.written
            if step.measures and not measure:
                lines += step.shown
                continue
            lines += shortened(printed(step.command, folder, environment), step.shown)
            if step.measures:
                pack(folder / step.run, archive, step.run)
        return "\n".join(["```console", *lines, "```"])

    return _BLOCK.sub(of_block, page.read_text(encoding="utf-8"))


def main() -> None:
    """Rewrite a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--measure", action="store_true", help="measure anew")
    how.add_argument("--run", type=Path, metavar="DIR", help="a run of the page's command")
    args = parser.parse_args()
    if args.run is not None:
        measuring = [one for one in steps(args.page.read_text(encoding="utf-8")) if one.measures]
        pack(args.run, archive_of(args.page), measuring[0].run)
    with tempfile.TemporaryDirectory() as folder:
        text = rewritten(args.page, Path(folder), measure=args.measure)
    args.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
