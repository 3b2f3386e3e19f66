"""Validation of planted applications on planted platforms, and what is drawn of it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from planted_programs import network, profile_of, program
from rich.console import Console

from bareline.predict import questions
from bareline.predict.applications import Application, ProfiledLaunch
from bareline.predict.curves.costs import Costs
from bareline.predict.replay.engine import replay
from bareline.predict.shares import InputShare, LossSplit
from bareline.predict.validation import cross_validation
from bareline.predict.validation.cross_validation import cross_validate
from bareline.report.content.wording import repeatability_sentence
from bareline.report.figures.predictions import waterfall_chart
from bareline.report.figures.theme import looks
from bareline.report.page.files import write_loss, write_validation
from bareline.report.terminal.predictions import (
    prediction_blocks,
    said_refused,
    validation_blocks,
)
from bareline.report.writers.terminal import print_blocks
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Layout

PLATFORMS = {
    "fast": {"latency": 2e-6, "rate": 5e9},
    "middle": {"latency": 15e-6, "rate": 1e9},
    "slow": {"latency": 60e-6, "rate": 1e8},
}


@pytest.fixture
def planted(monkeypatch):
    """Five programs whose truth is their replay with a little noise, on three platforms."""
    rng = np.random.default_rng(3)
    ladders = {name: network(name, **given) for name, given in PLATFORMS.items()}
    found: dict[str, dict[str, Application]] = {}
    for size in (8, 2048, 100_000, 400_000):
        trace = program(steps=20, size=size)
        for name, ladder in ladders.items():
            truth = replay(trace, Costs(ladder)).time_s
            launches = []
            for _ in range(4):
                launch = ProfiledLaunch(Path("x.profile"), Path("x.trace"), Layout(2, 1))
                wall = truth * np.exp(0.01 * rng.standard_normal())
                # What files would give, by the names under which they are kept once read.
                object.__setattr__(launch, "profile", profile_of(trace, wall, compute_s=20e-3))
                object.__setattr__(launch, "trace", trace)
                launches.append(launch)
            found.setdefault(f"app{size}", {})[name] = Application(
                f"app{size}", name, tuple(launches), 1
            )
    monkeypatch.setattr(cross_validation, "applications", lambda *_, **__: found)
    monkeypatch.setattr(cross_validation, "read_ladder", lambda _, name, __: ladders[name])
    return found


def test_the_replay_beats_the_naive_predictions(planted, tmp_path, fits):
    told: list[tuple[str, int, int]] = []
    done = cross_validate(None, note=lambda *step: told.append(step))
    scores = {score.model: score for score in done.scores}
    assert not done.refused and done.disturbed == 12
    assert len(told) == 4 * 6 == scores["replay"].n
    assert [step[1:] for step in told] == [(position, 24) for position in range(1, 25)]
    assert scores["replay"].median < 0.03 and scores["replay"].p90 < 0.06
    assert scores["replay"].median < scores["no-change"].median
    assert scores["replay"].p90 < scores["latency-ratio"].p90
    assert scores["replay"].order_right == scores["replay"].order_of > 0
    assert 0.7 <= scores["replay"].coverage <= 1
    rows = json.loads(json.dumps(done.rows()))
    fits("predict-validate", rows)
    assert {row["type"] for row in rows} == {"score", "score-again", "trial", "call"}
    again = done.repeated
    assert again is not None and again.n == 12 and again.order_of == 0
    # The planted noise is 1 %, of one launch against the middle of two.
    assert 0 < again.median < 0.03 and repeatability_sentence(again).startswith("Measured again")
    files = write_validation(done, tmp_path / "figures")
    assert {file.suffix for file in files} == {".svg", ".png"}
    svg = (tmp_path / "figures" / "predicted-replay.svg").read_text()
    assert "measured" in svg and "slow" in svg


def test_each_program_has_the_interval_of_its_prediction(planted):
    """It was made of the errors of the other programs of the run: no prediction had it."""
    done = cross_validate(None)
    replays = [trial for trial in done.trials if trial.model == "replay"]
    assert len(replays) >= 6
    for trial in replays:
        width = math.log(trial.hi_s / trial.time_s)
        parts = math.hypot(trial.launches, trial.ladder, trial.residual)
        # Its launches show how well it repeats itself, although it runs for less than 50 ms.
        assert width == pytest.approx(parts)
        assert trial.inside
    lines = printed(validation_blocks(done))
    assert "Predictions by replay, the worst first" in lines
    assert "100%" in lines


def test_what_cannot_be_predicted_is_listed(planted, monkeypatch):
    ladder = network("slow", **PLATFORMS["slow"])
    lame = replace(ladder, curves={k: c for k, c in ladder.curves.items() if "pong" not in k.probe})
    good = cross_validation.read_ladder
    monkeypatch.setattr(
        cross_validation,
        "read_ladder",
        lambda r, name, la: lame if name == "slow" else good(r, name, la),
    )
    done = cross_validate(None)
    assert len(done.refused) == 4 * 4
    assert all("mpi.pingpong" in why for _, why in done.refused)
    # One reason is one line, however many pairs it refuses.
    (line,) = said_refused(done.refused)
    assert line.startswith("Refused, 16: ") and "and 13 more" in line and "mpi.pingpong" in line


def test_an_application_of_a_run_is_held_against_what_was_measured_there(
    planted, monkeypatch, fits
):
    own = {name: one.typical for name, one in planted["app2048"].items()}
    monkeypatch.setattr(questions, "applications", lambda *_: planted)
    monkeypatch.setattr(questions, "read_profile", lambda _: own["fast"].profile)
    monkeypatch.setattr(questions, "find_trace", lambda *_: own["fast"].trace)
    monkeypatch.setattr(questions, "layout_of", lambda *_: Layout(2, 1))
    monkeypatch.setattr(questions, "read_ladder", cross_validation.read_ladder)
    run = SimpleNamespace(baseline="fast", runs=())
    done = questions.answer("app2048", run, to="slow")
    truth = planted["app2048"]["slow"].times_s
    assert list(done.measured_s) == truth and asdict(done)["measured_s"] == tuple(truth)
    fits("predict", json.loads(json.dumps([asdict(done)])))
    assert done.lo_s < np.median(truth) < done.hi_s
    # What was measured there is no part of the prediction.
    again = questions.answer(Path("x.profile"), run, to="slow")
    assert again.measured_s == ()
    # A profile by hand that was made elsewhere is not taken for one of the base.
    for elsewhere, library in (
        ({"nodes": 1}, ""),
        ({"nodes": 1, "mpi": "MPICH Version: 4.0.2"}, "MPICH Version: 4.0.2"),
    ):
        by_hand = replace(own["fast"].profile, **elsewhere)
        monkeypatch.setattr(questions, "read_profile", lambda _, made=by_hand: made)
        with raises(AnalysisError, "BL-PREDICT-362", library) as caught:
            questions.answer(Path("x.profile"), run, to="slow")
        assert "--base" in (caught.value.hint or "")
    # A profile alone is one launch; of a run the median of all of them is what is predicted from.
    assert done.base_s == np.median(planted["app2048"]["fast"].times_s)
    assert again.base_s == own["fast"].time_s
    assert again.time_s / again.base_s == pytest.approx(done.time_s / done.base_s)
    # With a change of a platform nothing was measured.
    changed = questions.answer("app2048", run, to="slow", what_if=("latency=x2",))
    assert changed.measured_s == ()
    assert "inside the interval; the prediction is " in said(done)
    assert "OUTSIDE the interval" in said(replace(done, measured_s=(2 * done.hi_s,)))


def said(prediction):
    return printed(prediction_blocks(prediction))


def printed(blocks):
    console = Console(file=StringIO(), width=200)
    print_blocks(blocks, console)
    return console.file.getvalue()


def test_an_application_that_the_run_does_not_hold_is_refused_by_name(planted, monkeypatch):
    monkeypatch.setattr(questions, "applications", lambda *_: planted)
    run = SimpleNamespace(baseline="fast", runs=())
    with raises(AnalysisError, "BL-PREDICT-116", "app204") as refused:
        questions.answer("app204", run, to="slow")
    assert "app2048" in (refused.value.hint or "")


def test_a_waterfall_ends_where_b_begins(tmp_path):
    shares = (
        InputShare("latency", 0.6, 0.5, 0.7, 0.6),
        InputShare("collectives", -0.1, -0.12, -0.08, -0.1),
        InputShare("residual", 0.5, 0.4, 0.6, 0.5),
    )
    loss = LossSplit("a", "b", (1.0, 1.0, 1.0), (2.0, 2.0, 2.0), 1.0, shares)
    assert loss.loss_s == pytest.approx(1.0) and loss.explained == pytest.approx(0.5)
    assert "not explained" in json.dumps(waterfall_chart(loss, looks(["a", "b"])))
    files = write_loss(loss, tmp_path)
    assert all(file.stat().st_size > 1000 for file in files)
