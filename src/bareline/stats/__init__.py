"""Statistics of launches: summaries, ratios, effects, families, verdicts, stopping.

The functions are pure and work on arrays. Every function takes a stack of cases, shape ``(...,
n)``, and works on the last axis, which has one value per launch (NaN if a launch is absent). Each
raises ValueError if shapes do not fit together or a value is infinite. `confidence` is the lowest
confidence level that an interval may have.
"""

from bareline.stats.asymmetry import ASYMMETRY_ALPHA, asymmetry_p, within_spread
from bareline.stats.boots import collapsed, grouped
from bareline.stats.effect import cliffs_delta
from bareline.stats.exceeded import Exceedance, exceedance, holm_of_testable
from bareline.stats.family import (
    ALPHA,
    BESIDE_LOST_ALPHA,
    CERTAIN_ALPHA,
    LOST_ALPHA,
    false_discovery,
    holm,
)
from bareline.stats.flips import ALL_FLIPS_BLOCKS, false_discovery_q, family_wise_p
from bareline.stats.history import (
    Change,
    Course,
    SeriesCourse,
    alpha_of_look,
    find_changes,
)
from bareline.stats.outlook import LaunchOutlook, launches_for_rows, launches_to_decide
from bareline.stats.partners import APART_SPREADS, partnered, within_noise
from bareline.stats.position import LevelRatio, level_ratio
from bareline.stats.ratio import Ratio, differences_of_blocks, paired_ratio, unpaired_ratio
from bareline.stats.series import SeriesTraits, look
from bareline.stats.shift import ROUNDING, Shift, paired_shift, rounding_of, unpaired_shift
from bareline.stats.stretches import MIN_RUNS
from bareline.stats.summary import SampleSummary, reached, relative_half_width, summarize
from bareline.stats.verdict import judge, judge_shift

__all__ = [
    "ALL_FLIPS_BLOCKS",
    "ALPHA",
    "APART_SPREADS",
    "ASYMMETRY_ALPHA",
    "BESIDE_LOST_ALPHA",
    "CERTAIN_ALPHA",
    "LOST_ALPHA",
    "MIN_RUNS",
    "ROUNDING",
    "Change",
    "Course",
    "Exceedance",
    "LaunchOutlook",
    "LevelRatio",
    "Ratio",
    "SampleSummary",
    "SeriesCourse",
    "SeriesTraits",
    "Shift",
    "alpha_of_look",
    "asymmetry_p",
    "cliffs_delta",
    "collapsed",
    "differences_of_blocks",
    "exceedance",
    "false_discovery",
    "false_discovery_q",
    "family_wise_p",
    "find_changes",
    "grouped",
    "holm",
    "holm_of_testable",
    "judge",
    "judge_shift",
    "launches_for_rows",
    "launches_to_decide",
    "level_ratio",
    "look",
    "paired_ratio",
    "paired_shift",
    "partnered",
    "reached",
    "relative_half_width",
    "rounding_of",
    "summarize",
    "unpaired_ratio",
    "unpaired_shift",
    "within_noise",
    "within_spread",
]
