"""Tables and figures that repeat a published table: III and IV of Nebula, at its own size."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.published.catalogue import publications
from bareline.published.ratios import published_ratios
from bareline.report.blocks import Field, Figure
from bareline.report.content.document import Document, document_of
from bareline.study.catalogue import find_study

ROOT = Path(__file__).parents[3]
Draw = Callable[..., list[Figure]]


@pytest.fixture(scope="module")
def nebula(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Return a run of the study with the printed losses, of the probes that these tables hold."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from planted_study import plant
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    folder = tmp_path_factory.mktemp("planted")
    probes = ("net.nuttcp", "hpcc", "compute.dgemm", "memory.stream", "mpi.ring", "mpi.bcast")
    run = plant("nebula", folder / "run", launches=6, probes=probes)
    return document_of(Comparison(read_runs([run])))


def drawn(nebula: Document, figures: Draw, title: str) -> list[Figure]:
    (spec,) = [spec for spec in find_study("nebula").exhibits if spec.title.startswith(title)]
    return figures(nebula, **spec.model_dump())


def rows(figure: Figure) -> list[dict[str, Field]]:
    table = figure.data_table
    assert table is not None
    return [
        dict(zip([column.title for column in table.columns], row, strict=True))
        for row in table.rows
    ]


def test_table_iii_stands_printed_beside_measured(nebula: Document, figures: Draw) -> None:
    (figure,) = drawn(nebula, figures, "nuttcp after")
    found = {row["platform"].text: row for row in rows(figure)}
    assert {name: row["printed"].text for name, row in found.items()} == {
        "emulated": "195 Mb/s", "virtio": "519 Mb/s", "jumbo": "944 Mb/s",
        "tuned": "5834 Mb/s", "sriov": "", "bare": "9600 Mb/s",
    }  # fmt: skip
    assert [row["printed ×"].text for row in found.values()] == ["1", "2.7", "4.8", "29.9", "", ""]
    assert found["tuned"]["× the first step"].order == pytest.approx(29.9, rel=0.03)


def test_the_staircase_has_a_tread_of_each_step(
    nebula: Document, figures: Draw, rows_of: Callable[[Figure], list[dict[str, Any]]]
) -> None:
    (figure,) = drawn(nebula, figures, "nuttcp after")
    told = {row["text"] for row in rows_of(figure) if "text" in row}
    assert {"0.195", "0.519", "0.944", "5.83", "9.60"} <= told
    assert {"emulated", "virtio", "jumbo", "tuned", "sriov", "bare"} <= told
    # Nothing is printed of SR-IOV: the printed stairs end there and begin again.
    stairs = [row for row in rows_of(figure) if "stretch" in row and "order" in row]
    assert len({row["stretch"] for row in stairs}) == 2
    assert figure.narrow and "printed: 195 Mb/s" in figure.text_summary


def test_own_programs_stand_in_the_column_of_table_iv(nebula: Document, figures: Draw) -> None:
    printed, rest = drawn(nebula, figures, "HPC Challenge")
    told = {
        row["benchmark"].text: row["published ratio"].text
        for row in rows(printed)
        if row["platform"].text == "tuned"
    }
    assert told["DGEMM rate single"] == "1.49"
    assert told["DGEMM rate, mode single (compute.dgemm)"] == "1.49 (240 ranks)"
    assert told["DGEMM rate, mode star (compute.dgemm)"] == "1.49 (240 ranks)"
    assert told["Memory bandwidth (STREAM), mode all (memory.stream)"] == "1.10 (240 ranks)"
    assert told["MPI ring, 8 B (mpi.ring)"] == "16.5"
    assert told["MPI ring, bandwidth, 2 MiB (mpi.ring)"] == "10.2"
    assert all(told.values())
    assert next(iter(told)) == "DGEMM rate single", "in the order of the publication"
    assert rest.folded and "published ratio" not in rows(rest)[0]
    assert "FFT rate" in {row["benchmark"].text for row in rows(rest)}


def test_table_i_has_mtu_switch_and_topology(nebula: Document, figures: Draw) -> None:
    (figure,) = drawn(nebula, figures, "The systems")
    found = {row["characteristic"].text: row for row in rows(figure)}
    assert found["MTU"]["Nebula (cloud), published"].text == "9000 B"
    assert found["Switch"]["Nebula (cloud), published"].text == "Cisco Nexus 7000"
    (pleiades,) = [head for head in found["MTU"] if head.startswith("Pleiades")]
    assert found["Topology"][pleiades].text == "Hypercube"


def test_what_a_further_probe_measures_is_told_with_its_parameters() -> None:
    told = [
        ratio
        for ratio in published_ratios(publications()["nebula"])
        if ratio.results == ("hpcc-dgemm-factor",)
    ]
    assert [(one.probe, one.probe_metric) for one in told] == [
        ("hpcc", "dgemm_rate_single"),
        ("compute.dgemm", "rate"),
    ]
    assert told[1].conditions["mode"] == "single" and told[0].span == told[1].span


def test_functions_stand_by_size_with_a_column_for_each_platform(
    nebula: Document, figures: Draw
) -> None:
    latency, bandwidth = drawn(nebula, figures, "All functions by size")
    head, *_ = rows(bandwidth)
    # The other roles measure no MPI function.
    assert [*head] == ["function", "nodes", "ranks", "size (B)", "bare (MB/s)", "tuned (MB/s)",
                       "sriov (MB/s)"]  # fmt: skip
    found = {
        int(row["size (B)"].text.replace("\u202f", "")): row
        for row in rows(latency)
        if row["function"].text == "MPI ring"
    }
    ring = [
        cell
        for cell in nebula.cells
        if (cell.place.probe, cell.place.metric, cell.platform)
        == ("mpi.ring", "latency_loop_mean", "tuned")
    ]
    assert {cell.place.size_bytes for cell in ring} == {*found}
    for cell in ring:
        assert cell.median and cell.place.size_bytes
        told = found[cell.place.size_bytes]["tuned (µs)"].text
        assert told == f"{cell.median * 1e6:.2f}"
    # Sizes that differ between functions are no part of their names.
    assert {row["function"].text for row in rows(latency)} == {"MPI ring", "MPI_Bcast"}
    assert latency.folded and "loop" in latency.caption
