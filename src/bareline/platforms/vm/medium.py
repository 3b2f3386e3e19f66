"""What guests start from: bareline's own image, or a cloud image with a seed for cloud-init."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from bareline.host.tools import install_hint
from bareline.platforms.process import run_process
from bareline.platforms.remote.keys import Keys
from bareline.platforms.vm.domain import Boot
from bareline.platforms.vm.guest import DEVICE, Guest, guest_script, settings_files
from bareline.platforms.vm.hardware import Image
from bareline.platforms.vm.image import AutoImage
from bareline.platforms.vm.kernel import File, archive, load_order, read_module
from bareline.platforms.vm.options import VmOptions
from bareline.vocabulary.errors import PlatformError, ToolMissing

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
_ROOT_DEVICES = {"virtio": "/dev/vda"}

#: Kernel arguments of every guest: the console, and nothing that waits for hardware.
ARGUMENTS = "console=ttyS0 quiet loglevel=3 net.ifnames=0 no_timer_check random.trust_cpu=on"


class AutoMedium:
    """bareline's own image, started by its kernel and an initramfs made for the guest."""

    disk_format = "qcow2"

    def __init__(
        self,
        image: AutoImage,
        options: VmOptions,
        guests: Sequence[Guest],
        keys: Keys,
        *,
        emulated: bool,
    ) -> None:
        self._image = image
        self._emulated = emulated
        self._options = options
        self._guests = guests
        self._keys = keys
        self._common = self._common_part()

    def prepare(self, guest: Guest, folder: Path) -> tuple[Path, Boot | None, Path | None]:
        """Make a guest's disk and initramfs."""
        disk = overlay(self._image.disk, "raw", folder / f"{guest.name}.qcow2")
        files = settings_files(self._options, guest, self._guests, self._keys)
        files["init"] = File(guest_script("init"), 0o755)
        own = archive({f"bareline/{name}": file for name, file in files.items()})
        initrd = folder / f"{guest.name}.initrd"
        initrd.touch(mode=0o600)
        initrd.write_bytes(self._common + own)
        return (
            disk,
            Boot(
                kernel=str(self._image.kernel),
                initrd=str(initrd),
                command_line=self._command_line(),
            ),
            None,
        )

    def _command_line(self) -> str:
        root = _ROOT_DEVICES.get(self._options.disk.bus, "/dev/sda")
        words = [f"root={root}", ARGUMENTS]
        if self._emulated:
            words += counter_argument(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        if self._options.clock.source == "tsc":
            words.append("tsc=reliable")
        return " ".join([*words, self._options.kernel_args]).strip()

    def _common_part(self) -> bytes:
        """Pack what all guests of the platform load: busybox and the modules for its devices."""
        wanted = ["virtio_pci", *_BUS_MODULES[self._options.disk.bus], "crc32c_generic", "ext4"]
        if not self._options.nic.passed_through:
            wanted += _NIC_MODULES[self._options.nic.model]
        if self._options.nic.outside:
            wanted += _NIC_MODULES["virtio"]
        for share in self._options.shares:
            wanted += _SHARE_MODULES[share.kind]
        if self._options.filesystem:
            wanted += _FILE_SYSTEM_MODULES.get(self._options.filesystem.type, ())
        return first_files(self._image, wanted)


def first_files(image: AutoImage, modules: Iterable[str]) -> bytes:
    """Pack the first file system of a guest: busybox, modules, and what mounts the disk."""
    files = {
        "bin/busybox": File(image.busybox.read_bytes(), 0o755),
        "init": File(guest_script("initramfs"), 0o755),
    }
    for number, path in enumerate(load_order(image.modules, modules)):
        name = path.name.partition(".ko")[0]
        files[f"modules/{number:03d}-{name}.ko"] = File(read_module(path))
    return archive(files, ("dev", "proc", "mnt"))


def counter_argument(cpuinfo: str) -> list[str]:
    """Tell a kernel how fast its time stamp counter runs, so that it need not measure that.

    QEMU's emulated processor hands out the host's counter, whose rate is half the host's BogoMIPS
    where it is constant. Measuring it on a busy host goes wrong by a multiple at times.
    """
    if " constant_tsc " not in cpuinfo.replace("\n", " "):
        return []
    match = re.search(r"^bogomips\s*:\s*([\d.]+)", cpuinfo, re.MULTILINE | re.IGNORECASE)
    return [f"tsc_early_khz={round(float(match[1]) * 500)}"] if match else []


class CloudMedium:
    """An image of the user's own, which cloud-init makes a node from a NoCloud seed.

    References
    ----------
    cloud-init documentation, "NoCloud": a medium labelled ``cidata`` with ``meta-data``,
    ``user-data`` and ``network-config``.
    """

    disk_format = "qcow2"

    def __init__(
        self, image: Image, options: VmOptions, guests: Sequence[Guest], keys: Keys
    ) -> None:
        self._image = image
        self._options = options
        self._guests = guests
        self._keys = keys
        self._base = Path(image.path).expanduser().resolve()
        self._format = image.format or image_format(self._base)

    def prepare(self, guest: Guest, folder: Path) -> tuple[Path, Boot | None, Path | None]:
        """Make a guest's disk and seed."""
        disk = overlay(self._base, self._format, folder / f"{guest.name}.qcow2")
        seed = folder / f"{guest.name}-seed"
        shutil.rmtree(seed, ignore_errors=True)
        seed.mkdir(mode=0o700)
        for name, text in seed_files(self._options, guest, self._guests, self._keys).items():
            (seed / name).write_text(text, encoding="utf-8")
        medium = folder / f"{guest.name}.iso"
        make_seed_medium(seed, medium)
        boot = None
        if self._image.kernel:
            boot = Boot(
                kernel=self._image.kernel,
                initrd=self._image.initrd,
                command_line=f"console=ttyS0 {self._image.kernel_args} "
                f"{self._options.kernel_args}".strip(),
            )
        return disk, boot, medium


#: What a guest starts from: made ready for one guest at a time.
Medium = AutoMedium | CloudMedium


def overlay(base: Path, base_format: str, path: Path) -> Path:
    """Make an empty copy-on-write layer over an image."""
    path.unlink(missing_ok=True)
    argv = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", base_format, "-b", str(base)]
    done = run_process([*argv, str(path)], timeout_s=30.0)
    done.must("the guest's disk cannot be made")
    return path


def seed_files(
    options: VmOptions, guest: Guest, guests: Sequence[Guest], keys: Keys
) -> dict[str, str]:
    """Give what cloud-init reads: identity, keys and network, and how the guest reports.

    JSON is YAML, and needs no care with quotes.
    """
    files = settings_files(options, guest, guests, keys)
    written = [
        {
            "path": f"/var/lib/bareline/{name}",
            "permissions": f"{file.mode:04o}",
            "encoding": "b64",
            "content": base64.b64encode(file.content).decode(),
        }
        for name, file in files.items()
    ]
    start = (
        "mkdir -p /run/bareline /var/tmp/bareline && cp -a /var/lib/bareline/. /run/bareline/ && "
        ". /run/bareline/setup && { systemctl reload ssh || systemctl reload sshd; } && "
        "report \"$(cut -d' ' -f1 /proc/uptime)\" > /dev/ttyS0"
    )
    user = {
        "disable_root": False,
        "ssh_pwauth": False,
        "ssh_deletekeys": True,
        "ssh_keys": {"ed25519_private": keys.host, "ed25519_public": keys.host_public.strip()},
        "users": [
            {
                "name": "root",
                "lock_passwd": True,
                "ssh_authorized_keys": [keys.client_public.strip()],
            }
        ],
        "write_files": written,
        "runcmd": [["sh", "-c", start]],
    }
    meta = {"instance-id": guest.uuid, "local-hostname": guest.name}
    return {
        "meta-data": json.dumps(meta),
        "user-data": "#cloud-config\n" + json.dumps(user),
        "network-config": json.dumps(_network_config(options, guest)),
    }


def _network_config(options: VmOptions, guest: Guest) -> dict[str, object]:
    interfaces = {
        DEVICE: {
            "match": {"macaddress": guest.mac},
            "set-name": DEVICE,
            "addresses": [f"{guest.address}/24"],
            "mtu": options.nic.mtu,
        }
    }
    if guest.management_mac:
        interfaces["mgmt0"] = {
            "match": {"macaddress": guest.management_mac},
            "set-name": "mgmt0",
            "addresses": [f"{guest.management_address}/24"],
        }
    return {"version": 2, "ethernets": interfaces}


#: Programs that make the medium, which take the same options.
_MAKERS = ("genisoimage", "xorrisofs", "mkisofs")


def make_seed_medium(folder: Path, medium: Path) -> None:
    """Write a folder to the medium on which cloud-init looks for its seed."""
    for program in filter(shutil.which, _MAKERS):
        argv = [program, "-quiet", "-V", "cidata", "-J", "-r", "-o", str(medium), str(folder)]
        run_process(argv, timeout_s=60.0).must(f"{program} failed")
        return
    raise ToolMissing(
        "a cloud image needs a seed medium, and genisoimage is not installed",
        hint=install_hint("genisoimage"),
    )


def image_format(path: Path) -> str:
    """Tell whether a disk image is qcow2 or raw."""
    try:
        with path.open("rb") as file:
            return "qcow2" if file.read(4) == b"QFI\xfb" else "raw"
    except OSError as error:
        raise PlatformError(
            f"the guest image cannot be read: {error.strerror}",
            where=str(path),
            hint="give the path of a qcow2 or raw image as image.path",
        ) from error
