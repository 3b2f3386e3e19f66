"""The perftest programs: recognised and split into launches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bareline.formats import perftest
from bareline.formats.reading import Reading
from bareline.formats.table import split_before
from bareline.importers.base import Importer
from bareline.vocabulary.model import Scalar


class Perftest(Importer):
    """The perftest programs."""

    name: ClassVar[str] = "perftest"
    title: ClassVar[str] = "perftest (ib_write_bw, ib_write_lat, ...)"

    def sniff(self, text: str) -> bool:
        """Look for a title."""
        return perftest.TITLE.search(text) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split at the titles."""
        return split_before(perftest.TITLE, text)

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one launch; see `bareline.formats.perftest`."""
        return perftest.read(text)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version and what else the output tells of the machine."""
        return perftest.facts(text)


IMPORTER = Perftest()
