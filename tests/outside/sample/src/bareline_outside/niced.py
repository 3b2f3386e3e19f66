"""A platform type: this machine, with every program at a lower priority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from bareline.platforms.localhost.local import LocalAllocation, LocalOptions, LocalPlatform
from bareline.vocabulary.model import Layout


class NicedOptions(LocalOptions):
    """Options of this machine, and how nice its programs are.

    - `niceness`: lowers the priority; 19 is the lowest.
    """

    niceness: Annotated[int, Field(ge=0, le=19)] = 5


class NicedAllocation(LocalAllocation):
    """This machine, with `nice` before every program and before what starts MPI jobs."""

    @property
    def _nice(self) -> list[str]:
        assert isinstance(self._options, NicedOptions)
        return ["nice", "-n", str(self._options.niceness)]

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Put `nice` before the command line."""
        return [*self._nice, *super().node_argv(node, argv, env, cwd)]

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Put `nice` before the launcher, whose ranks inherit it."""
        return [*self._nice, *super().mpi_argv(argv, layout, env, cwd)]


class NicedPlatform(LocalPlatform):
    """This machine, nicely."""

    type_name = "niced"
    summary = "this machine, at a lower priority"
    options = NicedOptions
    allocation = NicedAllocation


PLATFORM = NicedPlatform
