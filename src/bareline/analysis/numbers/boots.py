"""Boots: the independent units in the comparison of two platforms.

A record contains the number of the boot in which its platform ran. Launches of one boot are not
independent. So a boot counts as one value in every test and interval, and a permutation test
exchanges whole boots between two platforms. Six boots are needed for enough different exchanges.
With fewer boots, each launch counts as one value, and the result is valid for the measured boots
only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, Cube, IntCube
from bareline.vocabulary.verdicts import MIN_LAUNCHES


@dataclass(frozen=True, slots=True)
class LaunchedBlocks:
    """The blocks in which a platform was launched, as a mask over all blocks."""

    platform: str
    blocks: BoolCube


@dataclass(frozen=True, slots=True)
class Boots:
    """The independent units in the comparison of two platforms.

    - `groups`: the number of each block's group; the blocks of a group are one value. Each block is
      a group of its own if no launch has a boot number, or if there are too few boots.
    - `count`: the number of independent boots of the platform that has fewer; None if no launch has
      a boot number.
    - `few`: there are so few boots that the claims are valid for the measured boots only.
    """

    groups: IntCube
    count: int | None
    few: bool

    @classmethod
    def between(
        cls, cube: Cube, platform: LaunchedBlocks, baseline: LaunchedBlocks, *, paired: bool
    ) -> Boots:
        """Return the boots of two platforms.

        - `paired`: the platforms have common blocks, and only boots in common blocks count. If
          false, all boots of each platform count.
        """
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
    """Whether any launch of a platform has a boot number."""
    booted, _ = cube.boots_of([platform])
    return bool(booted.size)
