"""Checks, by trying, which namespaces, VMs, containers and file systems work."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from bareline.doctor.check import Health, HostCheck, ask, judged, refused
from bareline.doctor.programs import find_program, program
from bareline.host.cache import cache_folder
from bareline.host.tools import install_hint, package_hint
from bareline.platforms.hosts.layers.container.running import check_runtime
from bareline.platforms.hosts.layers.container.runtimes import runtimes as known_runtimes
from bareline.platforms.hosts.layers.filesystem.options import (
    FileSystem,
    Gluster,
    Loop,
    Nfs,
    Tmpfs,
    check_here,
)
from bareline.platforms.localhost.netns.namespaces import Privilege, find_privilege
from bareline.vocabulary.errors import BarelineError, PlatformError
from bareline.vocabulary.units import listing

_KVM = Path("/dev/kvm")
_KVM_GET_API_VERSION = 0xAE00
_KVM_API_VERSION = 12

#: A script that tries the kernel features for a rate-limited link, and prints those that work.
_LINKS = """
ip link add bl0 type veth peer name bl1 && echo veth
ip link add bl2 type bridge && ip link set bl1 master bl2 && echo bridge
tc qdisc add dev bl0 root tbf rate 1gbit burst 128k latency 10ms && echo tbf
tc qdisc del dev bl0 root 2>/dev/null
tc qdisc add dev bl0 root handle 1: htb default 1 &&
tc class add dev bl0 parent 1: classid 1:1 htb rate 10gbit quantum 200000 && echo htb
tc qdisc del dev bl0 root 2>/dev/null
tc qdisc add dev bl0 root netem delay 1ms && echo netem
"""
_PARTS = (
    ("veth", "virtual links", "veth", Health.MISSING),
    ("bridge", "bridge", "bridge", Health.MISSING),
    ("htb", "shaping (htb)", "sch_htb", Health.MISSING),
    ("tbf", "shaping (tbf)", "sch_tbf", Health.WARN),
    ("netem", "added delay (netem)", "sch_netem", Health.WARN),
)


def namespaces() -> Iterable[HostCheck]:
    """Check that network namespaces can be made, and that links in them can have a limited rate."""
    privilege = find_privilege()
    root = privilege is Privilege.ROOT
    spoken = "root" if root else "an ordinary user, in a user namespace"
    yield HostCheck("namespaces", Health.OK, f"can be made as {spoken}")
    finished = ask(
        ["unshare", *privilege.option("--map-root-user"), "--net", "--", "sh", "-c", _LINKS]
    )
    works = set(finished.stdout.split())
    for word, name, module, status in _PARTS:
        refusal = f"the kernel refuses it ({finished.why})"
        hint = f"load the kernel module as root: `modprobe {module}`"
        yield judged(name, word in works, refusal, "works", hint, ill=status)


def guests() -> Iterable[HostCheck]:
    """Check for the programs that virtual machines need."""
    yield program("qemu-system-x86_64", title="QEMU")
    yield program("qemu-img")
    yield program("libvirtd", title="libvirt")
    yield judged(
        "libvirt-python",
        find_spec("libvirt"),
        "the Python package is not installed",
        "installed",
        f"run `{sys.executable} -m pip install libvirt-python` "
        f"(needs libvirt-dev: {package_hint('libvirt-dev pkg-config')})",
        ill=Health.MISSING,
    )
    yield program("mmdebstrap")
    if os.geteuid() != 0:
        yield HostCheck(
            "root",
            Health.WARN,
            "bareline's own libvirt is started as root",
            "run bareline as root for platforms of virtual machines",
        )


def kvm() -> Iterable[HostCheck]:
    """Check that the kernel has a hypervisor.

    No guest is booted. If a run has tried to boot a guest before, its result is used.
    """
    from bareline.platforms.made.vm.preflight import known_verdict, module_behind

    verdict = known_verdict(cache_folder())
    problem = _kvm_problem() if verdict is None else verdict.reason
    module = module_behind()
    behind = f"{_KVM} by {module}" if module else str(_KVM)
    seen = "; a guest was seen to boot"
    yield judged(
        "KVM",
        not problem,
        f"only emulated guests, which are slow and of no use for compute benchmarks ({problem})",
        behind + (seen if verdict else " answers; the first run boots a guest to be sure"),
        _kvm_hint(module),
    )


def _kvm_problem() -> str:
    try:
        with _KVM.open("rb+", buffering=0) as file:
            answer = fcntl.ioctl(file, _KVM_GET_API_VERSION)
    except OSError as error:
        return f"{_KVM} cannot be used: {error.strerror}"
    return "" if answer == _KVM_API_VERSION else f"{_KVM} speaks version {answer} of its interface"


def _kvm_hint(module: str) -> str:
    if not _KVM.exists():
        return (
            "switch virtualization on in the firmware (or nested virtualization in the host) and "
            "load kvm_intel or kvm_amd"
        )
    if module == "kvm_pvm":
        return (
            "measure guests on a machine with kvm_intel or kvm_amd, or give a kernel made for "
            'kvm_pvm: `image = { path = ..., kernel = PATH }` with acceleration = "kvm"'
        )
    if not os.access(_KVM, os.R_OK | os.W_OK):
        return "join its group: `usermod -aG kvm $USER`, then log in again"
    return "measure guests on a machine that is not itself a guest"


def adapters() -> Iterable[HostCheck]:
    """Check for RDMA devices, adapters with virtual functions, and the IOMMU."""
    lost = Health.MISSING
    devices = ", ".join(sorted(path.name for path in Path("/sys/class/infiniband").glob("*")))
    yield judged("RDMA devices", devices, "none: no InfiniBand, no RoCE", devices, ill=lost)
    able = []
    for path in sorted(Path("/sys/class/net").glob("*/device/sriov_totalvfs")):
        total = path.read_text(encoding="ascii").strip()
        used = path.with_name("sriov_numvfs").read_text(encoding="ascii").strip()
        if total != "0":
            able.append(f"{path.parent.parent.name} ({used} of {total} functions made)")
    given = ", ".join(able)
    yield judged("SR-IOV adapters", able, "no adapter has virtual functions", given, ill=lost)
    groups = list(Path("/sys/kernel/iommu_groups").glob("*"))
    yield judged(
        "IOMMU",
        groups,
        "off: no device can be passed through to a guest",
        f"{len(groups)} groups",
        "boot with intel_iommu=on or amd_iommu=on, and switch it on in the firmware",
        ill=lost,
    )


def runtimes() -> Iterable[HostCheck]:
    """Yield a check for each installed container runtime, and one check for all missing ones."""
    missing = []
    for runtime in known_runtimes().values():
        if find_program(runtime.program) is None:
            missing.append(runtime.title)
            continue
        check = program(runtime.program, title=runtime.title)
        if check.status is Health.OK:
            try:
                check_runtime(runtime)
            except PlatformError as error:
                detail = error.what.removeprefix(f"{runtime.title} ")
                hint = error.hint or ""
                check = HostCheck(runtime.title, Health.WARN, detail, hint)
        yield check
    if missing:
        detail = f"not installed: {listing(missing)}"
        usual = known_runtimes()["bwrap"]
        other = "install the runtime of your site, if a platform is to use it"
        hint = install_hint(usual.program) if usual.title in missing else other
        yield HostCheck("others", Health.MISSING, detail, hint)


_FILE_SYSTEMS: tuple[FileSystem, ...] = (
    Tmpfs(type="tmpfs"),
    Loop(type="loop-ext4"),
    Loop(type="loop-xfs"),
    Loop(type="loop-btrfs"),
    Gluster(type="gluster"),
    Nfs(type="nfs"),
)


def file_systems() -> Iterable[HostCheck]:
    """Check for each kind of file system whether hosts in namespaces can mount it."""
    for chosen in _FILE_SYSTEMS:
        try:
            check_here(chosen, root=os.geteuid() == 0, user_namespace=True, network=True)
        except BarelineError as error:
            yield refused(chosen.type, error)
        else:
            yield HostCheck(chosen.type, Health.OK, "can be mounted")
