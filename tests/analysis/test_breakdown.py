"""Where a program's extra time goes: pieces add up to the loss, and what they leave is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bareline.analysis.numbers.programs import application_of
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.profile.files import read_profile, write_profile
from bareline.profile.launch import PROFILE_FILE
from bareline.report.content.waterfall import waterfalls
from bareline.vocabulary.model import Sample

PROFILES = Path(__file__).parents[1] / "profile" / "data"


def program(times):
    """Samples of a program whose computation and communication take so long on each platform."""

    def samples(trial, generator):
        compute, communicate = times[trial.platform]
        noise = float(np.exp(0.003 * generator.standard_normal()))
        yield Sample("time", (compute + communicate) * noise)
        yield Sample("rate", 1 / (compute + communicate))
        for name, value in (("compute", compute), ("communication", communicate)):
            yield Sample(name, value * noise)
            yield Sample(f"{name}_mean", value * noise)
        yield Sample("imbalance", 1.0)

    return samples


def test_a_programs_own_split_adds_up_to_its_loss(plant_study):
    run = plant_study(
        program({"a": (1.0, 1.0), "b": (1.2, 3.0)}), {"probe": "app.ocean", "ranks": 4}
    )
    (one,) = Comparison(read_runs([run])).breakdowns
    assert one.source == "clock"
    extra = {piece.name: piece.extra for piece in one.pieces}
    assert extra["computation"] == pytest.approx(0.1, abs=0.02)
    assert extra["communication"] == pytest.approx(1.0, abs=0.03)
    assert abs(one.residual.value) < 0.02
    assert one.residual.lo < 0.01 and one.residual.hi > -0.01
    (drawn,) = waterfalls([one])
    assert [bar.name for bar in drawn.bars] == [
        "a", "computation", "communication", "not explained", "b",
    ]  # fmt: skip
    last = drawn.bars[-1]
    assert last.start == 0 and last.width <= 100
    for before, after in zip(drawn.bars[1:3], drawn.bars[2:4], strict=True):
        assert after.start == pytest.approx(before.start + before.width, abs=0.9)


def test_what_is_not_certainly_slower_has_no_waterfall(plant_study):
    run = plant_study(
        program({"a": (1.0, 1.0), "b": (1.0, 1.0)}), {"probe": "app.ocean", "ranks": 4}
    )
    assert not Comparison(read_runs([run])).breakdowns


def test_the_worst_case_of_each_program_is_drawn(plant_study):
    def samples(trial, generator):
        slow = 1.0 + trial.case.ranks / 10 if trial.platform == "b" else 1.0
        yield from program({trial.platform: (1.0, slow)})(trial, generator)

    run = plant_study(samples, {"probe": "app.ocean", "ranks": [2, 4, 8]})
    every = Comparison(read_runs([run])).breakdowns
    assert len(every) == 3
    (drawn,) = waterfalls(every)
    assert "8 ranks" in drawn.title


def test_one_profile_beside_the_launches_is_planned_once_and_is_no_point(plant_study):
    run = plant_study(
        program({"a": (1.0, 1.0), "b": (1.2, 3.0)}),
        {"probe": "app.ocean", "ranks": 4, "profile": "once"},
        launches=8,
    )
    comparison = Comparison(read_runs([run]))
    profiled = comparison.records.trials.filter("profile")
    assert profiled.height == 2 and set(profiled["block"]) == {0}
    (finding,) = comparison.findings
    assert len(finding.points) == 1


def test_calls_and_sizes_come_from_profiles_where_both_sides_have_one(plant_study):
    """A collective that takes a second longer on each rank of b is the piece, with its size."""
    base = read_profile(PROFILES / "planted.profile")
    table = base.call_table.with_row_index("at")
    chosen = table.filter(pl.col("kind") == "collective").sort("time_ns").row(-1, named=True)
    longer = pl.when(pl.col("at") == chosen["at"]).then(10**9 * base.ranks).otherwise(0)
    slow = replace(
        base, call_table=table.with_columns(pl.col("time_ns") + longer).drop("at")
    )  # fmt: skip
    run = plant_study(
        program({"a": (1.0, 1.0), "b": (1.0, 2.0)}),
        {"probe": "app.ocean", "ranks": 4, "profile": "once"},
    )
    for record in run.records():
        if record.trial.case.profile:
            place = run.raw_file(record.trial.index, PROFILE_FILE, record.attempt)
            place.parent.mkdir(parents=True, exist_ok=True)
            write_profile(base if record.trial.platform == "a" else slow, place)
    (one,) = Comparison(read_runs([run])).breakdowns
    assert one.source == "profile"
    (piece,) = one.pieces
    assert piece.name in ("small collectives", "large collectives")
    assert piece.extra == pytest.approx(0.5, abs=0.01)
    assert piece.call.startswith(chosen["call"]) and piece.call.endswith("dearer")
    assert abs(one.residual.value) < 0.02


def _longer(profile, kind, seconds):
    """The profile with so much more time on each rank, computing or in the busiest call."""
    ranks, table = profile.rank_table, profile.call_table.with_row_index("at")
    extra_ns = round(seconds * 1e9)
    if kind == "compute":
        longer = ranks.with_columns(pl.col("compute_ns") + extra_ns)
        return replace(profile, rank_table=longer, call_table=table.drop("at"))
    chosen = table.filter(pl.col("kind") == kind).sort("time_ns").row(-1, named=True)["at"]
    more = pl.when(pl.col("at") == chosen).then(extra_ns * profile.ranks).otherwise(0)
    return replace(profile, call_table=table.with_columns(pl.col("time_ns") + more).drop("at"))


#: What a second program's launch takes longer on b, in s: a large message, a small collective.
PLANTED = {"compute": 0.3, "send": 0.4, "collective": 0.2}


@pytest.mark.parametrize("kinds", [("compute",), ("send",), ("collective",), tuple(PLANTED)])
def test_the_pieces_are_those_of_all_launches_not_of_the_first(plant_study, kinds):
    """The first launch says four times as much of everything: the median does not follow it."""
    base = read_profile(PROFILES / "planted.profile")
    extra = sum(PLANTED[kind] for kind in kinds)
    run = plant_study(
        program({"a": (1.0, 1.0), "b": (1.0, 1.0 + extra)}),
        {"probe": "app.ocean", "ranks": 4, "profile": True},
    )
    for record in run.records():
        own = base
        if record.trial.platform == "b":
            times = (4.0, 0.9, 1.0, 1.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)[record.trial.block]
            for kind in kinds:
                own = _longer(own, kind, times * PLANTED[kind])
        place = run.raw_file(record.trial.index, PROFILE_FILE, record.attempt)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_profile(own, place)
    (one,) = Comparison(read_runs([run])).breakdowns
    assert one.source == "profile" and one.launches >= 6
    found = {piece.name.split()[-1].removesuffix("s"): piece for piece in one.pieces}
    names = {"compute": "computation", "send": "message", "collective": "collective"}
    assert set(found) == {names[kind] for kind in kinds}
    for kind in kinds:
        piece = found[names[kind]]
        assert piece.extra == pytest.approx(PLANTED[kind] / 2, rel=0.03)
        assert piece.lo <= PLANTED[kind] / 2 <= piece.hi
        assert piece.hi == pytest.approx(4 * PLANTED[kind] / 2, rel=0.03)
    assert abs(one.residual.value) < 0.02
    largest = max(kinds, key=PLANTED.__getitem__)
    assert one.largest == found[names[largest]]
    if largest != "compute":
        assert one.largest.dearest.times > 1.1 and one.largest.dearest.name.startswith("MPI_")
    (drawn,) = waterfalls([one])
    assert drawn.source == f"profiles, median over {one.launches} pairs of launches"


def test_one_profiled_pair_is_split_by_its_own_ratio(plant_study):
    """The profiled pair differs by half, the launches beside it double: its pieces are its own."""

    def samples(trial, generator):
        slow = 2.0 if trial.case.profile else 3.0
        yield from program({trial.platform: (1.0, slow if trial.platform == "b" else 1.0)})(
            trial, generator
        )

    base = read_profile(PROFILES / "planted.profile")
    run = plant_study(samples, {"probe": "app.ocean", "ranks": 4, "profile": "once"})
    for record in run.records():
        if record.trial.case.profile:
            place = run.raw_file(record.trial.index, PROFILE_FILE, record.attempt)
            place.parent.mkdir(parents=True, exist_ok=True)
            own = _longer(base, "send", 1.0) if record.trial.platform == "b" else base
            write_profile(own, place)
    (one,) = Comparison(read_runs([run])).breakdowns
    assert one.ratio.value == pytest.approx(1.5, rel=0.02) and not one.ratio.bounded
    assert abs(one.residual.value) < 0.02
    (drawn,) = waterfalls([one])
    assert drawn.source == "profiles of one launch on each side"


def test_a_replayed_loss_is_the_sum_that_the_page_shows(plant_study):
    """The terminal said that 39 % were not explained, and the page of the same run 2 %."""
    run = plant_study(
        program({"a": (1.0, 1.0), "b": (1.2, 3.0)}), {"probe": "app.ocean", "ranks": 4}
    )
    comparison = Comparison(read_runs([run]))
    (loss,) = comparison.breakdowns
    name = application_of(loss.cell.place)
    shares = [
        {"input": "bandwidth", "time_s": 1.0, "lo_s": 0.9, "hi_s": 1.1},
        {"input": "compute", "time_s": 0.4, "lo_s": 0.3, "hi_s": 0.5},
        {"input": "residual", "time_s": 0.8, "lo_s": 0.7, "hi_s": 0.9},
    ]
    measured = {"measured_a": [2.0] * 6, "measured_b": [4.2] * 6}
    kept = {
        "application": name,
        "loss": {"base": "a", "platform": "b", **measured, "shares": shares},
    }
    for text, source in (
        (json.dumps({"losses": [kept]}), "replay"),
        (json.dumps({"losses": [{**kept, "loss": {"base": "a"}}]}), "clock"),
        (json.dumps({"losses": 3}), "clock"),
        (json.dumps({"losses": [kept]}).replace("0.9", "NaN"), "clock"),
        (json.dumps({"losses": [kept]}).replace("2.0", "0.0"), "clock"),
        ("[", "clock"),
    ):
        (run.path / "predictions.json").write_text(text)
        (one,) = Comparison(read_runs([run])).breakdowns
        assert one.source == source
        if source == "replay":
            assert {piece.name: piece.extra for piece in one.pieces} == {
                "message bandwidth": 0.5,
                "computing and memory": 0.2,
            }
            assert one.residual.value == pytest.approx(0.4, abs=0.02)
            assert one.largest.name == "message bandwidth"
            (drawn,) = waterfalls([one])
            assert "the replay of its calls" in drawn.source
