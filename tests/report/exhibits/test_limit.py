"""Shares of the limit: planted ones are found, and what was not measured is said."""

from collections.abc import Collection
from pathlib import Path

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.blocks import Field, Table
from bareline.report.content.document import Document, document_of
from bareline.report.exhibits.base import find_exhibit
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.testing.runs import replace_records
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Case, Layout, Measured, Record, Sample, Trial

_FLOPS = {"unit": "flop/s", "better": "higher", "detail": True}
_BYTES = {"unit": "B/s", "better": "higher", "detail": True}
_COUNT = {"unit": "1", "better": "none", "detail": True}
_PROBES = {
    "npb.cg": {"arithmetic": _FLOPS, "traffic": _BYTES},
    "npb.ep": {"arithmetic": _FLOPS},
    "compute.peak": {"rate": _FLOPS, "cores": _COUNT},
    "memory.stream": {"bandwidth": _BYTES},
}
_TRIAD = {"kernel": "triad"}
#: Probe, parameters, ranks, samples. Two cores, of which each computes 50 Gflop/s; one moves 20,
#: both 30 GB/s.
_CASES = [
    ("npb.cg", "problem_class=A", 1, [Sample("arithmetic", 2e9), Sample("traffic", 10e9)]),
    ("npb.cg", "problem_class=A", 2, [Sample("arithmetic", 4e9), Sample("traffic", 12e9)]),
    ("npb.cg", "problem_class=A", 4, [Sample("arithmetic", 12e9), Sample("traffic", 36e9)]),
    ("npb.ep", "problem_class=A", 2, [Sample("arithmetic", 80e9)]),
    ("npb.ep", "problem_class=A", 4, [Sample("arithmetic", 80e9)]),
    ("compute.peak", "mode=single", 1, [Sample("rate", 50e9), Sample("cores", 1)]),
    ("compute.peak", "mode=star", 1, [Sample("rate", 50e9), Sample("cores", 2)]),
    ("memory.stream", "mode=single", 1, [Sample("bandwidth", 20e9, _TRIAD)]),
    ("memory.stream", "mode=all", 1, [Sample("bandwidth", 30e9, _TRIAD)]),
]


def planted(folder: Path, probes: Collection[str], caveat: str = "") -> Document:
    header = Header(
        study={"study": {"name": "limit", "launches": 8}, "measure": [], "exhibit": []},
        probes={
            name: {
                "layer": name.split(".")[0],
                "headline": next(iter(metrics)),
                "title": name,
                "metrics": metrics,
            }
            for name, metrics in _PROBES.items()
        },
        platforms={"bare": {"type": "local", "title": ""}},
        baseline="bare",
        seed=1,
        created="2025-11-20T14:03:22.000+00:00",
        versions={},
    )
    run = Run.create(folder / "run", header)
    records = []
    for block in range(8):
        for probe, params, ranks, samples in _CASES:
            if probe in probes:
                # What slows the machine slows the benchmark and its limit alike.
                drift = 1 - 0.02 * block
                own = [
                    one
                    if one.metric == "cores"
                    else Sample(one.metric, drift * one.value, one.point)
                    for one in samples
                ]
                records.append(
                    Record(
                        trial=Trial(
                            index=len(records),
                            block=block,
                            platform="bare",
                            case=Case(probe=probe, params=params, ranks=ranks, nodes=1),
                            layout=Layout(1, ranks),
                        ),
                        outcome=Measured(tuple(own)),
                        started=f"2025-11-20T14:{block:02d}:00.000+00:00",
                        duration_s=1.0,
                        caveats=(caveat,) if caveat else (),
                    )
                )
    replace_records(run, records)
    return document_of(Comparison(read_runs([run])))


def table(document: Document) -> Table:
    (figure,) = find_exhibit("limit").figures(document, ExhibitSpec(kind="limit", probe="npb.*"))
    assert figure.data_table is not None
    return figure.data_table


def rows(document: Document) -> dict[tuple[str, str], dict[str, Field]]:
    found = table(document)
    titles = [column.title for column in found.columns]
    told = [dict(zip(titles, row, strict=True)) for row in found.rows]
    return {(row["program"].text.lower(), row["ranks"].text): row for row in told}


def test_the_longer_of_both_times_is_the_limit(tmp_path: Path) -> None:
    found = rows(planted(tmp_path, _PROBES))
    one, two = found["npb.cg", "1"], found["npb.cg", "2"]
    assert one["share of the limit"].order == pytest.approx(10 / 20)
    assert one["limited by"].text == "memory bandwidth"
    assert one["of peak"].order == pytest.approx(2 / 50)
    # Both cores together move less than twice what one does.
    assert two["share of the limit"].order == pytest.approx(12 / 30)
    assert two["of peak"].order == pytest.approx(4 / 100)
    assert two["n"].text == "8"


def test_more_than_the_memory_gives_came_from_the_caches(tmp_path: Path) -> None:
    row = rows(planted(tmp_path, _PROBES))["npb.cg", "4"]
    assert row["share of the limit"].order == pytest.approx(36 / 30)
    assert row["limited by"].text == "caches held its data"


def test_what_needs_no_memory_is_limited_by_arithmetic_of_the_cores_that_there_are(
    tmp_path: Path,
) -> None:
    found = rows(planted(tmp_path, _PROBES))
    for ranks in ("2", "4"):
        row = found["npb.ep", ranks]
        assert row["share of the limit"].order == pytest.approx(80 / 100)
        assert row["limited by"].text == "arithmetic"
        assert row["of triad"].text == "–"


def test_a_limit_that_was_not_measured_leaves_no_share(tmp_path: Path) -> None:
    found = rows(planted(tmp_path, _PROBES.keys() - {"memory.stream"}))
    row = found["npb.cg", "1"]
    assert row["share of the limit"].text == row["of triad"].text == "not measured"
    assert row["of peak"].order == pytest.approx(2 / 50)
    assert row["limited by"].text == row["n"].text.strip("–") == ""
    assert found["npb.ep", "2"]["share of the limit"].order == pytest.approx(80 / 100)


def test_caveats_stand_at_the_share(tmp_path: Path) -> None:
    row = rows(planted(tmp_path, _PROBES, "emulated-cpu"))["npb.cg", "1"]
    assert "emulated-cpu" in [caveat.code for caveat in row["share of the limit"].caveats]


def test_without_programs_that_say_what_they_demand_there_is_no_figure(tmp_path: Path) -> None:
    document = planted(tmp_path, ["compute.peak", "memory.stream"])
    assert find_exhibit("limit").figures(document, ExhibitSpec(kind="limit")) == []
