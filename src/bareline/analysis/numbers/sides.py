"""One side of a comparison: the values of a platform, and its launches that did not end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bareline import stats
from bareline.analysis.numbers.boots import LaunchedBlocks
from bareline.analysis.numbers.cube import BoolCube, Cube, FloatCube, IntCube


class EndedBadly(NamedTuple):
    """The launches of one side that were lost or crashed, and all launches: (points, blocks)."""

    lost: BoolCube
    tried: BoolCube


@dataclass
class Side:
    """The launches of one platform.

    Of shape (points, blocks):

    - `values`: as they were measured.
    - `compared`: the values that are compared: with `repeat`, more than were measured.
    - `lost`: launches that exceeded a limit. A `crashed` launch counts as lost, without a bound.

    - `limit_s`: of launches that exceeded it, by case; `took_s`: of each launch (cases, blocks).
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
        """Compare the values of a platform without noise in every block of the other side.

        Launches that exceeded a time limit stay absent.
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
        """The launches that did not crash: each gave a value, or met a limit."""
        tried: BoolCube = ~np.isnan(self.compared) | self.lost
        return tried

    @property
    def launched(self) -> LaunchedBlocks:
        """The blocks in which any point was tried."""
        blocks = np.asarray(self.tried.any(axis=0))
        return LaunchedBlocks(self.platform, blocks)

    @property
    def ended_badly(self) -> EndedBadly:
        """The lost or crashed launches, and all launches."""
        return EndedBadly(self.lost | self.crashed, self.tried | self.crashed)


def launches_of(marks: BoolCube) -> IntCube:
    """Count the launches that are marked, for each point."""
    counts: IntCube = np.count_nonzero(marks, axis=-1)
    return counts
