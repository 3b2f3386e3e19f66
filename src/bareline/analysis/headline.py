"""The first line: what a director repeats, and what therefore must hide no loss.

One clause a platform: certain losses before gains, the layers that are not named counted, what
failed, then what is open or equal. Every certain loss is in it, by name or in its "and 4 more
layers"; equal is said only of what every planned point says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bareline.analysis.amounts import at_most, mean_pieces, said
from bareline.analysis.breakdown import Breakdown
from bareline.analysis.cell import Cell
from bareline.analysis.emulation import EMULATED
from bareline.analysis.findings import Finding
from bareline.analysis.parts import (
    Amount,
    Break,
    Piece,
    Platform,
    Sentence,
    joined,
    percent,
    sentence,
)
from bareline.vocabulary.caveats import codes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import Place, nodes_words
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Grade, Verdict

#: What the line says of disturbances, and from which share of the trials on.
_DISTURBANCES = {
    "busy-machine": "measured on a busy machine",
    "steal-time": "measured while the hypervisor took processor time away",
}
_DISTURBED_SHARE = 0.2
_OTHER_LAYOUTS = "other layouts than the baseline's"
#: Losses that a clause names where it is the only one, and where there are several; gains likewise.
_MOST_LOSSES = {True: 3, False: 2}
_MOST_GAINS = 1
#: Whole programs first: they are what a platform is for.
_RANK = {Layer.APP: 0, Layer.NPB: 1}
_NAMES = {Layer.APP: "applications", Layer.NPB: "NAS benchmarks"}
#: Pieces of the extra time below this share of the baseline's time are not told.
_TOLD_FROM = 0.01

_Clause = list[Piece]


def headline(
    findings: Sequence[Finding],
    platforms: Sequence[str],
    baseline: str,
    margin: float,
    breakdowns: Sequence[Breakdown] = (),
) -> Sentence:
    """Say in one line what is certain on each platform, what failed and what cannot be compared.

    Parameters
    ----------
    breakdowns
        Where the extra time of programs goes: said of the first loss that is named of a platform.
    """
    alone = len(platforms) == 1
    with_nodes = len({finding.nodes for finding in findings if finding.compared}) > 1
    alike: dict[Sentence, list[str]] = {}
    theirs = {name: [f for f in findings if f.platform == name] for name in platforms}
    for name in sorted(platforms, key=lambda name: _first_rank(theirs[name])):
        own = theirs[name]
        why = {one.place: one for one in breakdowns if one.platform == name}
        words = sentence(*_of_platform(own, margin, why, alone=alone, with_nodes=with_nodes))
        alike.setdefault(words, []).append(name)
    clauses: list[_Clause] = [
        ["on ", *joined([[Platform(name)] for name in names]), ": ", *words.parts]
        for words, names in alike.items()
        if words.parts
    ]
    if not clauses:
        clauses = [["nothing could be compared"]]
    disturbed = "".join(f"; {text}" for text in _disturbed(findings))
    told = joined(clauses, between=Break(), last=Break())
    simulated = _simulated(findings, platforms, baseline)
    against: _Clause = ["compared with ", Platform(baseline), *simulated]
    return sentence(*told, Break(), *against, f"{disturbed}.")


def _first_rank(findings: Sequence[Finding]) -> int:
    """Order platforms as layers are: those first on which programs lose."""
    losses = _by_layer(findings, Verdict.SLOWER)
    return min((_RANK.get(layer, len(_RANK)) for layer in losses), default=len(_RANK) + 1)


def _of_platform(
    findings: Sequence[Finding],
    margin: float,
    why: Mapping[Place, Breakdown],
    *,
    alone: bool,
    with_nodes: bool,
) -> _Clause:
    """Say all of one platform: losses, gains, what did not come, and what the rest is."""
    compared = [finding for finding in findings if finding.compared]
    losses = _by_layer(findings, Verdict.SLOWER)
    gains = _by_layer(findings, Verdict.FASTER)
    parts = [
        *_losses(findings, losses, _MOST_LOSSES[alone], with_nodes, why),
        *_changes(gains, Verdict.FASTER, _MOST_GAINS, with_nodes),
        *_undelivered(findings),
    ]
    if compared and not losses and not gains:
        parts.append(_unchanged(compared, margin, whole=not parts))
    parts += [
        [f"{listing(list(dict.fromkeys(layers)))} not comparable ({reason})"]
        for reason, layers in _refused(findings).items()
    ]
    skipped = dict.fromkeys(f.title for f in findings if f.verdict is Verdict.SKIPPED)
    if skipped:
        parts.append([f"skipped: {listing(list(skipped))}"])
    return joined(parts, between=", ", last=", ")


def _by_layer(findings: Sequence[Finding], verdict: Verdict) -> dict[Layer, Finding]:
    """Give the finding with the largest certain change of each layer, programs first."""
    found: dict[Layer, tuple[tuple[bool, float], Finding]] = {}
    for finding in findings:
        points = finding.of(verdict)
        if points or (finding.by_mean and finding.verdict is verdict):
            size = (finding.grade is Grade.CERTAIN, points[0].size if points else finding.weight)
            known = found.get(finding.layer)
            if known is None or size > known[0]:
                found[finding.layer] = (size, finding)
    order = sorted(
        found,
        key=lambda layer: (
            _RANK.get(layer, len(_RANK)),
            not found[layer][0][0],
            -found[layer][0][1],
        ),
    )
    return {layer: found[layer][1] for layer in order}


def _losses(
    findings: Sequence[Finding],
    layers: dict[Layer, Finding],
    most: int,
    with_nodes: bool,
    why: Mapping[Place, Breakdown],
) -> list[_Clause]:
    """Say losses: of programs their range and the worst, with where its extra time goes."""
    clauses = _changes(layers, Verdict.SLOWER, most, with_nodes)
    for number, (layer, worst) in enumerate(list(layers.items())[:most]):
        if layer not in _RANK:
            continue
        reason = _because(worst, why) if number == 0 else ""
        own = [f for f in findings if f.layer is layer]
        points = [p for f in own for p in f.of(Verdict.SLOWER) if p.ratio is not None]
        if len(points) < 2 or worst.by_mean:
            clauses[number].append(reason)
            continue
        points.sort(key=lambda point: -point.size)
        lost = {f.title for f in own if f.of(Verdict.SLOWER)}
        every = {f.title for f in own}
        some = "" if len(lost) == len(every) else f"{len(lost)} of {len(every)} "
        where = "" if worst.where or not with_nodes else nodes_words(worst.nodes)
        subject = " ".join(filter(None, [worst.subject, where]))
        if len(every) == 1:  # one program, at several sizes or on several layouts
            at = f" at most {nodes_words(worst.nodes)}" if with_nodes and worst.nodes else ""
            clauses[number] = [f"{worst.title} ", *said(points, worst.rate), f"{at}{reason}"]
            continue
        name = f"{some}{_NAMES[layer]} "
        clauses[number] = [name, *said(points, worst.rate), f", most {subject}{reason}"]
    return clauses


def _changes(
    layers: dict[Layer, Finding], verdict: Verdict, most: int, with_nodes: bool
) -> list[_Clause]:
    """Name the changes of the first layers, and count the layers that are left."""
    shown, rest = list(layers.values())[:most], list(layers)[most:]
    worse = verdict is Verdict.SLOWER
    clauses = [_change(finding, finding.of(verdict), with_nodes) for finding in shown]
    if rest:
        noun = "layer" if len(rest) == 1 else "layers"
        names = listing([layer_name(layer) for layer in rest])
        clauses.append([f"{len(rest)} more {noun} {'worse' if worse else 'better'} ({names})"])
    return clauses


def _change(finding: Finding, points: Sequence[Cell], with_nodes: bool) -> _Clause:
    """Say the largest change of a finding, or its mean where that alone is certain."""
    where = "" if finding.where or not with_nodes else nodes_words(finding.nodes)
    subject = " ".join(filter(None, [finding.subject, where]))
    sure = "likely " if finding.grade is Grade.LIKELY else ""
    if finding.by_mean:
        return [f"{subject} {sure}", *mean_pieces(finding, bounded=False)]
    return [
        f"{subject} {sure}",
        *at_most(points[0], finding.rate, of_several=len(finding.compared) > 1),
    ]


def _because(finding: Finding, why: Mapping[Place, Breakdown]) -> str:
    """Say where the largest loss of a program goes, with its call, where that is known."""
    points = finding.of(Verdict.SLOWER)
    one = why.get(points[0].place) if points else None
    if one is None:
        return ""
    pieces = {"communication": one.communication, "computation": one.computation}
    told = [f"{extra:.2f} {name}" for name, extra in pieces.items() if extra >= _TOLD_FROM]
    if not told:
        return ""
    largest = one.largest
    mostly = f", mostly {largest.call}" if largest and largest.call else ""
    return f" (of the extra {one.ratio.value - 1:.2f}: {', '.join(told)}{mostly})"


def _undelivered(findings: Sequence[Finding]) -> list[_Clause]:
    """Say how many of the planned cases failed, and how many points are missing."""
    parts: list[_Clause] = []
    failed, every = failed_cases(findings)
    if failed:
        parts.append([f"{failed} of {every} cases failed"])
    missing = [p for f in findings for p in f.points if p.verdict is Verdict.MISSING]
    if missing:
        total = sum(len(finding.points) for finding in findings)
        parts.append([f"{len(missing)} of {total} points missing"])
    return parts


def failed_cases(findings: Sequence[Finding]) -> tuple[int, int]:
    """Count the cases that failed on either side, and all that were planned on both."""
    points = [point for finding in findings for point in finding.points]
    every = {point.place.case for point in points if point.verdict is not Verdict.DOES_NOT_FIT}
    failed = {point.place.case for point in points if point.verdict is Verdict.FAILED}
    return len(failed), len(every)


def _unchanged(compared: Sequence[Finding], margin: float, *, whole: bool) -> _Clause:
    """Say what is known where nothing certainly changed."""
    same = [finding for finding in compared if finding.verdict is Verdict.EQUIVALENT]
    few = [finding for finding in compared if undecided_yet(finding)]
    if len(same) == len(compared):
        return [Amount(f"no difference above {percent(margin)}"), "" if whole else " in the rest"]
    if len(few) == len(compared):
        return [f"not decided yet: {launches_words(few)}"]
    points = [point for finding in compared for point in finding.compared]
    equal = sum(point.verdict is Verdict.EQUIVALENT for point in points)
    text = f"cannot tell at {len(points) - equal} of {len(points)} points"
    if not equal:
        text = f"cannot tell at any of {len(points)} points" if len(points) > 1 else "cannot tell"
    text += f", {equal} equal within {percent(margin)}" if equal else ""
    return [f"{text}; not decided yet: {launches_words(few)}" if few else text]


def undecided_yet(finding: Finding) -> bool:
    """Tell whether what it cannot tell has too few launches for any verdict."""
    open_points = finding.of(Verdict.INCONCLUSIVE)
    return (
        bool(open_points)
        and not finding.exact
        and min(point.n_both for point in open_points) < MIN_LAUNCHES
    )


def launches_words(findings: Sequence[Finding]) -> str:
    """Say how many launches there are of those that a verdict needs: ``1 of 6 launches``."""
    counts = {p.n_both for finding in findings for p in finding.of(Verdict.INCONCLUSIVE)}
    few = sorted(count for count in counts if count < MIN_LAUNCHES)
    several = f" to {few[-1]}" if len(few) > 1 else ""
    return f"{few[0]}{several} of {MIN_LAUNCHES} launches"


def _refused(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Give the layers that are not comparable by the reason; several layouts are one reason.

    Which layouts they are stands in the matrix.
    """
    unlike = [finding for finding in findings if finding.verdict is Verdict.NOT_COMPARABLE]
    layouts = {finding.reason for finding in unlike} - {EMULATED}
    several = len(layouts) > 1 or any("; " in layout for layout in layouts)
    there = {finding.layer for finding in findings if finding.compared}
    found: dict[str, list[str]] = {}
    for finding in unlike:
        name = layer_name(finding.layer)
        part = f"part of {name}" if finding.layer in there else name
        reason = _OTHER_LAYOUTS if several and finding.reason in layouts else finding.reason
        found.setdefault(reason, []).append(part)
    return found


def _disturbed(findings: Sequence[Finding]) -> list[str]:
    """Say what disturbed so many trials that all figures are in doubt; not those of a model."""
    compared = [finding for finding in findings if finding.compared and not finding.exact]
    told = []
    for code, text in _DISTURBANCES.items():
        shares = [
            max((caveat.share for caveat in finding.caveats if caveat.code == code), default=0.0)
            for finding in compared
        ]
        if shares and sum(shares) / len(shares) > _DISTURBED_SHARE:
            told.append(text)
    return told


def _simulated(findings: Sequence[Finding], platforms: Sequence[str], baseline: str) -> _Clause:
    """Name the platforms whose time is simulated: it must never pass for a measured one."""
    found: dict[str, None] = {}
    for finding in findings:
        own = finding.exact or "simulated" in codes(finding.own_caveats)
        if own:
            found[finding.platform] = None
        if finding.exact or (not own and "simulated" in codes(finding.caveats)):
            found[baseline] = None
    names = [name for name in (baseline, *platforms) if name in found]
    if not names:
        return []
    if len(names) == len(platforms) + 1:
        return ["; all of it simulated"]
    return ["; simulated: ", *joined([[Platform(name)] for name in names])]


def layer_name(layer: Layer) -> str:
    """Name a layer within a sentence."""
    words = layer.words
    return words if words.isupper() or " " in words else words.lower()
