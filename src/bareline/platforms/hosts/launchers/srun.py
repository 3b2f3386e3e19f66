"""Slurm's own launcher, which starts ranks without an mpirun."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.hosts.launchers.installation import MpiInstallation
from bareline.platforms.hosts.launchers.job import Job
from bareline.vocabulary.nodeset import fold

#: srun's names for the parts of a node; NUMA domains are its locality domains.
_BOUND = {"hwthread": "threads", "core": "cores", "numa": "ldoms", "socket": "sockets"}


def srun_argv(
    job: Job,
    mpi: MpiInstallation,
    *,
    plugin: str = "pmix",
    binds: bool = True,
    before: Sequence[str] = (),
) -> list[str]:
    """Return the command line with which Slurm starts a job inside an allocation.

    - `plugin`: the interface between Slurm and the library: ``pmix`` for Open MPI, ``pmi2`` for an
      MPICH or Intel MPI that was built without PMIx.
    - `binds`: whether the cluster can bind tasks to cores; otherwise it refuses the option.
    - `before`: words that are put before each rank's command, to load the command's modules.
    """
    layout = job.layout
    pinning = job.pinning
    line = ["srun", f"--mpi={plugin}", f"--nodes={layout.nodes}", f"--ntasks={layout.ranks}"]
    line += [f"--ntasks-per-node={layout.ranks_per_node}"]
    if job.oversubscribed:
        # Without a number of cores for each rank: srun refuses more of them than a node has.
        line += ["--overcommit"]
    else:
        line += [f"--cpus-per-task={layout.threads_per_rank}"]
    line += [f"--distribution=block:{pinning.distribution}"]
    per_socket = pinning.ranks_per_socket
    line += [f"--ntasks-per-socket={per_socket}"] if per_socket else []
    line += [f"--nodelist={fold(node.name for node in job.used)}"]
    line += [f"--cpu-bind={_BOUND.get(pinning.binding, 'none')}"] if binds else []
    line += ["--kill-on-bad-exit=1", *([f"--chdir={job.cwd}"] if job.cwd else [])]
    # Through env(1): --export splits its list at commas, which values may contain.
    variables = {**mpi.settings(job), **job.env}
    setting = (f"{name}={value}" for name, value in variables.items())
    return [*line, *before, "env", *setting, *job.argv]
