"""Images: what a container's root is made of."""

from __future__ import annotations

import hashlib
import logging
import shutil
import tarfile
from pathlib import Path

from bareline.host.locks import file_lock
from bareline.host.tools import require
from bareline.platforms.images.bootstrap import PROGRAMS, bootstrap, workplace
from bareline.platforms.images.sources import archive_of, host_suite
from bareline.platforms.layers.container.archive import harmless, unpacked
from bareline.platforms.layers.container.options import Container
from bareline.platforms.layers.container.runtimes import Image
from bareline.vocabulary.errors import PlatformError

_LOG = logging.getLogger(__name__)
#: What describes a node, beside what the probes run.
_PACKAGES = ("iproute2", "procps", "ethtool", *PROGRAMS)


def resolve(container: Container, cache: Path, where: str) -> str:
    """Give the path of an image, made if need be, or its name in the runtime's store."""
    kind = container.kind
    if kind is Image.HOST:
        return "/"
    if kind in (Image.PATH, Image.STORED):
        return container.image
    folder = cache.absolute() / "containers"
    if kind is Image.ARCHIVE:
        return str(unpacked(Path(container.image), folder))
    return str(_built(folder, cache, where))


def _built(folder: Path, cache: Path, where: str) -> Path:
    """Give the root that holds what guests hold, but what they boot with; built once."""
    suite = host_suite()
    if not suite or shutil.which("apt-get") is None:
        raise PlatformError(
            "images can be built on Debian and Ubuntu only",
            where=f'{where}, image = "bareline"',
            hint="give the path of a root folder or of an archive",
        )
    require("mmdebstrap", why="which builds images", where=f'{where}, image = "bareline"')
    digest = hashlib.sha256("\0".join((suite, *_PACKAGES)).encode()).hexdigest()[:16]
    root = folder / f"bareline-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(root.with_suffix(".lock")):
        if not root.exists():
            _build(root, cache)
    return root


def _build(root: Path, cache: Path) -> None:
    """Build into a tar archive, unpack it as who we are, and move it into place whole."""
    log = root.with_suffix(".log")
    _LOG.info("building an image for containers, once: a minute or two (%s)", log)
    archive = archive_of(None, cache)
    making = root.with_suffix(".new")
    shutil.rmtree(making, ignore_errors=True)
    with workplace(root.with_suffix(".workplace")) as place:
        packed = place / "out" / "root.tar"
        names = archive.known_names(_PACKAGES, _PACKAGES)
        bootstrap(archive, names, place, str(packed), ["--format=tar"], log)
        making.mkdir()
        with tarfile.open(packed, "r|") as layer:
            layer.extractall(making, filter=_harmless)
    making.rename(root)


def _harmless(entry: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    made = harmless(entry)
    return made and tarfile.tar_filter(made, path)
