"""Common parts of platforms on this machine: its MPI library, programs, files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from bareline.build.record import NativeBuild
from bareline.host.owner import owner_mark
from bareline.platforms.base import Availability, Context, Platform
from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Node
from bareline.platforms.hosts.layers.container.options import ContainerKeys
from bareline.platforms.hosts.layers.neighbours import (
    Neighbours,
    busy_neighbours,
    facts_of,
    run_against_copies,
)
from bareline.platforms.hosts.workdir import check_io_folder
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar
from bareline.vocabulary.platform import O_co, PlatformSpec


class LocalhostOptions(ContainerKeys):
    """Options of platforms on this machine.

    - `mpi`: ``auto``, ``openmpi``, ``mpich``, ``intel``, or the path of an mpirun or of the folder
      that an MPI library was installed into.
    - `cores`: numbers of the cores to use; by default all cores that this process may use.
    - `io_folder`: folder in which trials make their working directories; bareline's scratch folder
      by default. I/O probes measure the file system of this folder.
    - `neighbours`: other tenants that share the nodes; see `Neighbours`.
    """

    mpi: str = "auto"
    cores: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] | None = None
    io_folder: Path | None = None
    neighbours: Neighbours | None = None

    def check_here(self) -> None:
        """Check the cores, the I/O folder, and the requirements of neighbours and containers."""
        check_cores(self.cores)
        check_io_folder(self.io_folder)
        if self.container is not None:
            from bareline.platforms.hosts.layers.container.running import check_container

            check_container(self.container)
        if self.neighbours is not None:
            self.neighbours.check()
            check_cores(self.neighbours.cores)


class LocalhostPlatform(Platform[O_co]):
    """A type of platform that uses this machine's MPI library, chosen by the option `mpi`."""

    here = True

    @classmethod
    def available(cls, spec: PlatformSpec[Any]) -> Availability:
        availability = super().available(spec)
        choice = spec.options.mpi
        try:
            if availability.ok:
                find_mpi(choice)
        except PlatformError as error:
            # Without any library, probes that need none can still be measured.
            usable = isinstance(error, ToolMissing) and choice == "auto"
            return Availability(usable, error.what, error.hint or "")
        return availability

    @classmethod
    def build(cls, spec: PlatformSpec[Any], cache: Path) -> NativeBuild:
        return build_here(spec.options.mpi, cache)


def check_cores(cores: Sequence[int] | None) -> None:
    """Check that this process may use all of the cores.

    The error names a core that this process may not use, and the cores that it may use.
    """
    allowed = sorted(os.sched_getaffinity(0))
    for core in cores or ():
        if core not in allowed:
            raise PlatformError(
                f"this process cannot use core {core}",
                hint=f"use some of {', '.join(map(str, allowed))}",
            )


def build_here(mpi: MpiInstallation | str, cache: Path) -> NativeBuild:
    """Build bareline's own programs for an MPI library of this machine, once for each cache."""
    from bareline.build.native import build_native

    return build_native(find_mpi(mpi) if isinstance(mpi, str) else mpi, cache)


@dataclass(frozen=True, slots=True)
class _Copy:
    """A neighbour that runs the measured command; bareline can end its processes separately."""

    hosts: HostsAllocation
    number: int

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        env = dict(command.env)
        env[TRIAL_VARIABLE] = self._marked(env.get(TRIAL_VARIABLE, ""))
        marked = replace(command, env=tuple(env.items()))
        return HostsAllocation.run(self.hosts, marked, layout, timeout_s=timeout_s)

    def end_marked(self, token: str) -> None:
        self.hosts.end_marked(self._marked(token))

    def _marked(self, token: str) -> str:
        return f"{token or owner_mark()}-neighbour{self.number}"


class LocalhostAllocation(HostsAllocation):
    """The nodes of a platform on this machine; all use this machine's files and MPI library."""

    def __init__(self, nodes: Sequence[Node], context: Context, options: LocalhostOptions) -> None:
        super().__init__(nodes)
        self._context = context
        self._mpi_choice = options.mpi
        self._io_folder = options.io_folder
        self._neighbours = options.neighbours
        self._all_measure = options.neighbours is not None and options.neighbours.load == "same"
        #: Every neighbour has programs on all nodes.
        self._tenants = [self] * (options.neighbours.count if options.neighbours else 0)

    @property
    def cores(self) -> int:
        return min(super().cores, os.cpu_count() or 1)

    @cached_property
    def mpi(self) -> MpiInstallation:
        return find_mpi(self._mpi_choice)

    def programs_folder(self) -> str:
        return str(self._context.cache.absolute())

    @cached_property
    def _native(self) -> str:
        from bareline.build.native import ensure_native

        return str(ensure_native(self.found_mpi(), self._context.cache))

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        if not (self._neighbours and self._all_measure):
            return super().run(command, layout, timeout_s=timeout_s)
        copies = [_Copy(self, number) for number in range(1, self._neighbours.count + 1)]
        return run_against_copies(super().run, copies, command, layout, timeout_s)

    def background(self, token: str) -> AbstractContextManager[None]:
        if self._all_measure:
            return nullcontext()
        return busy_neighbours(self._tenants, self._neighbours, token)

    def layer_facts(self) -> dict[str, Scalar]:
        """Return the facts of the layers: mounts, containers and neighbours."""
        facts = dict(self.mounted.facts) if self.mounted else {}
        facts |= self.boxes.facts() if self.boxes else {}
        if self._neighbours is not None:
            cores = self.nodes[0].cores
            facts |= facts_of(self._tenants, self._neighbours, cores)
            facts |= self._neighbours.sharing(cores)
        return facts

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        shared = self._neighbours.caveats() if self._neighbours else ()
        return (*super().caveats(layout), *shared)

    def native_folder(self) -> str:
        return self._native

    def work_folder(self) -> str:
        if self.mounted is not None:
            return self.mounted.folder
        return str((self._io_folder or self._context.scratch).absolute())


def core_facts(cores: Mapping[str, Sequence[int]]) -> dict[str, Scalar]:
    """Return which cores of this machine each node may use, and which cores nodes share."""

    def numbers(indices: Iterable[int]) -> str:
        return ", ".join(map(str, sorted(indices)))

    users = Counter(core for each in cores.values() for core in set(each))
    shared = numbers(core for core, count in users.items() if count > 1)
    pinned = "; ".join(f"{name}: {numbers(each)}" for name, each in cores.items())
    return {"cpu.pinned_to": pinned, "cpu.shared_cores": shared or "none"}
