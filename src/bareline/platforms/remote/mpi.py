"""The MPI library of nodes, found there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bareline.platforms.launchers import LAUNCHERS, MpiInstallation, identify
from bareline.platforms.nodes import Nodes
from bareline.vocabulary.errors import ToolMissing

_FIND = """
for name in "$@"; do
    path=$(command -v "$name") || continue
    printf 'found %s\\n' "$path"
    LC_ALL=C "$path" --version 2>&1
    printf 'end\\n'
done
"""


def find_remote_mpi(nodes: Nodes, choice: str) -> MpiInstallation:
    """Find the MPI library of the first node.

    - `choice`: as the option ``mpi`` gives it.
    """
    where = nodes.nodes[0].name
    if choice in LAUNCHERS:
        names: Sequence[str] = (*LAUNCHERS[choice].launchers, "mpirun", "mpiexec")
    elif choice == "auto":
        names = ("mpirun", *(name for each in LAUNCHERS.values() for name in each.launchers))
    else:
        names = (choice, f"{choice}/bin/mpirun", f"{choice}/mpirun")
    said = nodes.on_node(0, ["sh", "-c", _FIND, "sh", *names]).stdout
    for part in said.split("\nend\n"):
        line, _, version = part.partition("\n")
        known = identify(version)
        if known is None or not line.startswith("found "):
            continue
        flavour, number = known
        if choice in LAUNCHERS and flavour != choice:
            continue
        mpirun = line.removeprefix("found ")
        beside = [str(Path(mpirun).parent / name) for name in LAUNCHERS[flavour].compilers]
        there = nodes.on_node(0, ["sh", "-c", 'ls -1 "$@" 2>/dev/null', "sh", *beside]).stdout
        compiler = next((path for path in beside if path in there.splitlines()), None)
        return MpiInstallation(flavour, number, mpirun, compiler)
    what = "no MPI library" if choice == "auto" else f"no MPI library '{choice}'"
    raise ToolMissing(
        f"{what} found on the node's path",
        where=where,
        hint="name its mpirun as `mpi`, or what loads it as `software`",
    )
