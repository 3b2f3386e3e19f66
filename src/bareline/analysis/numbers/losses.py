"""How many launches either side lost to a limit, beside all else that is claimed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bareline import stats
from bareline.analysis.numbers.cube import FloatCube, IntCube
from bareline.analysis.numbers.members import Members, mean_of


@dataclass(frozen=True, slots=True)
class Losses:
    """How many launches each side lost, of all members of all pairs, each pattern once."""

    sizes: list[int]
    exceedance: stats.Exceedance
    first: IntCube
    worse: IntCube

    @classmethod
    def of(cls, members: Sequence[Members]) -> Losses:
        """Count the launches that both sides of every pair lost."""
        p, least, worse, names = [], [], [], []
        for number, member in enumerate(members):
            if member.pair.exact or not any(lost.any() for lost, _ in member.pair.ended):
                p.append(np.full(member.size, np.nan))
                least.append(p[-1])
                worse.append(np.zeros(member.size, dtype=np.int64))
                names += [b"%d/%d" % (number, at) for at in range(member.size)]
                continue
            own, base, told = member.over()
            found = stats.exceedance(own, base)
            p.append(found.p)
            least.append(found.least)
            apart = np.nan_to_num(mean_of(own.T) - mean_of(base.T))
            worse.append(np.sign(apart).astype(np.int64))
            names += [b"%d/" % number + name for name in told]
        known: dict[bytes, int] = {}
        first = [known.setdefault(name, at) for at, name in enumerate(names)]
        return cls(
            [member.size for member in members],
            stats.Exceedance(np.concatenate(p), np.concatenate(least)),
            np.array(first, dtype=np.int64),
            np.concatenate(worse),
        )

    def beside(
        self,
        p: list[FloatCube],
        alpha: float,
        adjust: Callable[[FloatCube, FloatCube], FloatCube],
    ) -> tuple[list[FloatCube], list[IntCube]]:
        """Put what lost launches say beside p-values, which are held against `alpha`.

        Both have a share of the error, once any loss could be certain by its numbers alone.
        """
        own = np.flatnonzero(self.first == np.arange(self.first.size))
        adjusted = np.full(self.first.size, np.nan)
        adjusted[own] = adjust(self.exceedance.p[own], self.exceedance.least[own])
        adjusted = adjusted[self.first]
        ends = np.cumsum(self.sizes)[:-1]
        by_loss = np.where(adjusted <= stats.LOST_ALPHA, self.worse, 0)
        told = np.split(by_loss, ends)
        if np.isnan(adjusted).all():
            return p, told
        both = [
            np.fmin(
                np.minimum(1.0, given * (alpha / stats.BESIDE_LOST_ALPHA)),
                np.minimum(1.0, lost * (alpha / stats.LOST_ALPHA)),
            )
            for given, lost in zip(p, np.split(adjusted, ends), strict=True)
        ]
        return both, told


def by_holm(p: FloatCube, least: FloatCube) -> FloatCube:
    """Adjust counts for what is claimed of all of them: no false claim."""
    return stats.holm_of_testable(p, least, stats.LOST_ALPHA)


def by_rate(p: FloatCube, least: FloatCube) -> FloatCube:
    """Adjust counts for rows of tables: the rate of false ones."""
    return stats.false_discovery(np.where(least <= stats.LOST_ALPHA, p, np.nan))
