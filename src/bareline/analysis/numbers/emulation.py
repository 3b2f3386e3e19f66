"""What an emulated processor computes is compared with no real one.

A hypervisor that translates every instruction computes tens to hundreds of times slower than the
hardware below it: a ratio of the two says nothing of what a cloud would cost. Its figures stand in
the tables, without a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import polars as pl

from bareline.analysis.numbers.cube import BoolCube
from bareline.analysis.numbers.pairs import Pair
from bareline.analysis.numbers.records import Records
from bareline.vocabulary.caveats import Caveat, codes
from bareline.vocabulary.model import PROCESSOR_LAYERS, Scalar
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: Why such figures are not comparable.
EMULATED = "emulated processor"


#: The caveat that a trial on one carries.
EMULATED_CPU = "emulated-cpu"


def is_emulated(facts: Mapping[str, Scalar], caveats: Iterable[Caveat] = ()) -> bool:
    """Tell whether a processor is software: facts of its platform or caveats of its trials say so.

    Facts may be lacking (an imported run has none), and caveats may (what was measured on one side
    only).
    """
    return facts.get("cpu.emulated") is True or EMULATED_CPU in codes(caveats)


def emulated_platforms(records: Records) -> set[str]:
    """Name the platforms whose processor is software."""
    marked = records.trials.filter(pl.col("caveats").list.contains(EMULATED_CPU))
    named = {name for name, facts in records.facts.items() if is_emulated(facts)}
    return named | set(marked.get_column("platform").unique())


def unlike_processors(points: pl.DataFrame, pair: Pair, emulated: Collection[str]) -> BoolCube:
    """Tell of which points only one side has a real processor, so that they do not compare.

    Beside a real baseline a run launches an emulated processor twice and no more: two such
    platforms do not compare with each other then, either.

    - `points`: with "layer", in the order of the pair's values.
    """
    theirs = points.get_column("layer").is_in([layer.value for layer in PROCESSOR_LAYERS])
    least = np.minimum(pair.ratio.n, pair.ratio.n_baseline)
    sides = (pair.platform in emulated) + (pair.baseline in emulated)
    unlike: BoolCube = theirs.to_numpy() & (least > 0) & (sides > 0)
    few: BoolCube = unlike & (least < MIN_LAUNCHES)
    return few if sides == 2 else unlike
