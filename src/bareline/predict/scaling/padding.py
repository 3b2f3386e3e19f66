"""Laws of messages that are padded: each is a share of the problem, rounded up to blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bareline.predict.scaling.laws import EXACT, Floats, Law, LawTerms, SizeTable, in_blocks

#: The sizes of blocks to which messages are padded, in bytes: from a cache line on.
_BLOCKS = [1 << power for power in range(6, 17)]


@dataclass(frozen=True, slots=True)
class _Whole:
    """The range of possible sizes of the whole problem in bytes.

    For each size in this range, the padded shares of the problem have the profiled sizes.
    """

    least: float
    most: float

    @classmethod
    def of(cls, shares: Floats, values: Floats, block: int) -> _Whole | None:
        """Return the range of the problem's bytes that the sizes allow; None if it is empty."""
        least = math.floor(float(((values - block) / shares).max()) + EXACT) + 1.0
        most = float(math.floor(float((values / shares).min()) + EXACT))
        return cls(least, most) if least <= most else None

    @property
    def ends(self) -> list[float]:
        """Both ends of the range, or the only value."""
        return sorted({self.least, self.most})


def padded_laws(table: SizeTable, terms: LawTerms) -> list[Law]:
    """Return laws of sizes that are rounded up to whole blocks; empty if no block explains them.

    Each law is a share of the problem. The sizes allow a range for the bytes of the whole problem.
    The laws for both ends of this range are returned; they agree if the range determines the size.
    """
    if table.values.min() <= 0 or table.values.min() == table.values.max():
        return []
    laws: list[Law] = []
    for block in _blocks_of(table.values):
        for term in terms.shares:
            laws += _laws_of_block(table, term, block)
    return laws


def _blocks_of(sizes: Floats) -> Iterator[int]:
    """Yield the block sizes of which all sizes are multiples."""
    for block in _BLOCKS:
        if not np.any(sizes % block):
            yield block


def _laws_of_block(table: SizeTable, term: int, block: int) -> list[Law]:
    whole = _Whole.of(table.rows[:, term], table.values, block)
    if whole is None:
        return []
    checked = _is_padding_checked(table, term, block)
    return [Law((term,), np.array([end]), checked, block=block) for end in whole.ends]


def _is_padding_checked(table: SizeTable, term: int, block: int) -> bool:
    """Whether the sizes of some profile follow from the other profiles alone."""
    shares = table.rows[:, term]
    for left in table.by_count:
        rest = ~left
        if not rest.any():
            continue
        whole = _Whole.of(shares[rest], table.values[rest], block)
        if whole is None:
            continue
        expected = [in_blocks(end * shares[left], block) for end in whole.ends]
        if all((sizes == table.values[left]).all() for sizes in expected):
            return True
    return False


def may_be_padding(table: SizeTable, there: Floats, terms: LawTerms) -> bool:
    """Whether a size that is equal in all profiles may be a padded share of the problem.

    Such a share has fewer blocks on the new grid.

    - `there`: the values of the terms on the new grid.
    """
    size = table.values[0]
    if not size or (table.values != size).any():
        return False
    for block in _blocks_of(table.values):
        for term in terms.shares:
            shares = table.rows[:, term]
            whole = _Whole.of(shares, table.values, block)
            if whole is None or np.ptp(shares) == 0:
                continue
            if whole.least * there[term] <= size - block:
                return True
    return False
