"""Shares of a peak: the rate of every launch over the peak that its platform's facts give."""

from __future__ import annotations

import math

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.shares import core_flops, wire_bps
from bareline.analysis.numbers.summary import summarize
from bareline.platforms.config import platforms_from_toml
from bareline.session.begin import create_run
from bareline.session.origin import plan_of
from bareline.study.catalogue import find_study
from bareline.vocabulary.model import Measured, Record, Sample

RATES_BPS = {"bare": 9.4e9, "emulated": 1.5e8}


def planted(folder, facts):
    """Plant eight transfers on each of two platforms, with facts by platform."""
    study = find_study("flexible-fabric").with_launches(8)
    nuttcp = [measure for measure in study.measures if measure.probe == "net.nuttcp"]
    study = study.model_copy(update={"measures": nuttcp})
    study = study.with_roles([f"{name}={name}" for name in RATES_BPS] + ["virtio=", "sriov="], [])
    tables = {name: {"type": "null", "nodes": 2} for name in RATES_BPS}
    specs = list(platforms_from_toml({"platform": tables}, where="test").values())
    run = create_run(study, specs, folder / "run", baseline="bare", seed=1)
    with run.writing():
        for name, own in facts.items():
            run.write_facts(name, own)
        for trial in plan_of(run):
            rate = RATES_BPS[trial.platform] * (1 + trial.block / 100)
            outcome = Measured((Sample("rate", rate), Sample("retransmissions", 3.0)))
            started = "2026-01-01T00:00:00+00:00"
            run.append(Record(trial=trial, outcome=outcome, started=started, duration_s=1.0))
    return run


def shares(run):
    rows = summarize(read_runs([run])).iter_rows(named=True)
    return {row["platform"]: row for row in rows if row["metric"] == "share_of_wire"}


def test_every_launch_has_its_share_of_the_wire(tmp_path):
    facts = {"bare": {"net.speed_bps": 1e10}, "emulated": {"net.shaped_bps": 1e9}}
    found = shares(planted(tmp_path, facts))
    assert {name: row["n"] for name, row in found.items()} == {"bare": 8, "emulated": 8}
    assert found["bare"]["value"] == pytest.approx(0.94 * 1.035)
    assert found["emulated"]["value"] == pytest.approx(0.15 * 1.035)
    assert found["bare"]["detail"] and found["bare"]["unit"] == "1"


def test_a_platform_whose_wire_is_not_known_has_no_share(tmp_path):
    assert shares(planted(tmp_path / "some", {"bare": {"net.speed_bps": 1e10}})).keys() == {"bare"}
    run = planted(tmp_path / "none", {"bare": {"net.mtu": 1500}})
    assert shares(run) == {}
    assert "share_of_wire" not in set(read_runs([run]).declarations.get_column("metric"))


@pytest.mark.parametrize("speed", [0, -1, True, "fast", math.inf, math.nan])
def test_a_speed_that_is_no_rate_gives_no_share(speed):
    assert wire_bps({"net.speed_bps": speed}) is None
    assert core_flops({"cpu.peak_flops_per_core": speed}) is None


def test_a_shaped_wire_counts_before_its_link():
    assert wire_bps({"net.speed_bps": 1e10, "net.shaped_bps": 1e9}) == 1e9
    assert wire_bps({"net.rdma.rate_bps": 56e9}) == 56e9


def test_damaged_facts_do_not_keep_records_from_being_read(tmp_path):
    run = planted(tmp_path, {"bare": {"net.speed_bps": 1e10}})
    (run.path / "facts" / "bare.json").write_text("{")
    assert shares(run) == {}
