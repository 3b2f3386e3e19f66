"""Checks that this host meets the requirements of the options, and that its KVM works.

Even if ``/dev/kvm`` exists, every guest may die in early boot: for instance if this host is a
virtual machine on a hypervisor that does not support nesting. Therefore a test guest is booted. The
result is valid until the host is rebooted.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from bareline.host.load import memory_bytes
from bareline.host.locks import file_lock
from bareline.platforms.hosts.layers.filesystem.mounted import PROGRAM
from bareline.platforms.hosts.process import Finished, run_process
from bareline.platforms.made.vm.domain import Accelerator
from bareline.platforms.made.vm.hardware import Cpu, Image, Memory, SharedFolder, parse_cpu_set
from bareline.platforms.made.vm.image import AutoImage
from bareline.platforms.made.vm.kernel import File, archive
from bareline.platforms.made.vm.nic import Nic
from bareline.platforms.made.vm.options import VmOptions
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file

_PCI = Path("/sys/bus/pci/devices")
_NETWORK = Path("/sys/class/net")
_VIRTIOFSD = ("/usr/libexec/virtiofsd", "/usr/lib/qemu/virtiofsd", "/usr/lib/virtiofsd")
_MAKE_FUNCTIONS = "make some: `echo 2 > /sys/class/net/DEVICE/device/sriov_numvfs`"


@dataclass(frozen=True, slots=True)
class _Problem:
    """A missing requirement on the host, the option that has the requirement, and the next step."""

    text: str
    option: str
    hint: str | None


def check_host(options: VmOptions, vcpus: int) -> None:
    """Check that the host has all devices, files and programs that the options need."""
    for problem in chain(
        _of_processors(options, vcpus),
        _of_memory(options),
        _of_files(options),
        _of_nic(options.nic, options.guest_total),
    ):
        raise PlatformError(problem.text, where=problem.option, hint=problem.hint)


def _of_processors(options: VmOptions, vcpus: int) -> Iterator[_Problem]:
    allowed = os.sched_getaffinity(0)
    listed = ", ".join(map(str, sorted(allowed)))
    for cpu in sorted(_pinned_cpus(options.cpu) - allowed):
        text = f"this process may not use processor {cpu}"
        yield _Problem(text, "cpu", f"use some of {listed}")
    total = vcpus * options.guest_total
    if options.cpu.pin == "spread" and total > len(allowed):
        text = f"{total} virtual processors need a core each, but this process has {len(allowed)}"
        hint = 'use fewer guests, a smaller cpu.count, or pin = "none"'
        yield _Problem(text, "cpu.pin", hint)
    if options.acceleration == "kvm" and not Path("/dev/kvm").exists():
        hint = "load kvm_intel or kvm_amd, or enable virtualization in the firmware"
        yield _Problem("/dev/kvm does not exist", 'acceleration = "kvm"', hint)


def _pinned_cpus(cpu: Cpu) -> set[int]:
    """Return the host's processors that the options name."""
    texts = list(cpu.pin) if isinstance(cpu.pin, tuple) else []
    if cpu.emulator_pin:
        texts.append(cpu.emulator_pin)
    return set(chain.from_iterable(map(parse_cpu_set, texts)))


def _of_memory(options: VmOptions) -> Iterator[_Problem]:
    memory = options.memory
    guests = options.guest_total
    wanted_bytes = memory.size_bytes * guests
    host_bytes = memory_bytes()
    if wanted_bytes > host_bytes - (512 << 20):  # which the host itself keeps
        wanted = f"{guests} guests need {wanted_bytes >> 20} MiB"
        text = f"{wanted}, but the host has only {host_bytes >> 20} MiB"
        yield _Problem(text, "memory.size_bytes", "use fewer or smaller guests")
    if memory.huge_pages:
        yield from _of_huge_pages(memory, wanted_bytes // memory.huge_page_bytes)
    nodes = parse_cpu_set(memory.numa_nodes) if memory.numa_nodes else ()
    for node in nodes:
        if not Path(f"/sys/devices/system/node/node{node}").exists():
            text = f"the host has no NUMA node {node}"
            yield _Problem(text, "memory.numa_nodes", "see `numactl --hardware`")


def _of_huge_pages(memory: Memory, needed: int) -> Iterator[_Problem]:
    option = "memory.huge_pages"
    pages = f"/sys/kernel/mm/hugepages/hugepages-{memory.huge_page_bytes >> 10}kB"
    free = _number(Path(pages, "free_hugepages"))
    if free < needed:
        text = f"{needed} free huge pages of {memory.huge_pages} are needed, but only {free} exist"
        yield _Problem(text, option, f"reserve more: write their number to {pages}/nr_hugepages")
    if " hugetlbfs " not in Path("/proc/mounts").read_text(encoding="utf-8"):
        hint = "run `mount -t hugetlbfs hugetlbfs /dev/hugepages`"
        yield _Problem("no file system of huge pages is mounted", option, hint)


def _of_files(options: VmOptions) -> Iterator[_Problem]:
    """Yield the problems of a user's image, of shared folders and of their servers."""
    if isinstance(options.image, Image):
        for name in ("path", "kernel", "initrd"):
            path = getattr(options.image, name)
            if path and not Path(path).expanduser().is_file():
                text = f"there is no file '{path}'"
                yield _Problem(text, f"image.{name}", "give its full path")
    for share in options.shares:
        yield from _of_share(share)


def _of_share(share: SharedFolder) -> Iterator[_Problem]:
    if not Path(share.source).is_dir():
        yield _Problem(f"there is no folder '{share.source}'", "shares.source", None)
    if share.kind == "virtiofs" and not any(Path(path).exists() for path in _VIRTIOFSD):
        hint = 'install virtiofsd, or use kind = "9p"'
        yield _Problem("virtiofsd is not installed", "shares.kind", hint)
    if share.kind == "nfs" and shutil.which(PROGRAM) is None:
        text = "no NFS server that runs in a network of its own is installed"
        hint = 'install it with `apt-get install nfs-ganesha-vfs`, or use kind = "9p"'
        yield _Problem(text, "shares.kind", hint)


def _of_nic(nic: Nic, guests: int) -> Iterator[_Problem]:
    if nic.vhost and not Path("/dev/vhost-net").exists():
        text = "/dev/vhost-net does not exist"
        yield _Problem(text, "nic.vhost", "run `modprobe vhost_net`")
    if nic.device:
        yield from _of_adapter(nic, nic.device, guests)
    for address in nic.addresses:
        if not (_PCI / address).exists():
            text = f"the host has no device {address}"
            yield _Problem(text, "nic.addresses", "see `lspci -D`")
        if nic.attach == "vf" and not (_PCI / address / "physfn").exists():
            text = f"{address} is not a virtual function"
            yield _Problem(text, "nic.addresses", _MAKE_FUNCTIONS)
    if nic.passed_through and not any(Path("/sys/class/iommu").glob("*")):
        text = "the host has no IOMMU, without which hardware cannot be passed to a guest"
        hint = "enable it in the firmware and boot with intel_iommu=on or amd_iommu=on"
        yield _Problem(text, "nic.attach", hint)


def _of_adapter(nic: Nic, name: str, guests: int) -> Iterator[_Problem]:
    """Yield the problems of a network adapter of the host: its MTU, its virtual functions."""
    folder = _NETWORK / physical_function(name)
    if not folder.exists():
        text = f"the host has no network interface '{name}'"
        yield _Problem(text, "nic.device", "see `ip link`")
    mtu = _number(folder / "mtu")
    functions = _number(folder / "device" / "sriov_numvfs")
    if nic.mtu > mtu:
        text = f"an MTU of {nic.mtu} is above the MTU of {name} ({mtu})"
        hint = f"run `ip link set {name} mtu {nic.mtu}`, and set this MTU on the switch"
        yield _Problem(text, "nic.mtu", hint)
    if nic.attach == "vf" and functions < guests:
        text = f"{name} has {functions} virtual functions, but {guests} guests need one each"
        hint = f"run `echo {guests} > /sys/class/net/{name}/device/sriov_numvfs`"
        yield _Problem(text, "nic.device", hint)


def physical_function(device: str) -> str:
    """Return the named adapter; for ``auto``, the first adapter with virtual functions."""
    if device != "auto":
        return device
    for folder in sorted(_NETWORK.iterdir()):
        if _number(folder / "device" / "sriov_numvfs"):
            return folder.name
    raise PlatformError(
        "no adapter of this host has SR-IOV virtual functions",
        where="nic.device",
        hint=_MAKE_FUNCTIONS,
    )


def _number(path: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text(encoding="ascii"))
    return 0


_DEVICE = Path("/dev/kvm")
_MODULES = Path("/sys/module")
_WORD = "bareline-proof"
_TIMEOUT_S = 25.0
_INIT = f"""\
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
echo {_WORD} > /dev/console
/bin/busybox poweroff -f
"""


@dataclass(frozen=True, slots=True)
class KvmVerdict:
    """Whether a test guest booted with KVM; `reason` is the obstacle if it did not."""

    works: bool
    reason: str = ""


def module_behind() -> str:
    """Return the kernel module behind /dev/kvm, which runs guests; "" if unknown."""
    kinds = ("kvm_intel", "kvm_amd", "kvm_pvm")
    return next((name for name in kinds if (_MODULES / name).is_dir()), "")


def device_problem(*, own_kernel: bool = False) -> str:
    """Return the reason why KVM cannot work, or "".

    The check starts no test guest, so that KVM may still fail after the result "".

    - `own_kernel`: whether the user has chosen the guests' kernel for this machine.
    """
    if not _DEVICE.exists():
        return f"{_DEVICE} does not exist: no hardware virtualization, or its module is not loaded"
    if module_behind() == "kvm_pvm" and not own_kernel:
        return f"{_DEVICE} is provided by kvm_pvm, on which ordinary guest kernels do not boot"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"{_DEVICE} may not be opened by this user"
    return ""


def known_verdict(cache_folder: Path) -> KvmVerdict | None:
    """Return the result of an earlier test guest; None if no test guest was booted."""
    problem = device_problem()
    if problem:
        return KvmVerdict(False, problem)
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(_store(cache_folder).read_text(encoding="utf-8"))
        if stored.get("key") == _key():
            return KvmVerdict(**stored["verdict"])
    return None


def kvm_verdict(cache_folder: Path, image: AutoImage | None) -> KvmVerdict:
    """Return whether a guest boots with KVM, tested once per boot of the host.

    Without an image, the test is not possible, and the result is negative.
    """
    with file_lock(_store(cache_folder).with_suffix(".lock")):
        earlier = known_verdict(cache_folder)
        if earlier is not None:
            return earlier
        if image is None:
            return KvmVerdict(False, 'not tried yet: a platform with image = "auto" tries it')
        verdict = _try_guest(image)
        stored = {"key": _key(), "verdict": asdict(verdict)}
        replace_file(_store(cache_folder), json.dumps(stored), durable=False)
    return verdict


def choose_accelerator(
    wanted: str, cache_folder: Path, image: AutoImage | None, *, own_kernel: bool = False
) -> Accelerator:
    """Return the accelerator of guests for the option ``auto``, ``kvm`` or ``tcg``.

    If the user requests ``kvm`` and gives a kernel, KVM is used without a test, because another
    kernel may fail where the user's kernel works.
    """
    if wanted == "tcg":
        return "tcg"
    if wanted == "kvm" and own_kernel:
        problem = device_problem(own_kernel=True)
        verdict = KvmVerdict(not problem, problem)
    else:
        verdict = kvm_verdict(cache_folder, image)
    if verdict.works:
        return "kvm"
    if wanted == "kvm":
        raise PlatformError(
            f"guests do not run with KVM here: {verdict.reason}",
            where='acceleration = "kvm"',
            hint='use acceleration = "auto": it emulates the processor where KVM does not work',
        )
    return "tcg"


def _store(cache_folder: Path) -> Path:
    return cache_folder / "vm" / "kvm.json"


def _key() -> list[str]:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return [boot, qemu_version()]


def qemu_version() -> str:
    """Return the version of QEMU, in the words that QEMU prints."""
    ended = run_process(["qemu-system-x86_64", "--version"], timeout_s=_TIMEOUT_S)
    first_line, _, _ = ended.stdout.partition("\n")
    return first_line


def _try_guest(image: AutoImage) -> KvmVerdict:
    with tempfile.TemporaryDirectory(prefix="bareline-proof-") as name:
        initrd = Path(name) / "initrd"
        files = {
            "bin/busybox": File(image.busybox.read_bytes(), 0o755),
            "init": File(_INIT.encode(), 0o755),
        }
        replace_file(initrd, archive(files, ("dev",)), durable=False)
        argv = ["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-m", "256"]
        argv += ["-nodefaults", "-nographic", "-no-reboot", "-serial", "stdio"]
        argv += ["-kernel", str(image.kernel), "-initrd", str(initrd)]
        argv += ["-append", "console=ttyS0 panic=-1"]
        ended = run_process(argv, timeout_s=_TIMEOUT_S)
    if _WORD in ended.stdout:
        return KvmVerdict(True)
    return KvmVerdict(False, _why_no_guest(ended))


def _why_no_guest(ended: Finished) -> str:
    """Return the reason why QEMU ended without the output of a booted guest."""
    for line in ended.stderr.splitlines():
        if "KVM" in line or "kvm" in line:
            return f"a guest died at once: {line.strip()}"
    if ended.timed_out:
        return f"a guest printed nothing for {_TIMEOUT_S:.0f} s"
    output = ended.stderr.strip() or ended.stdout.strip() or "it printed nothing"
    return f"a guest ended early: {output.splitlines()[-1]}"
