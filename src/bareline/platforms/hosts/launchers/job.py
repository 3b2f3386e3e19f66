"""An MPI job on nodes, independent of any library, and the interface of launchers."""

from __future__ import annotations

import os
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Literal

from bareline.vocabulary.model import Layout
from bareline.vocabulary.pinning import UNBOUND, Pinning


@dataclass(frozen=True, slots=True)
class Node:
    """A host: its name, its address for the other nodes, and the cores that its ranks may use."""

    name: str
    address: str
    cores: int


#: How ranks communicate: as the library chooses, only over shared memory, or only over TCP (also
#: between ranks of one node).
Transport = Literal["auto", "shm", "tcp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The network that a job must use; nodes reach the job's launcher at `launch_address`."""

    device: str
    subnet: str
    launch_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An MPI job, independent of any launcher.

    - `nodes`: the available nodes, at least as many as the layout needs; the job uses the first of
      these nodes.
    - `agent`: program that is called in place of ssh: ``agent HOST COMMAND...``.
    - `as_root`: whether the launcher runs as root, which Open MPI only permits with an option; by
      default, whether this process runs as root.
    - `starts_on_first`: whether the launcher runs on the first node. If not, it runs on a machine
      without ranks.
    - `crowded`: whether ranks of different nodes share cores, as on nodes that are namespaces of
      one machine.
    - `session_folder`: folder in memory, on every node, for files that the library would otherwise
      leave in /tmp and /dev/shm when it is killed.
    """

    argv: Sequence[str]
    layout: Layout
    nodes: Sequence[Node]
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    cwd: str | None = None
    transport: Transport = "auto"
    network: Network | None = None
    agent: str | None = None
    as_root: bool = field(default_factory=lambda: os.geteuid() == 0)
    starts_on_first: bool = False
    crowded: bool = False
    session_folder: str | None = None

    @property
    def used(self) -> Sequence[Node]:
        """The nodes that get ranks."""
        return self.nodes[: self.layout.nodes]

    @property
    def cores(self) -> int:
        """Number of cores of the smallest node in use."""
        return min(node.cores for node in self.used)

    @property
    def oversubscribed(self) -> bool:
        """Return whether ranks or their threads have to share a core on a node."""
        return self.layout.cores_per_node > self.cores

    @property
    def pinning(self) -> Pinning:
        """The binding of ranks to cores: none if ranks have to share cores."""
        return UNBOUND if self.oversubscribed else self.layout.pinning


class Launcher(ABC):
    """The launcher of one MPI library, and the patterns that recognise the library.

    - `packages`: Debian packages that contain the library; empty if Debian has none.
    - `signature`: finds the library's version in the output of ``mpirun --version``.
    - `library`: finds the version in the output of ``MPI_Get_library_version``.
    - `launchers`: names of the launcher in addition to ``mpirun``, on machines where several
      libraries are installed.
    - `compilers`: names of the C compiler wrapper, in the order in which they are searched.
    """

    title: ClassVar[str]
    packages: ClassVar[str]
    signature: ClassVar[re.Pattern[str]]
    library: ClassVar[re.Pattern[str]]
    launchers: ClassVar[tuple[str, ...]] = ()
    compilers: ClassVar[tuple[str, ...]]

    def __init__(self, mpirun: str, version: str) -> None:
        self.mpirun = mpirun
        self.version = version

    @abstractmethod
    def argv(self, job: Job) -> list[str]:
        """Return the command line of a job."""

    @abstractmethod
    def settings(self, job: Job) -> dict[str, str]:
        """Return the environment that makes the library use the job's transport and network."""


_AGENT = """\
#!/bin/sh
while :; do case $1 in -*) shift ;; *) break ;; esac; done
address=$1
shift
{load}case $address in
{cases}esac
echo "no host $address" >&2
exit 255
"""
_LOAD_FIRST = """\
before={}
line=$(printf '%s' "$*" | sed "s/'/'\\\\\\\\''/g")
set -- "$before sh -c '$line'"
"""


def agent_text(
    commands: Mapping[tuple[str, ...], Sequence[str]],
    before: Sequence[str] = (),
    *,
    for_a_shell: bool = False,
) -> str:
    """Return the text of the script that a launcher calls in place of ssh.

    - `commands`: for each host, the names that the launcher may use for the host, and the command
      that logs in to it.
    - `before`: words that are put before a command on a host, to load the command's modules.
    - `for_a_shell`: whether the login command takes a shell line as its only argument, as ``sh -c``
      does.
    """
    given = '"$*"' if for_a_shell else '"$@"'
    cases = "".join(
        f"{'|'.join(names)}) exec {shlex.join(command)} {given} ;;\n"
        for names, command in commands.items()
    )
    # The remote shell gets one line of words.
    load = _LOAD_FIRST.format(shlex.quote(shlex.join(before))) if before else ""
    return _AGENT.format(load=load, cases=cases)
