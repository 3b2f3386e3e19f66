"""Call sites: from where in a program its functions were called, by function, file and line."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from bareline.profile.model import Profile

_UNKNOWN = ("", "", 0)


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place in the program that calls a function.

    - `place`: function, file and line where they are known, else the object file and offset.
    - `share`: of the time of all MPI calls.
    - `imbalance`: the most time of a rank over the mean of the ranks that call there.
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
    """Name the function, file and line of each call site, as far as the object files tell.

    ``addr2line`` reads the line tables that a compiler writes with ``-g``, and the names of
    functions without them; a stripped program keeps object and offset.
    """
    table = profile.site_table
    if table.is_empty() or shutil.which("addr2line") is None:
        return profile
    named: dict[tuple[str, int], tuple[str, str, int]] = {}
    for (name,), rows in table.filter(pl.col("offset") > 0).group_by("object"):
        offsets = rows["offset"].unique().sort().to_list()
        found = _ask(str(name), offsets)
        named |= {(str(name), at): one for at, one in zip(offsets, found, strict=True)}
    keys = list(zip(table["object"], table["offset"], strict=True))
    places = [named.get(key, _UNKNOWN) for key in keys]
    return replace(
        profile,
        site_table=table.with_columns(
            pl.Series("function", [place[0] for place in places], pl.String),
            pl.Series("file", [place[1] for place in places], pl.String),
            pl.Series("line", [place[2] for place in places], pl.Int64),
        ),
    )


def _ask(path: str, offsets: Sequence[int]) -> list[tuple[str, str, int]]:
    """Ask one object file for several places."""
    line = ["addr2line", "-f", "-C", "-e", path]
    try:
        done = subprocess.run(
            line,
            input="".join(f"{at:#x}\n" for at in offsets),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return [_UNKNOWN] * len(offsets)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != 2 * len(offsets):
        return [_UNKNOWN] * len(offsets)
    return [_place(*pair) for pair in zip(lines[::2], lines[1::2], strict=True)]


def _place(function: str, at: str) -> tuple[str, str, int]:
    file, _, line = at.partition(" ")[0].rpartition(":")
    return (
        "" if function == "??" else function,
        "" if file == "??" else file,
        int(line) if line.isdigit() else 0,
    )


def call_sites(profile: Profile, most: int | None = None) -> list[CallSite]:
    """Give the sites, the one that took most time first.

    A compiler may make several calls of one line, or of one function whose lines it did not keep:
    they are one site.
    """
    table = profile.site_table
    total = float(table["time_ns"].sum()) or 1.0
    places = [
        _text(row["function"], row["file"], row["line"], row["object"], row["offset"])
        for row in table.iter_rows(named=True)
    ]
    sums = (
        table.with_columns(pl.Series("place", places, pl.String))
        .group_by("call", "place")
        .agg(
            pl.col("count", "bytes", "time_ns", "rank_max_ns").sum(),
            pl.col("max_ns", "ranks").max(),
        )
        .sort("time_ns", "call", "place", descending=[True, False, False])
    )
    return [
        CallSite(
            call=row["call"],
            place=row["place"],
            count=row["count"],
            bytes=row["bytes"],
            time_s=row["time_ns"] * 1e-9,
            mean_s=row["time_ns"] * 1e-9 / max(1, row["count"]),
            longest_s=row["max_ns"] * 1e-9,
            share=row["time_ns"] / total,
            ranks=row["ranks"],
            imbalance=row["rank_max_ns"] * row["ranks"] / row["time_ns"] if row["time_ns"] else 1.0,
        )
        for row in sums.head(most or sums.height).iter_rows(named=True)
    ]


def _text(function: str, file: str, line: int, path: str, offset: int) -> str:
    if not offset:
        return "elsewhere"
    where = f"{os.path.basename(file)}:{line}" if file and line else ""  # noqa: PTH119
    if function and where:
        return f"{function} ({where})"
    name = Path(path).name
    return function or where or f"{name}+{offset:#x}"
