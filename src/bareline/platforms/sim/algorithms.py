"""Which algorithm a collective function takes, by MPI library and message size.

SimGrid knows the choices that libraries make by message size and ranks as "selectors", of library
versions of 2010 to 2014. Where a selector is far from what the library does today, an algorithm is
pinned:

* SimGrid 3.32's selector for Open MPI sends a small all-reduce up a tree and down again (320 us for
  8 bytes on 256 ranks at 20 us a message); Open MPI 4.1 exchanges by recursive doubling below
  10 kB, which takes half of that (160 us). Larger ones follow the selector: a ring.
* All-to-all with counts goes in pairs, Open MPI's own default; all at once takes a simulator ten
  times as long.

One simulation has one algorithm for all sizes. A sweep that crosses a size from which another one
is meant runs as two simulations.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: Open MPI's limit between recursive doubling and rings, in bytes.
SMALL_ALLREDUCE_BYTES = 10_000

_SELECTORS: Mapping[str, str] = MappingProxyType({"openmpi": "ompi", "mpich": "mpich"})
_PINNED: Mapping[str, str] = MappingProxyType({"alltoallv": "pair"})


def collectives(
    library: str, chosen: Mapping[str, str], *, largest_bytes: int = 0
) -> dict[str, str]:
    """Give SMPI's options for the collective functions of a library.

    Parameters
    ----------
    library
        ``openmpi`` or ``mpich``.
    chosen
        Algorithms that the user names, by function in lower case.
    largest_bytes
        Largest message of the collective functions that the program calls.
    """
    pinned = dict(_PINNED)
    if library == "openmpi" and largest_bytes < SMALL_ALLREDUCE_BYTES:
        pinned["allreduce"] = "rdb"
    return {
        "smpi/coll-selector": _SELECTORS[library],
        **{f"smpi/{function}": name for function, name in sorted({**pinned, **chosen}.items())},
    }


def stretches(
    library: str, benchmark: str, chosen: Mapping[str, str], sizes: tuple[int, int]
) -> list[tuple[int, int]]:
    """Split a sweep over message sizes where the algorithm changes.

    Parameters
    ----------
    benchmark
        Name of mpibench's benchmark.
    sizes
        Smallest and largest message in bytes.
    """
    low, high = sizes
    limit = SMALL_ALLREDUCE_BYTES
    if (library, benchmark) != ("openmpi", "allreduce") or "allreduce" in chosen:
        return [sizes]
    if high < limit or low >= limit:
        return [sizes]
    return [(low, limit - 1), (limit, high)]
