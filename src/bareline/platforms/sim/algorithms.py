"""Which algorithm a collective function takes, by MPI library.

SimGrid knows the choices that libraries make by message size and ranks as "selectors". That of
SimGrid 3.32 for Open MPI follows the tables of Open MPI 4.1, but calls other algorithms than the
library does: it cuts messages into segments that the library sends whole, goes up a tree and down
again where the library doubles, and stops for ever in some gathers. Functions whose messages,
counted, are others than the library's (`benchmarks/collective_messages.py`) are therefore made
anew for the simulated cluster (`native/simulator`). The selector for MPICH is of 2014.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bareline.vocabulary.collectives import COLLECTIVES

_SELECTORS: Mapping[str, str] = MappingProxyType({"openmpi": "ompi", "mpich": "mpich"})


def made_anew(library: str, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """Name the functions that the simulated cluster has algorithms of its own for.

    Those that the user names an algorithm for keep that.
    """
    if library != "openmpi":
        return ()
    return tuple(
        each.name for each in COLLECTIVES.values() if each.anew and each.name not in chosen
    )


def collectives(library: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """Give SMPI's options for the collective functions of a library.

    `library`: ``openmpi`` or ``mpich``.
    `chosen`: algorithms that the user names, by function in lower case.
    """
    return {
        "smpi/coll-selector": _SELECTORS[library],
        **{f"smpi/{function}": name for function, name in sorted(chosen.items())},
    }
