"""What the figures of a platform mean together: planted figures, known conclusions."""

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conclusions import conclusion_sentence
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.study.study import study_from_toml
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Measured, Record, Sample

SMALL, HUGE = 4 << 10, 2 << 20
MODES = {"mode": ["single", "all"]}


@pytest.fixture
def plant(tmp_path, null_platforms):
    """Make a run whose samples are given by ``samples(trial)``."""

    def make(samples, *measures, platforms=("a", "b"), launches=7, nodes=1):
        study = study_from_toml(
            {"study": {"name": "s", "launches": launches, "precision": 0, "min_launches": launches},
             "measure": list(measures)}, where="t",
        )  # fmt: skip
        specs = null_platforms(**{name: {"nodes": nodes} for name in platforms})
        run = begin.create_run(study, specs, tmp_path / "r", baseline=platforms[0])
        with run.writing():
            for trial in plan_of(run):
                outcome = Measured(tuple(samples(trial)))
                run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=0.1))
        return read_runs([run])

    return make


def latency(trial):
    """Loads that cost more with small pages past 1 MiB, and more so on b."""
    cost = {"a": 1.5, "b": 3.0}[trial.platform]
    # Drift between trials: the two page sizes of a trial share it, and the ratio is free of it.
    drift = 1 + trial.block / 10
    for size in (1 << 20, 64 << 20):
        for page in (SMALL, HUGE):
            slow = cost if page == SMALL and size > 1 << 20 else 1.0
            point = {"working_set_bytes": size, "page_bytes": page}
            yield Sample("latency", 1e-7 * drift * slow, point)


def test_translation_costs_the_ratio_of_page_sizes_within_a_trial(plant):
    (told,) = Comparison(plant(latency, {"probe": "memory.latency"})).conclusions
    assert (
        "out of 64 MiB takes 1.50 [1.50, 1.50] times the 130 ns" in conclusion_sentence(told).text
    )
    assert "3.00 [3.00, 3.00] times" in conclusion_sentence(told).text
    assert (told.worst.platform, told.layer, told.n) == ("b", "memory", 7)
    assert told.worst.value.value == pytest.approx(3.0)


def test_rows_hold_findings_and_conclusions(plant):
    records = plant(latency, {"probe": "memory.latency"})
    rows = [row for row in Comparison(records).rows() if row["kind"] in ("finding", "conclusion")]
    assert [row["kind"] for row in rows] == ["finding"] * (len(rows) - 1) + ["conclusion"]
    assert {row["probe"] for row in rows[:-1]} == {"memory.latency"}
    assert "3.00 [3.00, 3.00] times" in rows[-1]["text"]
    assert (rows[-1]["platform"], rows[-1]["n"]) == ("b", 7)


def test_working_sets_that_a_platform_lacks_are_not_compared(plant):
    def cut(trial):
        # b has no 2 MiB pages for the large set.
        for sample in latency(trial):
            point = sample.point
            if (
                trial.platform == "a"
                or (point["page_bytes"] == SMALL)
                or point["working_set_bytes"] == 1 << 20
            ):
                yield sample

    (told,) = Comparison(plant(cut, {"probe": "memory.latency"})).conclusions
    assert "out of 1 MiB takes 1.00" in conclusion_sentence(told).text


def test_one_core_and_all_cores_are_paired_by_block(plant):
    def stream(trial):
        every = "mode=all" in trial.case.params
        rate = (4e10 if every else 1e10) * (1 + trial.block / 10)
        yield Sample("bandwidth", rate, {"kernel": "triad"})
        yield Sample("bandwidth_per_core", rate / (8 if every else 1), {"kernel": "triad"})

    (told,) = Comparison(
        plant(stream, {"probe": "memory.stream", "sweep": MODES}, platforms=("a",))
    ).conclusions
    assert (
        "25.0 % [25.0 %, 25.0 %] of what all cores get together (6.50 GB/s for each)"
        in conclusion_sentence(told).text
    )


def test_fewer_than_six_launches_have_no_interval(plant):
    def hpcc(trial):
        yield Sample("hpl_efficiency", 0.8)

    (told,) = Comparison(plant(hpcc, {"probe": "hpcc", "ranks": 2}, launches=3)).conclusions
    assert "80.0 % on a and 80.0 % on b" in conclusion_sentence(told).text
    assert (told.worst.value.lo, told.worst.value.hi, told.n) == (None, None, 3)


def test_cached_reads_are_said(plant):
    def reads(trial):
        for block, caveats in ((1 << 20, ()), (1 << 24, ("page-cache",))):
            yield Sample("read_rate", 1e9, {"size_bytes": block}, caveats)

    (told,) = Comparison(
        plant(reads, {"probe": "io.sequential"}, platforms=("a",), launches=6)
    ).conclusions
    assert "6 of 12 read rates on a" in conclusion_sentence(told).text


def test_figures_of_several_cases_are_not_mixed(plant):
    def hpcc(trial):
        yield Sample("hpl_efficiency", 0.8)

    assert Comparison(plant(hpcc, {"probe": "hpcc", "ranks": [2, 4]})).conclusions == []


def test_figures_of_several_layouts_are_not_mixed(plant):
    def hpcc(trial):
        yield Sample("hpl_efficiency", 0.8 / trial.layout.nodes)

    records = plant(hpcc, {"probe": "hpcc", "ranks": 2, "nodes": [1, 2]}, nodes=2)
    assert records.trials.get_column("nodes").unique().sort().to_list() == [1, 2]
    assert Comparison(records).conclusions == []


def test_one_platform_has_conclusions_but_no_verdict(plant):
    def hpcc(trial):
        yield Sample("hpl_efficiency", 0.8)

    records = plant(hpcc, {"probe": "hpcc", "ranks": 2}, platforms=("a",))
    comparison = Comparison(records)
    assert (
        [s.text for s in comparison.sentences]
        == [conclusion_sentence(c).text for c in comparison.conclusions]
        != []
    )
    (row,) = Comparison(records).rows()
    assert row["text"] == conclusion_sentence(comparison.conclusions[0]).text
    assert (row["kind"], row["value"]) == ("conclusion", pytest.approx(0.8))


def test_one_platform_of_which_nothing_can_be_said_is_an_error(plant):
    def peak(trial):
        yield Sample("rate", 1e9)

    with pytest.raises(AnalysisError):
        _ = Comparison(plant(peak, {"probe": "compute.peak"}, platforms=("a",))).sentences
