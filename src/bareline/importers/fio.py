"""fio's JSON: recognised and split into launches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bareline.formats import fio
from bareline.formats.document import split_documents
from bareline.formats.reading import Reading
from bareline.importers.base import Importer
from bareline.vocabulary.model import Scalar

_SNIFF = re.compile(r'"fio version"\s*:\s*"fio-')


class Fio(Importer):
    """fio's JSON."""

    name: ClassVar[str] = "fio"
    title: ClassVar[str] = "fio 3 --output-format=json"

    def sniff(self, text: str) -> bool:
        """Look for the version."""
        return _SNIFF.search(text) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split before each JSON object."""
        return split_documents(text)

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one launch; see `bareline.formats.fio`."""
        return fio.read(text)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version and what else the output tells of the machine."""
        return fio.facts(text)


IMPORTER = Fio()
