"""Files of a run directory except the records: raw outputs, facts, events, plan, predictions.

Each file has a size limit and is never read through a symbolic link, because a run may come from
another person.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, with_config

from bareline.store.cases import LEFT_OUT_FILE, PLANNED_FILE, read_left_out, read_planned
from bareline.store.files import (
    MOST_FILE_BYTES,
    appended,
    make_folder,
    next_step,
    refuse_link,
    whole_lines,
)
from bareline.store.header import Header, first_problem
from bareline.store.raw import read_raw, write_raw
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import NotRegular, read_bounded, replace_file, step_to_read
from bareline.vocabulary.model import Case, Output, Scalar, Trial
from bareline.vocabulary.platform import LeftOut

T = TypeVar("T")

_FACTS: TypeAdapter[dict[str, Scalar]] = TypeAdapter(dict[str, Scalar])
#: Core seconds by platform, over all sessions of a run.
_COST: TypeAdapter[dict[str, float]] = TypeAdapter(
    dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]
)


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a platform, with its duration if that is relevant."""

    time: str
    platform: str
    event: str
    seconds: float | None = None


#: The session and the machine of a record that names neither.
FIRST = 1
#: The largest number of sessions of a run. Numbers above it must still be readable.
MOST_SESSIONS = 1_000_000
_Number = Annotated[int, Field(ge=1, le=2 * MOST_SESSIONS)]


# The machine is described once for each session, and every record names its session. Sessions on
# the same machine have the same machine number; runs of early versions have one session.
@with_config(ConfigDict(defer_build=True, strict=True))
@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session: a process of bareline that measured a part of a run.

    Parameters
    ----------
    number
        Number of the session in the records, from 1.
    machine
        Number of the machine among the run's machines, from 1.
    started
        Time of the start (ISO 8601, UTC).
    versions
        Versions of bareline and its libraries.
    host
        The machine on which bareline ran: its name, processor, kernel and boot.
    differs
        The differences from the previous machine, a line each.
    """

    number: _Number
    machine: _Number = FIRST
    started: str
    versions: Mapping[str, str]
    host: Mapping[str, str]
    differs: Sequence[str] = ()

    @property
    def moved(self) -> str:
        """Return a description of the change to another machine; "" if there was none."""
        if not self.differs:
            return ""
        when = self.started[:16].replace("T", " ")
        return f"machine {self.machine} from {when} UTC: {'; '.join(self.differs)}"


_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
_SESSION: TypeAdapter[Session] = TypeAdapter(Session)

COST_FILE = "cost.json"
EVENTS_FILE = "events.jsonl"
PREDICTIONS_FILE = "predictions.json"
SESSIONS_FILE = "sessions.jsonl"
#: A platform has some hundred facts; an imported platform may have more.
_LARGEST_FACTS_BYTES = 16 << 20
_LARGEST_COST_BYTES = 1 << 20


class RunFiles:
    """The files of a run directory except the records.

    A read raises StoreError if a file is damaged; an incomplete last line does not count as damage.
    A write raises StoreError if the disk is full or fails.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header

    # Raw outputs -----------------------------------------------------------------------------

    def write_raw(self, trial: Trial, output: Output, attempt: int = 1) -> None:
        """Write the output of a trial, so that it can be parsed again."""
        with self.explaining():
            write_raw(self.path, self.raw_folder(trial.index, attempt), output)

    def read_raw(self, trial: Trial, attempt: int = 1) -> Output | None:
        """Return the stored output of a trial, or None.

        Raises StoreError: the file is not a regular file, or is too large.
        """
        with self._explaining_raw():
            return read_raw(self.path, self.raw_folder(trial.index, attempt))

    def raw_file(self, index: int, name: str, attempt: int = 1) -> Path:
        """Return the path of a file that a trial's program wrote.

        Raises StoreError: the path is a link.
        """
        file = self.raw_folder(index, attempt) / f"file.{name}"
        with self._explaining_raw():
            for place in (self.path / "raw", file.parent, file):
                refuse_link(place)
        return file

    def raw_folder(self, index: int, attempt: int = 1) -> Path:
        """Return the folder of a trial's raw output."""
        name = f"{index:06d}"
        if attempt > 1:
            name += f".{attempt}"
        return self.path / "raw" / name

    @contextmanager
    def _explaining_raw(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _unreadable(
                error, self.path, "remove this file; the record of its trial remains"
            ) from error

    # Facts and events of the platforms ---------------------------------------------------------

    def write_session(self, session: Session) -> None:
        """Write the entry of a session; an earlier entry with the same number is replaced."""
        sessions = {**self.sessions(), session.number: session}
        lines = [
            json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in sessions.values()
        ]
        with self.explaining():
            self._replace(self.path / SESSIONS_FILE, "".join(lines))

    def sessions(self) -> dict[int, Session]:
        """Return the sessions by number, in order; empty for runs of early versions."""
        lines = self._lines(SESSIONS_FILE, _SESSION.validate_json) or ()
        return {session.number: session for session in lines}

    def write_facts(self, platform: str, facts: Mapping[str, Scalar], session: int = FIRST) -> None:
        """Write the facts of a platform in a session."""
        text = json.dumps(dict(facts), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        file = self._facts_file(platform, session)
        with self.explaining():
            make_folder(file.parent)
            self._replace(file, text)

    def facts(self, machine: int | None = None) -> dict[str, dict[str, Scalar]]:
        """Return the facts of every platform that came up, from its latest session.

        - `machine`: the number of the machine whose sessions are used. The default for each
          platform is the first machine on which it came up.
        """
        machines = {number: session.machine for number, session in self.sessions().items()}
        latest: dict[str, dict[str, Scalar]] = {}
        on: dict[str, int] = {}
        for number in sorted({FIRST, *machines}):
            here = machines.get(number, FIRST)
            for name, facts in self.facts_of(number).items():
                if on.setdefault(name, here) == here if machine is None else machine == here:
                    latest[name] = facts
        return dict(sorted(latest.items()))

    def facts_of(self, session: int) -> dict[str, dict[str, Scalar]]:
        """Return the facts of every platform that came up in a session."""
        files = {n: self._facts_file(n, session) for n in sorted(self.header.platforms)}
        contents = {n: self._json(file, _FACTS, _LARGEST_FACTS_BYTES) for n, file in files.items()}
        return {name: facts for name, facts in contents.items() if facts is not None}

    def _facts_file(self, platform: str, session: int) -> Path:
        folder = self.path / "facts"
        if session != FIRST:
            folder /= str(session)
        return folder / f"{platform}.json"

    def append_event(self, platform: str, text: str, seconds: float | None = None) -> None:
        """Append an event of a platform, such as the replacement of a node, with its duration."""
        event = {"time": now(), "platform": platform, "event": text, "seconds": seconds}
        with self.explaining(), appended(self.path / EVENTS_FILE) as file:
            file.write(json.dumps(event, ensure_ascii=False) + "\n")

    def events(self) -> list[Event]:
        """Return the events of all platforms."""
        return self._lines(EVENTS_FILE, _EVENT.validate_json) or []

    def write_cost(self, core_s: Mapping[str, float]) -> None:
        """Write the cost of the run so far: core seconds by platform."""
        rounded = {name: round(value, 3) for name, value in core_s.items()}
        with self.explaining():
            self._replace(self.path / COST_FILE, json.dumps(rounded, sort_keys=True) + "\n")

    def cost(self) -> dict[str, float] | None:
        """Return the cost of the run; None if it was not counted."""
        return self._json(self.path / COST_FILE, _COST, _LARGEST_COST_BYTES)

    # The plan and the predictions --------------------------------------------------------------

    def left_out(self) -> list[LeftOut]:
        """Return the cases that were not planned on a platform; empty for early runs."""
        declared = self.header.probes, self.header.platforms
        return self._lines(LEFT_OUT_FILE, lambda line: read_left_out(line, *declared)) or []

    def planned(self) -> list[tuple[str, Case]] | None:
        """Return the planned cases with their platforms; None if the run has no list of them."""
        declared = self.header.probes, self.header.platforms
        return self._lines(PLANNED_FILE, lambda line: read_planned(line, *declared))

    def write_predictions(self, text: str) -> None:
        """Write the predictions from the records; older predictions are replaced."""
        with self.explaining():
            self._replace(self.path / PREDICTIONS_FILE, text)

    def read_predictions(self) -> bytes | None:
        """Return the stored predictions; None if there are none."""
        try:
            return read_bounded(self.path / PREDICTIONS_FILE, MOST_FILE_BYTES, within=self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            hint = f"write it again: `bareline predict --validate {self.path}`"
            raise _unreadable(error, self.path, hint) from error

    # How they are read and written ------------------------------------------------------------

    def _replace(self, file: Path, text: str) -> None:
        replace_file(file, text, within=self.path)

    def _lines(self, name: str, read: Callable[[bytes], T]) -> list[T] | None:
        if not os.path.lexists(self.path / name):
            return None
        return list(whole_lines(self.path, name, read, MOST_FILE_BYTES))

    def _json(self, file: Path, kind: TypeAdapter[T], most_bytes: int) -> T | None:
        try:
            return kind.validate_json(read_bounded(file, most_bytes, within=self.path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(
                f"the file is damaged: {first_problem(error)}",
                where=str(file),
                hint=(
                    "take the file from a copy of the run, or remove it: the results do not need it"
                ),
            ) from error

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Replace an OSError in the context by a StoreError with the reason and the next step."""
        try:
            yield
        except OSError as error:
            raise self.unwritable(error) from error

    def unwritable(self, error: OSError) -> StoreError:
        """Return the error for a run that cannot be written to, with the next step."""
        why = error.strerror
        if isinstance(error, NotRegular | IsADirectoryError) and error.filename is not None:
            why = f"'{Path(error.filename).name}': {why}"
        return StoreError(
            f"the run cannot be written: {why}",
            where=str(self.path),
            hint=next_step(error, self.path, imported=self.header.imported),
        )


def now() -> str:
    """Return the present time in the format of run directories (ISO 8601, UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _unreadable(error: OSError, run: Path, hint: str) -> StoreError:
    where = error.filename if isinstance(error.filename, str) else str(run)
    why = f"cannot be read: {error.strerror}"
    return StoreError(why, where=where, hint=step_to_read(error, hint))
