"""Run directories, which are append-only, self-contained, and readable after a kill.

::

    run.toml                 study, platforms, seed, versions, configuration hash
    facts/<platform>.json    facts of each platform; facts/<n>/ has those of the n-th session
    sessions.jsonl           one line per session: the versions of bareline and the host
    planned.jsonl            one line per platform and case that is planned for it
    left_out.jsonl           one line per case that is not planned for a platform, and why
    records.jsonl            one line per finished trial
    events.jsonl             events of platforms: nodes replaced, rebuilt
    predictions.json         predictions from the run's records, if requested
    raw/<trial>.json         output of a trial, or a folder raw/<trial>/ if it is long

A record is written by one ``write`` and one ``fsync``. A last line without newline was cut by a
kill; it is ignored, and the trial of this line counts as not run.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bareline.host.locks import holder_of, is_locked, lease_of, try_lock
from bareline.store.cases import LEFT_OUT_FILE, PLANNED_FILE, left_out_line, planned_line
from bareline.store.files import (
    MEND_LINE,
    appended,
    cut_torn_line,
    keep_owner,
    refuse_link,
    refuse_odd,
    whole_lines,
)
from bareline.store.header import HEADER_FILE, RECORDS_FILE, Header, first_problem, read_header
from bareline.store.lines import Wanted, from_line, head_from_line, to_line
from bareline.store.run_files import (
    COST_FILE,
    EVENTS_FILE,
    PREDICTIONS_FILE,
    SESSIONS_FILE,
    RunFiles,
)
from bareline.store.tables import Tables, read_tables
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import (
    is_part,
    open_regular,
    remove_parts,
    replace_file,
    step_to_read,
)
from bareline.vocabulary.model import Case, Record
from bareline.vocabulary.platform import LeftOut

#: The largest file of another user's records that is read. A comparison of such a file with the
#: shortest possible samples takes half a gigabyte of memory.
MOST_FOREIGN_BYTES = 128 << 20
#: The content of a run directory; none may be a symbolic link when it is written to.
_CONTENT = (
    HEADER_FILE,
    LEFT_OUT_FILE,
    RECORDS_FILE,
    EVENTS_FILE,
    SESSIONS_FILE,
    PREDICTIONS_FILE,
    COST_FILE,
    "facts",
    "raw",
)


class Run(RunFiles):
    """A run directory.

    `Run.open` and `Run.create` return it. Records are only written inside `Run.writing`.
    """

    def __init__(self, path: Path, header: Header) -> None:
        super().__init__(path, header)
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
        """Make a run directory, and return the run.

        - `left_out`: the cases that are not planned on a platform, with the reasons.
        - `planned`: pairs of a platform and a case that is planned for it; None without a plan.

        Raises StoreError: the directory exists and is not empty, or cannot be written.
        """
        try:
            text = _header_text(header, path)
            path.mkdir(parents=True, exist_ok=True)
            if not _is_unmade(path):
                again = "" if header.imported else f", or `bareline continue {path}`"
                raise StoreError(
                    "the folder for the new run is not empty",
                    where=str(path),
                    hint=f"choose another --out{again}",
                )
            (path / "facts").mkdir(exist_ok=True)
            (path / "raw").mkdir(exist_ok=True)
            appended(path / RECORDS_FILE).close()
            replace_file(path / LEFT_OUT_FILE, "".join(map(left_out_line, left_out)), within=path)
            if planned is not None:
                lines = (planned_line(platform, case) for platform, case in planned)
                replace_file(path / PLANNED_FILE, "".join(lines), within=path)
            replace_file(path / HEADER_FILE, text, within=path)
        except OSError as error:
            raise StoreError(
                f"the run directory cannot be written: {error.strerror}",
                where=str(path),
                hint="choose another folder with --out",
            ) from error
        return cls(path, header)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Return the run in a directory.

        Raises StoreError: the directory is not a run, or a newer bareline made it.
        """
        return cls(path, read_header(path))

    @property
    def id(self) -> str:
        """A short id of the run, with which bareline marks the processes of the run."""
        return hashlib.sha256(
            f"{self.header.config_hash}{self.header.created}{self.path.name}".encode()
        ).hexdigest()[:12]

    # Writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the run for writing in a context, and remove incomplete data of a killed process.

        Raises StoreError: another process writes to the run, or a file of the run is a symbolic
        link.
        """
        file = self.path / RECORDS_FILE
        with self.explaining():
            for name in _CONTENT:
                refuse_link(self.path / name)
            if file.exists():
                refuse_odd(file.stat(), file)
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
            keep_owner(descriptor, self.path)
        try:
            with try_lock(descriptor, file) as alone:
                if not alone:
                    raise self._in_use(file)
                cut_torn_line(descriptor)
                self._remove_parts()
                self._descriptor = descriptor
                yield
        finally:
            self._descriptor = None
            os.close(descriptor)

    def _in_use(self, file: Path) -> StoreError:
        problem = "another bareline is writing to this run"
        step = "wait until the other bareline ends, or end it"
        if holder := holder_of(file):
            lease = shlex.quote(str(lease_of(file)))
            problem += f": {holder}"
            step += f"; if it has ended on another host: `rm {lease}`"
        return StoreError(problem, where=str(self.path), hint=step)

    def _remove_parts(self) -> None:
        """Remove incomplete files that a killed bareline of this or an earlier version left."""
        for folder in (self.path, self.path / "facts", *self.path.glob("facts/*/")):
            remove_parts(folder)
            for left in folder.glob("[!.]*.part"):
                if left.is_file() and not left.is_symlink():
                    left.unlink(missing_ok=True)
        remove_parts(self.path / "raw")

    def is_being_written(self) -> bool:
        """Return whether a bareline is writing to the run now."""
        with open_regular(self._records_file(), within=self.path) as file:
            return is_locked(file.fileno(), self.path / RECORDS_FILE)

    def append(self, *records: Record) -> None:
        """Append records by one write and one fsync.

        Raises StoreError: the write failed; earlier records are intact.
        """
        assert self._descriptor is not None, "append outside of writing()"
        lines = "".join(map(to_line, records)).encode(errors="replace")
        status = os.fstat(self._descriptor)
        size = status.st_size
        try:
            if not status.st_nlink:  # the text would vanish with the last open descriptor
                raise FileNotFoundError(errno.ENOENT, f"{RECORDS_FILE} was removed")
            written = os.write(self._descriptor, lines)
            if written < len(lines):
                raise OSError(28, "No space left on device")
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise self.unwritable(error) from error

    def replace_header(self, header: Header) -> None:
        """Write ``run.toml`` again, after an import added a platform or a probe."""
        text = _header_text(header, self.path)
        with self.explaining():
            self._replace(self.path / HEADER_FILE, text)
        self.header = header

    # Reading ---------------------------------------------------------------------------------

    def records(self, wanted: Wanted | None = None) -> Iterator[Record]:
        """Yield the records in the order of writing, with samples of the `wanted` metrics only.

        Raises StoreError: a line is damaged, other than an incomplete last line.
        """
        probes = self.header.probes
        platforms = self.header.platforms
        return whole_lines(
            self.path,
            self._records_file().name,
            lambda line: from_line(line, probes, platforms, wanted),
        )

    @property
    def records_bytes(self) -> int:
        """Size of the records, in bytes."""
        return self._records_file().stat().st_size

    def heads(self) -> dict[int, Record]:
        """Return the latest record of every finished trial without its samples, by index.

        Raises StoreError: a line is damaged before its samples, other than an incomplete last line.
        """
        probes = self.header.probes
        platforms = self.header.platforms
        lines = whole_lines(
            self.path,
            self._records_file().name,
            lambda line: head_from_line(line, probes, platforms),
        )
        return {record.trial.index: record for record in lines}

    def finished(self, wanted: Wanted | None = None) -> dict[int, Record]:
        """Return the latest record of every finished trial, by index.

        - `wanted`: the metrics whose samples are read; by default all metrics.

        Raises StoreError: as `records` does.
        """
        return {record.trial.index: record for record in self.records(wanted)}

    def tables(self) -> Tables:
        """Return all records as tables of trials and samples.

        Raises StoreError: as `records` does.
        """
        file = self._records_file()
        try:
            with open_regular(file, within=self.path) as lines:
                trials, samples = read_tables(lines, self.header.probes, self.header.platforms)
        except OSError as error:
            hint = step_to_read(error, "read a copy of the run")
            why = f"cannot be read: {error.strerror}"
            raise StoreError(why, where=str(file), hint=hint) from error
        except ValueError as error:
            for _ in self.records():
                pass  # names the line and its key
            raise StoreError(
                f"the file is damaged: {error}", where=str(file), hint=MEND_LINE
            ) from error
        if self.header.edited:
            import polars as pl

            trials = trials.with_columns(pl.col("caveats").list.concat(pl.lit(["edited"])))
        return Tables(trials, samples)

    def _records_file(self) -> Path:
        """Return the path of the records.

        Raises StoreError: the file is missing, or is large and belongs to another user.
        """
        file = self.path / RECORDS_FILE
        with contextlib.suppress(OSError):
            status = file.lstat()
            if status.st_uid != os.geteuid() and status.st_size > MOST_FOREIGN_BYTES:
                raise StoreError(
                    f"the file belongs to another user and is larger than"
                    f" {MOST_FOREIGN_BYTES >> 20} MiB, so that bareline does not read it",
                    where=str(file),
                    hint="if you trust the run, copy it, so that the copy belongs to you",
                )
        if not os.path.lexists(file):
            raise StoreError(f"{RECORDS_FILE} is missing", where=str(self.path), hint=MEND_LINE)
        return file


def _header_text(header: Header, path: Path) -> str:
    try:
        return header.to_toml()
    except ValueError as error:
        why = f"a run with this header could not be read again: {first_problem(error)}"
        raise StoreError(why, where=str(path), hint="shorten or change this value") from error


def _is_unmade(path: Path) -> bool:
    """Return whether a folder has no files except those that `create` makes before ``run.toml``."""
    before = {LEFT_OUT_FILE, PLANNED_FILE}
    before |= {f"{name}.part" for name in (HEADER_FILE, *before)}
    for entry in path.iterdir():
        if entry.name in before or is_part(entry.name):
            continue
        if entry.name not in _CONTENT or entry.is_symlink():
            return False
        if any(entry.iterdir()) if entry.is_dir() else entry.stat().st_size:
            return False
    return not (path / HEADER_FILE).exists()
