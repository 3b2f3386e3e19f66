"""Laws of message tags: a tag as a function of sender, receiver and number of ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The number of ranks, the own rank, the partner's rank, the tag.
TagSample = tuple[int, int, int, int]
_Floats = NDArray[np.float64]
#: Terms of a tag: one, the number of ranks, the own rank, the partner's; the simplest sets first.
_TAG_FAMILIES = (((0,),), ((0, 2), (0, 3), (0, 1)), ((0, 1, 2), (0, 1, 3), (0, 2, 3)))


@dataclass(frozen=True, slots=True)
class TagLaw:
    """A tag as a sum of integer multiples of 1, of the number of ranks, and of two rank numbers.

    The two rank numbers are the rank that makes the call, and its partner.

    - `checked`: whether the law fits more pairs of ranks than it has terms.
    """

    factors: tuple[int, int, int, int]
    checked: bool

    def at(self, ranks: int, rank: int, partner: int) -> int:
        """Return the tag of a message between `rank` and `partner`."""
        constant, of_ranks, of_rank, of_partner = self.factors
        return constant + of_ranks * ranks + of_rank * rank + of_partner * partner


def tag_laws(samples: Iterable[TagSample]) -> list[TagLaw]:
    """Return the simplest laws that explain all tags; empty if there is none."""
    table = np.array(sorted(set(samples)), float)
    tags = table[:, 3]
    rows = np.column_stack([np.ones(len(table)), table[:, :3]])
    for family in _TAG_FAMILIES:
        fits = (_fitted(terms, rows, tags) for terms in family)
        laws = [law for law in fits if law is not None]
        if laws:
            return laws
    return []


def _fitted(terms: Sequence[int], rows: _Floats, tags: _Floats) -> TagLaw | None:
    """Return the law of the given terms that explains all tags; None if there is none."""
    columns = rows[:, terms]
    if np.linalg.matrix_rank(columns) < len(terms):
        return None
    exact = np.linalg.lstsq(columns, tags, rcond=None)[0]
    factors = np.round(exact).astype(int)
    if not (columns @ factors == tags).all():
        return None
    by_term = np.zeros(4, int)
    by_term[list(terms)] = factors
    constant, of_ranks, of_rank, of_partner = by_term.tolist()
    different = np.unique(columns, axis=0)
    is_checked = len(different) > len(terms) or len(terms) == 1
    return TagLaw((constant, of_ranks, of_rank, of_partner), is_checked)
