"""Folders of the host, exported over the guests' network by an NFS server of bareline's own."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.held import SETUP_S
from bareline.platforms.layers.filesystem.nfs import Export, serve
from bareline.platforms.process import Finished, local_environment, run_process
from bareline.platforms.vm.devices import share_tag
from bareline.platforms.vm.hypervisor import Hypervisor
from bareline.platforms.vm.options.hardware import Share


def exported(shares: Sequence[Share]) -> list[Export]:
    """Give the shares that go over the network."""
    return [
        Export(share.source, share_tag(number), share.read_only)
        for number, share in enumerate(shares)
        if share.kind == "nfs"
    ]


def start_exports(shares: Sequence[Share], hypervisor: Hypervisor) -> None:
    """Start the server where a share needs it; it ends with the enclosure."""

    def inside(argv: Sequence[str], stdin: str) -> Finished:
        line = hypervisor.inside(argv)
        return run_process(line, env=local_environment(), timeout_s=SETUP_S, stdin=stdin)

    exports = exported(shares)
    if exports:
        serve(inside, exports, hypervisor.address, str(hypervisor.folder / "nfs"))
