"""Real outputs of one cluster over two fabrics: all import, and compare as by hand."""

from pathlib import Path

import polars as pl
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.analysis.words.comparison import Comparison
from bareline.formats.importer import load_importers
from bareline.session.intake import import_files
from bareline.store.run import Run

DATA = Path(__file__).parent / "data" / "ib-vs-roce"
FILES = {fabric: sorted((DATA / fabric).glob("*.out")) for fabric in ("ib", "roce")}


@pytest.fixture(scope="module")
def fabrics(tmp_path_factory) -> Run:
    out = tmp_path_factory.mktemp("fabrics") / "run"
    for fabric, files in FILES.items():
        intake = import_files(files, fabric, out)
        assert intake.failed == 0
    return Run.open(out)


@pytest.fixture(scope="module")
def comparison(fabrics):
    return Comparison(read_runs([fabrics]), "ib").table


@pytest.mark.parametrize(
    "file", FILES["ib"] + FILES["roce"], ids=lambda f: f"{f.parent.name}/{f.name}"
)
def test_every_file_is_of_one_format_and_gives_numbers(file):
    text = file.read_text()
    able = [importer for importer in load_importers().values() if importer.sniff(text)]
    assert [importer.name for importer in able] == [
        {"omb": "osu", "imb": "imb", "hpl": "hpl"}[file.name.partition(".")[0]]
    ]
    (launch,) = able[0].launches(text)
    trials = list(able[0].parse(launch))
    assert trials
    # Every row of numbers is a point: nothing of the file is passed over.
    rows = sum(line.lstrip()[:1].isdigit() for line in text.splitlines())
    if able[0].name != "hpl":
        points = {
            (number, sample.point["size_bytes"])
            for number, trial in enumerate(trials)
            for sample in trial.outcome.samples
        }
        assert len(points) == rows


def test_the_trials_are_all_there(fabrics):
    trials = fabrics.tables().trials
    counts = trials.group_by("platform").len().sort("platform")
    assert counts.rows() == [("ib", 81), ("roce", 81)]
    assert set(trials["status"]) == {"measured"}
    assert all("imported" in caveats for caveats in trials["caveats"])


def _row(comparison, probe, metric, point, **case):
    chosen = comparison.filter(
        (pl.col("probe") == probe) & (pl.col("metric") == metric) & (pl.col("point") == point)
    )
    for name, value in case.items():
        chosen = chosen.filter(pl.col(name) == value)
    return chosen.row(0, named=True) if chosen.height == 1 else pytest.fail(f"{chosen.height} rows")


# The hand calculation: figures as they stand in the files, worse over better.
#   osu_latency      8 B: ib 1.02 us,          roce 1.38 us           1.38 / 1.02 = 1.352941
#   osu_latency  64 KiB: ib 11.25 us,          roce 26.95 us         26.95 / 11.25 = 2.395556
#   osu_bw        1 KiB: ib 3644.06 MB/s,      roce 2195.75 MB/s    3644.06 / 2195.75 = 1.659597
#   osu_bw        4 MiB: ib 12164.86 MB/s,     roce 3063.09 MB/s   12164.86 / 3063.09 = 3.971434
#   IMB PingPong    8 B: ib 1.05 us,           roce 2.07 us           2.07 / 1.05 = 1.971429
BY_HAND = [
    ("osu.latency", "latency", 8, 1.02e-6, 1.38e-6, 1.352941),
    ("osu.latency", "latency", 65536, 11.25e-6, 26.95e-6, 2.395556),
    ("osu.bw", "bandwidth", 1024, 3644.06e6, 2195.75e6, 1.659597),
    ("osu.bw", "bandwidth", 4194304, 12164.86e6, 3063.09e6, 3.971434),
    ("imb.pingpong", "latency", 8, 1.05e-6, 2.07e-6, 1.971429),
]


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: f"{case[0]}-{case[2]}")
def test_ratios_match_the_hand_calculation(comparison, case):
    probe, metric, size, ib, roce, ratio = case
    row = _row(comparison, probe, metric, f"size_bytes={size}")
    assert row["value_baseline"] == pytest.approx(ib, rel=1e-12)
    assert row["value"] == pytest.approx(roce, rel=1e-12)
    assert row["ratio"] == pytest.approx(ratio, abs=1e-6)
    assert (row["n"], row["n_baseline"]) == (1, 1)
    assert row["lo"] is None and row["hi"] is None
    assert row["verdict"] == "inconclusive"
    assert {"imported", "n-too-small", "unpaired"} <= set(row["caveats"])


def test_hpl_compares(comparison):
    row = _row(comparison, "hpl", "rate", "")
    assert row["ratio"] == pytest.approx(832.95 / 805.13, abs=1e-9)
    assert row["ranks"] == 32
    assert row["layer"] == "compute"


def test_files_of_one_case_are_its_trials(fabrics):
    # Three files ran osu_mbw_mr with 32 pairs: on 64 processes, on all cores, on 32 a node.
    summary = summarize(read_runs([fabrics]))
    row = _row(summary, "osu.mbw_mr", "bandwidth", "size_bytes=8", ranks=64, platform="ib")
    values = []
    for name in ("64", "1_0", "_32"):
        text = (DATA / "ib" / f"omb.Osu_mbw_mr_{name}.out").read_text()
        values += [float(line.split()[1]) for line in text.splitlines() if line.startswith("8 ")]
    assert row["n"] == len(values) == 3
    assert row["value"] == pytest.approx(sorted(values)[1] * 1e6)


def test_processes_that_wait_make_another_case(fabrics):
    # Two of sixteen processes share a node, two of two do not: never trials of the same case.
    summary = summarize(read_runs([fabrics]))
    of_two = summary.filter(
        pl.col("probe").str.starts_with("imb.uniband")
        & (pl.col("ranks") == 2)
        & (pl.col("platform") == "roce")
        & (pl.col("point") == "size_bytes=4194304")
        & (pl.col("metric") == "bandwidth")
    )
    alone = of_two.filter(pl.col("probe") == "imb.uniband")
    among = of_two.filter(pl.col("probe") == "imb.uniband.subset")
    assert list(alone["params"]) == [""]
    assert sorted(among["params"]) == [
        "world_ranks=16", "world_ranks=32", "world_ranks=4", "world_ranks=48", "world_ranks=64",
    ]  # fmt: skip
    assert alone["value"][0] < 3.2e9  # 25 Gb/s Ethernet
    assert all(among["value"] > 8e9)  # shared memory


def test_nothing_is_missing_on_either_side(comparison):
    assert set(comparison["verdict"].drop_nulls()) == {"inconclusive"}
    assert not any("unpaired" not in caveats for caveats in comparison["caveats"])


def test_ranks_that_the_output_does_not_say(fabrics, tmp_path):
    summary = summarize(read_runs([fabrics]))
    row = _row(summary, "osu.allreduce", "latency", "size_bytes=8", platform="ib")
    assert row["ranks"] == 0
    assert any("number of ranks" in caveat for caveat in row["caveats"])
    told = import_files([DATA / "ib" / "omb.Osu_allreduce.out"], "ib", tmp_path / "r", ranks=64)
    (record,) = told.run.records()
    assert record.trial.case.ranks == 64
    assert not any("number of ranks" in caveat for caveat in record.caveats)
    # What an output does say stands.
    latency = import_files([DATA / "ib" / "omb.Osu_latency.out"], "ib", tmp_path / "r", ranks=64)
    assert [r.trial.case.ranks for r in latency.run.records()] == [64, 2]


def test_two_runs_compare_like_one(fabrics, comparison, tmp_path):
    runs = []
    for fabric, files in FILES.items():
        runs.append(import_files(files, fabric, tmp_path / fabric).run)
    apart = Comparison(read_runs(runs), "ib").table
    columns = ["probe", "params", "ranks", "metric", "point", "ratio", "n", "n_baseline"]
    assert apart.select(columns).sort(columns).equals(comparison.select(columns).sort(columns))
