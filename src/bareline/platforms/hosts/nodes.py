"""Nodes on which programs can be started, for layers, builds and trials of hosts."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from bareline.platforms.base import Allocation
from bareline.platforms.hosts.launchers.installation import MpiInstallation
from bareline.platforms.hosts.launchers.job import Node
from bareline.platforms.hosts.process import Finished, local_environment, run_process
from bareline.vocabulary.errors import NotNow, PlatformError, TimeUp, ToolMissing
from bareline.vocabulary.model import Layout, Output
from bareline.vocabulary.units import count

M = TypeVar("M")


class Nodes(Allocation):
    """Nodes of an allocation, one by one and all at once."""

    nodes: tuple[Node, ...]

    # Methods of a platform type -----------------------------------------------------------------

    @abstractmethod
    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Return the local command line that runs `argv` on a node, quoted once where it must be.

        `env` is added to the node's own environment.
        """

    @abstractmethod
    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Return the local command line that runs `argv` once per rank of the layout."""

    @abstractmethod
    def native_folder(self) -> str:
        """Return the folder of bareline's own programs on the nodes, built if need be.

        Raises BuildError: they cannot be built here.
        """

    @abstractmethod
    def work_folder(self) -> str:
        """Return a folder on the nodes in which trials may make their own working directories."""

    @property
    def mpi(self) -> MpiInstallation:
        """The nodes' MPI library, or raise PlatformError: there is none."""
        raise ToolMissing("these nodes have no MPI library")

    def programs_folder(self) -> str:
        """Return a folder of the nodes in which bareline's own programs are."""
        return self.native_folder()

    # Derived methods -----------------------------------------------------------------------------

    def found_mpi(self) -> MpiInstallation | None:
        """Return the nodes' MPI library; None where they have none: the rest can be measured."""
        with contextlib.suppress(PlatformError):
            return self.mpi
        return None

    @property
    def cores(self) -> int:
        """Cores of all nodes."""
        return sum(node.cores for node in self.nodes)

    def on_node(
        self,
        node: int,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
        timeout_s: float = 60.0,
    ) -> Finished:
        """Run a housekeeping command on a node, outside of any measurement."""
        line = self.node_argv(node, argv, env or {})
        return run_process(line, timeout_s=timeout_s, stdin=stdin)

    def on_every_node(self, text: str, arguments: Sequence[Sequence[str]]) -> Sequence[Finished]:
        """Run a shell script on every node, each with arguments of its own."""
        return [
            self.on_node(node, ["sh", "-s", "--", *words], stdin=text)
            for node, words in enumerate(arguments)
        ]

    def talk_lines(
        self, nodes: Sequence[int], text: str, arguments: Sequence[str]
    ) -> Mapping[tuple[str, ...], Sequence[str]]:
        """Return the local command lines that run a shell script on nodes: here one for each node.

        By the names of the nodes that each line serves; the script's first argument is the node's
        name, unless the node knows that by itself.
        """
        argv = ["sh", "-c", text, "sh"]
        names = {node: self.nodes[node].name for node in nodes}
        return {
            (name,): self.node_argv(node, [*argv, name, *arguments], {})
            for node, name in names.items()
        }

    def server_environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the local program that starts a server."""
        return local_environment(env)

    def listening_ports(self, node: int) -> set[int]:
        """List the TCP ports on which something listens on a node."""
        table = self.on_node(node, ["cat", "/proc/net/tcp", "/proc/net/tcp6"]).stdout
        rows = (line.split() for line in table.splitlines())
        ports = set()
        for row in rows:
            if len(row) > 3 and row[3] == "0A":
                _, _, port = row[1].rpartition(":")
                ports.add(int(port, 16))
        return ports


def bring_up(
    wanted: Iterable[M],
    attempt: Callable[[Sequence[M]], Sequence[tuple[M, str]]],
    end: Callable[[M], None],
    *,
    label: Callable[[M], str],
    attempts: int,
    tell: Callable[[str], None],
    hint: str,
    kind: type[PlatformError] = NotNow,
    pause: Callable[[int], None] = lambda _: None,
) -> None:
    """Bring nodes up together; failed ones are ended and tried again, up to a limit.

    - `attempt`: tries nodes side by side, and gives those that failed with why.
    - `tell`: takes a sentence about each attempt that failed, and each that made up for one.
    """
    left = list(wanted)
    reasons: dict[int, list[str]] = {id(node): [] for node in left}
    for number in range(1, attempts + 1):
        failed = attempt(left)
        if number > 1:
            for node in _without(left, failed):
                tell(f"{label(node)} came up at attempt {number}")
        for node, why in failed:
            reasons[id(node)].append(why)
            tell(f"{label(node)} did not come up, attempt {number} of {attempts}: {why}")
            end(node)
        left = [node for node, _ in failed]
        if not left:
            return
        if number < attempts:
            pause(number)
    numbered = "; ".join(f"{number}. {why}" for number, why in enumerate(reasons[id(left[0])], 1))
    text = f"did not come up in {count(attempts, 'attempt')}: {numbered}"
    raise kind(text, where=label(left[0]), hint=hint)


def _without(nodes: Sequence[M], failed: Sequence[tuple[M, str]]) -> list[M]:
    """Return the nodes that did not fail."""
    broken = {id(node) for node, _ in failed}
    return [node for node in nodes if id(node) not in broken]


def run_repaired(run: Callable[[], Output], repaired: Callable[[PlatformError], bool]) -> Output:
    """Run a trial; again if `repaired` has replaced the nodes that were lost."""
    try:
        return run()
    except (TimeUp, ToolMissing):
        raise
    except PlatformError as error:
        if not repaired(error):
            raise
    return run()
