"""Existing outputs in files: found in folders, decompressed, and read by the right importer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from bareline.formats.damage import Omission
from bareline.formats.envelope import TooLarge, decoded, unpacked, without_labels
from bareline.formats.importer import Importer, load_importers
from bareline.formats.reading import UNTOLD, Reading, unread
from bareline.vocabulary.errors import ImportRefused, ParseError
from bareline.vocabulary.files import NotRegular, read_bounded, stands, step_to_read
from bareline.vocabulary.model import Layer

_LARGEST_FILE_BYTES = 64 << 20
#: An error names at most this number of files of unknown format, and counts the rest.
_NAMED_FILES = 20


_DOCUMENT = re.compile(r"^\{", re.MULTILINE)


class UnknownFormat(ImportRefused):
    """Raised if a file is empty or of no known format; `where` is the file."""

    @property
    def file(self) -> Path:
        """The path of the file."""
        return Path(self.where or "")


@dataclass(frozen=True, slots=True)
class FoundTrial:
    """A trial found in a file, with the output of its launch.

    - `first_line`: number of the launch's first line in the file, from 1.
    - `occurrence`: number of earlier launches in the file with exactly the same text.
    """

    file: Path
    importer: Importer
    launch: str
    imported: Reading
    first_line: int = 1
    occurrence: int = 0

    @property
    def left_out(self) -> tuple[Omission, ...]:
        """The reader's omissions, with line numbers of the whole file."""
        return tuple(
            replace(each, line=each.line + self.first_line - 1, reason=self._placed(each))
            for each in self.imported.left_out
        )

    def _placed(self, left_out: Omission) -> str:
        """Return an omission's reason without the line number at its beginning.

        This number counts the lines of the launch instead of the lines of the file.
        """
        prefix = f"line {left_out.line}: "
        return left_out.reason.removeprefix(prefix) if left_out.line else left_out.reason


def read_files(
    files: Iterable[Path], *, skip_unknown: bool
) -> tuple[list[FoundTrial], tuple[Path, ...]]:
    """Return every trial of files and of the files in folders, and the paths of skipped files.

    `found_in` yields the trials one by one, without keeping all in memory.
    """
    skipped: list[Path] = []
    return list(found_in(files, skip_unknown=skip_unknown, skipped=skipped)), tuple(skipped)


def found_in(
    files: Iterable[Path], *, skip_unknown: bool, skipped: list[Path]
) -> Iterator[FoundTrial]:
    """Yield every trial of files and of the files in folders, one by one.

    - `skip_unknown`: whether files of unknown format are skipped, if at least one file has a known
      format.
    - `skipped`: collects the paths of the skipped files.

    Raises ImportRefused: a file cannot be used, or no file has a known format. One error names all
    files of unknown format, after the files of known format were read.
    """
    unknown: list[UnknownFormat] = []
    some = False
    for file in _files_of(files):
        try:
            trials = read_file(file)
        except UnknownFormat as refusal:
            unknown.append(refusal)
            continue
        some = True
        yield from trials
    if unknown and not (skip_unknown and some):
        raise unknown[0] if len(unknown) == 1 else _all_unknown(unknown)
    skipped += [refusal.file for refusal in unknown]


def _files_of(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not stands(path, folder=True):
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        if not inside:
            raise ImportRefused(
                "the folder contains no file", where=str(path), hint="check the path"
            )
        yield from inside


def _all_unknown(refusals: Sequence[UnknownFormat]) -> ImportRefused:
    names = [str(refusal.file) for refusal in refusals]
    listed = ", ".join(names[:_NAMED_FILES])
    more = f" and {len(names) - _NAMED_FILES} more" if len(names) > _NAMED_FILES else ""
    return ImportRefused(
        f"{len(names)} files are empty or of no known format: {listed}{more}",
        hint=f"leave them out or add --skip-unknown; known formats are {_known_formats()}",
    )


def _known_formats() -> str:
    importers = load_importers()
    titles = "; ".join(importer.title for importer in importers.values())
    if "ramble" in importers:
        return titles
    return (
        f"{titles} (bareline-contrib adds Google Benchmark, asv, github-action-benchmark, Ramble,"
        " PerfKitBenchmarker and Phoronix)"
    )


def read_file(file: Path) -> list[FoundTrial]:
    """Return every trial of a file.

    Raises ImportRefused: the file cannot be read, or is of no known format.
    """
    return read_text(_text(file), file)


def read_text(text: str, file: Path) -> list[FoundTrial]:
    """Return every trial of a file's text; see `read_file`."""
    recognised = without_labels(text, lambda inner: bool(_able(inner)))
    able = _able(recognised)
    if not able:
        hint = f"leave it out, or give an output of {_known_formats()}"
        if text.strip():
            raise UnknownFormat("the file is of no known format", where=str(file), hint=hint)
        raise UnknownFormat("the file is empty", where=str(file), hint=hint)
    trials: list[FoundTrial] = []
    refusals: list[ImportRefused] = []
    seen: Counter[str] = Counter()
    for importer, begin, part in _parts(recognised, able, file):
        first_line = recognised.count("\n", 0, begin) + 1
        for launch, offset in _placed_launches(importer, part):
            line = first_line + part.count("\n", 0, offset)
            try:
                for reading in importer.parse(launch):
                    trials.append(FoundTrial(file, importer, launch, reading, line, seen[launch]))
            except ParseError as error:
                refusals.append(_refused(importer, file, f"but {error}"))
                trials.append(FoundTrial(file, importer, launch, _unread(importer, error), line))
            seen[launch] += 1
    if len(trials) == len(refusals):
        raise refusals[0] if refusals else _refused(able[0], file, "but it has no result")
    return trials


def _able(text: str) -> list[Importer]:
    return [importer for importer in load_importers().values() if importer.sniff(text)]


def _refused(importer: Importer, file: Path, why: str) -> ImportRefused:
    hint = "leave it out, or find the whole output"
    return ImportRefused(
        f"the file is an output of {importer.title}, {why}", where=str(file), hint=hint
    )


def _unread(importer: Importer, error: ParseError) -> Reading:
    """Return a failed trial of a launch whose benchmark is unknown."""
    return Reading(
        probe=f"{importer.name}.unknown",
        title=f"an output ({importer.name})",
        layer=Layer.APP,
        metrics=UNTOLD,
        outcome=unread(error),
    )


def _parts(text: str, able: Sequence[Importer], file: Path) -> list[tuple[Importer, int, str]]:
    """Return the parts of a text, each with its importer, its offset and its text.

    A part begins where a launch begins. The text before the first launch belongs to the first part.

    Raises ImportRefused: an importer cannot find where its launches begin.
    """
    if any(importer.starts is None for importer in able):
        if len(able) == 1:
            return [(able[0], 0, text)]
        raise ImportRefused(
            f"the file contains outputs of several programs"
            f" ({', '.join(reader.name for reader in able)})",
            where=str(file),
            hint="split it into one file for each program",
        )
    starts: list[tuple[int, Importer]] = []
    for importer in able:
        if importer.starts is not None:
            starts += ((start, importer) for start in importer.starts(text))
    starts.sort(key=lambda pair: pair[0])
    if not starts:
        return [(able[0], 0, text)]
    first = starts[0][0]
    # Text before the first launch belongs to it, unless this text begins a damaged JSON document.
    begin = first if _DOCUMENT.search(text, 0, first) else 0
    offsets = [begin, *(start for start, _ in starts[1:]), len(text)]
    return [
        (importer, low, text[low:high])
        for (_, importer), (low, high) in zip(starts, pairwise(offsets), strict=True)
        if high > low
    ]


def _placed_launches(importer: Importer, text: str) -> Iterator[tuple[str, int]]:
    """Yield every launch of a text with its offset.

    If an importer composed the text of a launch, so that the file does not contain this text, the
    launch gets the offset at which the previous launch ends.
    """
    position = 0
    for launch in importer.launches(text):
        offset = text.find(launch, position)
        if offset >= 0:
            position = offset
        yield launch, position
        if offset >= 0:
            position = offset + len(launch)


def _text(file: Path) -> str:
    other = "give the output of a benchmark"
    large = f"the file is larger than {_LARGEST_FILE_BYTES >> 20} MiB"
    try:
        data = unpacked(read_bounded(file, _LARGEST_FILE_BYTES), _LARGEST_FILE_BYTES)
    except TooLarge as error:
        raise ImportRefused(large, where=str(file), hint=other) from error
    except ParseError as error:
        raise ImportRefused(str(error), where=str(file), hint="find the whole file") from error
    except NotRegular as error:
        raise ImportRefused(f"{error.strerror}", where=str(file), hint=other) from error
    except OSError as error:
        hint = step_to_read(error, "check the path")
        why = f"the file cannot be read: {error.strerror or error}"
        raise ImportRefused(why, where=str(file), hint=hint) from error
    if len(data) > _LARGEST_FILE_BYTES:
        raise ImportRefused(large, where=str(file), hint=other)
    return decoded(data)
