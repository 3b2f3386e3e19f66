"""A history in words: changes with their runs, the present state, and the excluded runs."""

from __future__ import annotations

from collections.abc import Iterator

from bareline.analysis.judgements.present import ChangePoint, Present
from bareline.analysis.judgements.trend import Trend, TrendSeries
from bareline.analysis.numbers.row import with_interval
from bareline.stats import MIN_RUNS, Course, alpha_of_look
from bareline.vocabulary.units import count, listing, percent, significant
from bareline.vocabulary.verdicts import Grade, Verdict

_NAMED = 5

_WAYS = {Verdict.SLOWER: "worse", Verdict.FASTER: "better"}
#: The words for the course of a series.
COURSES = {
    Course.FEW: "too few runs",
    Course.NOTHING: "nothing found",
    Course.STABLE: "stable",
    Course.DRIFTING: "drifting",
    Course.STEPPED: "changed",
}


def change_words(trend: Trend, change: ChangePoint) -> str:
    """Return a change in words: ``worse since 2026-02-07 (night-06), ratio 1.2 [1.1, 1.3]``."""
    way = _WAYS[change.verdict]
    sure = ""
    if change.grade is Grade.LIKELY:
        sure = "likely "
    amount = with_interval(change.ratio, write=significant)
    run = run_words(trend, change.at)
    position = _position(trend, change)
    words = f"{sure}{way} since {run}{position}"
    words += f", ratio {amount}"
    if change.accepted is not None:
        words += f"; accepted: {change.accepted.reason}"
    return words


def run_words(trend: Trend, number: int) -> str:
    """Return the day and the name of a run: ``2026-02-07 (night-06)``."""
    day = trend.dates[number].day
    return f"{day} ({trend.runs[number].name})"


def _position(trend: Trend, change: ChangePoint) -> str:
    """Return the range of runs in which the new level may begin; empty if this is a single run."""
    if change.first == change.last:
        return ""
    first = trend.runs[change.first].name
    last = trend.runs[change.last].name
    return f", between {first} and {last}"


def present_words(trend: Trend, present: Present) -> str:
    """Compare the present level in words: ``ratio 1.2 [1.1, 1.3] to the level at night-05``."""
    amount = with_interval(present.ratio, write=significant)
    since = run_words(trend, present.change.at)
    reference = trend.runs[present.reference].name
    return f"ratio {amount} to the level at {reference}, since {since}"


def drift_words(series: TrendSeries) -> str:
    """Return the change per run of a drifting series, in words."""
    if series.slope is None:
        return ""
    slope = series.slope
    ends = ""
    if slope.lo is not None and slope.hi is not None:
        lo = _signed(slope.lo)
        hi = _signed(slope.hi)
        ends = f" [{lo}, {hi}]"
    steps = ", without a step"
    if series.changes:
        steps = ", between its changes"
    change = _signed(slope.value)
    return f"drifts by {change}{ends} per run (+ is worse){steps}"


def _signed(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.2g} %"


def undated_words(trend: Trend) -> str:
    """Return which runs are dated by timestamps of imported files; empty without any such run."""
    names = trend.dated_by_files
    if not names:
        return ""
    if len(names) <= _NAMED:
        listed = listing(names[:_NAMED])
    else:
        listed = f"{len(names)} runs"
    return (
        f"The outputs of {listed} give no date: the order is that of their files' times, which "
        "copying may change; `bareline import --date` gives the date of the measurement."
    )


def incomplete_words(trend: Trend) -> Iterator[str]:
    """Yield a sentence with the reason for each excluded run; further runs are only counted."""
    incomplete = trend.history.incomplete
    for run in incomplete[:_NAMED]:
        yield f"left out: {run.path}: {run.why}"
    if len(incomplete) > _NAMED:
        rest = count(len(incomplete) - _NAMED, "more run")
        yield f"left out: {rest}"


def promise_words(trend: Trend) -> str:
    """Return the meaning of "likely" and "certain" in a history with this number of runs."""
    alpha = alpha_of_look(len(trend.runs))
    if not alpha:
        return f"nothing is certain before ten runs, or likely before {MIN_RUNS}"
    return (
        "likely: at most 1 in 20 checks that report a change is wrong; "
        f"certain: p below {percent(alpha, 2)} in this check, so that at most 1 in 10 "
        "histories that are checked after every run has a wrong one"
    )
