"""What `compare` says, the answer, every finding, claims and causes, and what `explain` adds."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.parts import Sentence, sentence
from bareline.analysis.words.promise import control_sentence
from bareline.analysis.words.reasons import reasons_of
from bareline.report.blocks import Block, Note, Prose, Words
from bareline.report.content.claims import claims_of, claims_table
from bareline.report.content.grid import by_loss, grid, layers_of, legend
from bareline.report.content.suitability import suited
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
    reasons: list[Words] = [*causes[:_MOST_CAUSES]]
    if len(causes) > _MOST_CAUSES:
        reasons.append(f"and {count(len(causes) - _MOST_CAUSES, 'more reason')}")
    blocks += [Prose(tuple(reasons), "list")] if reasons else []
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
        text = f"{noun} on the page (`bareline report`): why what is not measured is not."
        blocks.append(Note(text))
    return blocks


def _caveats(findings: Sequence[Finding]) -> list[Block]:
    """Say in a few words what values are doubtful for, and on which platforms."""
    compared = [finding for finding in findings if finding.compared]
    texts = []
    for brief, alike in briefs(caveat for one in compared for caveat in one.caveats).items():
        names = (one.platform for one in compared if not alike.isdisjoint(one.caveats))
        texts.append(f"{brief} on {listing(list(dict.fromkeys(names)))}")
    return [Note(f"Caveats: {'; '.join(texts)}.")] if texts else []


def explained(comparison: Comparison) -> list[Block]:
    """Gather the blocks; `compare` has the answer and the table."""
    sentences = comparison.sentences
    blocks: list[Block] = [Prose(tuple(sentences) or ("There is nothing to compare.",))]
    if not comparison.alone and comparison.glance.promise:
        blocks.append(Note(comparison.glance.promise))
    return [*blocks, *suited(comparison.suitability)]
