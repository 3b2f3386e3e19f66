"""Identity of a launch: whether an output is of a launch that is already there.

A repetition is a launch, not a text: programs that print one number of two digits print the same
text in most of their launches. The content of an output decides (its start, a cookie, random
addresses), then its file; where neither proves anything, both are kept with a caveat.
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
    """Whether two outputs with the same text are of one launch."""

    SAME = auto()
    OTHER = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class LaunchMark:
    """The mark that distinguishes a launch from launches with the same text.

    - `identity`: a text that no other launch's output contains; "" where the format has none.
    - `file`: the file's own name, see `file_identity`.
    - `occurrence`: how many launches with this very text precede it in the file.
    """

    identity: str
    file: str
    occurrence: int

    def sameness(self, marks: Iterable[LaunchMark]) -> Sameness:
        """Return whether this is one of the launches with the same text that are known.

        Outputs with the same text in one file are never copies of each other.
        """
        others = list(marks)
        if not others:
            return Sameness.OTHER
        if self.identity:
            return Sameness.SAME
        # A file that is not known any more, because the raw output is gone, may be this one.
        of_file = [mark for mark in others if mark.file in (self.file, "")]
        if any(mark.occurrence == self.occurrence for mark in of_file):
            return Sameness.SAME
        if len(of_file) == len(others):
            return Sameness.OTHER
        return Sameness.UNKNOWN


def file_identity(path: str | Path) -> str:
    """Return a name that a file has however it is written: links and packing do not change it."""
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
    """Return the caveat of an output whose text another file also has."""
    names = sorted({Path(file).name for file in files})
    listed = ", ".join(names[:3])
    if len(names) > 3:
        listed += ", ..."
    return f"{DOUBT} {listed}: a copy, or another launch with the same figures"


#: The beginning of the caveat of such an output.
DOUBT = "the same text as"
