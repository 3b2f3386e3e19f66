"""The file system that a kernel finds in memory: a cpio archive, written without a tree on disk.

Kernels take several archives one after the other, so a guest's own part is appended to the part
that is common to all.

References
----------
Linux kernel documentation, "initramfs buffer format".
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_ALIGNMENT = 4
_TRAILER = "TRAILER!!!"


@dataclass(frozen=True, slots=True)
class File:
    """A file's content and permissions."""

    content: bytes
    mode: int = 0o644


def archive(files: Mapping[str, File], folders: tuple[str, ...] = ()) -> bytes:
    """Pack files, by their path without a leading slash, and empty folders.

    Folders above a file are made as needed.
    """
    parts: list[bytes] = []
    number = 1
    seen: set[str] = set()
    wanted = [*folders, *(parent for name in files for parent in _parents(name))]
    for folder in wanted:
        for name in [*_parents(folder), folder]:
            if name not in seen:
                seen.add(name)
                parts.append(_entry(number, name, stat.S_IFDIR | 0o755, b""))
                number += 1
    for name, file in files.items():
        parts.append(_entry(number, name, stat.S_IFREG | file.mode, file.content))
        number += 1
    parts.append(_entry(0, _TRAILER, 0, b""))
    return b"".join(parts)


def _parents(name: str) -> Iterator[str]:
    for parent in reversed(PurePosixPath(name).parents):
        if str(parent) != ".":
            yield str(parent)


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    # inode, mode, uid, gid, links, mtime, size, device (major, minor), special device (major,
    # minor), length of the name, checksum
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _ALIGNMENT)
