"""A sentence about the number of launches that a comparison needs, given its number of rows."""

from __future__ import annotations

from bareline.analysis.numbers.power import DIFFERENCE, LaunchNeed, launch_need
from bareline.analysis.numbers.records import Records
from bareline.vocabulary.units import count, percent


def launches_words(records: Records) -> str:
    """Return how many launches would show a difference of 5 % as certain; empty if not known."""
    need = launch_need(records)
    if need is None:
        return ""
    return _words(need)


def missing_launches(records: Records) -> str:
    """Return `launches_words` if the records have fewer launches; empty if they have enough."""
    need = launch_need(records)
    if need is None or need.measured >= need.launches:
        return ""
    return _words(need)


def _words(need: LaunchNeed) -> str:
    vary = "vary"
    if need.rows == 1:
        vary = "varies"
    return (
        f"{count(need.rows, 'row')} {vary} by {percent(need.spread, 2)} between launches (median): "
        f"to show a difference of {percent(DIFFERENCE)} in one row as certain takes about "
        f"{count(need.launches, 'launch', 'launches')} of each side; the median row has "
        f"{need.measured}"
    )
