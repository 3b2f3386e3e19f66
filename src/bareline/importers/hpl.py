"""High-Performance Linpack: recognised and split into launches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bareline.formats import hpl
from bareline.formats.reading import Reading
from bareline.formats.table import split_before
from bareline.importers.base import Importer
from bareline.vocabulary.model import Scalar


class Hpl(Importer):
    """High-Performance Linpack."""

    name: ClassVar[str] = "hpl"
    title: ClassVar[str] = "HPL (HPLinpack) 1.0 to 2.3"

    def sniff(self, text: str) -> bool:
        """Look for the title, but leave HPCC, which embeds HPL, to its own importer."""
        return hpl.TITLE.search(text) is not None and "HPC Challenge Benchmark" not in text

    def launches(self, text: str) -> Sequence[str]:
        """Split at the titles."""
        return split_before(hpl.TITLE, text)

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one launch; see `bareline.formats.hpl`."""
        return hpl.read(text)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version and what else the output tells of the machine."""
        return hpl.facts(text)


IMPORTER = Hpl()
