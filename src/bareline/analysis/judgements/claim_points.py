"""Choose the points at which a claim of a publication is judged.

A claim about a change, for example a loss that grows with the ranks, is judged at two groups of
points: the beginning and the end of the change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bareline.analysis.judgements.losses import PlaceLoss
from bareline.published.findings import ClaimCheck
from bareline.vocabulary.place import Place

PlaceTest = Callable[[Place], bool]


@dataclass(frozen=True, slots=True)
class JudgedPoints:
    """The points at which a program's loss is judged.

    - `first`: for a claim about a change of the loss, where the change begins; else empty.
    - `last`: where this change ends; for a claim about the loss itself, all its points.
    """

    first: Sequence[PlaceLoss]
    last: Sequence[PlaceLoss]

    @property
    def with_common_points(self) -> JudgedPoints:
        """Both groups, reduced to the points (e.g. sizes) that both contain."""
        points = {loss.place.point for loss in self.first}
        points &= {loss.place.point for loss in self.last}
        first = [loss for loss in self.first if loss.place.point in points]
        last = [loss for loss in self.last if loss.place.point in points]
        return JudgedPoints(
            first=first,
            last=last,
        )


def judged_points(
    check: ClaimCheck,
    losses: Sequence[PlaceLoss],
    others: Sequence[PlaceLoss],
    *,
    begin: PlaceTest,
    end: PlaceTest,
    near: PlaceTest,
) -> JudgedPoints | None:
    """Return the points at which a program's loss is judged.

    None if a change has no points at its beginning or end.

    - `others`: the losses of the programs with which the program is compared.
    - `begin`: whether the change that the publication prints begins at a place (case and point).
    - `end`: whether the change that the publication prints ends at a place.
    - `near`: whether a place has the printed number of ranks on a different number of nodes; used
      if `end` is false for all measured places.
    """
    if check.kind == "ratio":
        at_end = _at_places(losses, end) or _at_places(losses, near)
        return JudgedPoints((), at_end or _most_ranks(losses))
    if check.kind == "more":
        change = _at_most_common_ranks(others, losses)
    elif check.kind == "rise":
        change = _from_one_node_to_two(losses).with_common_points
    else:
        change = _from_least_to_most_ranks(losses, begin, end).with_common_points
    if not change.first or not change.last:
        return None
    return change


def _at_most_common_ranks(others: Sequence[PlaceLoss], losses: Sequence[PlaceLoss]) -> JudgedPoints:
    """Return the points of other programs and of the program.

    All these points have the largest number of ranks that both groups have in common.
    """
    shared = _ranks_of(losses) & _ranks_of(others)
    if not shared:
        return JudgedPoints((), ())
    others_at_most = _at(others, max(shared))
    losses_at_most = _at(losses, max(shared))
    return JudgedPoints(others_at_most, losses_at_most)


def _from_one_node_to_two(losses: Sequence[PlaceLoss]) -> JudgedPoints:
    on_one_node = [loss for loss in losses if loss.place.on_one_node]
    on_two_nodes = [loss for loss in losses if loss.place.ran_on == 2]
    return JudgedPoints(_most_ranks(on_one_node), _most_ranks(on_two_nodes))


def _from_least_to_most_ranks(
    losses: Sequence[PlaceLoss], begin: PlaceTest, end: PlaceTest
) -> JudgedPoints:
    """Return the points with the fewest ranks and the points with the most ranks.

    If the run measured the ranks at which the printed change begins or ends, only these count.
    """
    ranks_at_begin = _ranks_of(_at_places(losses, begin) or losses)
    fewest = min(ranks_at_begin)
    ranks_at_end = _ranks_of(_at_places(losses, end) or losses)
    most = max(ranks_at_end)
    if fewest >= most:
        return JudgedPoints((), ())
    first = _at(losses, fewest)
    return JudgedPoints(first, _at(losses, most))


def _at_places(losses: Sequence[PlaceLoss], places: PlaceTest) -> list[PlaceLoss]:
    return [loss for loss in losses if places(loss.place)]


def _ranks_of(losses: Sequence[PlaceLoss]) -> set[int]:
    return {loss.place.ranks for loss in losses}


def _most_ranks(losses: Sequence[PlaceLoss]) -> list[PlaceLoss]:
    most = max((loss.place.ranks for loss in losses), default=0)
    return _at(losses, most)


def _at(losses: Sequence[PlaceLoss], ranks: int) -> list[PlaceLoss]:
    return [loss for loss in losses if loss.place.ranks == ranks]
