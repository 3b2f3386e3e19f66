"""Compare claims of a publication with the rows of a run.

A claim is evaluated from ratios with their intervals. Each program that the claim names has its own
ratio and its own vote. Several points of one program (sizes, numbers of ranks) are one ratio, their
geometric mean. The factor of a growth is a ratio divided by another ratio. The half-widths of both
are added on a log scale, which is valid even if the two ratios are dependent.

`analysis/judgements/wording.py` decides whether one ratio agrees with the words of a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bareline.analysis.judgements.claim_points import JudgedPoints, PlaceTest, judged_points
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
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place

#: The name that is cast for the peak; no platform can have a name with a space.
THE_PEAK = "the peak"
_BUSY = "computation was recorded while other programs ran"
_GIVEN = "the simulated platforms were given it"


@dataclass(frozen=True, slots=True)
class Vote:
    """The vote of one program on a claim; a ratio of 2 means 2 times worse.

    - `own`: the program's ratio. For a growth, this is the ratio at its end. For an order (a
      platform is worse than several platforms), this is the ratio that agrees least with the claim.
    - `first`: the ratio at which a growth begins.
    - `losses`: the losses whose mean is `own`.
    - `first_losses`: the losses whose mean is `first`.
    - `change`: the ratio that decides the status: `own`, or the factor by which the loss grows.
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
    """The result of a claim in a run: a vote for each program, and their common status.

    - `reason`: why the claim was not measured or not judged, or which part of the claim was not
      judged.
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


@dataclass(frozen=True, slots=True)
class PrintedPlaces:
    """The tests whether a publication prints a claim's value for a place (case and point).

    - `begin`: whether a printed growth begins at the place.
    - `end`: whether a value is printed for the place; false at the beginning of a growth.
    - `near`: whether the place has the printed number of ranks on a different number of nodes; used
      if no measured place fulfils `end`.
    """

    end: PlaceTest
    begin: PlaceTest = lambda _: False
    near: PlaceTest = lambda _: False


class Replication:
    """The rows of a run that are compared with the claims of a publication.

    - `cast`: for each published platform, the platform of the run that represents it; `THE_PEAK`
      for the published peak.
    - `shares`: the rows with the share of a peak that each platform reaches.
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
        """Return whether the run agrees with a claim.

        - `places`: tests for the places with a printed value, at which ratios are taken. If none of
          these places was measured, ratios are taken at the largest number of ranks.
        - `about`: whether the claim is about a place; by default the claim's conditions decide.
        """
        absent = [name for name in check.platforms if name not in self._cast]
        if check.platform in absent or set(absent) >= set(check.against):
            return _not_measured(f"no platform here stands for {absent[0]}")
        losses = self._losses_to_all(check, absent, about)
        measured = [loss for loss in losses if loss.ratio is not None]
        if not measured:
            return _not_measured(_why_unknown(check, losses))
        if check.kind == "order":
            votes = [self._order(check, measured, printed)]
        else:
            votes = self._votes(check, measured, places, printed)
        if not votes:
            return _not_measured(_NO_CHANGE[check.kind])
        status, refused = _together(votes)
        reason = refused or _lacking(check, losses)
        return Outcome(status, tuple(votes), reason=reason)

    def _losses_to_all(
        self, check: ClaimCheck, absent: Sequence[str], about: PlaceTest | None
    ) -> list[PlaceLoss]:
        """Return the losses compared with the platforms in `against` of the claim.

        For an order, platforms without a representative in the run are left out. For any other
        claim, only the first platform is used.
        """
        against = check.against[:1]
        if check.kind == "order":
            against = [name for name in check.against if name not in absent]
        losses = []
        for name in against:
            losses += self._losses(check, check.probe, name, about)
        return losses

    def _votes(
        self,
        check: ClaimCheck,
        measured: Sequence[PlaceLoss],
        places: PrintedPlaces,
        printed: PrintedEffect,
    ) -> list[Vote]:
        """Return a vote for each program.

        For a claim about a change, a program has a vote only if it was measured at the beginning
        and at the end of the change.
        """
        others = self._others(check)
        votes = []
        for program, losses in _by_program(measured).items():
            change = judged_points(
                check, losses, others, begin=places.begin, end=places.end, near=places.near
            )
            if change is not None:
                effect = printed(program, change.last, change.first)
                vote = self._vote(check, program, change, effect)
                votes.append(vote)
        return votes

    def _vote(
        self, check: ClaimCheck, program: str, change: JudgedPoints, effect: Effect | None
    ) -> Vote:
        ratio = mean_loss(change.last)
        first = None
        if change.first:
            first = mean_loss(change.first)
        growth = ratio
        if first is not None:
            growth = ratio.over(first)
        return Vote(
            program=program,
            status=self._status(check, growth, effect),
            own=ratio,
            change=growth,
            losses=tuple(change.last),
            first=first,
            first_losses=tuple(change.first),
        )

    def _order(
        self, check: ClaimCheck, measured: Sequence[PlaceLoss], printed: PrintedEffect
    ) -> Vote:
        if "placement" not in check.at:
            # Where no message leaves a node, networks are equal: no order of them is contradicted.
            measured = [loss for loss in measured if not loss.place.on_one_node] or measured
        program = measured[0].place.probe
        effect = printed(program, measured, [])

        def doubt(loss: PlaceLoss) -> tuple[int, float]:
            ratio = ratio_of(loss)
            speaks_for = toward_claim(check, ratio).value
            if check.expect == "equal":
                speaks_for = -abs(math.log(speaks_for))
            status = self._status(check, ratio, effect)
            return _DOUBT.index(status), speaks_for

        # All pairs must agree, so that each may be judged by its own interval.
        judged = [loss for loss in measured if not (loss.given or loss.disturbed)] or measured
        least_clear = min(judged, key=doubt)
        ratio = ratio_of(least_clear)
        status = self._status(check, ratio, effect)
        return Vote(program, status, ratio, ratio, (least_clear,), of=len(judged))

    def _status(self, check: ClaimCheck, ratio: Estimate, effect: Effect | None) -> ClaimStatus:
        toward = toward_claim(check, ratio)
        if check.expect == "equal":
            return judge_equality(toward, float(check.within or 1))
        return judge(toward, effect, margin=self._margin, ties=check.ties)

    def _others(self, check: ClaimCheck) -> list[PlaceLoss]:
        if check.kind != "more":
            return []
        baseline = check.against[0]
        losses = self._losses(check, check.than, baseline)
        return [loss for loss in losses if loss.ratio is not None]

    def _losses(
        self, check: ClaimCheck, probes: Sequence[str], against: str, about: PlaceTest | None = None
    ) -> list[PlaceLoss]:
        platform = self._cast[check.platform]
        other = self._cast[against]
        if other == THE_PEAK:
            rows = self._shares
        else:
            rows = self._rows
        places: dict[Place, None] = {}
        for name, place in rows:
            if name in (platform, other) and _is_about(check, probes, place, about):
                places[place] = None
        losses = [self._loss(platform, other, place, against) for place in places]
        return same_figures_are_given(losses)

    def _loss(self, platform: str, other: str, place: Place, against: str) -> PlaceLoss:
        """Return the ratio of a platform to another one at a place, or the reason for no ratio."""
        if platform == other:
            return PlaceLoss(place, None, f"{platform} has both roles", against)
        if other == THE_PEAK:
            return below_peak(self._shares[platform, place], against)
        rows = []
        for name in (platform, other):
            if name == self._baseline:
                continue
            row = self._rows.get((name, place))
            if row is None:
                return PlaceLoss(place, None, f"nothing was measured on {name}", against)
            if row.verdict not in COMPARED or row.ratio is None:
                return PlaceLoss(place, None, f"{name}: {row.reason or 'no ratio'}", against)
            rows.append(row)
        ratios = {row.platform: without_noise(row) for row in rows}
        ratio = ratios.get(platform, Estimate(1.0, 1.0, 1.0))
        if other != self._baseline:
            ratio = ratio.over(ratios[other])
        return PlaceLoss(
            place,
            ratio,
            against=against,
            simulated=any(row.simulated for row in rows),
            given=any(map(is_given, rows)),
            disturbed=any(map(is_disturbed, rows)),
        )


def _is_about(
    check: ClaimCheck, probes: Sequence[str], place: Place, about: PlaceTest | None
) -> bool:
    """Whether a claim is about a place (case, metric and point).

    The place must have the claim's metric and one of `probes`. It must also fulfil `about` or, if
    `about` is None, the claim's conditions.
    """
    if place.metric != check.metric:
        return False
    if not any(fnmatchcase(place.probe, probe) for probe in probes):
        return False
    if about:
        return about(place)
    return holds_at(check.at, place)


def _not_measured(reason: str) -> Outcome:
    return Outcome(ClaimStatus.NOT_MEASURED, reason=reason)


def _why_unknown(check: ClaimCheck, losses: Sequence[PlaceLoss]) -> str:
    """Return why no place of a claim has a ratio."""
    reasons = dict.fromkeys(loss.reason for loss in losses if loss.reason)
    if reasons:
        return "; ".join(list(reasons)[:2])
    if check.against == [PEAK]:
        return "no fact of the platform gives this peak, or its rate was not measured"
    return f"the run has no {', '.join(check.probe)} there"


def _lacking(check: ClaimCheck, losses: Sequence[PlaceLoss]) -> str:
    """Return which part of a claim is not judged; empty if all of it is judged."""
    if check.kind == "order":
        measured = set()
        for loss in losses:
            if loss.ratio is not None:
                measured.add(loss.against)
        without = sorted({*check.against} - measured)
        if without:
            return f"without {', '.join(without)}"
    lost = [loss for loss in losses if loss.ratio is None]
    if not lost:
        return ""
    reason = lost[0].reason
    return f"without {len(lost)} of {len(losses)} points ({reason})"


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
    """Return the common status of the votes, and the reason if they are not judged."""
    losses: list[PlaceLoss] = []
    for vote in votes:
        losses += vote.losses
        losses += vote.first_losses
    if all(loss.given for loss in losses):
        return ClaimStatus.GIVEN, _GIVEN
    if any(loss.disturbed for loss in losses):
        return ClaimStatus.CANNOT_TELL, _BUSY
    statuses = {vote.status for vote in votes}
    if len(statuses) == 1:
        return statuses.pop(), ""
    if statuses <= {ClaimStatus.NO, ClaimStatus.CANNOT_TELL}:
        return ClaimStatus.NO, ""
    return ClaimStatus.PARTLY, ""


def _by_program(losses: Iterable[PlaceLoss]) -> dict[str, list[PlaceLoss]]:
    return grouped_by(losses, lambda loss: loss.place.probe)


def toward_claim(check: ClaimCheck, ratio: Estimate) -> Estimate:
    """Return a ratio, inverted if necessary, so that a value above 1 agrees with the claim."""
    if check.expect == "better":
        return ratio.inverse()
    return ratio
