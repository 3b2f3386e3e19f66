"""Accepted changes of performance, in the file ``accepted.jsonl`` of the runs' folder.

Each line is an acceptance: the first run with the change, the reason, and the time of the
acceptance. A later line about the same run replaces the earlier one.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, with_config

from bareline.store.files import MOST_FILE_BYTES, appended, whole_lines
from bareline.store.run_files import now
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import NotRegular, open_regular
from bareline.vocabulary.sanitize import cleaned

ACCEPTED_FILE = "accepted.jsonl"
_MOST_REASON = 500
#: The longest last line without a newline.
_MOST_TORN = 8192
_MEND = "remove the line: the change at its run counts as not accepted"


@with_config(ConfigDict(defer_build=True, strict=True))
@dataclass(frozen=True, slots=True)
class Acceptance:
    """A change of performance that the user accepted.

    - `run`: name of the first run with the change.
    - `accepted`: time of the acceptance (ISO 8601, UTC).
    """

    run: Annotated[str, Field(min_length=1)]
    reason: str
    accepted: str


_ACCEPTANCE: TypeAdapter[Acceptance] = TypeAdapter(Acceptance)


def accept(run: Path, reason: str) -> Acceptance:
    """Record that the change of performance at a run was accepted.

    The record is a line of ``accepted.jsonl`` in the folder that contains the run.

    Raises StoreError: the file cannot be written.
    """
    acceptance = Acceptance(run.name, cleaned(reason).strip()[:_MOST_REASON], now())
    line = {"run": acceptance.run, "reason": acceptance.reason, "accepted": acceptance.accepted}
    path = run.parent / ACCEPTED_FILE
    try:
        with appended(path) as file:
            last = _last_line(path)
            if last and _unended(path) is None:
                os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - len(last))
            elif last:
                file.write("\n")
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        why = f"the file cannot be written: {error.strerror}"
        raise StoreError(why, where=str(path), hint=_next_step(error)) from error
    return acceptance


def _next_step(error: OSError) -> str:
    """Return the next step for the user if an acceptance cannot be written."""
    if error.errno == errno.ELOOP or isinstance(error, NotRegular | IsADirectoryError):
        return "remove it: an acceptance is written into a regular file only"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "make room, then give --accept again; earlier acceptances stay"
    return "make the folder writable for you, or give --accept with a copy of all runs"


def read_accepted(runs: Iterable[Path]) -> dict[Path, Acceptance]:
    """Return the acceptances in the folders of runs, by the path of the accepted run.

    A complete last line without newline is also read, because an editor may omit the newline.

    Raises StoreError: a line is damaged, other than an incomplete last line.
    """
    acceptances: dict[Path, Acceptance] = {}
    for folder in {run.parent for run in runs}:
        path = folder / ACCEPTED_FILE
        if not os.path.lexists(path):
            continue
        lines = whole_lines(
            folder, ACCEPTED_FILE, _ACCEPTANCE.validate_json, MOST_FILE_BYTES, _MEND
        )
        acceptances.update({folder / line.run: line for line in lines})
        last = _unended(path)
        if last is not None:
            acceptances[folder / last.run] = last
    return acceptances


def _last_line(path: Path) -> bytes:
    """Return the part of a file after its last newline, at most `_MOST_TORN` bytes."""
    with open_regular(path, within=path.parent) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _MOST_TORN))
        return file.read().rpartition(b"\n")[2]


def _unended(path: Path) -> Acceptance | None:
    """Return the acceptance in a complete last line without newline, if there is one."""
    try:
        return _ACCEPTANCE.validate_json(_last_line(path))
    except ValueError:
        return None
