"""What a run directory holds beside its records: raw outputs, facts, events, its plan, predictions.

Each is read within bounds and never through a symbolic link: a run may come from anybody.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bareline.store.cost import read_cost
from bareline.store.files import (
    MOST_FILE_BYTES,
    appended,
    make_folder,
    next_step,
    refuse_link,
    whole_lines,
    write_atomically,
)
from bareline.store.header import Header, first_problem
from bareline.store.left_out import LEFT_OUT_FILE, PLANNED_FILE, read_left_out, read_planned
from bareline.store.raw import read_raw, write_raw
from bareline.store.sessions import (
    FIRST,
    SESSIONS_FILE,
    Session,
    facts_file,
    read_session,
    session_line,
)
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import read_bounded, step_to_read
from bareline.vocabulary.model import Case, Output, Scalar, Trial, trial_name
from bareline.vocabulary.platform import LeftOut

_FACTS: TypeAdapter[dict[str, Scalar]] = TypeAdapter(dict[str, Scalar])


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a platform, and how long it took where that matters."""

    time: str
    platform: str
    event: str
    seconds: float | None = None


_EVENT: TypeAdapter[Event] = TypeAdapter(Event)

EVENTS_FILE = "events.jsonl"
PREDICTIONS_FILE = "predictions.json"
#: Of a platform some hundred facts are known; an imported one may say a little more.
_LARGEST_FACTS_BYTES = 16 << 20


class BesideRecords:
    """The files of a run directory that are no records."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header

    # Raw outputs -----------------------------------------------------------------------------

    def write_raw(self, trial: Trial, output: Output, attempt: int = 1) -> None:
        """Keep what a trial printed, re-parsable.

        Raises StoreError: the disk is full or fails.
        """
        try:
            write_raw(self.raw_folder(trial, attempt), output)
        except OSError as error:
            raise self.unwritable(error) from error

    def read_raw(self, trial: Trial, attempt: int = 1) -> Output | None:
        """Read what `write_raw` kept; None where the trial never came to print anything.

        Raises StoreError: what stands there is no regular file, or too large.
        """
        folder = self.raw_folder(trial, attempt)
        try:
            return read_raw(self.path, folder)
        except OSError as error:
            raise _unreadable(error, self.path, "remove it: its trial keeps its record") from error

    def raw_folder(self, trial: Trial, attempt: int = 1) -> Path:
        """Give the folder of a trial's raw output."""
        return self._raw_folder(trial.index, attempt)

    def raw_file(self, index: int, name: str, attempt: int = 1) -> Path:
        """Give where a file is kept that the program of the trial with this index wrote.

        Raises StoreError: a symbolic link leads there.
        """
        file = self._raw_folder(index, attempt) / f"file.{name}"
        try:
            for place in (self.path / "raw", file.parent, file):
                refuse_link(place)
        except OSError as error:
            raise _unreadable(error, self.path, "remove it: its trial keeps its record") from error
        return file

    def _raw_folder(self, index: int, attempt: int) -> Path:
        name = trial_name(index)
        return self.path / "raw" / (name if attempt == 1 else f"{name}.{attempt}")

    # What the platforms are, and what happened to them ----------------------------------------

    def write_session(self, session: Session) -> None:
        """Keep what bareline is and where it runs, in place of what was kept of this session."""
        sessions = {**self.sessions(), session.number: session}
        text = "".join(map(session_line, sessions.values()))
        try:
            write_atomically(self.path / SESSIONS_FILE, text)
        except OSError as error:
            raise self.unwritable(error) from error

    def sessions(self) -> dict[int, Session]:
        """Read the sessions by number, as they came; none of runs of before they were kept.

        Raises StoreError: a line other than a torn last one is damaged.
        """
        if not os.path.lexists(self.path / SESSIONS_FILE):
            return {}
        lines = whole_lines(self.path, SESSIONS_FILE, read_session, MOST_FILE_BYTES)
        return {session.number: session for session in lines}

    def write_facts(self, platform: str, facts: Mapping[str, Scalar], session: int = FIRST) -> None:
        """Keep what a platform is in a session."""
        text = json.dumps(dict(facts), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        file = facts_file(self.path, platform, session)
        try:
            make_folder(file.parent)
            write_atomically(file, text)
        except OSError as error:
            raise self.unwritable(error) from error

    def facts(self, machine: int | None = None) -> dict[str, dict[str, Scalar]]:
        """Read the facts of every platform that came up, as the latest session found them.

        - `machine`: only as on this one. Without it on the first machine that a platform came up
          on.

        Raises StoreError: a file of facts is damaged.
        """
        known = {number: session.machine for number, session in self.sessions().items()}
        found: dict[str, dict[str, Scalar]] = {}
        on: dict[str, int] = {}
        for number in sorted({FIRST, *known}):
            here = known.get(number, FIRST)
            for name, facts in self.facts_of(number).items():
                if on.setdefault(name, here) == here if machine is None else machine == here:
                    found[name] = facts
        return dict(sorted(found.items()))

    def facts_of(self, session: int) -> dict[str, dict[str, Scalar]]:
        """Read the facts of every platform that came up in a session.

        Raises StoreError: a file of facts is damaged.
        """
        found = {}
        for name in sorted(self.header.platforms):
            file = facts_file(self.path, name, session)
            try:
                text = read_bounded(file, _LARGEST_FACTS_BYTES, within=self.path)
                found[name] = _FACTS.validate_json(text)
            except FileNotFoundError:
                continue
            except (OSError, ValidationError) as error:
                raise StoreError(
                    f"damaged: {first_problem(error)}",
                    where=str(file),
                    hint="take it from a copy of the run, or remove it: the results do not need it",
                ) from error
        return found

    def append_event(self, platform: str, text: str, seconds: float | None = None) -> None:
        """Note what happened to a platform, e.g. that a node was replaced, and how long it took."""
        event = {"time": now(), "platform": platform, "event": text, "seconds": seconds}
        try:
            with appended(self.path / EVENTS_FILE) as file:
                file.write(json.dumps(event, ensure_ascii=False) + "\n")
        except OSError as error:
            raise self.unwritable(error) from error

    def events(self) -> list[Event]:
        """Read what happened to platforms.

        Raises StoreError: a line other than a torn last one is damaged.
        """
        if not os.path.lexists(self.path / EVENTS_FILE):
            return []
        return list(whole_lines(self.path, EVENTS_FILE, _EVENT.validate_json, MOST_FILE_BYTES))

    def cost(self) -> dict[str, float] | None:
        """Read what the run has cost: core seconds by platform; None where nobody counted.

        Raises StoreError: the file is damaged.
        """
        return read_cost(self.path)

    # What was planned, and what was predicted -------------------------------------------------

    def left_out(self) -> list[LeftOut]:
        """Read what the plan did not ask of a platform; nothing of runs of before it was kept.

        Raises StoreError: a line is damaged.
        """
        if not os.path.lexists(self.path / LEFT_OUT_FILE):
            return []
        probes, platforms = self.header.probes, self.header.platforms

        def read(line: bytes) -> LeftOut:
            return read_left_out(line, probes, platforms)

        return list(whole_lines(self.path, LEFT_OUT_FILE, read, MOST_FILE_BYTES))

    def planned(self) -> list[tuple[str, Case]] | None:
        """Read which cases its plan asks of which platform; None where that was not kept.

        Raises StoreError: a line is damaged.
        """
        if not os.path.lexists(self.path / PLANNED_FILE):
            return None
        probes, platforms = self.header.probes, self.header.platforms

        def read(line: bytes) -> tuple[str, Case]:
            return read_planned(line, probes, platforms)

        return list(whole_lines(self.path, PLANNED_FILE, read, MOST_FILE_BYTES))

    def write_predictions(self, text: str) -> None:
        """Keep what was predicted from the records, in place of what was kept before.

        Raises StoreError: it cannot be written.
        """
        try:
            refuse_link(self.path / PREDICTIONS_FILE)
            write_atomically(self.path / PREDICTIONS_FILE, text)
        except OSError as error:
            raise self.unwritable(error) from error

    def read_predictions(self) -> bytes | None:
        """Read what `write_predictions` kept; None where nothing was.

        Raises StoreError: it cannot be read.
        """
        try:
            return read_bounded(self.path / PREDICTIONS_FILE, MOST_FILE_BYTES, within=self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            hint = f"write it again: `bareline predict --validate {self.path}`"
            raise _unreadable(error, self.path, hint) from error

    def unwritable(self, error: OSError) -> StoreError:
        """Say that the run cannot be written to, and what helps."""
        return StoreError(
            f"cannot be written: {error.strerror}",
            where=str(self.path),
            hint=next_step(error, self.path, imported=self.header.imported),
        )


def now() -> str:
    """Give the present time as it stands in run directories (ISO 8601, UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _unreadable(error: OSError, run: Path, hint: str) -> StoreError:
    where = error.filename if isinstance(error.filename, str) else str(run)
    why = f"cannot be read: {error.strerror}"
    return StoreError(why, where=where, hint=step_to_read(error, hint))
