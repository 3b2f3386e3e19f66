"""Podman, and Docker, whose options are nearly the same."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.layers.container.runtimes.base import (
    EVERY_NAME,
    Box,
    Expanded,
    Image,
    Runtime,
    pairs,
)

#: Ranks reach each other as they do outside: network, shared memory and processes are the node's.
_SHARED = ("--network=host", "--ipc=host", "--pid=host")


class Podman(Runtime):
    """Podman, which keeps images itself and takes root folders, too."""

    name = "podman"
    title = "Podman"
    program = "podman"
    images = frozenset({Image.BARELINE, Image.PATH, Image.ARCHIVE, Image.STORED})
    version_line = ("podman", "--version")
    #: The user inside is the one outside.
    _user: Sequence[str] = ("--userns=keep-id",)

    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a container of its own."""
        line = [self.program, "run", "--rm", "--interactive", EVERY_NAME, *_SHARED, *self._user]
        volumes = [*(f"{path}:{path}:ro" for path in box.readable)]
        volumes += [f"{path}:{path}" for path in box.writable]
        return [*line, *pairs("--volume", volumes), *self._image(box)]

    def keep(self, box: Box) -> Sequence[str]:
        """Give the words that make the node's container, which has a name."""
        first, *others = self.start(box)
        return [first, others[0], f"--name={box.name}", *others[1:]]

    def join(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in the node's container."""
        return [self.program, "exec", "--interactive", EVERY_NAME, box.name]

    def _image(self, box: Box) -> Sequence[str]:
        return [box.image] if box.kind is Image.STORED else ["--rootfs", box.image]

    def image_id(self, box: Box) -> list[str]:
        """Give the command line that prints what identifies the image."""
        if box.kind is not Image.STORED:
            return super().image_id(box)
        return [self.program, "image", "inspect", "--format", "{{.Id}}", box.image]


class Docker(Podman):
    """Docker, whose service starts containers, and which takes images of its store only."""

    name = "docker"
    title = "Docker"
    program = "docker"
    images = frozenset({Image.STORED})
    version_line = ("docker", "--version")
    _user = ("--user", Expanded('"$(id -u):$(id -g)"'))
