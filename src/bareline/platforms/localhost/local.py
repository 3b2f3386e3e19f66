"""The machine that bareline runs on, as a platform of one node."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

from bareline.platforms.base import Allocation, Context
from bareline.platforms.hosts.allocation import contained
from bareline.platforms.hosts.launchers.installation import mpi_facts
from bareline.platforms.hosts.launchers.job import Job, Node, Transport
from bareline.platforms.hosts.layers.filesystem.mounted import (
    Mounted,
    MountingNode,
    Mounts,
    folder_below,
    mount_served,
    mount_volume,
    private_mounts,
)
from bareline.platforms.hosts.layers.filesystem.options import Nfs, OneNode, check_here
from bareline.platforms.hosts.workdir import MEMORY, SESSION, owned_folder, remove_ended
from bareline.platforms.localhost.allocation import (
    LocalhostAllocation,
    LocalhostOptions,
    LocalhostPlatform,
    core_facts,
)
from bareline.vocabulary.model import Layout, Scalar
from bareline.vocabulary.platform import PinningOptions, PlatformSpec

#: Loopback by number: a name may resolve to IPv6, on which not every tool listens.
_ADDRESS = "127.0.0.1"


class LocalOptions(LocalhostOptions, PinningOptions):
    """Options of the local platform.

    - `transport`: ``shm`` or ``tcp`` (loopback) sets how ranks communicate; ``auto`` leaves the
      choice to the library.
    - `filesystem`: a file system on which trials work; it is mounted for the trials only. If it is
      in a file, the file is in `io_folder`.
    """

    transport: Transport = "auto"
    filesystem: OneNode | None = None

    @property
    def one_machine(self) -> bool:
        return True

    @property
    def cores_per_node(self) -> int:
        return len(self.cores or os.sched_getaffinity(0))


class LocalAllocation(LocalhostAllocation):
    """The machine that bareline runs on, unchanged or with mounts for the trials."""

    def __init__(
        self,
        options: LocalOptions,
        context: Context,
        session: Path | None,
        mounts: tuple[Mounts, Mounted] | None = None,
    ) -> None:
        self._options = options
        self._session = session
        cores = options.cores or tuple(os.sched_getaffinity(0))
        super().__init__([Node("localhost", _ADDRESS, len(cores))], context, options)
        self._mounts: Mounts | None
        self._mounts, self.mounted = mounts or (None, None)

    def _placed(self, argv: Sequence[str]) -> list[str]:
        line = list(argv)
        if self._options.cores is not None:
            line = ["taskset", "--cpu-list", ",".join(map(str, self._options.cores)), *line]
        return self._mounts.enter(line) if self._mounts else line

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        self._index(node)
        words = [f"--chdir={cwd}"] if cwd else []
        words += [f"{name}={value}" for name, value in env.items()]
        return self._placed([*(["env", *words] if words else []), *argv])

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        job = Job(
            argv=argv,
            layout=layout,
            nodes=self.nodes,
            env=env,
            cwd=cwd,
            transport=self._options.transport,
            session_folder=str(self._session) if self._session else None,
        )
        return self._placed(self.mpi.argv(job))

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        return (*super().caveats(layout), *(self.boxes.caveats if self.boxes else ()))

    def facts(self) -> Mapping[str, Scalar]:
        cores = self._options.cores
        return {
            **self.node_facts(),
            **mpi_facts(self._options.mpi, self._options.transport),
            **(core_facts({self.nodes[0].name: cores}) if cores else {}),
            **self.layer_facts(),
        }


class LocalPlatform(LocalhostPlatform[LocalOptions]):
    """The local machine; a subclass that starts programs in another way sets `allocation`."""

    allocation: ClassVar[type[LocalAllocation]] = LocalAllocation

    type_name = "local"
    summary = "this machine, MPI over shared memory or TCP loopback"
    options = LocalOptions

    @classmethod
    def check(cls, spec: PlatformSpec[LocalOptions]) -> None:
        options = spec.options
        options.check_here()
        check_here(options.filesystem, root=os.geteuid() == 0, user_namespace=False, network=False)

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[Allocation]:
        with ExitStack() as stack:
            with self.starting(layout):
                self.clean()
                session = None
                if os.access(MEMORY, os.W_OK):
                    # For leftovers of killed MPI libraries.
                    session = stack.enter_context(owned_folder(MEMORY, SESSION))
                mounts = stack.enter_context(self._mounted())
                machine = self.allocation(self.spec.options, self.context, session, mounts)
            container = self.spec.options.container
            cache = self.context.cache
            with contained(container, machine, cache, self.spec.name):
                yield machine

    @contextmanager
    def _mounted(self) -> Iterator[tuple[Mounts, Mounted] | None]:
        options = self.spec.options
        if options.filesystem is None or options.filesystem.type == "local":
            yield None
            return
        scratch = self.context.scratch.absolute()
        with folder_below(options.io_folder or scratch) as below, private_mounts() as mounts:
            chosen = options.filesystem
            folder = scratch / "mounted"
            if isinstance(chosen, Nfs):
                itself = MountingNode("localhost", _ADDRESS, mounts.run)
                mounted = mount_served(chosen, itself, [mounts.run], folder, below)
            else:
                mounted = mount_volume(mounts.run, chosen, folder, below)
            yield mounts, mounted

    @classmethod
    def clean(cls) -> list[str]:
        return remove_ended(MEMORY, SESSION)


PLATFORM = LocalPlatform
