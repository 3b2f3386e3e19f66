"""Make what a guest of the cloud starts from.

    .venv/bin/python scripts/cloud/image.py FOLDER

The disk is the image that bareline builds for its own guests (minutes, once); the first program is
another one, which takes name, address and keys from OpenStack's configuration drive.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.platforms.made.vm.boot_source import ARGUMENTS, counter_argument, first_files
from bareline.platforms.made.vm.guest import server_config
from bareline.platforms.made.vm.image import built_image
from bareline.platforms.made.vm.kernel import File, archive

_MODULES = ("virtio_pci", "virtio_blk", "virtio_net", "crc32c_generic", "ext4", "isofs")


def make(folder: Path) -> None:
    """Fill a folder with `disk`, `kernel`, `initramfs` and the kernel's `arguments`."""
    image = built_image(cache_folder())
    folder.mkdir(parents=True)
    (folder / "disk").symlink_to(image.disk)
    (folder / "kernel").symlink_to(image.kernel)
    init = Path(__file__).with_name("guest_init").read_bytes()
    own = {
        "bareline/init": File(init, 0o755),
        "bareline/sshd_config": File(server_config().encode(), 0o600),
    }
    (folder / "initramfs").write_bytes(first_files(image, _MODULES) + archive(own))
    counter = counter_argument(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    (folder / "arguments").write_text(" ".join(["root=/dev/vda", ARGUMENTS, *counter]))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
