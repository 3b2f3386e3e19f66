"""The platform type ``job``: nodes of the batch job that bareline runs in, reached by ssh.

PBS, Torque, LSF and Flux give a job the list of its nodes; Slurm has a separate platform type.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from bareline.platforms.hosts.process import run_process
from bareline.platforms.reached.ssh.options import SshOptions
from bareline.platforms.reached.ssh.platform import SshPlatform
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import unfold
from bareline.vocabulary.platform import PlatformSpec

#: Variables that name a file with a node in each line, as often as it has processors for the job.
_FILES = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE")


def job_hosts() -> tuple[str, ...]:
    """Return the nodes of the batch job that contains this process, in the job's order.

    Each node is listed once.
    """
    for variable in _FILES:
        if variable in os.environ:
            try:
                words = Path(os.environ[variable]).read_text(encoding="utf-8").split()
            except OSError as error:
                raise PlatformError(
                    f"the list of the job's hosts cannot be read: {error.strerror} (the file in"
                    f" the variable {variable})",
                    where="job",
                ) from error
            return tuple(dict.fromkeys(words))
    if "LSB_HOSTS" in os.environ:
        return tuple(dict.fromkeys(os.environ["LSB_HOSTS"].split()))
    if "FLUX_URI" in os.environ:
        argv = ["flux", "getattr", "hostlist"]
        finished = run_process(argv, timeout_s=20.0)
        try:
            return tuple(unfold(finished.stdout.strip()))
        except ValueError as error:
            raise PlatformError(
                f"the output of `{' '.join(argv)}` is not a list of hosts: {error}", where="job"
            ) from error
    return ()


class JobOptions(SshOptions):
    """Options of the platform type ``job``, in addition to `SshOptions`.

    - `nodes`: number of nodes that `bareline submit` requests.
    """

    nodes: Annotated[int, Field(ge=1, le=10_000)] = 2

    @property
    def _named(self) -> tuple[str, ...]:
        return job_hosts()

    @property
    def node_count(self) -> int:
        return self.nodes

    @model_validator(mode="after")
    def _fits_together(self) -> JobOptions:
        if self.hosts or self.inventory is not None or self.group is not None:
            raise ValueError(
                "a platform of type job uses the hosts of the batch job; leave out `hosts`, "
                "`inventory` and `group`"
            )
        return self


class JobPlatform(SshPlatform):
    """The platform type of the nodes of the batch job in which bareline runs."""

    type_name = "job"
    summary = "nodes of the PBS, LSF or Flux job that bareline runs in, reached by ssh"
    options = JobOptions
    borrows = True

    @classmethod
    def check(cls, spec: PlatformSpec[SshOptions]) -> None:
        if not job_hosts():
            raise PlatformError(
                "bareline does not run inside a job of PBS, LSF or Flux",
                hint="use `bareline submit --with pbs` (or lsf, flux), or run it in a job script",
            )
        super().check(spec)


PLATFORM = JobPlatform
