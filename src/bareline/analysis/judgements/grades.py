"""Test the rows of a page: all claims together (a family), then the false discovery rate.

The family of `bareline.analysis.numbers.family` covers all rows and the means of findings. Each
row's test statistic is multiplied by a factor. The factor is 2 for rows that the study's question
names, and for cases with a single value (not a curve over sizes). It is 1/4 for details, which no
sentence mentions, and 1 for all other rows. Rows that the family makes certain are removed before
the false discovery rate of the remaining rows is estimated. `decide.py` uses the results of both
tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from bareline.analysis.judgements.caveats import with_caveats
from bareline.analysis.judgements.decide import decide_mean, decided, interval_ways, is_certain
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.family import (
    Discoveries,
    Family,
    certainly_beyond,
    discoveries,
    family_wise,
)
from bareline.analysis.numbers.looks import Looks
from bareline.analysis.numbers.members import Mean, Points
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Row, read_rows
from bareline.analysis.numbers.selection import selector_filter
from bareline.analysis.numbers.sizes import SizeClass, classes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import CASE, nodes_words, varying
from bareline.vocabulary.verdicts import Verdict

#: The layers of programs: the question of a study that does not declare one.
PROGRAMS = (Layer.NPB.value, Layer.APP.value)
#: The factor for the test statistic of a row in the study's question.
ASKED_WEIGHT = 2.0
#: The factor for the test statistic of a detail. At 0.25 ten details per point cost no claim of
#: three demos; at 0.5 they cost eight of 46.
DETAIL_WEIGHT = 0.25

_MIRRORED = {Verdict.SLOWER.value: Verdict.FASTER.value, Verdict.FASTER.value: Verdict.SLOWER.value}


def question_of(records: Records) -> tuple[str, ...]:
    """Return the study's question as selectors; without a question, the layers of programs."""
    texts = records.study.get("question") or ()
    if isinstance(texts, str):
        texts = [texts]
    return tuple(".".join(str(text).split()) for text in texts) or PROGRAMS


class GradedRows:
    """The decided rows of a page, and the basis of their certainty.

    - `floor`: rows with differences below this ratio are undecided, because the baseline differs
      from itself by up to this ratio.
    - `table`: the rows of `bareline.analysis.numbers.points.compare_points`, decided.
    - `tests`: the number of comparisons for which "certain" is valid together.
    - `exchanged`: the smallest number of blocks, boots or pairs of launches in a test.
    - `short`: the platforms with so few of these that no row can become certain.
    - `needed`: the number of these that the platforms in `short` need.
    - `looks`: the planned interim analyses of the tests.
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
        self._pairs = pairs
        self._margin = margin
        self._floor = floor
        self.looks = Looks.of(records)
        table = table.with_row_index("at")
        is_judged = pl.col("better") != "none"
        members = unprofiled(table.filter(is_judged))
        weight = _weight(question_of(records))
        members = members.with_columns(weight=weight)
        by_pair = []
        for pair in pairs:
            by_pair.append(members.filter(platform=pair.platform, baseline=pair.baseline))
        height = records.cube.points.height
        self._tested = [_tested(rows, height) for rows in by_pair]
        self._weights = [_weights(rows, height) for rows in by_pair]
        groups = [list(_groups(rows)) for rows in by_pair]
        points_of_groups = []
        for groups_of_pair in groups:
            points_of_groups.append([group.points for group in groups_of_pair])
        family = family_wise(
            pairs, self._tested, margin, points_of_groups, self._weights, self.looks
        )
        table = _with_tests(table, pairs, margin, family)
        with_verdicts = decided(table, floor).drop("at")
        self.table = with_caveats(with_verdicts, pairs)
        self._groups = _with_means(groups, family, margin, floor)
        self.tests = _count_tests(pairs, family)
        self.exchanged = family.exchanged
        self.short = family.short
        self.needed = family.needed

    @cached_property
    def cells(self) -> tuple[Row, ...]:
        """The rows of `table` as `Row` objects."""
        return read_rows(None, self.table)

    @cached_property
    def findings(self) -> list[Finding]:
        """A finding for each probe, size class, layout and pair of platforms."""
        findings = []
        for group, mean in self._groups:
            numbers = group.rows.get_column("at")
            points = tuple(self.cells[number] for number in numbers)
            telling = varying(point.place for point in points)
            title = group.rows.item(0, "title")
            findings.append(Finding(title, points, group.sizes, telling, group.where, mean))
        return findings

    def beyond(self, limit: float, *, above: bool) -> set[tuple[str, str, int]]:
        """Return platform, baseline and "point_row" of the rows that are certainly beyond a limit.

        The probability that any of them is false is at most 5 %.
        """
        marks = certainly_beyond(
            self._pairs, self._tested, self._weights, limit, above=above, looks=self.looks
        )
        certain: set[tuple[str, str, int]] = set()
        for pair, beyond in zip(self._pairs, marks, strict=True):
            if not pair.boots.few:
                rows = np.flatnonzero(beyond).tolist()
                certain.update((pair.platform, pair.baseline, row) for row in rows)
        return certain

    def known(self, table: pl.DataFrame, pairs: Sequence[PlatformPair]) -> pl.DataFrame:
        """Decide the rows of other comparisons.

        If this page also compares the two platforms of a row, in any order, the row gets the
        decision of this page. All other rows are never "certain", only "likely".
        """
        tested = _with_tests(table, pairs, self._margin)
        with_verdicts = decided(tested, self._floor)
        apart = with_caveats(with_verdicts, pairs)
        key = [*_PAIR, "point_row"]
        here = self.table.select(*key, *_DECIDED)
        turned = (
            here.rename({"platform": "baseline", "baseline": "platform"})
            .select(here.columns)
            .with_columns(pl.col("verdict").replace(_MIRRORED))
        )
        both_ways = pl.concat([here, turned])
        either_way = both_ways.drop_nulls("point_row")
        joined = apart.join(either_way, on=key, how="left", suffix="_here", maintain_order="left")
        chosen = [pl.coalesce(f"{name}_here", name).alias(name) for name in _DECIDED]
        return joined.with_columns(chosen).drop(f"{name}_here" for name in _DECIDED)


_PAIR = ("platform", "baseline")
_DECIDED = ("verdict", "grade", "rule")


def _weight(question: Sequence[str]) -> pl.Expr:
    """Return the factor of each row's test statistic; the module's docstring lists the factors."""
    selectors = [selector_filter(text) for text in question]
    in_question = pl.any_horizontal(selectors)
    headline = _headline()
    headlines_of_case = pl.len().over(*CASE, *_PAIR, "headline")
    alone = headline & (headlines_of_case == 1)
    is_asked = in_question | alone
    weight = pl.when(is_asked).then(ASKED_WEIGHT).when(headline).then(1.0)
    return weight.otherwise(DETAIL_WEIGHT)


def _headline() -> pl.Expr:
    return pl.col("headline").fill_null(value=False)


def _tested(rows: pl.DataFrame, height: int) -> BoolCube:
    """Return for each point of the `Cube` whether the rows of a pair compare the point."""
    tested = np.zeros(height, dtype=np.bool_)
    compared = rows.filter("comparable")
    tested[compared.get_column("point_row").to_numpy()] = True
    return tested


def _weights(rows: pl.DataFrame, height: int) -> FloatCube:
    """Return the factor of each point's test statistic; 1 for points that are not compared."""
    weights = np.ones(height)
    compared = rows.filter("comparable")
    points = compared.get_column("point_row").to_numpy()
    weights[points] = compared.get_column("weight").to_numpy()
    return weights


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of a finding.

    - `sizes`: the class of message sizes; None if the probe has only one class.
    - `where`: the layout in words; empty if the probe has only one layout.
    """

    rows: pl.DataFrame
    sizes: SizeClass | None
    where: str

    @property
    def points(self) -> Points:
        """The index of each row's point in the `Cube`; a case without values has no points."""
        numbers = self.rows["point_row"].drop_nulls()
        return numbers.to_numpy().astype(np.int64)


def _groups(rows: pl.DataFrame) -> Iterator[_Group]:
    """Yield the headline rows of a pair, grouped by probe, layout and size class."""
    layouts = rows.filter(_headline()).partition_by("probe", "nodes_used", maintain_order=True)
    probes = [layout.item(0, "probe") for layout in layouts]
    for probe, layout in zip(probes, layouts, strict=True):
        where = ""
        if probes.count(probe) > 1:
            where = nodes_words(layout.item(0, "nodes_used"))
        points = layout.get_column("point").to_list()
        for sizes, numbers in classes(points):
            yield _Group(layout[numbers], sizes, where)


def _with_means(
    groups: Sequence[Sequence[_Group]], family: Family, margin: float, floor: float
) -> list[tuple[_Group, Mean | None]]:
    """Return the groups of all pairs, each with its decided mean."""
    with_means = []
    for of_pair, means in zip(groups, family.means, strict=True):
        for group, mean in zip(of_pair, means, strict=True):
            decided_mean = decide_mean(mean, margin, floor)
            with_means.append((group, decided_mean))
    return with_means


def _count_tests(pairs: Sequence[PlatformPair], family: Family) -> int:
    """Return the number of tested points and means; simulated pairs are exact and have no tests."""
    tests = 0
    for pair, points, means in zip(pairs, family.points, family.means, strict=True):
        if not pair.exact:
            tests += int((~np.isnan(points)).sum())
            tests += sum(mean is not None for mean in means)
    return tests


@dataclass(frozen=True, slots=True)
class _PairTests:
    """The test results of a pair of platforms, as arrays with an entry for each point.

    - `alike`: both platforms measured the same quantity in the same layout.
    - `way`: the direction of the interval: 1, -1 or 0.
    - `p`: the p-value over all claims of the page; NaN without a joint test.
    - `sure_loss`: 1 or -1 if lost launches alone make the row certainly worse or better, else 0.
    """

    alike: BoolCube
    way: IntCube
    p: FloatCube
    sure_loss: IntCube


def _pair_tests(
    table: pl.DataFrame, pairs: Sequence[PlatformPair], family: Family | None
) -> list[_PairTests]:
    """Return the rows of a table as arrays, for each pair."""
    height = pairs[0].directed.shape[0]
    tests = []
    for number, pair in enumerate(pairs):
        rows = table.filter(platform=pair.platform, baseline=pair.baseline)
        rows = rows.drop_nulls("point_row")
        points = rows.get_column("point_row").to_numpy()
        alike = np.zeros(height, dtype=np.bool_)
        alike[points] = rows.get_column("alike").to_numpy()
        way = np.zeros(height, dtype=np.int64)
        way[points] = interval_ways(rows.get_column("by_interval"))
        if family is not None:
            p = family.points[number]
            sure_loss = family.by_loss[number]
        else:
            p = np.full(height, pair.blank_p)
            sure_loss = np.zeros(height, dtype=np.int64)
        tests.append(_PairTests(alike, way, p, sure_loss))
    return tests


def _with_tests(
    table: pl.DataFrame,
    pairs: Sequence[PlatformPair],
    margin: float,
    family: Family | None = None,
) -> pl.DataFrame:
    """Return rows with the columns p, q, p_adjusted, by_loss and lost_sure.

    Without a `family` no row is certain. Certain rows are hardly ever false. So they are removed
    before the false discovery rate of the remaining rows is estimated: a rate that includes many
    certain rows would hide false ones.
    """
    tests = _pair_tests(table, pairs, family)
    comparable = [test.alike for test in tests]
    q = discoveries(pairs, comparable, margin)
    certain = []
    for pair, test, rates in zip(pairs, tests, q.points, strict=True):
        certain.append(is_certain(test.p, rates, test.way, pair.boots.few))
    adjusted = q
    if any(rows.any() for rows in certain):
        adjusted = _without_certain(q, pairs, tests, certain, margin)
    parts = []
    for number, pair in enumerate(pairs):
        sure_loss = tests[number].sure_loss
        is_sure = sure_loss != 0
        of_pair = pl.DataFrame(
            {
                "point_row": np.arange(sure_loss.size),
                "p": tests[number].p,
                "q": q.points[number],
                "p_adjusted": adjusted.points[number],
                "by_loss": np.where(is_sure, sure_loss, adjusted.by_loss[number]),
                "lost_sure": is_sure,
            }
        )
        names = {"platform": pl.lit(pair.platform), "baseline": pl.lit(pair.baseline)}
        parts.append(of_pair.with_columns(**names))
    point_row = pl.col("point_row").cast(table.schema["point_row"])
    probabilities = pl.col("p", "q", "p_adjusted").fill_nan(None)
    columns = pl.concat(parts).with_columns(
        probabilities,
        point_row,
    )
    return table.join(
        columns, on=["platform", "baseline", "point_row"], how="left", maintain_order="left"
    )


def _without_certain(
    q: Discoveries,
    pairs: Sequence[PlatformPair],
    tests: Sequence[_PairTests],
    certain: Sequence[BoolCube],
    margin: float,
) -> Discoveries:
    """Return the rates (q) of rows that are not certain, estimated from these rows alone."""
    others = [test.alike & ~rows for test, rows in zip(tests, certain, strict=True)]
    rest = discoveries(pairs, others, margin)
    points = []
    by_loss = []
    for number, rows in enumerate(certain):
        q_of_pair = np.where(rows, q.points[number], rest.points[number])
        points.append(q_of_pair)
        loss_of_pair = np.where(rows, q.by_loss[number], rest.by_loss[number])
        by_loss.append(loss_of_pair)
    return Discoveries(points, by_loss)
