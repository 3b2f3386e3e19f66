"""The raw outputs of trials, which are kept so that later parsers can read them.

A small output is the file ``raw/<trial>.json``. A large output, or an output with files that the
program wrote, is a folder ``raw/<trial>/`` with ``command.json``, ``stdout``, ``stderr`` and
``file.<name>``.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bareline.store.files import make_folder
from bareline.vocabulary.files import read_bounded, remove_parts, replace_file
from bareline.vocabulary.model import Clock, Output

#: An output with at most this many characters is one file; most benchmarks print less.
_SMALL_CHARACTERS = 2048
#: The least number of characters that a shortened text keeps.
_KEPT_CHARACTERS = 2048
#: The line that replaces the middle of a shortened text.
_LEFT_OUT = re.compile(r"^\[\d+ characters left out\]$", re.MULTILINE)
#: Largest file that is read: an output is cut at 32 MiB, and a byte of it may become three.
_LARGEST_BYTES = 128 << 20


def write_raw(run: Path, folder: Path, output: Output) -> None:
    """Write an output as the file ``FOLDER.json``; if it is large or has files, as the folder.

    Raises OSError: the output cannot be written.
    """
    about = {
        "argv": list(output.argv),
        "exit_code": output.exit_code,
        "timed_out": output.timed_out,
        "duration_s": output.duration_s,
        "clock": output.clock,
        "files": sorted(output.files),
        "cut": list(output.cut),
    }
    streams = {"stdout": output.stdout, "stderr": output.stderr}
    if not output.files and sum(map(len, streams.values())) <= _SMALL_CHARACTERS:
        text = json.dumps({**about, **streams}, indent=1, ensure_ascii=False)
        replace_file(folder.with_name(f"{folder.name}.json"), text + "\n", within=run)
        return
    make_folder(folder)
    remove_parts(folder)
    for name, text in streams.items():
        replace_file(folder / name, text, within=run)
    for name, text in output.files.items():
        replace_file(folder / f"file.{name}", text, within=run)
    described = json.dumps(about, indent=1) + "\n"
    replace_file(folder / "command.json", described, within=run)


class _About(BaseModel):
    """The parts of an output except the texts that the program printed and wrote."""

    model_config = ConfigDict(defer_build=True, strict=True, frozen=True)

    argv: tuple[str, ...]
    exit_code: int
    timed_out: bool
    duration_s: float
    clock: Clock
    files: tuple[Annotated[str, Field(pattern=r"^[^/]+$")], ...]
    cut: tuple[str, ...] = ()
    stdout: str = ""
    stderr: str = ""


def read_raw(run: Path, folder: Path) -> Output | None:
    """Return a stored output; None if it is missing or incomplete.

    Raises OSError: the output cannot be read.
    """

    def text(file: Path) -> str:
        return read_bounded(file, _LARGEST_BYTES, within=run).decode()

    small = folder.with_name(f"{folder.name}.json")
    try:
        if os.path.lexists(small):
            about = _About.model_validate_json(text(small)).model_dump()
        else:
            about = _About.model_validate_json(text(folder / "command.json")).model_dump()
            about |= {name: text(folder / name) for name in ("stdout", "stderr")}
        about["files"] = {name: text(folder / f"file.{name}") for name in about["files"]}
        return Output(**about)
    except (FileNotFoundError, IsADirectoryError, ValueError):
        return None


def shortened(text: str, most: int) -> str:
    """Return a text; if it has more than `most` characters, without its middle."""
    length = max(most, _KEPT_CHARACTERS)
    if len(text) <= length:
        return text
    left_out = len(text) - length
    return f"{text[: length // 2]}\n[{left_out} characters left out]\n{text[-(length // 2) :]}"


def was_shortened(output: Output) -> bool:
    """Return whether `shortened` has left out the middle of a program's output."""
    return any(_LEFT_OUT.search(text) for text in (output.stdout, output.stderr))
