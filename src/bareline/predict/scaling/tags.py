"""Laws of the tags of messages, in the ranks at both ends and their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Terms of a tag: one, the number of ranks, the own rank, the partner's; the simplest sets first.
_TAG_FAMILIES = (((0,),), ((0, 2), (0, 3), (0, 1)), ((0, 1, 2), (0, 1, 3), (0, 2, 3)))


@dataclass(frozen=True, slots=True)
class TagLaw:
    """A tag as a sum of whole multiples of one, the number of ranks, and both ranks of a message.

    - `checked`: whether it was seen for more pairs of ranks than it has terms.
    """

    factors: tuple[int, int, int, int]
    checked: bool

    def at(self, ranks: int, own: int, partner: int) -> int:
        """Return the tag."""
        values = (1, ranks, own, partner)
        return sum(factor * value for factor, value in zip(self.factors, values, strict=True))


def tag_laws(samples: Iterable[tuple[int, int, int, int]]) -> list[TagLaw]:
    """Return the simplest laws that give all tags; none where no law does.

    - `samples`: the number of ranks, the own rank, the partner's rank, the tag.
    """
    table = np.array(sorted(set(samples)), float)
    tags = table[:, 3]
    rows = np.column_stack([np.ones(len(table)), table[:, :3]])
    for family in _TAG_FAMILIES:
        fits = (_fitted(terms, rows, tags) for terms in family)
        laws = [law for law in fits if law is not None]
        if laws:
            return laws
    return []


def _fitted(
    terms: Sequence[int], rows: NDArray[np.float64], tags: NDArray[np.float64]
) -> TagLaw | None:
    """Return the law of some terms that gives all tags; None where there is none."""
    columns = rows[:, terms]
    if np.linalg.matrix_rank(columns) < len(terms):
        return None
    factors = np.round(np.linalg.lstsq(columns, tags, rcond=None)[0]).astype(int)
    if not (columns @ factors == tags).all():
        return None
    whole = [0, 0, 0, 0]
    for term, factor in zip(terms, factors.tolist(), strict=True):
        whole[term] = factor
    different = {tuple(row) for row in columns.tolist()}
    is_checked = len(different) > len(terms) or len(terms) == 1
    return TagLaw((whole[0], whole[1], whole[2], whole[3]), is_checked)
