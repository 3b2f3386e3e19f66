"""Charliecloud, which needs no rights and no service."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.layers.container.runtimes.base import (
    FOLDERS,
    HOLDER,
    Box,
    Expanded,
    Runtime,
    pairs,
)


class Charliecloud(Runtime):
    """ch-run; it binds /dev, /proc, /sys and /tmp by itself."""

    name = "charliecloud"
    title = "Charliecloud"
    program = "ch-run"
    images = FOLDERS
    needs_places = True
    before = 'export USER="${USER:-$(id -un)}"\n'
    version_line = ("sh", "-c", f"{before}ch-run --version")

    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a container of its own."""
        folders = [path for path in (*box.readable, *box.writable) if path != "/tmp"]
        return ["ch-run", *pairs("--bind", folders), box.image, "--"]

    def join(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in the node's container."""
        return ["ch-run", Expanded(f"--join-pid={HOLDER}"), box.image, "--"]
