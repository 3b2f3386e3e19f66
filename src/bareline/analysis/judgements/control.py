"""The negative control: what a comparison finds between the baseline and itself.

A run may measure its baseline a second time, as one more platform in the same blocks. Whatever is
called different there is no platform's doing: it is boots, drift, neighbours, or an assumption of
the statistics that does not hold. So a page shows its own rate of false claims. Where it is not
what chance allows, differences as small as the machine's own, layer by layer, are said to be
perhaps the machine's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.cell import finite
from bareline.analysis.numbers.summary import flag
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Grade, Verdict

_DIFFERENT = (Verdict.SLOWER.value, Verdict.FASTER.value)


@dataclass(frozen=True)
class Control:
    """What came of comparing the baseline with itself.

    - `platform`: the platform that was measured twice.
    - `again`: its name the second time.
    - `tested`, `differ`, `equal`: rows with a test, called slower or faster, and called equal.
    - `claims`: certain differences that sentences would claim.
    - `floors`: for each layer in which rows differ, the largest difference, as a ratio above 1;
      None where it is off the scale.
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

    @property
    def honest(self) -> bool:
        """Whether nothing was found that is not there."""
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
    """Count what a comparison of something with itself found."""
    tested = points.filter(pl.col("p_adjusted").is_not_null() & (pl.col("n_used") >= MIN_LAUNCHES))
    different = tested.filter(pl.col("verdict").is_in(_DIFFERENT))
    claims = [p for finding in findings for p in finding.points if p.grade is Grade.CERTAIN]
    floors: dict[str, float] = {}
    for layer, ratio in different.select("layer", "ratio").iter_rows():
        distance = max(ratio, 1 / ratio) if ratio else math.inf
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
    )


def withhold_small(table: pl.DataFrame, controls: Sequence[Control]) -> pl.DataFrame:
    """Leave open the rows whose difference is no larger than the machine's own in their layer."""
    floors = floors_of(controls)
    if not floors:
        return table
    floor = pl.col("layer").replace_strict(floors, default=1.0, return_dtype=pl.Float64)
    small = pl.col("verdict").is_in(_DIFFERENT) & (
        pl.col("ratio").log().abs() <= floor.log()
    ).fill_null(False)
    return table.with_columns(
        pl.concat_list("caveats", flag(small, "within-control")).alias("caveats"),
        verdict=pl.when(small).then(pl.lit(Verdict.INCONCLUSIVE.value)).otherwise("verdict"),
    )


def floors_of(controls: Sequence[Control]) -> dict[str, float]:
    """Give by layer the largest ratio between a baseline and itself."""
    floors: dict[str, float] = {}
    for control in controls:
        for layer, ratio in control.floors.items():
            floors[layer] = max(floors.get(layer, 1.0), ratio or math.inf)
    return floors
