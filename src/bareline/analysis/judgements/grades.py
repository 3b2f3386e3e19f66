"""The grade of every row: how sure it is, decided here and read everywhere else.

A row is *certain* if it holds together with all else that the page calls certain: the family of
`bareline.analysis.numbers.family`, over all rows and the means of findings. It is *likely* if the
page's false discovery rate, its own interval and its estimate say so (its verdict does), and the
family does not; with fewer than six boots it is never more. In the family weighs 2 what is asked
about: the study's question, and each case of a single figure, which is not one of twenty sizes; and
a quarter what no sentence speaks of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import log

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.cell import COMPARED, Cell, read_cells
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.family import Family, certainly_beyond, family_wise
from bareline.analysis.numbers.members import Mean
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.selection import selector_filter
from bareline.analysis.numbers.sizes import SizeClass, classes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import CASE, Place, nodes_words, varying
from bareline.vocabulary.verdicts import Grade, Verdict, grade_of

#: What is asked about where a study declares no question: its programs.
PROGRAMS = (Layer.NPB.value, Layer.APP.value)
#: What the statistic of an asked row, and of a detail, is multiplied by. At 0.25 ten details a
#: point cost no claim of three demos; at 0.5 they cost eight of 46.
ASKED_WEIGHT, DETAIL_WEIGHT = 2.0, 0.25

_MIRRORED = {Verdict.SLOWER.value: Verdict.FASTER.value, Verdict.FASTER.value: Verdict.SLOWER.value}


def question_of(records: Records) -> tuple[str, ...]:
    """Give what the study asks, as selectors: by default the layers of its programs."""
    asked = records.study.get("question") or ()
    texts = [asked] if isinstance(asked, str) else asked
    return tuple(".".join(str(text).split()) for text in texts) or PROGRAMS


class GradedRows:
    """The rows of a page with their grades, and what their certainty rests on.

    - `floors`: by layer the largest ratio between the baseline and itself: what lies below is open.
    - `table`: what `bareline.analysis.numbers.points.compare_points` gives, with "grade".
    - `tests`: how many comparisons "certain" holds over.
    - `exchanged`, `short`, `needed`: as of `Family`.
    """

    def __init__(
        self,
        records: Records,
        table: pl.DataFrame,
        pairs: Sequence[PlatformPair],
        *,
        margin: float,
        floors: Mapping[str, float],
    ) -> None:
        self._pairs = pairs
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
        family = family_wise(pairs, self._tested, margin, points, self._weights)
        grades, verdicts = _decided(table, pairs, family)
        self.table = table.drop("at").with_columns(
            pl.Series("grade", grades, dtype=pl.String),
            pl.Series("verdict", verdicts, dtype=pl.String),
        )
        self._groups = [
            (*group, _beyond_floor(mean, floors.get(group[0].item(0, "layer"), 1.0)))
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
    def cells(self) -> tuple[Cell, ...]:
        """The rows as cells."""
        return read_cells(None, self.table)

    @cached_property
    def findings(self) -> list[Finding]:
        """A finding per probe, size class, layout and pair."""
        found = []
        for rows, sizes, where, mean in self._groups:
            points = tuple(self.cells[at] for at in rows.get_column("at"))
            telling = varying(point.place for point in points)
            found.append(Finding(rows.item(0, "title"), points, sizes, telling, where, mean))
        return found

    def beyond(self, limit: float, *, above: bool) -> set[tuple[str, int]]:
        """Give platform and "point_row" of what certainly, all together, lies beyond a limit."""
        found = certainly_beyond(self._pairs, self._tested, self._weights, limit, above=above)
        return {
            (pair.platform, int(row))
            for pair, beyond in zip(self._pairs, found, strict=True)
            if not pair.boots.few
            for row in np.flatnonzero(beyond)
        }

    def known(self, table: pl.DataFrame) -> pl.DataFrame:
        """Grade the rows of other comparisons as here, either way round; others likely at most."""
        own = self.table.select(*_PAIR, "point_row", "verdict", "grade")
        turned = own.rename({"platform": "baseline", "baseline": "platform"}).select(own.columns)
        both = pl.concat([own, turned.with_columns(pl.col("verdict").replace(_MIRRORED))])
        both, on = both.drop_nulls("point_row"), [*_PAIR, "point_row"]
        joined = table.join(both, on=on, how="left", suffix="_here", maintain_order="left")
        apart = [_grade(*row) for row in joined.select("verdict", "exact").iter_rows()]
        return joined.with_columns(
            pl.coalesce("verdict_here", "verdict").alias("verdict"),
            pl.coalesce("grade", pl.Series(apart, dtype=pl.String)).alias("grade"),
        ).drop("verdict_here")


_PAIR = ("platform", "baseline")


def _weight(question: Sequence[str]) -> pl.Expr:
    asked = pl.any_horizontal([selector_filter(text) for text in question])
    headline = pl.col("headline").fill_null(value=False)
    alone = headline & (pl.len().over(*CASE, *_PAIR, "headline") == 1)
    weight = pl.when(asked | alone).then(ASKED_WEIGHT).when(headline).then(1.0)
    return weight.otherwise(DETAIL_WEIGHT)


def _tested(rows: pl.DataFrame, height: int) -> tuple[BoolCube, FloatCube]:
    tested, weights = np.zeros(height, dtype=np.bool_), np.ones(height)
    compared = rows.filter(pl.col("verdict").is_in([verdict.value for verdict in COMPARED]))
    at = compared.get_column("point_row").to_numpy()
    tested[at], weights[at] = True, compared.get_column("weight").to_numpy()
    return tested, weights


_Group = tuple[pl.DataFrame, SizeClass | None, str]


def _groups(rows: pl.DataFrame) -> Iterator[_Group]:
    layouts = rows.partition_by("probe", "nodes_used", maintain_order=True)
    probes = [own.item(0, "probe") for own in layouts]
    for probe, own in zip(probes, layouts, strict=True):
        where = nodes_words(own.item(0, "nodes_used")) if probes.count(probe) > 1 else ""
        for sizes, chosen in classes([Place.of(row) for row in own.iter_rows(named=True)]):
            yield own[chosen], sizes, where


def _grade(verdict: str | None, exact: bool | None, sure: int | None = None) -> Grade | None:
    if verdict is None:
        return None
    said = Verdict(verdict)
    way = 1 if said is Verdict.SLOWER else -1
    return grade_of(said, sure=bool(exact) or sure in (2, way))


def _unlikely(q: FloatCube, grades: Sequence[Grade | None]) -> IntCube:
    """Give the rows that may not be called likely, by where they stand.

    Certain ones are hardly ever among the false: as many false rows are held against the likely
    ones alone. On 1000 random pages 16 likely rows are false then, and 69 without.
    """
    likely = [grade is Grade.LIKELY for grade in grades]
    at = np.flatnonzero(np.array(likely, dtype=np.bool_) & ~np.isnan(q))
    at = at[np.argsort(q[at], kind="stable")]
    every = np.searchsorted(np.sort(q[~np.isnan(q)]), q[at], side="right")
    own = np.searchsorted(q[at], q[at], side="right")
    rate = q[at] * every / np.maximum(own, 1)
    discoveries = np.flatnonzero(rate <= stats.ALPHA)
    return at[discoveries[-1] + 1 :] if discoveries.size else at


def _decided(
    table: pl.DataFrame, pairs: Sequence[PlatformPair], family: Family
) -> tuple[list[Grade | None], list[str | None]]:
    """Give the grade and the verdict of every row, by what the family is sure of.

    Of a point 1 or -1 is sure where lost launches decide for worse or better alone, 2 where the
    exchange decides either way. With fewer than six boots nothing is: what was exchanged are
    launches of these boots.
    """
    sure = {
        (pair.platform, pair.baseline): np.where(
            pair.boots.few, 0, np.where(p <= stats.CERTAIN_ALPHA, 2, by_loss)
        )
        for pair, p, by_loss in zip(pairs, family.points, family.by_loss, strict=True)
    }
    grades = [
        _grade(verdict, exact, None if at is None else int(sure[platform, baseline][at]))
        for verdict, exact, platform, baseline, at in table.select(
            "verdict", "exact", *_PAIR, "point_row"
        ).iter_rows()
    ]
    verdicts = table.get_column("verdict").to_list()
    for at in _unlikely(table.get_column("p_adjusted").to_numpy(), grades).tolist():
        grades[at], verdicts[at] = Grade.OPEN, Verdict.INCONCLUSIVE.value
    return grades, verdicts


def _beyond_floor(mean: Mean | None, floor: float) -> Mean | None:
    """Leave open what is no larger than the baseline's difference from itself."""
    if mean is None or mean.by_loss or abs(log(mean.ratio.value)) > log(floor):
        return mean
    return replace(mean, verdict=Verdict.INCONCLUSIVE)
