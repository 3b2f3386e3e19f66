"""The external programs that bareline can use, and how to get them.

One table; whatever finds a program missing asks `install_hint` for the sentence to print.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Tool:
    """An external program.

    Parameters
    ----------
    name
        Name on the path.
    debian
        Debian and Ubuntu packages that bring it.
    fedora
        Packages of Fedora and its kin; empty where there is none that we know of.
    purpose
        What the program does, for people.
    part
        What of bareline needs it: a probe, a platform type, the build.
    """

    name: str
    debian: str
    fedora: str
    purpose: str
    part: str


_TABLE = (
    Tool("mpirun", "openmpi-bin", "openmpi", "MPI launcher", "every MPI probe"),
    Tool("mpicc", "libopenmpi-dev", "openmpi-devel", "MPI compiler for C", "native build"),
    Tool("mpifort", "libopenmpi-dev", "openmpi-devel", "MPI compiler for Fortran", "native build"),
    Tool("mpirun.openmpi", "openmpi-bin", "openmpi", "Open MPI's launcher", "every MPI probe"),
    Tool("mpirun.mpich", "mpich", "mpich", "MPICH's launcher", "every MPI probe"),
    Tool("mpicc.openmpi", "libopenmpi-dev", "openmpi-devel", "Open MPI's compiler", "native build"),
    Tool("mpicc.mpich", "libmpich-dev", "mpich-devel", "MPICH's compiler", "native build"),
    Tool("gcc", "gcc", "gcc", "C compiler", "native build"),
    Tool("gfortran", "gfortran", "gcc-gfortran", "Fortran compiler", "native build"),
    Tool("cmake", "cmake", "cmake", "configures the native programs", "native build"),
    Tool("ninja", "ninja-build", "ninja-build", "builds the native programs", "native build"),
    Tool("make", "make", "make", "builds the native programs", "native build"),
    Tool("pkg-config", "pkg-config", "pkgconf", "finds OpenBLAS and FFTW", "native build"),
    Tool("ip", "iproute2", "iproute", "makes and shows network links", "platform netns"),
    Tool("tc", "iproute2", "iproute-tc", "shapes links to a rate", "platform netns"),
    Tool("unshare", "util-linux", "util-linux", "makes namespaces", "platform netns"),
    Tool("nsenter", "util-linux", "util-linux", "enters namespaces", "platform netns"),
    Tool("ethtool", "ethtool", "ethtool", "reads and sets a NIC's offloads", "network facts"),
    Tool("lscpu", "util-linux", "util-linux", "describes the processor", "processor facts"),
    Tool(
        "taskset", "util-linux", "util-linux", "pins processes to cores", "platforms local, netns"
    ),
    Tool("numactl", "numactl", "numactl", "pins processes to NUMA nodes", "platform local"),
    Tool("dmidecode", "dmidecode", "dmidecode", "reads the memory modules", "memory facts"),
    Tool("nuttcp", "nuttcp", "nuttcp", "TCP and UDP throughput", "probe net.nuttcp"),
    Tool("iperf3", "iperf3", "iperf3", "TCP and UDP throughput", "probe net.iperf3"),
    Tool("ib_write_bw", "perftest", "perftest", "RDMA write bandwidth", "RDMA probes"),
    Tool("ib_write_lat", "perftest", "perftest", "RDMA write latency", "RDMA probes"),
    Tool("hpcc", "hpcc", "", "HPC Challenge suite", "probe hpcc"),
    Tool("fio", "fio", "fio", "storage benchmark", "probe io.fio"),
    Tool("ssh", "openssh-client", "openssh-clients", "reaches other hosts", "platforms ssh, vm"),
    Tool("ssh-keygen", "openssh-client", "openssh-clients", "makes guests' keys", "platform vm"),
    Tool("qemu-system-x86_64", "qemu-system-x86", "qemu-kvm", "runs guests", "platform vm"),
    Tool("qemu-img", "qemu-utils", "qemu-img", "makes guests' disks", "platform vm"),
    Tool("virsh", "libvirt-clients", "libvirt-client", "asks libvirt", "platform vm"),
    Tool("libvirtd", "libvirt-daemon-system", "libvirt-daemon", "runs guests", "platform vm"),
    Tool("virtlogd", "libvirt-daemon", "libvirt-daemon-log", "logs guests", "platform vm"),
    Tool("mmdebstrap", "mmdebstrap", "mmdebstrap", "builds guest images", "platform vm"),
    Tool("mke2fs", "e2fsprogs", "e2fsprogs", "makes guests' file systems", "platform vm"),
    Tool("depmod", "kmod", "kmod", "lists guests' kernel modules", "platform vm"),
    Tool("genisoimage", "genisoimage", "genisoimage", "makes seeds of cloud images", "platform vm"),
    Tool(
        "ganesha.nfsd",
        "nfs-ganesha nfs-ganesha-vfs",
        "nfs-ganesha nfs-ganesha-vfs",
        "exports folders to guests",
        "platform vm",
    ),
    Tool(
        "xmllint", "libxml2-utils", "libxml2", "checks machine definitions", "tests of platform vm"
    ),
    Tool("srun", "slurm-client", "slurm", "starts Slurm jobs", "platform slurm"),
    Tool("sbatch", "slurm-client", "slurm", "submits Slurm jobs", "platform slurm"),
    Tool("sinfo", "slurm-client", "slurm", "lists Slurm partitions", "platform slurm"),
    Tool("smpicc", "libsimgrid-dev", "", "compiles for SimGrid", "platform sim"),
    Tool("smpirun", "libsimgrid-dev", "", "simulates MPI programs", "platform sim"),
    Tool("chromium", "chromium", "chromium", "opens pages", "tests of the report"),
)

#: Every external program, by its name on the path.
TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in _TABLE})


def install_hint(tool: str) -> str:
    """Say how to get a program, as an imperative, e.g. ``install it with `apt-get install fio` ``.

    The command is the one of this machine's package system; where neither is known, both are
    named, because the program may be missing on another host.
    """
    known = TOOLS.get(tool)
    if known is None:
        return f"install '{tool}' and put it on the path"
    return package_hint(known.debian, known.fedora)


def package_hint(debian: str, fedora: str = "") -> str:
    """Say how to get packages that bring no program, e.g. libraries; see `install_hint`."""
    apt = f"apt-get install {debian}"
    dnf = f"dnf install {fedora}" if fedora else ""
    if shutil.which("apt-get"):
        commands = [apt]
    elif dnf and shutil.which("dnf"):
        commands = [dnf]
    else:
        commands = [command for command in (apt, dnf) if command]
    if os.geteuid() == 0:
        return "install it with " + " or ".join(f"`{command}`" for command in commands)
    if shutil.which("sudo"):
        return "install it with " + " or ".join(f"`sudo {command}`" for command in commands)
    return "ask your administrator to run " + " or ".join(f"`{command}`" for command in commands)
