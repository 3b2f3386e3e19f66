"""Enroot, NVIDIA's unprivileged runtime."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.layers.container.runtimes.base import (
    EVERY_NAME,
    HOLDER,
    Box,
    Image,
    Runtime,
    pairs,
)


class Enroot(Runtime):
    """Enroot: an image file (squashfs), or a container that was created, by its name."""

    name = "enroot"
    title = "Enroot"
    program = "enroot"
    images = frozenset({Image.PATH, Image.STORED})
    version_line = ("enroot", "version")

    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a container of its own."""
        mounts = [*(f"{path}:{path}:none:x-create=dir,bind,ro" for path in box.readable)]
        mounts += [f"{path}:{path}" for path in box.writable]
        return ["enroot", "start", EVERY_NAME, *pairs("--mount", mounts), box.image]

    def join(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in the node's container."""
        return ["enroot", "exec", EVERY_NAME, HOLDER]

    def image_id(self, box: Box) -> list[str]:
        """Give the command line that prints what identifies the image; none of a created one."""
        return [] if box.kind is Image.STORED else super().image_id(box)
