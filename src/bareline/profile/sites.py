"""Call sites: the places in a program from which its functions were called."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import polars as pl

from bareline.profile.model import SITE_COLUMNS, Profile

#: A function, a file and a line.
SourcePlace: TypeAlias = tuple[str, str, int]

_UNKNOWN: SourcePlace = ("", "", 0)
#: As addr2line writes a name that it does not know.
_NO_NAME = "??"


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place in the program that calls a function.

    - `place`: function, file and line if they are known, else the object file and offset.
    - `share`: share of the time of all MPI calls.
    - `imbalance`: the largest time of a rank divided by the mean time of the ranks that make the
      call.
    """

    call: str
    place: str
    count: int
    bytes: int
    time_s: float
    mean_s: float
    longest_s: float
    share: float
    ranks: int
    imbalance: float


def with_sites_named(profile: Profile) -> Profile:
    """Return the profile with function, file and line of each call site, as far as known.

    ``addr2line`` reads the line tables that a compiler writes with ``-g``. Without these tables it
    still finds the names of functions. In a stripped program it finds no names, and the call sites
    keep their object file and offset.
    """
    table = profile.site_table
    if table.is_empty() or shutil.which("addr2line") is None:
        return profile
    place_of: dict[tuple[str, int], SourcePlace] = {}
    for (name,), rows in table.filter(pl.col("offset") > 0).group_by("object"):
        path = str(name)
        offsets = rows["offset"].unique().sort().to_list()
        for offset, place in zip(offsets, _source_places(path, offsets), strict=True):
            place_of[path, offset] = place
    keys = table.select("object", "offset").iter_rows()
    places = [place_of.get(key, _UNKNOWN) for key in keys]
    columns = {name: SITE_COLUMNS[name] for name in ("function", "file", "line")}
    named = pl.DataFrame(places, schema=columns, orient="row")
    return replace(profile, site_table=table.with_columns(named.get_columns()))


def _source_places(path: str, offsets: Sequence[int]) -> list[SourcePlace]:
    """Return the source places of offsets in an object file, as addr2line prints them."""
    try:
        process = subprocess.run(
            ["addr2line", "-f", "-C", "-e", path],
            input="".join(f"{offset:#x}\n" for offset in offsets),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return [_UNKNOWN] * len(offsets)
    lines = process.stdout.splitlines()
    if process.returncode != 0 or len(lines) != 2 * len(offsets):
        return [_UNKNOWN] * len(offsets)
    places = []
    for function, location in zip(lines[::2], lines[1::2], strict=True):
        file, _, number = location.partition(" ")[0].rpartition(":")
        line = int(number) if number.isdigit() else 0
        places.append((_known_name(function), _known_name(file), line))
    return places


def _known_name(name: str) -> str:
    """Return a name that addr2line printed; empty if the name is unknown."""
    return "" if name == _NO_NAME else name


def call_sites(profile: Profile, most: int | None = None) -> list[CallSite]:
    """Return the call sites, the largest time first, at most `most` of them.

    A compiler may make several machine calls of one line. They are one call site, and so are the
    calls of a function whose lines are unknown.
    """
    table = profile.site_table
    total = float(table["time_ns"].sum()) or 1.0
    origins = table.select("function", "file", "line", "object", "offset").iter_rows()
    places = pl.Series("place", [_place_text(*origin) for origin in origins], pl.String)
    sums = (
        table.with_columns(places)
        .group_by("call", "place")
        .agg(
            pl.col("count", "bytes", "time_ns", "rank_max_ns").sum(),
            pl.col("max_ns", "ranks").max(),
        )
    )
    spent = pl.col("time_ns")
    time_s = spent * 1e-9
    uneven = pl.col("rank_max_ns").cast(pl.Float64) * pl.col("ranks") / spent
    sorted_sums = sums.sort("time_ns", "call", "place", descending=[True, False, False])
    columns = sorted_sums.head(most or sums.height).select(
        "call",
        "place",
        "count",
        "bytes",
        "ranks",
        time_s=time_s,
        mean_s=time_s / pl.max_horizontal("count", 1),
        longest_s=pl.col("max_ns") * 1e-9,
        share=spent / total,
        imbalance=pl.when(spent != 0).then(uneven).otherwise(1.0),
    )
    return [CallSite(**row) for row in columns.iter_rows(named=True)]


def _place_text(function: str, file: str, line: int, path: str, offset: int) -> str:
    if not offset:
        return "elsewhere"
    where = ""
    if file and line:
        name = os.path.basename(file)  # noqa: PTH119
        where = f"{name}:{line}"
    if function and where:
        return f"{function} ({where})"
    if function or where:
        return function or where
    return f"{Path(path).name}+{offset:#x}"
