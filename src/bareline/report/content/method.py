"""How a run was done: order of the trials, statistics, costs, seeds and versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from bareline.analysis.words.promise import control_text
from bareline.report.blocks import Block, Note, Prose, Rows, Section, Table
from bareline.report.content.document import Document, study_title
from bareline.store.run import Run
from bareline.vocabulary.facts import money
from bareline.vocabulary.units import HOUR_S, count, listing, percent, significant

#: Less is a minute of one core.
_LEAST_CORE_HOURS = 1 / 60


def method(document: Document) -> Iterator[Block]:
    """Describe the method of measuring and comparing, and the tools."""
    runs, trials = document.records.runs, document.records.trials
    header, blocks = runs[0].header, trials.select("run", "block").n_unique()
    order = (
        "The results were imported: in which order they were measured is not known."
        if header.imported
        else f"Trials ran in {count(blocks, 'block')}: each has every case on every "
        f"platform once, cases in random order (seed {header.seed}) and the platforms of a case "
        "next to each other, so that a drift of the machine hits them alike. Platforms are "
        "compared block by block."
    )
    promise = f" {document.glance.promise}" if document.glance else ""
    margin = f"±{percent(document.margin)}"
    yield Prose((
        "One trial is one launch of one benchmark; its thousands of inner iterations count as "
        f"n = 1. {order}",
        "A value is the median over trials with the exact order-statistic interval, which needs "
        "six trials. A ratio is the Hodges–Lehmann estimate on logarithms, with the interval from "
        "inverting Wilcoxon's signed-rank test; above 1 is always worse than "
        f"{document.baseline}, whatever the metric's direction. “Equivalent” means that the whole "
        f"interval lies within {margin}.{promise}",
    ))  # fmt: skip
    failed = trials.filter(pl.col("status") == "failed").height
    rows: Mapping[str, object] = {
        "trials": f"{trials.height}{f', {failed} failed' if failed else ''}",
        "blocks": blocks,
        "seed": header.seed,
        "margin": margin,
        **_details(document),
        "configuration": header.config_hash,
        **header.versions,
    }
    known = [(name, str(value)) for name, value in rows.items() if value != ""]
    table = Rows(known).text("", lambda row: row[0])
    yield table.text("", lambda row: row[1], wrap=True).table(look="plain", label="Method")
    if len(runs) > 1:
        yield Section("Runs", (_runs(runs),))
    folder = ", ".join(str(run.path) for run in runs)
    yield Note(f"The run directory `{folder}` has everything, with the raw output of every trial.")


def _details(document: Document) -> dict[str, str]:
    records, controls = document.records, document.comparison.controls
    study: Mapping[str, Any] = records.study
    costs = [text for run in records.runs for text in cost_texts(run)]
    moves = [session.moved for run in records.runs for session in run.sessions().values()]
    budget, precision = study.get("budget_s"), study.get("precision")
    return {
        "study": str(study.get("name", "")),
        "core hours used": listing(costs) if costs else "",
        "time budget": f"{budget:g} s" if budget else "",
        "target half-width of an interval": f"{precision:.1%} of the median" if precision else "",
        "negative control": listing([control_text(one) for one in controls]),
        "measured on several machines": "; ".join(filter(None, moves)),
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
    rows.text(
        "versions", lambda run: ", ".join(map(" ".join, run.header.versions.items())), wrap=True
    )
    return rows.table(look="plain", label="Runs")


def cost_texts(run: Run) -> list[str]:
    """Return core hours by platform, with their price where it has one.

    None below a core minute.
    """
    hours = {name: core_s / HOUR_S for name, core_s in (run.cost() or {}).items()}
    if sum(hours.values()) < _LEAST_CORE_HOURS:
        return []
    return [f"{name} {significant(each)}{_paid(run, name, each)}" for name, each in hours.items()]


def _paid(run: Run, name: str, core_hours: float) -> str:
    cost, currency = money(run.facts().get(name, {}), core_hours) or (None, "")
    return "" if cost is None else f" (cost {significant(cost)} {currency})".replace(" )", ")")
