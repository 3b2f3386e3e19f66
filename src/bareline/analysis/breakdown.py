"""Where a program's extra time goes: computation, collectives, messages, waiting, files, start-up.

A profile of the same case on both platforms says what each rank did with its time, call by call and
size by size; the difference of the two is the loss, split. Without profiles a program's own split
into computation and communication is taken. What the pieces do not add up to, of the loss that all
launches measured, is not explained, and said.

Time within a call holds waiting for whoever comes late: a piece says where the time goes, not whose
fault it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bareline.analysis.cell import Cell, Estimate
from bareline.analysis.profiled import kept_profiles
from bareline.analysis.records import Records
from bareline.analysis.sizes import SMALL_BYTES
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.vocabulary.model import Layer, format_point, parse_point
from bareline.vocabulary.place import CASE, Place
from bareline.vocabulary.units import format_size, significant
from bareline.vocabulary.verdicts import Verdict

#: The pieces in the order of display.
PIECES = (
    "computation", "small collectives", "large collectives", "small messages", "large messages",
    "waiting", "other MPI", "files", "start-up", "communication",
)  # fmt: skip
_FILES = ("posix-io", "mpi-io")
_MESSAGES = ("send", "receive", "send-receive")
_START_UP = ("MPI_Init", "MPI_Init_thread")
#: From so many times on a call's own loss is named beside its piece.
_NAMED_FROM = 1.1


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the extra time.

    Attributes
    ----------
    extra
        Over the baseline's time: 0.12 is 12 % of it more.
    call
        The call and size that most of it goes to, with how many times it costs; empty without one.
    """

    name: str
    extra: float
    call: str = ""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A program's loss in pieces.

    Attributes
    ----------
    ratio
        Time over the baseline's, by all launches.
    base_s
        The baseline's time.
    pieces
        In the order of `PIECES`, those that are not nothing.
    by_profile
        From profiles of a launch on each side; else by the program's own split.
    """

    title: str
    place: Place
    platform: str
    baseline: str
    layer: Layer
    ratio: Estimate
    base_s: float
    pieces: tuple[Piece, ...]
    by_profile: bool

    @property
    def residual(self) -> Estimate:
        """What the pieces leave of the loss, with the loss's interval."""
        told = 1 + sum(piece.extra for piece in self.pieces)
        lo, hi = (None if end is None else end - told for end in (self.ratio.lo, self.ratio.hi))
        return Estimate(self.ratio.value - told, lo, hi)

    @property
    def largest(self) -> Piece | None:
        """The piece that most of the loss is."""
        return max(self.pieces, key=lambda piece: piece.extra, default=None)

    @property
    def computation(self) -> float:
        """What computation costs more, over the baseline's time."""
        return sum(piece.extra for piece in self.pieces if piece.name == "computation")

    @property
    def communication(self) -> float:
        """What all that is MPI costs more, over the baseline's time."""
        apart = ("computation", "files", "start-up")
        return sum(piece.extra for piece in self.pieces if piece.name not in apart)


def breakdowns(
    records: Records, cells: Sequence[Cell], titles: Mapping[str, str]
) -> list[Breakdown]:
    """Split the loss of every program that is certainly slower somewhere, the largest first.

    Raises
    ------
    ProfileError
        A profile that the run keeps is damaged.
    """
    by_key = {(c.platform, c.place.case, c.place.point, c.place.metric): c for c in cells}
    found = []
    for cell in cells:
        programs = cell.layer in (Layer.NPB, Layer.APP) and cell.headline
        if not programs or cell.place.metric != "time" or cell.verdict is not Verdict.SLOWER:
            continue
        if cell.ratio is None or cell.base is None:
            continue
        pieces = _by_profile(records, cell)
        by_profile = bool(pieces)
        if not pieces:
            pieces = _by_program(cell, by_key)
        if pieces:
            found.append(
                Breakdown(
                    title=titles.get(cell.place.probe, cell.place.probe),
                    place=cell.place,
                    platform=cell.platform,
                    baseline=cell.baseline,
                    layer=cell.layer,
                    ratio=cell.ratio,
                    base_s=cell.base.value,
                    pieces=pieces,
                    by_profile=by_profile,
                )
            )
    return sorted(found, key=lambda one: -one.ratio.value)


# By profiles --------------------------------------------------------------------------------------


def _by_profile(records: Records, cell: Cell) -> tuple[Piece, ...]:
    """Split by a profile on each side; nothing where one is missing."""
    params = format_point({**parse_point(cell.place.params), "profile": True})
    case = dict(zip(CASE, cell.place.case, strict=True)) | {"params": params}
    wanted = tuple(case[name] for name in CASE)
    kept = [kept_profiles(records, name, wanted) for name in (cell.platform, cell.baseline)]
    if not all(kept):
        return ()
    own, base = (read_profile(paths[0]) for paths in kept)
    assert cell.base is not None
    base_s = cell.base.value
    groups: dict[str, list[tuple[float, str]]] = {}
    for name, column in _PARTS.items():
        extra = _mean_s(own, column) - _mean_s(base, column)
        groups.setdefault(name, []).append((extra / base_s, ""))
    mine, theirs = _by_call(own), _by_call(base)
    for key in dict.fromkeys([*mine, *theirs]):
        here, there = mine.get(key), theirs.get(key)
        extra = (here.per_rank_s if here else 0.0) - (there.per_rank_s if there else 0.0)
        groups.setdefault(_group(*key[1:]), []).append((extra / base_s, _named(key, here, there)))
    return tuple(
        Piece(name, sum(extra for extra, _ in parts), max(parts)[1])
        for name in PIECES
        if (parts := groups.get(name)) and abs(sum(extra for extra, _ in parts)) >= 0.0005
    )


#: Pieces that a profile tells for each rank, by the column that does.
_PARTS = {"computation": "compute_ns", "files": "posix_ns", "start-up": "init_ns"}


def _mean_s(profile: Profile, column: str) -> float:
    """Give the mean of a column of nanoseconds over ranks, in s."""
    return float(sum(profile.rank_table[column].to_list())) / max(1, profile.ranks) * 1e-9


@dataclass(frozen=True, slots=True)
class _Calls:
    """All calls of one function with messages of about one size: time a rank, and a call."""

    per_rank_s: float
    each_s: float


#: A function, its kind and the least of the messages that are about as large.
_Key = tuple[str, str, int]


def _by_call(profile: Profile) -> dict[_Key, _Calls]:
    """Sum up the time of all calls of MPI but starting it, by powers of two of the size."""
    size = pl.col("size_low")
    sums = (
        profile.calls.filter(~pl.col("call").is_in(_START_UP))
        .with_columns(bin=pl.when(size > 0).then(size.log(2).floor().cast(pl.Int64)).otherwise(-1))
        .group_by("call", "kind", "bin", maintain_order=True)
        .agg(
            (pl.col("time_ns") + pl.col("waited_ns")).sum().alias("time_ns"),
            pl.col("count").sum(),
            size.min(),
        )
    )
    return {
        (row["call"], row["kind"], row["size_low"]): _Calls(
            row["time_ns"] / max(1, profile.ranks) * 1e-9,
            row["time_ns"] / max(1, row["count"]) * 1e-9,
        )
        for row in sums.iter_rows(named=True)
    }


def _group(kind: str, low: int) -> str:
    small = low < SMALL_BYTES
    if kind in _FILES:
        return "files"
    if kind == "collective":
        return "small collectives" if small else "large collectives"
    if kind in _MESSAGES:
        return "small messages" if small else "large messages"
    return "waiting" if kind == "wait" else "other MPI"


def _named(key: _Key, own: _Calls | None, base: _Calls | None) -> str:
    """Name a call, its size and how many times one of it costs: ``MPI_Allreduce 8 B, 134x``."""
    call, _, low = key
    size = f" {format_size(low)}" if low else ""
    if own is None or base is None or not base.each_s:
        return f"{call}{size}"
    times = own.each_s / base.each_s
    return f"{call}{size}" + (f", {significant(times, 2)}x" if times >= _NAMED_FROM else "")


# By a program's own split -------------------------------------------------------------------------


def _by_program(
    cell: Cell, cells: Mapping[tuple[str, tuple[str, str, int, int, int], str, str], Cell]
) -> tuple[Piece, ...]:
    """Split by the times that a program says of itself, mean over ranks."""
    pieces = []
    for name in ("computation", "communication"):
        metric = {"computation": "compute_mean", "communication": "communication_mean"}[name]
        part = cells.get((cell.platform, cell.place.case, cell.place.point, metric))
        if part is None or part.value is None or part.base is None or cell.base is None:
            return ()
        pieces.append(Piece(name, (part.value.value - part.base.value) / cell.base.value))
    return tuple(pieces)
