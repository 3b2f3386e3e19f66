"""From the records of a run to the document that is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.promise import control_texts
from bareline.predict.predictions import Predictions, read_predictions_of
from bareline.report.content.document import Document, Fact, Method, PlatformInfo, RunInfo
from bareline.report.content.facts import table
from bareline.report.content.profiles import profile_lines
from bareline.report.content.published import published_points
from bareline.store.cost import money
from bareline.store.run import Run
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.facts import FACT_KEYS, Kind
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.texts import shown_name
from bareline.vocabulary.units import HOUR_S, count, listing, significant

#: Less is a minute of one core.
_LEAST_CORE_HOURS = 1 / 60


def document_of(comparison: Comparison, *, fact_rows: Sequence[Fact] | None = None) -> Document:
    """Gather all that a report of a comparison shows; one platform alone is shown by itself.

    - `fact_rows`: the platforms' characteristics, one value per platform in the order of
      ``records.platforms``; read from the runs without it.
    """
    records = comparison.records
    header = records.runs[0].header
    predictions, undrawn = _predictions(records)
    facts = {name: records.facts.get(name, {}) for name in records.platforms}
    study = records.study
    return Document(
        comparison=comparison,
        title=_title(records.platforms, comparison.baseline),
        subtitle=_subtitle(records),
        study_title=_study_title(study),
        study_description=study.get("description", ""),
        platforms=[_platform(records, name) for name in records.platforms],
        fact_rows=fact_lines(facts) if fact_rows is None else fact_rows,
        exhibits=[_exhibit(table) for table in header.study.get("exhibit", [])],
        method=_method(records, study, comparison),
        published=list(published_points(header.study.get("role", {}))),
        roles=header.roles,
        runs=[_run_info(run) for run in records.runs],
        folder=", ".join(str(run.path) for run in records.runs),
        events=[
            f"{event.time} {event.platform}: {event.event}"
            for run in records.runs
            for event in run.events()
        ],
        profiles=profile_lines(records),
        predictions=predictions,
        undrawn=undrawn,
    )


def _predictions(records: Records) -> tuple[Predictions | None, list[str]]:
    """Give the first predictions of the runs, and which cannot be drawn, and why."""
    kept: Predictions | None = None
    undrawn: list[str] = []
    for run in records.runs:
        try:
            found = read_predictions_of(run.read_predictions(), run.path)
        except StoreError as error:
            undrawn.append(f"predictions: {error}")
            continue
        unknown = sorted(found.platforms - set(records.platforms)) if found else []
        if unknown:
            undrawn.append(f"predictions of {run.path}: no platform '{shown_name(unknown[0])}'")
        else:
            kept = kept or found
    return kept, undrawn


@dataclass(frozen=True, slots=True)
class FactLine:
    """A characteristic as the page shows it."""

    group: str
    label: str
    values: Sequence[str]
    equal: bool
    detail: bool = False


def fact_lines(facts: Mapping[str, Mapping[str, Scalar]]) -> list[FactLine]:
    """Put facts side by side; identities and volatile readings say nothing about a platform."""
    return [
        FactLine(
            row.fact.group.value,
            row.fact.label,
            [row.texts[name] for name in facts],
            not row.differs,
            # What no table of facts knows, a platform told of itself.
            row.fact.detail or row.fact.key not in FACT_KEYS,
        )
        for row in table(facts)
        if row.differs or (row.fact.kind is Kind.CHARACTERISTIC and not row.fact.detail)
    ]


def facts_by_machine(run: Run) -> dict[str, dict[str, Scalar]]:
    """Give the facts of each platform, and of a run on several machines of each of them."""
    machines = sorted({session.machine for session in run.sessions().values()})
    if len(machines) < 2:
        return run.facts()
    return {
        f"{name} on machine {machine}": facts
        for machine in machines
        for name, facts in run.facts(machine).items()
    }


def cost_texts(run: Run) -> list[str]:
    """Give the core hours of each platform of a run, and their price where it has one.

    Nothing where they are not worth a word.
    """
    hours = {name: core_s / HOUR_S for name, core_s in (run.cost() or {}).items()}
    if sum(hours.values()) < _LEAST_CORE_HOURS:
        return []
    return [f"{name} {significant(each)}{_paid(run, name, each)}" for name, each in hours.items()]


def _paid(run: Run, name: str, core_hours: float) -> str:
    cost, currency = money(run.facts().get(name, {}), core_hours) or (None, "")
    return "" if cost is None else f" (cost {significant(cost)} {currency})".replace(" )", ")")


def _exhibit(table: Mapping[str, Any]) -> ExhibitSpec:
    return ExhibitSpec(**{**table, "title": shown_name(table.get("title", ""))})


def _study_title(study: Mapping[str, Any]) -> str:
    title = shown_name(str(study.get("title") or study.get("name", "")))
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
            return PlatformInfo(
                name,
                shown_name(str(table.get("title", ""))),
                str(table.get("type", "")),
                run.header.calibration(name.partition("@")[0]),
            )
    return PlatformInfo(name)


def _run_info(run: Run) -> RunInfo:
    header = run.header
    return RunInfo(
        name=run.path.resolve().name,
        begun=header.created[:16].replace("T", " "),
        study=_study_title(header.study.get("study", {})),
        platforms=list(header.platforms),
        seed=header.seed,
        config_hash=header.config_hash,
        versions=header.versions,
    )


def _method(records: Records, study: Mapping[str, Any], comparison: Comparison) -> Method:
    header = records.runs[0].header
    trials = records.trials
    details = {"study": str(study.get("name", ""))}
    costs = [text for run in records.runs for text in cost_texts(run)]
    if costs:
        details["core hours used"] = listing(costs)
    if study.get("budget_s"):
        details["time budget"] = f"{study['budget_s']:g} s"
    if study.get("precision"):
        details["target half-width of an interval"] = f"{study['precision']:.1%} of the median"
    if comparison.controls:
        details["negative control"] = control_texts(comparison.controls)
    moves = [session.moved for run in records.runs for session in run.sessions().values()]
    if any(moves):
        details["measured on several machines"] = "; ".join(filter(None, moves))
    if records.unlike_defaults:
        details["other defaults"] = "; ".join(records.unlike_defaults)
    if study.get("scale_changes"):
        details[f"changed by scale {study['scale']}"] = "; ".join(study["scale_changes"])
    return Method(
        seed=header.seed,
        trials=trials.height,
        failed=trials.filter(pl.col("status") == "failed").height,
        blocks=trials.select("run", "block").n_unique(),
        margin=comparison.margin,
        imported=header.imported,
        config_hash=header.config_hash,
        versions=header.versions,
        details=details,
    )
