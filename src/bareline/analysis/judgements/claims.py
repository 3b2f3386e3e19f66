"""Claims of a publication, held against the cells of a run.

A claim is evaluated from ratios with their intervals alone. Where several ratios speak of it, their
geometric mean does; and where two are divided, as for a growth, the half-widths of both are added
(on a log scale), which holds whatever they have in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import chain

from bareline.analysis.numbers.row import COMPARED, Estimate, Row
from bareline.published.findings import ClaimCheck
from bareline.published.quantities import Condition, Spread
from bareline.vocabulary.place import Place

_PLACEMENTS = {"intra_node": True, "inter_node": False}


class ClaimStatus(StrEnum):
    """Whether a run says the same as a publication."""

    YES = "yes"
    WEAKER = "weaker"
    NO = "no"
    CANNOT_TELL = "cannot tell"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class PlaceLoss:
    """How many times worse one platform is than another at a place; without a ratio, why."""

    place: Place
    ratio: Estimate | None
    reason: str = ""
    against: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run says to a claim.

    - `status`: never "weaker", which needs the printed figure.
    - `own`: times worse; of a growth the last, of an order the pair nearest to the contrary.
    - `first`: where a growth begins; `losses`, `first_losses` are what these are the means of.
    - `change`: what the status rests on: `own`, or by how many times the loss grows.
    - `of`: of an order, how many ratios must hold.
    - `reason`: why it is not measured; else what of it is not.
    """

    status: ClaimStatus
    own: Estimate | None = None
    first: Estimate | None = None
    change: Estimate | None = None
    losses: tuple[PlaceLoss, ...] = ()
    first_losses: tuple[PlaceLoss, ...] = ()
    of: int = 1
    reason: str = ""


_Ends = tuple[Sequence[PlaceLoss], Sequence[PlaceLoss]]


class Replication:
    """The cells of a run, for asking what one published platform, as cast, loses to another."""

    def __init__(
        self, cells: Sequence[Row], baseline: str, cast: Mapping[str, str], margin: float
    ) -> None:
        self._cells = {(cell.platform, cell.place): cell for cell in cells}
        self._baseline = baseline
        self._cast = cast
        self._margin = margin

    def outcome(self, check: ClaimCheck, prefer: Callable[[Place], bool]) -> Outcome:
        """Evaluate a claim: a ratio at the places to `prefer`, which are printed, or most ranks."""
        absent = [name for name in check.platforms if name not in self._cast]
        if check.platform in absent or set(absent) >= set(check.against):
            reason = f"no platform here stands for {absent[0]}"
            return Outcome(ClaimStatus.NOT_MEASURED, reason=reason)
        present = [name for name in check.against if name not in absent]
        sides = present if check.kind == "order" else check.against[:1]
        losses = [loss for name in sides for loss in self._losses(check, check.probe, name)]
        known = [loss for loss in losses if loss.ratio is not None]
        if not known:
            reasons = list(dict.fromkeys(loss.reason for loss in losses if loss.reason))
            nothing = f"the run has no {', '.join(check.probe)} there"
            return Outcome(ClaimStatus.NOT_MEASURED, reason="; ".join(reasons[:2]) or nothing)
        lost = [loss for loss in losses if loss.ratio is None]
        lacking = f"without {len(lost)} of {len(losses)} points ({lost[0].reason})" if lost else ""
        if check.kind == "order":
            return self._order(check, known, lacking)
        if check.kind == "ratio":
            chosen = [loss for loss in known if prefer(loss.place)] or _most_ranks(known)
            own = _mean(chosen)
            return Outcome(self._status(check, own), own, None, own, tuple(chosen), reason=lacking)
        return self._change(check, known, lacking)

    def _order(self, check: ClaimCheck, known: Sequence[PlaceLoss], lacking: str) -> Outcome:
        if "placement" not in check.at:
            # Where no message leaves a node, networks are equal: that contradicts no order of them.
            known = [loss for loss in known if not loss.place.on_one_node] or known
        order = (ClaimStatus.NO, ClaimStatus.CANNOT_TELL, ClaimStatus.YES)

        def doubt(loss: PlaceLoss) -> tuple[int, float]:
            toward = _toward(check, loss.ratio).value
            speaks_for = -abs(math.log(toward)) if check.expect == "equal" else toward
            return order.index(self._status(check, loss.ratio)), speaks_for

        # All must hold, so that each may be judged by its own interval.
        least = min(known, key=doubt)
        ratio, status = least.ratio, self._status(check, least.ratio)
        without = sorted({*check.against} - {loss.against for loss in known})
        reason = f"without {', '.join(without)}" if without else lacking
        return Outcome(status, ratio, None, ratio, (least,), of=len(known), reason=reason)

    def _change(self, check: ClaimCheck, known: Sequence[PlaceLoss], lacking: str) -> Outcome:
        pairs = list(self._ends(check, known))
        if not pairs:
            wanted = {
                "grows": "one number of ranks alone has a ratio",
                "rise": "one node and two do not both have a ratio",
                "more": "there is nothing to compare it with",
            }
            return Outcome(ClaimStatus.NOT_MEASURED, reason=wanted[check.kind])
        before, after = (tuple(chain.from_iterable(ends)) for ends in zip(*pairs, strict=True))
        # Each pair counts once, however many places stand at either end of it.
        first, last = (mean_of(map(_mean, ends)) for ends in zip(*pairs, strict=True))
        change = last.over(first)
        status = self._status(check, change)
        return Outcome(status, last, first, change, after, before, reason=lacking)

    def _ends(self, check: ClaimCheck, known: Sequence[PlaceLoss]) -> Iterator[_Ends]:
        if check.kind == "more":  # than the others, at the most ranks that both have
            others = self._losses(check, check.than, check.against[0])
            others = [loss for loss in others if loss.ratio is not None]
            shared = {loss.place.ranks for loss in known} & {loss.place.ranks for loss in others}
            if shared:
                yield _at(others, max(shared)), _at(known, max(shared))
            return
        by_program: dict[tuple[str, str], list[PlaceLoss]] = {}
        for loss in known:
            by_program.setdefault((loss.place.probe, loss.place.point), []).append(loss)
        for own in by_program.values():
            ranks = {loss.place.ranks for loss in own}
            one = [loss for loss in own if loss.place.on_one_node]
            two = [loss for loss in own if loss.place.ran_on == 2]
            if check.kind == "grows" and len(ranks) > 1:
                yield _at(own, min(ranks)), _at(own, max(ranks))
            elif check.kind == "rise" and one and two:
                yield _most_ranks(one), _most_ranks(two)

    def _losses(self, check: ClaimCheck, probes: Sequence[str], against: str) -> list[PlaceLoss]:
        own, other = self._cast[check.platform], self._cast[against]
        places = dict.fromkeys(
            place
            for name, place in self._cells
            if name in (own, other)
            and place.metric == check.metric
            and any(fnmatchcase(place.probe, probe) for probe in probes)
            and holds_at(check.at, place)
        )
        return [self._loss(own, other, place, against) for place in places]

    def _loss(self, own: str, other: str, place: Place, against: str) -> PlaceLoss:
        if own == other:
            return PlaceLoss(place, None, f"{own} stands for both", against)
        parts: list[Estimate | None] = []
        simulated = False
        for name in (own, other):
            if name == self._baseline:
                parts.append(None)
                continue
            cell = self._cells.get((name, place))
            if cell is None:
                return PlaceLoss(place, None, f"nothing was measured on {name}", against)
            if cell.verdict not in COMPARED or cell.ratio is None:
                return PlaceLoss(place, None, f"{name}: {cell.reason or 'no ratio'}", against)
            simulated = simulated or cell.simulated
            ratio = cell.ratio
            if cell.exact and not ratio.bounded:  # without noise, and no model's error is known
                ratio = Estimate(ratio.value, ratio.value, ratio.value)
            parts.append(ratio)
        mine, theirs = parts
        own_ratio = mine if theirs is None else (mine or Estimate(1.0, 1.0, 1.0)).over(theirs)
        return PlaceLoss(place, own_ratio, "", against, simulated)

    def _status(self, check: ClaimCheck, ratio: Estimate | None) -> ClaimStatus:
        toward = _toward(check, ratio)
        if toward.lo is None or toward.hi is None:
            below = toward.lo is None and toward.hi is not None and toward.hi < 1
            beyond = toward.lo is not None and toward.lo > 1 + self._margin
            if check.expect == "equal" or not (below or beyond):
                return ClaimStatus.CANNOT_TELL
            return ClaimStatus.YES if beyond else ClaimStatus.NO
        if check.expect == "equal":
            within = float(check.within or 1)
            if 1 / within <= toward.lo and toward.hi <= within:
                return ClaimStatus.YES
            apart = toward.lo > within or toward.hi < 1 / within
            return ClaimStatus.NO if apart else ClaimStatus.CANNOT_TELL
        if toward.hi <= 1 + self._margin:
            # What is certainly no more than equal within the margin is not what is claimed.
            return ClaimStatus.NO
        return ClaimStatus.YES if toward.lo > 1 else ClaimStatus.CANNOT_TELL


def holds_at(at: Mapping[str, Condition], place: Place) -> bool:
    """Tell whether a place meets conditions: all of them are known of it, and hold."""
    known = place.coordinates | {"nodes": place.ran_on}
    for name, condition in at.items():
        if name == "placement":
            if _PLACEMENTS.get(str(condition)) is not place.on_one_node:
                return False
            continue
        value = known.get(name)
        if isinstance(condition, Spread):
            if not isinstance(value, int | float) or not condition.holds(value):
                return False
        elif value not in (condition if isinstance(condition, list) else [condition]):
            return False
    return True


def mean_of(ratios: Iterable[Estimate]) -> Estimate:
    """Give the geometric mean; its half-width is the mean of theirs, whatever they share."""
    found = list(ratios)

    def mean(ends: Sequence[float | None]) -> float | None:
        known = [end for end in ends if end]
        if len(known) < len(ends):
            return None
        return math.exp(sum(map(math.log, known)) / len(known))

    middle = mean([ratio.value for ratio in found])
    assert middle is not None
    lo, hi = mean([ratio.lo for ratio in found]), mean([ratio.hi for ratio in found])
    return Estimate(middle, lo, hi)


def _mean(losses: Iterable[PlaceLoss]) -> Estimate:
    return mean_of(loss.ratio for loss in losses if loss.ratio is not None)


def _toward(check: ClaimCheck, ratio: Estimate | None) -> Estimate:
    """Turn a ratio so that above 1 is what the document says."""
    assert ratio is not None
    return ratio.inverse() if check.expect == "better" else ratio


def _most_ranks(losses: Sequence[PlaceLoss]) -> list[PlaceLoss]:
    most: dict[str, int] = {}
    for loss in losses:
        most[loss.place.probe] = max(loss.place.ranks, most.get(loss.place.probe, 0))
    return [loss for loss in losses if loss.place.ranks == most[loss.place.probe]]


def _at(losses: Sequence[PlaceLoss], ranks: int) -> list[PlaceLoss]:
    return [loss for loss in losses if loss.place.ranks == ranks]
