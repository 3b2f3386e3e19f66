"""What facts ask of an allocation; `bareline.platforms.hosts.HostsAllocation` fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Host(Protocol):
    """A node, by the name and address that the platform gives it."""

    @property
    def name(self) -> str:
        """Host name."""

    @property
    def address(self) -> str:
        """Address under which the other nodes reach it."""


class CommandOutput(Protocol):
    """What a command on a node said."""

    @property
    def stdout(self) -> str:
        """Its output."""

    @property
    def stderr(self) -> str:
        """Its complaints."""

    @property
    def exit_code(self) -> int:
        """How it ended."""


class FactSource(Protocol):
    """Nodes on which commands can be run."""

    @property
    def nodes(self) -> Sequence[Host]:
        """Every node."""

    def work_folder(self) -> str:
        """Give the folder in which trials work."""

    def on_every_node(
        self, text: str, arguments: Sequence[Sequence[str]]
    ) -> Sequence[CommandOutput]:
        """Run a shell script on every node, each with arguments of its own."""

    def on_node(
        self,
        node: int,
        argv: Sequence[str],
        *,
        stdin: str | None = None,
        timeout_s: float = ...,
    ) -> CommandOutput:
        """Run a command on a node."""
