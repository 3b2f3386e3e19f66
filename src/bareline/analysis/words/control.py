"""What the negative control says: how often the baseline differs from itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bareline.analysis.judgements.control import Control
from bareline.analysis.words.parts import percent
from bareline.analysis.words.remarks import layer_name
from bareline.vocabulary.units import listing, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: From so many times on a difference is said in times instead of per cent.
_TIMES_FROM = 1.5


def control_text(control: Control) -> str:
    """Say how often the baseline differs from itself, and what that means."""
    who = "the baseline" if control.of_baseline else control.platform
    if not control.tested:
        return f"{who} against itself: not decided, below {MIN_LAUNCHES} launches"
    rows = f"{control.differ} of {control.tested} rows"
    if control.honest:
        equal = f", {control.equal} are equal within {percent(control.margin)}"
        return f"{who} against itself: {rows} differ{equal if control.equal else ''}"
    noun = "claim" if control.claims == 1 else "claims"
    claims = (
        f" and the sentences would make {control.claims} false {noun}" if control.claims else ""
    )
    parts = [
        f"up to {_amount(ratio)} in {layer_name(layer)}" for layer, ratio in control.floors.items()
    ]
    return (
        f"{who} differs from itself in {rows}{claims}: differences of {listing(parts)} here may be "
        "the machine's, not the platform's"
    )


def control_sentence(control: Control) -> str:
    """Give `control_text` as a sentence of its own."""
    return _sentence(control_text(control))


def promised(promise: str, controls: Sequence[Control]) -> str:
    """Put what the control says behind what statistics promise."""
    told = [control_text(control) for control in controls]
    if promise and not all(control.honest for control in controls):
        told[0] = f"that holds for chance alone, and {told[0]}"
    return " ".join([promise, *map(_sentence, told)]).strip()


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _amount(ratio: float) -> str:
    if math.isinf(ratio):
        return "any size"
    if ratio < _TIMES_FROM:
        return f"{significant((ratio - 1) * 100, 2)} %"
    return f"{significant(ratio)} times"


def control_texts(controls: Sequence[Control]) -> str:
    """Say in one line what the controls found."""
    return listing([control_text(control) for control in controls])
