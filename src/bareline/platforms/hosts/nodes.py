"""Nodes on which programs can be started; layers, builds and trials use this interface."""

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
    """The nodes of an allocation, with commands for one node or for all nodes at once."""

    nodes: tuple[Node, ...]

    # Methods of a platform type -----------------------------------------------------------------

    @abstractmethod
    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Return the local command line that runs `argv` on a node, quoted for any remote shell.

        `env` is added to the node's own environment.
        """

    @abstractmethod
    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Return the local command line that runs `argv` once per rank of the layout."""

    @abstractmethod
    def native_folder(self) -> str:
        """Return the folder of bareline's own programs on the nodes; build them if necessary.

        Raises BuildError: the programs cannot be built here.
        """

    @abstractmethod
    def work_folder(self) -> str:
        """Return a folder on the nodes in which trials may make their own working directories."""

    @property
    def mpi(self) -> MpiInstallation:
        """The MPI library of the nodes.

        Raises PlatformError: the nodes have no MPI library.
        """
        raise ToolMissing("the nodes of this platform have no MPI library")

    def programs_folder(self) -> str:
        """Return the folder on the nodes that contains bareline's own programs."""
        return self.native_folder()

    # Derived methods -----------------------------------------------------------------------------

    def found_mpi(self) -> MpiInstallation | None:
        """Return the MPI library of the nodes, or None.

        Without a library, benchmarks that do not use MPI can still be measured.
        """
        with contextlib.suppress(PlatformError):
            return self.mpi
        return None

    @property
    def cores(self) -> int:
        """Number of cores of all nodes."""
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
        """Run a shell script on every node, with different arguments for each."""
        return [
            self.on_node(node, ["sh", "-s", "--", *words], stdin=text)
            for node, words in enumerate(arguments)
        ]

    def talk_lines(
        self, nodes: Sequence[int], text: str, arguments: Sequence[str]
    ) -> Mapping[tuple[str, ...], Sequence[str]]:
        """Return the local command lines that run a shell script on nodes.

        The key of each line contains the names of the nodes that the line serves. In this class,
        each line serves one node, and the script's first argument is the name of this node.
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
        """Return the TCP ports on which a program listens on a node."""
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
    """Bring nodes up together; end the failed nodes and try again, up to a limit of attempts.

    - `attempt`: tries several nodes at the same time, and returns the failed nodes with the
      reasons.
    - `tell`: gets a sentence about each failed attempt, and about each success after a failure.
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
    text = f"the node did not start in {count(attempts, 'attempt')}: {numbered}"
    raise kind(text, where=label(left[0]), hint=hint)


def _without(nodes: Sequence[M], failed: Sequence[tuple[M, str]]) -> list[M]:
    """Return the nodes that are not in `failed`."""
    broken = {id(node) for node, _ in failed}
    return [node for node in nodes if id(node) not in broken]


def run_repaired(run: Callable[[], Output], repaired: Callable[[PlatformError], bool]) -> Output:
    """Run a trial; run it again if `repaired` has replaced the lost nodes."""
    try:
        return run()
    except (TimeUp, ToolMissing):
        raise
    except PlatformError as error:
        if not repaired(error):
            raise
    return run()
