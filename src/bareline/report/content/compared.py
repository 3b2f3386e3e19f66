"""What `compare` says, the answer, every finding, claims and causes, and what `explain` adds."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.suitability import Judgement, Suitability
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.parts import Sentence, sentence
from bareline.analysis.words.promise import control_sentence
from bareline.analysis.words.reasons import reasons_of
from bareline.analysis.words.suitability import reason_of
from bareline.report.blocks import Block, Field, Note, Prose, Rows, Section, Words
from bareline.report.content.claims import claims_of, claims_table
from bareline.report.content.grid import by_loss, grid, layers_of, legend
from bareline.vocabulary.caveats import briefs
from bareline.vocabulary.units import count, listing

#: Causes that are named; `explain` names all.
_MOST_CAUSES = 8


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
        blocks.append(claims_table(claims.open, sources=False))
    if claims.folded:
        noun = count(len(claims.folded), "further claim")
        told = f"{noun} on the page (`bareline report`): why what is not measured is not."
        blocks.append(Note(told))
    return blocks


def _caveats(findings: Sequence[Finding]) -> list[Block]:
    """Say in a few words what values are doubtful for, and on which platforms."""
    held = {
        brief: [f.platform for f in findings if f.compared and not alike.isdisjoint(f.caveats)]
        for brief, alike in briefs(c for f in findings if f.compared for c in f.caveats).items()
    }
    told = [f"{brief} on {listing(list(dict.fromkeys(names)))}" for brief, names in held.items()]
    return [Note(f"Caveats: {'; '.join(told)}.")] if told else []


def explained(comparison: Comparison) -> list[Block]:
    """Gather the blocks; `compare` has the answer and the table."""
    told = comparison.sentences
    blocks: list[Block] = [Prose(tuple(told) or ("There is nothing to compare.",))]
    if not comparison.alone and comparison.glance.promise:
        blocks.append(Note(comparison.glance.promise))
    return [*blocks, *suited(comparison.suitability)]


def suited(judgements: Sequence[Judgement]) -> list[Block]:
    """Lay classes of applications against platforms, then give the reason of every answer."""
    told = [row for row in judgements if row.answer is not Suitability.NOT_MEASURED]
    if not told:
        return []
    platforms = list(dict.fromkeys(row.platform for row in judgements))
    answers = {(row.application_class, row.platform): row for row in judgements}
    rows = Rows(dict.fromkeys(row.application_class for row in judgements))
    rows.text("applications", lambda kind: kind.title)
    for name in platforms:
        rows.column(name, lambda kind, name=name: _suited(answers.get((kind, name))), "text")  # type: ignore[misc]
    reasons = tuple(
        f"{'' if len(platforms) == 1 else f'{row.platform}, '}{row.application_class.title}: "
        f"{row.words}; {reason_of(row)}."
        for row in told
    )
    return [Section("What the platforms suit", (rows.table(), Prose(reasons, "list")))]


def _suited(row: Judgement | None) -> Field:
    if row is None or row.answer is Suitability.NOT_MEASURED:
        return Field(Suitability.NOT_MEASURED.value, tone="muted")
    return Field(row.words)
