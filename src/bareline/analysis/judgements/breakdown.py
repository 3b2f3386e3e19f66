"""Divide a program's extra time into pieces such as computation, collectives, waiting and files.

If predictions were stored, the pieces are the terms of the replay that also makes the predictions.
Otherwise the two platforms' profiles of launches in one block are compared: a piece is the median,
over all pairs of launches, of the difference between the profiles. Without profiles, the program's
own measurement of computation and communication is used. The residual is the loss of all launches
minus the sum of the pieces.

The time within a call includes waiting for late processes: a piece shows where time passes, not
which process causes the delay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from bareline.analysis.judgements.calls import (
    Call,
    CallKey,
    PairedCalls,
    dearest_calls,
    paired_calls,
    piece_of,
)
from bareline.analysis.numbers.programs import (
    COMMUNICATING,
    COMPUTING,
    LaunchKey,
    ReplayedLoss,
    application_of,
    launch_values,
    profiles_of,
    replayed_losses,
    under_profiler,
)
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Estimate, Row
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.vocabulary.model import Layer

PIECES = (
    "computation", "small collectives", "large collectives", "small messages", "large messages",
    "waiting", "other MPI", "files", "start-up", "communication",
)  # fmt: skip
#: Pieces below this share of the baseline's time are left out.
_LEAST = 0.0005


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a program's extra time.

    `extra` is a share of the baseline's time (0.12: 12 % longer). It is the median over pairs of
    launches; `lo` and `hi` are the smallest and the largest value of a pair. The `dearest` call
    adds the largest part of the piece.
    """

    name: str
    extra: float
    lo: float
    hi: float
    dearest: Call | None = None

    @property
    def call(self) -> str:
        """The dearest call in words; empty if no call belongs to the piece."""
        return str(self.dearest or "")


#: Sources of the pieces of a loss; the first available one is used. The replay is first because it
#: also makes the predictions, so that a prediction and an explanation are one sum.
Source = Literal["replay", "profile", "clock"]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A program's loss, divided into pieces in the order of `PIECES`.

    `ratio` is the program's time divided by `base_s`, its time on the baseline. If the pieces come
    from profiles of separate launches, both are computed from these launches only; otherwise from
    all launches. `launches` is the number of pairs of launches from which the medians of the pieces
    are computed. `source` is the origin of the pieces: profiles, the program's own clock, or the
    replay of a trace.
    """

    title: str
    cell: Row
    ratio: Estimate
    base_s: float
    pieces: tuple[Piece, ...]
    source: Source
    launches: int

    @property
    def residual(self) -> Estimate:
        """The loss minus the sum of the pieces; its bounds are the loss's bounds minus this sum."""
        extra = sum(piece.extra for piece in self.pieces)
        explained = 1 + extra
        lo = self.ratio.lo
        if lo is not None:
            lo -= explained
        hi = self.ratio.hi
        if hi is not None:
            hi -= explained
        return Estimate(self.ratio.value - explained, lo, hi)

    @property
    def largest(self) -> Piece | None:
        """The piece that adds the most time."""
        return max(self.pieces, key=lambda piece: piece.extra, default=None)


def breakdowns(
    records: Records, cells: Sequence[Row], titles: Mapping[str, str]
) -> list[Breakdown]:
    """Divide the loss of every program that is slower on a platform; the largest loss comes first.

    Raises ProfileError: a profile in the run is damaged.
    """
    splits = []
    if not cells:
        return []
    replayed = replayed_losses(records, cells[0].baseline)
    for cell in cells:
        if not _is_claimed_loss(cell):
            continue
        if cell.ratio is None:
            continue
        if cell.base is None:
            continue
        title = titles.get(cell.place.probe, cell.place.probe)
        program = (cell.platform, application_of(cell.place))
        loss = replayed.get(program)
        if loss is not None:
            split: Breakdown | None = _by_replay(cell, cell.ratio, cell.base.value, title, loss)
        else:
            split = _by_launches(records, cell, cell.ratio, cell.base.value, title)
        if split is not None:
            splits.append(split)
    return sorted(splits, key=lambda split: -split.ratio.value)


def _is_claimed_loss(cell: Row) -> bool:
    """Whether a row is the time of a program that is certainly or likely slower."""
    of_program = cell.layer in (Layer.NPB, Layer.APP)
    is_program = of_program and cell.headline
    # The time at a point, for example of one rank, is not the time of the launch that is split.
    is_whole = cell.place.metric == "time" and not cell.place.point
    is_claimed = cell.grade is not None and cell.grade.is_claim
    is_worse = cell.ratio is not None and cell.ratio.value > 1
    return is_program and is_whole and is_claimed and is_worse


def _by_replay(
    cell: Row, ratio: Estimate, base_s: float, title: str, loss: ReplayedLoss
) -> Breakdown:
    """Divide a program's loss into the terms of the replay of the program's trace."""
    pieces = tuple(Piece(term.name, term.extra, term.lo, term.hi) for term in loss[0])
    return Breakdown(title, cell, ratio, base_s, pieces, "replay", loss[1])


class _Times(NamedTuple):
    """The times of a program, or of a part of it, in a pair of launches."""

    own_s: float
    base_s: float


def _paired_times(
    records: Records, cell: Row, case: tuple[object, ...], metric: str = "time"
) -> dict[LaunchKey, _Times]:
    """Return the times of a case for each pair of launches of the two platforms."""
    values = launch_values(records, cell.platform, case, metric)
    base_values = launch_values(records, cell.baseline, case, metric)
    times = {}
    for key, own_s in values.items():
        base_s = base_values.get(key, 0.0)
        if base_s > 0:
            times[key] = _Times(own_s, base_s)
    return times


def _by_launches(
    records: Records, cell: Row, ratio: Estimate, base_s: float, title: str
) -> Breakdown | None:
    """Divide a loss into pieces, from profiles or else from times that the program measures."""
    case = under_profiler(cell.place).case
    profiles = _paired_profiles(records, cell, case)
    times = _paired_times(records, cell, case)
    profiled = {key: both for key, both in times.items() if key in profiles}
    pieces = _by_profile(profiles, profiled)
    if not pieces:
        return _by_clock(records, cell, ratio, base_s, title)
    if case != cell.place.case:  # profiled in separate launches: their pairs are split
        ratio_of_profiled = median(both.own_s / both.base_s for both in profiled.values())
        ratio = Estimate(ratio_of_profiled)
        median_base_s = median(both.base_s for both in profiled.values())
        base_s = median_base_s
    return Breakdown(title, cell, ratio, base_s, pieces, "profile", len(profiled))


def _by_clock(
    records: Records, cell: Row, ratio: Estimate, base_s: float, title: str
) -> Breakdown | None:
    """Divide a loss into computation and communication; None unless the program measures both."""
    case = cell.place.case
    times = _paired_times(records, cell, case)
    pieces = []
    for name, metric in (("computation", COMPUTING), ("communication", COMMUNICATING)):
        parts = _paired_times(records, cell, case, metric)
        extras = []
        for key in times.keys() & parts:
            extra_s = parts[key].own_s - parts[key].base_s
            extras.append(extra_s / times[key].base_s)
        if not extras:
            return None
        pieces.append(_piece(name, extras))
    return Breakdown(title, cell, ratio, base_s, tuple(pieces), "clock", len(times))


class _Profiles(NamedTuple):
    """The profiles of a pair of launches."""

    here: Profile
    base: Profile


def _paired_profiles(
    records: Records, cell: Row, case: tuple[object, ...]
) -> dict[LaunchKey, _Profiles]:
    """Read the profiles of a case for each pair of launches of the two platforms."""
    paths = profiles_of(records, cell.platform, case)
    base_paths = profiles_of(records, cell.baseline, case)
    profiles = {}
    for key in paths.keys() & base_paths:
        profile = read_profile(paths[key])
        base_profile = read_profile(base_paths[key])
        profiles[key] = _Profiles(profile, base_profile)
    return profiles


def _piece(name: str, extras: Sequence[float], dearest: Call | None = None) -> Piece:
    return Piece(name, median(extras), min(extras), max(extras), dearest)


def _by_profile(
    profiles: Mapping[LaunchKey, _Profiles], times: Mapping[LaunchKey, _Times]
) -> tuple[Piece, ...]:
    """Return the pieces of the loss of pairs of launches, without very small pieces."""
    extras_of: dict[str, list[float]] = {name: [] for name in PIECES}
    calls: dict[CallKey, list[PairedCalls]] = defaultdict(list)
    for key, both in times.items():
        extras = dict.fromkeys(PIECES, 0.0)
        for name, column in _PARTS.items():
            own_s = _mean_s(profiles[key].here, column)
            base_mean_s = _mean_s(profiles[key].base, column)
            extras[name] += (own_s - base_mean_s) / both.base_s
        calls_of_pair = paired_calls(profiles[key].here, profiles[key].base, both.base_s)
        for call, paired in calls_of_pair.items():
            group = piece_of(call.kind, call.power)
            extras[group] += paired.extra
            calls[call].append(paired)
        for name, extra in extras.items():
            extras_of[name].append(extra)
    dearest = dearest_calls(calls, len(times))
    pieces = []
    for name, extras_of_launches in extras_of.items():
        if extras_of_launches:
            piece = _piece(name, extras_of_launches, dearest.get(name))
            largest_end = max(abs(piece.lo), abs(piece.hi))
            if largest_end >= _LEAST:
                pieces.append(piece)
    return tuple(pieces)


#: Pieces that a profile records for each rank, with the column of each.
_PARTS = {"computation": "compute_ns", "files": "posix_ns", "start-up": "init_ns"}


def _mean_s(profile: Profile, column: str) -> float:
    total_ns = sum(profile.rank_table[column].to_list())
    return float(total_ns) / max(1, profile.ranks) * 1e-9
