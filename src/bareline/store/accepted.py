"""Accepted changes, kept with the runs: ``accepted.jsonl`` in their folder.

One line is one acceptance: the run since which something changed, the reason, and when it was
accepted. A later line about the same run replaces the earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, with_config

from bareline.store.beside import now
from bareline.store.files import MOST_FILE_BYTES, appended, whole_lines
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import step_to_write
from bareline.vocabulary.texts import cleaned

ACCEPTED_FILE = "accepted.jsonl"
_MOST_REASON = 500


@with_config(ConfigDict(defer_build=True, strict=True))
@dataclass(frozen=True, slots=True)
class Acceptance:
    """A change that was accepted.

    - `run`: name of the first run after it; `accepted`: when (ISO 8601, UTC).
    """

    run: Annotated[str, Field(min_length=1)]
    reason: str
    accepted: str


_ACCEPTANCE: TypeAdapter[Acceptance] = TypeAdapter(Acceptance)


def accept(run: Path, reason: str) -> Acceptance:
    """Keep, in the folder of `run`, that the change at it was accepted.

    Raises StoreError: the file cannot be written.
    """
    found = Acceptance(run.name, cleaned(reason).strip()[:_MOST_REASON], now())
    line = {"run": found.run, "reason": found.reason, "accepted": found.accepted}
    path = run.parent / ACCEPTED_FILE
    try:
        with appended(path) as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise StoreError(why, where=str(path), hint=step_to_write(error)) from error
    return found


def read_accepted(runs: Iterable[Path]) -> dict[Path, Acceptance]:
    """Return the acceptances in the folders of runs, by the paths of the runs that they name.

    Raises StoreError: a line other than a torn last one is damaged.
    """
    found: dict[Path, Acceptance] = {}
    for folder in {run.parent for run in runs}:
        if not (folder / ACCEPTED_FILE).is_symlink() and not (folder / ACCEPTED_FILE).exists():
            continue
        lines = whole_lines(folder, ACCEPTED_FILE, _ACCEPTANCE.validate_json, MOST_FILE_BYTES)
        found.update({folder / line.run: line for line in lines})
    return found
