"""The rows of a page with their tests: the family of all claims, and the false discovery rate.

The family of `bareline.analysis.numbers.family` covers all rows and the means of findings. Rows
that are asked about have weight 2: the study's question, and each case with a single figure, which
is not one of twenty sizes. Details, which no sentence mentions, have weight 1/4, and other rows 1.
Rows that the family makes certain are removed before the false discovery rate of the remaining rows
is estimated. `decide.py` reads both results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl

from bareline.analysis.judgements.caveats import with_caveats
from bareline.analysis.judgements.decide import decide_mean, decided, interval_ways, is_certain
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.cube import BoolCube, FloatCube
from bareline.analysis.numbers.family import (
    Family,
    certainly_beyond,
    discoveries,
    family_wise,
)
from bareline.analysis.numbers.looks import Looks
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Row, read_rows
from bareline.analysis.numbers.selection import selector_filter
from bareline.analysis.numbers.sizes import SizeClass, classes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import CASE, nodes_words, varying
from bareline.vocabulary.verdicts import Verdict

#: The layers that are asked about if a study declares no question: its programs.
PROGRAMS = (Layer.NPB.value, Layer.APP.value)
#: Factors for the statistic of an asked row, and of a detail. At 0.25 ten details per point cost no
#: claim of three demos; at 0.5 they cost eight of 46.
ASKED_WEIGHT, DETAIL_WEIGHT = 2.0, 0.25

_MIRRORED = {Verdict.SLOWER.value: Verdict.FASTER.value, Verdict.FASTER.value: Verdict.SLOWER.value}


def question_of(records: Records) -> tuple[str, ...]:
    """Return the question of the study as selectors: by default the layers of its programs."""
    asked = records.study.get("question") or ()
    texts = [asked] if isinstance(asked, str) else asked
    return tuple(".".join(str(text).split()) for text in texts) or PROGRAMS


class GradedRows:
    """The rows of a page with their grades, and the basis of their certainty.

    - `floor`: differences below this ratio are open: the baseline differs as much from itself.
    - `table`: the rows of `bareline.analysis.numbers.points.compare_points`, decided.
    - `tests`: the number of comparisons that "certain" covers together.
    - `exchanged`, `short`, `needed`: as in `Family`.
    - `looks`: the planned looks behind the tests.
    """

    def __init__(
        self,
        records: Records,
        table: pl.DataFrame,
        pairs: Sequence[PlatformPair],
        *,
        margin: float,
        floor: float,
    ) -> None:
        self._pairs, self._margin, self._floor = pairs, margin, floor
        table = table.with_row_index("at")
        members = unprofiled(table.filter(pl.col("better") != "none"))
        members = members.with_columns(weight=_weight(question_of(records)))
        by_pair = [members.filter(platform=p.platform, baseline=p.baseline) for p in pairs]
        height = records.cube.points.height
        both = [_tested(own, height) for own in by_pair]
        self._tested, self._weights = [own for own, _ in both], [own for _, own in both]
        headline = pl.col("headline").fill_null(value=False)
        groups = [list(_groups(own.filter(headline))) for own in by_pair]
        # A case that delivered nothing has no points in the cube.
        points = [
            [rows["point_row"].drop_nulls().to_numpy().astype(np.int64) for rows, *_ in of_pair]
            for of_pair in groups
        ]
        self.looks = Looks.of(records)
        family = family_wise(pairs, self._tested, margin, points, self._weights, self.looks)
        table = _with_tests(table, pairs, margin, family)
        self.table = with_caveats(decided(table, floor).drop("at"), pairs)
        self._groups = [
            (*group, decide_mean(mean, margin, floor))
            for of_pair, means in zip(groups, family.means, strict=True)
            for group, mean in zip(of_pair, means, strict=True)
        ]
        # Nothing is tested between simulations, whose values are exact.
        tested = [k for k, pair in enumerate(pairs) if not pair.exact]
        self.tests = sum(int((~np.isnan(family.points[k])).sum()) for k in tested)
        self.tests += sum(mean is not None for k in tested for mean in family.means[k])
        self.exchanged = family.exchanged
        self.short = family.short
        self.needed = family.needed

    @cached_property
    def cells(self) -> tuple[Row, ...]:
        """The rows as cells."""
        return read_rows(None, self.table)

    @cached_property
    def findings(self) -> list[Finding]:
        """A finding per probe, size class, layout and pair."""
        found = []
        for rows, sizes, where, mean in self._groups:
            points = tuple(self.cells[at] for at in rows.get_column("at"))
            telling = varying(point.place for point in points)
            found.append(Finding(rows.item(0, "title"), points, sizes, telling, where, mean))
        return found

    def beyond(self, limit: float, *, above: bool) -> set[tuple[str, str, int]]:
        """Return platform, baseline and "point_row" of the rows that are certainly beyond a limit.

        They are certain together: the chance of any false one is at most 5 %.
        """
        found = certainly_beyond(
            self._pairs, self._tested, self._weights, limit, above=above, looks=self.looks
        )
        return {
            (pair.platform, pair.baseline, int(row))
            for pair, beyond in zip(self._pairs, found, strict=True)
            if not pair.boots.few
            for row in np.flatnonzero(beyond)
        }

    def known(self, table: pl.DataFrame, pairs: Sequence[PlatformPair]) -> pl.DataFrame:
        """Decide the rows of other comparisons.

        Rows that are also here, either way round, are decided as here; the rest is likely at most.
        """
        apart = with_caveats(decided(_with_tests(table, pairs, self._margin), self._floor), pairs)
        own = self.table.select(*_PAIR, "point_row", *_DECIDED)
        turned = own.rename({"platform": "baseline", "baseline": "platform"}).select(own.columns)
        both = pl.concat([own, turned.with_columns(pl.col("verdict").replace(_MIRRORED))])
        both, on = both.drop_nulls("point_row"), [*_PAIR, "point_row"]
        joined = apart.join(both, on=on, how="left", suffix="_here", maintain_order="left")
        here = [pl.coalesce(f"{name}_here", name).alias(name) for name in _DECIDED]
        return joined.with_columns(here).drop(f"{name}_here" for name in _DECIDED)


_PAIR = ("platform", "baseline")
_DECIDED = ("verdict", "grade", "rule")


def _weight(question: Sequence[str]) -> pl.Expr:
    asked = pl.any_horizontal([selector_filter(text) for text in question])
    headline = pl.col("headline").fill_null(value=False)
    alone = headline & (pl.len().over(*CASE, *_PAIR, "headline") == 1)
    weight = pl.when(asked | alone).then(ASKED_WEIGHT).when(headline).then(1.0)
    return weight.otherwise(DETAIL_WEIGHT)


def _tested(rows: pl.DataFrame, height: int) -> tuple[BoolCube, FloatCube]:
    tested, weights = np.zeros(height, dtype=np.bool_), np.ones(height)
    compared = rows.filter("comparable")
    at = compared.get_column("point_row").to_numpy()
    tested[at], weights[at] = True, compared.get_column("weight").to_numpy()
    return tested, weights


_Group = tuple[pl.DataFrame, SizeClass | None, str]


def _groups(rows: pl.DataFrame) -> Iterator[_Group]:
    layouts = rows.partition_by("probe", "nodes_used", maintain_order=True)
    probes = [own.item(0, "probe") for own in layouts]
    for probe, own in zip(probes, layouts, strict=True):
        where = nodes_words(own.item(0, "nodes_used")) if probes.count(probe) > 1 else ""
        for sizes, chosen in classes(own.get_column("point").to_list()):
            yield own[chosen], sizes, where


def _with_tests(
    table: pl.DataFrame,
    pairs: Sequence[PlatformPair],
    margin: float,
    family: Family | None = None,
) -> pl.DataFrame:
    """Return rows with p, q, p_adjusted, by_loss and lost_sure; without a family none is certain.

    Certain rows are hardly ever false, so they are removed before the false discovery rate of the
    remaining rows is estimated: a rate that includes many certain rows would hide false ones.
    """
    height = pairs[0].directed.shape[0]
    alike, ways, tests = [], [], []
    for number, pair in enumerate(pairs):
        own = table.filter(platform=pair.platform, baseline=pair.baseline).drop_nulls("point_row")
        at = own.get_column("point_row").to_numpy()
        there, way = np.zeros(height, dtype=np.bool_), np.zeros(height, dtype=np.int64)
        there[at] = own.get_column("alike").to_numpy()
        way[at] = interval_ways(own.get_column("by_interval"))
        p = np.full(height, 0.0 if pair.exact else np.nan)
        sure_loss = np.zeros(height, dtype=np.int64)
        if family is not None:
            p, sure_loss = family.points[number], family.by_loss[number]
        alike.append(there)
        ways.append(way)
        tests.append((p, sure_loss))
    q, by_loss = discoveries(pairs, alike, margin)
    certain = [
        is_certain(p, rate, way, pair.boots.few)
        for pair, (p, _), rate, way in zip(pairs, tests, q, ways, strict=True)
    ]
    rest = q
    if any(sure.any() for sure in certain):
        others = [there & ~sure for there, sure in zip(alike, certain, strict=True)]
        rates, losses = discoveries(pairs, others, margin)
        rest = [np.where(*of) for of in zip(certain, q, rates, strict=True)]
        by_loss = [np.where(*of) for of in zip(certain, by_loss, losses, strict=True)]
    parts = []
    for number, pair in enumerate(pairs):
        p, sure_loss = tests[number]
        names = {"platform": pl.lit(pair.platform), "baseline": pl.lit(pair.baseline)}
        of_pair = pl.DataFrame(
            {
                "point_row": np.arange(height),
                "p": p,
                "q": q[number],
                "p_adjusted": rest[number],
                "by_loss": np.where(sure_loss != 0, sure_loss, by_loss[number]),
                "lost_sure": sure_loss != 0,
            }
        )
        parts.append(of_pair.with_columns(**names))
    columns = pl.concat(parts).with_columns(pl.col("p", "q", "p_adjusted").fill_nan(None))
    return table.join(
        columns.with_columns(pl.col("point_row").cast(table.schema["point_row"])),
        on=["platform", "baseline", "point_row"],
        how="left",
        maintain_order="left",
    )
