"""The verdict at a glance: one line, and a matrix of layers and platforms.

The line is what a director repeats; the matrix holds, for each layer on each platform, the worst
certain change, or why there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bareline import stats
from bareline.analysis.amounts import at_most, said
from bareline.analysis.cell import Cell
from bareline.analysis.emulation import EMULATED
from bareline.analysis.findings import Finding
from bareline.analysis.parts import Amount, Piece, Platform, Sentence, joined, percent, sentence
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Verdict

#: What the line says of disturbances, and from which share of the trials on.
_DISTURBANCES = {
    "busy-machine": "measured on a busy machine",
    "steal-time": "measured while the hypervisor took processor time away",
}
_DISTURBED_SHARE = 0.2
_OTHER_LAYOUTS = "other layouts than the baseline's"
#: Changes that the line names for each kind of layout, largest first, one for each layer.
_MOST_CHANGES = 3


@dataclass(frozen=True, slots=True)
class Square:
    """One layer on one platform.

    Parameters
    ----------
    mark
        The worst of its findings: a certain change before everything else.
    words
        What stands in the matrix: the worst certain change with its interval, or the mark.
    subject
        What it is of, e.g. ``MPI ping-pong below 8 KiB, 8 B``; empty where it is of all.
    point
        The point that `words` say; None where no change is certain.
    note
        Why it is not comparable, or not measured.
    anchor
        Where the evidence stands on the page.
    """

    mark: Verdict
    words: Sentence
    subject: str
    point: Cell | None
    note: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Glance:
    """The verdict at a glance.

    Parameters
    ----------
    headline
        One line.
    layers, platforms
        Rows and columns of the matrix, in order; the baseline is not among the platforms.
    squares
        By layer and platform; a layer that was not measured there has none.
    promise
        How sure all of it is, with the number of comparisons.
    """

    headline: Sentence
    layers: tuple[Layer, ...]
    platforms: tuple[str, ...]
    squares: Mapping[tuple[Layer, str], Square]
    promise: str


def glance(
    findings: Sequence[Finding],
    platforms: Sequence[str],
    baseline: str,
    *,
    margin: float,
    promise: str,
) -> Glance:
    """Condense findings about platforms into one line and a matrix."""
    layers = [layer for layer in Layer if any(part.layer is layer for part in findings)]
    squares = {}
    for layer in layers:
        for platform in platforms:
            group = [part for part in findings if part.layer is layer and part.platform == platform]
            if group:
                squares[layer, platform] = _square(group, margin)
    line = _headline(findings, platforms, baseline, margin)
    return Glance(line, tuple(layers), tuple(platforms), squares, promise)


#: What a square shows of several findings: the first of these that any has.
_ORDER = (
    Verdict.SLOWER,
    Verdict.MIXED,
    Verdict.FASTER,
    Verdict.INCONCLUSIVE,
    Verdict.EQUIVALENT,
    Verdict.FAILED,
    Verdict.NOT_COMPARABLE,
    Verdict.SKIPPED,
    Verdict.DOES_NOT_FIT,
    Verdict.MISSING,
)
_MARKS = {
    Verdict.INCONCLUSIVE: "cannot tell",
    Verdict.FAILED: "failed",
    Verdict.NOT_COMPARABLE: "not comparable",
    Verdict.DOES_NOT_FIT: "does not fit",
    Verdict.SKIPPED: "skipped",
    Verdict.MISSING: "not comparable",
}


def _square(group: Sequence[Finding], margin: float) -> Square:
    there = {finding.verdict for finding in group}
    mark = next(verdict for verdict in _ORDER if verdict in there)
    losses = [finding for finding in group if finding.of(Verdict.SLOWER)]
    decided = losses or [finding for finding in group if finding.verdict.decided]
    if decided:
        shown = max(decided, key=lambda finding: finding.weight)
        point = shown.worst
        assert point is not None
        mark = Verdict.SLOWER if losses else Verdict.FASTER
        subject = ", ".join(filter(None, [shown.subject, shown.label(point)]))
        return Square(mark, sentence(*said([point], shown.rate)), subject, point, "", shown.anchor)
    words: Piece = _MARKS.get(mark, "")
    if mark is Verdict.EQUIVALENT:
        words = Amount(f"equal within {percent(margin)}")
    notes = dict.fromkeys(finding.reason for finding in group if finding.verdict is mark)
    return Square(mark, sentence(words), "", None, "; ".join(filter(None, notes)), group[0].anchor)


def _headline(
    findings: Sequence[Finding], platforms: Sequence[str], baseline: str, margin: float
) -> Sentence:
    """Say in one line what is certain, by kind of layout, and what cannot be compared."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.compared:
            kinds.setdefault(_kind(finding), []).append(finding)
    several = len(platforms) > 1
    clauses = [
        _of_kind(kind if len(kinds) > 1 else "", kinds[kind], margin, several)
        for kind in sorted(kinds, key=lambda kind: -max(map(_certain_weight, kinds[kind])))
    ]
    clauses += [
        [f"{reason}: {listing(list(dict.fromkeys(layers)))} not comparable"]
        for reason, layers in _refused(findings).items()
    ]
    failed = dict.fromkeys(f.title for f in findings if f.verdict is Verdict.FAILED)
    if failed:
        clauses.append([f"failed: {listing(list(failed))}"])
    skipped = dict.fromkeys(f.title for f in findings if f.verdict is Verdict.SKIPPED)
    if skipped:
        clauses.append([f"skipped: {listing(list(skipped))}"])
    if not clauses:
        clauses = [["nothing could be compared"]]
    told = joined(clauses, between="; ", last="; ")
    disturbed = "".join(f"; {text}" for text in _disturbed(findings))
    return sentence(*told, ", compared with ", Platform(baseline), f"{disturbed}.")


def _refused(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Give the layers that are not comparable by the reason; several layouts are one reason.

    Which layouts they are stands in the matrix.
    """
    unlike = [finding for finding in findings if finding.verdict is Verdict.NOT_COMPARABLE]
    layouts = {finding.reason for finding in unlike} - {EMULATED}
    several = len(layouts) > 1 or any("; " in layout for layout in layouts)
    there = {(finding.layer, finding.platform) for finding in findings if finding.compared}
    whole = {f.layer for f in unlike if (f.layer, f.platform) not in there}
    found: dict[str, list[str]] = {}
    for finding in unlike:
        name = _lower(finding.layer)
        part = name if finding.layer in whole else f"part of {name}"
        reason = _OTHER_LAYOUTS if several and finding.reason in layouts else finding.reason
        found.setdefault(reason, []).append(part)
    return found


def _disturbed(findings: Sequence[Finding]) -> list[str]:
    """Say what disturbed so many trials that all figures are in doubt."""
    compared = [finding for finding in findings if finding.compared]
    told = []
    for code, text in _DISTURBANCES.items():
        shares = [
            max((c.share for c in finding.caveats if c.code == code), default=0.0)
            for finding in compared
        ]
        if shares and sum(shares) / len(shares) > _DISTURBED_SHARE:
            told.append(text)
    return told


def _kind(finding: Finding) -> str:
    if finding.nodes is None:
        return "layout unknown"
    return {1: "one node", 2: "two nodes"}.get(finding.nodes, f"{finding.nodes} nodes")


def _certain_weight(finding: Finding) -> float:
    return finding.weight if finding.verdict.decided else 0.0


def _of_kind(kind: str, group: Sequence[Finding], margin: float, several: bool) -> list[Piece]:
    lead = f"{kind}: " if kind else ""
    decided = sorted(
        (f for f in group if f.verdict.decided), key=lambda finding: finding.weight, reverse=True
    )
    firsts: dict[Layer, Finding] = {}
    for finding in decided:
        firsts.setdefault(finding.layer, finding)
    changes: list[list[Piece]] = []
    for finding in list(firsts.values())[:_MOST_CHANGES]:
        point = finding.worst
        assert point is not None
        amount = at_most(point, finding.rate, of_several=len(finding.compared) > 1)
        subject = finding.subject.removesuffix(f" {finding.where}") if kind else finding.subject
        where: list[Piece] = [" on ", Platform(finding.platform)] if several else []
        changes.append([f"{subject} ", *amount, *where])
    if changes:
        return [lead, *joined(changes, last=", ")]
    if all(finding.verdict is Verdict.EQUIVALENT for finding in group):
        return [lead, Amount(f"no difference above {percent(margin)}")]
    same = [finding for finding in group if finding.verdict is Verdict.EQUIVALENT]
    rest = len(group) - len(same)
    text = f"no certain difference ({len(same)} equal within {percent(margin)}, {rest} undecided)"
    return [lead, text]


def _lower(layer: Layer) -> str:
    words = layer.words
    return words if words.isupper() or " " in words else words.lower()


def promise(tests: int, rows: int, blocks: int, *, in_blocks: bool) -> str:
    """Say how sure a verdict is, from what was done.

    Parameters
    ----------
    tests
        Comparisons that the sentences rest on.
    rows
        Rows of tables that were tested.
    blocks
        Blocks of the run.
    in_blocks
        Whether everything was measured in common blocks.
    """
    if not tests and not rows:
        return ""
    level = f"{stats.ALPHA * 100:g} %"
    if not in_blocks:
        how = "Holm's correction where platforms share no blocks"
    elif blocks <= stats.ALL_FLIPS_BLOCKS:
        how = f"all {2**blocks} exchanges of names in {blocks} blocks"
    else:
        how = f"4096 exchanges of names in {blocks} blocks"
    return (
        f"The sentences rest on {tests} comparisons: with a probability of at most {level} they "
        f"claim any difference that is none ({how}). Each 'equal' is wrong with at most 2.5 %. "
        f"In tables, of the rows called slower or faster among {rows} tested at most {level} are "
        "expected to be wrong (false discovery rate)."
    )
