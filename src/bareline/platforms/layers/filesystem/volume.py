"""File systems of one node's own: in memory, or in a sparse file."""

from __future__ import annotations

from pathlib import Path

from bareline.platforms.layers.filesystem.mounted import Mounted, Run, run_script
from bareline.platforms.layers.filesystem.options import Loop, Tmpfs


def mount_volume(run: Run, chosen: Tmpfs | Loop, folder: Path, below: Path) -> Mounted:
    """Mount one on a node.

    `below`: folder of the node in which the sparse file is made.
    """
    at, size = str(folder), str(chosen.size_bytes)
    if isinstance(chosen, Tmpfs):
        run_script(run, "volume", "tmpfs", at, size, chosen.options)
        return Mounted(at, {"fs.layer": chosen.type})
    image = str(below / "image")
    direct = "yes" if chosen.direct else "no"
    said = run_script(run, "volume", chosen.kind, at, size, chosen.options, image, direct)
    facts = {
        "fs.layer": chosen.type,
        "fs.below": said["below"],
        "fs.below_cache": "none: direct" if chosen.direct else "page cache",
    }
    return Mounted(at, facts, () if chosen.direct else ("loop-file",))
