"""The platform type ``slurm``: how nodes of a Slurm cluster are inspected and acquired."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bareline.build.record import NativeBuild
from bareline.host.tools import require
from bareline.platforms.base import Availability, Context, NodeLook
from bareline.platforms.hosts.allocation import contained
from bareline.platforms.localhost.allocation import build_here
from bareline.platforms.reached.remote.allocation import RemotePlatform
from bareline.platforms.reached.slurm import commands
from bareline.platforms.reached.slurm.allocation import SlurmAllocation
from bareline.platforms.reached.slurm.job import SlurmJob, clean
from bareline.platforms.reached.slurm.needs import cores_of_nodes, look_at_free_node
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec


class SlurmPlatform(RemotePlatform[SlurmOptions]):
    """The platform type of nodes of a Slurm cluster."""

    type_name = "slurm"
    summary = "nodes of a Slurm cluster, in an allocation that bareline requests or inherits"
    options = SlurmOptions
    borrows = True

    @classmethod
    def check(cls, spec: PlatformSpec[SlurmOptions]) -> None:
        programs = ("salloc", "srun", "squeue", "scancel", "sinfo", "scontrol")
        require(*programs, brought_by="srun")
        if spec.options.allocation == "inherit":
            commands.own_job()

    @classmethod
    def available(cls, spec: PlatformSpec[SlurmOptions]) -> Availability:
        availability = super().available(spec)
        if not availability.ok:
            return availability
        answer = commands.ask("sinfo", "--noheader", "--format=%R", timeout_s=10.0)
        if answer.exit_code or answer.timed_out:
            why = f"Slurm's controller does not answer: {answer.why}"
            return Availability(False, why, "see `scontrol ping`, or ask who runs the cluster")
        return availability

    @classmethod
    def cores(cls, spec: PlatformSpec[SlurmOptions], layout: Layout) -> int | None:
        """Return the number of cores from the platform file, or ask Slurm without an allocation."""
        cores = super().cores(spec, layout)
        if cores is not None or shutil.which("sinfo") is None:
            return cores
        cores_per_node = commands.most_cores(spec.options.partition)
        if cores_per_node is None:
            return None
        return cores_per_node * max(1, layout.nodes)

    @classmethod
    def look(cls, spec: PlatformSpec[SlurmOptions], context: Context) -> tuple[NodeLook, ...]:
        """Return the equipment of a free node, and for other nodes the cores that Slurm reports."""
        options = spec.options
        seen = look_at_free_node(options.request(), options.wanted)
        listed = cores_of_nodes(options.partition)
        others = (NodeLook(name, cores) for name, cores in listed.items())
        return (seen, *(other for other in others if other.name != seen.name))

    @classmethod
    def build(cls, spec: PlatformSpec[SlurmOptions], cache: Path) -> NativeBuild:
        """Build on a node, or on this machine if this machine has the nodes' MPI library."""
        if spec.options.has_library_here:
            return build_here(spec.options.mpi, cache)
        return super().build(spec, cache)

    @classmethod
    def clean(cls) -> list[str]:
        return clean() if shutil.which("squeue") else []

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[SlurmAllocation]:
        options = self.spec.options
        with self.starting(layout):
            clean()
        job = SlurmJob(options, self.spec.name)
        nodes = max(1, layout.nodes)
        with ExitStack() as stack:
            stack.callback(job.end)
            state = job.begin(nodes)
            allocation = SlurmAllocation(options, self.context, job, state, nodes)
            stack.callback(allocation.close)
            with contained(options.container, allocation, self.context.cache, self.spec.name):
                yield allocation
