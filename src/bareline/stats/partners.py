"""Two separate runs: launches paired by their order, so that their names can be exchanged.

Two runs share no blocks. The first launch of one is therefore paired with the first launch of the
other, the second with the second, for all rows at once; where one run has more launches, several
of them that follow each other are averaged. If nothing differs and the noise of each run is
symmetric (or has one shape in both), exchanging the names in any pair is as good as what was
measured. So `bareline.stats.flips` decides two runs as it decides blocks: jointly, from six
launches on, in a family of any size.

The spreads of the two runs may differ. Dealing all launches out to the runs anew has more
resolution, but it mixes both noises: with a run four times as noisy as the other, 16 to 22 of 100
pages with 60 rows made a false claim, with Welch's t as normal deviates (``benchmarks/two_runs.py``
shows 2 to 4 for pairs).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.boots import collapsed
from bareline.stats.stack import FloatArray, IntArray, as_stack, require_same_blocks


def partnered(values: ArrayLike, baseline: ArrayLike, groups: IntArray) -> FloatArray:
    """Return differences of launches paired by their order, shape (k, blocks).

    - `values`, `baseline`: shape (k, blocks); NaN where a side was not launched. No block has both.
    - `groups`: shape (blocks,); the boot of each block (`bareline.stats.boots.grouped`): the mean
      of a boot is one launch.

    A difference stands in the first block of its launch of the baseline, the rest is NaN.

    Raises ValueError: the stacks have unlike shapes.
    """
    own, base = as_stack(values), as_stack(baseline, "baseline")
    require_same_blocks(own, base)
    own_at, base_at = _launched(own, groups), _launched(base, groups)
    found = np.full(base.shape, np.nan)
    pairs = min(own_at.size, base_at.size)
    if not pairs:
        return found
    first_block = np.unique(groups, return_index=True)[1]
    partner = _partner(base_at.size, pairs)
    begins = np.unique(partner, return_index=True)[1]
    own_means = collapsed(collapsed(own, groups)[..., own_at], _partner(own_at.size, pairs))
    base_means = collapsed(collapsed(base, groups)[..., base_at], partner)
    found[..., first_block[base_at[begins]]] = own_means - base_means
    return found


def _launched(values: FloatArray, groups: IntArray) -> IntArray:
    """Return the groups in which anything was launched, in their order."""
    there = (~np.isnan(values)).any(axis=tuple(range(values.ndim - 1)))
    return np.unique(groups[there])


def _partner(launches: int, pairs: int) -> IntArray:
    """Return the pair of each launch: launches that follow each other share one."""
    return np.arange(launches) * pairs // launches
