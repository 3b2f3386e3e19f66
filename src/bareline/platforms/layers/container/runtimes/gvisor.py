"""gVisor's runsc: a sandbox with a kernel of its own, at the processor's native speed."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.layers.container.runtimes.base import FOLDERS, Box, Image, Runtime


class Gvisor(Runtime):
    """runsc do: MPI's launcher and its ranks are in one sandbox, which has no network.

    Its own network stack refuses some kernels, and the machine's would not be gVisor's.
    """

    name = "runsc"
    title = "gVisor (runsc)"
    program = "runsc"
    images = FOLDERS | {Image.HOST}
    whole = True
    version_line = ("runsc", "--version")

    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a sandbox."""
        line = ["runsc", "--platform=ptrace", "--network=none", "do"]
        # Without this what is written is seen inside only.
        return [*line, "-force-overlay=false", "-root", box.image, "--"]

    def join(self, box: Box) -> Sequence[str]:
        """Give the same: the launcher's sandbox is the node's."""
        return self.start(box)
