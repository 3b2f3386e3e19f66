"""A cache of results that are computed from a run's files. The key is a hash of the files.

Finished runs do not change, and a hash of their content finds their results again, even after a run
was moved.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.store.cases import LEFT_OUT_FILE, PLANNED_FILE
from bareline.store.header import HEADER_FILE, RECORDS_FILE
from bareline.store.run_files import SESSIONS_FILE
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import open_regular, read_bounded, replace_file

_FILES = (HEADER_FILE, RECORDS_FILE, SESSIONS_FILE, LEFT_OUT_FILE, PLANNED_FILE)
_MOST_DIGEST_BYTES = 64 << 20
_BLOCK_BYTES = 1 << 20


def content_key(run: Path, form: str) -> str:
    """Return a hash of a run's header, records and facts, of bareline's version, and of `form`.

    - `form`: the kind and version of the cached result.

    An unreadable file counts as absent; the reader of the run reports the error.
    """
    key = hashlib.blake2b(f"{form} {version('bareline')}".encode(), digest_size=20)
    for name in _names(run):
        try:
            with open_regular(run / name, within=run) as content:
                key.update(f"\0{name}\0{os.fstat(content.fileno()).st_size}\0".encode())
                while block := content.read(_BLOCK_BYTES):
                    key.update(block)
        except OSError:
            key.update(f"\0{name}\0-".encode())
    return key.hexdigest()


def _names(run: Path) -> Iterator[str]:
    yield from _FILES
    for folder, _, files in sorted(os.walk(run / "facts")):
        for name in sorted(files):
            yield str(Path(folder, name).relative_to(run))


def find_digest(key: str) -> bytes | None:
    """Return the bytes in the cache under a key; None if there are none or they cannot be read."""
    try:
        return read_bounded(_file_of(key), _MOST_DIGEST_BYTES)
    except (OSError, StoreError):
        return None


def keep_digest(key: str, content: bytes) -> None:
    """Keep bytes in the cache under a key, if the cache can be written.

    Otherwise the result is computed again at its next use.
    """
    with suppress(OSError, StoreError):
        file = _file_of(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, content.decode(), durable=False)


def _file_of(key: str) -> Path:
    return cache_folder() / "digests" / key[:2] / f"{key[2:]}.json"
