"""What `explain` says: all in sentences, how sure they are, and what the platforms suit."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.suitability import Answer, Judgement
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.suitability import reason_of
from bareline.report.blocks.prose import Block, Note, Prose, Section
from bareline.report.blocks.table import Field, Rows


def explained(comparison: Comparison) -> list[Block]:
    """Gather the blocks; `compare` has the answer and the table."""
    told = comparison.sentences
    blocks: list[Block] = [Prose(tuple(told) or ("There is nothing to compare.",))]
    if not comparison.alone and comparison.glance.promise:
        blocks.append(Note(comparison.glance.promise))
    return [*blocks, *suited(comparison.suitability)]


def suited(judgements: Sequence[Judgement]) -> list[Block]:
    """Lay classes of applications against platforms, then give the reason of every answer."""
    told = [row for row in judgements if row.answer is not Answer.NOT_MEASURED]
    if not told:
        return []
    platforms = list(dict.fromkeys(row.platform for row in judgements))
    answers = {(row.application_class, row.platform): row for row in judgements}
    rows = Rows(dict.fromkeys(row.application_class for row in judgements))
    rows.text("applications", lambda kind: kind.title)
    for name in platforms:
        rows.column(name, lambda kind, name=name: _answer(answers.get((kind, name))), "text")  # type: ignore[misc]
    reasons = tuple(
        f"{'' if len(platforms) == 1 else f'{row.platform}, '}{row.application_class.title}: "
        f"{row.words}; {reason_of(row)}."
        for row in told
    )
    return [Section("What the platforms suit", (rows.table(), Prose(reasons, "list")))]


def _answer(row: Judgement | None) -> Field:
    if row is None or row.answer is Answer.NOT_MEASURED:
        return Field(Answer.NOT_MEASURED.value, tone="muted")
    return Field(row.words)
