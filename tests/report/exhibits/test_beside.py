"""Ours beside a user's own programs: a planted factor is found, whatever the metric's direction."""

from pathlib import Path

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.blocks import Table
from bareline.report.content.document import Document, document_of
from bareline.report.exhibits.base import find_exhibit
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.testing.runs import replace_records
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Case, Failed, Layout, Measured, Record, Sample, Stage, Trial

FACTORS = {"cg": 1.84, "ep": 3.8}
_METRICS = {
    "time": {"unit": "s", "better": "lower", "detail": False},
    "rate": {"unit": "op/s", "better": "higher", "detail": False},
}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Plant a run in which ours are faster by `FACTORS`; one reference fails on `vm`."""
    probes = ["npb.cg", "npb.ep", "npb.reference"]
    header = Header(
        study={"study": {"name": "beside", "launches": 8}, "measure": [], "exhibit": []},
        probes={
            name: {"layer": "npb", "headline": "time", "title": name, "metrics": _METRICS}
            for name in probes
        },
        platforms={name: {"type": "local", "title": ""} for name in ("bare", "vm")},
        baseline="bare",
        seed=1,
        created="2025-11-20T14:03:22.000+00:00",
        versions={},
    )
    folder: Path = tmp_path_factory.mktemp("beside") / "run"
    run = Run.create(folder, header)
    noise = np.random.default_rng(1)
    records = []
    for block in range(8):
        drift = 1 + 0.2 * block  # pairs share their block's speed
        for platform in ("bare", "vm"):
            for kernel, factor in FACTORS.items():
                for probe, params, time in (
                    (f"npb.{kernel}", "", drift),
                    ("npb.reference", f"kernel={kernel} ", drift * factor),
                ):
                    case = Case(probe=probe, params=f"{params}problem_class=A", ranks=1)
                    seconds = time * float(np.exp(0.01 * noise.standard_normal()))
                    lost = (platform, probe, kernel) == ("vm", "npb.reference", "ep")
                    records.append(
                        Record(
                            trial=Trial(
                                index=len(records),
                                block=block,
                                platform=platform,
                                case=case,
                                layout=Layout(1, 1),
                            ),
                            outcome=Failed(Stage.EXIT, "no ep.A.x")
                            if lost
                            else Measured((Sample("time", seconds), Sample("rate", 1e9 / seconds))),
                            started=f"2025-11-20T14:{block:02d}:00.000+00:00",
                            duration_s=seconds,
                        )
                    )
    replace_records(run, records)
    return document_of(Comparison(read_runs([run])))


def table(document: Document, metric: str) -> Table:
    spec = ExhibitSpec(kind="beside", probe="npb.reference", metric=metric)
    (figure,) = find_exhibit("beside").figures(document, spec)
    assert figure.data_table is not None
    return figure.data_table


@pytest.mark.parametrize("metric", ["time", "rate"])
def test_the_planted_factor_is_found_by_time_and_by_rate(document: Document, metric: str) -> None:
    found = table(document, metric)
    assert [column.title for column in found.columns][:2] == ["kernel", "platform"]
    ratios = {(row[0].text, row[1].text): row[2].order for row in found.rows}
    for platform in ("bare", "vm"):
        assert ratios["cg", platform] == pytest.approx(1.84, rel=0.02)
    assert ratios["ep", "bare"] == pytest.approx(3.8, rel=0.02)
    assert all(row[4].text == "8" and row[3].text for row in found.rows if row[2].order)


def test_a_reference_that_failed_has_a_row_and_no_ratio(document: Document) -> None:
    rows = {(row[0].text, row[1].text): row for row in table(document, "time").rows}
    row = rows["ep", "vm"]
    assert row[2].order is None
    assert row[2].text == "failed"


def test_without_a_reference_there_is_no_figure(document: Document) -> None:
    spec = ExhibitSpec(kind="beside", probe="npb.cg", metric="time")
    assert find_exhibit("beside").figures(document, spec) == []
