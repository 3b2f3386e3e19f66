"""The profiles of a run's trials in a few numbers, a row for each case and platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import polars as pl

from bareline.analysis.numbers.programs import profiles_of
from bareline.analysis.numbers.records import Records
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.profile.summary import sizes, time_split, top_calls
from bareline.report.blocks import Figure, Rows
from bareline.report.content.wording import call_name
from bareline.vocabulary.model import format_point, parse_point
from bareline.vocabulary.place import CASE, Place
from bareline.vocabulary.units import percent_tenths

#: Calls with their sizes that are named of an application.
_DOMINANT = 3

_FILES = ("posix-io", "mpi-io")


@dataclass(frozen=True, slots=True)
class Dominant:
    """Calls of one function with messages of about one size.

    - `per_rank`: number of these calls per rank.
    - `share`: time of these calls divided by the time of all calls that move data.
    """

    name: str
    low_bytes: int
    high_bytes: int
    per_rank: float
    share: float


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """The shares of time that the ranks of one case spend in computing, MPI and files.

    A share is a part of the time from ``MPI_Init`` to ``MPI_Finalize``: the median over the `n`
    profiles that could be read. All values that are not shares come from the first of these
    profiles, at `path`: the busiest and the dominant calls, the memory of the rank that uses most,
    and the bytes of all files.
    """

    probe: str
    case: str
    platform: str
    n: int
    computing: float
    mpi: float
    files: float
    busiest: str
    dominant: tuple[Dominant, ...]
    memory_bytes: int
    file_bytes: int
    path: Path


def profile_lines(records: Records) -> list[ProfileLine]:
    """Return a line for each case and platform, from the profiles of all trials that have one."""
    is_profiled = pl.col("profile").fill_null(False)
    is_measured = pl.col("status") == "measured"
    trials = records.trials.filter(is_profiled & is_measured)
    order = {name: index for index, name in enumerate(records.platforms)}
    cases = sorted(
        trials.select(*CASE, "platform").unique().iter_rows(),
        key=lambda row: (*row[:-1], order[row[-1]]),
    )
    lines: list[ProfileLine] = []
    for *case, platform in cases:
        files = profiles_of(records, platform, tuple(case))
        if files:
            place = Place.of(dict(zip(CASE, case, strict=True)))
            profiles = [read_profile(path) for path in files.values()]
            lines.append(_line(place.probe, _case_words(place), platform, profiles))
    return lines


def _case_words(place: Place) -> str:
    """Name a case without its parameter "profile", which is the same for all profiled cases."""
    params = parse_point(place.params)
    params = {name: value for name, value in params.items() if name != "profile"}
    return replace(place, params=format_point(params)).words


def _line(probe: str, case: str, platform: str, profiles: Sequence[Profile]) -> ProfileLine:
    splits: list[dict[str, float]] = []
    for profile in profiles:
        splits.append({part.what: part.share for part in time_split(profile)})

    def share(activity: str) -> float:
        return median(split.get(activity, 0.0) for split in splits)

    first = profiles[0]
    busiest = next(iter(top_calls(first, 1)), None)
    busiest_name = call_name(busiest.call, busiest.kind) if busiest else ""
    file_sizes = [size for size in sizes(first) if size.kind in _FILES]
    return ProfileLine(
        probe=probe,
        case=case,
        platform=platform,
        n=len(profiles),
        computing=share("computing"),
        mpi=share("MPI calls"),
        files=share("files (POSIX)"),
        busiest=busiest_name,
        dominant=_dominant(first),
        memory_bytes=max(first.rank_table["memory_bytes"].to_list(), default=0),
        file_bytes=sum(size.bytes for size in file_sizes),
        path=first.path,
    )


def _dominant(profile: Profile) -> tuple[Dominant, ...]:
    """Return the calls that take the most time of all calls that move data."""
    moving = [size for size in sizes(profile) if size.kind not in _FILES]
    total_s = sum(size.time_s for size in moving) or 1.0
    moving.sort(key=lambda size: (-size.time_s, size.call, size.low))
    dominant: list[Dominant] = []
    for size in moving[:_DOMINANT]:
        calls = Dominant(
            name=call_name(size.call, size.kind),
            low_bytes=size.low,
            high_bytes=size.high,
            per_rank=size.count / profile.ranks,
            share=size.time_s / total_s,
        )
        dominant.append(calls)
    return tuple(dominant)


def share_rows(
    lines: Sequence[ProfileLine], title: str = "probe", *, launches: bool = False
) -> Rows[ProfileLine]:
    """Return a table builder with the ranks' shares of time.

    - `launches`: whether a column has the number of launches.
    """
    rows = Rows(lines).text(title, lambda line: line.probe).text("case", lambda line: line.case)
    rows.platform(lambda line: line.platform)
    if launches:
        rows.number("n", lambda line: line.n)
    rows.number("computing", lambda line: line.computing, percent_tenths)
    rows.number("MPI calls", lambda line: line.mpi, percent_tenths)
    return rows.number("files", lambda line: line.files, percent_tenths)


def profiles_table(lines: Sequence[ProfileLine]) -> Figure:
    """Return the table of the lines as a figure of the page."""
    rows = share_rows(lines, launches=True).text("most time in", lambda line: line.busiest)
    rows.text("profile of the first trial", lambda line: "/".join(line.path.parts[-3:]))
    return Figure(
        id="profiles",
        title="The ranks' time",
        caption="Shares of the time from MPI_Init to MPI_Finalize, a rank's mean; the median over "
        "the trials. The run directory keeps every profile, for bareline show and bareline report.",
        wide=True,
        data_table=rows.table(),
    )
