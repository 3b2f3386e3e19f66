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
    """Calls of one function with messages of about one size; their share is of moving data."""

    name: str
    low_bytes: int
    high_bytes: int
    per_rank: float
    share: float


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """The use of their time by the ranks of one case on one platform.

    Shares are of the time from ``MPI_Init`` to ``MPI_Finalize``, medians over the `n` profiles that
    could be read. The busiest and the dominant calls, the memory of the rank with most and the
    bytes of all files are of the first of them, at `path`.
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
    """Sum up the profiles of all trials that have one."""
    trials = records.trials.filter(
        pl.col("profile").fill_null(False) & (pl.col("status") == "measured")
    )
    lines = []
    order = {name: index for index, name in enumerate(records.platforms)}
    for *case, platform in sorted(
        trials.select(*CASE, "platform").unique().iter_rows(),
        key=lambda row: (*row[:-1], order[row[-1]]),
    ):
        if files := profiles_of(records, platform, tuple(case)):
            place = Place.of(dict(zip(CASE, case, strict=True)))
            # All were profiled, so that the parameter does not distinguish cases.
            params = {k: v for k, v in parse_point(place.params).items() if k != "profile"}
            words = replace(place, params=format_point(params)).words
            profiles = [read_profile(path) for path in files.values()]
            lines.append(_line(place.probe, words, platform, profiles))
    return lines


def _line(probe: str, case: str, platform: str, profiles: Sequence[Profile]) -> ProfileLine:
    splits = [{part.what: part.share for part in time_split(profile)} for profile in profiles]

    def share(what: str) -> float:
        return median(split.get(what, 0.0) for split in splits)

    busiest = next(iter(top_calls(profiles[0], 1)), None)
    return ProfileLine(
        probe=probe,
        case=case,
        platform=platform,
        n=len(profiles),
        computing=share("computing"),
        mpi=share("MPI calls"),
        files=share("files (POSIX)"),
        busiest=call_name(busiest.call, busiest.kind) if busiest else "",
        dominant=_dominant(profiles[0]),
        memory_bytes=max(profiles[0].rank_table["memory_bytes"].to_list(), default=0),
        file_bytes=sum(one.bytes for one in sizes(profiles[0]) if one.kind in _FILES),
        path=profiles[0].path,
    )


def _dominant(profile: Profile) -> tuple[Dominant, ...]:
    moving = [one for one in sizes(profile) if one.kind not in _FILES]
    total = sum(one.time_s for one in moving) or 1.0
    return tuple(
        Dominant(
            name=call_name(one.call, one.kind),
            low_bytes=one.low,
            high_bytes=one.high,
            per_rank=one.count / profile.ranks,
            share=one.time_s / total,
        )
        for one in sorted(moving, key=lambda one: (-one.time_s, one.call, one.low))[:_DOMINANT]
    )


def share_rows(
    lines: Sequence[ProfileLine], title: str = "probe", *, launches: bool = False
) -> Rows[ProfileLine]:
    """Begin a table of the ranks' shares of time, perhaps with the number of launches."""
    rows = Rows(lines).text(title, lambda line: line.probe).text("case", lambda line: line.case)
    rows.platform(lambda line: line.platform)
    if launches:
        rows.number("n", lambda line: line.n)
    rows.number("computing", lambda line: line.computing, percent_tenths)
    rows.number("MPI calls", lambda line: line.mpi, percent_tenths)
    return rows.number("files", lambda line: line.files, percent_tenths)


def profiles_table(lines: Sequence[ProfileLine]) -> Figure:
    """Tabulate the lines for the page."""
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
