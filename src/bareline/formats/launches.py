"""Identity of launches: whether an output belongs to a launch that was already imported.

Two launches can have the same text, for example if a program prints only one number of two digits.
If the text contains a start, a cookie or random addresses, two outputs with this text are of one
launch. Otherwise, two outputs that one file contains are of two launches, and an output that is
read again from its file is of the same launch. If the outputs are in different files, both are
kept, with a caveat.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from bareline.formats.envelope import PACKED_SUFFIXES
from bareline.formats.importer import Importer


class Sameness(Enum):
    """Answers to the question whether two outputs with the same text are of one launch."""

    SAME = auto()
    OTHER = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class LaunchMark:
    """The mark that distinguishes a launch from launches with the same text.

    - `identity`: a text that no other launch's output contains; "" if the format has no such text.
    - `file`: identity of the file, see `file_identity`.
    - `occurrence`: number of earlier launches in the file with exactly the same text.
    """

    identity: str
    file: str
    occurrence: int

    def sameness(self, marks: Iterable[LaunchMark]) -> Sameness:
        """Return whether this launch is one of the known launches with the same text.

        Without an `identity`, outputs with the same text in one file are of different launches.
        """
        others = list(marks)
        if not others:
            return Sameness.OTHER
        if self.identity:
            return Sameness.SAME
        # A mark without a file (its raw output was removed) may be from this file.
        of_file = [mark for mark in others if mark.file in (self.file, "")]
        if any(mark.occurrence == self.occurrence for mark in of_file):
            return Sameness.SAME
        if len(of_file) == len(others):
            return Sameness.OTHER
        return Sameness.UNKNOWN


def file_identity(path: str | Path) -> str:
    """Return a file's absolute path, without symbolic links and the suffix of a compression."""
    real = os.path.realpath(path)
    for suffix in PACKED_SUFFIXES:
        real = real.removesuffix(suffix)
    return real


def identity_of(importer: Importer, launch: str) -> str:
    """Return a text that no other launch's output contains, or ""."""
    identity = importer.identity(launch)
    if identity:
        return identity
    started = importer.started(launch)
    return started.isoformat() if started else ""


def text_hash(launch: str) -> str:
    """Return a hash of the text of a launch."""
    return hashlib.sha256(launch.encode(errors="surrogatepass")).hexdigest()[:32]


def doubt(files: Iterable[str]) -> str:
    """Return the caveat of an output whose text is also in other files."""
    names = sorted({Path(file).name for file in files})
    listed = ", ".join(names[:3])
    if len(names) > 3:
        listed += ", ..."
    return f"{DOUBT} {listed}: a copy, or another launch with the same figures"


#: The beginning of the caveat that `doubt` returns.
DOUBT = "the same text as"
