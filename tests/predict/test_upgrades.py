"""Upgrades and sizes used: what-ifs whose answers are known, sizes that a profile holds."""

from __future__ import annotations

import pytest
from planted_programs import network, profile_of, program

from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import ComputeFactor
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.coverage import strips
from bareline.predict.questions import upgrades
from bareline.predict.replay.engine import replay
from bareline.predict.replay.reference import ReferenceRun

SAME = ComputeFactor(1.0, 1.0, 1.0, "the same platform")


def case(size, *, cores=None, **given):
    planted = program(steps=20, size=size, compute=1e-4)
    ladder = network("a", nodes=1 if cores else 2, cores=cores, **given)
    wall = replay(planted, Costs(ladder)).time_s
    profile = profile_of(planted, wall, compute_s=20 * 1e-4)
    return PredictionCase(ReferenceRun(profile, planted, ladder), ladder, SAME)


def test_what_a_program_waits_for_is_what_helps_it_most():
    short = upgrades("app", case(8, latency=1e-3))
    assert short[0].change == "latency=x0.5" and short[0].saved == pytest.approx(0.5, abs=0.06)
    long = upgrades("app", case(4 << 20, rate=1e8))
    assert long[0].change == "bandwidth=x2" and long[0].saved > 0.4
    busy = upgrades("app", case(8, latency=1e-7))
    assert busy[0].change == "compute=x0.5" and busy[0].saved == pytest.approx(0.5, abs=0.06)
    assert all(one.saved >= -1e-9 for one in (*short, *long, *busy))


def test_more_cores_are_tried_where_ranks_share_them():
    assert not any(one.change == "cores=2x" for one in upgrades("app", case(8)))
    shared = {one.change: one for one in upgrades("app", case(8, cores=1, latency=1e-7))}
    assert shared["cores=2x"].saved == pytest.approx(0.5, abs=0.06)


def test_sizes_that_are_used_lie_over_those_that_every_ladder_has():
    planted = case(65536)
    found = {
        strip.probe: strip for strip in strips("app", planted.base.profile, [planted.a, planted.b])
    }
    assert set(found) == {"mpi.pingpong", "mpi.allreduce"}
    messages = found["mpi.pingpong"]
    assert [one.size_bytes for one in messages.used] == [65536] and not messages.outside
    assert messages.used[0].calls == 40  # a send and a receive in each of 20 steps
    assert found["mpi.allreduce"].used[0].size_bytes == 8
    # A ladder without the curve cannot be compared: the prediction says so.
    lame = network("b")
    curves = {key: curve for key, curve in lame.curves.items() if key.probe != "mpi.allreduce"}
    less = strips(
        "app", planted.base.profile, [planted.a, type(lame)("b", curves, lame.layout, None)]
    )
    assert [strip.probe for strip in less] == ["mpi.pingpong"]
