"""Boots: the independent units in the comparison of two platforms.

A record contains the number of the boot of its platform. Launches of one boot are not independent,
so a boot is one value of every test and interval, and the unit that is exchanged between two
platforms. With fewer than six boots too few exchanges exist: then launches are the unit, and the
result is valid for these boots only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, Cube, IntCube
from bareline.vocabulary.verdicts import MIN_LAUNCHES


@dataclass(frozen=True, slots=True)
class LaunchedBlocks:
    """The blocks in which a platform was launched: true for each of these blocks."""

    platform: str
    blocks: BoolCube


@dataclass(frozen=True, slots=True)
class Boots:
    """The independent units in the comparison of two platforms.

    - `groups`: of each block; blocks of one group are one value. Each block is alone where
      nothing boots, and where there are too few boots.
    - `count`: independent boots: groups of blocks that share none; None where nothing boots.
    - `few`: the claims are about these boots alone.
    """

    groups: IntCube
    count: int | None
    few: bool

    @classmethod
    def between(
        cls, cube: Cube, platform: LaunchedBlocks, baseline: LaunchedBlocks, *, paired: bool
    ) -> Boots:
        """Return the boots of two platforms; without common blocks each platform has its own."""
        blocks = cube.values.shape[-1]
        alone = np.arange(blocks)
        names = (platform.platform, baseline.platform)
        booted, boot = cube.boots_of(names)
        if not booted.size:
            return cls(alone, None, False)
        groups = stats.grouped(blocks, booted, boot)
        if paired:
            launched = [platform.blocks & baseline.blocks]
        else:
            launched = []
            for side in (platform, baseline):
                if _boots(cube, side.platform):
                    launched.append(side.blocks)
        counts = []
        few = False
        for blocks_of_side in launched:
            boots = int(np.unique(groups[blocks_of_side]).size)
            launches = int(np.count_nonzero(blocks_of_side))
            few |= boots < min(MIN_LAUNCHES, launches)
            counts.append(boots)
        if few:
            groups = alone
        return cls(groups, min(counts), few)


def _boots(cube: Cube, platform: str) -> bool:
    """Whether any launch of a platform has the number of a boot."""
    booted, _ = cube.boots_of([platform])
    return bool(booted.size)
