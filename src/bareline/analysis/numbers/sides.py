"""One side of a comparison: a platform's values, and its launches that ended badly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bareline import stats
from bareline.analysis.numbers.boots import LaunchedBlocks
from bareline.analysis.numbers.cube import BoolCube, Cube, FloatCube, IntCube


class EndedBadly(NamedTuple):
    """Marks of the launches that were lost or crashed, and of all launches.

    The arrays have the shape (points, blocks).
    """

    lost: BoolCube
    tried: BoolCube


@dataclass
class Side:
    """The launches of one platform, which is one side of a comparison.

    Arrays of shape (points, blocks):

    - `values`: the measured values.
    - `compared`: the compared values: the measured values, and values that `repeat` adds.
    - `lost`: marks of launches that exceeded a limit.
    - `crashed`: marks of launches that crashed. They count as lost launches without a known bound.

    Further arrays:

    - `limit_s`: the time limit of launches that exceeded it, shape (cases).
    - `took_s`: the duration of each launch, shape (cases, blocks).
    """

    platform: str
    values: FloatCube
    compared: FloatCube
    lost: BoolCube
    crashed: BoolCube
    limit_s: FloatCube
    took_s: FloatCube

    @classmethod
    def of(cls, cube: Cube, platform: str) -> Side:
        """Return the launches of a platform."""
        number = cube.platforms.index(platform)
        values = cube.values[number]
        return cls(
            platform=platform,
            values=values,
            compared=values,
            lost=cube.lost[number],
            crashed=cube.crashed[number],
            limit_s=cube.limit_s[number],
            took_s=cube.took_s[number],
        )

    def repeat(self, beside: Side) -> None:
        """Repeat the median of a noiseless platform in all blocks that the other platform measured.

        Launches that exceeded a time limit stay missing.
        """
        missing = np.isnan(self.values) & ~self.lost
        repeated = missing & ~np.isnan(beside.values)
        self.compared = np.where(repeated, self.medians[:, None], self.values)

    @property
    def medians(self) -> FloatCube:
        """The median of each point over its launches."""
        return stats.summarize(self.values).median

    @property
    def typical_took_s(self) -> FloatCube:
        """The median duration of the launches of each case."""
        return stats.summarize(self.took_s).median

    @cached_property
    def tried(self) -> BoolCube:
        """Marks of the launches that did not crash: they have a value or exceeded a limit."""
        tried: BoolCube = ~np.isnan(self.compared) | self.lost
        return tried

    @property
    def launched(self) -> LaunchedBlocks:
        """The blocks in which the platform was launched and any point was tried."""
        blocks = np.asarray(self.tried.any(axis=0))
        return LaunchedBlocks(self.platform, blocks)

    @property
    def ended_badly(self) -> EndedBadly:
        """Marks of the lost or crashed launches, and of all launches."""
        return EndedBadly(self.lost | self.crashed, self.tried | self.crashed)


def launches_of(marks: BoolCube) -> IntCube:
    """Return for each point the number of marked launches."""
    counts: IntCube = np.count_nonzero(marks, axis=-1)
    return counts
