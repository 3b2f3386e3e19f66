"""A comparison of platforms: its records, baseline and margin, and all judgements about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Self

import polars as pl

from bareline.analysis.judgements.breakdown import Breakdown, breakdowns
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.search import explain
from bareline.analysis.judgements.causes.why_not import WhyNot, rule_of, why_not
from bareline.analysis.judgements.conclusions import Conclusion, conclude
from bareline.analysis.judgements.control import Control, floor_of, judge_control
from bareline.analysis.judgements.evidence import measured_grounds
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.grades import GradedRows, question_of
from bareline.analysis.judgements.suitability import Judgement, judge_platforms
from bareline.analysis.numbers.frames import ANY
from bareline.analysis.numbers.models import emulated_platforms, model_errors, pair_of
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.points import COLUMNS, compare_points
from bareline.analysis.numbers.programs import Splits, replayed_losses, unprofiled
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Row
from bareline.analysis.numbers.selection import selector_filter
from bareline.analysis.numbers.summary import summarize
from bareline.vocabulary.errors import AnalysisError


class JudgedComparison:
    """Platforms compared with a baseline; each result is computed when it is first used.

    By default the first run defines the baseline and the margin (a relative difference).

    - `before`: for each platform, the platform with which it is compared; by default this is always
      the baseline. If there are several baselines, `parts` has a comparison for each.

    Raises AnalysisError: the baseline is not one of the platforms.
    """

    def __init__(
        self,
        records: Records,
        baseline: str | None = None,
        margin: float | None = None,
        *,
        before: Mapping[str, str] | None = None,
    ) -> None:
        self.records = records
        if margin is None:
            self.margin = records.margin
        else:
            self.margin = margin
        platforms = records.platforms
        if len(platforms) == 1:
            alone = platforms[0]
        else:
            alone = records.baseline
        if baseline is None:
            self.baseline = alone
        else:
            self.baseline = baseline
        if self.baseline not in platforms:
            raise AnalysisError(
                f"the records have no platform '{self.baseline}'",
                hint=f"--baseline takes one of: {', '.join(platforms)}",
            )
        self._before = before
        self._whole: JudgedComparison | None = None

    @cached_property
    def before(self) -> Mapping[str, str]:
        """For each compared platform the name of the platform with which it is compared."""
        if self._before is not None:
            return self._before
        names = self.records.platforms
        return {name: self.baseline for name in names if name != self.baseline}

    @property
    def parts(self) -> list[Self]:
        """A comparison for each baseline.

        Certainty is computed over all these comparisons together.
        """
        baselines = dict.fromkeys(self.before.values())
        if len(baselines) <= 1 and self._before is None:
            return [self]
        parts = []
        for baseline in baselines:
            part_before = {}
            for name, before in self.before.items():
                if before == baseline:
                    part_before[name] = before
            part = type(self)(self.records, baseline, self.margin, before=part_before)
            part._whole = self
            parts.append(part)
        return parts

    @property
    def alone(self) -> bool:
        """Whether the records have one platform only, which cannot be compared."""
        return len(self.records.platforms) == 1

    @property
    def others(self) -> list[str]:
        """The platforms that are compared with the baseline.

        Raises AnalysisError: the baseline is the only platform.
        """
        if self.alone:
            raise AnalysisError(
                f"'{self.baseline}' is the only platform in these records",
                hint="run the study on another platform, or give a second run",
            )
        return list(self.before)

    @property
    def is_ladder(self) -> bool:
        """Whether the first run's study defines its platforms as a ladder of several steps."""
        ladder = bool(self.records.study.get("ladder"))
        if not ladder:
            return False
        if self.alone:
            return False
        return self._before is None

    @property
    def rungs(self) -> list[str]:
        """The platforms in the order of the study's steps, the baseline last."""
        return [*self.others, self.baseline]

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Every point on every platform, with the columns of `summarize`."""
        return summarize(self.records)

    @cached_property
    def table(self) -> pl.DataFrame:
        """Every point of all platforms but the baseline, with the columns of `compare_points`."""
        return self.points.select(COLUMNS)

    @cached_property
    def judged(self) -> GradedRows:
        """All rows whose claims are corrected together for multiple tests.

        If the study is a ladder, the rows that compare a step with the previous step are included.
        """
        if self._whole is not None:
            return self._whole.judged
        pairs = [*self.pairs]
        if self.is_ladder:
            pairs += self._steps[:-1]  # the last leads to the baseline
        table = self._compare(pairs)
        floor = floor_of(self.controls)
        return GradedRows(self.records, table, pairs, margin=self.margin, floor=floor)

    @cached_property
    def from_before(self) -> pl.DataFrame:
        """The rows of every step compared with the previous step.

        Column "baseline" names the previous step.
        """
        table = self._compare(self._steps)
        return self.judged.known(table, self._steps).select(COLUMNS)

    @cached_property
    def from_first(self) -> pl.DataFrame:
        """The rows of every step compared with the first step."""
        first, *rest = self.rungs
        pairs = self._pairs((first, name) for name in rest)
        return self.judged.known(self._compare(pairs), pairs).select(COLUMNS)

    def _pairs(self, names: Iterable[tuple[str, str]]) -> list[PlatformPair]:
        errors = model_errors(self.records)
        return [pair_of(self.records, errors, name, before) for before, name in names]

    @cached_property
    def pairs(self) -> list[PlatformPair]:
        """For each platform except the baseline, the pair of this platform and its baseline."""
        return self._pairs((self.before[name], name) for name in self.others)

    @cached_property
    def _steps(self) -> list[PlatformPair]:
        return self._pairs(pairwise(self.rungs))

    @cached_property
    def points(self) -> pl.DataFrame:
        """The rows of `table` with all columns; "at" is the index of each row in `cells`."""
        baselines = list(self.before.values())
        pairs = pl.DataFrame(
            {"platform": list(self.before), "baseline": baselines},
            schema={"platform": pl.String, "baseline": pl.String},
        )
        rows = self.judged.table.join(
            pairs, on=["platform", "baseline"], how="semi", maintain_order="left"
        )
        return rows.with_row_index("at")

    @cached_property
    def cells(self) -> tuple[Row, ...]:
        """The rows of `points` as `Row` objects."""
        return tuple(
            cell for cell in self.judged.cells if self.before.get(cell.platform) == cell.baseline
        )

    def cells_in(self, rows: pl.DataFrame) -> tuple[Row, ...]:
        """Return the `Row` objects of some rows of `points`."""
        numbers = rows.get_column("at")
        return tuple(self.cells[number] for number in numbers)

    def _compare(self, pairs: Sequence[PlatformPair]) -> pl.DataFrame:
        any_layout = self.records.study.get("layouts") == ANY
        return compare_points(
            self.records, self.summary, pairs, margin=self.margin, any_layout=any_layout
        )

    @cached_property
    def _against_itself(self) -> list[JudgedComparison]:
        whole = self.records.with_controls
        present = set(whole.platforms)
        comparisons = []
        for again, base in self.records.controls.items():
            if {again, base} <= present and self._concerns(base):
                pair = whole.of_platforms({again, base})
                comparisons.append(JudgedComparison(pair, base, self.margin))
        return comparisons

    def _concerns(self, platform: str) -> bool:
        """Whether this comparison, which may be a part of another one, has a platform."""
        if self._whole is None:
            return True
        return platform in (self.baseline, *self.others)

    @cached_property
    def controls(self) -> list[Control]:
        """The results of comparing the baseline with itself, one per run with a control."""
        controls = []
        for comparison in self._against_itself:
            control = judge_control(
                comparison.baseline,
                comparison.others[0],
                comparison.points,
                comparison.findings,
                of_baseline=comparison.baseline == self.baseline,
                margin=self.margin,
            )
            controls.append(control)
        return controls

    @cached_property
    def control_table(self) -> pl.DataFrame | None:
        """The rows of the controls, with the columns of `table`; None without a control."""
        tables = [comparison.table for comparison in self._against_itself]
        if tables:
            return pl.concat(tables)
        return None

    @property
    def rows_with_controls(self) -> pl.DataFrame:
        """All rows, with a column "control" that is true for rows of controls.

        If there is no other platform (`alone`), only the rows of controls are returned.

        Raises AnalysisError: the baseline is the only platform, and has no control.
        """
        again = self.control_table
        parts = []
        if not (self.alone and again is not None):
            parts = [(self.table, False)]
        parts += [] if again is None else [(again, True)]
        marked = [table.with_columns(control=pl.lit(twice)) for table, twice in parts]
        return pl.concat(marked)

    @cached_property
    def findings(self) -> list[Finding]:
        """One finding per probe, size class and platform, compared with the baseline."""
        return [
            finding
            for finding in self.judged.findings
            if self.before.get(finding.platform) == finding.baseline
        ]

    @cached_property
    def explanations(self) -> list[Explanation]:
        """The explanation of the worst loss of each finding, with the part that it explains."""
        splits = Splits(self.records, self.cells, self.baseline)
        replayed = replayed_losses(self.records, self.baseline)
        return explain(self.findings, self.records.facts, self.baseline, splits, replayed)

    def why_not(self, cause: str) -> list[WhyNot]:
        """Describe for each platform why a cause is named or not named.

        Raises AnalysisError: there is nothing to compare.
        Raises UsageError: no cause has this name.
        """
        context = (self.findings, self.explanations, self.records.facts, self.baseline)
        rule = rule_of(cause)
        return [why_not(rule, name, *context) for name in self.others]

    @cached_property
    def asked(self) -> tuple[Row, ...]:
        """The rows that the study's question asks about."""
        question = question_of(self.records)
        named = pl.any_horizontal([selector_filter(text) for text in question])
        is_judged = pl.col("better") != "none"
        rows = self.points.filter(named & is_judged)
        return self.cells_in(unprofiled(rows))

    @cached_property
    def breakdowns(self) -> list[Breakdown]:
        """The division of the extra time of each slower program, the largest loss first."""
        return breakdowns(self.records, self.cells, self._titles)

    @property
    def _titles(self) -> dict[str, str]:
        titles = self.records.declarations.select("probe", "title")
        return dict(titles.iter_rows())

    @cached_property
    def conclusions(self) -> list[Conclusion]:
        """The conclusions from several values of each platform together."""
        return conclude(self.records)

    @cached_property
    def suitability(self) -> list[Judgement]:
        """The suitability of every platform for every class of applications."""
        if self.alone:
            return []
        emulated = emulated_platforms(self.records)
        grounds = measured_grounds(self.cells, self._titles, emulated)
        return judge_platforms(grounds, self.others, self.baseline)
