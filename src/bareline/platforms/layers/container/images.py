"""Images: what a container's root is made of, built here or unpacked from an archive.

Archives have the formats of OCI and Docker. Only their descriptions and layers are read; no name
that they give becomes a path. umoci gets the layers as an image of its own, and resolves every path
within the root.
"""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bareline.host.locks import file_lock
from bareline.host.tools import install_hint, require
from bareline.platforms.images.sources import PROGRAMS, archive_of, bootstrap, host_suite, workplace
from bareline.platforms.layers.container.options import Container
from bareline.platforms.layers.container.runtimes import ImageKind
from bareline.vocabulary.errors import PlatformError, ToolMissing

_LOG = logging.getLogger(__name__)
#: What describes a node, beside what the probes run.
_PACKAGES = ("iproute2", "procps", "ethtool", *PROGRAMS)
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_LONGEST_NAME, _LONGEST_PATH = 255, 4000
_OCI = "application/vnd.oci.image"
_SAVE = "save one with `podman save` or `docker save`"


def unpacked(archive: Path, folder: Path) -> Path:
    """Give the root below a folder that an archive unpacks to, once for each content.

    Raises PlatformError: it cannot be read, or holds what must not be unpacked.
    Raises ToolMissing: umoci is not installed.
    """
    if shutil.which("umoci") is None:
        raise ToolMissing(
            "unpacking an archive of an image needs 'umoci'",
            where=str(archive),
            hint=install_hint("umoci") + ", or give the path of a root folder",
        )
    try:
        digest = _digest(archive)
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise PlatformError(what, where=str(archive), hint=_SAVE) from error

    def make(root: Path) -> None:
        try:
            _unpack(archive, root)
        except (tarfile.TarError, OSError, ValueError, KeyError, EOFError) as error:
            what = f"is no archive of an image: {error}"
            raise PlatformError(what, where=str(archive), hint=_SAVE) from error

    return _made_once(folder / digest[:16], make)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _made_once(root: Path, make: Callable[[Path], None]) -> Path:
    """Make a folder, whole or not at all, unless it is there."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(root.with_suffix(".lock")):
        if not root.exists():
            making = root.with_suffix(".new")
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            try:
                make(making)
            except BaseException:
                shutil.rmtree(making, ignore_errors=True)
                raise
            making.rename(root)
    return root


def _unpack(archive: Path, root: Path) -> None:
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=root.name) as image:
        with tarfile.open(archive) as outer:
            _write_image(outer, Path(image))
        unpack = ("umoci", "raw", "unpack", "--rootless", "--image", f"{image}:image", str(root))
        done = subprocess.run(unpack, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip().rpartition("\n")[2][-300:] or "umoci refuses it")
    if not any(root.iterdir()):
        raise ValueError("it has no files")


def harmless(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Give an entry of a layer as containers need it; None for a device: they see the node's own.

    It has no set-user bits, no attributes and no owner, and only we may write to it.

    Raises ValueError: it removes a folder above its own, which umoci 0.4.7 does, or its name is too
    long.
    """
    parts = entry.name.split("/")
    if any(part in (".wh.", ".wh..", ".wh...") for part in parts):
        raise ValueError(f"{entry.name[-80:]} removes more than a file")
    if max(map(len, map(os.fsencode, parts))) > _LONGEST_NAME or len(entry.name) > _LONGEST_PATH:
        raise ValueError(f"{entry.name[:80]}... is too long a path")
    if entry.isdev():
        return None
    # A folder that nobody may write to takes no places for the node's folders.
    mode = entry.mode & 0o755 | (0o700 if entry.isdir() else 0)
    kind = tarfile.REGTYPE if entry.isreg() else entry.type
    # Not `TarInfo.replace`, which stock Debian 12 lacks: its Python is 3.11.2.
    entry_copy = copy.copy(entry)
    entry_copy.type = kind
    entry_copy.mode = mode
    entry_copy.uid = 0
    entry_copy.gid = 0
    entry_copy.uname = ""
    entry_copy.gname = ""
    entry_copy.pax_headers = {}
    return entry_copy


def _write_image(outer: tarfile.TarFile, image: Path) -> None:
    """Write the layers as one image for umoci, packed anew: it reads the names that we checked."""
    blobs = image / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def keep(made: Path, kind: str) -> dict[str, Any]:
        digest = _digest(made)
        made.rename(blobs / digest)
        size = (blobs / digest).stat().st_size
        return {"mediaType": f"{_OCI}.{kind}", "digest": f"sha256:{digest}", "size": size}

    def say(content: Any, kind: str) -> dict[str, Any]:
        made = image / "new"
        made.write_text(json.dumps(content), encoding="utf-8")
        return keep(made, kind)

    layers = []
    for name in _layers(outer):
        packed = outer.extractfile(_member(outer, name))
        with (
            tarfile.open(fileobj=packed, mode="r|*") as layer,
            tarfile.open(image / "new", "w") as out,
        ):
            for entry in layer:
                if made := harmless(entry):
                    out.addfile(made, layer.extractfile(entry) if entry.isreg() else None)
        layers.append(keep(image / "new", "layer.v1.tar"))
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"] for layer in layers]},
    }
    manifest = {"schemaVersion": 2, "config": say(config, "config.v1+json"), "layers": layers}
    named = {"annotations": {"org.opencontainers.image.ref.name": "image"}}
    index = {"schemaVersion": 2, "manifests": [say(manifest, "manifest.v1+json") | named]}
    (image / "index.json").write_text(json.dumps(index), encoding="utf-8")
    (image / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")


def _member(outer: tarfile.TarFile, name: str) -> tarfile.TarInfo:
    found = next((one for one in outer if one.name.removeprefix("./") == name), None)
    if found is None or not (found.isfile() or found.islnk()):
        raise ValueError(f"it lacks {name}")
    return found


def _read(outer: tarfile.TarFile, name: str) -> Any:
    file = outer.extractfile(_member(outer, name))
    assert file is not None
    with file:
        return json.loads(file.read(16 << 20))  # descriptions of layers take some KiB


def _layers(outer: tarfile.TarFile) -> list[str]:
    """Name the layers, the lowest first, in whichever of the two formats."""
    names = {one.name.removeprefix("./") for one in outer}
    if "index.json" in names:
        manifest = _read(outer, "index.json")
        while "manifests" in manifest:  # one for each architecture, perhaps on a second floor
            manifest = _read(outer, _blob(_ours(manifest["manifests"])["digest"]))
        return [_blob(layer["digest"]) for layer in manifest["layers"]]
    if "manifest.json" in names:
        return [str(name) for name in _read(outer, "manifest.json")[0]["Layers"]]
    raise ValueError("it has neither index.json (OCI) nor manifest.json (Docker)")


def _ours(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    machine = platform.machine()
    names = {machine, _ARCHITECTURES.get(machine, machine)}
    said = [one for one in manifests if one.get("platform", {}).get("architecture") in names]
    return (said or manifests)[0]


def _blob(digest: str) -> str:
    algorithm, _, value = digest.partition(":")
    if not (algorithm.isalnum() and value.isalnum()):
        raise ValueError(f"'{digest[:80]}' is no digest")
    return f"blobs/{algorithm}/{value}"


def resolve(container: Container, cache: Path, where: str) -> str:
    """Give the path of an image, made if need be, or its name in the runtime's store."""
    kind = container.kind
    if kind is ImageKind.HOST:
        return "/"
    if kind in (ImageKind.PATH, ImageKind.STORED):
        return container.image
    folder = cache.absolute() / "containers"
    if kind is ImageKind.ARCHIVE:
        return str(unpacked(Path(container.image), folder))
    return str(_built(folder, cache, where))


def _built(folder: Path, cache: Path, where: str) -> Path:
    """Give the root that holds what guests hold, but what they boot with; built once."""
    suite, where = host_suite(), f'{where}, image = "bareline"'
    if not suite or shutil.which("apt-get") is None:
        raise PlatformError(
            "images can be built on Debian and Ubuntu only",
            where=where,
            hint="give the path of a root folder or of an archive",
        )
    require("mmdebstrap", why="which builds images", where=where)
    digest = hashlib.sha256("\0".join((suite, *_PACKAGES)).encode()).hexdigest()[:16]

    def make(root: Path) -> None:
        """Build into a tar archive, and unpack it as who we are."""
        log = root.with_suffix(".log")
        _LOG.info("building an image for containers, once: a minute or two (%s)", log)
        archive = archive_of(None, cache)
        with workplace(root.with_suffix(".workplace")) as place:
            packed = place / "out" / "root.tar"
            names = archive.known_names(_PACKAGES, _PACKAGES)
            bootstrap(archive, names, place, str(packed), ["--format=tar"], log)
            _extract_own(packed, root)

    return _made_once(folder / f"bareline-{digest}", make)


def _extract_own(packed: Path, root: Path) -> None:
    """Extract the archive that mmdebstrap has just written, without devices and set-user bits.

    The argument `filter` and the filters of `tarfile` are newer than Python 3.11.2.
    """
    with tarfile.open(packed, "r|") as layer:
        # Read by the versions that have filters: `harmless` has done their work.
        layer.extraction_filter = lambda entry, _: entry
        layer.extractall(root, members=_own_entries(layer))


def _own_entries(layer: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for entry in layer:
        parts = entry.name.split("/")
        if entry.name.startswith("/") or ".." in parts:
            raise ValueError(f"{entry.name[-80:]} is outside the root")
        safe_entry = harmless(entry)
        if safe_entry is not None:
            yield safe_entry
