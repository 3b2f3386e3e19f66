"""Files of a run: written so that a kill leaves the old or the new one, read up to a torn end.

Nothing is written through a symbolic link: a run may come from elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO, TypeVar

from bareline.store.header import first_problem
from bareline.vocabulary.errors import StoreError

T = TypeVar("T")

#: What to do about a damaged line.
MEND_LINE = "take the file from a copy of the run, or remove the line: its trial counts as not run"

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW


def write_file(path: Path, text: str) -> None:
    """Write a text file.

    Raises
    ------
    OSError
        It cannot be written.
    """
    with _opened(path) as file:
        file.write(text)


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that whoever reads it finds the old text or the new one, whole.

    Raises
    ------
    OSError
        It cannot be written; what was there stays.
    """
    temporary = path.with_name(path.name + ".part")
    with _opened(temporary) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _opened(path: Path) -> TextIO:
    return os.fdopen(os.open(path, _FLAGS, 0o644), "w", encoding="utf-8")


def refuse_link(path: Path) -> None:
    """Refuse to write where a symbolic link leads elsewhere.

    Raises
    ------
    OSError
        It is one.
    """
    if path.is_symlink():
        raise OSError(40, f"'{path.name}' is a symbolic link")


def cut_torn_line(descriptor: int) -> None:
    """Remove a last line without its newline from an open file."""
    size = os.fstat(descriptor).st_size
    end = size
    while end > 0:
        start = max(0, end - 65536)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)


def whole_lines(file: Path, read: Callable[[bytes], T]) -> Iterator[T]:
    """Read the lines of a file, without a torn last one.

    Raises
    ------
    StoreError
        The file cannot be read, or `read` raised ValueError on a line.
    """
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield read(line)
                except ValueError as error:
                    raise StoreError(
                        f"line {number} is damaged: {first_problem(error)}",
                        where=str(file),
                        hint=MEND_LINE,
                    ) from error
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", where=str(file)) from error
