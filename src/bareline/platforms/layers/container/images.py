"""Images: what a container's root is made of."""

from __future__ import annotations

from pathlib import Path

from bareline.platforms.layers.container.archive import unpacked
from bareline.platforms.layers.container.options import Container
from bareline.platforms.layers.container.runtimes import Image
from bareline.vocabulary.errors import PlatformError


def resolve(container: Container, cache: Path, where: str) -> str:
    """Give the path of an image, made if need be, or its name in the runtime's store.

    Raises
    ------
    PlatformError
        It cannot be made.
    """
    kind = container.kind
    if kind is Image.HOST:
        return "/"
    if kind in (Image.PATH, Image.STORED):
        return container.image
    if kind is Image.ARCHIVE:
        return str(unpacked(Path(container.image), cache / "containers"))
    raise PlatformError(f"no such image in {cache}", where=where)
