"""What the platforms suit: classes of applications against platforms, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bareline.analysis.suitability import Answer, Certainty, Judgement, judge_published
from bareline.published.catalogue import publications
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.wording import sentence_case
from bareline.report.exhibits.base import Exhibit
from bareline.report.figures.figure import Column, DataTable, Field, Figure, Tone
from bareline.vocabulary.exhibit import ExhibitSpec

_TONES: Mapping[Answer, Tone] = MappingProxyType(
    {
        Answer.SUITED: "better",
        Answer.UNSUITED: "worse",
        Answer.CANNOT_TELL: "muted",
        Answer.NOT_MEASURED: "muted",
    }
)


class Suitability(Exhibit):
    """A row per class of applications, a column per platform; the reasons in a second table."""

    kind = "suitability"
    summary = "what the platforms suit: classes of applications against platforms, with reasons"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give both tables; none where no class could be judged, or a probe is asked for."""
        judged = document.comparison.suitability
        told = [row for row in judged if row.answer is not Answer.NOT_MEASURED]
        if not told or spec.probe is not None:
            return []
        theirs = _published(document)
        title = spec.title or "What the platforms suit"
        return [
            Figure(
                id=slug("suitability", spec.title),
                title=title,
                caption=" ".join(filter(None, [spec.caption, _CAPTION, _THEIRS if theirs else ""])),
                wide=True,
                text_summary=_summary(told),
                data_table=_matrix(judged, theirs),
                data=tuple(_tidy(row) for row in judged),
            ),
            Figure(
                id=slug("suitability-reasons", spec.title),
                title=f"{title}: why",
                wide=True,
                data_table=_reasons(told),
            ),
        ]


_CAPTION = (
    "Suited: at least 90 % of the baseline's performance is left; suited at a cost: at least half. "
    "An answer that rests on doubtful or approximate figures says so."
)
_THEIRS = "Published: the same rules on the publication's own figures."


def _published(document: Document) -> list[Judgement]:
    """Judge the published platforms whose roles somebody took, by the publication's figures."""
    cast = {name for role in document.roles.values() if role.platform for name in role.published}
    return [
        judgement
        for study in publications().values()
        if any(name.startswith(f"{study.id}:") for name in cast)
        for judgement in judge_published(study)
        if f"{study.id}:{judgement.platform}" in cast
        and judgement.answer is not Answer.NOT_MEASURED
    ]


def _matrix(own: Sequence[Judgement], theirs: Sequence[Judgement]) -> DataTable:
    classes = list(dict.fromkeys(row.application_class for row in own))
    columns = [Column("applications", "text")]
    parts: list[tuple[Sequence[Judgement], str]] = []
    for rows, suffix in ((own, ""), (theirs, ", published")):
        for platform in dict.fromkeys(row.platform for row in rows):
            columns.append(Column(f"{platform}{suffix}", "text"))
            parts.append((rows, platform))
    drawn: list[tuple[Field, ...]] = []
    for kind in classes:
        fields = [Field(sentence_case(kind.title), tip=kind.about)]
        for judgements, platform in parts:
            found = next(
                (
                    row
                    for row in judgements
                    if row.application_class == kind and row.platform == platform
                ),
                None,
            )
            fields.append(_answer(found))
        drawn.append(tuple(fields))
    return DataTable(tuple(columns), tuple(drawn))


def _answer(row: Judgement | None) -> Field:
    if row is None:
        return Field(Answer.NOT_MEASURED.value, tone="muted")
    sure = row.certainty in (Certainty.SURE, Certainty.NONE)
    text = row.answer.value if sure else f"{row.answer.value} ({row.certainty.value})"
    return Field(text, tone=_TONES.get(row.answer, ""), caveats=row.caveats, tip=row.reason)


def _reasons(told: Sequence[Judgement]) -> DataTable:
    columns = (
        Column("applications", "text"),
        Column("platform", "text"),
        Column("answer", "text"),
        Column("why", "text"),
    )
    rows = tuple(
        (
            Field(sentence_case(row.application_class.title)),
            Field(row.platform, platform=row.platform),
            Field(_answer(row).text, tone=_TONES.get(row.answer, "")),
            Field(row.reason, caveats=row.caveats, wrap=True),
        )
        for row in told
    )
    return DataTable(columns, rows)


def _tidy(row: Judgement) -> dict[str, str]:
    return {
        "class": row.application_class.name,
        "platform": row.platform,
        "baseline": row.baseline,
        "answer": row.answer.value,
        "certainty": row.certainty.value,
        "reason": row.reason,
        "caveats": "; ".join(map(str, row.caveats)),
    }


def _summary(told: Sequence[Judgement]) -> str:
    parts = [
        f"{row.application_class.title} on {row.platform}: {row.answer.value}" for row in told[:12]
    ]
    return f"{'; '.join(parts)}."


EXHIBIT = Suitability()
