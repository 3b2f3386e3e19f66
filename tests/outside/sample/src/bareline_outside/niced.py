"""A platform type: this machine, with every program at a lower priority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from bareline.platforms.base import Allocation, Platform
from bareline.platforms.local import LocalAllocation, LocalOptions
from bareline.vocabulary.model import Layout


class NicedOptions(LocalOptions):
    """Options of this machine, and how nice its programs are."""

    niceness: Annotated[int, Field(ge=0, le=19)] = 5


class NicedAllocation(LocalAllocation):
    """This machine, with `nice` before every program."""

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Put `nice` before the command line."""
        assert isinstance(self._options, NicedOptions)
        line = super().node_argv(node, argv, env, cwd)
        return ["nice", "-n", str(self._options.niceness), *line]


class NicedPlatform(Platform[NicedOptions]):
    """This machine, nicely."""

    type_name = "niced"
    summary = "this machine, at a lower priority"
    options = NicedOptions

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[Allocation]:
        """Give this machine; nothing has to come up."""
        yield NicedAllocation(self.spec.options, self.context, None)


PLATFORM = NicedPlatform
