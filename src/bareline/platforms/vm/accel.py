"""Whether this machine can really run guests with hardware virtualization.

``/dev/kvm`` may be there and every guest still die in early boot, for instance inside a virtual
machine whose own hypervisor does not nest. So a guest is tried; the answer is kept until the host
is started again.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from bareline.host.locks import file_lock
from bareline.platforms.process import local_environment, run_process
from bareline.platforms.vm.devices import Accelerator
from bareline.platforms.vm.image import AutoImage
from bareline.platforms.vm.kernel import File, archive
from bareline.vocabulary.errors import PlatformError

_DEVICE = Path("/dev/kvm")
_MODULES = Path("/sys/module")
#: What may stand behind the device.
_KINDS = ("kvm_intel", "kvm_amd", "kvm_pvm")
_WORD = "bareline-proof"
_TIMEOUT_S = 25.0
_INIT = f"""\
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
echo {_WORD} > /dev/console
/bin/busybox poweroff -f
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a guest was seen to boot with KVM; `reason` says why not."""

    works: bool
    reason: str = ""


def module_behind() -> str:
    """Name the kernel module that runs guests behind the device; empty where none is told."""
    return next((name for name in _KINDS if (_MODULES / name).is_dir()), "")


def device_problem(*, own_kernel: bool = False) -> str:
    """Say why KVM is out of the question without trying; empty when it is worth a try.

    - `own_kernel`: guests have a kernel that the user has chosen for this machine.
    """
    if not _DEVICE.exists():
        return f"{_DEVICE} does not exist: no hardware virtualization, or its module is not loaded"
    if module_behind() == "kvm_pvm" and not own_kernel:
        return (
            f"{_DEVICE} is that of kvm_pvm, which interprets kernels that are not made for it, "
            "and they never come up"
        )
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"{_DEVICE} may not be opened by this user"
    return ""


def known_verdict(cache_folder: Path) -> Verdict | None:
    """Give what is known without starting anything; None when it was never tried."""
    problem = device_problem()
    if problem:
        return Verdict(False, problem)
    try:
        stored = json.loads(_store(cache_folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Verdict(**stored["verdict"]) if stored.get("key") == _key() else None


def kvm_verdict(cache_folder: Path, image: AutoImage | None) -> Verdict:
    """Try a guest with KVM, once per start of the host.

    Without an image of bareline's own there is no kernel to try it with, and what is not proven
    is not used.
    """
    with file_lock(_store(cache_folder).with_suffix(".lock")):
        known = known_verdict(cache_folder)
        if known is not None:
            return known
        if image is None:
            return Verdict(False, 'not tried yet: a platform with image = "auto" tries it')
        verdict = _try_guest(image)
        stored = {"key": _key(), "verdict": asdict(verdict)}
        _store(cache_folder).write_text(json.dumps(stored), encoding="utf-8")
    return verdict


def choose_accelerator(
    wanted: str, cache_folder: Path, image: AutoImage | None, *, own_kernel: bool = False
) -> Accelerator:
    """Turn ``auto``, ``kvm`` or ``tcg`` into what guests are started with.

    Whoever asks for ``kvm`` with a kernel of their own has it: only that kernel could prove it.
    """
    if wanted == "tcg":
        return "tcg"
    if wanted == "kvm" and own_kernel:
        problem = device_problem(own_kernel=True)
        verdict = Verdict(not problem, problem)
    else:
        verdict = kvm_verdict(cache_folder, image)
    if verdict.works:
        return "kvm"
    if wanted == "kvm":
        raise PlatformError(
            f"guests do not run with KVM here: {verdict.reason}",
            where='acceleration = "kvm"',
            hint='use acceleration = "auto" to emulate the processor instead',
        )
    return "tcg"


def _store(cache_folder: Path) -> Path:
    return cache_folder / "vm" / "kvm.json"


def _key() -> list[str]:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return [boot, qemu_version()]


def qemu_version() -> str:
    """Give the version that QEMU says it is."""
    done = subprocess.run(
        ["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=False
    )
    return done.stdout.partition("\n")[0]


def _try_guest(image: AutoImage) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="bareline-proof-") as name:
        initrd = Path(name) / "initrd"
        initrd.write_bytes(
            archive(
                {
                    "bin/busybox": File(image.busybox.read_bytes(), 0o755),
                    "init": File(_INIT.encode(), 0o755),
                },
                ("dev",),
            )
        )
        argv = ["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-m", "256"]
        argv += ["-nodefaults", "-nographic", "-no-reboot", "-serial", "stdio"]
        argv += ["-kernel", str(image.kernel), "-initrd", str(initrd)]
        argv += ["-append", "console=ttyS0 panic=-1"]
        done = run_process(argv, env=local_environment(), timeout_s=_TIMEOUT_S)
    if _WORD in done.stdout:
        return Verdict(True)
    for line in done.stderr.splitlines():
        if "KVM" in line or "kvm" in line:
            return Verdict(False, f"a guest died at once: {line.strip()}")
    if done.timed_out:
        return Verdict(False, f"a guest said nothing for {_TIMEOUT_S:.0f} s")
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return Verdict(False, f"a guest ended early: {said[-1] if said else 'it said nothing'}")
