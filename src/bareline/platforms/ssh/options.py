"""Options of hosts that are reached by ssh."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from bareline.platforms.launchers import Transport
from bareline.platforms.remote.cluster import ClusterOptions
from bareline.platforms.remote.native import Way
from bareline.platforms.ssh.inventory import read_inventory
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import unfold


class ReachedOptions(ClusterOptions):
    """Options of nodes on which programs are started over ssh, whoever made them.

    - `mpi`: ``auto``, ``openmpi``, ``mpich``, ``intel``, or the path of an mpirun on the hosts.
    - `launcher`: where mpirun starts: on the ``first`` host, which must be able to log in to the
      others, or ``here``, on this machine, which the hosts must be able to reach.
    - `subnet`, `device`: the network that MPI uses, e.g. ``10.0.0.0/24``, or its device, e.g.
      ``ib0``. Without either the library chooses, and hosts are known by the address that leads to
      their name.
    - `transport`: how ranks talk.
    - `native`: whether bareline's own programs are copied to the hosts, or the folder that they are
      built in is ``shared`` by all of them.
    - `folder`: folder of the hosts in which bareline makes its own, gone afterwards.
    - `io_folder`: folder of the hosts whose file system I/O probes measure; `folder` without it.
    - `connect_s`: how long a host may take to answer.
    """

    mpi: str = "auto"
    launcher: Literal["first", "here"] = "first"
    subnet: str | None = None
    device: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:@-]+$")] | None = None
    transport: Transport = "auto"
    native: Way = "copy"
    folder: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_.-]+)+$")] = "/tmp"
    io_folder: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_.-]+)+$")] | None = None
    connect_s: Annotated[float, Field(gt=0, le=600)] = 20.0

    @field_validator("subnet")
    @classmethod
    def _check_subnet(cls, value: str | None) -> str | None:
        if value is not None:
            ipaddress.ip_network(value)
        return value


class SshOptions(ReachedOptions):
    """Options of a platform of hosts reached by ssh.

    - `hosts`: their names for ssh, with ranges as ``n[1-4]``.
    - `inventory`, `group`: an inventory of Ansible (INI or YAML) instead, and a group of it.
    - `config`: configuration of ssh; the user's own without it.
    - `agent`: program with which the first host reaches the others.
    """

    hosts: tuple[str, ...] = ()
    inventory: Path | None = None
    group: str | None = None
    config: Path | None = None
    agent: str = "ssh"

    @property
    def names(self) -> tuple[str, ...]:
        """Every host's name for ssh, but those that are left out."""
        left_out = set(self.excluded)
        return tuple(name for name in self._named if name not in left_out)

    @property
    def _named(self) -> tuple[str, ...]:
        if self.inventory is not None:
            return tuple(read_inventory(self.inventory, self.group))
        return tuple(host for text in self.hosts for host in unfold(text))

    @property
    def node_count(self) -> int:
        """Number of hosts."""
        return len(self.names)

    @model_validator(mode="after")
    def _fits_together(self) -> SshOptions:
        if bool(self.hosts) == (self.inventory is not None):
            raise ValueError("give either `hosts` or an `inventory`")
        if self.group is not None and self.inventory is None:
            raise ValueError("`group` needs an `inventory`")
        try:
            names = self._named
        except PlatformError as error:
            raise ValueError(str(error)) from error
        if len(set(names)) != len(names):
            raise ValueError("the same host is named twice")
        if not self.names:
            raise ValueError("`exclude` leaves no host")
        return self
