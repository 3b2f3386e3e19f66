"""Describe the error rates of a page, according to its tests and according to its controls."""

from __future__ import annotations

from collections.abc import Sequence

from bareline import stats
from bareline.analysis.judgements.control import Control
from bareline.analysis.judgements.grades import GradedRows
from bareline.analysis.numbers.looks import Looks
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.words.parts import capital
from bareline.vocabulary.units import listing, percent, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: From this ratio on, a difference is written in times instead of per cent.
_TIMES_FROM = 1.5


def control_text(control: Control) -> str:
    """Describe how many rows differ between two measurements of a platform, and by how much."""
    who = "the baseline"
    if not control.of_baseline:
        who = control.platform
    if not control.tested:
        return f"{who} against itself: not decided, below {MIN_LAUNCHES} launches"
    rows = f"{control.differ} of {control.tested} rows"
    if control.honest:
        text = f"{who} against itself: {rows} differ"
        if control.equal:
            margin = percent(control.margin)
            text += f", {control.equal} are equal within {margin}"
        return text
    noun = "claims"
    if control.claims == 1:
        noun = "claim"
    if control.claims:
        rows += f" and the sentences would make {control.claims} false {noun}"
    amount = f"{significant(control.floor)} times"
    if control.floor < _TIMES_FROM:
        amount = percent(control.floor - 1, 2)
    return (
        f"{who} differs from itself in {rows}: differences up to {amount} here may be the "
        "machine's, not the platform's"
    )


def control_sentence(control: Control) -> str:
    """Return `control_text` as a separate sentence."""
    return _sentence(control_text(control))


def _sentence(text: str) -> str:
    return f"{capital(text)}."


def promise(
    judged: GradedRows, pairs: Sequence[PlatformPair], rows: int, controls: Sequence[Control] = ()
) -> str:
    """Describe how certain a verdict is, from the number of tests and from the controls."""
    certainty = _promise(judged, pairs, rows)
    controlled = [control_text(control) for control in controls]
    if certainty and not all(control.honest for control in controls):
        controlled[0] = f"these rates are for chance alone, and {controlled[0]}"
    return " ".join([certainty, *map(_sentence, controlled)]).strip()


def _promise(judged: GradedRows, pairs: Sequence[PlatformPair], rows: int) -> str:
    exact = []
    for pair in pairs:
        if pair.exact:
            exact.append(pair.platform)
    apart = ""
    if exact:
        apart = (
            f"The values of {listing(exact)} follow from the models and their inputs: "
            "simulated values are exact, so that no statistical test applies to them."
        )
    if not judged.tests and not rows:
        return apart
    exchanged = judged.exchanged
    text = (
        f"With {percent(1 - stats.ALPHA)} confidence, all differences called certain are true "
        f"at once{_tests(judged, pairs)} "
        f"At most {percent(stats.ALPHA)} of the likely differences are expected to be wrong "
        f"(false discovery rate over {rows} points). "
        f"An 'equal' is wrong with a probability of at most 2.5 %.{_looks(judged.looks)}"
    )
    if judged.short:
        text += (
            f" Nothing can be certain on {listing(judged.short)} from {exchanged} {_unit(pairs)}: "
            f"{judged.needed} could decide."
        )
    text += _separate(pairs)
    few_boots = []
    for pair in pairs:
        if pair.boots.few:
            few_boots.append(pair.platform)
    if few_boots:
        text += f" The differences on {listing(few_boots)} are those of the measured boots only."
    if apart:
        return f"{text} {apart}"
    return text


def _tests(judged: GradedRows, pairs: Sequence[PlatformPair]) -> str:
    """Describe the tests that "certain" covers together, and the unit that they exchange."""
    tested = f"{judged.tests} points and means"
    if not judged.exchanged:
        return f" ({tested}; no permutation test is possible)."
    unit = _unit(pairs)
    text = (
        f": a permutation test swaps the platforms' names in {judged.exchanged} {unit}, in "
        f"{_exchanges(judged.exchanged)}, for {tested}."
    )
    if "boots" in unit:
        return f"{text} A boot is one start of a platform, with all launches until its end."
    return text


def _separate(pairs: Sequence[PlatformPair]) -> str:
    """Describe how large a difference must be to be certain if two platforms share no blocks."""
    separate = []
    for pair in pairs:
        if not (pair.paired or pair.exact):
            separate.append(pair.platform)
    if not separate:
        return ""
    return (
        f" Without common blocks ({listing(separate)}) only a difference of more than "
        f"{stats.APART_SPREADS:g} times the spread of launches is certain."
    )


def _looks(looks: Looks) -> str:
    """Describe the planned interim analyses (looks), and whether the run has just reached one."""
    if not looks.planned:
        return ""
    percentages = [f"{100 * share:.2g}" for share in looks.spending]
    spent = listing(percentages)
    text = (
        f" Interim analyses (looks) were planned after "
        f"{listing([str(look) for look in looks.planned])} blocks, with {spent} % error."
    )
    if not looks.reached:
        so_far = f"{looks.measured} complete blocks reach none of them"
        return f"{text} {so_far}, so nothing is certain yet."
    last = looks.planned[looks.reached - 1]
    if looks.measured > last:
        return f"{text} Blocks after the look at {last} can make a difference likely, not certain."
    return text


def _exchanges(exchanged: int) -> str:
    if exchanged <= stats.ALL_FLIPS_BLOCKS:
        return f"all {2**exchanged} ways"
    return "4096 random ways"


def _unit(pairs: Sequence[PlatformPair]) -> str:
    """Name the units that the permutation test exchanges: ``blocks``, or ``blocks or boots``."""
    units = []
    for pair in pairs:
        if not pair.exact:
            units.append(_unit_of(pair))
    return " or ".join(dict.fromkeys(units))


def _unit_of(pair: PlatformPair) -> str:
    if not pair.paired:
        return "pairs of launches"
    if pair.boots.count is None or pair.boots.few:
        return "blocks"
    return "boots"
