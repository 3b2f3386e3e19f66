"""The plots of the NCCS slides: their axes, and one curve or bar for each way to an adapter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.blocks import Figure, Table
from bareline.report.content.document import Document, document_of
from bareline.study.catalogue import find_study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
Draw = Callable[..., list[Figure]]
#: The slides' order: bare metal, software virtualization, virtio, SR-IOV.
MODES = ["bare", "emulated", "virtio", "sriov"]
TO_1K = [f"{1 << power} B" for power in range(10)] + ["1 KiB"]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from planted_study import plant
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    folder = tmp_path_factory.mktemp("fabric") / "run"
    probes = ("mpi.bandwidth", "mpi.pingpong", "compute.linpack")
    run = plant("flexible-fabric", folder, launches=6, probes=probes)
    return document_of(Comparison(read_runs([run])))


@pytest.mark.parametrize(
    ("part", "unit", "largest"),
    [
        ("plot-osu-bandwidth", "median bandwidth (MB/s)", "4 MiB"),
        ("plot-osu-latency", "median latency (µs)", "4 MiB"),
        ("plot-osu-latency-small", "median latency (µs)", "1 KiB"),
    ],
)
def test_osu_plots_are_by_message_size(
    document: Document, figures: Draw, part: str, unit: str, largest: str
) -> None:
    rows = rows_of(document, figures, part)
    sizes = list(dict.fromkeys(row["message size"] for row in rows))
    assert sizes[:11] == TO_1K
    assert sizes[-1] == largest
    for size in sizes:
        assert [row["platform"] for row in rows if row["message size"] == size] == MODES
    assert all(row[unit] for row in rows)
    # The slides plot them and print no number.
    assert "published ratio" not in rows[0]


def test_linpack_has_a_bar_for_each_mode(document: Document, figures: Draw) -> None:
    rows = rows_of(document, figures, "plot-linpack")
    assert [row["platform"] for row in rows] == MODES
    assert all(row["median rate (Gflop/s)"] for row in rows)


def rows_of(document: Document, figures: Draw, part: str) -> list[dict[str, str]]:
    (spec,) = [
        spec for spec in find_study("flexible-fabric").exhibits if f"nccs:{part}" in spec.published
    ]
    (figure,) = figures(document, **spec.model_dump())
    table = figure.data_table
    assert isinstance(table, Table)
    heads = [column.title for column in table.columns]
    return [dict(zip(heads, (field.plain for field in row), strict=True)) for row in table.rows]
