"""Platforms as the steps of a ladder: what each step changes against the one before.

A study with ``ladder = true`` asks for it: an emulated NIC, then a paravirtual one, then jumbo
frames, in the order of the command line. The baseline stands at the end, as what could be reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import polars as pl

from bareline.compare import Records, choose_baseline, compare_platforms
from bareline.conclusions import conclusions
from bareline.explain import (
    Finding,
    Statement,
    findings,
    percent,
    phrase,
    statement_of,
    statements,
    weight,
)
from bareline.stats import Verdict
from bareline.units import listing

_MOST_CLAUSES = 4


def is_ladder(records: Records) -> bool:
    """Tell whether the first run's study calls its platforms steps."""
    return bool(records.runs[0].header.study.get("study", {}).get("ladder"))


def rungs(records: Records, baseline: str | None = None) -> list[str]:
    """Give the platforms in the order of the steps, the baseline last."""
    baseline, others = choose_baseline(records, baseline)
    return [*others, baseline]


def compare_steps(
    records: Records, baseline: str | None = None, *, margin: float | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare every platform with the one before it, and with the first one, point by point.

    Returns
    -------
    from_before, from_first : polars.DataFrame
        Columns as of `bareline.compare.compare_platforms`; "baseline" names the other step. The
        first step has no rows.

    Raises
    ------
    AnalysisError
        The baseline is none of the platforms, or there is nothing else to compare it with.
    """
    order = rungs(records, baseline)
    from_before = pl.concat(
        compare_platforms(records, before, margin=margin, platforms=[name])
        for before, name in pairwise(order)
    )
    return from_before, compare_platforms(records, order[0], margin=margin)


def step_statements(
    records: Records, baseline: str | None = None, *, margin: float | None = None
) -> list[Statement]:
    """Say in one sentence what each step changes; the one to the baseline is the verdict's.

    Nothing unless the study calls its platforms steps.
    """
    if not is_ladder(records):
        return []
    margin = records.margin if margin is None else margin
    told = []
    for before, name in pairwise(rungs(records, baseline)[:-1]):
        group = findings(records, before, margin=margin, platforms=[name])
        if group:
            told.append(_sentence(before, name, group, margin))
    return told


def all_statements(
    records: Records, baseline: str | None = None, *, margin: float | None = None
) -> list[Statement]:
    """Give the verdict, layer by layer, the steps, if the platforms are some, and conclusions.

    One platform alone has no verdict; what its figures mean together is then everything.

    Raises
    ------
    AnalysisError
        The baseline is none of the platforms, or there is nothing to say.
    """
    alone = conclusions(records) if len(records.platforms) == 1 else []
    if alone:
        return alone
    return [
        *statements(records, baseline, margin=margin),
        *step_statements(records, baseline, margin=margin),
        *conclusions(records),
    ]


def as_rows(
    records: Records, baseline: str | None = None, *, margin: float | None = None
) -> list[dict[str, Any]]:
    """Give findings and conclusions as plain rows for ``--json``; "kind" tells them apart.

    One platform alone has conclusions only.

    Raises
    ------
    AnalysisError
        The baseline is none of the platforms, or there is nothing to say.
    """
    told = [
        {
            "kind": "conclusion",
            "layer": row.layer,
            "platform": row.platform,
            "text": row.text,
            "value": row.ratio,
            "lo": row.lo,
            "hi": row.hi,
            "n": row.n,
        }
        for row in conclusions(records)
    ]
    if told and len(records.platforms) == 1:
        return told
    found = findings(records, baseline, margin=margin)
    return [*({"kind": "finding", **asdict(row)} for row in found), *told]


def _sentence(before: str, name: str, group: Sequence[Finding], margin: float) -> Statement:
    decided = [part for part in group if part.verdict in {Verdict.SLOWER, Verdict.FASTER}]
    decided.sort(key=weight, reverse=True)
    clauses = [f"{part.subject} is {phrase(part, margin)}" for part in _spread(decided)]
    same = [part.subject for part in group if part.verdict == Verdict.EQUIVALENT]
    if same:
        clauses.append(f"{_are(same)} equal within {percent(margin)}")
    # Nothing compared is not "no difference".
    lacking: dict[str, list[str]] = {}
    for part in group:
        if part.verdict in {"failed", "missing"}:
            lacking.setdefault(phrase(part, margin, baseline=before), []).append(part.subject)
    clauses += [f"{_are(subjects)} {words}" for words, subjects in lacking.items()]
    rest = [part for part in group if part.verdict == Verdict.INCONCLUSIVE]
    if rest:
        clauses.append(f"no difference is shown for {listing(_named(rest, group))}")
    return statement_of(
        decided[0] if decided else max(group, key=weight),
        f"From {before} to {name}: {'; '.join(clauses)}.",
    )


def _are(subjects: Sequence[str]) -> str:
    return f"{listing(subjects)} {'is' if len(subjects) == 1 else 'are'}"


def _named(parts: Sequence[Finding], group: Sequence[Finding]) -> list[str]:
    """Name what findings are about: several size classes by their probe, if these are all."""
    classes = Counter(part.probe for part in group)
    among = Counter(part.probe for part in parts)
    return list(
        dict.fromkeys(
            part.title if classes[part.probe] == among[part.probe] > 1 else part.subject
            for part in parts
        )
    )


def _spread(decided: Sequence[Finding]) -> list[Finding]:
    """Choose the largest changes, each probe before any probe twice, largest first."""
    firsts: dict[str, Finding] = {}
    for part in decided:
        firsts.setdefault(part.probe, part)
    ordered = [*firsts.values(), *(part for part in decided if part not in firsts.values())]
    return sorted(ordered[:_MOST_CLAUSES], key=weight, reverse=True)
