"""From the records of a run to the document that is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bareline.compare import Records, compare_platforms
from bareline.conclusions import conclusions
from bareline.explain import findings
from bareline.facts import Kind, table
from bareline.ladder import all_statements, compare_steps, is_ladder
from bareline.model import Scalar
from bareline.report.document import Document, ExhibitSpec, Fact, Method, PlatformInfo
from bareline.report.profile.trials import profile_lines
from bareline.report.wording import count
from bareline.units import listing


def document_of(
    records: Records,
    *,
    baseline: str | None = None,
    margin: float | None = None,
    fact_rows: Sequence[Fact] | None = None,
) -> Document:
    """Gather all that a report of these records shows.

    Parameters
    ----------
    baseline, margin
        The first run's own without them.
    fact_rows
        The platforms' characteristics, one value per platform in the order of
        ``records.platforms``; read from the runs without it.

    Raises
    ------
    AnalysisError
        The baseline is none of the platforms.
    """
    header = records.runs[0].header
    baseline = records.baseline if baseline is None else baseline
    margin = records.margin if margin is None else margin
    facts = {name: records.facts.get(name, {}) for name in records.platforms}
    names = records.platforms
    alone = len(names) == 1
    baseline = names[0] if alone else baseline
    # First of all, because it refuses a baseline that is none of the platforms.
    comparison = None if alone else compare_platforms(records, baseline, margin=margin)
    from_before = from_first = None
    if not alone and is_ladder(records):
        from_before, from_first = compare_steps(records, baseline, margin=margin)
    study: Mapping[str, Any] = header.study.get("study", {})
    return Document(
        title=_title(names, baseline),
        subtitle=_subtitle(records),
        study_title=_study_title(study),
        study_description=study.get("description", ""),
        baseline=baseline,
        platforms=[_platform(records, name) for name in names],
        statements=conclusions(records)
        if alone
        else all_statements(records, baseline, margin=margin),
        findings=[] if alone else findings(records, baseline, margin=margin),
        samples=records.samples,
        records=records.trials,
        summary=records.summary,
        comparison=comparison,
        from_before=from_before,
        from_first=from_first,
        facts=facts,
        fact_rows=fact_lines(facts) if fact_rows is None else fact_rows,
        exhibits=[_exhibit(table) for table in header.study.get("exhibit", [])],
        method=_method(records, study, margin),
        probe_titles=dict(
            records.declarations.select("probe", "title").unique(maintain_order=True).iter_rows()
        ),
        folder=", ".join(str(run.path) for run in records.runs),
        events=[
            f"{event['time']} {event['platform']}: {event['event']}"
            for run in records.runs
            for event in run.events()
        ],
        profiles=profile_lines(records),
    )


@dataclass(frozen=True, slots=True)
class FactLine:
    """A characteristic as the page shows it."""

    group: str
    label: str
    values: Sequence[str]
    equal: bool


def fact_lines(facts: Mapping[str, Mapping[str, Scalar]]) -> list[FactLine]:
    """Put facts side by side; identities and volatile readings say nothing about a platform."""
    return [
        FactLine(
            row.fact.group.value,
            row.fact.label,
            [row.texts[name] for name in facts],
            not row.differs,
        )
        for row in table(facts)
        if row.differs or (row.fact.kind is Kind.CHARACTERISTIC and not row.fact.detail)
    ]


def _study_title(study: Mapping[str, Any]) -> str:
    title = str(study.get("title") or study.get("name", ""))
    return f"{title}, at scale {study['scale']}" if study.get("scale") else title


def _title(names: Sequence[str], baseline: str) -> str:
    others = [name for name in names if name != baseline]
    return f"{listing(others)} compared with {baseline}" if others else f"{baseline} alone"


def _subtitle(records: Records) -> str:
    dates = sorted(run.header.created for run in records.runs)
    first, last = dates[0][:16].replace("T", " "), dates[-1][:16].replace("T", " ")
    when = first if first == last else f"{first} to {last}"
    names = listing([run.path.resolve().name for run in records.runs])
    return f"{count(len(records.runs), 'run')} ({names}), begun {when} UTC"


def _platform(records: Records, name: str) -> PlatformInfo:
    for run in records.runs:
        table = run.header.platforms.get(name.partition("@")[0])
        if table is not None:
            return PlatformInfo(name, str(table.get("title", "")), str(table.get("type", "")))
    return PlatformInfo(name)


def _exhibit(table: Mapping[str, Any]) -> ExhibitSpec:
    known = ("kind", "title", "caption", "probe", "metric", "x", "where")
    return ExhibitSpec(**{key: table[key] for key in known if key in table})


def _method(records: Records, study: Mapping[str, Any], margin: float) -> Method:
    header = records.runs[0].header
    trials = records.trials
    details = {"study": str(study.get("name", ""))}
    if study.get("budget_s"):
        details["time budget"] = f"{study['budget_s']:g} s"
    if study.get("precision"):
        details["target half-width of an interval"] = f"{study['precision']:.1%} of the median"
    return Method(
        seed=header.seed,
        trials=trials.height,
        failed=trials.filter(pl.col("status") == "failed").height,
        blocks=trials.select("run", "block").n_unique(),
        margin=margin,
        config_hash=header.config_hash,
        versions=header.versions,
        details=details,
    )
