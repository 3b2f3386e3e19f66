"""The method of a run: order of the trials, statistics, costs, seeds and versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from bareline.analysis.words.error_rates import control_text
from bareline.report.blocks import Block, Note, Prose, Rows, Section, Table
from bareline.report.content.document import Document, study_title
from bareline.store.run import Run
from bareline.vocabulary.facts import money
from bareline.vocabulary.units import HOUR_S, count, joined, listing, percent, significant

#: A smaller number of core hours is less than a minute of one core.
_LEAST_CORE_HOURS = 1 / 60


def method(document: Document) -> Iterator[Block]:
    """Yield the blocks that describe how the run measured and compared, and its tools."""
    runs = document.records.runs
    margin = f"±{percent(document.margin)}"
    promise = f" {document.glance.promise}" if document.glance else ""
    yield Prose((
        "One trial is one launch of one benchmark; its thousands of inner iterations count as "
        f"n = 1. {_order_words(document)}",
        "A value is the median over trials with the exact order-statistic interval, which needs "
        "six trials. A ratio is the Hodges–Lehmann estimate on logarithms, with the interval from "
        "inverting Wilcoxon's signed-rank test; above 1 is always worse than "
        f"{document.baseline}, whatever the metric's direction. “Equivalent” means that the whole "
        f"interval is within {margin}.{promise}",
    ))  # fmt: skip
    yield _method_table(document, margin)
    if len(runs) > 1:
        yield Section("Runs", (_runs(runs),))
    folder = ", ".join(str(run.path) for run in runs)
    yield Note(f"The run directory `{folder}` has everything, with the raw output of every trial.")


def _order_words(document: Document) -> str:
    """Describe the order of the trials."""
    header = document.records.runs[0].header
    if header.imported:
        return "The results were imported: in which order they were measured is not known."
    blocks = count(_blocks(document), "block")
    return (
        f"Trials ran in {blocks}: each has every case on every "
        f"platform once, cases in random order (seed {header.seed}) and the platforms of a case "
        "next to each other, so that a drift of the machine hits them alike. Platforms are "
        "compared block by block."
    )


def _blocks(document: Document) -> int:
    return document.records.trials.select("run", "block").n_unique()


def _method_table(document: Document, margin: str) -> Table:
    """Tabulate the numbers of trials, the study's settings and the versions of the tools."""
    header = document.records.runs[0].header
    all_trials = document.records.trials
    trials = str(all_trials.height)
    failed = all_trials.filter(pl.col("status") == "failed").height
    if failed:
        trials += f", {failed} failed"
    rows: Mapping[str, object] = {
        "trials": trials,
        "blocks": _blocks(document),
        "seed": header.seed,
        "margin": margin,
        **_details(document),
        "configuration": header.config_hash,
        **header.versions,
    }
    filled = [(name, str(value)) for name, value in rows.items() if value != ""]
    table = Rows(filled).text("", lambda row: row[0])
    table.text("", lambda row: row[1], wrap=True)
    return table.table(look="plain", label="Method")


def _details(document: Document) -> dict[str, str]:
    """Return the study's settings by their names; "" for a setting that does not apply."""
    records = document.records
    study: Mapping[str, Any] = records.study
    costs: list[str] = []
    moves: list[str] = []
    for run in records.runs:
        costs += cost_texts(run)
        moves += [session.moved for session in run.sessions().values()]
    core_hours = listing(costs) if costs else ""
    budget_s = study.get("budget_s")
    time_budget = f"{budget_s:g} s" if budget_s else ""
    precision = study.get("precision")
    half_width = f"{precision:.1%} of the median" if precision else ""
    controls = [control_text(control) for control in document.comparison.controls]
    return {
        "study": str(study.get("name", "")),
        "core hours used": core_hours,
        "time budget": time_budget,
        "target half-width of an interval": half_width,
        "negative control": listing(controls),
        "measured on several machines": joined(*moves, by="; "),
        "other defaults": "; ".join(records.unlike_defaults),
        f"changed by scale {study.get('scale')}": "; ".join(study.get("scale_changes") or ()),
    }


def _runs(runs: Sequence[Run]) -> Table:
    rows = Rows(runs).text("run", lambda run: run.path.resolve().name)
    rows.text("begun (UTC)", lambda run: run.header.created[:16].replace("T", " "))
    rows.text("study", lambda run: study_title(run.header.study.get("study", {})))
    rows.text("platforms", lambda run: ", ".join(run.header.platforms), wrap=True)
    rows.text("seed", lambda run: str(run.header.seed))
    rows.text("configuration", lambda run: run.header.config_hash)
    rows.text("versions", _versions, wrap=True)
    return rows.table(look="plain", label="Runs")


def _versions(run: Run) -> str:
    """Name the tools of a run with their versions."""
    return ", ".join(f"{name} {version}" for name, version in run.header.versions.items())


def cost_texts(run: Run) -> list[str]:
    """Return the core hours of each platform and their price, if the platform has a price.

    The list is empty if the run took less than one core minute.
    """
    core_hours = {name: core_s / HOUR_S for name, core_s in (run.cost() or {}).items()}
    if sum(core_hours.values()) < _LEAST_CORE_HOURS:
        return []
    texts: list[str] = []
    for name, hours in core_hours.items():
        texts.append(f"{name} {significant(hours)}{_paid(run, name, hours)}")
    return texts


def _paid(run: Run, name: str, core_hours: float) -> str:
    """Return the price of core hours in brackets; "" if the platform has no price."""
    facts = run.facts().get(name, {})
    cost, currency = money(facts, core_hours) or (None, "")
    if cost is None:
        return ""
    price = f"{significant(cost)} {currency}".removesuffix(" ")
    return f" (cost {price})"
