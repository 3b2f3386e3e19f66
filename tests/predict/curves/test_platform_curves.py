"""The ladder as it is read from a run, and the whole way from files to a prediction."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from planted_programs import profile_of, program
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.predict.applications import Application
from bareline.predict.curves.curve import without_disturbed
from bareline.predict.curves.platform_curves import read_ladder
from bareline.predict.validation.scores import Trial, Validation
from bareline.probes.mpi._mpibench import MpiParams
from bareline.profile.files import write_profile
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.message_codes import code_of
from bareline.vocabulary.model import Layout


def records(spec=None, facts=None, shared=False):
    """Three launches of a ping-pong with 8 and 16 bytes, one launch without the larger."""
    rows, values = [], []
    for block, times in enumerate(([1.0, 2.0], [3.0, 4.0], [5.0])):
        rows.append(
            {"row": block, "run": 0, "block": block, "platform": "a", "probe": "mpi.pingpong",
             "ranks": 2, "layout": "2x1x1", "status": "measured", "profile": False,
             "clock": "wall", "caveats": ["shared-host"] if shared else []}
        )  # fmt: skip
        for index, value in enumerate(times):
            point = f"size_bytes={8 << index}"
            values.append({"row": block, "metric": "latency", "point": point, "value": value})
    header = SimpleNamespace(platforms={"a": spec or {}})
    return SimpleNamespace(
        trials=pl.DataFrame(rows),
        values=pl.DataFrame(values),
        platforms=["a"],
        facts={"a": facts or {}},
        runs=(SimpleNamespace(path="run", header=header),),
    )


def test_launches_become_rows_of_a_curve():
    ladder = read_ladder(records(), "a", Layout(2, 1))
    curve = ladder.message("mpi.pingpong", 2)
    assert curve.sizes.tolist() == [8, 16] and curve.launches.shape == (3, 2)
    assert curve.raw.tolist() == [3.0, 3.0] and curve.at(12) == 3.0 and ladder.n == 3
    with raises(AnalysisError, "BL-PREDICT-363"):
        read_ladder(records(), "b", Layout(2, 1))


@pytest.mark.parametrize(
    ("metric", "times", "clock", "counted"),
    [
        ("latency_loop_mean", 0.85, "wall", 0.85),  # roots of a loop take turns
        ("latency_loop_mean", 3.0, "wall", 1.02),  # a core was lost
        ("latency_loop_mean", 3.0, "simulated", 3.0),  # cores are not
        ("latency_q3", 1.4, "wall", 1.0),  # one quartile alone is no trimean
    ],
)
def test_the_mean_of_a_loop_counts_unless_a_core_was_lost_in_it(metric, times, clock, counted):
    made = records()
    made.trials = made.trials.with_columns(clock=pl.lit(clock))
    means = made.values.with_columns(metric=pl.lit(metric), value=pl.col("value") * times)
    made.values = pl.concat([made.values, means])
    curve = read_ladder(made, "a", Layout(2, 1)).message("mpi.pingpong", 2)
    assert curve.launches[:, 0].tolist() == pytest.approx(np.multiply([1, 3, 5], counted))


def test_quartiles_of_calls_count_beside_their_median():
    made = records()
    q1, q3 = (
        made.values.with_columns(metric=pl.lit(f"latency_{q}"), value=pl.col("value") * by)
        for q, by in (("q1", 0.9), ("q3", 1.3))
    )
    made.values = pl.concat([made.values, q1, q3])
    curve = read_ladder(made, "a", Layout(2, 1)).message("mpi.pingpong", 2)
    assert curve.launches[:, 0].tolist() == pytest.approx(np.multiply([1, 3, 5], 1.05))


def test_a_launch_that_lost_its_core_does_not_count():
    times = np.full((6, 2), 5e-6)
    times[2, 0], times[4, 1] = 4e-3, np.nan
    kept = without_disturbed(times)
    assert np.isnan(kept[2, 0]) and np.isnan(kept[4, 1]) and np.nanmax(kept) == 5e-6
    # Half of them: nobody knows which half is right.
    times[:3, 0] = 4e-3
    assert np.nanmax(without_disturbed(times)[:, 0]) == 4e-3
    # Twice the time may be the platform's own.
    times[:, 1] = [5e-6, 5e-6, 5e-6, 5e-6, 1e-5, 1e-5]
    assert not np.isnan(without_disturbed(times)[:, 1]).any()


@pytest.mark.parametrize(
    ("spec", "facts", "cores"),
    [({"cores": [0]}, {"cpu.allowed": 8}, 1), ({}, {"cpu.allowed": 8}, None), ({}, {}, None),
     ({}, {"cpu.allowed": 3}, 3)],
)  # fmt: skip
def test_cores_that_ranks_must_share(spec, facts, cores):
    assert read_ladder(records(spec, facts), "a", Layout(1, 4)).cores == cores


def test_nodes_of_one_machine_share_its_cores():
    both = records({}, {"cpu.allowed": 2}, shared=True)
    assert read_ladder(both, "a", Layout(2, 1)).cores is None
    assert read_ladder(both, "a", Layout(2, 2)).cores == 1


def planted_trial(application, error, truth=(1.0, 1.01, 1.02), platform="b", base="a"):
    middle = sorted(truth)[1]
    return Trial(application, base, platform, "delta", 1.0, middle * (1 + error), middle, truth)


def test_scores_count_orders_that_the_measurement_can_tell():
    trials = (
        planted_trial("x", 0.0, (1.0, 1.1, 1.2), "b"),
        planted_trial("x", 0.0, (2.0, 2.1, 2.2), "c"),
        # Overlaps with "c": not counted.
        planted_trial("x", 0.0, (2.1, 2.2, 2.3), "d"),
        planted_trial("x", 2.0, (1.3, 1.4, 1.5), "e"),
    )
    score = Validation(trials).scores[0]
    assert (score.order_right, score.order_of) == (3, 5)
    assert score.n == 4 and score.worst == pytest.approx(2.0) and score.within_15 == 0.75


def test_a_median_of_no_launch_is_never_asked_for():
    nothing = Application("x", "a", (), 3)
    assert nothing.times_s == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "BL-CLI-309"),
        (["PROFILE"], "BL-CLI-327"),
        (["PROFILE", "--from", "RUN", "--to", "b", "--model", "magic"], "BL-CLI-588"),
        (["PROFILE", "--from", "RUN", "--to", "b"], "BL-STORE-971"),
        (["--validate", "RUN"], "BL-STORE-971"),
    ],
)
def test_wrong_command_lines_are_one_line(arguments, code, tmp_path):
    path = tmp_path / "app.profile"
    write_profile(replace(profile_of(program(), 1.0, compute_s=0.5), path=path), path)
    named = [str(path) if one == "PROFILE" else one for one in arguments]
    done = CliRunner().invoke(app, ["predict", *named])
    assert code_of(done.exception) == code and "\n" not in str(done.exception)


def test_the_plan_is_printed(tmp_path):
    path = tmp_path / "app.profile"
    write_profile(replace(profile_of(program(), 1.0, compute_s=0.5), path=path), path)
    done = CliRunner().invoke(app, ["predict", "--plan", str(path)])
    assert done.exit_code == 0 and 'name = "ladder-mpi"' in done.stdout
    assert json.dumps(done.stdout)


def test_sizes_halfway_between_powers_of_two():
    params = MpiParams(min_bytes=8, max_bytes=256, between=True)
    assert params.sizes() == [8, 16, 24, 32, 48, 64, 96, 128, 192, 256]
    assert "--between" in params.options() and "--between" not in MpiParams().options()
    assert MpiParams(min_bytes=20, max_bytes=64, between=True).sizes() == [24, 32, 48, 64]
