"""Exhibits have the rows, columns, units, order and values of the published tables and figures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.published.catalogue import publications
from bareline.published.model import PublishedStudy
from bareline.report.blocks import Figure, Table
from bareline.report.content.document import Document, document_of
from bareline.study.catalogue import find_study

ROOT = Path(__file__).parents[3]
Draw = Callable[..., list[Figure]]
Rows = Callable[[Figure], list[dict[str, Any]]]
PROBES = {
    "nebula": ("net.nuttcp", "npb.cg", "npb.bt", "npb.mg"),
    "flexible-fabric": ("net.nuttcp",),
    "magellan": ("app.planewave", "app.lattice"),
    "infinicloud": ("net.iperf3", "compute.linpack", "mpi.barrier", "mpi.alltoall"),
}


def plant(study: str, folder: Path) -> Document:
    """Return a run of a study with the printed losses."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from planted_study import plant as plant_study
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    run = plant_study(study, folder / "run", launches=6, probes=PROBES[study])
    return document_of(Comparison(read_runs([run])))


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Document]:
    made: dict[str, Document] = {}

    def document(study: str) -> Document:
        if study not in made:
            made[study] = plant(study, tmp_path_factory.mktemp(study))
        return made[study]

    return document


@pytest.fixture
def repeated(documents: Callable[[str], Document], figures: Draw) -> Callable[..., list[Figure]]:
    """Return a function that draws the exhibits of a study that repeat a published part."""

    def draw(study: str, part: str) -> list[Figure]:
        specs = [spec for spec in find_study(study).exhibits if part in spec.published]
        assert specs, part
        document = documents(study)
        return [figure for spec in specs for figure in figures(document, **spec.model_dump())]

    return draw


def texts(figure: Figure) -> list[dict[str, str]]:
    """Return a table's rows as texts, by the heads of its columns."""
    table = figure.data_table
    assert isinstance(table, Table)
    heads = [column.title for column in table.columns]
    return [dict(zip(heads, (field.plain for field in row), strict=True)) for row in table.rows]


def publication(name: str) -> PublishedStudy:
    return publications()[name]


def by_characteristic(figure: Figure, platform: str) -> dict[str, str]:
    return {row["characteristic"]: row[f"{platform}, published"] for row in texts(figure)}


def test_table_i_has_each_row_in_the_words_of_the_publication(repeated: Draw) -> None:
    (figure,) = repeated("nebula", "nebula:table-1")
    expected = {
        "Virtualization": ("virtualized", {True: "yes", False: "no"}),
        "VirtIO": ("virtio", {True: "yes", "n/a": "n/a"}),
        "Parallel file system": ("parallel_file_system", {True: "yes", False: "no"}),
        "File system": ("file_system", {}),
        "Hypervisor": ("hypervisor", {}),
    }
    for platform in publication("nebula").platforms:
        if platform.part != "table-1":
            continue
        found = by_characteristic(figure, platform.name)
        for label, (name, words) in expected.items():
            value = platform.facts[name]
            assert found[label] == words.get(value, value), (platform.id, label)
    heads = [column.title for column in figure.data_table.columns]  # type: ignore[union-attr]
    assert heads.index("Nebula (cloud), published") < heads.index(
        "Pleiades (Westmere-EP nodes), published"
    )


def test_table_ii_lists_the_instance_types_in_the_printed_order(repeated: Draw) -> None:
    (figure,) = repeated("nebula", "nebula:table-2")
    printed = [
        {
            "instance type": offered.name,
            "CPUs": str(offered.cpus),
            "memory (GB)": str(offered.memory_gb),
            "local disk (GB)": str(offered.local_disk_gb),
            "from": "Table II",
        }
        for offered in publication("nebula").instance_types
        if offered.part == "table-2"
    ]
    rows = texts(figure)
    assert len(printed) == 5
    assert rows[:5] == printed
    assert {row["from"] for row in rows[5:]} == {"this run"}


def test_figure_13_has_a_mark_for_each_part_of_the_time(repeated: Draw, rows_of: Rows) -> None:
    (figure,) = repeated("nebula", "nebula:figure-13")
    tips = {row["tip"] for row in rows_of(figure) if row.get("tip", "").startswith("published")}
    wanted = {
        (result.low, result.high)
        for result in publication("nebula").results
        if result.part == "figure-13" and not result.restates
    }
    for low, high in wanted:
        assert any(f"{low} to {high} times worse" in tip for tip in tips), (low, high)
    rows = texts(figure)
    assert [*rows[0]][:2] == ["benchmark", "metric"]
    assert {row["benchmark"] for row in rows} == {f"NAS benchmark {n}" for n in ("CG", "BT", "MG")}


def test_nine_ranks_stand_for_eight_in_figure_13(repeated: Draw) -> None:
    (figure,) = repeated("nebula", "nebula:figure-13")
    nine = [row for row in texts(figure) if row["ranks"] == "9" and row["published ratio"]]
    assert nine
    assert all("ranks" not in row["published ratio"] for row in nine)


def test_figure_14_tells_32_ranks_the_range_up_to_32_only(repeated: Draw) -> None:
    (figure,) = repeated("nebula", "nebula:figure-14")
    printed = {row["ranks"]: row["published ratio"] for row in texts(figure)
               if row["platform"] == "tuned"}  # fmt: skip
    assert printed["32"] == "1.1 to 2.2"
    assert printed["64"] == "1.8 to 5.6"


def test_figure_15_names_the_benchmark_that_it_leaves_out(repeated: Draw, rows_of: Rows) -> None:
    (figure,) = repeated("nebula", "nebula:figure-15")
    assert "Figure 15 leaves out CG." in figure.caption
    tips = [row["tip"] for row in rows_of(figure) if row.get("tip", "").startswith("published")]
    assert tips and all("except CG" in tip for tip in tips)
    (total,) = repeated("nebula", "nebula:figure-14")
    assert "leaves out" not in total.caption


def test_fabric_table_1_has_quad_core_processors_written_once(repeated: Draw) -> None:
    (figure,) = repeated("flexible-fabric", "flexible-fabric:table-1")
    for platform in publication("flexible-fabric").platforms:
        if platform.part == "table-1":
            found = by_characteristic(figure, platform.name)
            assert found["Processor"] == platform.facts["processor"]
            assert found["Cores per socket"] == str(platform.facts["cores_per_socket"])
            assert found["Hypervisor"] == "NA"


def test_nccs_trials_are_drawn_over_time(repeated: Draw, rows_of: Rows) -> None:
    (over_time,) = repeated("flexible-fabric", "nccs:slide-nuttcp")
    (by_value,) = repeated("flexible-fabric", "flexible-fabric:table-2")
    for trials in publication("nccs").trials:
        printed = [f"{value} {trials.unit}" for value in trials.values]
        points = [
            (row["x"], row["y"])
            for row in rows_of(over_time)
            if row.get("series", "").endswith(", printed")
            and any(f"published: {text};" in row["tip"] for text in printed)
        ]
        # In Gb/s, in the order of the slide.
        values = [float(value) / 1e3 for value in trials.values]
        for place, value in enumerate(values, 1):
            assert any(x == place and y == pytest.approx(value) for x, y in points), place
    heads = [*texts(over_time)[0]]
    assert "bare metal, published (Mb/s)" in heads
    assert "published (Gb/s)" in over_time.text_summary
    assert "(Mb/s)" not in over_time.text_summary
    assert over_time.panels != by_value.panels


def test_fabric_table_2_has_ten_trials_of_each_way_lowest_first(repeated: Draw) -> None:
    (figure,) = repeated("flexible-fabric", "flexible-fabric:table-2")
    heads = [
        "bare metal, published (Mb/s)",
        "virtual machines, emulated adapter, published (Mb/s)",
        "virtual machines, virtio, published (Mb/s)",
        "virtual machines, SR-IOV, published (Mb/s)",
    ]
    rows = texts(figure)
    # As the table has them: bare metal, software, virtualized I/O, SR-IOV; no retransmissions.
    assert [head for head in rows[0] if head.endswith("published (Mb/s)")] == heads
    first = [rows[0][head] for head in heads]
    last = [rows[9][head] for head in heads]
    assert first == ["4418.8401", "137.3301", "5678.0625", "8714.4063"]
    assert last == ["9415.2675", "146.4449", "6316.7924", "9408.0323"]
    for trials in publication("flexible-fabric").trials:
        column = [str(value) for value in trials.values]
        assert any([row[head] for row in rows[:10]] == column for head in heads), trials.id


def test_the_slide_of_trials_has_their_retransmissions(repeated: Draw) -> None:
    (figure,) = repeated("flexible-fabric", "nccs:slide-nuttcp")
    table = figure.data_table
    assert isinstance(table, Table)
    heads = [column.title for column in table.columns]
    at = heads.index("virtual machines, SR-IOV, published (Mb/s)")
    assert heads[at + 1] == "retrans"
    trials = [(row[at].plain, row[at + 1].plain) for row in table.rows[:10]]
    # In the order of the slide.
    assert trials[:4] == [
        ("9151.5769", "0"), ("9408.0323", "0"), ("8714.4063", "34"), ("9313.8894", "7"),
    ]  # fmt: skip
    assert "bare metal, published 0.469" in figure.caption


def test_the_slide_of_configurations_has_its_rows(repeated: Draw) -> None:
    (figure,) = repeated("flexible-fabric", "nccs:slide-configurations")
    for name, memory, hypervisor in (
        ("Bare1", "48 GB", "KVM"), ("Bare2", "48 GB", "KVM"),
        ("VM1", "16 GB", "N/A"), ("VM2", "16 GB", "N/A"),
    ):  # fmt: skip
        found = by_characteristic(figure, name)
        assert found["Processor"] == "Intel Nehalem, E5520"
        assert (found["Sockets"], found["Cores per socket"], found["Cores"]) == ("2", "4", "8")
        assert found["Nominal frequency"] == "2.27 GHz"
        assert found["Peak per node (double)"] == "72.64 Gflop/s"
        assert found["SMT (Hyper-Threading)"] == "no"
        assert found["Operating system"] == "Ubuntu 11.04"
        assert found["Kernel release"] == "2.6.38-10.server"
        assert (found["Memory per node"], found["Hypervisor"]) == (memory, hypervisor)


def test_figure_1a_names_the_printed_ratios_beyond_the_run(repeated: Draw) -> None:
    (figure,) = repeated("magellan", "magellan:figure-1a")
    for result in publication("magellan").results:
        ranks = result.at.get("ranks")
        if result.part == "figure-1a" and isinstance(ranks, int) and ranks > 96:
            assert f"{result.value} times worse ({ranks} ranks)" in figure.caption, result.id


def test_table_3_has_the_pairs_that_are_not_to_the_baseline(repeated: Draw) -> None:
    drawings = repeated("infinicloud", "infinicloud:table-3")
    others = [figure for figure in drawings if "other pairs" in figure.title]
    ratios = {}
    for figure in others:
        for row in texts(figure):
            key = row["benchmark"].partition(",")[0], row["system"], row["against"]
            ratios[key] = row["published ratio"]
    names = {platform.id: platform.name for platform in publication("infinicloud").platforms}
    pair = names["sb-virtual"], names["sb-native"]
    assert ratios["iperf", *pair] == "1.09"
    assert ratios["Intel Optimized SMP Linpack", *pair] == "1.04"


def test_a_ratio_by_the_publications_rule_has_no_verdict(repeated: Draw) -> None:
    for figure in repeated("infinicloud", "infinicloud:table-3"):
        if "InfiniCloud's rule" in figure.caption:
            table = figure.data_table
            assert table is not None
            assert "verdict" not in {column.title for column in table.columns}
            assert not {field.tone for row in table.rows for field in row} & {"worse", "better"}


def test_figure_5_writes_a_longer_barrier_as_times(repeated: Draw, rows_of: Rows) -> None:
    (figure,) = repeated("infinicloud", "infinicloud:figure-5")
    values = {
        result.platform: result.value
        for result in publication("infinicloud").results
        if result.part == "figure-5" and result.kind == "absolute"
    }
    ratio = float(values["nos-hw-virtual"] / values["nos-hw-native"])  # type: ignore[operator]
    written = [
        row["text"] for row in rows_of(figure) if row.get("name") == "virtual" and "text" in row
    ]
    factors = [float(text.split("(")[1].split("\u00a0×")[0]) for text in written]
    # The planted run repeats the printed ratio with some noise.
    assert factors and factors == pytest.approx([ratio] * len(factors), rel=0.05)
    assert not any("%" in text for text in written)


def test_figure_6_shades_the_sizes_at_which_each_curve_jumps(repeated: Draw, rows_of: Rows) -> None:
    (figure,) = repeated("infinicloud", "infinicloud:figure-6")
    printed = {
        (int(result.low), int(result.high))  # type: ignore[arg-type]
        for result in publication("infinicloud").results
        if result.part == "figure-6" and result.metric == "algorithm_switch_message_size"
    }
    shaded = {(row["x"], row["end"]) for row in rows_of(figure) if " jumps " in row.get("tip", "")}
    assert printed == shaded == {(512, 1024), (1024, 2048)}
    assert "virtual jumps between 512 B and 1 KiB" in figure.caption
