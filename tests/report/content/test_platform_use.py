"""Use of the platforms: waiting, nodes, replacements, lost trials, core hours, price of a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.blocks import Block, Section, Table
from bareline.report.content.document import Document, document_of
from bareline.report.content.platform_use import use_section
from bareline.report.page.files import render_markdown
from bareline.store.run import Run
from bareline.vocabulary.events import ASKED_AGAIN, CAME_UP, MADE_AGAIN


def table_of(document: Document) -> dict[str, dict[str, str]]:
    """Return the fields of each platform by their columns; empty without a table."""
    blocks: list[Block] = [
        block for one in use_section(document) if isinstance(one, Section) for block in one.blocks
    ]
    tables = [block for block in blocks if isinstance(block, Table)]
    return {
        row[0].plain: {
            column.title: field.plain for column, field in zip(table.columns, row, strict=True)
        }
        for table in tables
        for row in table.rows
    }


def document_in(run: Run) -> Document:
    return document_of(Comparison(read_runs([run])), fact_rows=())


@pytest.fixture
def used(tmp_path: Path, plant_run: Callable[..., Run]) -> Document:
    """A cloud that came up twice, was replaced twice and has a price."""
    run = plant_run(tmp_path / "run", ("bare", "cloud"), broken=False, probes=("npb.cg", "npb.ft"))
    run.header.platforms["cloud"]["nodes"] = 4
    for seconds in (40.0, 80.0):
        run.append_event("cloud", f"{CAME_UP} {seconds:g} s (boot 1)", seconds)
    run.append_event("cloud", f"broke 3 times in a row: {MADE_AGAIN}")
    run.append_event("cloud", f"allocation 7 ends in 3 s: {ASKED_AGAIN}")
    price = {"price.per_hour": 2.0, "price.currency": "USD"}
    run.write_facts("bare", {**price, "node.count": 4})
    run.write_facts("cloud", {**price, "node.count": 3, "cloud.retries": 1})
    run.write_cost({"bare": 3600.0, "cloud": 7200.0})
    return document_in(run)


def test_a_platform_has_its_waiting_nodes_and_replacements(used: Document) -> None:
    cloud = table_of(used)["cloud"]
    assert cloud["until usable"] == "1 min 00 s"
    assert (cloud["nodes asked"], cloud["received"], cloud["replaced"]) == ("4", "3", "3")
    assert cloud["trials lost, by stage"] == "none"
    assert float(cloud["core hours"]) == 2.0


def test_a_job_costs_the_price_of_an_hour_times_its_loss(used: Document) -> None:
    rows = table_of(used)
    assert rows["bare"]["price of a job"] == "2.00 USD"
    ratios = [
        cell.ratio.value
        for cell in used.cells
        if cell.platform == "cloud" and cell.headline and cell.ratio
    ]
    price = float(rows["cloud"]["price of a job"].split(" ")[0])
    assert price == pytest.approx(2 * geometric_mean(ratios), rel=0.01)
    assert "one hour on one node of the baseline" in render_markdown(used)


def test_lost_trials_are_counted_by_stage(document: Document) -> None:
    rows = table_of(document)
    assert rows["vm-virtio"]["trials lost, by stage"] == "2 timeout"
    assert rows["vm-e1000"]["trials lost, by stage"] == "10 signal"
    assert rows["bare"]["until usable"] == "–"
    assert "price of a job" not in rows["bare"]


def test_platforms_with_nothing_to_tell_have_no_table(
    tmp_path: Path, plant_run: Callable[..., Run]
) -> None:
    run = plant_run(tmp_path / "run", broken=False, probes=("npb.cg",), ranks=(2,))
    run.write_cost({"bare": 3600.0})
    assert table_of(document_in(run)) == {}


@pytest.mark.parametrize("price", [True, "dear", None])
def test_a_price_that_is_no_number_is_left_out(
    tmp_path: Path, plant_run: Callable[..., Run], price: object
) -> None:
    run = plant_run(tmp_path / "run", ("bare", "cloud"), broken=False, probes=("npb.cg",))
    run.append_event("cloud", f"{CAME_UP} a while")  # without its seconds
    facts = {"node.count": "two", "cloud.retries": 1.5}
    run.write_facts("cloud", facts if price is None else {**facts, "price.per_hour": price})
    run.append_event("cloud", MADE_AGAIN)
    cloud = table_of(document_in(run))["cloud"]
    assert cloud["received"] == cloud["until usable"] == "–"
    assert cloud["replaced"] == "1" and "price of a job" not in cloud
