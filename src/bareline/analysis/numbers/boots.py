"""Boots of two platforms that are compared: which blocks stand for one value.

A record says in which coming up of its platform it ran. What shares a boot is not independent, so
a boot is one value of every test and interval, and what is exchanged between two platforms. With
fewer than six boots there is nothing to exchange: then launches are, and what they show holds for
these boots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, Cube, FloatCube, IntCube
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: A platform's name, and the blocks in which it was launched.
Side = tuple[str, BoolCube]


@dataclass(frozen=True, slots=True)
class Boots:
    """What is independent in the comparison of two platforms.

    - `groups`: the group of each block; blocks of one group stand for one value. Each block has a
      group of its own where nothing boots, and where there are too few boots.
    - `count`: how many independent boots there are (of two platforms that boot, groups of blocks
      that share none); None where nothing boots.
    - `few`: there are so few that whatever is claimed holds for these boots alone.
    """

    groups: IntCube
    count: int | None
    few: bool

    @classmethod
    def between(cls, cube: Cube, platform: Side, baseline: Side, *, paired: bool) -> Boots:
        """Find the boots of two platforms.

        - `paired`: they share blocks. If not, either has boots of its own.
        """
        blocks = cube.values.shape[-1]
        alone = np.arange(blocks)
        names = (platform[0], baseline[0])
        at, boot = cube.boots_of(names)
        if not at.size:
            return cls(alone, None, False)
        groups = stats.grouped(blocks, at, boot)
        if paired:
            sides = [platform[1] & baseline[1]]
        else:
            sides = [own for name, own in (platform, baseline) if cube.boots_of([name])[0].size]
        counts = [int(np.unique(groups[own]).size) for own in sides]
        shared = [
            count < MIN_LAUNCHES and count < np.count_nonzero(own)
            for count, own in zip(counts, sides, strict=True)
        ]
        return cls(alone if any(shared) else groups, min(counts), any(shared))


def dependent(differences: FloatCube, boots: Boots, begins: IntCube) -> BoolCube:
    """Tell of which cases neighbouring differences resemble each other, or drift.

    What drifts on both platforms alike is no matter here: blocks remove it.

    Parameters
    ----------
    differences : float array, shape (points, blocks)
        The points of a case follow each other.
    begins
        Where each case begins.

    Returns
    -------
    bool array, shape (cases,)
    """
    if not begins.size:
        return np.zeros(0, dtype=np.bool_)
    own = stats.collapsed(differences, boots.groups)
    there = ~np.isnan(own)
    count = there.sum(axis=-1, keepdims=True)
    apart = np.where(there, own, 0.0)
    # The points of a launch share what happened to it; each counts from its own mean.
    apart = np.where(there, apart - apart.sum(axis=-1, keepdims=True) / np.maximum(count, 1), 0.0)
    counts = np.add.reduceat(there, begins, axis=0, dtype=np.int64)
    totals = np.add.reduceat(apart, begins, axis=0)
    means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    seen = stats.look(means)
    return np.asarray(seen.dependent | seen.drifting)
