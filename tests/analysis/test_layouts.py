"""Like with like: threads count, and a layout that changes within a case splits it."""

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.terminal.results import comparison_blocks
from bareline.vocabulary.model import Layout, Sample
from bareline.vocabulary.pinning import UNBOUND, Pinning

ONE, TWO = Layout(1, 2, 1), Layout(2, 1, 1)


def times(trial, generator):
    """Within a node half of what it takes between two; b is 1.5 times slower anywhere."""
    factor = {"a": 1.0, "b": 1.5}[trial.platform] * (2.0 if trial.layout == TWO else 1.0)
    value = 1e-6 * factor * (1 + generator.normal() / 1000)
    yield Sample("latency", value, {"size_bytes": 8})
    yield Sample("bandwidth", 8 / value, {"size_bytes": 8})


def changed_on_b(trial):
    """Let b go on with other nodes after its sixth launch."""
    return TWO if trial.platform == "b" and trial.block >= 6 else ONE


def compared(run):
    rows = Comparison(read_runs([run])).table.filter(metric="latency")
    return {
        row["nodes"]: (row["n"], row["n_baseline"], row["verdict"], row["ratio"])
        for row in rows.iter_rows(named=True)
    }


PINGPONG = {"probe": "mpi.pingpong", "ranks": 2}


def test_a_layout_that_changes_splits_its_case(plant_study):
    rows = compared(plant_study(times, PINGPONG, launches=12, layout=changed_on_b))
    n, n_baseline, verdict, ratio = rows[1]
    assert (n, n_baseline, verdict) == (6, 12, "slower") and 1.45 < ratio < 1.55
    assert rows[2] == (6, 0, "missing", None)
    assert set(rows) == {1, 2}


def test_each_layout_is_compared_with_its_like(plant_study):
    def both(trial):
        return TWO if trial.block >= 6 else ONE

    rows = compared(plant_study(times, PINGPONG, launches=12, layout=both))
    assert {nodes: row[:3] for nodes, row in rows.items()} == {
        1: (6, 6, "slower"),
        2: (6, 6, "slower"),
    }
    assert all(1.45 < row[3] < 1.55 for row in rows.values())


def test_the_same_asked_for_by_its_nodes_loses_no_launch(plant_study):
    def changed(trial):
        return ONE if trial.case.nodes else changed_on_b(trial)

    run = plant_study(times, PINGPONG, {**PINGPONG, "nodes": 1}, launches=12, layout=changed)
    assert compared(run)[1][:3] == (18, 24, "slower")


def test_a_case_that_kept_its_layouts_is_named_as_it_was(plant_study):
    def unlike(trial):
        return TWO if trial.platform == "b" else ONE

    assert compared(plant_study(times, PINGPONG, layout=unlike)) == {
        0: (10, 10, "not-comparable", None)
    }


def test_threads_are_part_of_like_with_like(plant_study):
    def layout(trial):
        return Layout(1, 2, 4 if trial.platform == "b" else 1)

    comparison = Comparison(read_runs([plant_study(times, PINGPONG, layout=layout)]))
    assert set(comparison.table["verdict"]) == {"not-comparable"}
    assert {finding.reason for finding in comparison.findings} == {
        "one node with 2 ranks, which share its memory of 4 threads against "
        "one node with 2 ranks, which share its memory"
    }


BOUND = Pinning(binding="core")


def test_where_ranks_are_on_a_node_is_part_of_like_with_like(plant_study):
    def layout(trial):
        return Layout(1, 2, 1, BOUND if trial.platform == "b" else UNBOUND)

    comparison = Comparison(read_runs([plant_study(times, PINGPONG, layout=layout)]))
    assert set(comparison.table["verdict"]) == {"not-comparable"}
    within = "one node with 2 ranks, which share its memory"
    assert {finding.reason for finding in comparison.findings} == {
        f"{within}, bound to cores against {within}, not bound"
    }


def test_a_placement_that_a_study_asks_for_is_a_case_of_its_own(plant_study):
    measures = [{**PINGPONG, "binding": binding} for binding in ("none", "core")]

    def layout(trial):
        return Layout(1, 2, 1, Pinning.parse(trial.case.pinning))

    run = plant_study(times, *measures, layout=layout)
    rows = Comparison(read_runs([run])).table.filter(metric="latency")
    assert {row["params"]: (row["n"], row["verdict"]) for row in rows.iter_rows(named=True)} == {
        "binding=none": (10, "slower"),
        "binding=core": (10, "slower"),
    }


def test_a_placement_that_changes_within_a_run_splits_its_case(plant_study):
    def changed(trial):
        return Layout(1, 2, 1, BOUND if trial.block >= 6 else UNBOUND)

    run = plant_study(times, PINGPONG, launches=12, layout=changed)
    rows = Comparison(read_runs([run])).table.filter(metric="latency")
    assert {row["params"]: (row["n"], row["n_baseline"]) for row in rows.iter_rows(named=True)} == {
        "": (6, 6),
        "binding=core": (6, 6),
    }


def test_a_program_of_unlike_layouts_is_said_to_be_predictable(plant_study):
    """It was not comparable, and nothing said that `predict` works for the same pair."""

    def samples(trial, generator):
        yield Sample("time", 1.0 + generator.normal() / 1000)

    def layout(trial):
        return TWO if trial.platform == "b" else ONE

    run = plant_study(samples, {"probe": "app.ocean", "ranks": 2}, layout=layout)
    text = " ".join(str(block) for block in comparison_blocks(Comparison(read_runs([run]))))
    assert f"bareline predict app.ocean --from {run.path} --base a --to b" in text
