"""Files that others may have made: only regular ones are read, and only so much of them.

A link to ``/dev/zero`` has no end, a fifo no writer, a sparse file of a terabyte costs nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from bareline.vocabulary.documents import check_toml_keys

#: O_NONBLOCK: should a fifo take the file's place meanwhile, opening it must not wait for a writer.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

#: No file that people write is larger.
_LARGEST_TOML_BYTES = 16 << 20


class NotRegular(OSError):
    """What stands there is no file that may be read; `strerror` says why, as of every OSError."""

    def __init__(self, why: str, path: Path) -> None:
        super().__init__(errno.EINVAL, why, str(path))


def step_to_read(error: Exception, otherwise: str | None = None) -> str | None:
    """Say what helps where a file cannot be read; `otherwise` where permission is not the cause."""
    if isinstance(error, PermissionError):
        return "let its owner make it readable for you (`chmod -R a+rX`), or read it as that user"
    return otherwise


def stands(path: Path, *, folder: bool = False) -> bool:
    """Whether something, or a folder, is there that we may look at; reading says why we may not."""
    try:
        return path.is_dir() if folder else path.exists()
    except OSError:
        return False


def sync_folder(folder: Path) -> None:
    """Have the name of a new file survive a power failure, too."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; what is written there then stands at `path`, whole or not at all."""
    if path.exists() and not path.is_file():  # a device or a pipe
        yield path
        return
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{place.name[:200]}.part")  # a later try takes over what a kill left
    try:
        yield beside
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(place)
        sync_folder(place.parent)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def open_regular(path: Path, *, within: Path | None = None) -> BinaryIO:
    """Open a regular file for reading; below the folder `within` no symbolic link is followed.

    Raises OSError: it cannot be opened, is no regular file, or a link leads to it.
    """
    if within is None:
        return _opened(path, str(path), None, _FLAGS)
    parts = path.relative_to(within).parts
    if ".." in parts:
        raise NotRegular("lies elsewhere", path)
    folder = os.open(within, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                raise NotRegular(f"'{part}' is a symbolic link", path)
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return _opened(path, parts[-1], folder, _FLAGS | os.O_NOFOLLOW)
    finally:
        os.close(folder)


def _opened(path: Path, name: str, folder: int | None, flags: int) -> BinaryIO:
    # Looked at before it is opened, too: opening a device may do something.
    links = bool(flags & os.O_NOFOLLOW)
    _refuse_others(os.stat(name, dir_fd=folder, follow_symlinks=not links), path)
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        _refuse_others(os.fstat(descriptor), path)
    except NotRegular:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _refuse_others(found: os.stat_result, path: Path) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise NotRegular("is a symbolic link", path)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular("not a regular file", path)


def read_bounded(path: Path, most_bytes: int, *, within: Path | None = None) -> bytes:
    """Read a regular file that is not larger than that; `within` as in `open_regular`.

    Raises OSError: it cannot be read, is no regular file, or larger.
    """
    with open_regular(path, within=within) as file:
        if os.fstat(file.fileno()).st_size <= most_bytes:
            data = file.read(most_bytes + 1)  # it may grow meanwhile
            if len(data) <= most_bytes:
                return data
    raise NotRegular(f"larger than {most_bytes / (1 << 20):.3g} MiB", path)


def read_toml(
    path: Path, parse_float: Callable[[str], Any] = float, *, within: Path | None = None
) -> dict[str, Any]:
    """Read a TOML file; `within` as in `open_regular`.

    Raises OSError: it cannot be read.
    Raises ValueError: it is no regular file, too large, or not TOML.
    """
    try:
        data = read_bounded(path, _LARGEST_TOML_BYTES, within=within)
    except (NotRegular, IsADirectoryError) as error:
        what = error.strerror if isinstance(error, NotRegular) else "not a regular file"
        raise ValueError(what) from error
    return parse_toml(data, parse_float)


def parse_toml(data: bytes | str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Read TOML; raises a ValueError that says where it is none."""
    import tomllib  # its patterns take a twentieth of what `bareline --help` may take

    text = data if isinstance(data, str) else data.decode("utf-8")
    check_toml_keys(text)
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(str(error).partition(";")[0]) from error
