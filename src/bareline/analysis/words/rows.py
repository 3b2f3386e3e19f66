"""Summaries, comparisons, findings and causes as plain rows for ``--json``."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import polars as pl

from bareline.analysis.judgements.causes.cause import Cause
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.conclusions import Conclusion
from bareline.analysis.judgements.control import Control
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.grounds import Ground
from bareline.analysis.judgements.suitability import Judgement
from bareline.analysis.numbers.cell import Cell, bounds
from bareline.analysis.words.conclusions import concluded
from bareline.analysis.words.promise import control_text
from bareline.analysis.words.suitability import reason_of, told_of
from bareline.vocabulary.model import parse_point


def as_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Give a summary or comparison as plain rows for ``--json``.

    The parameters of case and point stand together in `params`.
    """
    rows = []
    for row in table.iter_rows(named=True):
        params: dict[str, Any] = {
            "ranks": row.pop("ranks"),
            "threads": row.pop("threads"),
            **parse_point(row.pop("params")),
            **parse_point(row.pop("point", "")),
        }
        nodes = row.pop("nodes")
        if nodes:
            params["nodes"] = nodes
        first = [key for key in ("platform", "baseline", "probe") if key in row]
        rows.append({key: row.pop(key) for key in first} | {"params": params} | row)
    return rows


def finding_row(finding: Finding) -> dict[str, Any]:
    """Give a finding with its worst point's figures beside all points."""
    worst = finding.worst
    return {
        "kind": "finding",
        "layer": finding.layer,
        "probe": finding.probe,
        "platform": finding.platform,
        "baseline": finding.baseline,
        "title": finding.title,
        "subject": finding.subject,
        "nodes": finding.nodes,
        "rate": finding.rate,
        "verdict": finding.verdict,
        "grade": finding.grade,
        "worst": finding.label(worst) if worst else None,
        **bounds(finding.ratio),
        "mean": {**bounds(finding.mean_ratio), "verdict": finding.mean.verdict}
        if finding.mean
        else None,
        "by_mean": finding.by_mean,
        "n": finding.n,
        "reason": finding.reason,
        "caveats": [str(caveat) for caveat in finding.caveats],
        "points": [_point_row(finding, point) for point in finding.points],
    }


def _point_row(finding: Finding, point: Cell) -> dict[str, Any]:
    apart = point.difference
    return {
        "label": finding.label(point),
        **bounds(point.ratio),
        "difference": apart.value if apart else None,
        "difference_lo": apart.lo if apart else None,
        "difference_hi": apart.hi if apart else None,
        "value_baseline": point.base.value if point.base else None,
        "unit": point.metric.unit,
        "n": point.n_both,
        "verdict": point.verdict,
        "grade": point.grade,
        "exact": point.exact,
    }


def explanation_row(found: Explanation) -> dict[str, Any]:
    """Give what explains a loss: measured, explained and residual with their bounds."""
    finding, point = found.finding, found.point
    explained, residual = found.explained, found.residual
    return {
        "kind": "cause",
        "layer": finding.layer,
        "probe": finding.probe,
        "platform": finding.platform,
        "baseline": finding.baseline,
        "subject": finding.subject,
        "point": finding.label(point),
        "known": found.known,
        "measured": bounds(point.ratio),
        "explained": {"lo": explained[0], "hi": explained[1]} if found.known else None,
        "residual": {"lo": residual[0], "hi": residual[1]} if found.known else None,
        "word": found.word,
        "causes": [_cause_row(found, cause) for cause in found.causes],
        "text": found.text,
    }


def _cause_row(found: Explanation, cause: Cause) -> dict[str, Any]:
    return {
        "name": cause.name,
        "word": found.word_of(cause),
        "words": cause.text,
        "lo": cause.lo,
        "hi": cause.hi,
        "measurement": cause.measurement,
        "withdrawn": cause.withdrawn,
    }


def conclusion_row(conclusion: Conclusion) -> dict[str, Any]:
    """Give what figures mean together, with the platform where it is largest."""
    worst = conclusion.worst
    return {
        "kind": "conclusion",
        "layer": conclusion.layer,
        "platform": worst.platform,
        "text": concluded(conclusion).text,
        "value": worst.value.value,
        "lo": worst.value.lo,
        "hi": worst.value.hi,
        "n": conclusion.n,
    }


def control_row(control: Control) -> dict[str, Any]:
    """Give what came of comparing the baseline with itself."""
    floors = {
        layer.value: ratio if math.isfinite(ratio) else None
        for layer, ratio in control.floors.items()
    }
    return {"kind": "control", **asdict(control), "floors": floors, "text": control_text(control)}


def judgement_row(judgement: Judgement) -> dict[str, Any]:
    """Give what a platform means for a class of applications."""
    return {
        "kind": "suitability",
        "class": judgement.application_class.name,
        "title": judgement.application_class.title,
        "platform": judgement.platform,
        "baseline": judgement.baseline,
        "answer": judgement.answer.value,
        "certainty": judgement.certainty.value,
        "reason": reason_of(judgement),
        "caveats": [str(caveat) for caveat in judgement.caveats],
        "grounds": [_ground_row(ground) for ground in judgement.grounds],
        "voided": [_ground_row(ground) for ground in judgement.voided],
    }


def _ground_row(ground: Ground) -> dict[str, Any]:
    return {
        "subject": ground.subject,
        "lo": ground.lo,
        "hi": ground.hi,
        "text": told_of(ground),
        "n": ground.n,
        "caveats": [str(caveat) for caveat in ground.caveats],
        "source": ground.source,
        "probe": ground.probe,
    }
