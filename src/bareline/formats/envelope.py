"""Removal of compression, encoding, labels and colours from outputs, before any reader is used.

Launchers put a label before each line (``srun -l``, ``mpirun --tag-output``), terminals add
colours, and other systems end lines with a carriage return or encode them in UTF-16. None of this
is part of the measurement.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, cast

from bareline.vocabulary.errors import ParseError

#: The names of compressed formats, by the first bytes of a file.
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
}
#: Suffixes of the names of compressed files.
PACKED_SUFFIXES = (".gz", ".xz", ".zst", ".bz2")
_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Colours and other sequences of terminals: CSI, OSC, and the two-character ones.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNPACK_TIMEOUT_S = 60.0


class TooLarge(Exception):
    """Raised if a compressed file contains more than may be read."""


def unpacked(data: bytes, most_bytes: int) -> bytes:
    """Return the content of a compressed file, or the data itself if it is not compressed.

    Raises TooLarge: the content is larger than `most_bytes`; decompression stops at this size.
    Raises ParseError: the compressed file is damaged or incomplete, or its format is not supported.
    """
    name = next((name for magic, name in _PACKED.items() if data.startswith(magic)), None)
    if name is None:
        return data
    try:
        content = _UNPACKERS[name](data, most_bytes + 1)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ParseError(f"the {name} file is damaged or incomplete: {error}") from error
    if len(content) > most_bytes:
        raise TooLarge
    return content


def _gzip(data: bytes, most_bytes: int) -> bytes:
    with gzip.open(io.BytesIO(data)) as file:
        return file.read(most_bytes)


def _xz(data: bytes, most_bytes: int) -> bytes:
    with lzma.open(io.BytesIO(data)) as file:
        return cast("BinaryIO", file).read(most_bytes)


def _bzip2(data: bytes, most_bytes: int) -> bytes:
    with bz2.open(io.BytesIO(data)) as file:
        return file.read(most_bytes)


def _zstd(data: bytes, most_bytes: int) -> bytes:
    """Decompress data with the program zstd, because Python 3.11 has no module for this format."""
    program = shutil.which("zstd")
    if program is None:
        raise ParseError(
            "the file is compressed with zstd, but the program zstd is not installed; install"
            " zstd, or decompress the file"
        )
    with (
        io.BytesIO(data) as packed,
        subprocess.Popen(
            [program, "-dcq", "--memory=256MB"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        return _piped(process, packed.getvalue(), most_bytes)


def _piped(process: subprocess.Popen[bytes], data: bytes, most_bytes: int) -> bytes:
    """Write data to a process and return its output.

    A process that prints more than `most_bytes` is ended.
    """
    import threading

    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stdin = process.stdin

    def feed() -> None:
        try:
            stdin.write(data)
            stdin.close()
        except OSError:
            return  # it ended before it read everything, and prints the reason

    feeder = threading.Thread(target=feed, daemon=True)
    timer = threading.Timer(_UNPACK_TIMEOUT_S, process.kill)
    feeder.start()
    timer.start()
    try:
        content = process.stdout.read(most_bytes)
        if len(content) == most_bytes:
            process.kill()
            return content
        words = process.stderr.read(1000).decode(errors="replace").strip()
        if process.wait():
            raise EOFError(words or f"the program zstd ended with exit code {process.returncode}")
        return content
    finally:
        timer.cancel()
        process.kill()
        feeder.join()


_UNPACKERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "xz": _xz,
    "zstd": _zstd,
    "bzip2": _bzip2,
}


def decoded(data: bytes) -> str:
    """Return a file's bytes as text without colours, with line feeds as line ends.

    An invalid byte is replaced, so that the numbers around it can still be read.
    """
    encoding = next((name for bom, name in _ENCODINGS if data.startswith(bom)), None)
    text = data.decode(encoding or _without_bom(data), errors="replace")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")


def _without_bom(data: bytes) -> str:
    """Return the name of the encoding of a text that has no byte order mark.

    UTF-16 has a zero in every second byte of ASCII text.
    """
    head = data[:400]
    zeros = (head[0::2].count(0), head[1::2].count(0))
    half = len(head) // 2
    if half >= 2 and zeros[1] > 0.9 * half and not zeros[0]:
        return "utf-16-le"
    if half >= 2 and zeros[0] > 0.9 * half and not zeros[1]:
        return "utf-16-be"
    return "utf-8"


@dataclass(frozen=True, slots=True)
class _LabelStyle:
    """The labels that a launcher puts before lines.

    - `pattern`: matches a label; its group `rank` may be missing.
    """

    launcher: str
    pattern: re.Pattern[str]
    #: Whether some versions print a blank after every label.
    perhaps_blank: bool = False


_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CTIME = rf"{_DAY} {_MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}}"
_STREAM = r"<(?:std)?(?:out|err|diag)>"
#: The most specific style is first: Open MPI's label with a time contains the label without a time.
_STYLES = (
    _LabelStyle(
        "mpirun --tag-output, --timestamp-output of Open MPI",
        re.compile(
            rf"(?:{_CTIME})?\[[^\]\s,]+,(?P<rank>\d+)\](?:\[[^\]\s]+\])?{_STREAM}:"
            rf"|(?:{_CTIME}|\[{_CTIME}\]) ?{_STREAM}:"
        ),
        perhaps_blank=True,
    ),
    _LabelStyle(
        "mpirun -prepend-rank, -l of MPICH and Intel MPI",
        re.compile(r"\[(?P<rank>\d{1,7})\](?: |$)"),
    ),
    _LabelStyle(
        "srun -l, flux run -l",
        re.compile(r" *(?:\d{1,4}\+)?(?P<rank>\d{1,7}):(?: |$)"),
    ),
    _LabelStyle("MP_LABELIO of IBM", re.compile(r" *(?P<rank>\d{1,7}):")),
    _LabelStyle(
        "a log of a CI system or a container",
        re.compile(
            r"(?:\S{1,80} +\| )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
            r"(?:Z|[+-]\d\d:?\d\d)?(?: |$)"
        ),
    ),
    _LabelStyle("the output of ts", re.compile(rf"{_MONTH} [ \d]\d \d\d:\d\d:\d\d(?: |$)")),
    _LabelStyle("docker compose", re.compile(r"[\w.-]{1,80} +\| ?")),
)


def without_labels(text: str, recognised: Callable[[str], bool]) -> str:
    """Return a text without the labels that a launcher put before its lines.

    - `recognised`: returns whether a text contains an output of a known format. Labels are only
      removed if the text without labels contains such an output.

    The lines of each rank are grouped together. A line without a label stays after the line that
    precedes it.
    """
    lines = text.split("\n")
    for style in _STYLES:
        labels = [style.pattern.match(line) for line in lines]
        ends = _label_ends(style, lines, labels)
        inner = [line[end:] for line, end in zip(lines, ends, strict=True) if end >= 0]
        if inner and recognised("\n".join(inner) + "\n"):
            return without_labels(_stripped(lines, labels, ends), recognised)
    return text


def _label_ends(
    style: _LabelStyle, lines: Sequence[str], labels: Sequence[re.Match[str] | None]
) -> list[int]:
    """Return for each line the position at which its label ends; -1 without a label.

    If the launcher puts a blank after every label, the position is after this blank.
    """
    blank = style.perhaps_blank and _all_begin_with_blank(lines, labels)
    ends = []
    for label in labels:
        if label is None:
            ends.append(-1)
        else:
            ends.append(label.end() + int(blank))
    return ends


def _all_begin_with_blank(lines: Sequence[str], labels: Sequence[re.Match[str] | None]) -> bool:
    """Return whether a blank follows every label, except on empty lines."""
    return all(
        line[label.end() : label.end() + 1] in (" ", "")
        for line, label in zip(lines, labels, strict=True)
        if label
    )


def _stripped(
    lines: Sequence[str], labels: Sequence[re.Match[str] | None], ends: Sequence[int]
) -> str:
    by_rank: dict[str, list[str]] = {}
    rank = ""
    for line, label, end in zip(lines, labels, ends, strict=True):
        content = line
        if label is not None:
            rank = label.groupdict().get("rank") or ""
            content = line[end:]
        by_rank.setdefault(rank, []).append(content)
    whole = chain.from_iterable(by_rank.values())
    # Only the last line of the file may lack a line feed; here, another line may be the last.
    text = "\n".join(whole)
    return text if lines[-1] else text.rstrip("\n") + "\n"
