"""Root folders of containers, built here or unpacked from an archive.

An archive is read within a budget (modules `archive` and `budget`). umoci then gets the checked
layers as a newly written image, and resolves every path inside the root folder.
"""

from __future__ import annotations

import hashlib
import json
import logging
import lzma
import os
import platform
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from bareline.host.locks import file_lock, try_lock
from bareline.host.tools import install_hint, require
from bareline.platforms.hosts.images.sources import (
    PROGRAMS,
    archive_of,
    bootstrap,
    host_suite,
    remove_workplace,
    workplace,
)
from bareline.platforms.hosts.layers.container.archive import (
    ARCHITECTURES,
    ArchiveError,
    ImageArchive,
    harmless,
    plain,
    repack,
)
from bareline.platforms.hosts.layers.container.budget import (
    OverBudget,
    UnpackingBudget,
    default_bytes,
)
from bareline.platforms.hosts.layers.container.options import Container
from bareline.platforms.hosts.layers.container.runtimes import ImageKind
from bareline.platforms.hosts.process import run_process
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.files import open_regular, step_to_read

_LOG = logging.getLogger(__name__)
#: Programs that describe a node, in addition to the programs of the probes.
_PACKAGES = ("iproute2", "procps", "ethtool", *PROGRAMS)
_OCI = "application/vnd.oci.image"
_SAVE = "save one with `podman save` or `docker save`"
_LARGER = "make space in the cache folder, or set a larger `unpack_gib` if you trust the archive"
_TIMEOUT_S = 3600.0
_CHUNK_BYTES = 1 << 20
#: Exceptions of a damaged archive, in addition to errors of the disk.
_DAMAGED = (
    *(tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RecursionError, MemoryError),
    *(ValueError, LookupError, ArithmeticError, OSError),
)


def unpacked(archive: Path, folder: Path, most_bytes: int | None = None) -> Path:
    """Return the root folder of an unpacked archive; each archive content is unpacked once.

    Parameters
    ----------
    archive
        A file in the format of OCI or Docker, perhaps compressed.
    folder
        The folder of the cache for roots.
    most_bytes
        Limit for the size of all files; by default a quarter of the free space.

    Raises
    ------
    PlatformError
        The archive cannot be read, is damaged, exceeds its budget, or has unsafe entries.
    ToolMissing
        umoci is not installed.
    """
    if shutil.which("umoci") is None:
        raise ToolMissing(
            "'umoci' is not installed, which bareline needs to unpack the archive of an image",
            where=str(archive),
            hint=install_hint("umoci") + ", or give the path of a root folder",
        )
    try:
        with open_regular(archive) as file:
            folder.mkdir(parents=True, exist_ok=True)
            size_bytes = os.fstat(file.fileno()).st_size
            budget_bytes = default_bytes(folder) if most_bytes is None else most_bytes
            if size_bytes > budget_bytes:
                raise OverBudget(
                    f"it has {size_bytes:,} bytes, which is more than the {budget_bytes:,} bytes"
                    " that it may unpack to"
                )
            digest = _digest_of(file)
            budget = UnpackingBudget(budget_bytes, size_bytes)
            return _made_once(folder / digest[:16], lambda place: _unpack(file, place, budget))
    except _DAMAGED as error:
        raise _refusal(error, archive) from error


def _refusal(error: BaseException, archive: Path) -> PlatformError:
    """Return the error that explains why an archive was not unpacked."""
    where = str(archive)
    if isinstance(error, OverBudget):
        return PlatformError(f"the archive is not unpacked: {error}", where=where, hint=_LARGER)
    if isinstance(error, OSError) and error.errno is not None:
        path = error.filename
        place = f" ({path})" if path and str(path) != where else ""
        reason = f"the archive cannot be read or unpacked: {error.strerror or error}{place}"
        return PlatformError(reason, where=where, hint=step_to_read(error, _SAVE))
    reason = str(error)
    if not isinstance(error, ArchiveError):
        # Errors of Python's own modules name neither the member nor the key.
        reason = f"it is damaged ({type(error).__name__}: {error})"
    return PlatformError(
        f"the file is not a valid archive of a container image: {reason}", where=where, hint=_SAVE
    )


def _digest_of(file: BinaryIO) -> str:
    checksum = hashlib.sha256()
    while data := file.read(_CHUNK_BYTES):
        checksum.update(data)
    return checksum.hexdigest()


#: The folder that becomes the root, below its place while it is made.
_ROOT = "root"


def _made_once(root: Path, make: Callable[[Path], None]) -> Path:
    """Make a root folder, completely or not at all, unless the folder exists.

    - `make`: fills the subfolder `root` of a work folder, which also contains all temporary files.
      A work folder that a killed process left behind is removed first.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(_lock_of(root)):
        _remove_left(root)
        if not root.exists():
            place = root.with_suffix(".new")
            try:
                (place / _ROOT).mkdir(parents=True)
                make(place)
                (place / _ROOT).rename(root)
            finally:
                shutil.rmtree(place, ignore_errors=True)
    return root


def _lock_of(root: Path) -> Path:
    return root.with_suffix(".lock")


def _left_of(root: Path) -> list[Path]:
    """Return the work folders of killed processes that were making the root folder."""
    return sorted(root.parent.glob(f"{root.name}.new*"))


def _remove_left(root: Path) -> list[Path]:
    """Remove the work folders of a killed process that made a root.

    The caller has the lock of the root.
    """
    places = _left_of(root)
    for place in places:
        shutil.rmtree(place, ignore_errors=True)
    note = root.with_suffix(".workplace")
    if note.exists():
        remove_workplace(note)
        note.unlink(missing_ok=True)
        places.append(note)
    return places


def clean_images(cache: Path) -> list[str]:
    """Remove the leftovers of killed processes that unpacked or built images.

    Return a line for each.
    """
    folder = cache / "containers"
    left = [*folder.glob("*.new*"), *folder.glob("*.workplace")]
    lines = []
    for root in sorted({folder / path.name.partition(".")[0] for path in left}):
        lock = _lock_of(root)
        # Another process may be making it: it then has the lock.
        with lock.open("a") as file, try_lock(file.fileno(), lock) as is_ours:
            if is_ours:
                lines += [f"unfinished image of containers {path}" for path in _remove_left(root)]
    return lines


def _unpack(file: BinaryIO, place: Path, budget: UnpackingBudget) -> None:
    image = place / "image"
    with _plain_archive(file, place, budget) as outer:
        _write_image(ImageArchive.read(outer, budget), image, budget)
    root = place / _ROOT
    argv = ("umoci", "raw", "unpack", "--rootless", "--image", f"{image}:image", str(root))
    finished = run_process(argv, timeout_s=_TIMEOUT_S)
    if finished.timed_out:
        raise ArchiveError(f"umoci does not unpack it within {_TIMEOUT_S:.0f} s")
    if finished.exit_code != 0:
        last_line = finished.stderr.strip().rpartition("\n")[2]
        raise ArchiveError(last_line[-300:] or "umoci cannot unpack it and prints no reason")
    if not any(root.iterdir()):
        raise ArchiveError("it contains no files")


@contextmanager
def _plain_archive(file: BinaryIO, place: Path, budget: UnpackingBudget) -> Iterator[BinaryIO]:
    """Yield a file with the archive's uncompressed content, to read its members in any order."""
    file.seek(0)
    with plain(file, place) as content:
        if content is file:
            yield file
            return
        copied = place / "archive.tar"
        compressed = UnpackingBudget(budget.most_bytes, budget.packed_bytes)
        with copied.open("wb") as out:
            while data := content.read(_CHUNK_BYTES):
                compressed.take_bytes(len(data))
                out.write(data)
    with copied.open("rb") as outer:
        yield outer
    copied.unlink()


def _write_image(archive: ImageArchive, image: Path, budget: UnpackingBudget) -> None:
    """Write the layers as a new image, so that umoci only reads names that were checked."""
    blobs = image / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    layers = []
    for name in archive.layers():
        with archive.opened(name) as packed:
            repack(packed, image / "new", budget)
        layers.append(_stored(image / "new", blobs, "layer.v1.tar"))
    config = {
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"] for layer in layers]},
    }
    manifest = {
        "schemaVersion": 2,
        "config": _described(config, image, "config.v1+json"),
        "layers": layers,
    }
    named = {"annotations": {"org.opencontainers.image.ref.name": "image"}}
    index = {
        "schemaVersion": 2,
        "manifests": [_described(manifest, image, "manifest.v1+json") | named],
    }
    (image / "index.json").write_text(json.dumps(index), encoding="utf-8")
    (image / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")


def _described(content: Mapping[str, Any], image: Path, kind: str) -> dict[str, Any]:
    """Write a description into an image, and return its descriptor."""
    (image / "new").write_text(json.dumps(content), encoding="utf-8")
    return _stored(image / "new", image / "blobs" / "sha256", kind)


def _stored(file: Path, blobs: Path, kind: str) -> dict[str, Any]:
    """Move a file to the blobs of an image, and return its descriptor."""
    with file.open("rb") as content:
        digest = _digest_of(content)
    blob = blobs / digest
    file.rename(blob)
    return {
        "mediaType": f"{_OCI}.{kind}",
        "digest": f"sha256:{digest}",
        "size": blob.stat().st_size,
    }


def resolve(container: Container, cache: Path, where: str) -> str:
    """Return the path of an image's root folder, or the image's name in the runtime's store.

    A root folder that does not exist yet is made.
    """
    kind = container.kind
    if kind is ImageKind.HOST:
        return "/"
    if kind in (ImageKind.PATH, ImageKind.STORED):
        return container.image
    folder = cache.absolute() / "containers"
    if kind is ImageKind.ARCHIVE:
        most = None if container.unpack_gib is None else int(container.unpack_gib * (1 << 30))
        return str(unpacked(Path(container.image), folder, most))
    return str(_built(folder, cache, where))


def _built(folder: Path, cache: Path, where: str) -> Path:
    """Return a root folder with the packages of guests, without boot files; build it only once."""
    suite = host_suite()
    where = f'{where}, image = "bareline"'
    if not suite or shutil.which("apt-get") is None:
        raise PlatformError(
            "images can be built on Debian and Ubuntu only",
            where=where,
            hint="give the path of a root folder or of an archive",
        )
    require("mmdebstrap", why="which builds images", where=where)
    digest = hashlib.sha256("\0".join((suite, *_PACKAGES)).encode()).hexdigest()[:16]

    root = folder / f"bareline-{digest}"

    def make(place: Path) -> None:
        """Build the root into a tar archive, and unpack the archive as the present user."""
        log = root.with_suffix(".log")
        _LOG.info("building an image for containers, once: a minute or two (%s)", log)
        archive = archive_of(None, cache)
        with workplace(root.with_suffix(".workplace")) as outside:
            packed = outside / "out" / "root.tar"
            names = archive.known_names(_PACKAGES, _PACKAGES)
            bootstrap(archive, names, outside, str(packed), ["--format=tar"], log)
            _extract_own(packed, place / _ROOT)

    return _made_once(root, make)


def _extract_own(packed: Path, root: Path) -> None:
    """Extract the archive that mmdebstrap has just written, without devices and set-user bits.

    The argument `filter` of `tarfile` would do this, but Python 3.11.2 does not have it yet.
    """
    with tarfile.open(packed, "r|") as layer:
        # Read by the versions that have filters: `harmless` has done their work.
        layer.extraction_filter = lambda entry, _: entry
        layer.extractall(root, members=_own_entries(layer))


def _own_entries(layer: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for entry in layer:
        parts = entry.name.split("/")
        if entry.name.startswith("/") or ".." in parts:
            raise ValueError(
                f"the entry {entry.name[-80:]} is outside the root folder of the image"
            )
        safe_entry = harmless(entry)
        if safe_entry is not None:
            yield safe_entry
