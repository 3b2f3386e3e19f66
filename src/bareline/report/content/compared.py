"""What `compare` says: the answer, a table of every finding, what a publication claims, and why."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.claims import Status
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.control import control_sentence
from bareline.analysis.words.parts import Sentence, sentence
from bareline.analysis.words.reasons import reasons_of
from bareline.report.blocks.prose import Block, Note, Prose, Words
from bareline.report.blocks.table import Column, Field, Table, Tone
from bareline.report.content.claims import ClaimRow, claims_of
from bareline.report.content.grid import by_loss, grid, layers_of, legend
from bareline.vocabulary.caveats import briefs
from bareline.vocabulary.units import count, listing

#: Causes that are named; `explain` names all.
_MOST_CAUSES = 8
_TONES: dict[Status, Tone] = {
    Status.YES: "bold",
    Status.NO: "worse",
    Status.CANNOT_TELL: "muted",
    Status.NOT_MEASURED: "muted",
}


def compared(comparison: Comparison) -> list[Block]:
    """Gather the blocks, in their order."""
    findings = comparison.findings
    blocks: list[Block] = [
        Prose(tuple(comparison.glance.headline.clauses), "headline"),
        *grid(findings, by_loss(findings, comparison.others)),
        Note(legend(findings, comparison.baseline, comparison.margin)),
        *_claims(comparison),
    ]
    causes = _causes(comparison)
    told: list[Words] = [*causes[:_MOST_CAUSES]]
    if len(causes) > _MOST_CAUSES:
        told.append(f"and {count(len(causes) - _MOST_CAUSES, 'more reason')}")
    blocks += [Prose(tuple(told), "list")] if told else []
    blocks += _caveats(findings)
    return [*blocks, *(Note(control_sentence(control)) for control in comparison.controls)]


def _causes(comparison: Comparison) -> list[Sentence]:
    return [
        sentence(*reason)
        for layer in layers_of(comparison.findings)
        for reason in reasons_of(
            [one for one in comparison.explanations if one.finding.layer is layer], listing
        )
    ]


def _claims(comparison: Comparison) -> list[Block]:
    """Lay out what a publication claims beside what was measured; count what was not."""
    claims = claims_of(comparison)
    blocks: list[Block] = []
    if claims.open:
        heads = ("claim", "printed", "measured here", "same direction?")
        rows = tuple(map(_claim, claims.open))
        blocks.append(Table(tuple(Column(head, "text") for head in heads), rows))
    if claims.folded:
        noun = count(len(claims.folded), "further claim")
        told = f"{noun} on the page (`bareline report`): why what is not measured is not."
        blocks.append(Note(told))
    return blocks


def _claim(row: ClaimRow) -> tuple[Field, ...]:
    printed = f"{row.printed} ({row.elsewhere})" if row.elsewhere else row.printed
    status = Field(row.status.value, tone=_TONES.get(row.status, ""))
    return (Field(row.claim), Field(printed), Field(row.measured), status)


def _caveats(findings: Sequence[Finding]) -> list[Block]:
    """Say in a few words what values are doubtful for, and on which platforms."""
    held = {
        brief: [f.platform for f in findings if f.compared and not alike.isdisjoint(f.caveats)]
        for brief, alike in briefs(c for f in findings if f.compared for c in f.caveats).items()
    }
    told = [f"{brief} on {listing(list(dict.fromkeys(names)))}" for brief, names in held.items()]
    return [Note(f"Caveats: {'; '.join(told)}.")] if told else []
