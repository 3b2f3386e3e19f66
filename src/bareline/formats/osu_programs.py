"""The OSU programs by their printed titles, and their properties.

A title only names the measurement, not the program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bareline.formats.reading import UNKNOWN_RANKS
from bareline.vocabulary.collectives import COLLECTIVES

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class OsuProgram:
    """Properties of a benchmark.

    - `ranks`: number of ranks of the benchmark; `UNKNOWN_RANKS` if the user chooses it.
    - `largest_bytes`: the largest message size by default; None if unknown.
    - `reduction`: whether the benchmark has the default datatype of reductions.
    - `pairs`: whether the output contains the number of pairs.
    """

    name: str
    ranks: int = UNKNOWN_RANKS
    largest_bytes: int | None = None
    reduction: bool = False
    pairs: bool = False


#: By the words between "OSU MPI" and "Test", where they name no collective function.
_PROGRAMS: Mapping[str, OsuProgram] = {
    "Latency": OsuProgram("latency", 2, 4 * _MIB),
    "Latency Persistent": OsuProgram("latency_persistent", 2, 4 * _MIB),
    "Bandwidth": OsuProgram("bw", 2, 4 * _MIB),
    "Bandwidth Persistent": OsuProgram("bw_persistent", 2, 4 * _MIB),
    "Bi-Directional Bandwidth": OsuProgram("bibw", 2, 4 * _MIB),
    "Bi-Directional Bandwidth Persistent": OsuProgram("bibw_persistent", 2, 4 * _MIB),
    "Bandwidth Congestion In": OsuProgram("bw_fan_in", largest_bytes=4 * _MIB),
    "Bandwidth Congestion Out": OsuProgram("bw_fan_out", largest_bytes=4 * _MIB),
    "Multiple Bandwidth / Message Rate": OsuProgram("mbw_mr", largest_bytes=4 * _MIB, pairs=True),
    "Multi Latency": OsuProgram("multi_lat", largest_bytes=4 * _MIB),
    "Multi-threaded Latency": OsuProgram("latency_mt", 2, 4 * _MIB),
    "Multi-process Latency": OsuProgram("latency_mp", 2, 4 * _MIB),
    "_Put Latency": OsuProgram("put_latency", 2, 4 * _MIB),
    "_Put Bandwidth": OsuProgram("put_bw", 2, 4 * _MIB),
    "_Put Bi-directional Bandwidth": OsuProgram("put_bibw", 2, 4 * _MIB),
    "_Get latency": OsuProgram("get_latency", 2, 4 * _MIB),
    "_Get Bandwidth": OsuProgram("get_bw", 2, 4 * _MIB),
    "_Accumulate latency": OsuProgram("acc_latency", 2, 4 * _MIB),
    "_Get_accumulate latency": OsuProgram("get_acc_latency", 2, 4 * _MIB),
    "_Compare_and_swap latency": OsuProgram("cas_latency", 2),
    "_Fetch_and_op latency": OsuProgram("fop_latency", 2),
    "Init": OsuProgram("init"),
}
_COLLECTIVES = {each.osu: each for each in COLLECTIVES.values() if each.osu}
#: 7.x forgets the blank between "Exchange" and "Latency" of some titles.
_COLLECTIVE = re.compile(
    r"(?P<nonblocking>Non-blocking )?(?P<neighbours>Neighborhood )?(?P<function>\S+)"
    r"(?: Personalized Exchange)?(?P<persistent> Persistent)? ?Latency"
)
#: Words of titles that are not MPI functions, in the form of a sentence.
_SPOKEN = {
    "Latency": "latency",
    "Bandwidth": "bandwidth",
    "Bi-Directional Bandwidth": "bidirectional bandwidth",
    "Multiple Bandwidth / Message Rate": "multi-pair bandwidth",
    "Multi Latency": "multi-pair latency",
    "latency": "latency",
}


def program_of(title: re.Match[str]) -> OsuProgram:
    """Return the program of a title; an unknown program is named by the words of its title."""
    test = _test_of(title)
    key = f"{title['function']} {test}" if title["function"] else test
    if program := _PROGRAMS.get(key) or _collective(test):
        return program
    slug = re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")
    return OsuProgram(slug.removesuffix("_latency") or slug)


def _collective(words: str) -> OsuProgram | None:
    match = _COLLECTIVE.fullmatch(words)
    function = _COLLECTIVES.get(match["function"]) if match else None
    if match is None or function is None:
        return None
    name = function.name
    if match["neighbours"]:
        name = f"neighbor_{name}"
    if match["nonblocking"]:
        name = f"i{name}"
    if match["persistent"]:
        name = f"{name}_persistent"
    largest_bytes = _MIB if function.smallest_bytes else None
    return OsuProgram(name, largest_bytes=largest_bytes, reduction=function.reduces)


def _test_of(title: re.Match[str]) -> str:
    return " ".join((title["test"] + (title["persistent"] or "")).split())


def words_of(title: re.Match[str]) -> str:
    """Return a title's measurement for a sentence, such as ``MPI bandwidth``, ``MPI Allreduce``."""
    test = _test_of(title)
    spoken = _SPOKEN.get(test, test.removesuffix(" Latency"))
    return f"MPI{title['function'] or ''} {spoken}"
