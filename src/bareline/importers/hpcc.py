"""HPC Challenge: recognised and split into launches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from bareline.formats import hpcc
from bareline.formats.reading import Reading
from bareline.formats.table import split_before
from bareline.importers.base import Importer
from bareline.vocabulary.model import Scalar

_TITLE = re.compile(r"HPC Challenge Benchmark|^Begin of Summary section\.", re.MULTILINE)


class Hpcc(Importer):
    """HPC Challenge."""

    name: ClassVar[str] = "hpcc"
    title: ClassVar[str] = "HPC Challenge (hpccoutf.txt)"

    def sniff(self, text: str) -> bool:
        """Look for the title or the summary."""
        return _TITLE.search(text) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split at the heads; HPCC appends to its file."""
        return split_before(hpcc.HEAD, text)

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one launch; see `bareline.formats.hpcc`."""
        return hpcc.read(text)

    def started(self, text: str) -> datetime | None:
        """Give the first time that HPCC prints."""
        return hpcc.started(text)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version and what else the output tells of the machine."""
        return hpcc.facts(text)


IMPORTER = Hpcc()
