"""Apptainer, and Singularity, whose options are the same."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from bareline.platforms.layers.container.runtimes.base import (
    FOLDERS,
    Box,
    Image,
    Runtime,
    pairs,
)


class Apptainer(Runtime):
    """Apptainer: a container's folders are bound, an instance is what is joined."""

    name = "apptainer"
    title = "Apptainer"
    program = "apptainer"
    images = FOLDERS | {Image.STORED}
    version_line = ("apptainer", "--version")

    def _binds(self, box: Box) -> list[str]:
        listed = [*(f"{path}:{path}:ro" for path in box.readable), *box.writable]
        return pairs("--bind", listed)

    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a container of its own."""
        return [self.program, "exec", *self._binds(box), self._image(box)]

    def keep(self, box: Box) -> Sequence[str]:
        """Give the words that start an instance, and stop it when what waits has ended."""
        begin = shlex.join(
            [self.program, "instance", "start", *self._binds(box), self._image(box), box.name]
        )
        end = shlex.join([self.program, "instance", "stop", box.name])
        # In a session of its own: it has to outlive whoever is killed, to stop the instance.
        return ["setsid", "--wait", "sh", "-c", f'{begin} >&2 && "$@"; {end} >&2', "sh"]

    def join(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in the node's container."""
        return [self.program, "exec", f"instance://{box.name}"]

    def _image(self, box: Box) -> str:
        return f"docker://{box.image}" if box.kind is Image.STORED else box.image

    def image_id(self, box: Box) -> list[str]:
        """Give the command line that prints what identifies the image."""
        return [] if box.kind is Image.STORED else super().image_id(box)


class Singularity(Apptainer):
    """SingularityCE and the Singularity before it."""

    name = "singularity"
    title = "Singularity"
    program = "singularity"
    version_line = ("singularity", "--version")
