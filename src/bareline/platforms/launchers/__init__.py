"""Launchers: one module per MPI library, and Slurm's own."""

from bareline.platforms.launchers.installation import (
    LAUNCHERS,
    MpiInstallation,
    find_mpi,
    identify,
    launcher_names,
    mpi_facts,
)
from bareline.platforms.launchers.job import Job, Launcher, Network, Transport
from bareline.platforms.launchers.srun import srun_argv

__all__ = [
    "LAUNCHERS",
    "Job",
    "Launcher",
    "MpiInstallation",
    "Network",
    "Transport",
    "find_mpi",
    "identify",
    "launcher_names",
    "mpi_facts",
    "srun_argv",
]
