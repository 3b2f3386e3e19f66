"""The command line with which every rank of a launch loads the profiler."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from bareline.session.mpi_program import LAUNCHER
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.files import read_bounded

#: Open MPI's options for a file of programs.
_APP_FILE = ("--app", "-app", "--appfile", "-appfile")
_LARGEST_APP_FILE_BYTES = 1 << 20


def preloaded(
    argv: Sequence[str],
    flavour: str,
    variables: Mapping[str, str],
    folder: Path | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Return the command line and environment with which every rank gets the variables.

    A launcher gets options that export the variables to the ranks; its own environment does not
    contain them, so that the launcher is not profiled. Open MPI's option is valid for one program
    of a launch, so the option is repeated after every ``:``. If the programs are in a file
    (``--app``), a copy with the option is written to `folder`.
    """
    environment = dict(os.environ)
    name = Path(argv[0]).name
    if not LAUNCHER.fullmatch(name):
        return list(argv), environment | dict(variables)
    given: list[str] = []
    if flavour != "openmpi":
        for key, value in variables.items():
            given += ["-genv", key, value]
        return [argv[0], *given, *argv[1:]], environment
    for key, value in variables.items():
        given += ["-x", f"{key}={value}"]
    line = [argv[0], *given]
    for previous, text in itertools.pairwise(argv):
        if text == ":":
            line += [text, *given]
        elif previous in _APP_FILE and folder is not None:
            line.append(str(_exporting_programs(Path(text), given, folder)))
        else:
            line.append(text)
    return line, environment


def _exporting_programs(programs: Path, given: Sequence[str], folder: Path) -> Path:
    """Copy a file of programs, with the exported variables in front of each program.

    Raises ProfileError: the file cannot be read.
    """
    try:
        text = read_bounded(programs, _LARGEST_APP_FILE_BYTES).decode(errors="surrogateescape")
    except OSError as error:
        raise ProfileError(
            f"the launcher's file of programs cannot be read: {error.strerror}",
            where=str(programs),
            hint="give a file that has one program with its options on each line",
        ) from error
    exported = shlex.join(given)
    lines = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            line = f"{exported} {line}"
        lines.append(line)
    copy = folder / "programs"
    copy.write_text("\n".join(lines) + "\n", errors="surrogateescape")
    return copy
