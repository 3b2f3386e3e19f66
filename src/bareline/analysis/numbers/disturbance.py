"""Trials that other programs, a hypervisor, heat or a change of clock frequency disturbed.

`DISTURBANCES` contains the codes of all disturbances. Code that excludes disturbed trials, counts
them or prints their number uses this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.vocabulary.caveats import DISTURBANCES
from bareline.vocabulary.place import CASE
from bareline.vocabulary.verdicts import MIN_LAUNCHES


@dataclass(frozen=True, slots=True)
class Disturbed:
    """The number of disturbed trials among the measured trials.

    - `trials`: the number of measured trials.
    - `disturbed`: the number of disturbed trials.
    - `left_out`: the number of disturbed trials that are not used.
    - `kinds`: the number of trials for each kind of disturbance; the key is the kind in words.
    """

    trials: int
    disturbed: int
    left_out: int
    kinds: Mapping[str, int]


def disturbed_trials(records: Records) -> Disturbed:
    """Count the disturbed trials of `records`; every disturbed trial counts as used."""
    measured = _measured(records)
    kinds = _kinds(measured.get_column("caveats").to_list())
    number = measured.filter(_is_disturbed()).height
    return Disturbed(measured.height, number, 0, kinds)


def without_disturbed_trials(records: Records) -> tuple[Records, Disturbed]:
    """Return the records without disturbed trials, and the numbers of disturbed trials.

    If fewer than six launches of a case would remain on a platform, none of the case's launches is
    excluded. The disturbed launches then only widen the case's interval.
    """
    seen = disturbed_trials(records)
    if not seen.disturbed:
        return records, seen
    cell = ["run", "platform", *CASE]
    quiet = (pl.col("status") == "measured") & ~_is_disturbed()
    enough = quiet.sum().over(cell) >= MIN_LAUNCHES
    avoidable = _is_disturbed() & enough
    trials = records.trials.filter(~avoidable)
    values = records.values.join(trials.select("row"), on="row", how="semi", maintain_order="left")
    measured = trials.filter(status="measured")
    left_out = seen.trials - measured.height
    quiet_records = replace(records, trials=trials, values=values)
    return quiet_records, replace(seen, left_out=left_out)


def _measured(records: Records) -> pl.DataFrame:
    return records.trials.filter(status="measured")


def _is_disturbed() -> pl.Expr:
    of_disturbances = list(DISTURBANCES)
    codes = pl.lit(pl.Series([of_disturbances])).first()
    caveats = pl.col("caveats").fill_null([])
    shared = caveats.list.set_intersection(codes)
    return shared.list.len() > 0


def _kinds(caveats: Sequence[Sequence[str] | None]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in caveats:
        counts.update(code for code in DISTURBANCES if code in (row or ()))
    return {DISTURBANCES[code]: number for code, number in counts.most_common()}
