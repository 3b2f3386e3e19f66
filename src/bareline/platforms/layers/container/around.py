"""What an allocation knows of the containers around its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bareline.vocabulary.model import Scalar


class Around(Protocol):
    """The containers of an allocation; see `Boxes`."""

    @property
    def whole(self) -> bool:
        """Whether MPI's launcher has to be inside, too."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Name what makes numbers doubtful."""

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Give the command that starts a program in its container, the same on every node."""

    def check_programs(self, folder: str) -> None:
        """See, once, that programs of a folder find the C library inside that they need."""

    def facts(self) -> Mapping[str, Scalar]:
        """Describe the containers and what programs see in them."""
