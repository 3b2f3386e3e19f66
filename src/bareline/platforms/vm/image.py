"""The guest image that bareline builds out of the host's own package sources."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from bareline.host.locks import file_lock
from bareline.host.tools import install_hint
from bareline.platforms.process import run_process
from bareline.platforms.vm.kernel import unpack_kernel
from bareline.platforms.vm.parts import describe_parts, find_damage
from bareline.platforms.vm.sources import (
    Archive,
    archive_of,
    host_suite,
    os_release,
    proxy_options,
)
from bareline.vocabulary.errors import PlatformError, ToolMissing

_LOG = logging.getLogger(__name__)
#: What a guest needs to boot and to be reached, and what the probes run. Both MPI libraries are
#: in, so that one image serves every platform.
PACKAGES = (
    *("busybox-static", "kmod", "iproute2", "procps", "openssh-server", "ethtool", "nfs-common"),
    *("openmpi-bin", "libopenmpi3", "mpich", "libmpich12"),
    *("nuttcp", "iperf3", "hpcc", "fio", "numactl", "perftest", "ibverbs-providers"),
    *("libopenblas0-pthread", "liblapack3", "libscalapack-openmpi2.2"),
    *("libscalapack-mpich2.2", "libfftw3-double3"),
    *("libgomp1", "libgfortran5"),
)
#: The kernel with all drivers: the smaller one for clouds knows no emulated NIC.
_KERNELS = {"debian": "linux-image-amd64", "ubuntu": "linux-image-generic"}
_DISK_SIZE = "6G"
_INODES = 131072
_BUILD_TIMEOUT_S = 1800.0
#: What an image consists of, and the file that describes it.
_PARTS = ("disk.raw", "vmlinux", "modules", "busybox")
_RECORD = "image.json"
_WORKPLACES, _WORKPLACE = Path("/var/tmp"), "bareline-image-"
_TOOLS = ("mmdebstrap", "mke2fs", "apt-get", "depmod")


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoImage:
    """A built image: an ext4 disk without partitions, and what boots it.

    Parameters
    ----------
    digest
        Hash of the recipe that it was built by.
    packages
        Version of every package inside.
    build_s
        How long building took.
    """

    disk: Path
    kernel: Path
    modules: Path
    busybox: Path
    digest: str
    packages: Mapping[str, str]
    build_s: float

    @property
    def kernel_version(self) -> str:
        """Release of the kernel inside."""
        return self.modules.name


def missing_tools() -> list[str]:
    """List the programs that building an image needs and that are not here."""
    return [tool for tool in _TOOLS if shutil.which(tool) is None]


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What decides what an image is: the same list of packages is not built twice."""

    archive: Archive
    packages: tuple[str, ...]
    pack: str

    @property
    def suite(self) -> str:
        return self.archive.suite

    @property
    def digest(self) -> str:
        text = "\0".join((self.suite, *self.packages, self.pack, _DISK_SIZE, str(_INODES)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def image_folder(cache_folder: Path) -> Path:
    """Give the folder of the built images."""
    return cache_folder / "vm" / "images"


def built_image(
    cache_folder: Path,
    tell: Callable[[str], None] | None = None,
    further: Iterable[str] = (),
    release: str | None = None,
) -> AutoImage:
    """Give the image for this host, built if the cache does not have it whole.

    Parameters
    ----------
    tell
        Takes a sentence about a damaged image that is built again.
    further
        Packages that it holds besides what bareline needs.
    release
        Of the host's distribution; the host's own without any.

    Raises
    ------
    ToolMissing
        A program for building is not installed.
    PlatformError
        It cannot be built; the message holds mmdebstrap's last lines.
    """
    missing = missing_tools()
    if missing:
        raise ToolMissing(
            f"building a guest image needs '{missing[0]}'",
            where='image = "auto"',
            hint=install_hint(missing[0]),
        )
    recipe = _recipe(tuple(sorted(set(further) - set(PACKAGES))), release, cache_folder)
    folder = image_folder(cache_folder) / recipe.digest
    with file_lock(folder.with_suffix(".lock")):
        if not folder.exists():
            _build(recipe, folder)
        damage = _damage(folder)
        if damage:
            said = f"the guest image in the cache is damaged and built again: {damage}"
            _LOG.warning("%s", said)
            if tell is not None:
                tell(said)
            _build(recipe, folder)
            damage = _damage(folder)
        if damage:
            raise PlatformError(
                f"the guest image is damaged as soon as it is built: {damage}",
                where=str(folder),
                hint="check the disk that holds bareline's cache",
            )
        return _load(folder, recipe.digest)


def _damage(folder: Path) -> str:
    """Say what is wrong with a built image; nothing when it is whole."""
    try:
        described = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        packages, parts = described["packages"], described["parts"]
        whole = isinstance(described["build_s"], int | float) and set(parts) == set(_PARTS)
        whole = whole and all({"bytes", "sha256"} <= set(part) for part in parts.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        whole, packages, parts = False, None, {}
    if not whole or not isinstance(packages, dict):
        return f"{_RECORD} cannot be read"
    return find_damage(folder, parts)


def _load(folder: Path, digest: str) -> AutoImage:
    described = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    modules = next((folder / "modules").iterdir())
    return AutoImage(
        disk=folder / "disk.raw",
        kernel=folder / "vmlinux",
        modules=modules,
        busybox=folder / "busybox",
        digest=digest,
        packages=described["packages"],
        build_s=described["build_s"],
    )


# Recipe ----------------------------------------------------------------------------------------


@cache
def _recipe(further: tuple[str, ...], release: str | None, cache_folder: Path) -> _Recipe:
    kernel = _KERNELS.get(os_release().get("ID", ""))
    if kernel is None or not host_suite():
        raise PlatformError(
            "guest images can be built on Debian and Ubuntu only",
            where='image = "auto"',
            hint="give the path of a cloud image as `image = { path = ... }`",
        )
    pack = resources.files("bareline.platforms.vm") / "scripts" / "pack"
    archive = archive_of(release, cache_folder)
    if release is not None:
        archive.must_run_what_is_built_here()
    return _Recipe(archive, (kernel, *PACKAGES, *further), pack.read_text(encoding="utf-8"))


# Building ----------------------------------------------------------------------------------------


def _build(recipe: _Recipe, folder: Path) -> None:
    """Build into a temporary folder and move it into place whole."""
    started = time.monotonic()
    _LOG.info("building a guest image, once: some minutes (%s)", folder.with_suffix(".log"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _workplace(folder.with_suffix(".workplace")) as place:
        out = place / "out"
        pack = out / "pack"
        pack.write_text(recipe.pack, encoding="utf-8")
        pack.chmod(0o755)
        _bootstrap(recipe, out, folder.with_suffix(".log"))
        packages = dict(
            line.split(" ", 1)
            for line in (out / "packages").read_text(encoding="utf-8").splitlines()
        )
        building = folder.with_suffix(".new")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        (building / "vmlinux").write_bytes(unpack_kernel((out / "vmlinuz").read_bytes()))
        shutil.copytree(out / "modules", building / "modules")
        shutil.copy(out / "busybox", building / "busybox")
        # cp keeps the disk's holes; the standard library does not.
        subprocess.run(
            ["cp", "--sparse=always", str(out / "disk.raw"), str(building / "disk.raw")],
            check=True,
        )
    described = {
        "packages": packages,
        "build_s": round(time.monotonic() - started, 1),
        "suite": recipe.suite,
        "parts": describe_parts(building, _PARTS),
    }
    (building / _RECORD).write_text(json.dumps(described, indent=1), encoding="utf-8")
    # What has a name is on the disk, whatever happens to this machine.
    os.sync()
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)


@contextmanager
def _workplace(note: Path) -> Iterator[Path]:
    """Make a folder to build in, and remove the one that a killed build left.

    mmdebstrap without root works as another user, who cannot reach a private cache folder: it lies
    elsewhere, and the cache has a note of it.
    """
    if note.exists():
        left = Path(note.read_text(encoding="utf-8"))
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
        # A build outside of a namespace of its own leaves /proc and /sys mounted there.
        ours = left.parent == _WORKPLACES and left.name.startswith(_WORKPLACE)
        if ours and f" {left}/" not in mounts:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=_WORKPLACES, prefix=_WORKPLACE) as name:
        note.write_text(name, encoding="utf-8")
        Path(name).chmod(0o755)
        for part in ("out", "tmp"):
            (Path(name) / part).mkdir()
            (Path(name) / part).chmod(0o777)
        yield Path(name)
    note.unlink()


def _bootstrap(recipe: _Recipe, out: Path, log: Path) -> None:
    sources = out / "sources.list"
    sources.write_text(recipe.archive.text, encoding="utf-8")
    argv = ["mmdebstrap", "--variant=minbase", "--format=null"]
    argv += ["--mode=root" if os.geteuid() == 0 else "--mode=unshare"]
    argv += [
        f"--include={','.join(recipe.archive.known_names(recipe.packages, PACKAGES))}",
        *proxy_options(),
    ]
    for path in ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*"):
        argv.append(f"--dpkgopt=path-exclude={path}")
    # Nothing of the root has to reach the disk: what is made of it does, all at once.
    argv.append("--dpkgopt=force-unsafe-io")
    argv.append(f'--customize-hook={out}/pack "$1" {out} {_DISK_SIZE} {_INODES}')
    argv += [recipe.suite, "-", str(sources)]
    # The guest boots with an initramfs of our own: the kernel's package need not make one.
    environment = {**os.environ, "LC_ALL": "C", "INITRD": "No", "TMPDIR": str(out.parent / "tmp")}
    done = run_process(_ending_with_us(argv), env=environment, timeout_s=_BUILD_TIMEOUT_S)
    if done.timed_out:
        raise PlatformError(
            f"building the guest image took more than {_BUILD_TIMEOUT_S:.0f} s",
            where='image = "auto"',
            hint="see that this host reaches its package sources",
        )
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.exit_code:
        said = [line for line in done.stderr.splitlines() if line.strip().startswith("E: ")]
        raise PlatformError(
            f"mmdebstrap failed: {' / '.join(said[-3:]) or f'exit code {done.exit_code}'}",
            where=str(log),
            hint=_bootstrap_hint(done.stderr),
        )


def _ending_with_us(argv: list[str]) -> list[str]:
    """Let all that a build starts end when bareline is killed.

    Its children have process groups of their own; those of a process namespace end with its first
    process. Without root mmdebstrap makes such a namespace itself.
    """
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return argv
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--", *argv]


def _bootstrap_hint(said: str) -> str:
    if "subuid" in said or "newuidmap" in said or "unshare" in said:
        return (
            "without root it needs user namespaces and `newuidmap` (package uidmap); or run as root"
        )
    return "see that this host reaches its package sources: `apt-get update`"
