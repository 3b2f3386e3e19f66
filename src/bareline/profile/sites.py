"""Call sites: from where in a program its functions were called, by function, file and line."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from bareline.profile.model import SITE_COLUMNS, Profile

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
        located = _ask(str(name), offsets)
        named |= {
            (str(name), offset): place for offset, place in zip(offsets, located, strict=True)
        }
    places = [named.get(key, _UNKNOWN) for key in table.select("object", "offset").iter_rows()]
    columns = {name: SITE_COLUMNS[name] for name in ("function", "file", "line")}
    made = pl.DataFrame(places, schema=columns, orient="row")
    return replace(profile, site_table=table.with_columns(made.get_columns()))


def _ask(path: str, offsets: Sequence[int]) -> list[tuple[str, str, int]]:
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
        function, file = ("" if name == "??" else name for name in (function, file))
        places.append((function, file, int(number) if number.isdigit() else 0))
    return places


def call_sites(profile: Profile, most: int | None = None) -> list[CallSite]:
    """Return the sites, the most time first.

    A compiler may make several calls of one line, or of one function whose lines it did not keep:
    they are one site.
    """
    table = profile.site_table
    total = float(table["time_ns"].sum()) or 1.0
    where = table.select("function", "file", "line", "object", "offset").iter_rows()
    spent = pl.col("time_ns")
    uneven = pl.col("rank_max_ns").cast(pl.Float64) * pl.col("ranks") / spent
    sums = (
        table.with_columns(pl.Series("place", [_text(*row) for row in where], pl.String))
        .group_by("call", "place")
        .agg(
            pl.col("count", "bytes", "time_ns", "rank_max_ns").sum(),
            pl.col("max_ns", "ranks").max(),
        )
        .sort("time_ns", "call", "place", descending=[True, False, False])
        .select(
            "call",
            "place",
            "count",
            "bytes",
            "ranks",
            time_s=spent * 1e-9,
            mean_s=spent * 1e-9 / pl.max_horizontal("count", 1),
            longest_s=pl.col("max_ns") * 1e-9,
            spent_ns=spent,
            imbalance=pl.when(spent != 0).then(uneven).otherwise(1.0),
        )
    )
    rows = sums.head(most or sums.height).iter_rows(named=True)
    return [CallSite(share=row.pop("spent_ns") / total, **row) for row in rows]


def _text(function: str, file: str, line: int, path: str, offset: int) -> str:
    if not offset:
        return "elsewhere"
    where = f"{os.path.basename(file)}:{line}" if file and line else ""  # noqa: PTH119
    if function and where:
        return f"{function} ({where})"
    name = Path(path).name
    return function or where or f"{name}+{offset:#x}"
