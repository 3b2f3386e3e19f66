"""What a platform changes of a program's calls, against planted curves."""

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest
from planted_programs import network, profile_of, program
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.predict import changes, questions
from bareline.predict.applications import Application, ProfiledLaunch
from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import AS_IT_IS
from bareline.predict.curves.costs import Costs
from bareline.predict.prediction import predict
from bareline.predict.replay.engine import replay
from bareline.predict.replay.reference import ReferenceRun
from bareline.report.terminal.forecasts import forecast_blocks
from bareline.report.writers.markdown import markdown
from bareline.session.forecast import Forecast
from bareline.vocabulary.model import Layout


def test_each_kind_of_calls_has_its_share_and_its_times(monkeypatch, fits):
    ladders = {"fast": network("fast", 2e-6, 5e9), "slow": network("slow", 60e-6, 1e8)}
    trace = program(steps=20, size=2048)
    truth_s = replay(trace, Costs(ladders["fast"])).time_s
    profile = profile_of(trace, truth_s, compute_s=20e-3)
    monkeypatch.setattr(changes, "read_profile", lambda _: profile)
    monkeypatch.setattr(changes, "layout_of", lambda *_: Layout(2, 1))
    monkeypatch.setattr(changes, "read_ladder", lambda _, name, __: ladders[name])
    found = changes.call_changes(Path("x.profile"), None, "fast", "slow")
    adds = [abs(row["adds"]) for row in found]
    assert adds == sorted(adds, reverse=True)
    (pingpong,) = (row for row in found if row["probe"] == "mpi.pingpong")
    size = pingpong["size_bytes"]
    assert pingpong["base_s"] == pytest.approx(2e-6 + size / 5e9)
    assert pingpong["adds"] == pytest.approx(
        pingpong["rate"] * (pingpong["time_s"] - pingpong["base_s"])
    )
    assert pingpong["time_s"] == pytest.approx(60e-6 + size / 1e8)
    done = predict(
        PredictionCase(
            ReferenceRun(profile, trace, ladders["fast"], None), ladders["slow"], AS_IT_IS
        )
    )
    row = Forecast(profile="x", ladder="r", check=None, prediction=asdict(done), changes=found)
    fits("forecast", json.loads(json.dumps([row])))
    text = "\n".join(markdown(forecast_blocks(done, found)))
    assert text.startswith("On slow it will take") and "| mpi.pingpong | 2 |" in text


def test_a_curve_that_a_ladder_lacks_is_no_change(monkeypatch):
    ladder = network("slow")
    lame = network("lame")
    for key in [key for key in lame.curves if "pingpong" in key.probe]:
        del lame.curves[key]
    trace = program(steps=20, size=2048)
    profile = profile_of(trace, replay(trace, Costs(ladder)).time_s, compute_s=20e-3)
    monkeypatch.setattr(changes, "read_profile", lambda _: profile)
    monkeypatch.setattr(changes, "layout_of", lambda *_: Layout(2, 1))
    both = {"slow": ladder, "lame": lame}
    monkeypatch.setattr(changes, "read_ladder", lambda _, name, __: both[name])
    found = changes.call_changes(Path("x.profile"), None, "slow", "lame")
    assert "mpi.pingpong" not in {row["probe"] for row in found}


@pytest.fixture
def run_with_both(monkeypatch, tmp_path):
    """A run that holds a planted program on two platforms, and their ladders."""
    ladders = {"fast": network("fast", 2e-6, 5e9), "slow": network("slow", 60e-6, 1e8)}
    trace = program(steps=20, size=2048)
    found = {}
    for name, ladder in ladders.items():
        launch = ProfiledLaunch(Path("x.profile"), Path("x.trace"), Layout(2, 1))
        wall_s = replay(trace, Costs(ladder)).time_s
        object.__setattr__(launch, "profile", profile_of(trace, wall_s, compute_s=20e-3))
        object.__setattr__(launch, "trace", trace)
        found[name] = Application("app.x ranks=2", name, (launch, launch), 0)
    own = found["fast"].typical
    planted = {"app.x ranks=2": found}
    for module in (questions, changes):
        monkeypatch.setattr(module, "read_profile", lambda _: own.profile)
        monkeypatch.setattr(module, "layout_of", lambda *_: Layout(2, 1))
        monkeypatch.setattr(module, "read_ladder", lambda _, name, __: ladders[name])
    monkeypatch.setattr(questions, "find_trace", lambda *_: trace)
    monkeypatch.setattr(questions, "applications", lambda *_: planted)
    monkeypatch.setattr("bareline.predict.applications.applications", lambda *_: planted)
    records = SimpleNamespace(baseline="fast", runs=())
    monkeypatch.setattr("bareline.cli.forecast.read_records", lambda *_, **__: records)
    path = tmp_path / "r"
    monkeypatch.setattr("bareline.store.run.Run.open", lambda _: SimpleNamespace(path=path))
    path.mkdir()
    return path, found["slow"].median_s


def test_a_run_that_holds_both_is_forecast_without_measuring(run_with_both, fits):
    path, truth_s = run_with_both
    asked = ["forecast", "--from", str(path), "--to", "slow"]
    rows = CliRunner().invoke(app, [*asked, "--json", "--", "app.x"])
    assert rows.exit_code == 0, rows.output
    (row,) = json.loads(rows.stdout)
    fits("forecast", [row])
    done = row["prediction"]
    assert done["lo_s"] < truth_s < done["hi_s"] and done["measured_s"] == [truth_s, truth_s]
    assert row["changes"][0]["time_s"] > row["changes"][0]["base_s"]
    text = CliRunner().invoke(app, [*asked, "--", "app.x"]).stdout
    assert text.startswith("On slow it will take ")
    assert "bareline predict app.x --from" in text and "inside" in text
