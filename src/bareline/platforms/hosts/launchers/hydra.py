"""The process manager Hydra, and the two MPI libraries that use it: MPICH and Intel MPI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from bareline.platforms.hosts.launchers.job import Job, Launcher


class Hydra(Launcher):
    """The process manager of MPICH and of its descendants.

    - `starter`: the option that chooses how processes are started on nodes.
    - `ways`: the environment for each transport; the key ``network`` is for a job that may only use
      one network.
    - `devices`: the variables that name the network's device.
    """

    starter: ClassVar[str]
    ways: ClassVar[Mapping[str, Mapping[str, str]]]
    devices: ClassVar[tuple[str, ...]] = ("FI_TCP_IFACE",)

    def argv(self, job: Job) -> list[str]:
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
        """Return the options that bind ranks to cores; empty if the environment does this."""
        return []

    def settings(self, job: Job) -> dict[str, str]:
        way = "network" if job.transport == "auto" and job.network else job.transport
        settings = dict(self.ways.get(way, {}))
        if job.network is not None:
            settings |= dict.fromkeys(self.devices, job.network.device)
        elif job.transport == "tcp" and job.layout.nodes == 1:
            settings |= dict.fromkeys(self.loopback_devices(), "lo")
        return settings

    def loopback_devices(self) -> tuple[str, ...]:
        """Return the variables that keep a job on one node to the loopback device."""
        return self.devices


class Mpich(Hydra):
    """MPICH with its Hydra process manager, over UCX (Debian 12) or libfabric.

    If ranks share a core, a rank of MPICH that waits for a message keeps the core until the
    scheduler's next tick. In versions before 4.2 over UCX and TCP, MPI_Finalize sometimes never
    returns: a rank that has finished blocks in a barrier of the process manager, while another rank
    still waits for an answer of that rank (pmodels/mpich pull request 6596). The native programs
    avoid the deadlock by a barrier and a pause before MPI_Finalize; a trial in which the deadlock
    occurs ends at its time limit.

    Debian's library hands messages inside a node to UCX, so UCX_TLS selects their transport.
    MPIR_CVAR_NOLOCAL stops collectives and windows from using shared memory. This variable alone is
    not enough, because UCX then uses shared memory of its own. On a library built on libfabric,
    FI_PROVIDER has the effect of UCX_TLS.
    """

    title = "MPICH"
    packages = "mpich libmpich-dev"
    signature = re.compile(r"HYDRA build details:\s+Version:\s+(\d[\w.]*)")
    library = re.compile(r"MPICH Version:\s+(\d[\w.]*)")
    launchers = ("mpirun.mpich", "mpiexec.hydra")
    compilers = ("mpicc.mpich", "mpicc")
    starter = "-launcher"
    ways: ClassVar = {
        "shm": {"UCX_TLS": "self,sm", "FI_PROVIDER": "shm"},
        "tcp": {"UCX_TLS": "self,tcp", "FI_PROVIDER": "tcp", "MPIR_CVAR_NOLOCAL": "1"},
        "network": {"UCX_TLS": "self,sm,tcp", "FI_PROVIDER": "tcp"},
    }
    devices = ("UCX_NET_DEVICES", "FI_TCP_IFACE")

    def loopback_devices(self) -> tuple[str, ...]:
        """Return the variables that name the loopback device, without UCX's variable for MPICH 5.

        The UCX of MPICH 5 may refuse connections over loopback. Without the variable, UCX addresses
        the ranks by another device, whose packets the kernel also sends over loopback (openucx/ucx
        pull request 11202).
        """
        major = self.version.partition(".")[0]
        return self.devices if major in ("3", "4") else ("FI_TCP_IFACE",)

    def binding(self, job: Job) -> list[str]:
        """Return the options that bind ranks, and that map ranks to cores in order.

        If ranks are bound to sockets and the option for the mapping is missing, Hydra places
        consecutive ranks on different sockets.
        """
        pinning = job.pinning
        if pinning.binding == "none":
            return ["-bind-to", "none"]
        dealt = "socket" if pinning.distribution == "cyclic" else pinning.domain
        if pinning.binding in ("core", "hwthread"):  # in the order of cores goes without saying
            mapping = ["-map-by", dealt] if dealt else []
            return ["-bind-to", f"{pinning.binding}:{job.layout.threads_per_rank}", *mapping]
        return ["-bind-to", pinning.binding, "-map-by", dealt or "core"]


class IntelMpi(Hydra):
    """Intel MPI 2019 and later: Hydra with Intel's own options, over libfabric.

    Collectives use shared memory inside a node, whatever the fabric is, unless settings force them
    to use messages. An MPI_Allreduce of 8 bytes over TCP took 0.5 us with shared memory, and 11 us
    with messages.
    """

    title = "Intel MPI"
    packages = ""
    signature = re.compile(r"Intel\(R\) MPI Library.*?Version\s+(\d[\w.]*)", re.DOTALL)
    library = re.compile(r"Intel\(R\) MPI Library (\d[\w.]*)")
    #: Programs are compiled by the machine's cc, so its wrapper of gcc comes before the wrappers of
    #: icx.
    compilers = ("mpicc", "mpiicx", "mpiicc")
    starter = "-bootstrap"
    ways: ClassVar = {
        "shm": {"I_MPI_FABRICS": "shm"},
        "tcp": {
            "I_MPI_FABRICS": "ofi",
            "FI_PROVIDER": "tcp",
            "I_MPI_COLL_INTRANODE": "pt2pt",
        },
        "network": {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp"},
    }

    def settings(self, job: Job) -> dict[str, str]:
        pinning = job.pinning
        # A batch system's own placement would otherwise override -ppn.
        settings = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0", "I_MPI_PIN": "0"}
        if pinning.binding in ("core", "hwthread"):
            cell = "core" if pinning.binding == "core" else "unit"
            settings |= {"I_MPI_PIN": "1", "I_MPI_PIN_CELL": cell}
            settings["I_MPI_PIN_DOMAIN"] = str(job.layout.threads_per_rank)
        elif pinning.binding != "none":
            settings |= {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": pinning.binding}
        if pinning.binding != "none" and (pinning.domain or pinning.distribution == "cyclic"):
            settings["I_MPI_PIN_ORDER"] = "scatter"
        return {**settings, **super().settings(job)}
