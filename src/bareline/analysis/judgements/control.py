"""The negative control: differences that a comparison finds between the baseline and itself.

A run may measure its baseline a second time, as an additional platform in the same blocks. No
platform can cause a difference between the two measurements: boots, drift or neighbours cause it,
or an assumption of the statistics is wrong. So the control shows the page's rate of false claims.
If this rate is above the rate that chance allows, other platforms' differences of the same size, or
smaller, are undecided: the machine itself may cause them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import finite
from bareline.stats import ALPHA
from bareline.stats.special import student_quantile
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import CASE
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Grade, Verdict

#: The share of pages on which a hidden difference exceeds the floor, if differences are normal.
_FLOOR_ALPHA = 0.025
_DIFFERENT = (Verdict.SLOWER.value, Verdict.FASTER.value)


@dataclass(frozen=True)
class Control:
    """The result of comparing the baseline with itself.

    - `platform`: the platform that was measured twice.
    - `again`: the name of its second measurement.
    - `tested`: the number of rows with a test.
    - `differ`: the number of these rows with the verdict slower or faster.
    - `equal`: the number of these rows with the verdict equal.
    - `claims`: the number of differences with the grade certain. Each of them is a false claim.
    - `floors`: for each layer in which rows differ, the largest difference as a ratio above 1; None
      if it is infinite.
    - `floor`: the ratio above 1 up to which differences on any layer may come from the machine
      itself; 1 if no row differs.
    """

    platform: str
    again: str
    of_baseline: bool
    tested: int
    differ: int
    equal: int
    claims: int
    floors: dict[str, float | None]
    margin: float
    floor: float

    @property
    def honest(self) -> bool:
        """Whether no row differs, and no difference has the grade certain."""
        return not self.differ and not self.claims


def judge_control(
    platform: str,
    again: str,
    points: pl.DataFrame,
    findings: Sequence[Finding],
    *,
    of_baseline: bool,
    margin: float,
) -> Control:
    """Count the differences that a comparison of a platform with itself found."""
    was_tested = pl.col("p_adjusted").is_not_null()
    tested = points.filter(was_tested & (pl.col("n_used") >= MIN_LAUNCHES))
    # An alarm needs less evidence than a claim: it is enough that the interval excludes 1.
    differs_by_interval = pl.col("by_interval").is_in(_DIFFERENT)
    by_rate = differs_by_interval & (pl.col("p_adjusted") <= ALPHA)
    differs_by_verdict = pl.col("verdict").is_in(_DIFFERENT)
    different = tested.filter(by_rate | differs_by_verdict)
    claims = 0
    for finding in findings:
        claims += sum(point.grade is Grade.CERTAIN for point in finding.points)
    floor = 1.0
    if different.height:
        floor = _floor(tested.drop_nulls("ratio"))
    return Control(
        platform=platform,
        again=again,
        of_baseline=of_baseline,
        tested=tested.height,
        differ=different.height,
        equal=tested.filter(pl.col("verdict") == Verdict.EQUIVALENT.value).height,
        claims=claims,
        floors=_floors(different),
        margin=margin,
        floor=floor,
    )


def _floors(different: pl.DataFrame) -> dict[str, float | None]:
    """Return the largest difference of each layer as a ratio above 1; None if it is infinite."""
    floors: dict[str, float] = {}
    for layer, ratio in different.select("layer", "ratio").iter_rows():
        distance = math.inf
        if ratio:
            distance = max(ratio, 1 / ratio)
        before = floors.get(layer, 1.0)
        floors[layer] = max(before, distance)
    return {layer.value: finite(floors[layer]) for layer in Layer if layer in floors}


def _floor(rows: pl.DataFrame) -> float:
    """Return a ratio above 1 that differences caused by the machine rarely exceed.

    One row that differs proves that the baseline's two measurements differ by more than the spread
    of their launches explains. The size of a single difference is weak evidence, because a layer
    has only one or two differences. The root mean square of the logarithms over all layers
    estimates the size of hidden differences, with as many degrees of freedom as there are cases.
    The result is a multiple of this root mean square (Student's t). If each case has a hidden
    difference, all of these are below the result on 39 of 40 pages.
    """
    if rows.is_empty():
        return 1.0
    ratios = rows.get_column("ratio").to_numpy()
    logs = np.log(ratios)
    cases = rows.select(*CASE).n_unique()
    quantile = 1.0 - _FLOOR_ALPHA / (2 * cases)
    spreads = student_quantile(quantile, cases)
    mean_square = float(np.mean(logs**2))
    root_mean_square = math.sqrt(mean_square)
    return math.exp(spreads * root_mean_square)


def floor_of(controls: Sequence[Control]) -> float:
    """Return the largest `floor` of some controls; 1 without a control."""
    return max((control.floor for control in controls), default=1.0)
