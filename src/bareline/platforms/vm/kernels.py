"""A guest's kernel that is not its image's: of a package, of another release, of the user's own."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bareline.host.locks import file_lock
from bareline.platforms.images.sources import Archive, archive_of
from bareline.platforms.vm.image import AutoImage
from bareline.platforms.vm.kernel import unpack_kernel
from bareline.vocabulary.errors import PlatformError

_REAL = re.compile(r"linux-image-[^ ,|(]*\d[^ ,|(]*")


def with_kernel(image: AutoImage, choice: str, modules: str | None, cache: Path) -> AutoImage:
    """Give an image that is booted by another kernel, and is the same in everything else.

    - `choice`: path of a kernel, or name of a package of the host's release, or as apt writes a
      package of another one: ``linux-image-amd64/bullseye``.
    - `modules`: folder of the modules of a kernel that is given as a path; that of its version
      without any.
    """
    folder = cache / "vm" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(folder / ".lock"):
        if choice.startswith("/"):
            return _own(image, Path(choice), modules, folder)
        return _packaged(image, choice, folder, cache)


def _own(image: AutoImage, path: Path, modules: str | None, folder: Path) -> AutoImage:
    """Take a kernel of the user's own with its modules."""
    version = path.name.partition("-")[2]
    where = Path(modules) if modules else Path("/lib/modules", version or "unknown")
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise PlatformError(
            f"the guest's kernel cannot be read: {error.strerror}", where=str(path)
        ) from error
    if not (where / "modules.dep").is_file():
        raise PlatformError(
            f"the modules of the guest's kernel are not in {where}",
            where="kernel",
            hint="name their folder as `modules`, the one that holds modules.dep",
        )
    kernel = folder / f"{where.name}.own"
    kernel.write_bytes(unpack_kernel(packed))
    return replace(image, kernel=kernel, modules=where)


def _packaged(image: AutoImage, choice: str, folder: Path, cache: Path) -> AutoImage:
    """Take the kernel out of a package, which is not installed anywhere."""
    name, _, release = choice.partition("/")
    archive = archive_of(release or None, cache)
    fields = _real_package(archive, name)
    kept = folder / f"{fields['Package']}_{fields['Version'].replace(':', '%')}_{archive.suite}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            building = Path(place)
            _unpack(archive.download(fields["Package"], building), building)
            (building / "whole").rename(kept)
    modules = next((kept / "modules").iterdir())
    return replace(image, kernel=kept / "vmlinux", modules=modules)


def _real_package(archive: Archive, name: str) -> Mapping[str, str]:
    """Follow a package that only names the newest kernel to the one that holds it."""
    for _ in range(3):
        fields = archive.show([name]).get(name)
        if fields is None:
            break
        real = _REAL.search(fields.get("Depends", ""))
        if real is None or real[0] == name:
            return fields
        name = real[0]
    raise PlatformError(
        f"the package sources of '{archive.suite}' have no kernel package '{name}'",
        where="kernel",
        hint="`apt-cache search ^linux-image-` lists those of this release; another one is "
        "written like linux-image-amd64/bullseye",
    )


def _unpack(package: Path, place: Path) -> None:
    """Lay out kernel and modules of a package as those of an image are."""
    root, whole = place / "root", place / "whole"
    subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    kernels = sorted(root.glob("boot/vmlinuz-*"))
    if not kernels:
        raise PlatformError(f"the package {package.name} holds no kernel", where="kernel")
    version = kernels[0].name.removeprefix("vmlinuz-")
    (found,) = (*root.glob("lib/modules"), *root.glob("usr/lib/modules"))
    subprocess.run(["depmod", "-b", str(found.parents[1]), version], check=True)
    (whole / "modules").mkdir(parents=True)
    shutil.move(found / version, whole / "modules" / version)
    (whole / "vmlinux").write_bytes(unpack_kernel(kernels[0].read_bytes()))
