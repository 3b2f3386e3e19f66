"""Find an MPI library and give the command line with which it starts a job.

Each flavour is one small class in `LAUNCHERS`; none of them starts anything. Ranks are always laid
node by node: the first `Layout.ranks_per_node` ranks on the first node, and so on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from bareline.errors import PlatformError, ToolMissing
from bareline.model import Layout, Scalar
from bareline.platforms.hosts import Node
from bareline.tools import package_hint

#: How ranks talk: as the library chooses, over shared memory only, or over TCP only, between the
#: ranks of one node too.
Transport = Literal["auto", "shm", "tcp"]
#: Whether the library binds ranks to cores, or the kernel moves them as it likes.
Binding = Literal["none", "core"]

_VERSION_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The one network that a job's messages and its launcher may use.

    Parameters
    ----------
    device
        Name of the network interface on every node.
    subnet
        Its addresses, e.g. ``10.94.0.0/24``.
    launch_address
        Address under which the nodes reach the place where the launcher runs.
    """

    device: str
    subnet: str
    launch_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What an MPI job is, free of any launcher.

    Parameters
    ----------
    nodes
        At least as many as the layout has; the first ones are used.
    env
        Variables set for every rank.
    cwd
        Working directory of every rank.
    agent
        Program that takes the place of ssh: ``agent HOST COMMAND...``.
    as_root
        The launcher runs as root, which Open MPI wants confirmed.
    crowded
        Ranks of different nodes share cores, as they do on namespaces of one machine.
    session_folder
        Folder in memory, on every node, for what the library would otherwise leave in /tmp and
        /dev/shm when it is killed.
    """

    argv: Sequence[str]
    layout: Layout
    nodes: Sequence[Node]
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    cwd: str | None = None
    transport: Transport = "auto"
    binding: Binding = "none"
    network: Network | None = None
    agent: str | None = None
    as_root: bool = False
    crowded: bool = False
    session_folder: str | None = None

    @property
    def used(self) -> Sequence[Node]:
        """The nodes that get ranks."""
        return self.nodes[: self.layout.nodes]

    @property
    def cores(self) -> int:
        """Cores of the smallest node that is used."""
        return min(node.cores for node in self.used)

    @property
    def oversubscribed(self) -> bool:
        """Tell whether ranks have to share a core on some node."""
        return self.layout.ranks_per_node > self.cores


@dataclass(frozen=True, slots=True)
class MpiInstallation:
    """An MPI library with its launcher and, where installed, its C compiler wrapper.

    Parameters
    ----------
    flavour
        A key of `LAUNCHERS`.
    version
        As the launcher prints it, e.g. ``4.1.4``.
    mpirun
        Path of the launcher.
    mpicc
        Path of the compiler wrapper, None when only the runtime is installed.
    """

    flavour: str
    version: str
    mpirun: str
    mpicc: str | None = None

    @property
    def title(self) -> str:
        """Name and version for people."""
        return f"{LAUNCHERS[self.flavour].title} {self.version}"

    def argv(
        self,
        argv: Sequence[str],
        layout: Layout,
        nodes: Sequence[Node],
        env: Mapping[str, str],
        transport: Transport = "auto",
        *,
        binding: Binding = "none",
        network: Network | None = None,
        agent: str | None = None,
        cwd: str | None = None,
        as_root: bool | None = None,
        crowded: bool = False,
        session_folder: str | None = None,
    ) -> list[str]:
        """Give the launcher's command line; see `Job` for the parameters.

        `as_root` is by default whether this process is root.
        """
        job = Job(
            argv=argv,
            layout=layout,
            nodes=nodes,
            env=env,
            cwd=cwd,
            transport=transport,
            binding=binding,
            network=network,
            agent=agent,
            as_root=os.geteuid() == 0 if as_root is None else as_root,
            crowded=crowded,
            session_folder=session_folder,
        )
        return LAUNCHERS[self.flavour](self).argv(job)


class Launcher(ABC):
    """How one MPI library starts jobs.

    Attributes
    ----------
    title
        Name for people.
    packages
        Debian packages that bring it, empty when Debian has none.
    """

    title: ClassVar[str]
    packages: ClassVar[str]

    def __init__(self, mpi: MpiInstallation) -> None:
        self.mpi = mpi

    @abstractmethod
    def argv(self, job: Job) -> list[str]:
        """Give the command line of a job."""

    @abstractmethod
    def settings(self, job: Job) -> dict[str, str]:
        """Give the environment that makes the library use the job's transport and network."""


class OpenMpi(Launcher):
    """Open MPI 4 (orterun) and 5 (prterun)."""

    title = "Open MPI"
    packages = "openmpi-bin libopenmpi-dev"

    @property
    def _major(self) -> int:
        return int(self.mpi.version.partition(".")[0])

    def argv(self, job: Job) -> list[str]:
        """Give the command line of a job."""
        ranks = job.layout.ranks_per_node
        slots = job.cores if job.oversubscribed else ranks
        mapping = f"ppr:{ranks}:node"
        if job.binding == "core" and not job.oversubscribed and job.layout.threads_per_rank > 1:
            mapping += f":PE={job.layout.threads_per_rank}"
        if job.oversubscribed:
            mapping += ":OVERSUBSCRIBE"
        line = [self.mpi.mpirun, *(["--allow-run-as-root"] if job.as_root else [])]
        line += ["--host", ",".join(f"{node.address}:{slots}" for node in job.used)]
        line += ["-np", str(job.layout.ranks), "--map-by", mapping]
        line += ["--bind-to", "none" if job.oversubscribed else job.binding]
        for name, value in self._parameters(job).items():
            line += ["--mca", name, value]
        for name, value in self._daemon_parameters(job).items():
            line += ["--mca" if self._major < 5 else "--prtemca", name, value]
        for name, value in job.env.items():
            line += ["-x", f"{name}={value}"]
        return [*line, *(["--wdir", job.cwd] if job.cwd else []), *job.argv]

    def settings(self, job: Job) -> dict[str, str]:
        """Give the environment that makes the library use the job's transport and network."""
        return {f"OMPI_MCA_{key}": value for key, value in self._parameters(job).items()}

    def _parameters(self, job: Job) -> dict[str, str]:
        shm = "vader" if self._major < 5 else "sm"
        parameters = {"btl_base_warn_component_unused": "0"}
        if job.oversubscribed or job.crowded:
            # Spinning while another rank holds the core makes a message wait for the scheduler:
            # 4 ms instead of 2 us. The library notices this by itself on the launching node only.
            parameters["mpi_yield_when_idle"] = "1"
        if job.session_folder is not None:
            parameters[f"btl_{shm}_backing_directory"] = job.session_folder
        if job.transport == "shm":
            return {**parameters, "pml": "ob1", "btl": f"self,{shm}"}
        if job.transport == "tcp":
            # Windows of one node would go through shared memory by themselves.
            parameters |= {"pml": "ob1", "btl": "self,tcp", "osc": "^sm"}
        elif job.network is not None:
            parameters |= {"pml": "ob1", "btl": f"self,{shm},tcp"}
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
            parameters |= {f"{shell}_agent": job.agent, f"{shell}_no_tree_spawn": "1"}
        if job.session_folder is not None:
            parameters["orte_tmpdir_base" if old else "prte_tmpdir_base"] = job.session_folder
        if job.network is not None:
            parameters["oob_tcp_if_include" if old else "prte_if_include"] = job.network.subnet
        return parameters


class _Hydra(Launcher):
    """The process manager of MPICH and of what descends from it.

    Attributes
    ----------
    starter
        The option that says how processes are started on nodes.
    """

    starter: ClassVar[str]

    def argv(self, job: Job) -> list[str]:
        """Give the command line of a job."""
        line = [self.mpi.mpirun, "-hosts", ",".join(node.address for node in job.used)]
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


class Mpich(_Hydra):
    """MPICH with its Hydra process manager, over UCX (Debian 12) or libfabric.

    It has no way to make ranks that share a core yield it: they wait for the scheduler's tick.
    Versions before 4.2 over UCX and TCP may, now and then, never return from MPI_Finalize: a rank
    that is through blocks in a barrier of the process manager, while another one still waits for
    its answer (pmodels/mpich pull request 6596). Programs avoid it by a barrier and a pause
    before MPI_Finalize; a trial that meets it ends at its time limit.
    """

    title = "MPICH"
    packages = "mpich libmpich-dev"
    starter = "-launcher"

    def binding(self, job: Job) -> list[str]:
        """Bind to whole cores, or say that nothing is bound."""
        bound = job.binding == "core" and not job.oversubscribed
        return ["-bind-to", f"core:{job.layout.threads_per_rank}" if bound else "none"]

    def settings(self, job: Job) -> dict[str, str]:
        """Give the environment that makes the library use the job's transport and network.

        Debian's library hands messages inside a node to UCX, so UCX_TLS decides. NOLOCAL also
        keeps collectives and windows from sharing memory, but alone it does not: UCX then finds
        its own shared memory. The FI variables say the same to a library built on libfabric.
        """
        settings = {}
        if job.transport == "shm":
            settings = {"UCX_TLS": "self,sm", "FI_PROVIDER": "shm"}
        elif job.transport == "tcp":
            settings = {"UCX_TLS": "self,tcp", "FI_PROVIDER": "tcp", "MPIR_CVAR_NOLOCAL": "1"}
        elif job.network is not None:
            settings = {"UCX_TLS": "self,sm,tcp", "FI_PROVIDER": "tcp"}
        if job.network is not None:
            settings |= {"UCX_NET_DEVICES": job.network.device, "FI_TCP_IFACE": job.network.device}
        elif job.transport == "tcp" and job.layout.nodes == 1:
            settings |= {"UCX_NET_DEVICES": "lo", "FI_TCP_IFACE": "lo"}
        return settings


class IntelMpi(_Hydra):
    """Intel MPI 2019 and later: Hydra with options of its own, over libfabric."""

    title = "Intel MPI"
    packages = ""
    starter = "-bootstrap"

    def settings(self, job: Job) -> dict[str, str]:
        """Give the environment that makes the library use the job's transport and network."""
        # A batch system's own placement would otherwise override -ppn.
        settings = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0", "I_MPI_PIN": "0"}
        if job.binding == "core" and not job.oversubscribed:
            domain = str(job.layout.threads_per_rank)
            settings |= {"I_MPI_PIN": "1", "I_MPI_PIN_CELL": "core", "I_MPI_PIN_DOMAIN": domain}
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


LAUNCHERS: Mapping[str, type[Launcher]] = MappingProxyType(
    {"openmpi": OpenMpi, "mpich": Mpich, "intel": IntelMpi}
)


def srun_argv(
    job: Job, mpi: MpiInstallation, *, srun: str = "srun", plugin: str = "pmix"
) -> list[str]:
    """Give the command line with which Slurm starts a job inside an allocation.

    Parameters
    ----------
    plugin
        The interface between Slurm and the library: ``pmix`` for Open MPI, ``pmi2`` for an MPICH
        or Intel MPI that was built without PMIx.
    """
    layout = job.layout
    line = [srun, f"--mpi={plugin}", f"--nodes={layout.nodes}", f"--ntasks={layout.ranks}"]
    line += [f"--ntasks-per-node={layout.ranks_per_node}"]
    line += [f"--cpus-per-task={layout.threads_per_rank}", "--distribution=block:block"]
    line += [f"--nodelist={','.join(node.name for node in job.used)}"]
    if job.oversubscribed:
        line += ["--overcommit"]
    line += ["--cpu-bind=" + ("cores" if job.binding == "core" else "none"), "--kill-on-bad-exit=1"]
    if job.cwd:
        line += [f"--chdir={job.cwd}"]
    # Through env(1): --export splits its list at commas, which values may hold.
    variables = {**LAUNCHERS[mpi.flavour](mpi).settings(job), **job.env}
    return [*line, "env", *(f"{name}={value}" for name, value in variables.items()), *job.argv]


# Detection ---------------------------------------------------------------------------------------

_SIGNATURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("openmpi", re.compile(r"\(Open ?(?:MPI|RTE)\)\s+v?(\d[\w.]*)")),
    ("intel", re.compile(r"Intel\(R\) MPI Library.*?Version\s+(\d[\w.]*)", re.DOTALL)),
    ("mpich", re.compile(r"HYDRA build details:\s+Version:\s+(\d[\w.]*)")),
)


def identify(text: str) -> tuple[str, str] | None:
    """Read flavour and version from what ``mpirun --version`` printed; None when unknown."""
    for flavour, pattern in _SIGNATURES:
        if match := pattern.search(text):
            return flavour, match[1].rstrip(".")
    return None


def find_mpi(choice: str = "auto") -> MpiInstallation:
    """Find an MPI library on this machine.

    Parameters
    ----------
    choice
        ``auto`` (what ``mpirun`` is), a flavour, or the path of a launcher or of the folder that
        it was installed into.

    Raises
    ------
    ToolMissing
        There is none, or not the one that was asked for.
    PlatformError
        The given path is not an MPI launcher that bareline knows.
    """
    if choice == "auto" or choice in LAUNCHERS:
        for path in _candidates(choice):
            found = _inspect(path)
            if found is not None and choice in ("auto", found.flavour):
                return found
        raise _missing(choice)
    given = Path(choice).expanduser()
    for candidate in (given, given / "bin" / "mpirun", given / "mpirun"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            found = _inspect(str(candidate))
            if found is not None:
                return found
    raise PlatformError(
        f"'{choice}' is not the launcher of Open MPI, MPICH or Intel MPI",
        where="mpi",
        hint="give auto, openmpi, mpich, intel or the path of mpirun",
    )


def mpi_facts(choice: str, transport: Transport) -> dict[str, Scalar]:
    """Describe how MPI runs on this machine; nothing when there is no library."""
    try:
        mpi = find_mpi(choice)
    except PlatformError:
        return {}
    return {"mpi.flavour": mpi.flavour, "mpi.version": mpi.version, "mpi.transport": transport}


def _candidates(choice: str) -> Iterator[str]:
    """List the launchers on the path, those that say their flavour in their name first."""
    named = {"openmpi": ("mpirun.openmpi",), "mpich": ("mpirun.mpich", "mpiexec.hydra")}
    if choice == "auto":
        names: tuple[str, ...] = ("mpirun", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra")
    else:
        names = (*named.get(choice, ()), "mpirun", "mpiexec")
    for name in names:
        if path := shutil.which(name):
            yield path


@cache
def _inspect(mpirun: str) -> MpiInstallation | None:
    """Ask a launcher what it is; once per process."""
    try:
        done = subprocess.run(
            [mpirun, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    known = identify(done.stdout + done.stderr)
    if known is None:
        return None
    flavour, version = known
    return MpiInstallation(flavour, version, mpirun, _compiler_beside(mpirun, flavour))


def _compiler_beside(mpirun: str, flavour: str) -> str | None:
    """Find the compiler wrapper that belongs to a launcher.

    Debian has both libraries side by side under ``mpicc.openmpi`` and ``mpicc.mpich``, and a plain
    ``mpicc`` that may belong to the other one.
    """
    names = {"intel": ("mpiicx", "mpiicc", "mpicc")}.get(flavour, (f"mpicc.{flavour}", "mpicc"))
    for name in names:
        candidate = Path(mpirun).parent / name
        if os.access(candidate, os.X_OK):
            return str(candidate)
    return None


def _missing(choice: str) -> ToolMissing:
    if choice == "auto":
        what, launcher = "no MPI library found", LAUNCHERS["openmpi"]
    else:
        launcher = LAUNCHERS[choice]
        what = f"{launcher.title} is not installed"
    if launcher.packages:
        hint = package_hint(launcher.packages)
    else:
        hint = "install it and give the path of its mpirun as `mpi`"
    return ToolMissing(what, hint=hint)
