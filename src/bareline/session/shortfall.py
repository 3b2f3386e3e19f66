"""What a run that its time budget ended early did not come to answer."""

from __future__ import annotations

import polars as pl

from bareline.analysis.judgements.grades import question_of
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.selection import selector_filter
from bareline.analysis.words.comparison import Comparison
from bareline.session.origin import study_of
from bareline.store.run import Run
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Grade


def shortfall(run: Run, blocks: int) -> str:
    """Say how many blocks a run had, and which of its questions stay open on which platforms."""
    study = study_of(run)
    ended = f"the time budget of {study.budget_s:g} s ended the run after {blocks} of "
    return f"{ended}{study.launches} blocks{_open(run)}"


def _open(run: Run) -> str:
    try:
        records = read_runs([run])
        comparison = Comparison(records)
        if comparison.alone:
            return ""
        rows = comparison.points.filter(pl.col("better") != "none")
    except BarelineError:
        return ""  # whoever compares the run is told why it cannot be
    asked = rows.filter(pl.any_horizontal([selector_filter(text) for text in question_of(records)]))
    if asked.is_empty():
        return ""
    still = asked.filter(pl.col("grade") == Grade.OPEN.value)
    if still.is_empty():
        return "; what it asks is answered"
    questions = [
        f"{probe} {metric} on {listing(sorted(set(of['platform'])))}"
        for (probe, metric), of in still.group_by(["probe", "metric"], maintain_order=True)
    ]
    return f"; still open: {'; '.join(questions)}"
