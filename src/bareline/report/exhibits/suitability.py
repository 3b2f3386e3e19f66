"""Two exhibits: the suitability of platforms with reasons, and their use by applications."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from bareline.analysis.judgements.suitability import Judgement, judge_published
from bareline.analysis.words.suitability import reason_of
from bareline.published.catalogue import publications
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.content.profiles import Dominant, ProfileLine, share_rows
from bareline.report.content.suitability import answered, suitability_table
from bareline.report.exhibits.base import Exhibit, figure_of
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import format_size, percent_tenths


def _suitability(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield the answers with their reasons; nothing for a single probe, or without an answer."""
    judged = document.comparison.suitability
    answers = answered(judged)
    if not answers or spec.probe is not None:
        return
    theirs = _published(document)
    # Published columns come first, because a wide table scrolls and would hide its last columns.
    sides = {", published": theirs, "": judged}
    rules = "Published: the same rules on the publication's own figures." if theirs else ""
    words = [
        f"{row.application_class.title} on {row.platform}: {row.answer.value}"
        for row in answers[:12]
    ]
    yield figure_of(
        spec,
        title="What the platforms suit",
        notes=[
            "Suited: at least 90 % of the baseline's performance is left; suited at a cost: at "
            "least half. An answer that rests on doubtful or approximate figures says so.",
            rules,
        ],
        summary=f"{'; '.join(words)}.",
        table=suitability_table(sides, reasons=True),
        data=[
            {
                "class": row.application_class.name,
                "platform": row.platform,
                "baseline": row.baseline,
                "answer": row.answer.value,
                "certainty": row.certainty.value,
                "reason": reason_of(row),
                "caveats": "; ".join(map(str, row.caveats)),
            }
            for row in judged
        ],
    )


def _published(document: Document) -> list[Judgement]:
    """Return judgements of the published platforms that have a role, from published figures."""
    cast: set[str] = set()
    for role in document.roles.values():
        if role.platform:
            cast.update(role.published)
    judgements: list[Judgement] = []
    for study in publications().values():
        if not any(name.startswith(f"{study.id}:") for name in cast):
            continue
        for judgement in answered(judge_published(study)):
            if f"{study.id}:{judgement.platform}" in cast:
                judgements.append(judgement)
    return judgements


def _asked(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield one table of the profiles; none if no trial of the probe was profiled."""
    pattern = spec.probe or "*"
    lines = [line for line in document.profiles if fnmatchcase(line.probe, pattern)]
    if not lines:
        return

    rows = share_rows(lines, "application")
    rows.text("dominant calls and sizes", _dominant_words)
    rows.number("memory per rank", lambda line: line.memory_bytes, format_size)
    rows.number("read and written", lambda line: line.file_bytes, format_size)
    yield figure_of(
        spec,
        title="The applications' use of the platform",
        notes=[
            "Shares of the time from MPI_Init to MPI_Finalize, a rank's mean; the median over the "
            "trials. Of the first trial: the calls with their message sizes that most time went "
            "to, each with its number in a rank and its share of the time of all calls that move "
            "data; the memory of the rank with most; the bytes that all ranks read from files and "
            "wrote to them."
        ],
        table=rows.table(),
    )


def _dominant_words(line: ProfileLine) -> str:
    """Describe the calls that move data and take the most time."""
    return "; ".join(map(_calls_words, line.dominant)) or "none"


def _calls_words(calls: Dominant) -> str:
    size = format_size(calls.low_bytes)
    if calls.high_bytes != calls.low_bytes:
        size = f"{size} to {format_size(calls.high_bytes)}"
    return f"{calls.name} of {size}: {calls.per_rank:,.0f} calls, {percent_tenths(calls.share)}"


EXHIBITS = (
    Exhibit(
        "suitability",
        "classes of applications that suit each platform, with reasons",
        _suitability,
    ),
    Exhibit(
        "profile",
        "the applications' shares of time, dominant calls and sizes, memory, files",
        _asked,
    ),
)
