"""Scaling exhibits on planted speeds: efficiency, its interval, gaps and where it starts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.platforms.config import platforms_from_toml
from bareline.report.blocks import Figure
from bareline.report.content.document import Document, document_of
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Failed, Measured, Record, Sample, Stage, Trial

Draw = Callable[..., list[Figure]]
Rows = Callable[[Figure], list[dict[str, Any]]]
Plant = Callable[..., Document]

#: Efficiency of a case on so many ranks: what is lost at each doubling multiplies.
PLANTED = 0.9
KERNEL = ("compute", "communication", "compute_mean", "communication_mean")


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory) -> Plant:
    """Make a document of one measure with the samples of ``samples(trial, drift)``.

    The machine drifts by a third over the run: only blocks tell the efficiency sharply.
    """

    def make(measure: dict[str, Any], samples: Callable[[Trial, float], Any]) -> Document:
        study = study_from_toml(
            {"study": {"name": "s", "launches": 10, "precision": 0}, "measure": [measure]},
            where="t",
        )
        sizes = {"small": 4, "large": 16, "late": 16}
        specs = platforms_from_toml(
            {"platform": {n: {"type": "null", "cores_per_node": c} for n, c in sizes.items()}},
            where="t",
        )
        folder: Path = tmp_path_factory.mktemp("scaling") / "run"
        run = begin.create_run(study, list(specs.values()), folder, baseline="large")
        with run.writing():
            for trial in plan_of(run):
                found = samples(trial, 1 + trial.block / 30)
                outcome = found if isinstance(found, Failed) else Measured(tuple(found))
                run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=0.1))
        return document_of(Comparison(read_runs([run])))

    return make


def kernel(trial: Trial, drift: float) -> Any:
    ranks = trial.case.ranks
    if ranks == 4 or (ranks == 1 and trial.platform == "late"):
        return Failed(Stage.EXIT, "planted")
    noise = np.random.default_rng(trial.index).normal(1, 1e-4)
    time_s = 8.0 * drift / (ranks * PLANTED ** np.log2(ranks)) * float(noise)
    return [
        Sample("time", time_s),
        Sample("rate", 1e9 / time_s),
        *(Sample(name, time_s / 2) for name in KERNEL),
        Sample("imbalance", 1.0),
    ]


@pytest.fixture(scope="module")
def strong(plant: Plant) -> Document:
    """Return a kernel by powers of ranks; four ranks fail everywhere, one on a platform."""
    measure = {"probe": "npb.ep", "params": {"problem_class": "S"}, "ranks": "powers"}
    return plant(measure, kernel)


def rows(figure: Figure) -> dict[tuple[str, int], list[Any]]:
    assert figure.data_table is not None
    return {(row[0].text, int(row[1].order or 0)): list(row) for row in figure.data_table.rows}


@pytest.mark.parametrize("metric", ["time", "rate"])
def test_efficiency_is_the_planted_one_whatever_the_machine_drifts(
    strong: Document, figures: Draw, metric: str
) -> None:
    (figure,) = figures(strong, kind="scaling", probe="npb.ep", metric=metric)
    found = rows(figure)
    assert {ranks for name, ranks in found if name == "large"} == {1, 2, 8, 16}
    assert {ranks for name, ranks in found if name == "small"} == {1, 2}
    for (name, ranks), row in found.items():
        steps = np.log2(ranks) - (1 if name == "late" else 0)
        planted = 100 * PLANTED**steps
        assert row[-3].order == pytest.approx(planted, rel=1e-3)
        if steps == 0:
            assert row[-2].text == "", "the first is 100 % by definition"
        else:
            low, high = (float(end) for end in row[-2].text.split("–"))
            assert low <= round(planted) <= high and high - low <= 1


@pytest.mark.parametrize("metric", ["time", "rate", "communication"])
def test_no_line_crosses_what_failed_everywhere(
    strong: Document, figures: Draw, rows_of: Rows, metric: str
) -> None:
    (figure,) = figures(strong, kind="scaling", probe="npb.ep", metric=metric)
    stretch = {
        (row["series"], row["x"]): row["stretch"] for row in rows_of(figure) if "series" in row
    }
    assert stretch["large", 1] == stretch["large", 2]
    assert stretch["large", 2] != stretch["large", 8] == stretch["large", 16]


def test_unlike_starts_are_said(strong: Document, figures: Draw) -> None:
    (figure,) = figures(strong, kind="scaling", probe="npb.ep", metric="time")
    told = "100 % at different places: large 1 rank, late 2 ranks and small 1 rank."
    assert told in figure.caption


def test_the_ideal_line_halves_the_time_and_doubles_the_rate(
    strong: Document, figures: Draw, rows_of: Rows
) -> None:
    for metric, power in (("time", -1), ("rate", 1)):
        (figure,) = figures(strong, kind="scaling", probe="npb.ep", metric=metric)
        found = rows(figure)
        lines = {
            (row["x"], row["y"])
            for row in rows_of(figure)
            if row.get("stretch") == "large" and "series" not in row
        }
        assert len(lines) > 10
        first = next(y for x, y in lines if x == 1)
        assert all(y == pytest.approx(first * x**power) for x, y in lines)
        assert found["large", 1][2].order is not None


def solver(trial: Trial, drift: float) -> list[Sample]:
    """Plant a rate of 1 Gflop/s a rank, a tenth of which is lost at each doubling."""
    ranks = trial.case.ranks
    order = int(dict(part.split("=") for part in trial.case.params.split())["n"])
    rate = 1e9 * ranks * PLANTED ** np.log2(ranks) / drift
    return [Sample("rate", float(rate)), Sample("time", order * ranks / float(rate))]


def test_a_problem_that_grows_with_the_ranks_is_one_line(
    plant: Plant, figures: Draw, rows_of: Rows
) -> None:
    weak = plant(
        {"probe": "compute.linpack_mpi", "per_rank": {"n": 100}, "ranks": "powers"}, solver
    )
    spec = {"kind": "scaling", "probe": "compute.linpack_mpi", "metric": "rate"}
    assert len(figures(weak, **spec)[0].panels) > 1, "as strong scaling they are other problems"
    (figure,) = figures(weak, **spec, scaling="weak")
    assert len(figure.panels) == 1
    for (_, ranks), row in rows(figure).items():
        assert row[-3].order == pytest.approx(100 * PLANTED ** np.log2(ranks), rel=1e-6)
    assert "the problem grows with the ranks" in figure.caption
