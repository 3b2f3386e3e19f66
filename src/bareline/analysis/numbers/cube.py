"""All values of some runs in one array with the axes platform, point and block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bareline.vocabulary.model import Stage
from bareline.vocabulary.place import CASE

#: The caveat of a trial in which a probe left points out because they exceeded its time budget.
CUT = "cut"
#: A launch that exceeded its limit. Older runs give trials that never started the same stage.
_TIMED_OUT = (pl.col("stage") == Stage.TIMEOUT.value) & ~pl.col("reason").str.starts_with(
    "not started: "
)
#: A launch that ended abnormally; a trial that the platform failed to start is not one.
_CRASHED = pl.col("stage").is_in([stage.value for stage in (Stage.SIGNAL, Stage.EXIT, Stage.PARSE)])
#: The type of the numbers of cases, blocks and platforms, small for ten million samples.
_CODE = pl.Int32

FloatCube = NDArray[np.float64]
BoolCube = NDArray[np.bool_]
IntCube = NDArray[np.int64]


class Cube:
    """The values of some runs as an array (platforms, points, blocks), NaN for a missing value.

    - `runs`: the run of each block; two runs never share a block.
    - `blocks`: the number of each block in its run.
    - `lost`: marks of values that are missing because a launch or a point exceeded a time limit.
      The missing value would be slower than the measured values. Launches that were not started are
      not marked.
    - `limit_s`: the time limit of launches that exceeded it, shape (platforms, cases); NaN for a
      case without such a launch.
    - `took_s`: the duration of each measured launch, shape (platforms, cases, blocks).
    """

    def __init__(
        self,
        platforms: Sequence[str],
        trials: pl.DataFrame,
        values: pl.DataFrame,
        declarations: pl.DataFrame,
    ) -> None:
        self.platforms = list(platforms)
        case_number = pl.struct(CASE).rank("dense").cast(_CODE).sub(1).alias("case")
        trials = trials.with_columns(case_number)
        first_of_cases = trials.unique("case").sort("case")
        self.cases = first_of_cases.select("case", *CASE)
        numbered_blocks = trials.select("run", "block").unique().sort("run", "block")
        blocks = numbered_blocks.with_row_index("at")
        self.runs = blocks.get_column("run").to_numpy()
        block_numbers = blocks.get_column("block").cast(pl.Int64)
        self.blocks: IntCube = block_numbers.to_numpy()
        placed = self._placed(trials, blocks)
        booted = placed.drop_nulls("boot").select("p", "at", "boot_code")
        self._boots = booted.unique()
        self._place_values(values, placed, declarations)
        self.lost = self._lost(placed)
        self.crashed = self._absent(placed.filter("crashed"))
        shape = (len(self.platforms), self.cases.height, blocks.height)
        longest_limit_s = pl.col("timeout_s").max()
        limits = placed.filter("timed_out").group_by("p", "case").agg(longest_limit_s)
        self.limit_s = laid_out(limits, "timeout_s", shape[:2], "p", "case")
        durations = placed.drop_nulls("took_s")
        self.took_s = laid_out(durations, "took_s", shape, "p", "case", "at")

    def _place_values(
        self, values: pl.DataFrame, placed: pl.DataFrame, declarations: pl.DataFrame
    ) -> None:
        """Number the points, and write each value into the array."""
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
        flat = flat.join(points, on=["case", "metric", "point"], how="inner")
        shape = (len(self.platforms), points.height, self.blocks.size)
        self.values = laid_out(flat, "value", shape, "p", "point_row", "at")
        self.points = (
            points.join(self.cases, on="case", how="left")
            .with_columns(pl.col("metric", "point").cast(pl.String))
            .join(declarations, on=["probe", "metric"], how="left")
            .sort("point_row")
        )

    def _placed(self, trials: pl.DataFrame, blocks: pl.DataFrame) -> pl.DataFrame:
        """Return trials with the numbers of their platform and block, and with their results.

        The results are marks of crashed, cut and timed-out trials, and durations.
        """
        codes = {name: code for code, name in enumerate(self.platforms)}
        failed = pl.col("status") == "failed"
        measured = pl.col("status") == "measured"
        is_cut = pl.col("caveats").list.contains(CUT)
        cut = measured & is_cut
        platform_code = pl.col("platform").replace_strict(codes, return_dtype=_CODE)
        return trials.join(blocks, on=["run", "block"]).select(
            pl.col("row", "case", "boot", "timeout_s"),
            pl.col("at").cast(_CODE),
            p=platform_code,
            timed_out=(failed & _TIMED_OUT).fill_null(False),
            crashed=(failed & _CRASHED).fill_null(False),
            cut=cut.fill_null(False),
            took_s=pl.when(measured).then("duration_s"),
            boot_code=pl.struct("run", "boot").rank("dense"),
        )

    def _absent(self, trials: pl.DataFrame) -> BoolCube:
        """Mark for each trial the points of its case that have no value in the trial's block."""
        shape = (len(self.platforms), self.cases.height, self.values.shape[-1])
        cases = np.zeros(shape, np.bool_)
        cases[_positions(trials, "p", "case", "at")] = True
        case_of_point = self.points.get_column("case").to_numpy()
        return cases[:, case_of_point] & np.isnan(self.values)

    def _lost(self, placed: pl.DataFrame) -> BoolCube:
        """Mark the values that are missing because a launch exceeded its limit or was cut short."""
        metric_number = pl.struct("case", "metric").rank("dense").cast(pl.Int64)
        numbers = self.points.select(metric_number)
        metric = numbers.to_series().to_numpy()
        lost = self._absent(placed.filter("cut"))
        measured_values = ~np.isnan(self.values)
        for number, measured in enumerate(measured_values):
            measured_metrics = metric[measured.any(axis=-1)]
            is_measured = np.isin(metric, measured_metrics)
            lost[number] &= is_measured[:, None]
        return lost | self._absent(placed.filter("timed_out"))

    def boots_of(self, platforms: Sequence[str]) -> tuple[IntCube, IntCube]:
        """Return the blocks of some platforms, and the boot of each block, for `grouped`."""
        codes = [self.platforms.index(name) for name in platforms]
        is_here = pl.col("p").is_in(codes)
        booted = self._boots.filter(is_here)
        boot_number = pl.struct("p", "boot_code").rank("dense")
        numbers = booted.select(boot_number).to_series()
        blocks = booted.get_column("at").to_numpy()
        return blocks.astype(np.int64), numbers.to_numpy().astype(np.int64)

    def of(self, platform: str) -> FloatCube:
        """Return the values of a platform, shape (points, blocks)."""
        number = self.platforms.index(platform)
        values: FloatCube = self.values[number]
        return values


def laid_out(
    table: pl.DataFrame, column: str, shape: tuple[int, ...], *positions: str
) -> FloatCube:
    """Return `column` as an array of `shape`, NaN for a missing value.

    - `positions`: the columns that contain the index of each value along each axis.
    """
    values = np.full(shape, np.nan)
    cells = _positions(table, *positions)
    values[cells] = table.get_column(column).to_numpy()
    return values


def _positions(table: pl.DataFrame, *columns: str) -> tuple[IntCube, ...]:
    return tuple(table.get_column(name).to_numpy() for name in columns)
