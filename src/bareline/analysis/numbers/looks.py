"""The planned interim analyses ("looks") of a run, and how many of them it has reached.

A look tests the blocks measured so far. The permitted error probability of 5 % is divided among the
looks: each look "spends" a part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from bareline import stats
from bareline.analysis.numbers.records import Records
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.looks import checked_looks, spending
from bareline.vocabulary.place import CASE


@dataclass(frozen=True, slots=True)
class Looks:
    """The planned interim analyses (looks) of a run; without a plan, there is one at the end.

    - `planned`: the number of blocks that each look needs; empty without a plan.
    - `reached`: the number of looks that the run has reached.
    - `measured`: the number of complete blocks of the run.
    """

    planned: tuple[int, ...] = ()
    reached: int = 0
    measured: int = 0

    @property
    def spending(self) -> tuple[float, ...]:
        """The part of the error probability that each planned interim analysis may use."""
        return spending(len(self.planned))

    @property
    def spent(self) -> float:
        """The error probability that all interim analyses use together."""
        if self.planned:
            return sum(self.spending)
        return stats.CERTAIN_ALPHA

    @property
    def taken(self) -> tuple[tuple[int | None, float], ...]:
        """The number of blocks (None: all) and the error probability of each analysis made."""
        if not self.planned:
            return ((None, stats.CERTAIN_ALPHA),)
        looks = zip(self.planned, self.spending, strict=True)
        return tuple(looks)[: self.reached]

    @classmethod
    def of(cls, records: Records) -> Looks:
        """Return the interim analyses (looks) of a run; several runs together have none planned.

        Raises AnalysisError: the plan of looks in the run's file is invalid.
        """
        planned = records.study.get("looks")
        if planned is None or len(records.runs) > 1:
            return cls()
        try:
            looks = checked_looks(planned)
        except ValueError as error:
            raise AnalysisError(
                f"the run is damaged: {error}", where=f"{records.runs[0].path}/run.toml",
                hint="take the file from a copy of the run",
            ) from error  # fmt: skip
        measured = _complete_blocks(records.trials, looks)
        reached = sum(look <= measured for look in looks)
        return cls(looks, reached, measured)


def _complete_blocks(trials: pl.DataFrame, looks: Sequence[int]) -> int:
    """Return the number of completely measured blocks.

    The last block of an interrupted run lacks trials. If this block counted, chance would decide
    which rows include it. A block is complete if it has all cases of the block before. A case may
    be missing if it failed in the block before, or if an interim analysis ended its measurement.
    """
    if trials.is_empty():
        return 0
    last_block = pl.col("block").max()
    last = int(trials.select(last_block).item())
    if last == 0:
        return 1
    pair = ["platform", *CASE]
    there = trials.filter(block=last)
    expected = trials.filter(pl.col("block") == last - 1, pl.col("status") == "measured")
    if last in looks:
        probes = there.select("probe").unique()
        expected = expected.join(probes, on="probe", how="semi")
    missing = expected.join(there, on=pair, how="anti", nulls_equal=True)
    if missing.height:
        return last
    return last + 1
