"""Hydra, the process manager that MPICH and Intel MPI share."""

from __future__ import annotations

from typing import ClassVar

from bareline.platforms.launchers.job import Job, Launcher


class Hydra(Launcher):
    """The process manager of MPICH and of what descends from it.

    `starter`: the option that says how processes are started on nodes.
    """

    starter: ClassVar[str]

    def argv(self, job: Job) -> list[str]:
        """Give the command line of a job."""
        line = [self.mpirun, "-hosts", ",".join(node.address for node in job.used)]
        if job.agent is not None:
            line += [self.starter, "ssh", f"{self.starter}-exec", job.agent]
        elif job.layout.nodes == 1:
            line += [self.starter, "fork"]
        if job.network is not None:
            line += ["-localhost", job.network.launch_address]
        line += ["-ppn", str(job.layout.ranks_per_node), "-n", str(job.layout.ranks)]
        line += self.binding(job)
        for name, value in {**self.settings(job), **job.env}.items():
            line += ["-genv", name, value]
        return [*line, *(["-wdir", job.cwd] if job.cwd else []), *job.argv]

    def binding(self, job: Job) -> list[str]:
        """Give the options that bind ranks to cores, where the environment does not say it."""
        return []
