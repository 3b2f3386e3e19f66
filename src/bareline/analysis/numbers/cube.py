"""All values of some runs as one array by platform, point and block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bareline.vocabulary.model import Stage
from bareline.vocabulary.place import CASE

#: The caveat of a trial in which a probe left points out because they exceeded its time budget.
CUT = "cut"

#: A launch that exceeded its limit. Runs of before call what was not started by the same stage.
_TIMED_OUT = (pl.col("stage") == Stage.TIMEOUT.value) & ~pl.col("reason").str.starts_with(
    "not started: "
)

#: A launch that ended otherwise than it should; what the platform failed to give is none.
_CRASHED = pl.col("stage").is_in([stage.value for stage in (Stage.SIGNAL, Stage.EXIT, Stage.PARSE)])

#: Numbers of cases, blocks and platforms: ten million samples carry each.
_CODE = pl.Int32

FloatCube = NDArray[np.float64]
BoolCube = NDArray[np.bool_]
IntCube = NDArray[np.int64]


class Cube:
    """Values as an array of shape (platforms, points, blocks), NaN where there is none.

    - `runs`: the run of each block: blocks of different runs never coincide.
    - `lost`: which values are absent because the launch, or its point, exceeded a time limit: they
      would be slower than what was measured. What was not started any more is not among them.
    - `limit_s`: the time limit of the launches that exceeded it, shape (platforms, cases); NaN
      where none did.
    - `took_s`: what each measured launch took as a whole, shape (platforms, cases, blocks).
    """

    def __init__(
        self,
        platforms: Sequence[str],
        trials: pl.DataFrame,
        values: pl.DataFrame,
        declarations: pl.DataFrame,
    ) -> None:
        self.platforms = list(platforms)
        trials = trials.with_columns(pl.struct(CASE).rank("dense").cast(_CODE).sub(1).alias("case"))
        self.cases = trials.unique("case").sort("case").select("case", *CASE)
        blocks = trials.select("run", "block").unique().sort("run", "block").with_row_index("at")
        codes = {name: code for code, name in enumerate(self.platforms)}
        placed = trials.join(blocks, on=["run", "block"]).select(
            "row",
            "case",
            pl.col("at").cast(_CODE),
            pl.col("platform").replace_strict(codes, return_dtype=_CODE).alias("p"),
            ((pl.col("status") == "failed") & _TIMED_OUT).fill_null(False).alias("timed_out"),
            ((pl.col("status") == "failed") & _CRASHED).fill_null(False).alias("crashed"),
            ((pl.col("status") == "measured") & pl.col("caveats").list.contains(CUT))
            .fill_null(False)
            .alias("cut"),
            pl.when(pl.col("status") == "measured").then("duration_s").alias("took_s"),
            "timeout_s",
            pl.struct("run", "boot").rank("dense").alias("boot_code"),
            "boot",
        )
        points, flat = _numbered(values, placed)
        self.runs = blocks.get_column("run").to_numpy()
        self.values: FloatCube = np.full(
            (len(self.platforms), points.height, blocks.height), np.nan
        )
        where = tuple(flat.get_column(name).to_numpy() for name in ("p", "point_row", "at"))
        self.values[where] = flat.get_column("value").to_numpy()
        self.points = (
            points.join(self.cases, on="case", how="left")
            .with_columns(pl.col("metric", "point").cast(pl.String))
            .join(declarations, on=["probe", "metric"], how="left")
            .sort("point_row")
        )
        absent = np.isnan(self.values)
        self.lost = self._lost(placed, absent)
        self.crashed = self._of_cases(placed.filter("crashed")) & absent
        self.limit_s, self.took_s = self._durations(placed)
        self._boots = placed.drop_nulls("boot").select("p", "at", "boot_code").unique()

    def _of_cases(self, trials: pl.DataFrame) -> BoolCube:
        """Mark the points of trials, shape of `values`."""
        cases = np.zeros((len(self.platforms), self.cases.height, self.values.shape[-1]), np.bool_)
        cases[tuple(trials.get_column(name).to_numpy() for name in ("p", "case", "at"))] = True
        found: BoolCube = cases[:, self.points.get_column("case").to_numpy()]
        return found

    def _lost(self, placed: pl.DataFrame, absent: BoolCube) -> BoolCube:
        """Mark what is absent from launches that exceeded their limit, or left points out.

        Of the latter only points of metrics that they gave.
        """
        numbers = self.points.select(pl.struct("case", "metric").rank("dense").cast(pl.Int64))
        metric = numbers.to_series().to_numpy()
        lost: BoolCube = np.asarray(self._of_cases(placed.filter("cut")) & absent)
        for number, there in enumerate(~absent):
            lost[number] &= np.isin(metric, metric[there.any(axis=-1)])[:, None]
        return lost | (self._of_cases(placed.filter("timed_out")) & absent)

    def _durations(self, placed: pl.DataFrame) -> tuple[FloatCube, FloatCube]:
        """Give the limits that were exceeded, and what launches took that were measured."""
        shape = (len(self.platforms), self.cases.height)
        limit_s, took_s = np.full(shape, np.nan), np.full((*shape, self.values.shape[-1]), np.nan)
        exceeded = placed.filter("timed_out").group_by("p", "case").agg(pl.col("timeout_s").max())
        limit_s[tuple(exceeded.get_column(name).to_numpy() for name in ("p", "case"))] = (
            exceeded.get_column("timeout_s").to_numpy()
        )
        measured = placed.drop_nulls("took_s")
        took_s[tuple(measured.get_column(name).to_numpy() for name in ("p", "case", "at"))] = (
            measured.get_column("took_s").to_numpy()
        )
        return limit_s, took_s

    def boots_of(self, platforms: Sequence[str]) -> tuple[IntCube, IntCube]:
        """Give which blocks ran, wholly or in part, in which boot of any of some platforms.

        Gives as `bareline.stats.grouped` takes them; nothing of what boots nowhere.
        """
        codes = [self.platforms.index(name) for name in platforms]
        own = self._boots.filter(pl.col("p").is_in(codes))
        number = own.select(pl.struct("p", "boot_code").rank("dense")).to_series()
        return own.get_column("at").to_numpy().astype(np.int64), number.to_numpy().astype(np.int64)

    def of(self, platform: str) -> FloatCube:
        """Give a platform's values, shape (points, blocks)."""
        found: FloatCube = self.values[self.platforms.index(platform)]
        return found

    def lost_on(self, platform: str) -> BoolCube:
        """Tell which of a platform's values were lost to a limit, shape (points, blocks)."""
        found: BoolCube = self.lost[self.platforms.index(platform)]
        return found


def _numbered(values: pl.DataFrame, placed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Number the points of all cases.

    Gives case, metric, point, point_row.
    Gives p, point_row, at, value.
    """
    flat = (
        values.select("row", "metric", "point", "value")
        .join(placed.select("row", "case", "at", "p"), on="row", how="inner")
        .drop("row")
    )
    points = (
        flat.select("case", "metric", "point")
        .unique(maintain_order=True)
        .with_row_index("point_row")
        .with_columns(pl.col("point_row").cast(pl.Int64))
    )
    return points, flat.join(points, on=["case", "metric", "point"], how="inner").select(
        "p", "point_row", "at", "value"
    )
