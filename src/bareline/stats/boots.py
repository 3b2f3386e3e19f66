"""Boots: launches that share a boot are not independent of each other.

The effects of a boot (positions of pages, cores of interrupts) are the same for all its launches.
So a boot counts as one launch: its launches are averaged, and whole boots are exchanged between two
platforms. If two platforms boot at different blocks, all blocks that share a boot of either
platform form one group. These groups are fewer and larger, and can be exchanged between the
platforms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.launch_array import FloatArray, IntArray, as_launch_array


def grouped(blocks: int, block: IntArray, boot: IntArray) -> IntArray:
    """Return the group of each block, shape (blocks,); blocks that share a boot are in one group.

    Two blocks are also in one group if a chain of further blocks connects them.

    - `block`, `boot`: shape (k,); a launch of `block` ran in `boot`. A block without a boot is a
      group of one block.

    Groups are numbered from 0 in the order of their first blocks.
    """
    first = np.arange(blocks)
    if block.size:
        _, boot = np.unique(boot, return_inverse=True)
        while True:
            earliest = np.full(int(boot.max()) + 1, blocks)
            np.minimum.at(earliest, boot, first[block])
            joined = first.copy()
            np.minimum.at(joined, block, earliest[boot])
            joined = joined[joined]
            if (joined == first).all():
                break
            first = joined
    return np.asarray(np.unique(first, return_inverse=True)[1], dtype=np.int64)


def collapsed(values: ArrayLike, groups: IntArray) -> FloatArray:
    """Return the mean of each group of blocks (see `grouped`), shape (..., groups).

    - `values`: shape (..., blocks); NaN marks an absent launch, which the mean leaves out.
    """
    stack = as_launch_array(values)
    count = int(groups.max(initial=-1)) + 1
    if count == stack.shape[-1]:
        return stack
    order = np.argsort(groups, kind="stable")
    begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sorted_ = stack[..., order]
    absent = np.isnan(sorted_)
    there = np.add.reduceat(~absent, begins, axis=-1, dtype=np.int64)
    total = np.add.reduceat(np.where(absent, 0.0, sorted_), begins, axis=-1)
    means: FloatArray = np.divide(total, there, out=np.full(total.shape, np.nan), where=there > 0)
    return means
