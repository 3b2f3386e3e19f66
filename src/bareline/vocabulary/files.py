"""Read and replace files from any source: only regular files, within bounds.

A file of another user may be a trap: a link to ``/dev/zero`` has no end, a fifo may wait for a
writer forever, and a sparse file of a terabyte needs no space. A link with the name of an output,
or of an unfinished output, would redirect the output.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from bareline.vocabulary.documents import check_toml_keys

#: O_NONBLOCK: if a fifo has just replaced the file, opening it must not wait for a writer.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

#: Largest size of a TOML file that people write.
_LARGEST_TOML_BYTES = 16 << 20


class NotRegular(OSError):
    """The error of a path that is not a regular file; `strerror` is the reason."""

    def __init__(self, why: str, path: Path) -> None:
        super().__init__(errno.EINVAL, why, str(path))


def step_to_read(error: Exception, otherwise: str | None = None) -> str | None:
    """Return the next step after a file could not be read.

    - `otherwise`: the step if missing permission is not the cause.
    """
    if isinstance(error, PermissionError):
        return "let its owner make it readable for you (`chmod -R a+rX`), or read it as that user"
    return otherwise


def step_to_write(error: OSError, option: str = "--out") -> str:
    """Return the next step after a file that an option names could not be written."""
    if isinstance(error, NotRegular):
        return f"remove it, or choose another {option}: nothing is written through it"
    if isinstance(error, IsADirectoryError):
        return f"give the name of a file to {option}"
    return f"make room or choose another {option}"


def stands(path: Path, *, folder: bool = False) -> bool:
    """Whether a file or (with `folder`) a folder exists.

    Return False also if permissions hide the path; an attempt to open it then gives the reason.
    """
    try:
        return path.is_dir() if folder else path.exists()
    except OSError:
        return False


def sync_folder(folder: Path | str, *, above: int | None = None) -> None:
    """Write a folder's list of files to the disk, so that it survives a power failure.

    - `above`: the descriptor of an open folder, to which the path of the folder is relative.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


#: The unpredictable name of a file until it is complete.
_PART = re.compile(r"\.(?P<stem>.*)\.[0-9a-f]{16}\.part", re.DOTALL)
#: Number of characters of the final name in the temporary name: at most 160 of 255 possible bytes.
_STEM_CHARACTERS = 40
_PARTS = os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(
    path: Path,
    content: str | bytes,
    *,
    within: Path | None = None,
    mode: int = 0o666,
    durable: bool = True,
) -> None:
    """Write a file as `replacing` does; lone surrogates in `content` become question marks."""
    data = content.encode(errors="replace") if isinstance(content, str) else content
    with replacing(path, within=within, mode=mode, durable=durable) as file:
        file.write(data)


class _Unwritten(Exception):
    pass


def check_replaceable(path: Path) -> None:
    """Raise the OSError that `replacing` would raise immediately; nothing is written."""
    with suppress(_Unwritten), replacing(path, durable=False):
        raise _Unwritten


@contextmanager
def replacing(
    path: Path, *, within: Path | None = None, mode: int = 0o666, durable: bool = True
) -> Iterator[BinaryIO]:
    """Yield a file to write to, which then replaces `path` as a whole, or not at all.

    The file gets a temporary name in the folder of `path`, and is renamed at the end. An existing
    regular file at `path` is replaced. A link, pipe or device at `path` is refused, so that nothing
    is written through it. The folder is opened only once, so that a link that replaces the folder
    later has no effect.

    Parameters
    ----------
    path
        The file to write. Unfinished parts of it that a killed process left are removed, except in
        a run: see `remove_parts`.
    within
        A folder above `path`. No folder between this folder and `path` may be a symbolic link. The
        file belongs to the owner of its folder even if root writes it.
    mode
        Permissions, without those that the umask removes.
    durable
        Whether to wait until the file is on the disk. This is unnecessary for a file that can be
        made again.

    Raises
    ------
    OSError
        The file cannot be written (`filename` is `path`), or `path` is not a regular file.
    """
    name = path.name or "."  # "/" and ".": folders, which are refused as such
    stem = name[:_STEM_CHARACTERS]
    try:
        folder = _folder_to_write(path, within)
        try:
            _refuse_target(path, name, folder)
            if within is None:  # a run is large, and tidied when it is opened for writing
                _remove_parts(folder, stem)
            part, descriptor = _new_part(stem, folder, mode)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    if within is not None:
                        _give_to_owner(descriptor, folder)
                    yield file
                    _finish(file, part, name, folder, durable=durable)
            except BaseException:
                with suppress(OSError):
                    os.unlink(part, dir_fd=folder)
                raise
        finally:
            os.close(folder)
    except OSError as error:
        if error.filename in (None, name) or is_part(str(error.filename)):
            error.filename = str(path)
        raise


def _new_part(stem: str, folder: int, mode: int) -> tuple[str, int]:
    """Create a file with an unpredictable name; its lock shows that it is being written."""
    while True:
        part = f".{stem}.{os.urandom(8).hex()}.part"
        descriptor = os.open(part, _NEW, mode, dir_fd=folder)
        with suppress(OSError):  # without locks, parts of killed processes stay
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return part, descriptor
        os.close(descriptor)  # removed between making and locking


def _finish(file: BinaryIO, part: str, name: str, folder: int, *, durable: bool) -> None:
    file.flush()
    if durable:
        os.fsync(file.fileno())
    os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    if durable:
        with suppress(PermissionError):  # a folder in which we may write, but not look
            sync_folder(".", above=folder)


def _folder_to_write(path: Path, within: Path | None) -> int:
    if within is None:
        return os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return _inner_folder(path, within)


def _refuse_target(path: Path, name: str, folder: int) -> None:
    """Raise OSError if the name to be written exists and is not a regular file."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    _refuse_others(status, path)


def _give_to_owner(descriptor: int, folder: int) -> None:
    """Make the owner of a folder the owner of a file in it; only if root writes the file."""
    if os.geteuid() == 0:
        owner = os.stat(".", dir_fd=folder)
        if owner.st_uid:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)


def remove_parts(folder: Path) -> None:
    """Remove the incomplete files of killed processes, if there are any."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _remove_parts(descriptor, None)
        finally:
            os.close(descriptor)


def is_part(name: str) -> bool:
    """Whether a name is the name of a file that `replacing` has not finished."""
    return _PART.fullmatch(name) is not None


def _remove_parts(folder: int, stem: str | None) -> None:
    """Remove the unfinished files in a folder that no process is writing.

    - `stem`: remove only unfinished files of outputs whose name begins with this text; None: all.
    """
    with suppress(OSError):
        for path in Path(f"/proc/self/fd/{folder}").iterdir():
            part = _PART.fullmatch(path.name)
            if part is not None and stem in (None, part["stem"]):
                _remove_part(folder, path.name)


def _remove_part(folder: int, name: str) -> None:
    with suppress(OSError):
        descriptor = os.open(name, _PARTS | os.O_NOFOLLOW, dir_fd=folder)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while it is written
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(descriptor)


def open_regular(path: Path, *, within: Path | None = None) -> BinaryIO:
    """Open a regular file for reading; below the folder `within` no symbolic link is followed.

    Raises OSError: the file cannot be opened, is not a regular file, or is reached through a link.
    """
    if within is None:
        return _opened(path, str(path), None, _FLAGS)
    folder = _inner_folder(path, within)
    try:
        return _opened(path, path.name, folder, _FLAGS | os.O_NOFOLLOW)
    finally:
        os.close(folder)


def _inner_folder(path: Path, within: Path) -> int:
    """Open the folder of `path`; raises OSError: a folder below `within` is a symbolic link."""
    parts = path.relative_to(within).parts
    if ".." in parts:
        raise NotRegular(f"the path is outside of the folder {within}", path)
    folder = os.open(within, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                raise NotRegular(f"the folder '{part}' of the path is a symbolic link", path)
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def _opened(path: Path, name: str, folder: int | None, flags: int) -> BinaryIO:
    # Its type is also checked before it is opened: opening a device may have an effect.
    links = bool(flags & os.O_NOFOLLOW)
    _refuse_others(os.stat(name, dir_fd=folder, follow_symlinks=not links), path)
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        _refuse_others(os.fstat(descriptor), path)
    except NotRegular:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _refuse_others(status: os.stat_result, path: Path) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise NotRegular("the path is a symbolic link", path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular("the path is not a regular file", path)


def read_bounded(path: Path, most_bytes: int, *, within: Path | None = None) -> bytes:
    """Read a regular file of at most `most_bytes`; `within` as in `open_regular`.

    Raises OSError: the file cannot be read, is not a regular file, or is larger.
    """
    with open_regular(path, within=within) as file:
        if os.fstat(file.fileno()).st_size <= most_bytes:
            data = file.read(most_bytes + 1)  # it may have grown
            if len(data) <= most_bytes:
                return data
    raise NotRegular(f"the file is larger than {most_bytes / (1 << 20):.3g} MiB", path)


def read_toml(
    path: Path, parse_float: Callable[[str], Any] = float, *, within: Path | None = None
) -> dict[str, Any]:
    """Read a TOML file; `within` as in `open_regular`.

    Raises OSError: the file cannot be read.
    Raises ValueError: the file is not a regular one, too large, or not TOML.
    """
    try:
        data = read_bounded(path, _LARGEST_TOML_BYTES, within=within)
    except (NotRegular, IsADirectoryError) as error:
        problem = (
            error.strerror if isinstance(error, NotRegular) else ("the path is not a regular file")
        )
        raise ValueError(problem) from error
    return parse_toml(data, parse_float)


def parse_toml(data: bytes | str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Parse TOML; raises a ValueError with the place of the error."""
    import tomllib  # its patterns take a twentieth of the time of `bareline --help`

    text = data if isinstance(data, str) else data.decode("utf-8")
    check_toml_keys(text)
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("lists and tables are nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(str(error).partition(";")[0]) from error
