"""The platform type ``slurm``: whether Slurm is here, and how nodes come and go."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bareline.build.native import NativeBuild
from bareline.host.tools import require
from bareline.platforms.base import Availability
from bareline.platforms.here import build_here
from bareline.platforms.hosts import contained
from bareline.platforms.remote.allocation import RemotePlatform
from bareline.platforms.slurm.allocation import SlurmAllocation
from bareline.platforms.slurm.commands import ask, most_cores, own_job
from bareline.platforms.slurm.job import SlurmJob, clean
from bareline.platforms.slurm.options import SlurmOptions
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec


class SlurmPlatform(RemotePlatform[SlurmOptions]):
    """Nodes of a Slurm cluster."""

    type_name = "slurm"
    summary = "nodes of a Slurm cluster, in an allocation that bareline holds or inherits"
    options = SlurmOptions
    borrows = True

    @classmethod
    def check(cls, spec: PlatformSpec[SlurmOptions]) -> None:
        """See that Slurm's programs are here, and an allocation where one is inherited."""
        programs = ("salloc", "srun", "squeue", "scancel", "sinfo", "scontrol")
        require(*programs, brought_by="srun")
        if spec.options.allocation == "inherit":
            own_job()

    @classmethod
    def available(cls, spec: PlatformSpec[SlurmOptions]) -> Availability:
        """Say whether Slurm's programs are here and its controller answers."""
        found = super().available(spec)
        if not found.ok:
            return found
        asked = ask("sinfo", "--noheader", "--format=%R", timeout_s=10.0)
        if asked.exit_code or asked.timed_out:
            why = f"Slurm's controller does not answer: {asked.why}"
            return Availability(False, why, "see `scontrol ping`, or ask who runs the cluster")
        return found

    @classmethod
    def cores(cls, spec: PlatformSpec[SlurmOptions], layout: Layout) -> int | None:
        """Ask Slurm, which tells without an allocation, where the platform's file does not say."""
        known = super().cores(spec, layout)
        if known is not None or shutil.which("sinfo") is None:
            return known
        each = most_cores(spec.options.partition)
        return None if each is None else each * max(1, layout.nodes)

    @classmethod
    def build(cls, spec: PlatformSpec[SlurmOptions], cache: Path) -> NativeBuild:
        """Build the native programs on a node of an allocation, in the user's cache there.

        Here instead where the cache is shared and this machine has the library.
        """
        if spec.options.has_library_here:
            return build_here(spec.options.mpi, cache)
        return super().build(spec, cache)

    @classmethod
    def clean(cls) -> list[str]:
        """Give back allocations that killed barelines still hold."""
        return clean() if shutil.which("squeue") else []

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[SlurmAllocation]:
        """Get the nodes that the layout needs, and give them back on every exit."""
        options = self.spec.options
        with self.starting(layout):
            clean()
        job, nodes = SlurmJob(options, self.spec.name), max(1, layout.nodes)
        with ExitStack() as stack:
            stack.callback(job.end)
            state = job.begin(nodes)
            allocation = SlurmAllocation(options, self.context, job, state, nodes)
            stack.callback(allocation.close)
            with contained(options.container, allocation, self.context.cache, self.spec.name):
                yield allocation
