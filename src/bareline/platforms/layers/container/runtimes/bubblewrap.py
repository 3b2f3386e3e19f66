"""Bubblewrap, which needs no rights, no service and no store."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.layers.container.runtimes.base import FOLDERS, HOLDER, Box, Image, Runtime


class Bubblewrap(Runtime):
    """bwrap, always with a user namespace: as root, too, it does what it does for all others.

    Processes, network and shared memory stay the node's: ranks reach each other as they do outside.
    """

    name = "bwrap"
    title = "bubblewrap"
    program = "bwrap"
    images = FOLDERS | {Image.HOST}
    joins_with = ("nsenter",)
    needs_places = True
    version_line = ("bwrap", "--version")

    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a container of its own."""
        line = ["bwrap", "--unshare-user", "--die-with-parent", "--ro-bind", box.image, "/"]
        # Without /sys no library learns the processor's topology. Bound devices, because a /dev of
        # its own would need a second user namespace, in which nobody may join the first one's.
        line += ["--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc"]
        line += ["--ro-bind", "/sys", "/sys"]
        for folder in box.readable:
            line += ["--ro-bind", folder, folder]
        for folder in box.writable:
            line += ["--bind", folder, folder]
        return [*line, "--"]

    def join(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in the node's container."""
        enter = ["nsenter", "--target", HOLDER, "--user", "--mount", "--preserve-credentials"]
        return [*enter, "--"]
