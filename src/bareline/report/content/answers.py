"""The published claims that the rows of a run can confirm or refute."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bareline.analysis.judgements.wording import ClaimStatus
from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import publications
from bareline.published.findings import ClaimCheck
from bareline.published.model import PublishedStudy
from bareline.published.ratios import published_ratios
from bareline.report.content.claims import casts_of, claims_in
from bareline.vocabulary.units import listing

_UNJUDGED = (ClaimStatus.NOT_MEASURED, ClaimStatus.GIVEN)


def judged_claims(
    roles: Mapping[str, Mapping[str, Any]], rows: Sequence[Row], baseline: str
) -> frozenset[int]:
    """Return the numbers of the published claims that can be judged with the given rows.

    The claims are numbered in an order that depends only on `roles`.
    """
    here = {baseline, *(row.platform for row in rows)}
    casts = casts_of(roles, here)
    measured = [row for row in rows if row.ratio is not None]

    def trials(platform: str, check: ClaimCheck) -> Sequence[Sequence[float]]:
        """Return a list with one made-up trial if the run measures the metric of `check`; else [].

        The value does not matter: with any value the claim is judged.
        """
        is_measured = any(
            row.place.metric == check.metric
            and row.place.probe in check.probe
            and platform in (row.platform, baseline)
            for row in measured
        )
        return [[1.0]] if is_measured else []

    claims = claims_in(rows, casts, baseline=baseline, margin=0.0, trials=trials).rows
    return frozenset(number for number, row in enumerate(claims) if row.status not in _UNJUDGED)


def claimed_metrics(ids: Collection[str]) -> frozenset[str]:
    """Return the metrics that the claims of the given publications are about."""
    metrics: set[str] = set()
    for study in _studies(ids):
        for finding in study.findings:
            metrics |= {check.metric for check in finding.checks}
        metrics |= {ratio.probe_metric for ratio in published_ratios(study) if ratio.probe_metric}
    return frozenset(metrics)


def names_of(ids: Collection[str]) -> str:
    """Return the short names of the given publications, as a list in words."""
    return listing([study.publication.short for study in _studies(ids)])


def _studies(ids: Collection[str]) -> list[PublishedStudy]:
    """Return the publications with the given ids, except ids that this version does not know."""
    return [publications()[name] for name in ids if name in publications()]
