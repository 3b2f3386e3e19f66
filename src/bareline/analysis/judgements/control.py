"""The negative control: differences that a comparison finds between the baseline and itself.

A run may measure its baseline a second time, as one more platform in the same blocks. No platform
causes a difference that is found there: boots, drift or neighbours do, or an assumption of the
statistics is wrong. So a page shows its own rate of false claims. Where it is above the rate that
chance allows, differences as small as the machine's own, layer by layer, are reported as perhaps
the machine's.
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
    - `tested`, `differ`, `equal`: numbers of rows with a test, called slower or faster, and called
      equal.
    - `claims`: the number of certain differences that sentences would claim.
    - `floors`: for each layer in which rows differ, the largest difference, as a ratio above 1;
      None where it is infinite.
    - `floor`: the ratio above 1 up to which differences on any layer may be the machine's own;
      1 where no row differs.
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
        """Whether no row differs and no difference would be claimed."""
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
    tested = points.filter(pl.col("p_adjusted").is_not_null() & (pl.col("n_used") >= MIN_LAUNCHES))
    # An alarm needs less evidence than a claim: it is enough that the interval excludes 1.
    by_rate = pl.col("by_interval").is_in(_DIFFERENT) & (pl.col("p_adjusted") <= ALPHA)
    different = tested.filter(by_rate | pl.col("verdict").is_in(_DIFFERENT))
    claims = [p for finding in findings for p in finding.points if p.grade is Grade.CERTAIN]
    floors: dict[str, float] = {}
    for layer, ratio in different.select("layer", "ratio").iter_rows():
        if ratio:
            distance = max(ratio, 1 / ratio)
        else:
            distance = math.inf
        floors[layer] = max(floors.get(layer, 1.0), distance)
    return Control(
        platform=platform,
        again=again,
        of_baseline=of_baseline,
        tested=tested.height,
        differ=different.height,
        equal=tested.filter(pl.col("verdict") == Verdict.EQUIVALENT.value).height,
        claims=len(claims),
        floors={layer.value: finite(floors[layer]) for layer in Layer if layer in floors},
        margin=margin,
        floor=_floor(tested.drop_nulls("ratio")) if different.height else 1.0,
    )


def _floor(rows: pl.DataFrame) -> float:
    """Return the ratio that hidden differences stay below, from the sizes of all that are shown.

    One row that differs proves that rows differ by more than their launches show. The size of a
    single difference is weak evidence: a layer has one or two of them. The root mean square of the
    logarithms over all layers estimates the size of hidden differences, with as many degrees of
    freedom as there are cases. On 39 of 40 pages none of as many further differences is beyond the
    returned multiple of it (Student's t).
    """
    if rows.is_empty():
        return 1.0
    logs = np.log(rows.get_column("ratio").to_numpy())
    cases = rows.select(*CASE).n_unique()
    spreads = student_quantile(1.0 - _FLOOR_ALPHA / (2 * cases), cases)
    return math.exp(spreads * math.sqrt(float(np.mean(logs**2))))


def floor_of(controls: Sequence[Control]) -> float:
    """Return the ratio above 1 up to which differences may be the machine's own."""
    return max((control.floor for control in controls), default=1.0)
