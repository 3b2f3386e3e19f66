"""Functions that append to files of a run, and read them without an incomplete last line.

Symbolic links are never followed, because a run may come from another person.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO, TypeVar

from bareline.store.header import RECORDS_FILE, first_problem
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import NotRegular, open_regular, step_to_read

T = TypeVar("T")

#: The next step for a damaged line.
MEND_LINE = (
    "take the file from a copy of the run, or remove the line: the trial of this line then "
    "counts as not run"
)

#: The longest line of a run, which is enough for a trial with a million samples.
MOST_LINE_BYTES = 64 << 20
#: Largest size of a file of a run other than its records: events, predictions.
MOST_FILE_BYTES = 64 << 20

#: O_NONBLOCK: opening a named pipe must not wait for its reader.
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def appended(path: Path) -> TextIO:
    """Return a text file that is open for appending.

    Raises OSError: the file cannot be written.
    """
    # The umask is applied: a group that shares its files also shares its runs.
    descriptor = os.open(path, _FLAGS, 0o666)
    try:
        refuse_odd(os.fstat(descriptor), path)
        keep_owner(descriptor, path.parent)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")


def make_folder(path: Path) -> None:
    """Make a folder of a run, unless it exists.

    Raises OSError: the folder cannot be made, or is a symbolic link.
    """
    path.mkdir(exist_ok=True)
    refuse_link(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        keep_owner(descriptor, path.parent)
    finally:
        os.close(descriptor)


def keep_owner(descriptor: int, folder: Path) -> None:
    """Make the owner of the run's folder the owner of an open file, if this process is root's."""
    if os.geteuid() == 0:
        owner = folder.stat()
        if owner.st_uid and os.fstat(descriptor).st_uid != owner.st_uid:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)


def next_step(error: OSError, run: Path, *, imported: bool) -> str:
    """Return the next step for the user if a run cannot be written to."""
    verb = (
        "the same `bareline import`" if imported else f"`bareline continue {shlex.quote(str(run))}`"
    )
    again = f"{verb}; nothing recorded is lost"
    if error.errno == errno.ELOOP or isinstance(error, NotRegular | IsADirectoryError):
        return "remove it: a run writes nowhere else"
    if error.errno in (errno.ENOENT, errno.ESTALE, errno.ENOTDIR):
        return "its folder was removed or moved: put it back, or measure again"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"make it yours (`ls -ld {shlex.quote(str(run))}` shows whose it is), then {again}"
    if error.errno == errno.EROFS:
        return f"copy it to where you may write, or have that mounted for writing, then {again}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"make room, then {again}"
    return f"see to its file system, then {again}"


def refuse_odd(status: os.stat_result, path: Path) -> None:
    """Check that a file is a regular file, which can safely be written to.

    Raises OSError: the file is not a regular file.
    """
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular("the path is not a regular file", path)


def refuse_link(path: Path) -> None:
    """Check that a path is not a symbolic link, which would redirect the output.

    Raises OSError: the path is a symbolic link.
    """
    if path.is_symlink():
        raise OSError(40, f"'{path.name}' is a symbolic link")


def cut_torn_line(descriptor: int) -> None:
    """Remove the last line of a file if it has no newline.

    Raises StoreError: the line is longer than any line that bareline writes.
    """
    size = os.fstat(descriptor).st_size
    end = size
    while end > 0:
        if size - end > MOST_LINE_BYTES:
            problem = f"the last line of the file is longer than {MOST_LINE_BYTES >> 20} MiB"
            raise StoreError(problem, where=RECORDS_FILE, hint=MEND_LINE)
        start = max(0, end - 65536)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)


def whole_lines(
    run: Path,
    name: str,
    read: Callable[[bytes], T],
    most_bytes: int | None = None,
    hint: str = MEND_LINE,
) -> Iterator[T]:
    """Yield the lines of a file of a run as `read` parses them, without an incomplete last line.

    - `most_bytes`: size limit of the file.
    - `hint`: the next step for the user if a line is damaged.

    Raises StoreError: the file cannot be read, or `read` raised ValueError on a line.
    """
    file = run / name
    try:
        with open_regular(file, within=run) as lines:
            if most_bytes is not None and os.fstat(lines.fileno()).st_size > most_bytes:
                raise StoreError(f"the file is larger than {most_bytes >> 20} MiB", where=str(file))
            number = 0
            while line := lines.readline(MOST_LINE_BYTES + 1):
                number += 1
                if len(line) > MOST_LINE_BYTES:
                    raise StoreError(
                        f"line {number} is longer than {MOST_LINE_BYTES >> 20} MiB",
                        where=str(file),
                        hint=hint,
                    )
                if not line.endswith(b"\n"):
                    return
                try:
                    yield read(line)
                except ValueError as error:
                    raise StoreError(
                        f"line {number} is damaged: {first_problem(error)}",
                        where=str(file),
                        hint=hint,
                    ) from error
    except OSError as error:
        step = step_to_read(error, "read a copy of the run")
        raise StoreError(
            f"the file cannot be read: {error.strerror}", where=str(file), hint=step
        ) from error
