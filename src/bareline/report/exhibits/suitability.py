"""What the platforms suit: classes of applications against platforms, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from bareline.analysis.judgements.suitability import (
    Answer,
    ApplicationClass,
    Judgement,
    judge_published,
)
from bareline.analysis.words.suitability import reason_of
from bareline.published.catalogue import publications
from bareline.report.blocks.table import Field, Rows, Table, Tone
from bareline.report.content.document import Document
from bareline.report.content.wording import sentence_case
from bareline.report.exhibits.base import Kind, Shown
from bareline.vocabulary.exhibit import ExhibitSpec

_TONES: Mapping[Answer, Tone] = MappingProxyType(
    {
        Answer.SUITED: "better",
        Answer.UNSUITED: "worse",
        Answer.CANNOT_TELL: "muted",
        Answer.NOT_MEASURED: "muted",
    }
)


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Give each answer with its reason; none for a probe, or where no class could be judged."""
    judged = document.comparison.suitability
    told = [row for row in judged if row.answer is not Answer.NOT_MEASURED]
    if not told or spec.probe is not None:
        return
    theirs = _published(document)
    yield Shown(
        title="What the platforms suit",
        notes=[_CAPTION, _THEIRS if theirs else ""],
        summary=_summary(told),
        table=_matrix(judged, theirs),
        data=map(_tidy, judged),
    )


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


def _matrix(own: Sequence[Judgement], theirs: Sequence[Judgement]) -> Table:
    rows = Rows(dict.fromkeys(row.application_class for row in own))
    rows.column(
        "applications", lambda kind: Field(sentence_case(kind.title), tip=kind.about), "text"
    )
    # What was published stands first: a wide table of many platforms scrolls, and hid it.
    for judged, suffix in ((theirs, ", published"), (own, "")):
        for platform in dict.fromkeys(row.platform for row in judged):
            mine = (row for row in judged if row.platform == platform)
            rows.column(f"{platform}{suffix}", _answer_for(mine), "text")
    return rows.table()


def _answer_for(judged: Iterable[Judgement]) -> Callable[[ApplicationClass], Field]:
    """Give the answers of one platform by class."""
    by_class = {row.application_class: row for row in judged}

    def field(kind: ApplicationClass) -> Field:
        row = by_class.get(kind)
        if row is None:
            return Field(Answer.NOT_MEASURED.value, tone="muted")
        why = "" if row.answer is Answer.NOT_MEASURED else reason_of(row)
        return Field(row.words, tone=_TONES.get(row.answer, ""), caveats=row.caveats, note=why)

    return field


def _tidy(row: Judgement) -> dict[str, str]:
    return {
        "class": row.application_class.name,
        "platform": row.platform,
        "baseline": row.baseline,
        "answer": row.answer.value,
        "certainty": row.certainty.value,
        "reason": reason_of(row),
        "caveats": "; ".join(map(str, row.caveats)),
    }


def _summary(told: Sequence[Judgement]) -> str:
    parts = [
        f"{row.application_class.title} on {row.platform}: {row.answer.value}" for row in told[:12]
    ]
    return f"{'; '.join(parts)}."


EXHIBIT = Kind(
    "suitability",
    "what the platforms suit: classes of applications against platforms, with reasons",
    _shown,
)
