"""Which algorithm a collective function takes, by MPI library.

SimGrid knows the choices that libraries make by message size and ranks as "selectors". That of
SimGrid 3.32 for Open MPI is the table of Open MPI 4.1 (an all-reduce of 8 bytes exchanges by
recursive doubling on up to 127 ranks and goes up a tree and down again on more; one of 4 KiB on two
ranks is a ring). The one for MPICH is of 2014.

Two algorithms are pinned:

* All-to-all with counts goes in pairs, Open MPI's choice for up to 3, 64 to 127 and 256 to 1023
  ranks. Elsewhere it sends everything at once, which takes a simulator ten times as long.
* A broadcast on 256 ranks or more is a binomial tree. Open MPI's is one of radix 4, for which
  SimGrid has MVAPICH's alone: that one first tells every rank where all others are, a million
  messages (40 s of a core) on 1024 ranks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_SELECTORS: Mapping[str, str] = MappingProxyType({"openmpi": "ompi", "mpich": "mpich"})
_PINNED: Mapping[str, str] = MappingProxyType({"alltoallv": "pair"})
_PINNED_ON_MANY: Mapping[str, str] = MappingProxyType({"bcast": "binomial_tree"})
_MANY_RANKS = 256


def collectives(library: str, chosen: Mapping[str, str], ranks: int) -> dict[str, str]:
    """Give SMPI's options for the collective functions of a library.

    Parameters
    ----------
    library
        ``openmpi`` or ``mpich``.
    chosen
        Algorithms that the user names, by function in lower case.
    ranks
        Of the program.
    """
    many = library == "openmpi" and ranks >= _MANY_RANKS
    named = {**_PINNED, **(_PINNED_ON_MANY if many else {}), **chosen}
    return {
        "smpi/coll-selector": _SELECTORS[library],
        **{f"smpi/{function}": name for function, name in sorted(named.items())},
    }
