"""A sentence about disturbed trials: their number, their kinds, and whether they were used."""

from __future__ import annotations

from bareline.analysis.numbers.disturbance import Disturbed
from bareline.vocabulary.units import count, listing


def disturbed_words(seen: Disturbed) -> str:
    """Return how many trials were disturbed, by kind of disturbance.

    The result is empty without disturbed trials.
    """
    if not seen.disturbed:
        return ""
    verb = "was" if seen.disturbed == 1 else "were"
    trials = f"{seen.disturbed} of {count(seen.trials, 'trial')} {verb} disturbed"
    if len(seen.kinds) == 1:
        return f"{trials} by {next(iter(seen.kinds))}"
    counts = [f"{number} by {kind}" for kind, number in seen.kinds.items()]
    kinds = listing(counts)
    return f"{trials} ({kinds})"


def exclusion_words(seen: Disturbed) -> str:
    """Return how many trials were disturbed and left out, and why the remaining ones were used."""
    words = disturbed_words(seen)
    if not words:
        return ""
    used = seen.disturbed - seen.left_out
    parts = []
    if seen.left_out:
        parts = [f"{seen.left_out} left out"]
    if used:
        parts.append(
            f"{used} used, since fewer than six launches of their cases are left without them: "
            "intervals are as wide as they spread, and may miss the value of a quiet machine"
        )
    return f"{words}: {'; '.join(parts)}"
