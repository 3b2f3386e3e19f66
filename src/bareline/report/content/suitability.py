"""The suitability of platforms for classes of applications, with a reason for each answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bareline.analysis.judgements.suitability import ApplicationClass, Judgement, Suitability
from bareline.analysis.words.suitability import reason_of
from bareline.report.blocks import Block, Field, Prose, Rows, Section, Table, Tone
from bareline.report.content.wording import sentence_case

_TONES: Mapping[Suitability, Tone] = {
    Suitability.SUITED: "better",
    Suitability.UNSUITED: "worse",
    Suitability.CANNOT_TELL: "muted",
    Suitability.NOT_MEASURED: "muted",
}


def answered(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements that are based on a measurement."""
    return [row for row in judgements if row.answer is not Suitability.NOT_MEASURED]


def suited(judgements: Sequence[Judgement]) -> list[Block]:
    """Return a table with the answer for each class and platform, and a list of the reasons."""
    has_several_platforms = len({row.platform for row in judgements}) > 1
    reasons: list[str] = []
    for row in answered(judgements):
        subject = row.application_class.title
        if has_several_platforms:
            subject = f"{row.platform}, {subject}"
        reasons.append(f"{subject}: {row.words}; {reason_of(row)}.")
    if not reasons:
        return []
    table = suitability_table({"": judgements}, reasons=False)
    return [Section("What the platforms suit", (table, Prose(tuple(reasons), "list")))]


def suitability_table(sides: Mapping[str, Sequence[Judgement]], *, reasons: bool) -> Table:
    """Return a table with a row for each class of applications and a column for each platform.

    - `sides`: groups of judgements. The key of a group is a text that is added to the name of each
      of its platforms in the column heads. The last group must contain every class.
    - `reasons`: whether the cells give the reasons of the answers.
    """
    *_, last = sides.values()
    rows = Rows(dict.fromkeys(row.application_class for row in last))
    title: Callable[[str], str] = sentence_case if reasons else str
    rows.column("applications", lambda kind: Field(title(kind.title), tip=kind.about), "text")
    for suffix, judged in sides.items():
        for platform in dict.fromkeys(row.platform for row in judged):
            of_platform = [row for row in judged if row.platform == platform]
            answers = {row.application_class: row for row in of_platform}
            rows.column(f"{platform}{suffix}", _answers(answers, reasons=reasons), "text")
    return rows.table()


def _answers(
    judgements: Mapping[ApplicationClass, Judgement], *, reasons: bool
) -> Callable[[ApplicationClass], Field]:
    def field(kind: ApplicationClass) -> Field:
        row = judgements.get(kind)
        if row is None or (row.answer is Suitability.NOT_MEASURED and not reasons):
            return Field(Suitability.NOT_MEASURED.value, tone="muted")
        tone = _TONES.get(row.answer, "")
        if not reasons:
            return Field(row.words, tone=tone)
        reason = ""
        if row.answer is not Suitability.NOT_MEASURED:
            reason = reason_of(row)
        return Field(row.words, tone=tone, caveats=row.caveats, note=reason)

    return field
