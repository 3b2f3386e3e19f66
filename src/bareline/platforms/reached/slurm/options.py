"""Options of nodes of a Slurm cluster."""

from __future__ import annotations

import shutil
from typing import Annotated, Literal

from pydantic import Field

from bareline.platforms.reached.remote.cluster import ClusterOptions
from bareline.platforms.reached.remote.native import Way

_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.,:&|*()\[\]=/@+-]+$", max_length=200)]


class SlurmOptions(ClusterOptions):
    """Options of a platform of nodes of a Slurm cluster.

    - `nodes`: number of nodes.
    - `allocation`: ``hold`` requests an allocation and keeps it for the whole run; ``inherit`` uses
      the allocation in which bareline itself runs, inside ``sbatch`` or ``salloc``.
    - `partition`, `account`, `qos`, `constraint`, `reservation`: values of the ``salloc`` options
      of these names.
    - `switch_count`: largest number of switches that connect the nodes, and the longest time to
      wait for such nodes, in the form of ``salloc --switches``: ``1@60``.
    - `exclusive`: whether Slurm starts no other jobs on the nodes.
    - `time_min`: time limit of an allocation in minutes; at its end a new allocation is requested.
    - `max_jobs`: limit for the number of allocations that one `run` or `continue` requests;
      unlimited by default.
    - `queue_s`: time limit in s for the wait in the queue.
    - `launcher`: ``srun``, or the MPI library's ``mpirun`` on the machine on which bareline runs.
    - `mpi_type`: the value of ``srun --mpi``: ``pmix`` for Open MPI, ``pmi2`` for an MPICH without
      PMIx.
    - `switches`: the nodes of each switch; by default from `scontrol show topology`.
    """

    nodes: Annotated[int, Field(ge=1, le=10_000)] = 2
    allocation: Literal["hold", "inherit"] = "hold"
    partition: _Word | None = None
    account: _Word | None = None
    qos: _Word | None = None
    constraint: _Word | None = None
    reservation: _Word | None = None
    switch_count: Annotated[str, Field(pattern=r"^[1-9]\d{0,3}(@[0-9:-]{1,20})?$")] | None = None
    exclusive: bool = True
    time_min: Annotated[int, Field(ge=1, le=525_600)] = 60
    max_jobs: Annotated[int, Field(ge=1)] | None = None
    queue_s: Annotated[float, Field(gt=0)] = 86_400.0
    launcher: Literal["srun", "mpirun"] = "srun"
    mpi_type: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")] = "pmix"
    native: Way = "shared"

    @property
    def node_count(self) -> int:
        return self.nodes

    @property
    def has_library_here(self) -> bool:
        """Whether this machine, a login node of the cluster, has the nodes' MPI library."""
        return self.native == "shared" and not self.wanted and shutil.which("mpirun") is not None

    def request(self) -> list[str]:
        """Return the options of ``salloc`` and ``sbatch`` that request the nodes."""
        words = [f"--nodes={self.nodes}", f"--time={self.time_min}"]
        for name in ("partition", "account", "qos", "constraint", "reservation"):
            value = getattr(self, name)
            if value is not None:
                words.append(f"--{name}={value}")
        words += [f"--exclude={self.exclude}"] if self.exclude else []
        words += [f"--switches={self.switch_count}"] if self.switch_count else []
        return [*words, "--exclusive"] if self.exclusive else words
