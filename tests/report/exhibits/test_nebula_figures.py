"""Each figure of Nebula has the axis, the places, the unit and the printed ratios of the paper."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
PROBES = (
    "mpi.sendrecv", "mpi.exchange", "mpi.allreduce", "mpi.bcast", "mpi.alltoall", "io.sequential",
    "app.overset", "app.cartesian", "app.unstructured", "app.ocean",
)  # fmt: skip


def powers(first: int, last: int, unit: str) -> list[str]:
    """Return sizes as a page writes them, twice as large each."""
    found = []
    while first <= last:
        found.append(f"{first} {unit}")
        first *= 2
    return found


TO_512K = [*powers(1, 512, "B"), *powers(1, 512, "KiB")]
BLOCKS = [*powers(16, 512, "KiB"), *powers(1, 16, "MiB")]
CORES = ["2", "4", "8", "16", "32", "64", "128"]
OPEN = " (ranks not printed)"


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it.

    - `axis`, `places`: the head of the axis and its places; `unit`: the head of the values.
    - `at`: the case of which the figure is, where an exhibit has several.
    - `ratios`: how many times worse, at some places; empty where the figure prints none.
    """

    part: str
    axis: str
    places: Sequence[str]
    unit: str
    ratios: Mapping[str, str] = field(default_factory=dict)
    at: Mapping[str, str] = field(default_factory=dict)


def spread(places: Sequence[str], text: str) -> dict[str, str]:
    return dict.fromkeys(places, text)


FIGURES = (
    Printed("figure-1", "message size", TO_512K, "median bandwidth (MB/s)",
            {**spread(TO_512K[:13], f"30 to 70{OPEN}"), "4 B": f"123{OPEN}",
             **spread(TO_512K[13:], f"5 to 19{OPEN}")}, {"ranks": "128"}),
    Printed("figure-2", "ranks", CORES, "median bandwidth (MB/s)",
            {"4": "5", "8": "5", **spread(CORES[3:], "12 to 15")}),
    Printed("figure-3", "message size", TO_512K, "median bandwidth (MB/s)",
            {**spread(TO_512K[:13], f"30 to 60{OPEN}"), **spread(TO_512K[13:15], f"20 to 25{OPEN}"),
             **spread(TO_512K[15:], f"7 to 9{OPEN}")}, {"ranks": "128"}),
    Printed("figure-4", "ranks", CORES, "median bandwidth (MB/s)"),
    Printed("figure-5", "message size", TO_512K[2:], "median latency (µs)",
            {"4 B": "71 to 139; 70", **spread(TO_512K[3:12], "71 to 139"),
             **spread(TO_512K[12:17], "29 to 46"), **spread(TO_512K[17:], "5 to 15")},
            {"ranks": "128"}),
    Printed("figure-6", "ranks", CORES, "median latency (µs)",
            {**spread(CORES[:3], "12 to 21"), **spread(CORES[3:], f"40 to 130{OPEN}")}),
    Printed("figure-7", "message size", [*TO_512K, "1 MiB"], "median latency (µs)",
            {**spread(TO_512K[:14], f"150 to 200{OPEN}"), "512 KiB": f"10{OPEN}"},
            {"ranks": "128"}),
    Printed("figure-8", "ranks", CORES, "median latency (ms)",
            {"8": "8", "16": "17", "128": "11"}),
    Printed("figure-9", "message size", TO_512K, "median latency (µs)",
            {**spread(TO_512K[:8], "24 to 39"), **spread(TO_512K[9:], "9 to 15"), "256 B": "96",
             "4 KiB": "24"}, {"ranks": "32"}),
    # NASA's 32 and 64 cores are on 3 and 6 nodes; of 128 not every size finished.
    Printed("figure-10", "ranks", CORES, "median latency (µs)",
            {**spread(CORES[:3], "4 to 6"), "16": "19", "32": "10 (3 nodes)", "64": "14 (6 nodes)",
             "128": "not completed"}),
    Printed("figure-11", "block", BLOCKS, "median write rate (MB/s)", spread(BLOCKS, "24 to 28")),
    Printed("figure-12", "block", BLOCKS, "median read rate (GB/s)",
            spread(BLOCKS, "0.25 to 0.333")),
    Printed("figure-18", "ranks", ["32", "64", "128"], "median time (s)",
            {"32": "1.22", "64": "1.41", "128": "1.56"}),
    Printed("figure-19", "ranks", ["8", "16", "32", "64", "128"], "median time (s)",
            {"8": "1.2", "16": "1.2", "32": "1.4", "64": "1.8", "128": "not completed"}),
    Printed("figure-20", "ranks", ["32", "64", "128"], "median time (s)",
            {"32": "1.31", "64": "1.39", "128": "1.59"}),
    Printed("figure-21", "ranks", ["60", "120", "240"], "median time (s)",
            {"60": "1.4", "120": "1.5", "240": "1.9"}),
)  # fmt: skip


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Return a run of the study at its own size, with the printed losses."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from planted_study import plant
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    folder = tmp_path_factory.mktemp("nebula") / "run"
    return document_of(Comparison(read_runs([plant("nebula", folder, launches=6, probes=PROBES)])))


def rows_of(document: Document, figures: Draw, part: str) -> list[dict[str, str]]:
    specs = [spec for spec in find_study("nebula").exhibits if f"nebula:{part}" in spec.published]
    # Figure 17 is of all applications and repeats the numbers of Figures 18 to 21.
    (spec,) = [spec for spec in specs if spec.kind != "degradation"]
    (figure,) = figures(document, **spec.model_dump())
    table = figure.data_table
    assert isinstance(table, Table)
    heads = [column.title for column in table.columns]
    return [dict(zip(heads, (field.plain for field in row), strict=True)) for row in table.rows]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.part)
def test_the_figure_is_as_printed(document: Document, figures: Draw, figure: Printed) -> None:
    rows = [
        row
        for row in rows_of(document, figures, figure.part)
        if all(row[name] == value for name, value in figure.at.items())
    ]
    assert figure.unit in rows[0]
    # Pleiades, then Nebula.
    assert list(dict.fromkeys(row["platform"] for row in rows))[:2] == ["bare", "tuned"]
    for platform in ("bare", "tuned"):
        places = [row[figure.axis] for row in rows if row["platform"] == platform]
        assert places == list(figure.places)
    printed = {
        row[figure.axis]: row.get("published ratio", "")
        for row in rows
        if row["platform"] == "tuned"
    }
    for place, text in figure.ratios.items():
        assert printed[place] == text, place
    if not figure.ratios:
        assert not any(printed.values())
