"""Rows of claims about single trials: the number of trials in which an event occurred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from bareline.analysis.judgements.trial_claims import (
    TrialValues,
    judge_proportion,
    proportion_of,
)
from bareline.analysis.words.comparison import Comparison
from bareline.published.findings import ClaimCheck, PublishedFinding
from bareline.published.model import PublishedStudy
from bareline.report.content.claim_rows import ClaimRow
from bareline.stats.proportion import Proportion
from bareline.vocabulary.place import CASE


def trials_in(comparison: Comparison) -> TrialValues:
    """Return a function that returns the values of a platform's trials, in time order."""

    def values(platform: str, check: ClaimCheck) -> list[list[float]]:
        trials: list[list[float]] = []
        for probe in check.probe:
            samples = comparison.records.samples_of(probe).filter(
                (pl.col("platform") == platform) & (pl.col("metric") == check.metric)
            )
            groups = samples.sort("trial").partition_by(*CASE, "point", maintain_order=True)
            trials += [group.get_column("value").to_list() for group in groups]
        return trials

    return values


def with_trials(
    row: ClaimRow,
    study: PublishedStudy,
    finding: PublishedFinding,
    cast: Mapping[str, str],
    trials: TrialValues,
) -> ClaimRow:
    """Return the row of a claim, judged by the first check for which the run has trials.

    - `row`: the row of the claim before it is judged; returned with a reason if the run has no such
      trials.
    """
    for check in finding.checks:
        platform = cast.get(check.platform)
        if platform is None:
            row = replace(row, why=f"no platform here stands for {check.platform}")
            continue
        here = proportion_of(check, trials(platform, check))
        if here is None:
            row = replace(row, why=f"{platform}: no trial of {', '.join(check.probe)}")
            continue
        printed = proportion_of(check, [_listed(study, check)])
        assert printed is not None, "a list of trials has some"
        status = judge_proportion(here, printed)
        return replace(
            row,
            sides=platform,
            printed=_share_words(printed),
            measured=_share_words(here, interval=True),
            status=status,
            verdict=status.value,
            why=_event_words(check),
        )
    return row


def _listed(study: PublishedStudy, check: ClaimCheck) -> list[float]:
    """Return a number for each trial that the document lists.

    It is the trial's value if the check compares values (`below`), otherwise its retransmissions.
    """
    (listed,) = [row for row in study.trials if row.id in check.printed]
    numbers = listed.retransmissions if check.below is None else listed.values
    return [float(number) for number in numbers or ()]


def _share_words(proportion: Proportion, *, interval: bool = False) -> str:
    """Format the number of trials in which the event occurred, e.g. "3 of 20 trials".

    - `interval`: whether the share and its interval are added.
    """
    text = f"{proportion.hits} of {proportion.n} trials"
    if not interval:
        return text
    low, high = proportion.interval()
    return f"{text}, {100 * proportion.share:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def _event_words(check: ClaimCheck) -> str:
    """Describe the event for which a claim counts trials."""
    if check.below is None:
        return f"trials with {check.metric.replace('_', ' ')}"
    return f"trials with less than {100 * check.below:.0f} % of the median {check.metric}"
