"""``profile = true``: every trial's profile beside its raw output, and nothing mixed."""

from __future__ import annotations

import os

import polars as pl
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.analysis.words.comparison import Comparison
from bareline.platforms.config import platforms_from_toml
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.probes.base import find_probe
from bareline.profile.files import read_profile
from bareline.profile.launch import PROFILE_FILE, why_unprofiled
from bareline.report.content.document import document_of
from bareline.report.content.profiles import profile_lines
from bareline.report.exhibits.base import find_exhibit
from bareline.report.page.html import render_page
from bareline.session import begin
from bareline.session.judge import judge_output
from bareline.session.origin import plan_of
from bareline.session.reparse import reparse_run
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, StudyError
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Failed, Measured, Output, Record, Sample, Stage, Trial

# Few calls, and time enough for ranks that wait for cores.
EFFORT = {"max_bytes": 8, "min_bytes": 8, "iterations": 20, "budget_s": 20}
EXCHANGE = {"probe": "mpi.exchange", "params": EFFORT}
PLAIN, PROFILED = EXCHANGE, {**EXCHANGE, "profile": True}


def study(*measures, launches=1):
    head = {"name": "s", "launches": launches, "precision": 0}
    return study_from_toml({"study": head, "measure": list(measures)}, where="test")


def test_what_calls_no_mpi_cannot_be_profiled():
    with raises(StudyError, "BL-STUDY-874", "memory.stream"):
        study({"probe": "memory.stream", "profile": True})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (None, ""),
        ("", ""),
        ('{"type": "profile", "schema": "bareline.profile", "version": 9}\n', " 9"),
        ("{", "profile"),
    ],
)
def test_a_missing_profile_is_a_failed_record_with_its_reason(text, value):
    files = {} if text is None else {PROFILE_FILE: text}
    null = find_probe("null")
    output = Output(stdout="[1.0]", stderr="ld.so: no\n", exit_code=0, duration_s=0.1, files=files)
    plain = judge_output(null, null.make_params({}), output, 5).outcome
    assert isinstance(plain, Measured)
    outcome = judge_output(null, null.make_params({}), output, 5, profile=True).outcome
    assert isinstance(outcome, Failed) and outcome.stage is Stage.PARSE
    assert value in outcome.reason and "ld.so: no" in outcome.reason


def test_an_unfinished_profile_is_not_taken_for_a_whole_one(pytestconfig):
    text = (pytestconfig.rootpath / "tests/profile/data/planted.profile").read_text()
    output = Output(stdout="", stderr="", exit_code=0, duration_s=0.1, files={PROFILE_FILE: text})
    assert why_unprofiled(output) == ""
    ended = text.replace('"complete":true', '"complete":false,"ended":"rank 1 was lost"')
    assert ended != text
    cut = Output(stdout="", stderr="", exit_code=0, duration_s=0.1, files={PROFILE_FILE: ended})
    assert "rank 1 was lost" in why_unprofiled(cut)


@pytest.fixture
def measure(tmp_path, execute):
    """Measure a study on one platform that can be here, or skip."""

    def go(chosen, **platform) -> Run:
        if platform["type"] == "netns" and os.geteuid() != 0:
            pytest.skip("needs root")
        try:
            mpi = find_mpi(platform["mpi"])
        except PlatformError as error:
            pytest.skip(str(error))
        if mpi.mpicc is None:
            pytest.skip(f"{mpi.title} has no compiler wrapper here")
        specs = list(platforms_from_toml({"platform": {"p": platform}}, where="t").values())
        run = begin.create_run(chosen, specs, tmp_path / "run", baseline="p")
        execute(run)
        return run

    return go


def peers(profile):
    """Give the number of messages by the peer's place."""
    sends = profile.calls.filter((pl.col("sent_bytes") > 0) & (pl.col("peer") != "none"))
    return dict(sends.group_by("peer").agg(pl.col("count").sum()).rows())


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_a_trial_leaves_its_profile_and_the_page_sums_it_up(measure, flavour):
    run = measure(study({**PLAIN, "ranks": 2}, {**PROFILED, "ranks": 2}), type="local", mpi=flavour)
    plain, profiled = sorted(run.finished().values(), key=lambda r: r.trial.case.profile)
    assert plain.status == profiled.status == "measured", (plain, profiled)
    assert "profiled" in profiled.caveats and "profiled" not in plain.caveats
    assert not run.raw_file(plain.trial.index, PROFILE_FILE).exists()
    path = run.raw_file(profiled.trial.index, PROFILE_FILE)
    profile = read_profile(path)
    assert profile.complete and profile.ranks == 2 and profile.command.startswith("mpibench")
    assert set(peers(profile)) == {"same-node"}
    assert reparse_run(run).counts == (2, 0)
    (line,) = profile_lines(records := read_runs([run]))
    assert (line.probe, line.platform, line.n, line.path) == ("mpi.exchange", "p", 1, path)
    assert 0 < line.mpi < 1 and line.computing + line.mpi + line.files == pytest.approx(1, abs=0.02)
    (first, *_) = line.dominant
    assert first.low_bytes <= first.high_bytes and 0 < first.share <= 1
    assert first.per_rank >= 1 and line.memory_bytes > 1e6 and line.file_bytes == 0
    document = document_of(Comparison(records))
    (figure,) = find_exhibit("profile").figures(document, ExhibitSpec(kind="profile"))
    assert any("MPI_" in field.text for row in figure.data_table.rows for field in row)
    assert f"raw/{path.parent.name}/{path.name}" in render_page(document)


@pytest.mark.mpi
@pytest.mark.netns
def test_peers_on_another_node_are_told_from_those_on_the_same(measure):
    run = measure(study({**PROFILED, "ranks": 4}), type="netns", mpi="openmpi", hosts=2, rate=None)
    (record,) = run.finished().values()
    assert record.status == "measured", record.outcome
    profile = read_profile(run.raw_file(0, PROFILE_FILE))
    assert profile.nodes == 2
    assert profile.rank_table.sort("rank")["node"].to_list() == [0, 0, 1, 1]
    assert profile.rank_table["host"].n_unique() == 2
    # Each rank exchanges with both neighbours of a ring: one of them is on its own node. Before,
    # the first and the last rank have sent each other two bytes, to time the first message.
    found = peers(profile)
    assert found["same-node"] == found["other-node"] - 4 > 0
    neighbours = {(0, 1), (1, 2), (2, 3), (3, 0)}
    pairs = {tuple(sorted(pair)) for pair in profile.send_table.select("from", "to").rows()}
    assert pairs >= {tuple(sorted(pair)) for pair in neighbours}
    whole_job = profile.calls.filter((pl.col("comm_size") == 4) & (pl.col("call") == "MPI_Barrier"))
    assert whole_job["comm_nodes"].to_list() == [2]


def test_profiled_and_plain_trials_are_never_mixed(tmp_path, null_platforms):
    measures = (
        {"probe": "mpi.barrier", "ranks": 2},
        {"probe": "mpi.barrier", "ranks": 2, "profile": True},
    )
    specs = null_platforms(a={}, b={})
    run = begin.create_run(study(*measures, launches=6), specs, tmp_path / "r", baseline="a")
    metrics = find_probe("mpi.barrier").metrics

    def latency(trial: Trial) -> float:
        # On b the profiler costs more than on a: together they would give another ratio.
        slower = 1.5 if trial.platform == "b" else 1.0
        return 1e-6 * slower * (2 * slower if trial.case.profile else 1)

    with run.writing():
        for trial in plan_of(run):
            samples = tuple(Sample(metric, latency(trial)) for metric in metrics)
            run.append(Record(trial=trial, outcome=Measured(samples), started="t", duration_s=0.1))
    records = read_runs([run])
    table = summarize(records).filter(pl.col("metric") == "latency")
    found = {(row["platform"], row["params"]): row["value"] for row in table.to_dicts()}
    assert found == {
        ("a", ""): pytest.approx(1e-6),
        ("a", "profile=true"): pytest.approx(2e-6),
        ("b", ""): pytest.approx(1.5e-6),
        ("b", "profile=true"): pytest.approx(4.5e-6),
    }
    (finding,) = Comparison(records, "a").findings
    assert finding.ratio.value == pytest.approx(1.5)
    assert profile_lines(records) == []
