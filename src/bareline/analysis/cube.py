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

#: Numbers of cases, blocks and platforms: ten million samples carry each.
_CODE = pl.Int32

FloatCube = NDArray[np.float64]
BoolCube = NDArray[np.bool_]


class Cube:
    """Values as an array of shape (platforms, points, blocks), NaN where there is none.

    Blocks of different runs never coincide: `runs` gives the run of each block. `lost` tells
    which values are absent because the launch, or its point, exceeded a time limit: they would
    be slower than what was measured.
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
            ((pl.col("status") == "failed") & (pl.col("stage") == Stage.TIMEOUT.value))
            .or_((pl.col("status") == "measured") & pl.col("caveats").list.contains(CUT))
            .fill_null(False)
            .alias("limited"),
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
        self.lost: BoolCube = self._lost(placed.filter("limited"))

    def _lost(self, limited: pl.DataFrame) -> BoolCube:
        """Mark what is absent from trials that met a limit, of points that others delivered."""
        lost = np.zeros(self.values.shape, dtype=np.bool_)
        if limited.is_empty():
            return lost
        cases = np.zeros((len(self.platforms), self.cases.height, self.values.shape[-1]), np.bool_)
        cases[tuple(limited.get_column(name).to_numpy() for name in ("p", "case", "at"))] = True
        lost |= cases[:, self.points.get_column("case").to_numpy()]
        absent = np.isnan(self.values)
        lost &= absent & ~absent.all(axis=-1, keepdims=True)
        return lost

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

    Returns
    -------
    points
        case, metric, point, point_row.
    values
        p, point_row, at, value.
    """
    flat = (
        values.select("row", "metric", "point", "value")
        .join(placed.drop("limited"), on="row", how="inner")
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
