"""Sarus, a runtime of HPC sites."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.layers.container.runtimes.base import Box, Image, Runtime


class Sarus(Runtime):
    """Sarus: variables of the host are those inside; nothing joins a container."""

    name = "sarus"
    title = "Sarus"
    program = "sarus"
    images = frozenset({Image.STORED})
    joins = False
    version_line = ("sarus", "--version")

    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a container of its own."""
        mounts = [
            f"--mount=type=bind,source={path},destination={path}{mode}"
            for paths, mode in ((box.readable, ",readonly"), (box.writable, ""))
            for path in paths
        ]
        return ["sarus", "run", *mounts, box.image]

    def join(self, box: Box) -> Sequence[str]:
        """Say that there is no such thing."""
        raise NotImplementedError("Sarus has no way into a container that runs")

    def image_id(self, box: Box) -> list[str]:
        """Give none: its images are listed by name only."""
        return []
