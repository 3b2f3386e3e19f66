"""Existing outputs as files: found in folders, unpacked, given to the importer that knows them."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.formats.importer import Importer, load_importers
from bareline.formats.reading import Reading
from bareline.vocabulary.errors import ImportRefused, ParseError
from bareline.vocabulary.files import NotRegular, read_bounded, stands, step_to_read

_LARGEST_FILE_BYTES = 64 << 20
_GZIP = b"\x1f\x8b"
#: So many files of no known format are named; of the rest, the number.
_NAMED_FILES = 20


class UnknownFormat(ImportRefused):
    """A file is of no known format, or empty."""

    def __init__(self, file: Path, *, empty: bool) -> None:
        super().__init__(
            "empty" if empty else "of no known format",
            where=str(file),
            hint=f"leave it out, or give an output of {_known_formats()}",
        )
        self.file = file


@dataclass(frozen=True, slots=True)
class FoundTrial:
    """One trial of a file, with the output of the launch that it stands in."""

    file: Path
    importer: Importer
    launch: str
    imported: Reading


def read_files(
    files: Iterable[Path], *, skip_unknown: bool
) -> tuple[list[FoundTrial], tuple[Path, ...]]:
    """Read every file, and every file of a folder; those of no known format are named at once.

    - `skip_unknown`: leave those out, as long as there are others.
    Gives every trial found, and the files that were left out.

    Raises ImportRefused: a file cannot be used, or none is of a known format.
    """
    found: list[FoundTrial] = []
    unknown: list[UnknownFormat] = []
    for file in _files_of(files):
        try:
            found += read_file(file)
        except UnknownFormat as refusal:
            unknown.append(refusal)
    if unknown and not (skip_unknown and found):
        raise unknown[0] if len(unknown) == 1 else _all_unknown(unknown)
    return found, tuple(refusal.file for refusal in unknown)


def _files_of(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not stands(path, folder=True):
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        if not inside:
            raise ImportRefused("contains no file", where=str(path), hint="check the path")
        yield from inside


def _all_unknown(refusals: Sequence[UnknownFormat]) -> ImportRefused:
    names = [str(refusal.file) for refusal in refusals]
    shown = ", ".join(names[:_NAMED_FILES])
    more = f" and {len(names) - _NAMED_FILES} more" if len(names) > _NAMED_FILES else ""
    return ImportRefused(
        f"{len(names)} files are empty or of no known format: {shown}{more}",
        hint=f"leave them out or add --skip-unknown; known are {_known_formats()}",
    )


def _known_formats() -> str:
    importers = load_importers()
    more = " (bareline-contrib adds Google Benchmark, asv and Ramble)"
    known = "; ".join(importer.title for importer in importers.values())
    return known + ("" if "ramble" in importers else more)


def read_file(file: Path) -> list[FoundTrial]:
    """Read every trial of a file.

    Raises ImportRefused: it cannot be read, or is of no known format.
    """
    return read_text(_text(file), file)


def read_text(text: str, file: Path) -> list[FoundTrial]:
    """Read every trial of a file's text; see `read_file`."""
    importers = load_importers()
    able = [importer for importer in importers.values() if importer.sniff(text)]
    if not able:
        raise UnknownFormat(file, empty=not text.strip())
    if len(able) > 1:
        raise ImportRefused(
            f"contains outputs of several programs ({', '.join(one.name for one in able)})",
            where=str(file),
            hint="split it into one file for each",
        )
    found: list[FoundTrial] = []
    whole = "leave it out, or find the whole output"
    try:
        for launch in able[0].launches(text):
            found += [FoundTrial(file, able[0], launch, one) for one in able[0].parse(launch)]
    except ParseError as error:
        why = f"an output of {able[0].title}, but {error}"
        raise ImportRefused(why, where=str(file), hint=whole) from error
    if not found:
        why = f"an output of {able[0].title} without any result"
        raise ImportRefused(why, where=str(file), hint=whole)
    return found


def _text(file: Path) -> str:
    other = "give the output of a benchmark"
    try:
        data = read_bounded(file, _LARGEST_FILE_BYTES)
        if data.startswith(_GZIP):
            with gzip.open(io.BytesIO(data)) as unpacked:
                data = unpacked.read(_LARGEST_FILE_BYTES + 1)
        if len(data) > _LARGEST_FILE_BYTES:
            why = f"larger than {_LARGEST_FILE_BYTES >> 20} MiB"
            raise ImportRefused(why, where=str(file), hint=other)
    except (EOFError, zlib.error) as error:
        why = f"is no whole gzip file: {error}"
        raise ImportRefused(why, where=str(file), hint="find the whole file") from error
    except NotRegular as error:
        raise ImportRefused(f"{error.strerror}", where=str(file), hint=other) from error
    except OSError as error:
        hint = step_to_read(error, "check the path")
        why = f"cannot be read: {error.strerror or error}"
        raise ImportRefused(why, where=str(file), hint=hint) from error
    # A stray byte of a launcher must not keep the numbers around it from being read.
    text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
