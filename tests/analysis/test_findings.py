"""Findings claim what every point says: nothing is pooled, nothing unlike is compared."""

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.vocabulary.model import Failed, Layout, Sample, Stage
from bareline.vocabulary.verdicts import Verdict


def compared(run, **options):
    return Comparison(read_runs([run]), **options)


def noisy(value, generator, spread=0.005):
    return value * float(np.exp(spread * generator.standard_normal()))


def times(factor, spread=0.005):
    """Trials of the null probe, multiplied by ``factor(trial)`` on b."""

    def samples(trial, generator):
        value = 1e-3 * (factor(trial) if trial.platform == "b" else 1.0)
        yield Sample("time", noisy(value, generator, spread), {"point": 0})

    return samples


def cases(count):
    return {"probe": "null", "sweep": {"median_s": [1e-3 * (1 + k) for k in range(count)]}}


def case_of(trial):
    return round(float(dict(p.split("=") for p in trial.case.params.split())["median_s"]) * 1e3) - 1


def test_sizes_stand_in_classes_with_every_point(plant, pingpong):
    found = compared(plant(pingpong({"b": 2.0}))).findings
    assert [finding.subject for finding in found] == [
        "MPI ping-pong below 8 KiB",
        "MPI ping-pong from 8 to 256 KiB",
        "MPI ping-pong from 256 KiB",
    ]
    for finding in found:
        assert finding.verdict is Verdict.SLOWER
        assert finding.ratio.value == pytest.approx(2.0, rel=0.02)
        assert [point.base.value > 0 for point in finding.points] == [True]


def test_half_slower_and_half_faster_is_mixed_never_equal(plant_study):
    run = plant_study(times(lambda trial: 1.3 if case_of(trial) % 2 else 0.77), cases(8))
    (finding,) = compared(run).findings
    assert finding.verdict is Verdict.MIXED
    assert len(finding.of(Verdict.SLOWER)) == len(finding.of(Verdict.FASTER)) == 4


def test_one_of_fifty_cases_is_found_and_named(plant_study):
    run = plant_study(times(lambda trial: 2.5 if case_of(trial) == 17 else 1.0), cases(50))
    (finding,) = compared(run).findings
    assert finding.verdict is Verdict.SLOWER
    (slower,) = finding.of(Verdict.SLOWER)
    assert slower.ratio.value == pytest.approx(2.5, rel=0.02)
    assert "18.0 ms" in finding.label(slower)


def test_kernels_are_not_averaged(plant_study):
    def stream(trial, generator):
        factor = {"copy": 1.3, "triad": 0.77}
        for kernel in ("copy", "scale", "add", "triad"):
            rate = 1e10 * (factor.get(kernel, 1.0) if trial.platform == "b" else 1.0)
            yield Sample("bandwidth", noisy(rate, generator), {"kernel": kernel})

    (finding,) = compared(plant_study(stream, {"probe": "memory.stream"})).findings
    assert finding.verdict is Verdict.MIXED
    assert [finding.label(point) for point in finding.of(Verdict.SLOWER)] == ["triad"]
    assert [finding.label(point) for point in finding.of(Verdict.FASTER)] == ["copy"]


def test_a_lone_large_loss_is_decided_at_six_launches(plant_study):
    """By rank sums any neighbour whose signs agree ties with it: among fifteen one often does."""
    run = plant_study(
        times(lambda trial: 10.0 if case_of(trial) == 3 else 1.0, spread=0.05),
        cases(15), launches=6,
    )  # fmt: skip
    (finding,) = compared(run).findings
    assert len(finding.of(Verdict.SLOWER)) == 1


@pytest.mark.parametrize("platforms", [("a", "b"), ("a", "b", "c", "d")])
def test_calm_platforms_make_no_claims(plant_study, platforms):
    run = plant_study(times(lambda trial: 1.0, spread=0.04), cases(20), platforms=platforms,
                      launches=7)  # fmt: skip
    assert not any(finding.verdict.decided for finding in compared(run).findings)


# Like with like ---------------------------------------------------------------------------------


def on_two_nodes(trial):
    """Two ranks: a has them on one node, b on two."""
    return Layout(2, 1, 1) if trial.platform == "b" else Layout(1, 2, 1)


def test_unlike_layouts_are_not_compared(plant, pingpong):
    comparison = compared(plant(pingpong({"b": 800.0}), layout=on_two_nodes))
    assert set(comparison.table["verdict"]) == {"not-comparable"}
    assert comparison.table["ratio"].is_null().all()
    assert comparison.table["value"].is_not_null().all()
    for finding in comparison.findings:
        assert finding.verdict is Verdict.NOT_COMPARABLE
        assert finding.reason == "two nodes against one node with 2 ranks, which share its memory"
    (statement,) = comparison.statements
    assert "not comparable" in statement.text and "times" not in statement.text


def test_a_study_may_want_unlike_layouts_and_the_words_say_so(plant, pingpong):
    comparison = compared(plant(pingpong({"b": 800.0}), layout=on_two_nodes, layouts="any"))
    assert {finding.verdict for finding in comparison.findings} == {Verdict.SLOWER}
    assert all(
        "other layout: two nodes against" in " ".join(c) for c in comparison.table["caveats"]
    )
    assert "two nodes against one node" in comparison.statements[0].text


def test_equal_layouts_are_compared_and_unknown_ones_too(plant, pingpong):
    for layout in (
        lambda _: Layout(2, 1, 1),
        lambda t: None if t.platform == "b" else Layout(1, 2),
    ):
        found = compared(plant(pingpong({"b": 2.0}), layout=layout)).findings
        assert {finding.verdict for finding in found} == {Verdict.SLOWER}


def test_within_a_node_and_between_nodes_are_two_findings(plant_study, pingpong):
    def samples(trial, generator):
        return pingpong({"b": 2.0}, sizes=(8,))(trial.platform, trial.block, generator)

    run = plant_study(
        samples,
        {"probe": "mpi.pingpong", "ranks": 2, "nodes": 1},
        {"probe": "mpi.pingpong", "ranks": 2, "nodes": 2},
        layout=lambda trial: Layout(trial.case.nodes, 2 // trial.case.nodes, 1),
    )
    assert [finding.subject for finding in compared(run).findings] == [
        "MPI ping-pong below 8 KiB within a node",
        "MPI ping-pong below 8 KiB between two nodes",
    ]


def test_an_emulated_processor_is_not_comparable(plant_study):
    def peak(trial, generator):
        yield Sample("rate", noisy(6e10 / (404 if trial.platform == "b" else 1), generator))

    run = plant_study(
        peak, {"probe": "compute.peak"},
        caveats=lambda trial: ("emulated-cpu",) if trial.platform == "b" else (),
    )  # fmt: skip
    comparison = compared(run)
    (finding,) = comparison.findings
    assert (finding.verdict, finding.reason) == (Verdict.NOT_COMPARABLE, "emulated processor")
    # The figures stand in the tables, without a verdict, and are none of the rows tested.
    row = comparison.table.row(0, named=True)
    assert row["ratio"] == pytest.approx(404, rel=0.02)
    assert (row["verdict"], row["p_adjusted"]) == ("not-comparable", None)
    assert "404" not in comparison.statements[0].text + comparison.glance.headline.text


@pytest.mark.parametrize(
    ("launches", "verdict"), [(10, Verdict.SLOWER), (2, Verdict.NOT_COMPARABLE)]
)
def test_two_emulated_processors_are_compared_where_they_were_launched_often(
    plant_study, launches, verdict
):
    def peak(trial, generator):
        yield Sample("rate", noisy(6e10 / (2 if trial.platform == "b" else 1), generator))

    run = plant_study(
        peak, {"probe": "compute.peak"},
        launches=launches, min_launches=2, caveats=lambda trial: ("emulated-cpu",),
    )  # fmt: skip
    (finding,) = compared(run).findings
    assert finding.verdict is verdict


# Losses, zeros, caveats --------------------------------------------------------------------------


def test_launches_lost_to_time_outs_count_as_slower_than_all(plant_study):
    """The slowest launches of b exceed its limit: leaving them out would call it equal."""

    def samples(trial, generator):
        value = noisy(1e-3, generator, 0.2)
        if trial.platform == "b" and trial.block in (1, 4, 5, 7):
            return Failed(Stage.TIMEOUT, "no end within 1 s")
        return [Sample("time", value, {"point": 0})]

    comparison = compared(plant_study(samples, {"probe": "null"}))
    row = comparison.table.row(0, named=True)
    assert (row["n"], row["n_baseline"]) == (6, 10)
    assert row["hi"] is None and row["lo"] is not None
    assert "4 launches lost to a time limit count as slower than all" in row["caveats"]
    assert "4 launches lost" in comparison.statements[0].text


def test_other_failures_are_no_measurement(plant_study):
    def samples(trial, generator):
        if trial.platform == "b" and trial.block in (1, 4):
            return Failed(Stage.EXIT, "exit code 1")
        return [Sample("time", noisy(1e-3, generator), {"point": 0})]

    row = compared(plant_study(samples, {"probe": "null"})).table.row(0, named=True)
    assert row["hi"] is not None
    assert "2 trials failed" in row["caveats"]


def test_sizes_cut_by_a_budget_count_as_slower(plant_study):
    def samples(trial, generator):
        cut = trial.platform == "b" and trial.block % 3 == 0
        for size in (8, 1 << 20):
            if not (cut and size > 8):
                yield Sample("latency", noisy(1e-6 * (1 + size), generator), {"size_bytes": size})

    run = plant_study(
        samples, {"probe": "mpi.allreduce", "ranks": 2},
        caveats=lambda trial: ("cut",) if trial.platform == "b" and trial.block % 3 == 0 else (),
    )  # fmt: skip
    rows = {row["point"]: row for row in compared(run).table.iter_rows(named=True)}
    assert rows["size_bytes=8"]["hi"] is not None
    assert rows["size_bytes=1048576"]["hi"] is None
    assert "cut (4 of 10 trials)" in rows["size_bytes=8"]["caveats"]


def test_a_headline_of_zero_is_compared_as_a_difference(plant_study):
    def samples(trial, generator):
        lost = 0.0 if trial.platform == "a" else 3.0 + generator.random()
        yield Sample("time", lost, {"point": 0})

    comparison = compared(plant_study(samples, {"probe": "null"}))
    row = comparison.table.row(0, named=True)
    assert row["ratio"] is None
    assert row["difference_lo"] <= row["difference"] <= row["difference_hi"]
    assert (row["verdict"], comparison.findings[0].verdict) == ("slower", Verdict.SLOWER)
    assert "3.38 s worse [3.11 s, 3.71 s] on b (a 0 s)" in comparison.statements[0].text
