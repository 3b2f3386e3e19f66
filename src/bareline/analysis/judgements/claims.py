"""Claims of a publication, compared with the rows of a run.

A claim is evaluated from ratios with their intervals. Each program that it names has its own ratio
and its own vote; several points of one program (sizes, numbers of ranks) are one ratio, their
geometric mean. Where two ratios are divided, as for a growth, the half-widths of both are added (on
a log scale), which is safe however the two ratios depend on each other.

`analysis/judgements/wording.py` decides whether one ratio agrees with the words of a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bareline.analysis.judgements.losses import (
    PlaceLoss,
    below_peak,
    is_disturbed,
    is_given,
    mean_loss,
    ratio_of,
    same_figures_are_given,
    without_noise,
)
from bareline.analysis.judgements.wording import ClaimStatus, Effect, judge, judge_equality
from bareline.analysis.numbers.row import COMPARED, Estimate, Row
from bareline.published.findings import ClaimCheck
from bareline.published.model import PEAK
from bareline.published.places import holds_at
from bareline.vocabulary.place import Place

#: The name that is cast for the peak; no platform can have a name with a space.
THE_PEAK = "the peak"
_BUSY = "computation was recorded while other programs ran"
_GIVEN = "the simulated platforms were given it"


@dataclass(frozen=True, slots=True)
class Vote:
    """The vote of one program on a claim; all ratios are times worse.

    - `own`: its ratio; for a growth the last one, for an order the pair closest to a contradiction.
    - `first`: the ratio where a growth begins; `losses`, `first_losses`: the points behind both.
    - `change`: the ratio that decides the status: `own`, or by how many times the loss grows.
    - `of`: for an order, the number of ratios that must agree.
    """

    program: str
    status: ClaimStatus
    own: Estimate
    change: Estimate
    losses: tuple[PlaceLoss, ...]
    first: Estimate | None = None
    first_losses: tuple[PlaceLoss, ...] = ()
    of: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a run to a claim: a vote for each program, and their common status.

    - `reason`: why the claim is not measured or not judged; else which part of it is not.
    """

    status: ClaimStatus
    votes: tuple[Vote, ...] = ()
    reason: str = ""

    @property
    def yes(self) -> int:
        """The number of programs that vote yes."""
        return sum(vote.status is ClaimStatus.YES for vote in self.votes)


#: The printed effect of a claim on a program, above 1 in the direction of the claim, given the
#: program, its points and, for a growth, the points where it begins; None where nothing is printed.
PrintedEffect = Callable[[str, Sequence[PlaceLoss], Sequence[PlaceLoss]], Effect | None]
PlaceTest = Callable[[Place], bool]


@dataclass(frozen=True, slots=True)
class PrintedPlaces:
    """Places of a claim's printed figures: `begin` where a growth begins, `end` otherwise.

    - `near`: places of the printed ranks on other nodes, where nothing was measured at `end`.
    """

    end: PlaceTest
    begin: PlaceTest = lambda _: False
    near: PlaceTest = lambda _: False


class Replication:
    """The rows of a run, to compute the losses of one published platform, as cast, to another.

    - `shares`: rows of shares of a peak, of all platforms; the peak is cast as `THE_PEAK`.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        baseline: str,
        cast: Mapping[str, str],
        margin: float,
        shares: Sequence[Row] = (),
    ) -> None:
        self._rows = {(row.platform, row.place): row for row in rows}
        self._shares = {(row.platform, row.place): row for row in shares}
        self._baseline = baseline
        self._cast = cast
        self._margin = margin

    def outcome(
        self,
        check: ClaimCheck,
        places: PrintedPlaces,
        printed: PrintedEffect,
        about: PlaceTest | None = None,
    ) -> Outcome:
        """Evaluate a claim.

        - `places`: the printed places, at which ratios are taken; without any, the most ranks.
        - `about`: the places that the claim is about; by default those that meet its conditions.
        """
        absent = [name for name in check.platforms if name not in self._cast]
        if check.platform in absent or set(absent) >= set(check.against):
            reason = f"no platform here stands for {absent[0]}"
            return Outcome(ClaimStatus.NOT_MEASURED, reason=reason)
        present = [name for name in check.against if name not in absent]
        sides = present if check.kind == "order" else check.against[:1]
        losses = [loss for name in sides for loss in self._losses(check, check.probe, name, about)]
        known = [loss for loss in losses if loss.ratio is not None]
        if not known:
            reasons = list(dict.fromkeys(loss.reason for loss in losses if loss.reason))
            nothing = f"the run has no {', '.join(check.probe)} there"
            if check.against == [PEAK]:
                nothing = "no fact of the platform gives this peak, or its rate was not measured"
            return Outcome(ClaimStatus.NOT_MEASURED, reason="; ".join(reasons[:2]) or nothing)
        lost = [loss for loss in losses if loss.ratio is None]
        lacking = f"without {len(lost)} of {len(losses)} points ({lost[0].reason})" if lost else ""
        if check.kind == "order":
            votes = [self._order(check, known, printed)]
            without = sorted({*check.against} - {loss.against for loss in known})
            lacking = f"without {', '.join(without)}" if without else lacking
        else:
            votes = self._votes(check, known, places, printed)
        if not votes:
            return Outcome(ClaimStatus.NOT_MEASURED, reason=_NO_CHANGE[check.kind])
        status, refused = _together(votes)
        return Outcome(status, tuple(votes), reason=refused or lacking)

    def _votes(
        self, check: ClaimCheck, known: Sequence[PlaceLoss], places: PrintedPlaces,
        printed: PrintedEffect,
    ) -> list[Vote]:  # fmt: skip
        others = self._others(check)
        votes = []
        for program, losses in _by_program(known).items():
            if check.kind == "ratio":
                first: list[PlaceLoss] = []
                last = (
                    _at_places(losses, places.end)
                    or _at_places(losses, places.near)
                    or _most_ranks(losses)
                )
            else:
                first, last = _ends(check, losses, others, places)
                if not (first and last):
                    continue
            effect = printed(program, last, first)
            votes.append(self._vote(check, program, last, first, effect))
        return votes

    def _vote(
        self, check: ClaimCheck, program: str, last: Sequence[PlaceLoss],
        first: Sequence[PlaceLoss], effect: Effect | None,
    ) -> Vote:  # fmt: skip
        own = mean_loss(last)
        begin = mean_loss(first) if first else None
        change = own if begin is None else own.over(begin)
        status = self._status(check, change, effect)
        return Vote(program, status, own, change, tuple(last), begin, tuple(first))

    def _order(self, check: ClaimCheck, known: Sequence[PlaceLoss], printed: PrintedEffect) -> Vote:
        if "placement" not in check.at:
            # Where no message leaves a node, networks are equal: no order of them is contradicted.
            known = [loss for loss in known if not loss.place.on_one_node] or known
        program = known[0].place.probe
        effect = printed(program, known, [])

        def doubt(loss: PlaceLoss) -> tuple[int, float]:
            toward = toward_claim(check, ratio_of(loss)).value
            speaks_for = -abs(math.log(toward)) if check.expect == "equal" else toward
            return _DOUBT.index(self._status(check, ratio_of(loss), effect)), speaks_for

        # All pairs must agree, so that each may be judged by its own interval.
        judged = [loss for loss in known if not (loss.given or loss.disturbed)] or known
        least = min(judged, key=doubt)
        ratio = ratio_of(least)
        status = self._status(check, ratio, effect)
        return Vote(program, status, ratio, ratio, (least,), of=len(judged))

    def _status(self, check: ClaimCheck, ratio: Estimate, effect: Effect | None) -> ClaimStatus:
        toward = toward_claim(check, ratio)
        if check.expect == "equal":
            return judge_equality(toward, float(check.within or 1))
        return judge(toward, effect, margin=self._margin, ties=check.ties)

    def _others(self, check: ClaimCheck) -> list[PlaceLoss]:
        if check.kind != "more":
            return []
        losses = self._losses(check, check.than, check.against[0])
        return [loss for loss in losses if loss.ratio is not None]

    def _losses(
        self, check: ClaimCheck, probes: Sequence[str], against: str, about: PlaceTest | None = None
    ) -> list[PlaceLoss]:
        own, other = self._cast[check.platform], self._cast[against]
        places = dict.fromkeys(
            place
            for name, place in (self._shares if other == THE_PEAK else self._rows)
            if name in (own, other)
            and place.metric == check.metric
            and any(fnmatchcase(place.probe, probe) for probe in probes)
            and (about(place) if about else holds_at(check.at, place))
        )
        losses = [self._loss(own, other, place, against) for place in places]
        return same_figures_are_given(losses)

    def _loss(self, own: str, other: str, place: Place, against: str) -> PlaceLoss:
        if own == other:
            return PlaceLoss(place, None, f"{own} stands for both", against)
        if other == THE_PEAK:
            return below_peak(self._shares[own, place], against)
        ratios = []
        rows = []
        for name in (own, other):
            if name == self._baseline:
                ratios.append(Estimate(1.0, 1.0, 1.0))
                continue
            row = self._rows.get((name, place))
            if row is None:
                return PlaceLoss(place, None, f"nothing was measured on {name}", against)
            if row.verdict not in COMPARED or row.ratio is None:
                return PlaceLoss(place, None, f"{name}: {row.reason or 'no ratio'}", against)
            rows.append(row)
            ratios.append(without_noise(row))
        mine, theirs = ratios
        return PlaceLoss(
            place,
            mine if other == self._baseline else mine.over(theirs),
            against=against,
            simulated=any(row.simulated for row in rows),
            given=any(map(is_given, rows)),
            disturbed=any(map(is_disturbed, rows)),
        )


_NO_CHANGE: Mapping[str, str] = {
    "ratio": "no point of it has a ratio",
    "grows": "one number of ranks alone has a ratio",
    "rise": "one node and two do not both have a ratio",
    "more": "there is nothing to compare it with",
}
#: The least clear pair of an order is the pair with the earliest of these statuses.
_DOUBT = (
    ClaimStatus.NO,
    ClaimStatus.WEAKER,
    ClaimStatus.CANNOT_TELL,
    ClaimStatus.STRONGER,
    ClaimStatus.YES,
)


def _together(votes: Sequence[Vote]) -> tuple[ClaimStatus, str]:
    """Return the common status of the programs, and the reason if they are not judged."""
    losses = [loss for vote in votes for loss in (*vote.losses, *vote.first_losses)]
    if all(loss.given for loss in losses):
        return ClaimStatus.GIVEN, _GIVEN
    if any(loss.disturbed for loss in losses):
        return ClaimStatus.CANNOT_TELL, _BUSY
    statuses = {vote.status for vote in votes}
    if statuses <= {ClaimStatus.NO, ClaimStatus.CANNOT_TELL}:
        return (ClaimStatus.NO if ClaimStatus.NO in statuses else ClaimStatus.CANNOT_TELL), ""
    return (statuses.pop(), "") if len(statuses) == 1 else (ClaimStatus.PARTLY, "")


def _by_program(losses: Iterable[PlaceLoss]) -> dict[str, list[PlaceLoss]]:
    programs: dict[str, list[PlaceLoss]] = {}
    for loss in losses:
        programs.setdefault(loss.place.probe, []).append(loss)
    return programs


def _ends(
    check: ClaimCheck, losses: Sequence[PlaceLoss], others: Sequence[PlaceLoss],
    places: PrintedPlaces,
) -> tuple[list[PlaceLoss], list[PlaceLoss]]:  # fmt: skip
    """Return the points where the change of a program's loss begins and ends; empty without both.

    Points that exist at one end only are left out, so that both ends have the same sizes.
    """
    if check.kind == "more":
        shared = {loss.place.ranks for loss in losses} & {loss.place.ranks for loss in others}
        if not shared:
            return [], []
        return _at(others, max(shared)), _at(losses, max(shared))
    if check.kind == "rise":
        first = _most_ranks([loss for loss in losses if loss.place.on_one_node])
        last = _most_ranks([loss for loss in losses if loss.place.ran_on == 2])
    else:
        begin = _ranks_of(_at_places(losses, places.begin) or losses)
        end = _ranks_of(_at_places(losses, places.end) or losses)
        if min(begin) >= max(end):
            return [], []
        first = _at(losses, min(begin))
        last = _at(losses, max(end))
    both = {loss.place.point for loss in first} & {loss.place.point for loss in last}
    first = [loss for loss in first if loss.place.point in both]
    return first, [loss for loss in last if loss.place.point in both]


def _at_places(losses: Sequence[PlaceLoss], places: PlaceTest) -> list[PlaceLoss]:
    return [loss for loss in losses if places(loss.place)]


def _ranks_of(losses: Sequence[PlaceLoss]) -> set[int]:
    return {loss.place.ranks for loss in losses}


def toward_claim(check: ClaimCheck, ratio: Estimate) -> Estimate:
    """Return a ratio, inverted if necessary, so that above 1 agrees with the document."""
    return ratio.inverse() if check.expect == "better" else ratio


def _most_ranks(losses: Sequence[PlaceLoss]) -> list[PlaceLoss]:
    most = max((loss.place.ranks for loss in losses), default=0)
    return _at(losses, most)


def _at(losses: Sequence[PlaceLoss], ranks: int) -> list[PlaceLoss]:
    return [loss for loss in losses if loss.place.ranks == ranks]
