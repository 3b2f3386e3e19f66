"""A cloud image as distributions publish them: partition, boot loader, kernel, cloud-init.

Built out of the host's own package sources, because tests fetch nothing else.

    python cloud_image.py CACHE
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from bareline.host.locks import file_lock
from bareline.platforms.hosts.images.sources import host_suite, package_sources

PACKAGES = (
    *("systemd-sysv", "cloud-init", "openssh-server", "iproute2", "ethtool", "procps", "kmod"),
    *("linux-image-cloud-amd64", "initramfs-tools", "grub-pc-bin", "grub-common", "nuttcp"),
    *("openmpi-bin", "zstd"),
)
SECTOR = 512
PARTITION = 2048 * SECTOR
SIZE = 2 << 30

# Run with the new root as $1 and the folder for the parts as $2.
PACK = r"""#!/bin/sh
set -e
root=$1 out=$2
systemctl --root "$root" enable systemd-networkd
printf 'datasource_list: [ NoCloud, None ]\n' > "$root/etc/cloud/cloud.cfg.d/90-test.cfg"
printf 'MODULES=list\nCOMPRESS=zstd\n' > "$root/etc/initramfs-tools/conf.d/small"
printf 'virtio_pci\nvirtio_blk\next4\n' > "$root/etc/initramfs-tools/modules"
printf '/dev/vda1 / ext4 defaults 0 1\n' > "$root/etc/fstab"
rm -f "$root"/etc/ssh/ssh_host_* "$root/etc/machine-id"
: > "$root/etc/machine-id"
chroot "$root" update-initramfs -c -k all
mv "$root"/boot/vmlinuz-* "$root/boot/vmlinuz"
mv "$root"/boot/initrd.img-* "$root/boot/initrd.img"
printf '%s\n' 'search --no-floppy --file /sbin/init --set=root' \
    'linux /boot/vmlinuz root=/dev/vda1 console=ttyS0 quiet' 'initrd /boot/initrd.img' boot \
    > "$root/tmp/grub.cfg"
chroot "$root" grub-mkimage -O i386-pc -o /tmp/core.img -p / -c /tmp/grub.cfg \
    biosdisk part_msdos ext2 search search_fs_file linux normal boot
cp "$root/tmp/core.img" "$root/usr/lib/grub/i386-pc/boot.img" "$out"
rm -rf "$root"/tmp/* "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
unshare --mount sh -e -c '
    for mounted in $(awk -v root="$1" "index(\$2, root \"/\") == 1 { print \$2 }" \
        /proc/self/mounts | sort -r); do umount "$mounted"; done
    exec mke2fs -q -t ext4 -m 0 -d "$1" "$2/root.ext4" "$3"
' sh "$root" "$out" "$3"
"""


def cloud_image(cache: Path, scratch: Path) -> Path:
    """Return the image as qcow2, built once."""
    suite = host_suite()
    text = "\0".join((suite, PACK, *PACKAGES))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    image = cache / "vm" / "test-images" / f"{digest}.qcow2"
    with file_lock(image.with_suffix(".lock")):
        if not image.exists():
            _build(suite, image, scratch)
    return image


def _build(suite: str, image: Path, scratch: Path) -> None:
    pack = scratch / "pack"
    pack.write_text(PACK)
    pack.chmod(0o755)
    (scratch / "sources.list").write_text(package_sources(suite))
    argv = ["mmdebstrap", "--variant=minbase", "--format=null", f"--include={','.join(PACKAGES)}"]
    for path in ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*"):
        argv.append(f"--dpkgopt=path-exclude={path}")
    argv.append("--dpkgopt=force-unsafe-io")
    size_kib = (SIZE - PARTITION) >> 10
    argv += [f'--customize-hook={pack} "$1" {scratch} {size_kib}k']
    argv += [suite, "-", str(scratch / "sources.list")]
    environment = {**os.environ, "INITRD": "No"}  # made once, at the end
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    raw = scratch / "disk.raw"
    shutil.move(scratch / "root.ext4", raw)
    _prepend(raw, _boot_sectors(scratch))
    made = image.with_suffix(".new")
    subprocess.run(["qemu-img", "convert", "-O", "qcow2", str(raw), str(made)], check=True)
    raw.unlink()
    made.rename(image)


def _boot_sectors(scratch: Path) -> bytes:
    """Return what lies before the partition: boot loader and partition table."""
    core = (scratch / "core.img").read_bytes()
    assert SECTOR + len(core) < PARTITION
    first = bytearray((scratch / "boot.img").read_bytes()[:440].ljust(SECTOR, b"\0"))
    # bootable, no cylinders, type Linux, first sector, number of sectors
    entry = (0x80, b"\xfe\xff\xff", 0x83, b"\xfe\xff\xff", PARTITION // SECTOR)
    first[446:462] = struct.pack("<B3sB3sII", *entry, (SIZE - PARTITION) // SECTOR)
    first[510:512] = b"\x55\xaa"
    return bytes(first) + core


def _prepend(raw: Path, sectors: bytes) -> None:
    """Move a file system to the partition's place, holes kept, and put the boot sectors before."""
    moved = raw.with_suffix(".moved")
    moved.write_bytes(sectors)
    subprocess.run(
        ["dd", f"if={raw}", f"of={moved}", "bs=1M", "seek=1", "conv=sparse,notrunc"],
        check=True,
        capture_output=True,
    )
    os.truncate(moved, SIZE)
    moved.rename(raw)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="bl-cloud-") as made:
        cloud_image(Path(sys.argv[1]), Path(made))
