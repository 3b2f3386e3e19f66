"""The file system that guests mount for the trials.

See `bareline.platforms.hosts.layers.filesystem`.

A file system on the host is a shared folder, which guests mount while they boot. File systems in
guests, or served by guests, are mounted when all guests are up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bareline.platforms.hosts.holder import SETUP_S
from bareline.platforms.hosts.layers.filesystem.mounted import (
    Export,
    Mounted,
    MountingNode,
    facts_of,
    mount_gluster,
    mount_options,
    mount_served,
    mount_volume,
    serve,
)
from bareline.platforms.hosts.layers.filesystem.options import (
    Gluster,
    Loop,
    Nfs,
    NineP,
    Tmpfs,
    Virtiofs,
)
from bareline.platforms.hosts.process import Finished, run_process
from bareline.platforms.made.vm.domain import Guest, share_tag
from bareline.platforms.made.vm.guest import GuestAccess
from bareline.platforms.made.vm.hardware import SharedFolder
from bareline.platforms.made.vm.hypervisor import Hypervisor
from bareline.platforms.made.vm.options import VmOptions
from bareline.vocabulary.model import Scalar


def exported(shares: Sequence[SharedFolder]) -> list[Export]:
    """Return the shared folders that are exported over the network."""
    return [
        Export(share.source, share_tag(number), share.read_only)
        for number, share in enumerate(shares)
        if share.kind == "nfs"
    ]


def start_exports(shares: Sequence[SharedFolder], hypervisor: Hypervisor) -> None:
    """Start the file server if a shared folder needs it; it ends with the guests' namespaces."""

    def inside(argv: Sequence[str], stdin: str) -> Finished:
        return run_process(hypervisor.inside(argv), timeout_s=SETUP_S, stdin=stdin)

    if exports := exported(shares):
        serve(inside, exports, hypervisor.address, str(hypervisor.folder / "nfs"))


#: Where guests mount it.
TARGET = "/mnt/bareline"


def with_share(options: VmOptions, source: Path) -> VmOptions:
    """Return options to which the shared folder is added, if the file system is on the host."""
    share = partial(SharedFolder, source=str(source), target=TARGET)
    match options.filesystem:
        case Virtiofs() as chosen:
            added = share(kind="virtiofs", cache=chosen.cache)
        case NineP() as chosen:
            added = share(kind="9p", options=f"cache={chosen.cache},msize={chosen.msize_bytes}")
        case Nfs(server="host") as chosen:
            added = share(kind="nfs", options=mount_options(chosen))
        case _:
            return options
    return options.model_copy(update={"shares": (*options.shares, added)})


def mount_in_guests(
    options: VmOptions, guests: Sequence[Guest], server: Guest | None, access: GuestAccess
) -> Mounted | None:
    """Mount the file system in the guests of one tenant; all of them must be running.

    Call this again after a guest was rebuilt.
    """
    peers = [_peer(guest, access) for guest in guests]
    folder = Path(TARGET)
    below = Path(options.io_folder)
    match options.filesystem:
        case Tmpfs() | Loop() as chosen:
            mounted, *_ = [mount_volume(peer.run, chosen, folder, below) for peer in peers]
            return mounted
        case Virtiofs() | NineP() as chosen:
            facts: dict[str, Scalar] = {"fs.layer": chosen.type, "fs.server": "host"}
            return Mounted(TARGET, {**facts, "fs.guest_cache": chosen.cache})
        case Nfs() as chosen:
            by = _peer(server, access) if server else peers[0]
            if chosen.server == "host":  # whose share is mounted already
                return Mounted(TARGET, facts_of(chosen))
            return mount_served(chosen, by, [peer.run for peer in peers], folder, below)
        case Gluster() as chosen:
            return mount_gluster(peers, chosen, folder, below)
        case _:
            return None


def _peer(guest: Guest, access: GuestAccess) -> MountingNode:
    def run(argv: Sequence[str], stdin: str) -> Finished:
        return run_process(access.argv(guest.name, argv), timeout_s=SETUP_S, stdin=stdin)

    return MountingNode(guest.name, guest.address, run)
