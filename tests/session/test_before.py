"""Run directories that bareline 0.1.0 wrote still compare, report and continue."""

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.probes.base import ProbeReading
from bareline.probes.null import NullParams, NullProbe
from bareline.report.content.document import document_of
from bareline.report.page.files import write_report
from bareline.session import machine
from bareline.session.origin import plan_of
from bareline.session.reparse import reparse_run
from bareline.session.status import status_of
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import Metric, Sample, format_point

RUNS = Path(__file__).parents[1] / "data" / "runs-0.1.0"


#: "planted" and "measured" are of 0.1.0's beginnings, without sessions; "sessions" has two of them,
#: a control, what does not fit, and what failed and was tried again.
KEPT = ("planted", "measured", "sessions")


@pytest.fixture(params=KEPT)
def run(request, tmp_path):
    shutil.copytree(RUNS / request.param, tmp_path / request.param)
    return Run.open(tmp_path / request.param)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Return a run of 0.1.0 that goes on without the question for another version of bareline."""
    monkeypatch.setattr(machine, "__version__", "0.1.0")
    shutil.copytree(RUNS / "planted", tmp_path / "planted")
    return Run.open(tmp_path / "planted")


def test_it_compares_and_reports(run, tmp_path):
    comparison = Comparison(read_runs([run]))
    assert comparison.table.height > 0
    assert comparison.sentences
    page = write_report(document_of(comparison), tmp_path / "page.html").read_text()
    assert all(name in page for name in run.header.platforms if name != run.header.control)


def test_what_came_with_sessions_is_read(tmp_path):
    shutil.copytree(RUNS / "sessions", tmp_path / "sessions")
    run = Run.open(tmp_path / "sessions")
    assert sorted(run.sessions()) == [1, 2]
    assert run.header.control == "steady-again" and len(run.left_out()) == 2
    assert {row["attempt"] for row in map(json.loads, _lines(run))} == {1, 2}
    comparison = Comparison(read_runs([run]))
    assert comparison.controls
    cells = comparison.table.filter(pl.col("platform") == "slow", pl.col("ratio").is_not_null())
    assert all(1.4 < ratio < 1.6 for ratio in cells["ratio"]) and cells.height == 2


def _lines(run):
    return (run.path / "records.jsonl").read_text().splitlines()


@pytest.mark.parametrize("name", KEPT)
def test_one_of_a_newer_bareline_is_refused_with_what_to_do(tmp_path, name):
    shutil.copytree(RUNS / name, tmp_path / name)
    header = tmp_path / name / "run.toml"
    header.write_text(header.read_text().replace("schema = 1", "schema = 2"))
    with raises(StoreError, "BL-STORE-103", "2"):
        Run.open(tmp_path / name)


def test_its_records_are_of_the_plan_that_is_made_today(run):
    plan = {trial.index: trial for trial in plan_of(run)}
    for index, record in run.finished().items():
        assert record.trial == plan[index]


def test_the_incomplete_one_is_continued_without_loss_or_repetition(planted, execute):
    before = (planted.path / "records.jsonl").read_bytes()
    left = status_of(planted)["remaining"]
    assert left == 8
    tally = execute(planted)
    after = (planted.path / "records.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == before.count(b"\n") + left
    assert tally.remaining == 0
    indices = [record.trial.index for record in planted.records()]
    assert sorted(indices) == list(range(48))


def test_the_truth_that_was_planted_is_found(planted, execute):
    execute(planted)
    table = Comparison(read_runs([planted])).table
    slow = table.filter(platform="slow")["ratio"].to_list()
    assert slow and all(1.4 < ratio < 1.6 for ratio in slow)


def test_raw_output_that_was_kept_reads_the_same(run):
    """Probes may deliver more than they did; what they did deliver stays as it was."""
    before = run.finished()
    raw = {int(file.name[:6]) for file in (run.path / "raw").iterdir()}
    assert reparse_run(run).read == len(raw) >= 3
    after = Run.open(run.path).finished()
    for index, record in before.items():
        assert _values(record) <= _values(after[index])


def _values(record):
    samples = getattr(record.outcome, "samples", ())
    return {(sample.metric, format_point(sample.point), sample.value) for sample in samples}


def test_a_probe_that_delivers_more_today_can_go_on_with_the_run(planted, execute, monkeypatch):
    real = NullProbe.parse
    metrics = {**NullProbe.metrics, "twice": Metric("s", "lower")}
    monkeypatch.setattr(NullProbe, "metrics", metrics)

    def parse(self, params, output):
        samples = real(self, params, output).samples
        twice = (Sample("twice", 2 * sample.value, sample.point) for sample in samples)
        return ProbeReading((*samples, *twice))

    monkeypatch.setattr(NullProbe, "parse", parse)
    assert execute(planted).remaining == 0
    again = Run.open(planted.path)
    assert len(list(again.records())) == 48
    assert Comparison(read_runs([again])).table.height > 0


def test_a_metric_of_another_unit_is_refused(planted, execute, monkeypatch):
    monkeypatch.setattr(NullProbe, "metrics", {"time": Metric("B", "lower")})
    with raises(StoreError, "BL-SESSION-115", "time", "B", "s"):
        execute(planted)


# Defaults -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OtherParams(NullParams):
    """A default that a later bareline changed."""

    points: int = 3


def test_a_run_is_continued_with_the_defaults_that_it_began_with(make_run, execute, monkeypatch):
    run = make_run(launches=2, min_launches=2)
    monkeypatch.setattr(NullProbe, "params", OtherParams)
    execute(Run.open(run.path))
    assert [len(record.outcome.samples) for record in run.records()] == [1] * 4


def test_raw_output_is_read_with_the_parameters_it_was_made_with(make_run, execute, monkeypatch):
    run = make_run(launches=2, min_launches=2)
    execute(run)
    monkeypatch.setattr(NullProbe, "params", OtherParams)
    assert reparse_run(Run.open(run.path)).counts == (4, 0)


def test_a_parameter_that_is_gone_is_refused(make_run):
    run = make_run()
    probes = {"null": {**run.header.probes["null"], "defaults": {"gone": 1}}}
    run.replace_header(replace(run.header, probes=probes))
    with raises(StoreError, "BL-SESSION-228", "gone", "[probe.null.defaults]"):
        plan_of(run)


def test_a_metric_of_another_direction_is_refused(planted, execute, monkeypatch):
    monkeypatch.setattr(NullProbe, "metrics", {"time": Metric("s", "higher")})
    with raises(StoreError, "BL-SESSION-115", "higher", "lower"):
        execute(planted)
