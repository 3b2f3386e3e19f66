"""The boot sources of guests: bareline's own image, or a cloud image with a cloud-init seed."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from bareline.host.tools import install_hint
from bareline.platforms.hosts.process import run_process
from bareline.platforms.made.vm.domain import Boot, Guest
from bareline.platforms.made.vm.guest import DEVICE, guest_script, settings_files
from bareline.platforms.made.vm.hardware import Image
from bareline.platforms.made.vm.image import AutoImage
from bareline.platforms.made.vm.kernel import File, archive, load_order, read_module
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.reached.remote.keys import Keys
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.files import replace_file

_BUS_MODULES = {
    "virtio": ("virtio_blk",),
    "scsi": ("virtio_scsi", "sd_mod"),
    "sata": ("ahci", "sd_mod"),
    "ide": ("ata_piix", "sd_mod"),
}
_NIC_MODULES = {
    "virtio": ("virtio_net",),
    "e1000": ("e1000",),
    "e1000e": ("e1000e",),
    "rtl8139": ("8139cp",),
}
_SHARE_MODULES = {"9p": ("9p", "9pnet_virtio"), "virtiofs": ("virtiofs",), "nfs": ("nfsv4",)}
_FILE_SYSTEM_MODULES = {
    "nfs": ("nfsv4",),
    "gluster": ("fuse",),
    "loop-ext4": ("loop",),
    "loop-xfs": ("loop", "xfs"),
    "loop-btrfs": ("loop", "btrfs"),
}
#: Kernel arguments of every guest: the console, and nothing that waits for hardware.
ARGUMENTS = "console=ttyS0 quiet loglevel=3 net.ifnames=0 no_timer_check random.trust_cpu=on"

#: Prepares a guest's boot files in a folder: its disk, its kernel, its seed for cloud-init.
BootSource = Callable[[Guest, Path], tuple[Path, Boot | None, Path | None]]


def built_medium(
    image: AutoImage, options: VmOptions, guests: Sequence[Guest], keys: Keys, *, emulated: bool
) -> BootSource:
    """Return the boot source of guests with bareline's image, and an initramfs for each guest."""
    common = first_files(image, _modules_for(options))
    words = [f"root={'/dev/vda' if options.disk.bus == 'virtio' else '/dev/sda'}", ARGUMENTS]
    if emulated:
        words += counter_argument(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    if options.clock.source == "tsc":
        words.append("tsc=reliable")
    command_line = " ".join([*words, options.kernel_args]).strip()

    def prepare(guest: Guest, folder: Path) -> tuple[Path, Boot, None]:
        disk = _overlay(image.disk, "raw", folder / f"{guest.name}.qcow2")
        files = settings_files(options, guest, guests, keys)
        files["init"] = File(guest_script("init"), 0o755)
        initrd = folder / f"{guest.name}.initrd"
        packed = archive({f"bareline/{name}": file for name, file in files.items()})
        replace_file(initrd, common + packed, mode=0o600, durable=False)
        boot = Boot(kernel=str(image.kernel), initrd=str(initrd), command_line=command_line)
        return disk, boot, None

    return prepare


def first_files(image: AutoImage, modules: Iterable[str]) -> bytes:
    """Return a guest's packed initial file system: busybox, modules, mounting script."""
    files = {
        "bin/busybox": File(image.busybox.read_bytes(), 0o755),
        "init": File(guest_script("initramfs"), 0o755),
    }
    for number, path in enumerate(load_order(image.modules, modules)):
        name = path.name.partition(".ko")[0]
        files[f"modules/{number:03d}-{name}.ko"] = File(read_module(path))
    return archive(files, ("dev", "proc", "mnt"))


def _modules_for(options: VmOptions) -> Iterator[str]:
    yield from ("virtio_pci", *_BUS_MODULES[options.disk.bus], "crc32c_generic", "ext4")
    if not options.nic.passed_through:
        yield from _NIC_MODULES[options.nic.model]
    if options.nic.outside:
        yield from _NIC_MODULES["virtio"]
    for share in options.shares:
        yield from _SHARE_MODULES[share.kind]
    if options.filesystem:
        yield from _FILE_SYSTEM_MODULES.get(options.filesystem.type, ())


def counter_argument(cpuinfo: str) -> list[str]:
    """Return the kernel argument that sets the rate of the time stamp counter.

    Without this argument, the guest kernel measures the rate. On a busy host, the measured rate is
    sometimes a multiple of the true rate.

    QEMU's emulated processor passes the host's counter on. A constant counter's rate in MHz is half
    the host's BogoMIPS.
    """
    if " constant_tsc " not in cpuinfo.replace("\n", " "):
        return []
    match = re.search(r"^bogomips\s*:\s*([\d.]+)", cpuinfo, re.MULTILINE | re.IGNORECASE)
    return [f"tsc_early_khz={round(float(match[1]) * 500)}"] if match else []


def cloud_medium(
    image: Image, options: VmOptions, guests: Sequence[Guest], keys: Keys
) -> BootSource:
    """Return the boot source of guests with the user's image, which cloud-init sets up.

    References
    ----------
    cloud-init documentation, "NoCloud": a medium labelled ``cidata`` with ``meta-data``,
    ``user-data`` and ``network-config``.
    """
    base = Path(image.path).expanduser().resolve()
    kind = image.format or _format_of(base)
    boot = None
    if image.kernel:
        words = f"console=ttyS0 {image.kernel_args} {options.kernel_args}".strip()
        boot = Boot(kernel=image.kernel, initrd=image.initrd, command_line=words)

    def prepare(guest: Guest, folder: Path) -> tuple[Path, Boot | None, Path]:
        disk = _overlay(base, kind, folder / f"{guest.name}.qcow2")
        seed = folder / f"{guest.name}-seed"
        medium = folder / f"{guest.name}.iso"
        shutil.rmtree(seed, ignore_errors=True)
        seed.mkdir(mode=0o700)
        for name, text in _seed_files(options, guest, guests, keys).items():
            replace_file(seed / name, text, durable=False)
        _make_seed_medium(seed, medium)
        return disk, boot, medium

    return prepare


def _overlay(base: Path, base_format: str, path: Path) -> Path:
    path.unlink(missing_ok=True)
    argv = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", base_format, "-b", str(base)]
    run_process([*argv, str(path)], timeout_s=30.0).require_success(
        "the guest's disk cannot be made"
    )
    return path


def _seed_files(
    options: VmOptions, guest: Guest, guests: Sequence[Guest], keys: Keys
) -> dict[str, str]:
    """Return the files of cloud-init's seed, which include the script that sets up the guest.

    The files are JSON, which is also YAML and needs no quoting.
    """
    written = [
        {
            "path": f"/var/lib/bareline/{name}",
            "permissions": f"{file.mode:04o}",
            "encoding": "b64",
            "content": base64.b64encode(file.content).decode(),
        }
        for name, file in settings_files(options, guest, guests, keys).items()
    ]
    start = (
        "mkdir -p /run/bareline /var/tmp/bareline && cp -a /var/lib/bareline/. /run/bareline/ && "
        ". /run/bareline/setup && { systemctl reload ssh || systemctl reload sshd; } && "
        "report \"$(cut -d' ' -f1 /proc/uptime)\" > /dev/ttyS0"
    )
    root = {
        "name": "root",
        "lock_passwd": True,
        "ssh_authorized_keys": [keys.client_public.strip()],
    }
    user = {
        "disable_root": False,
        "ssh_pwauth": False,
        "ssh_deletekeys": True,
        "ssh_keys": {"ed25519_private": keys.host, "ed25519_public": keys.host_public.strip()},
        "users": [root],
        "write_files": written,
        "runcmd": [["sh", "-c", start]],
    }
    interfaces = {DEVICE: _interface(DEVICE, guest.mac, guest.address, mtu=options.nic.mtu)}
    if guest.management_mac:
        address = guest.management_address
        interfaces["mgmt0"] = _interface("mgmt0", guest.management_mac, address)
    return {
        "meta-data": json.dumps({"instance-id": guest.uuid, "local-hostname": guest.name}),
        "user-data": "#cloud-config\n" + json.dumps(user),
        "network-config": json.dumps({"version": 2, "ethernets": interfaces}),
    }


def _interface(name: str, mac: str, address: str, **more: int) -> dict[str, object]:
    settings = {"match": {"macaddress": mac}, "set-name": name, "addresses": [f"{address}/24"]}
    return {**settings, **more}


def _make_seed_medium(folder: Path, medium: Path) -> None:
    for program in filter(shutil.which, ("genisoimage", "xorrisofs", "mkisofs")):
        argv = [program, "-quiet", "-V", "cidata", "-J", "-r", "-o", str(medium), str(folder)]
        run_process(argv, timeout_s=60.0).require_success(
            f"{program} could not make the seed medium of the guest"
        )
        return
    raise ToolMissing(
        "a cloud image needs a seed medium, and genisoimage is not installed",
        hint=install_hint("genisoimage"),
    )


def _format_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return "qcow2" if file.read(4) == b"QFI\xfb" else "raw"
    except OSError as error:
        raise PlatformError(
            f"the guest image cannot be read: {error.strerror}",
            where=str(path),
            hint="give the path of a qcow2 or raw image as image.path",
        ) from error
