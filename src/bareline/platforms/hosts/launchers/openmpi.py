"""The launchers of Open MPI."""

from __future__ import annotations

import re

from bareline.platforms.hosts.launchers.job import Job, Launcher


class OpenMpi(Launcher):
    """Open MPI 4 (orterun) and 5 (prterun)."""

    title = "Open MPI"
    packages = "openmpi-bin libopenmpi-dev"
    signature = re.compile(r"\(Open ?(?:MPI|RTE)\)\s+v?(\d[\w.]*)")
    library = re.compile(r"Open MPI v(\d[\w.]*\w)")
    launchers = ("mpirun.openmpi",)
    compilers = ("mpicc.openmpi", "mpicc")

    @property
    def _major(self) -> int:
        return int(self.version.partition(".")[0])

    def argv(self, job: Job) -> list[str]:
        slots = job.cores if job.oversubscribed else job.layout.ranks_per_node
        names = [node.address for node in job.used]
        if job.starts_on_first and self._major >= 5:
            # PRRTE 3.0 gives its own node, called by an address, one slot fewer than requested.
            names[0] = "localhost"
        line = [self.mpirun, *(["--allow-run-as-root"] if job.as_root else [])]
        line += ["--host", ",".join(f"{name}:{slots}" for name in names)]
        line += ["-np", str(job.layout.ranks), "--map-by", self._mapping(job)]
        line += ["--bind-to", self._named(job.pinning.binding)]
        line += ["--use-hwthread-cpus"] if job.pinning.binding == "hwthread" else []
        for name, value in self._parameters(job).items():
            line += ["--mca", name, value]
        for name, value in self._daemon_parameters(job).items():
            line += ["--mca" if self._major < 5 else "--prtemca", name, value]
        for name, value in job.env.items():
            line += ["-x", f"{name}={value}"]
        return [*line, *(["--wdir", job.cwd] if job.cwd else []), *job.argv]

    def _named(self, domain: str) -> str:
        """Return this version's name for a part of a node: version 5 calls a socket a package."""
        return "package" if domain == "socket" and self._major >= 5 else domain

    def _mapping(self, job: Job) -> str:
        pinning = job.pinning
        if pinning.distribution == "cyclic":
            mapping = self._named("socket")
        elif pinning.domain:
            mapping = f"ppr:{pinning.ranks_per_domain}:{self._named(pinning.domain)}"
        else:
            mapping = f"ppr:{job.layout.ranks_per_node}:node"
        threads = job.layout.threads_per_rank
        if pinning.binding in ("core", "hwthread") and threads > 1:
            mapping += f":PE={threads}"
        return mapping + (":OVERSUBSCRIBE" if job.oversubscribed else "")

    def settings(self, job: Job) -> dict[str, str]:
        return {f"OMPI_MCA_{key}": value for key, value in self._parameters(job).items()}

    def _parameters(self, job: Job) -> dict[str, str]:
        shm = "vader" if self._major < 5 else "sm"
        parameters = {"btl_base_warn_component_unused": "0"}
        if job.oversubscribed or job.crowded:
            # Spinning while another rank has the core delays a message until the scheduler acts:
            # 4 ms instead of 2 us. The library notices this by itself on the launching node only.
            parameters["mpi_yield_when_idle"] = "1"
        if job.session_folder is not None:
            parameters[f"btl_{shm}_backing_directory"] = job.session_folder
        if job.transport == "shm":
            return {**parameters, "pml": "ob1", "btl": f"self,{shm}"}
        if job.transport == "tcp":
            # Without `osc`, one-sided windows within a node would use shared memory.
            parameters |= {"pml": "ob1", "btl": "self,tcp", "osc": "^sm"}
        elif job.network is not None:
            parameters |= {"pml": "ob1", "btl": f"self,{shm},tcp"}
        elif job.layout.nodes == 1:
            # Ranks of one node use neither transport, but would listen on the machine's addresses.
            parameters["btl"] = "^tcp,ofi"
        if job.network is not None:
            parameters["btl_tcp_if_include"] = job.network.subnet
        elif job.transport == "tcp" and job.layout.nodes == 1:
            parameters["btl_tcp_if_include"] = "lo"
        return parameters

    def _daemon_parameters(self, job: Job) -> dict[str, str]:
        old = self._major < 5
        parameters: dict[str, str] = {}
        if job.agent is not None:
            shell = "plm_rsh" if old else "plm_ssh"
            # Daemons on other hosts end if none of the listed agents exists there, although they
            # never call an agent. `sh` exists everywhere.
            agents = f"{job.agent}:sh"
            parameters |= {f"{shell}_agent": agents, f"{shell}_no_tree_spawn": "1"}
        if job.session_folder is not None:
            parameters["orte_tmpdir_base" if old else "prte_tmpdir_base"] = job.session_folder
        if job.network is not None:
            parameters["oob_tcp_if_include" if old else "prte_if_include"] = job.network.subnet
        elif job.layout.nodes == 1 and old:
            # Daemons then announce the loopback address only, although they listen on all
            # addresses. Version 5 refuses this setting if there is another network.
            parameters["oob_tcp_if_include"] = "lo"
        return parameters
