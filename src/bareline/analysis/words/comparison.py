"""A comparison with all of its sentences and rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise

import polars as pl

from bareline.analysis.judgements.comparison import JudgedComparison
from bareline.analysis.numbers.programs import predicted_times
from bareline.analysis.numbers.records import Records
from bareline.analysis.words.answer_scope import AnswerScope
from bareline.analysis.words.conclusions import conclusion_sentence
from bareline.analysis.words.error_rates import promise
from bareline.analysis.words.parts import Sentence
from bareline.analysis.words.rows import (
    conclusion_row,
    control_row,
    explanation_row,
    finding_row,
    judgement_row,
)
from bareline.analysis.words.sentences import statements, step_sentence
from bareline.analysis.words.verdict import VerdictMatrix, glance


class Comparison(JudgedComparison):
    """Platforms compared with a baseline, in words."""

    @classmethod
    def of_runs(
        cls, records: Records, baseline: str | None = None, margin: float | None = None
    ) -> Comparison:
        """Compare the platforms of later runs with the same platforms in the first run.

        If a baseline is given, or if no platform is in several runs, all platforms are compared
        with the baseline instead.

        Raises AnalysisError: the baseline is not one of the platforms.
        """
        before = {}
        if baseline is None:
            before = records.earlier
        return cls(records, baseline, margin, before=before or None)

    @cached_property
    def statements(self) -> list[Sentence]:
        """The verdict, one sentence per layer."""
        return statements(self.findings, self.explanations, margin=self.margin)

    @cached_property
    def glance(self) -> VerdictMatrix:
        """The verdict at a glance: the answer, and a table of layers and platforms."""
        predicted = predicted_times(self.records, self.baseline)
        scope = AnswerScope(self.findings, self.asked, self.margin, self.breakdowns, predicted)
        exact = []
        for pair in self.pairs:
            if pair.exact:
                exact.append(pair.platform)
        has_noise = ~pl.col("platform").is_in(exact)
        rows = self.points.filter(has_noise).get_column("p_adjusted").count()
        sure = promise(self.judged, self.pairs, rows, self.controls)
        return glance(scope, self.others, self.baseline, promise=sure)

    @cached_property
    def steps(self) -> list[Sentence]:
        """A sentence for each step of a study whose platforms are steps.

        The step to the baseline has no sentence here, because the verdict describes it.
        """
        if not self.is_ladder:
            return []
        sentences = []
        steps = self.rungs[:-1]
        for before, name in pairwise(steps):
            findings = []
            for f in self.judged.findings:
                if (f.baseline, f.platform) == (before, name):
                    findings.append(f)
            if findings:
                step = step_sentence(before, name, findings, self.margin)
                sentences.append(step)
        return sentences

    @property
    def sentences(self) -> list[Sentence]:
        """All sentences: the verdict, the steps and the conclusions.

        Raises AnalysisError: there is only one platform, and its values allow no conclusion.
        """
        conclusions = [conclusion_sentence(conclusion) for conclusion in self.conclusions]
        if self.alone and (conclusions or self.controls):
            return conclusions
        return [*self.statements, *self.steps, *conclusions]

    def rows(self) -> list[Mapping[str, object]]:
        """Return findings, conclusions and judgements as rows for ``--json``, each with a "kind".

        Raises AnalysisError: there is only one platform, and its values allow no conclusion.
        """
        conclusions = [conclusion_row(conclusion) for conclusion in self.conclusions]
        controls = [control_row(control) for control in self.controls]
        if self.alone and (conclusions or controls):
            return [*conclusions, *controls]
        explained = [explanation_row(row) for row in self.explanations]
        judged = [judgement_row(row) for row in self.suitability]
        findings = [finding_row(row) for row in self.findings]
        return [*findings, *explained, *conclusions, *judged, *controls]
