"""Statistics of launches: summaries, ratios, effects, families, verdicts, stopping.

Pure functions on arrays. Every function takes a stack of cases, shape ``(..., n)``, and works on
the last axis, which holds one value per launch (NaN where a launch is absent).
"""

from bareline.stats.effect import cliffs_delta
from bareline.stats.family import ALPHA, can_reject, family_size, holm, smallest_p
from bareline.stats.joint import MAX_FLIPPED_BLOCKS, adjust_paired
from bareline.stats.ratio import Ratio, paired_ratio, unpaired_ratio
from bareline.stats.sequential import reached
from bareline.stats.shift import Shift, paired_shift, unpaired_shift
from bareline.stats.stack import MIN_LAUNCHES
from bareline.stats.summary import Summary, relative_half_width, summarize
from bareline.stats.verdict import DEFAULT_MARGIN, Verdict, judge, judge_shift

__all__ = [
    "ALPHA",
    "DEFAULT_MARGIN",
    "MAX_FLIPPED_BLOCKS",
    "MIN_LAUNCHES",
    "Ratio",
    "Shift",
    "Summary",
    "Verdict",
    "adjust_paired",
    "can_reject",
    "cliffs_delta",
    "family_size",
    "holm",
    "judge",
    "judge_shift",
    "paired_ratio",
    "paired_shift",
    "reached",
    "relative_half_width",
    "smallest_p",
    "summarize",
    "unpaired_ratio",
    "unpaired_shift",
]
