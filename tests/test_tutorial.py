"""The tutorials print what their commands print."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FABRICS = ROOT / "docs" / "tutorial" / "compare-two-fabrics.md"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(page):
    """Give the commands of a page's console blocks, each with the lines printed under it."""
    found = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        lines = iter(block.splitlines())
        for line in lines:
            if not line.startswith("$ "):
                found[-1][1].append(line)
                continue
            command = line.removeprefix("$ ")
            while command.endswith("\\"):
                command = command[:-1] + next(lines)
            if command.endswith("<<'END'"):
                here = []
                while (line := next(lines)) != "END":
                    here.append(line)
                command = command.removesuffix("<<'END'") + "-c " + shlex.quote("\n".join(here))
                command = command.replace("python3 - ", "python3 ")
            found.append((command, []))
    return found


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
    program = tmp_path / "bin" / "bareline"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bareline "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "COLUMNS": "100",
        "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1",
    }  # fmt: skip
    folder = ROOT
    commands = steps(FABRICS)
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
