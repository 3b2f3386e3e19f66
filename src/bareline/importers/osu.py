"""OSU micro-benchmarks for MPI: recognised and split into launches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bareline.formats import osu
from bareline.formats.reading import Reading
from bareline.formats.table import split_before
from bareline.importers.base import Importer
from bareline.vocabulary.model import Scalar


class Osu(Importer):
    """OSU micro-benchmarks for MPI."""

    name: ClassVar[str] = "osu"
    title: ClassVar[str] = "OSU micro-benchmarks 5.x to 7.x"

    def sniff(self, text: str) -> bool:
        """Look for a title, or the line of an osu_init that has none."""
        return (osu.TITLE.search(text) or osu.UNTITLED.search(text)) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split at the titles; what precedes the first belongs to it."""
        titled = osu.TITLE.search(text) is not None
        return split_before(osu.TITLE if titled else osu.UNTITLED, text)

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one launch; see `bareline.formats.osu`."""
        return osu.read(text)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version and what else the output tells of the machine."""
        return osu.facts(text)


IMPORTER = Osu()
