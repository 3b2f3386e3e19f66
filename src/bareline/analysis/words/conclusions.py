"""Conclusions from several values of a platform, in the words of a performance engineer."""

from __future__ import annotations

from collections.abc import Callable

from bareline.analysis.judgements.conclusions import Conclusion, PlatformShare
from bareline.analysis.words.parts import (
    Interval,
    Lead,
    Link,
    Piece,
    PlatformName,
    Sentence,
    joined,
    sentence,
)
from bareline.vocabulary.units import format_size, format_value, percent, significant


def _figure(share: PlatformShare, write: Callable[[float], str] = significant) -> list[Piece]:
    value = share.value
    if value.lo is None or value.hi is None:
        return [write(value.value)]
    lo = write(value.lo)
    hi = write(value.hi)
    return [f"{write(value.value)} ", Interval(lo, hi)]


def _bandwidth(share: PlatformShare) -> list[Piece]:
    alone, each = (format_value(value, "B/s") for value in share.context)
    together = f" of what all cores get together ({each} for each)"
    return [f"{alone}, ", *_in_percent(share), together]


def _translation(share: PlatformShare) -> list[Piece]:
    base = format_value(share.context[0], "s")
    return [*_figure(share), f" times the {base} with 2 MiB pages"]


def _cached(share: PlatformShare) -> list[Piece]:
    cached, total = share.context
    return [f"{cached:.0f} of {total:.0f} read rates"]


def _in_percent(share: PlatformShare) -> list[Piece]:
    return _figure(share, lambda value: percent(value, 3))


#: By rule: the lead of a sentence, its continuation, and its words for a platform.
_WORDS: dict[str, tuple[str, str, Callable[[PlatformShare], list[Piece]]]] = {
    "share of peak": (
        "Share of peak", "DGEMM reaches, of the peak of one core,", _in_percent,
    ),
    "HPL": (
        "HPL (HPC Challenge) reaches, of the rate of DGEMM alone on as many cores,", "",
        _in_percent,
    ),
    "jitter": (
        "Jitter", "beyond its undisturbed time, equal work takes on average",
        lambda share: [*_in_percent(share), " more"],
    ),
    "bandwidth by core": ("Bandwidth by core", "in triad one core alone gets", _bandwidth),
    "finding a page": (
        "Finding a page", "with 4 KiB pages a load out of {size} takes", _translation,
    ),
    "random updates": (
        "Random updates", "with all cores at once, each keeps of the rate it has alone",
        _in_percent,
    ),
    "cached reads": (
        "Cached reads", "memory instead of the device may have answered for", _cached,
    ),
}  # fmt: skip


def conclusion_sentence(conclusion: Conclusion) -> Sentence:
    """Format a conclusion, with a clause for each platform."""
    lead, rest, words = _WORDS[conclusion.rule]
    size = format_size(conclusion.worst.size_bytes)
    rest = rest.format(size=size)
    clauses: list[list[Piece]] = []
    for share in conclusion.shares:
        clause = [*words(share), " on ", PlatformName(share.platform)]
        if share.emulated:
            clause.append(" (emulated CPU)")
        clauses.append(clause)
    evidence = Link(f"layer-{conclusion.layer.value}", conclusion.n)
    listed = joined(clauses)
    return sentence(Lead(lead), f"{rest} ", *listed, ".", evidence)
