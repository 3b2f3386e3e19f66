"""What an importer is, and how importers are found.

An importer is one module of this package that ends in ``IMPORTER = ...``. It recognises the
outputs of one program by their text, splits a file into launches, and reads each launch into
trials. What a launch holds but cannot be trusted becomes a failed trial with its reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import chain
from typing import ClassVar

from bareline.formats.reading import Reading
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.plugins import brought, checked, named, own


class Importer(ABC):
    """Reads the outputs of one program.

    Attributes
    ----------
    name
        Short name of the format; the probes it gives start with it.
    title
        Which programs and versions it reads, for people.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def sniff(self, text: str) -> bool:
        """Tell whether this is an output of the program, whole or not."""

    def launches(self, text: str) -> Sequence[str]:
        """Split a file into the outputs of single launches, in their order."""
        return (text,)

    @abstractmethod
    def parse(self, text: str) -> Iterable[Reading]:
        """Read the trials out of one launch; pure.

        Raises
        ------
        ParseError
            Not even the benchmark can be told.
        """

    def started(self, text: str) -> datetime | None:
        """Read when the launch began, where its output says so; without a zone it counts as UTC."""
        return None

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Read what the output tells of the platform, as facts."""
        return {}


@cache
def load_importers() -> Mapping[str, Importer]:
    """Find every importer of this package and of installed plug-ins, by name.

    Raises
    ------
    PluginError
        Two share a name, or a plug-in is no importer.
    """
    every = chain(own("bareline.importers", "IMPORTER"), brought("bareline.importers"))
    return named("importer", checked("importer", every, Importer), lambda one: one.name)
