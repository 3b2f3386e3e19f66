"""Intel MPI."""

from __future__ import annotations

import re

from bareline.platforms.launchers.job import Job
from bareline.platforms.launchers.mpich import Hydra


class IntelMpi(Hydra):
    """Intel MPI 2019 and later: Hydra with options of its own, over libfabric."""

    title = "Intel MPI"
    packages = ""
    signature = re.compile(r"Intel\(R\) MPI Library.*?Version\s+(\d[\w.]*)", re.DOTALL)
    compilers = ("mpiicx", "mpiicc", "mpicc")
    starter = "-bootstrap"

    def settings(self, job: Job) -> dict[str, str]:
        """Give the environment that makes the library use the job's transport and network."""
        # A batch system's own placement would otherwise override -ppn.
        settings = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0", "I_MPI_PIN": "0"}
        settings |= _pinning(job)
        if job.transport == "shm":
            settings["I_MPI_FABRICS"] = "shm"
        elif job.transport == "tcp":
            settings |= {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}
        elif job.network is not None:
            settings |= {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp"}
        if job.network is not None:
            settings["FI_TCP_IFACE"] = job.network.device
        elif job.transport == "tcp" and job.layout.nodes == 1:
            settings["FI_TCP_IFACE"] = "lo"
        return settings


def _pinning(job: Job) -> dict[str, str]:
    """Give the variables that bind ranks."""
    asked = job.pinning
    if asked.binding == "none":
        return {}
    settings = {"I_MPI_PIN": "1"}
    if asked.binding in ("core", "hwthread"):
        settings["I_MPI_PIN_CELL"] = "core" if asked.binding == "core" else "unit"
        settings["I_MPI_PIN_DOMAIN"] = str(job.layout.threads_per_rank)
    else:
        settings["I_MPI_PIN_DOMAIN"] = asked.binding
    if asked.domain or asked.distribution == "cyclic":
        settings["I_MPI_PIN_ORDER"] = "scatter"
    return settings
