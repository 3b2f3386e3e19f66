"""GlusterFS over nodes: a daemon on each, one volume of bricks, and a mount on each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bareline.platforms.layers.filesystem.mounted import Mounted, Peer, Run, run_script
from bareline.platforms.layers.filesystem.options import Gluster
from bareline.vocabulary.model import Scalar


def mount_gluster(
    peers: Sequence[Peer],
    chosen: Gluster,
    folder: Path,
    below: Path,
    *,
    clients: Sequence[Run] = (),
    private: bool = False,
) -> Mounted:
    """Mount a volume on every node.

    - `below`: folder of the nodes in which bricks are made; who gave it removes it.
    - `clients`: where else it is mounted.
    - `private`: the nodes share this machine's folders, and have mount namespaces of their own.
    """
    users = [*(peer.run for peer in peers), *clients]
    for run in users if private else ():
        run_script(run, "gluster", "private")
    for peer in peers:
        run_script(peer.run, "gluster", "daemon")
    holders = [peers[number % len(peers)] for number in range(chosen.bricks)]
    bricks = [f"{peer.address}:{below}/brick{number + 1}" for number, peer in enumerate(holders)]
    used = " ".join(dict.fromkeys(peer.address for peer in (peers[0], *holders)))
    said = run_script(peers[0].run, "gluster", "volume", peers[0].address, used, *bricks)
    for run in users:
        # A client asks any node that knows the volume where its bricks are.
        run_script(run, "gluster", "mount", peers[0].address, str(folder), chosen.options)
    facts: dict[str, Scalar] = {
        "fs.layer": chosen.type,
        "fs.bricks": chosen.bricks,
        "fs.brick_places": ", ".join(peer.name for peer in holders),
        "fs.server_program": said["version"],
        "fs.export": said["export"],
    }
    return Mounted(str(folder), facts, ("server-cache",))
