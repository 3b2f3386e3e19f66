"""Run directories: append-only, self-contained, readable after a kill at any moment.

::

    run.toml                 study, platforms, seed, versions, configuration hash
    facts/<platform>.json    what each platform is
    planned.jsonl            one line per case and platform that the plan asks for
    left_out.jsonl           one line per case that the plan does not ask of a platform, and why
    records.jsonl            one line per finished trial
    events.jsonl             what happened to platforms: nodes replaced, rebuilt
    predictions.json         what was predicted from its records, where that was asked for
    raw/<trial>.json         what a trial printed, or a folder raw/<trial>/ where that is much

A record is one ``write`` and one ``fsync``. A last line without its newline was torn by a kill;
it is dropped, and its trial counts as not run.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from bareline.store.files import (
    MEND_LINE,
    MOST_FILE_BYTES,
    appended,
    cut_torn_line,
    refuse_link,
    refuse_odd,
    whole_lines,
    write_atomically,
)
from bareline.store.header import HEADER_FILE, Header, first_problem, read_header
from bareline.store.left_out import (
    LEFT_OUT_FILE,
    PLANNED_FILE,
    left_out_line,
    planned_line,
    read_left_out,
    read_planned,
)
from bareline.store.lines import Wanted, from_line, to_line
from bareline.store.raw import read_raw, write_raw
from bareline.store.tables import Tables, read_tables
from bareline.vocabulary.capacity import LeftOut
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import NotRegular, open_regular, read_bounded
from bareline.vocabulary.model import Case, Output, Record, Scalar, Trial, trial_name

if TYPE_CHECKING:
    import polars as pl

_FACTS: TypeAdapter[dict[str, Scalar]] = TypeAdapter(dict[str, Scalar])


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a platform, and how long it took where that matters."""

    time: str
    platform: str
    event: str
    seconds: float | None = None


_EVENT: TypeAdapter[Event] = TypeAdapter(Event)

_EVENTS_FILE = "events.jsonl"
_PREDICTIONS_FILE = "predictions.json"
#: Of a platform some hundred facts are known; an imported one may say a little more.
_LARGEST_FACTS_BYTES = 16 << 20
#: What a run directory holds; none may be a symbolic link when it is written to.
_CONTENT = (
    HEADER_FILE,
    LEFT_OUT_FILE,
    "records.jsonl",
    _EVENTS_FILE,
    _PREDICTIONS_FILE,
    "facts",
    "raw",
)


class Run:
    """A run directory.

    Open an existing one with `Run.open`, make one with `Run.create`; write to it inside
    `Run.writing` only.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header
        self._descriptor: int | None = None

    # Making and opening ----------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: Path,
        header: Header,
        left_out: Sequence[LeftOut] = (),
        planned: Iterable[tuple[str, Case]] | None = None,
    ) -> Run:
        """Make a run directory.

        Parameters
        ----------
        left_out
            What its plan does not ask of a platform, and why.
        planned
            The cases that it asks for, each with its platform; None where nothing was planned.

        Raises
        ------
        StoreError
            The directory exists with something in it, or cannot be written.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not _is_unmade(path):
                raise StoreError(
                    "the folder is not empty",
                    where=str(path),
                    hint=f"choose another --out, or `bareline continue {path}`",
                )
            (path / "facts").mkdir(exist_ok=True)
            (path / "raw").mkdir(exist_ok=True)
            (path / "records.jsonl").touch()
            write_atomically(path / LEFT_OUT_FILE, "".join(map(left_out_line, left_out)))
            if planned is not None:
                lines = (planned_line(platform, case) for platform, case in planned)
                write_atomically(path / PLANNED_FILE, "".join(lines))
            write_atomically(path / HEADER_FILE, header.to_toml())
        except OSError as error:
            raise StoreError(
                f"cannot be written: {error.strerror}",
                where=str(path),
                hint="choose another folder with --out",
            ) from error
        return cls(path, header)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open an existing run directory.

        Raises
        ------
        StoreError
            It is no run directory, or made by a newer bareline.
        """
        return cls(path, read_header(path))

    @property
    def id(self) -> str:
        """Short identity that marks this run's processes."""
        return hashlib.sha256(
            f"{self.header.config_hash}{self.header.created}{self.path.name}".encode()
        ).hexdigest()[:12]

    # Writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the run for writing; repairs a torn last line first.

        Raises
        ------
        StoreError
            Another process is writing to the run, or a part of it is a symbolic link.
        """
        file = self.path / "records.jsonl"
        try:
            for name in _CONTENT:
                refuse_link(self.path / name)
            if file.exists():
                refuse_odd(file.stat(), file)
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise StoreError(
                f"cannot be written: {error.strerror}",
                where=str(self.path),
                hint="it must be a run of this machine's own, without links to elsewhere"
                if error.errno == errno.ELOOP
                else None,
            ) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise StoreError(
                    "another bareline is writing to this run",
                    where=str(self.path),
                    hint="wait for it, or end it",
                ) from error
            cut_torn_line(descriptor)
            self._descriptor = descriptor
            yield
        finally:
            self._descriptor = None
            os.close(descriptor)

    def is_being_written(self) -> bool:
        """Tell whether a bareline is writing to the run now."""
        with open_regular(self._records_file(), within=self.path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def append(self, record: Record) -> None:
        """Append one record: one write, one fsync.

        Raises
        ------
        StoreError
            The disk is full or fails; what was there before stays whole.
        """
        assert self._descriptor is not None, "append outside of writing()"
        line = to_line(record).encode()
        size = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):
                raise OSError(28, "No space left on device")
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise self._unwritable(error) from error

    def write_raw(self, trial: Trial, output: Output, attempt: int = 1) -> None:
        """Keep what a trial printed, re-parsable.

        Raises
        ------
        StoreError
            The disk is full or fails.
        """
        try:
            write_raw(self.raw_folder(trial, attempt), output)
        except OSError as error:
            raise self._unwritable(error) from error

    def read_raw(self, trial: Trial, attempt: int = 1) -> Output | None:
        """Read what `write_raw` kept; None where the trial never came to print anything.

        Raises
        ------
        StoreError
            What stands there is no regular file, or too large.
        """
        folder = self.raw_folder(trial, attempt)
        try:
            return read_raw(self.path, folder)
        except NotRegular as error:
            raise _unreadable(error, self.path, "remove it: its trial keeps its record") from error

    def raw_folder(self, trial: Trial, attempt: int = 1) -> Path:
        """Give the folder of a trial's raw output."""
        return self._raw_folder(trial.index, attempt)

    def raw_file(self, index: int, name: str, attempt: int = 1) -> Path:
        """Give where a file is kept that the program of the trial with this index wrote.

        Raises
        ------
        StoreError
            A symbolic link leads there.
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

    def write_facts(self, platform: str, facts: Mapping[str, Scalar]) -> None:
        """Keep what a platform is."""
        text = json.dumps(dict(facts), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            write_atomically(self.path / "facts" / f"{platform}.json", text)
        except OSError as error:
            raise self._unwritable(error) from error

    def append_event(self, platform: str, text: str, seconds: float | None = None) -> None:
        """Note what happened to a platform, e.g. that a node was replaced, and how long it took."""
        event = {"time": now(), "platform": platform, "event": text, "seconds": seconds}
        try:
            with appended(self.path / _EVENTS_FILE) as file:
                file.write(json.dumps(event, ensure_ascii=False) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def write_predictions(self, text: str) -> None:
        """Keep what was predicted from the records, in place of what was kept before.

        Raises
        ------
        StoreError
            It cannot be written.
        """
        try:
            refuse_link(self.path / _PREDICTIONS_FILE)
            write_atomically(self.path / _PREDICTIONS_FILE, text)
        except OSError as error:
            raise self._unwritable(error) from error

    def read_predictions(self) -> bytes | None:
        """Read what `write_predictions` kept; None where nothing was.

        Raises
        ------
        StoreError
            It cannot be read.
        """
        try:
            return read_bounded(self.path / _PREDICTIONS_FILE, MOST_FILE_BYTES, within=self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            hint = f"write it again: `bareline predict --validate {self.path}`"
            raise _unreadable(error, self.path, hint) from error

    def replace_records(self, records: Sequence[Record]) -> None:
        """Write all records anew, after re-parsing; the old file stays until the new is whole."""
        lines = [to_line(record) for record in records]
        try:
            write_atomically(self.path / "records.jsonl", "".join(lines))
        except OSError as error:
            raise self._unwritable(error) from error

    def replace_header(self, header: Header) -> None:
        """Write ``run.toml`` anew, after an import added a platform or a probe."""
        try:
            write_atomically(self.path / HEADER_FILE, header.to_toml())
        except OSError as error:
            raise self._unwritable(error) from error
        self.header = header

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot be written: {error.strerror}",
            where=str(self.path),
            hint="remove it: a run writes nowhere else"
            if error.errno == errno.ELOOP
            else f"make room, then `bareline continue {self.path}`; nothing recorded is lost",
        )

    # Reading ---------------------------------------------------------------------------------

    def facts(self) -> dict[str, dict[str, Scalar]]:
        """Read the facts of every platform that came up.

        Raises
        ------
        StoreError
            A file of facts is damaged.
        """
        found = {}
        for name in sorted(self.header.platforms):
            file = self.path / "facts" / f"{name}.json"
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

    def events(self) -> list[Event]:
        """Read what happened to platforms.

        Raises
        ------
        StoreError
            A line other than a torn last one is damaged.
        """
        if not os.path.lexists(self.path / _EVENTS_FILE):
            return []
        return list(whole_lines(self.path, _EVENTS_FILE, _EVENT.validate_json, MOST_FILE_BYTES))

    def left_out(self) -> list[LeftOut]:
        """Read what the plan did not ask of a platform; nothing of runs of before it was kept.

        Raises
        ------
        StoreError
            A line is damaged.
        """
        if not os.path.lexists(self.path / LEFT_OUT_FILE):
            return []
        probes, platforms = self.header.probes, self.header.platforms

        def read(line: bytes) -> LeftOut:
            return read_left_out(line, probes, platforms)

        return list(whole_lines(self.path, LEFT_OUT_FILE, read, MOST_FILE_BYTES))

    def planned(self) -> list[tuple[str, Case]] | None:
        """Read which cases its plan asks of which platform; None where that was not kept.

        Raises
        ------
        StoreError
            A line is damaged.
        """
        if not os.path.lexists(self.path / PLANNED_FILE):
            return None
        probes, platforms = self.header.probes, self.header.platforms

        def read(line: bytes) -> tuple[str, Case]:
            return read_planned(line, probes, platforms)

        return list(whole_lines(self.path, PLANNED_FILE, read, MOST_FILE_BYTES))

    def records(self, wanted: Wanted | None = None) -> Iterator[Record]:
        """Read the records one by one, in the order they were written.

        Parameters
        ----------
        wanted
            Tells for a probe of which metrics the records hold samples; of all without it.

        Raises
        ------
        StoreError
            A line other than a torn last one is damaged.
        """
        probes, platforms = self.header.probes, self.header.platforms
        return whole_lines(
            self.path,
            self._records_file().name,
            lambda line: from_line(line, probes, platforms, wanted),
        )

    def finished(self, wanted: Wanted | None = None) -> dict[int, Record]:
        """Give the latest record of every finished trial, by index; parameters as of `records`."""
        return {record.trial.index: record for record in self.records(wanted)}

    def tables(self) -> Tables:
        """Read all records into two tables, of trials and of samples: fast for many millions.

        Raises
        ------
        StoreError
            A line other than a torn last one is damaged.
        """
        file = self._records_file()
        try:
            with open_regular(file, within=self.path) as lines:
                trials, samples = read_tables(lines, self.header.probes, self.header.platforms)
        except OSError as error:
            raise StoreError(f"cannot be read: {error.strerror}", where=str(file)) from error
        except ValueError as error:
            for _ in self.records():
                pass  # names the line and its key
            raise StoreError(f"damaged: {error}", where=str(file), hint=MEND_LINE) from error
        return Tables(_with_caveat(trials, "edited") if self.header.edited else trials, samples)

    def _records_file(self) -> Path:
        file = self.path / "records.jsonl"
        if not os.path.lexists(file):
            raise StoreError("records.jsonl is missing", where=str(self.path), hint=MEND_LINE)
        return file


def now() -> str:
    """Give the present time as it stands in run directories (ISO 8601, UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _unreadable(error: OSError, run: Path, hint: str) -> StoreError:
    where = error.filename if isinstance(error.filename, str) else str(run)
    return StoreError(f"cannot be read: {error.strerror}", where=where, hint=hint)


def _with_caveat(frame: pl.DataFrame, code: str) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns(pl.col("caveats").list.concat(pl.lit([code])))


def _is_unmade(path: Path) -> bool:
    """Tell whether a folder holds nothing but what a kill leaves that came before ``run.toml``."""
    before = {LEFT_OUT_FILE, PLANNED_FILE}
    before |= {f"{name}.part" for name in (HEADER_FILE, *before)}
    for entry in path.iterdir():
        if entry.name in before:
            continue
        if entry.name not in _CONTENT or entry.is_symlink():
            return False
        if any(entry.iterdir()) if entry.is_dir() else entry.stat().st_size:
            return False
    return not (path / HEADER_FILE).exists()
