"""Intel MPI Benchmarks: recognised and split into launches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from bareline.formats import imb
from bareline.formats.reading import Reading
from bareline.formats.table import split_before
from bareline.importers.base import Importer
from bareline.vocabulary.model import Scalar


class Imb(Importer):
    """Intel MPI Benchmarks."""

    name: ClassVar[str] = "imb"
    title: ClassVar[str] = "Intel MPI Benchmarks 3.2 to 2021"

    def sniff(self, text: str) -> bool:
        """Look for the title."""
        return imb.TITLE.search(text) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split at the titles, each with the rule above it."""
        return split_before(imb.TITLE, text)

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one launch; see `bareline.formats.imb`."""
        return imb.read(text)

    def started(self, text: str) -> datetime | None:
        """Give IMB's date."""
        return imb.started(text)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version and what else the output tells of the machine."""
        return imb.facts(text)


IMPORTER = Imb()
