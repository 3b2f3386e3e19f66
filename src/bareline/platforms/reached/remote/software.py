"""The software that a node loads before a program, and the MPI library that is then available.

Loading was tested with Environment Modules and Lmod. For Spack and conda, the documented commands
are used (``spack env activate --sh``, ``conda shell.bash hook``, ``micromamba shell hook``).

References
----------
J. L. Furlani, "Modules: Providing a Flexible User Environment", Proc. 5th USENIX LISA (1991).
R. McLay et al., "Best Practices for the Deployment and Management of Production HPC Clusters",
SC '11 State of the Practice Reports (2011), doi:10.1145/2063348.2063360.
T. Gamblin et al., "The Spack Package Manager: Bringing Order to HPC Software Chaos", SC '15 (2015),
doi:10.1145/2807591.2807623.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bareline.platforms.hosts.launchers.installation import (
    LAUNCHERS,
    MpiInstallation,
    identify,
    launcher_names,
)
from bareline.platforms.hosts.nodes import Nodes
from bareline.platforms.hosts.scripts.node_channel import conversation, script
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.sources import LOAD_MODULE

#: The name of a module, as ``module load`` takes it.
ModuleName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+/-]+$")]
#: Software to load: a module, the name or folder of a Spack environment, of a conda environment.
SoftwareName = Annotated[
    str, Field(pattern=r"^(module|spack|conda):[A-Za-z0-9_/][A-Za-z0-9_.+/@-]*$")
]
#: Commands that list the available software on a node, by its kind.
_LISTS = {"module": "module avail", "spack": "spack env list", "conda": "conda env list"}


def loader(software: Sequence[str]) -> list[str]:
    """Return the words that load software before a command; empty without software.

    The words start a login shell, because systems define the command ``module`` only for login
    shells.
    """
    if not software:
        return []
    return ["bash", "-lc", LOAD_MODULE + script("loader"), "bash", str(len(software)), *software]


def try_software(nodes: Nodes, software: Sequence[str]) -> None:
    """Check that every node can load the software."""
    if not software:
        return
    everyone = range(len(nodes.nodes))
    lines = nodes.talk_lines(everyone, script("answers") + script("try"), loader(software))
    with conversation(lines) as talk:
        talk.wait("tried", 60.0)
        for node, answers in talk.said.items():
            for reason in answers.get("unloaded", ()):
                kinds = dict.fromkeys(each.partition(":")[0] for each in software)
                lists = " and ".join(f"`{_LISTS[kind]}`" for kind in kinds)
                hint = (
                    f"look for the software with {lists} in a login shell of this node, and load it"
                    " by hand"
                )
                raise PlatformError(reason, where=node, hint=hint)


def find_remote_mpi(nodes: Nodes, choice: str) -> MpiInstallation:
    """Return the MPI library of the first node."""
    where = nodes.nodes[0].name
    names: Sequence[str] = (choice, f"{choice}/bin/mpirun", f"{choice}/mpirun")
    if choice in LAUNCHERS or choice == "auto":
        names = launcher_names(choice)
    report = nodes.on_node(0, ["sh", "-c", script("find_mpi"), "sh", *names]).stdout
    for part in report.split("\nend\n"):
        line, _, version = part.partition("\n")
        flavour, number = identify(version) or ("", "")
        wrong = not flavour or (choice in LAUNCHERS and flavour != choice)
        if wrong or not line.startswith("found "):
            continue
        mpirun = line.removeprefix("found ")
        wrappers = [str(Path(mpirun).parent / name) for name in LAUNCHERS[flavour].compilers]
        there = nodes.on_node(0, ["sh", "-c", 'ls -1 "$@" 2>/dev/null', "sh", *wrappers]).stdout
        compiler = next((path for path in wrappers if path in there.splitlines()), None)
        return MpiInstallation(flavour, number, mpirun, compiler)
    library = "MPI library" if choice == "auto" else f"MPI library '{choice}'"
    raise ToolMissing(
        f"the PATH of the node contains no {library}",
        where=where,
        hint="set `mpi` to the path of its mpirun, or `software` to its module",
    )
