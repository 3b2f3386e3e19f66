"""Options of the nodes of a cluster, such as excluded nodes and the nodes of each switch."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from bareline.platforms.hosts.launchers.job import Transport
from bareline.platforms.hosts.layers.container.options import ContainerKeys
from bareline.platforms.reached.remote.native import Way
from bareline.platforms.reached.remote.software import ModuleName, SoftwareName
from bareline.vocabulary.facts import NODES_EXCLUDED, NODES_NAMES, NODES_SWITCHES
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.nodeset import fold, unfold
from bareline.vocabulary.platform import PinningOptions

#: A switch of ``scontrol show topology``; switches of higher levels have switches instead of nodes.
_SWITCH = re.compile(r"^SwitchName=(\S+) Level=0 .*?\bNodes=(\S+)", re.MULTILINE)


def _folded(value: Any) -> Any:
    """Check the names in one or several lists such as ``n[1-3],n7``, and return the nodes."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = ",".join(map(str, value))
    return fold(unfold(value)) if isinstance(value, str) and value else value


#: Names of nodes as ``n[1-3],n7``; a list of such texts is also accepted.
NodeList = Annotated[str, BeforeValidator(_folded)]


_Path = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_.-]+)+$")]


class ClusterOptions(ContainerKeys, PinningOptions):
    """Options of a platform that consists of nodes of a cluster.

    - `exclude`: nodes that are not used, such as bad nodes that a survey found. The form of the
      list is ``n[1-3],n7``.
    - `switches`: the nodes of each switch, if no batch system reports them; for example ``{leaf1 =
      "n[1-16]"}``.
    - `software`: modules and environments that the nodes load before each program, in this order:
      ``module:openmpi/4.1``, ``spack:/path/of/an/environment``, ``conda:name``.
    - `modules`: names of environment modules that the nodes load before `software`.
    - `mpi`: ``auto``, ``openmpi``, ``mpich``, ``intel``, or the path of an mpirun on the nodes.
    - `subnet`: the network that MPI uses, e.g. ``10.0.0.0/24``.
    - `device`: instead of `subnet`, the device of the network, e.g. ``ib0``. Without `subnet` and
      `device`, the MPI library chooses the network.
    - `transport`: how ranks communicate.
    - `native`: ``copy`` (bareline's own programs are copied to every node), or ``shared`` (all
      nodes share the folder in which these programs are built).
    - `folder`: folder of the nodes in which bareline makes a folder, which is removed at the end.
    - `io_folder`: folder of the nodes whose file system I/O probes measure; by default `folder`.
    """

    exclude: NodeList = ""
    switches: dict[str, NodeList] = Field(default_factory=dict)
    software: tuple[SoftwareName, ...] = ()
    modules: tuple[ModuleName, ...] = ()
    mpi: str = "auto"
    subnet: str | None = None
    device: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:@-]+$")] | None = None
    transport: Transport = "auto"
    native: Way = "copy"
    folder: _Path = "/tmp"
    io_folder: _Path | None = None

    @field_validator("subnet")
    @classmethod
    def _check_subnet(cls, value: str | None) -> str | None:
        if value is not None:
            ipaddress.ip_network(value)
        return value

    @property
    def wanted(self) -> tuple[str, ...]:
        """All modules and environments that the nodes load, each as in `software`."""
        return (*(f"module:{name}" for name in self.modules), *self.software)

    @property
    def excluded(self) -> list[str]:
        """Names of the nodes that are not used."""
        return unfold(self.exclude) if self.exclude else []


def cluster_facts(
    names: Sequence[str], switches: Mapping[str, str], excluded: Iterable[str]
) -> dict[str, Scalar]:
    """Return the facts of a cluster: its nodes, their switches and the excluded nodes.

    - `switches`: the nodes of each switch.
    """
    used = set(names)
    listing = []
    for switch, listed in switches.items():
        if nodes := [node for node in unfold(listed) if node in used]:
            listing.append(f"{switch}: {fold(nodes)}")
    left_out = fold(sorted(set(excluded)))
    return {
        NODES_NAMES: fold(names),
        **({NODES_SWITCHES: "; ".join(listing)} if listing else {}),
        **({NODES_EXCLUDED: left_out} if left_out else {}),
    }


def scattered(facts: Mapping[str, Scalar], asked: str | None) -> str:
    """Return a description if the nodes are on more switches than requested, else "".

    - `asked`: the limit in the form of ``salloc --switches``: ``1@60``.
    """
    count = str(facts.get(NODES_SWITCHES, "")).count(":")
    most = int(asked.partition("@")[0]) if asked else count
    return f"the nodes hang on {count} switches, {most} asked for" if count > most else ""


def read_topology(text: str) -> dict[str, str]:
    """Return the nodes of each switch from the output of ``scontrol show topology``."""
    switches = {}
    for name, nodes in _SWITCH.findall(text):
        with suppress(ValueError):
            if unfold(nodes):
                switches[name] = nodes
    return switches
