"""The guest image that bareline builds from the host's own package sources, and its kernels."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path

from bareline.host.locks import file_lock
from bareline.host.tools import require
from bareline.platforms.hosts.images.parts import damage_of, describe_parts, read_record
from bareline.platforms.hosts.images.sources import (
    PROGRAMS,
    Archive,
    archive_of,
    bootstrap,
    host_suite,
    workplace,
)
from bareline.platforms.made.vm.kernel import unpack_kernel
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file

_LOG = logging.getLogger(__name__)
#: Packages that a guest needs to boot and to be reached, and the programs of the probes.
PACKAGES = (
    *("busybox-static", "kmod", "iproute2", "procps", "openssh-server", "ethtool", "nfs-common"),
    *PROGRAMS,
    *("nfs-ganesha", "nfs-ganesha-vfs", "xfsprogs", "btrfs-progs"),
)
#: The kernel with all drivers: the smaller one for clouds knows no emulated NIC.
_KERNELS = {"debian": "linux-image-amd64", "ubuntu": "linux-image-generic"}
_DISK_SIZE = "6G"
_INODES = 131072
#: The files of an image, and the file that describes it.
_PARTS = ("disk.raw", "vmlinux", "modules", "busybox")
_RECORD = "image.json"
#: Programs that building takes.
IMAGE_TOOLS = ("mmdebstrap", "mke2fs", "apt-get", "depmod")


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoImage:
    """A built image: an ext4 disk without partitions, and the kernel files to boot it."""

    disk: Path
    kernel: Path
    modules: Path
    busybox: Path
    digest: str
    packages: Mapping[str, str]
    build_s: float

    @property
    def kernel_version(self) -> str:
        """Release of the image's kernel."""
        return self.modules.name


@dataclass(frozen=True, slots=True)
class _Recipe:
    """The identity of an image: an image with the same list of packages is built only once."""

    archive: Archive
    packages: tuple[str, ...]
    pack: str

    @property
    def digest(self) -> str:
        text = "\0".join((self.archive.suite, *self.packages, self.pack, _DISK_SIZE, str(_INODES)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def image_folder(cache_folder: Path) -> Path:
    """Return the folder of the built images."""
    return cache_folder / "vm" / "images"


def built_image(
    cache_folder: Path,
    tell: Callable[[str], None] | None = None,
    further: Iterable[str] = (),
    release: str | None = None,
) -> AutoImage:
    """Return the image for this host, with additional packages `further`.

    The image is built if the cache has no complete image.
    """
    require(*IMAGE_TOOLS, why="which builds guest images", where='image = "auto"')
    recipe = _recipe(tuple(sorted(set(further) - set(PACKAGES))), release, cache_folder)
    folder = image_folder(cache_folder) / recipe.digest
    with file_lock(folder.with_suffix(".lock")):
        if not folder.exists():
            _build(recipe, folder)
        if damage := _damage(folder):
            text = f"the guest image in the cache is damaged and built again: {damage}"
            _LOG.warning("%s", text)
            if tell is not None:
                tell(text)
            _build(recipe, folder)
            if damage := _damage(folder):
                raise PlatformError(
                    f"the guest image is damaged as soon as it is built: {damage}",
                    where=str(folder),
                    hint="check the disk of bareline's cache",
                )
        described = read_record(folder / _RECORD)
    return AutoImage(
        disk=folder / "disk.raw",
        kernel=folder / "vmlinux",
        modules=next((folder / "modules").iterdir()),
        busybox=folder / "busybox",
        digest=recipe.digest,
        packages=described["packages"],
        build_s=described["build_s"],
    )


def _damage(folder: Path) -> str:
    described = read_record(folder / _RECORD)
    timed = isinstance(described.get("build_s"), int | float)
    if not timed or not isinstance(described.get("packages"), dict):
        return f"{_RECORD} cannot be read"
    return damage_of(folder, described, _PARTS)


@cache
def _recipe(further: tuple[str, ...], release: str | None, cache_folder: Path) -> _Recipe:
    kernel = _KERNELS.get(platform.freedesktop_os_release()["ID"])
    if kernel is None or not host_suite():
        raise PlatformError(
            "guest images can be built on Debian and Ubuntu only",
            where='image = "auto"',
            hint="give the path of a cloud image as `image = { path = ... }`",
        )
    pack = resources.files("bareline.platforms.made.vm") / "scripts" / "pack"
    archive = archive_of(release, cache_folder)
    if release is not None:
        archive.must_run_what_is_built_here()
    return _Recipe(archive, (kernel, *PACKAGES, *further), pack.read_text(encoding="utf-8"))


def _build(recipe: _Recipe, folder: Path) -> None:
    """Build an image into a temporary folder, and move the complete image into the cache."""
    started = time.monotonic()
    _LOG.info("building a guest image, once: some minutes (%s)", folder.with_suffix(".log"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with workplace(folder.with_suffix(".workplace")) as place:
        out = place / "out"
        pack = out / "pack"
        replace_file(pack, recipe.pack, durable=False)
        pack.chmod(0o755)
        names = recipe.archive.known_names(recipe.packages, PACKAGES)
        # The root itself need not reach the disk: the finished image does, all at once.
        more = ["--format=null", f'--customize-hook={pack} "$1" {out} {_DISK_SIZE} {_INODES}']
        bootstrap(recipe.archive, names, place, "-", more, folder.with_suffix(".log"))
        listed = (out / "packages").read_text(encoding="utf-8").splitlines()
        building = folder.with_suffix(".new")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        replace_file(
            building / "vmlinux", unpack_kernel((out / "vmlinuz").read_bytes()), durable=False
        )
        shutil.copytree(out / "modules", building / "modules")
        shutil.copy(out / "busybox", building / "busybox")
        # cp keeps the disk's holes; the standard library does not.
        copy = ["cp", "--sparse=always", str(out / "disk.raw"), str(building / "disk.raw")]
        subprocess.run(copy, check=True)
    described = {
        "packages": dict(line.split(" ", 1) for line in listed),
        "build_s": round(time.monotonic() - started, 1),
        "suite": recipe.archive.suite,
        "parts": describe_parts(building, _PARTS),
    }
    replace_file(building / _RECORD, json.dumps(described, indent=1), durable=False)
    # A file with its final name must be on the disk, even after a power failure.
    os.sync()
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)


_REAL = re.compile(r"linux-image-[^ ,|(]*\d[^ ,|(]*")


def with_kernel(image: AutoImage, choice: str, modules: str | None, cache: Path) -> AutoImage:
    """Return the image with another kernel and no other change.

    - `choice`: path of a kernel, or name of a package of the host's release. A package of another
      release is written ``linux-image-amd64/bullseye``, as for apt.
    - `modules`: folder of the modules, for a kernel that is given as a path; by default the
      system's folder for the kernel's version.
    """
    folder = cache / "vm" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(folder / ".lock"):
        if choice.startswith("/"):
            return _own(image, Path(choice), modules, folder)
        return _packaged(image, choice, folder, cache)


def _own(image: AutoImage, path: Path, modules: str | None, folder: Path) -> AutoImage:
    version = path.name.partition("-")[2] or "unknown"
    where = Path(modules) if modules else Path("/lib/modules", version)
    try:
        packed = path.read_bytes()
    except OSError as error:
        problem = f"the guest's kernel cannot be read: {error.strerror}"
        raise PlatformError(problem, where=str(path)) from error
    if not (where / "modules.dep").is_file():
        raise PlatformError(
            f"the modules of the guest's kernel are not in {where}",
            where="kernel",
            hint="set `modules` to the folder that contains modules.dep",
        )
    kernel = folder / f"{where.name}.own"
    replace_file(kernel, unpack_kernel(packed), durable=False)
    return replace(image, kernel=kernel, modules=where)


def _packaged(image: AutoImage, choice: str, folder: Path, cache: Path) -> AutoImage:
    """Return the image with the kernel of a package; the package is unpacked, not installed."""
    name, _, release = choice.partition("/")
    archive = archive_of(release or None, cache)
    fields = _real_package(archive, name)
    package = folder / f"{fields['Package']}_{fields['Version'].replace(':', '%')}_{archive.suite}"
    if not package.exists():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            building = Path(place)
            _unpack(archive.download(fields["Package"], building), building)
            (building / "whole").rename(package)
    modules = next((package / "modules").iterdir())
    return replace(image, kernel=package / "vmlinux", modules=modules)


def _real_package(archive: Archive, name: str) -> Mapping[str, str]:
    """Return the fields of a kernel package; for a metapackage, of the package it depends on."""
    for _ in range(3):
        fields = archive.show([name]).get(name, {})
        real = _REAL.search(fields.get("Depends", ""))
        if fields and (real is None or real[0] == name):
            return fields
        if real is None:
            break
        name = real[0]
    raise PlatformError(
        f"the package sources of '{archive.suite}' have no kernel package '{name}'",
        where="kernel",
        hint="`apt-cache search ^linux-image-` lists the kernels of this release; "
        "write a kernel of another release like linux-image-amd64/bullseye",
    )


def _unpack(package: Path, place: Path) -> None:
    """Unpack kernel and modules of a package into the same folders as in an image."""
    root = place / "root"
    whole = place / "whole"
    subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    kernels = sorted(root.glob("boot/vmlinuz-*"))
    if not kernels:
        raise PlatformError(f"the package {package.name} contains no kernel", where="kernel")
    version = kernels[0].name.removeprefix("vmlinuz-")
    (folder,) = (*root.glob("lib/modules"), *root.glob("usr/lib/modules"))
    subprocess.run(["depmod", "-b", str(folder.parents[1]), version], check=True)
    (whole / "modules").mkdir(parents=True)
    shutil.move(folder / version, whole / "modules" / version)
    replace_file(whole / "vmlinux", unpack_kernel(kernels[0].read_bytes()), durable=False)
