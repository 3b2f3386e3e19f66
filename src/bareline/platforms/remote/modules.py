"""Environment modules (Environment Modules, Lmod) that a program on a node wants loaded.

References
----------
J. L. Furlani, "Modules: Providing a Flexible User Environment", Proc. 5th USENIX LISA (1991).
R. McLay et al., "Best Practices for the Deployment and Management of Production HPC Clusters",
SC '11 State of the Practice Reports (2011), doi:10.1145/2063348.2063360.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from bareline.platforms.remote.conversation import conversation, script
from bareline.platforms.remote.native import Nodes
from bareline.vocabulary.errors import PlatformError

#: The name of a module, as ``module load`` takes it.
ModuleName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+/-]+$")]
_LOAD_S = 60.0
#: $1 the number of modules, then their names, then the program. Old versions of Environment
#: Modules end well whatever happens: what they list as loaded tells.
_LOADER = """
wanted=("${@:2:$1}")
shift $(($1 + 1))
type module >/dev/null 2>&1 || { echo "there are no environment modules" >&2; exit 126; }
for name in "${wanted[@]}"; do
    if ! module load "$name" >/dev/null 2>&1 || [[ :$LOADEDMODULES != *:"${name%%/*}"* ]]; then
        echo "the module '$name' cannot be loaded" >&2
        exit 126
    fi
done
exec "$@"
"""
_TRY = """
shift
said=$("$@" true 2>&1 </dev/null) || say unloaded "$(printf '%s' "$said" | tail -n 1)"
say tried
stay
"""


def loader(modules: Sequence[str]) -> list[str]:
    """Give the words before a command that load modules first; none where there are none.

    A login shell, because that is where systems define the command ``module``.
    """
    return ["bash", "-lc", _LOADER, "bash", str(len(modules)), *modules] if modules else []


def try_modules(nodes: Nodes, modules: Sequence[str]) -> None:
    """See that every node can load modules.

    Raises
    ------
    PlatformError
        With the name of a node that cannot.
    """
    if not modules:
        return
    everyone = range(len(nodes.nodes))
    with conversation(
        nodes.talk_lines(everyone, script("answers") + _TRY, loader(modules))
    ) as talk:
        talk.wait("tried", _LOAD_S)
        for node, said in talk.said.items():
            for reason in said.get("unloaded", ()):
                raise PlatformError(reason, where=node, hint="see what `module avail` shows there")
