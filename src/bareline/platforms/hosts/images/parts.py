"""Checks that the parts of a cached image are unchanged since the image was built.

A part is a file, or a folder with all its files. The content of a part is only read again if size
or time stamps changed since the last successful check, because reading a disk of several GB takes
seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bareline.vocabulary.files import replace_file

_BLOCK_BYTES = 1 << 20
#: The file with the time stamps of parts that were intact at the last check.
_CHECKED = "checked.json"


def describe_parts(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return size and checksum of each part (file or folder) of an image, for its record."""
    return {
        name: {"bytes": _size_bytes(folder / name), "sha256": _content_hash(folder / name)}
        for name in names
    }


def note_whole(folder: Path, names: Sequence[str]) -> None:
    """Record that an image's files and folders are intact, because they were just written."""
    _remember(folder, {name: _stamps(folder / name) for name in names})


def read_record(path: Path) -> dict[str, Any]:
    """Read the record of a build; empty if the file cannot be read."""
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return described if isinstance(described, dict) else {}


def damage_of(folder: Path, described: Mapping[str, Any], names: Sequence[str]) -> str:
    """Describe how an image differs from its record; "" if it is complete and unchanged."""
    try:
        return find_damage(folder, {name: described["parts"][name] for name in names})
    except (KeyError, TypeError, AttributeError):
        return "its record cannot be read"


def find_damage(folder: Path, parts: Mapping[str, Any]) -> str:
    """Describe the first file or folder of an image that has changed; "" if none has changed."""
    recorded = read_record(folder / _CHECKED)
    seen = {}
    for name, built in parts.items():
        path = folder / name
        try:
            if _size_bytes(path) != built["bytes"]:
                return f"{name} has another size than it was built with"
            seen[name] = _stamps(path)
            if recorded.get(name) != seen[name] and _content_hash(path) != built["sha256"]:
                return f"{name} contains something else than it was built with"
        except FileNotFoundError:
            return f"{name} is missing"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
    if seen != recorded:
        _remember(folder, seen)
    return ""


def _remember(folder: Path, stamps: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError):
        replace_file(folder / _CHECKED, json.dumps(stamps), durable=False)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    return [path]


def _size_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in _files(path))


def _stamps(path: Path) -> list[list[int]]:
    stats = [file.stat() for file in _files(path)]
    return [[stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns] for stat in stats]


def _content_hash(path: Path) -> str:
    digest = hashlib.sha256()
    for file in _files(path):
        name = file.relative_to(path) if path.is_dir() else file.name
        digest.update(f"{name}\0".encode())
        _hash_data(file, digest)
    return digest.hexdigest()


def _hash_data(file: Path, digest: Any) -> None:
    """Hash each block that is not all zeros, with the block's position; holes are not read."""
    with file.open("rb") as opened:
        end = os.fstat(opened.fileno()).st_size
        place = 0
        while place < end:
            try:
                place = os.lseek(opened.fileno(), place, os.SEEK_DATA)
            except OSError:
                return  # nothing but a hole is left
            place -= place % _BLOCK_BYTES
            block = os.pread(opened.fileno(), _BLOCK_BYTES, place)
            if block.count(0) != len(block):
                digest.update(f"{place}\0".encode())
                digest.update(block)
            place += _BLOCK_BYTES
