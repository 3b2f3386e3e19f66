"""Suitability of platforms: classes of applications by platform, and a reason for each answer."""

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
    """Return the judgements that rest on a measurement."""
    return [row for row in judgements if row.answer is not Suitability.NOT_MEASURED]


def suited(judgements: Sequence[Judgement]) -> list[Block]:
    """Tabulate the classes of applications by platform, then give the reason of every answer."""
    several = len({row.platform for row in judgements}) > 1
    reasons = tuple(
        f"{f'{row.platform}, ' if several else ''}{row.application_class.title}: {row.words}; "
        f"{reason_of(row)}."
        for row in answered(judgements)
    )
    if not reasons:
        return []
    table = suitability_table({"": judgements}, reasons=False)
    return [Section("What the platforms suit", (table, Prose(reasons, "list")))]


def suitability_table(sides: Mapping[str, Sequence[Judgement]], *, reasons: bool) -> Table:
    """Tabulate the classes of applications by platform.

    - `sides`: by the words after a platform's name in the head; the last has every class.
    """
    *_, last = sides.values()
    rows = Rows(dict.fromkeys(row.application_class for row in last))
    title: Callable[[str], str] = sentence_case if reasons else str
    rows.column("applications", lambda kind: Field(title(kind.title), tip=kind.about), "text")
    for suffix, judged in sides.items():
        for platform in dict.fromkeys(row.platform for row in judged):
            own = {row.application_class: row for row in judged if row.platform == platform}
            rows.column(f"{platform}{suffix}", _answers(own, reasons=reasons), "text")
    return rows.table()


def _answers(
    own: Mapping[ApplicationClass, Judgement], *, reasons: bool
) -> Callable[[ApplicationClass], Field]:
    def field(kind: ApplicationClass) -> Field:
        row = own.get(kind)
        if row is None or (row.answer is Suitability.NOT_MEASURED and not reasons):
            return Field(Suitability.NOT_MEASURED.value, tone="muted")
        why = reason_of(row) if reasons and row.answer is not Suitability.NOT_MEASURED else ""
        caveats = row.caveats if reasons else ()
        return Field(row.words, tone=_TONES.get(row.answer, ""), caveats=caveats, note=why)

    return field
