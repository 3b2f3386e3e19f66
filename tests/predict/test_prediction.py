"""Predictions on planted platforms: right where the truth is known, refused where it cannot be."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from planted_programs import network, profile_of, program, shape, stream, trace

from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import ComputeFactor, factor_between
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.curves.platform_curves import LadderGaps
from bareline.predict.curves.requirements import CurveNeed, merged, plan_study, required_curves
from bareline.predict.interval import LEVEL, MODEL_ERRORS, UNREPEATED
from bareline.predict.prediction import predict
from bareline.predict.questions import parse_what_if
from bareline.predict.replay.engine import replay
from bareline.predict.replay.reference import ApplicationClock, ReferenceRun, base_time_s
from bareline.predict.replay.validity import check_base
from bareline.predict.shares import explain_loss, shapley
from bareline.probes.mpi._mpibench import MpiParams
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError, UsageError

STEPS = 30
SAME = ComputeFactor(1.0, 1.0, 1.0, "the same")
FAST = {"latency": 2e-6, "rate": 5e9}
SLOW = {"latency": 50e-6, "rate": 1e8}


def case(*, a=None, b=None, compute=SAME, queued_s=0.0, traced=True, truth=None, **given):
    planted = program(**{"steps": STEPS, **given})
    one = network("a", **{**FAST, **(a or {})})
    other = network("b", **{**SLOW, **(b or {})})
    wall = truth or replay(planted, Costs(one)).time_s
    profile = profile_of(planted, wall, compute_s=STEPS * 1e-3, queued_s=queued_s)
    return PredictionCase(ReferenceRun(profile, planted if traced else None, one), other, compute)


@pytest.mark.parametrize("size", [8, 8192, 1 << 20])
@pytest.mark.parametrize("model", ["replay", "delta"])
def test_a_program_of_exchanges_is_predicted(size, model):
    planted = case(size=size)
    truth = replay(planted.base.trace, Costs(planted.b)).time_s
    found = predict(planted, model=model)
    assert found.model == model
    assert found.time_s == pytest.approx(truth, rel=0.02 if model == "replay" else 0.12)
    assert found.lo_s < truth < found.hi_s
    # Worth the while: the networks differ.
    assert truth > 1.05 * planted.base.profile.rank_table["wall_ns"][0] * 1e-9


@pytest.mark.parametrize(("a", "b", "form"), [(FAST, SLOW, "difference"), (SLOW, FAST, "ratio")])
def test_what_a_replay_lacks_stays_on_slower_platforms_and_shrinks_on_faster_ones(a, b, form):
    """Waits of 3 % of the time that the replay does not have are no longer on a slower link."""
    planted = case(
        a=a, b=b, truth=1.03 * replay(program(steps=STEPS), Costs(network("a", **a))).time_s
    )
    lacks_s = 0.03 / 1.03 * planted.base.wall_s
    truth = replay(planted.base.trace, Costs(planted.b)).time_s
    ratio = predict(planted, form="ratio")
    difference = predict(planted, form="difference")
    assert ratio.time_s == pytest.approx(1.03 * truth, rel=1e-6)
    assert difference.time_s == pytest.approx(truth + lacks_s, rel=1e-6)
    assert predict(planted).time_s == predict(planted, form=form).time_s
    assert predict(planted).time_s == min(ratio.time_s, difference.time_s)


def test_the_shares_of_a_loss_add_up_to_the_prediction():
    """Explanation and prediction are one sum, whatever the replay lacks."""
    for missing in (0.95, 1.0, 1.07):
        on_a = replay(program(steps=STEPS), Costs(network("a", **FAST))).time_s
        planted = case(truth=missing * on_a)
        base_s = planted.base.time_s
        predicted = predict(planted).time_s
        found = explain_loss(planted, [base_s] * 6, [2 * base_s] * 6)
        explained_s = sum(s.time_s for s in found.shares if s.input != "residual")
        assert base_s + explained_s == pytest.approx(predicted, rel=1e-6)


def steady(planted):
    """Give the application of a case launches that all take the same time."""
    wall_s = planted.base.wall_s
    clock = ApplicationClock(wall_s, wall_s, (wall_s,) * 6)
    return replace(planted, base=replace(planted.base, clock=clock))


def half_width(done):
    """Half of an interval, in ln, where computing has one factor."""
    return math.log(done.hi_s / done.lo_s) / 2


def test_reproduction_is_said_warned_of_and_refused():
    right = replay(program(steps=STEPS), Costs(network("a", **FAST))).time_s
    assert predict(case()).reproduced == pytest.approx(1)
    warned = predict(case(truth=right * 1.1))
    assert any("the replay takes 0.909" in text for text in warned.warnings)
    misfit = math.hypot(predict(case()).residual, math.log(0.909))
    assert warned.residual == pytest.approx(misfit, rel=0.1)
    far = case(truth=right * 1.3)
    with raises(AnalysisError, "BL-PREDICT-563", "0.77"):
        predict(far, model="replay")
    fallen = predict(far)
    assert fallen.model == "delta" and "0.77" in fallen.warnings[0]


def test_without_a_trace_the_interval_is_honest():
    blind = predict(case(traced=False, size=8192))
    assert blind.model == "delta" and half_width(blind) >= math.log(1.5) - 1e-12
    assert any("pipeline" in text for text in blind.warnings)
    with raises(AnalysisError, "BL-PREDICT-977"):
        predict(case(traced=False), model="replay")


def test_disturbed_and_unfinished_bases_are_refused():
    with raises(AnalysisError, "BL-PREDICT-976"):
        predict(case(queued_s=0.008))
    quiet = case().base.profile
    check_base(quiet)
    with raises(AnalysisError, "BL-PREDICT-506"):
        check_base(replace(quiet, complete=False, ended="ended"))
    with raises(AnalysisError, "BL-PREDICT-481"):
        check_base(replace(quiet, mode="split"))


def spoiled(ladder, probe, change):
    key = next(key for key in ladder.curves if key.probe == probe and key.nodes > 1)
    curve = change(ladder.curves[key])
    return replace(ladder, curves={**ladder.curves, key: curve})


def test_curves_that_do_not_carry_it_are_refused_with_the_measure_to_add():
    planted = case(size=1 << 20)

    def refusal(probe, change):
        with pytest.raises(LadderGaps) as caught:
            predict(replace(planted, b=spoiled(planted.b, probe, change)))
        assert "\n" not in str(caught.value)
        return str(caught.value) + "\n".join(caught.value.measures)

    cut = refusal("mpi.pingpong", lambda c: Curve(c.key, c.sizes[:9], c.launches[:, :9]))
    assert "ends at 1024 B, the application uses 1048576 B" in cut
    assert 'probe = "mpi.pingpong"' in cut and "max_bytes = 1048576" in cut

    def dip(curve):
        rows = curve.launches.copy()
        rows[1:, -3] /= 4  # what the first launch does not show is no property
        return Curve(curve.key, curve.sizes, rows)

    assert "times what a smaller message takes" in refusal("mpi.pingpong", dip)

    told = refusal("mpi.pingpong", torn)
    assert "the launches of mpi.pingpong of 2 ranks on 2 nodes differ by" in told
    assert "which moves the prediction by" in told and 'probe = "mpi.pingpong"' in told
    told = refusal("mpi.pingpong", lambda curve: torn(curve, 3, 20_000))
    assert "times their median" in told, "no per cent in millions"
    shaped = replace(planted.b, facts={**planted.b.facts, "net.shaped_bps": 1e8})
    with raises(AnalysisError, "BL-PREDICT-251", "0.1", "Gb/s"):
        predict(replace(planted, b=shaped))
    key = CurveKey("mpi.allreduce", 2, 2)
    without = {k: c for k, c in planted.b.curves.items() if k != key}
    with raises(AnalysisError, "BL-PREDICT-251", "2"):
        predict(replace(planted, b=replace(planted.b, curves=without)))


def torn(curve, every=2, times=5):
    """Make every second launch five times as slow, or fewer of them more."""
    rows = curve.launches.copy()
    rows[::every] *= times
    return Curve(curve.key, curve.sizes, rows)


def test_launches_that_contradict_each_other_widen_where_little_hangs_on_them():
    # 50 us of 10 ms a step.
    planted = case(size=1 << 20)
    rough = replace(planted, b=spoiled(planted.b, "mpi.allreduce", torn))
    found = predict(rough)
    assert half_width(found) == pytest.approx(half_width(predict(planted)), rel=0.05)
    said = "mpi.allreduce on b has two speeds: 3 of 6 launches take 5.00 times as long"
    assert set(found.warnings) - set(predict(planted).warnings) == {said}


def test_two_speeds_of_launches_are_named_and_are_the_interval():
    """Three launches of six 1.2 times as slow: more launches make a run's speed no surer."""
    slow = steady(case(size=1 << 16, compute=replace(SAME)))
    planted = replace(slow, b=spoiled(slow.b, "mpi.pingpong", lambda curve: torn(curve, times=1.2)))
    found = predict(planted)
    assert found.launches > 2 * predict(slow).launches
    assert any("mpi.pingpong on b has two speeds" in text for text in found.warnings)
    # Noise of launches is none.
    for seed in range(20):
        noise = np.exp(0.08 * np.random.default_rng(seed).standard_normal((12, 5)))
        assert curve_of("mpi.pingpong", 10 * noise).two_speeds == (1.0, 0)


def test_the_interval_is_made_of_three_parts():
    """Single launches, the ladders' own uncertainty, and the model's error, none of them twice."""
    plain = case(b={"noise": 0.02, "launches": 12}, a={"noise": 0.02, "launches": 12, "seed": 5})
    wall = plain.base.wall_s
    times_s = tuple(wall * (1 + 0.01 * step) for step in range(-5, 6))
    clock = ApplicationClock(wall, wall, times_s)
    found = predict(replace(plain, base=replace(plain.base, clock=clock)))
    assert found.repeats == pytest.approx(0.0475, abs=0.001)
    assert found.launches >= found.repeats
    assert 0 < found.ladder < found.launches
    assert found.residual > 0
    assert found.warnings == ("the program runs for 31 ms only",)
    width = math.hypot(found.launches, found.ladder, found.residual)
    assert half_width(found) == pytest.approx(width)
    # Two launches do not show how well a third one repeats them: that of other programs stands in.
    few = ApplicationClock(wall, wall, times_s[:2])
    unrepeated = predict(replace(plain, base=replace(plain.base, clock=few)))
    assert unrepeated.repeats is None and unrepeated.launches == UNREPEATED
    width = 1.5 * math.hypot(unrepeated.launches, unrepeated.ladder, unrepeated.residual)
    assert half_width(unrepeated) == pytest.approx(width), "a short program, measured too rarely"


def test_the_model_s_error_grows_with_the_change_and_has_a_limit():
    """It was the same for a program that only computes and for one that waits for the link."""
    error = MODEL_ERRORS["replay"]
    assert error.of(0.0) == 0.0
    assert error.of(0.2) == pytest.approx(0.2 * error.per_change)
    assert error.of(9.0) == error.largest
    same = predict(replace(case(), b=replace(case().a, platform="b")))
    assert same.residual == pytest.approx(0.0, abs=1e-9) and same.level == LEVEL == 0.95
    assert predict(case()).residual > 0.05


def curve_of(probe, launches):
    launches = np.asarray(launches, dtype=float) * 1e-6
    sizes = 8.0 * 2 ** np.arange(launches.shape[1])
    return Curve(CurveKey(probe, 2, 2), sizes, launches)


def test_another_algorithm_of_a_collective_may_be_faster_for_larger_messages():
    # Open MPI over two shaped hosts: 4 KiB in 27 us, 12 KiB in 16 us, in every launch.
    rows = [[7, 12, 27, 14, 30], [7, 13, 27, 17, 31], [10, 12, 26, 15, 30], [7, 16, 33, 22, 34]]
    real = curve_of("mpi.allreduce", rows)
    assert not real.faults(None)
    assert real.at(32) == pytest.approx(28.25e-6) and real.at(64) == pytest.approx(17e-6)
    # Half the latency leaves the shape; twice the time of a byte adds to what is above it.
    assert real.scaled(0.5, 0.5).at(64) == pytest.approx(8.5e-6)
    assert real.scaled(1, 2).at(64) == pytest.approx(26.25e-6)
    # One launch in four that does not fall: it may as well be disturbed.
    rows[0][2] = 13
    assert "times what a smaller message takes" in curve_of("mpi.allreduce", rows).faults(None)[0]
    # Between two ranks all launches must show it: then it is the platform's.
    assert curve_of("mpi.pingpong", rows).faults(None)
    agreed = curve_of("mpi.bandwidth", rows[1:] * 2)
    assert not agreed.faults(None)
    assert agreed.at(64) < agreed.at(32)
    # Beyond the last size no time falls.
    falling = curve_of("mpi.allreduce", [[5, 9, 6]] * 4)
    assert falling.at(1 << 20) == pytest.approx(6e-6)


def test_launches_of_two_speeds_count_by_their_mean_and_disturbed_ones_not():
    curve = curve_of("mpi.pingpong", [[10], [10], [10], [12], [12], [40]])
    assert curve.at(8) == pytest.approx(10.8e-6)
    torn_apart = curve_of("mpi.pingpong", [[10], [50]])
    assert torn_apart.at(8) == pytest.approx(30e-6), "nobody knows which half is right"


def test_a_large_message_that_a_slow_network_feels_is_needed():
    def needed(size):
        call = shape("MPI_Bcast", "collective", comm_size=2, size=size)
        planted = trace(*(stream(rank, [(call, 1.0)] * 2) for rank in range(2)))
        return {need.probe for need in required_curves(profile_of(planted, 2.0, compute_s=2.0))}

    # Two of them in two seconds: 13 ms over 1 Gb/s.
    assert needed(800_000) == {"mpi.bcast", "mpi.beside_compute"}
    assert not needed(8)


def test_a_rough_curve_that_carries_nothing_is_let_pass():
    planted = case(size=1 << 20, reductions=0)
    rough = spoiled(
        planted.b, "mpi.allreduce", lambda c: Curve(c.key, c.sizes, c.launches[:, ::-1])
    )
    assert predict(replace(planted, b=rough)).time_s > 0


def test_a_curve_that_is_missing_or_cut_matters_by_what_it_carries():
    ladder = network("b", **SLOW)
    key = CurveKey("mpi.allreduce", 2, 2)
    cut = Curve(key, ladder.curves[key].sizes[:3], ladder.curves[key].launches[:, :3])
    without = {k: c for k, c in ladder.curves.items() if k != key}
    for curves in (without, {**without, key: cut}):
        lame = replace(ladder, curves=curves)
        # 50 us ten times a second, or a thousand times.
        assert not lame.gaps([CurveNeed("mpi.allreduce", 2, True, 64, 0.0001, 10)])
        assert lame.gaps([CurveNeed("mpi.allreduce", 2, True, 64, 0.0001, 1000)])
        assert lame.gaps([CurveNeed("mpi.allreduce", 2, True, 64, 0.05, 10)])
    # Without any message there is nothing to judge by.
    assert replace(ladder, curves={}).gaps([CurveNeed("mpi.allreduce", 2, True, 64, 0.0, 0.1)])


def test_noise_of_the_ladder_widens_the_interval():
    sharp = predict(steady(case()))
    wide = predict(steady(case(b={"noise": 0.15})))
    assert wide.ladder > 3 * sharp.ladder
    assert half_width(wide) > half_width(sharp)


def test_the_plan_is_a_study_of_what_the_profile_needs_and_nothing_more():
    profile = case(size=3 << 10, ranks=4).base.profile
    needs = {(need.probe, need.ranks) for need in required_curves(profile)}
    assert needs == {
        ("mpi.pingpong", 2),
        ("mpi.bandwidth", 2),
        ("mpi.overhead", 2),
        ("mpi.sendrecv", 2),
        ("mpi.allreduce", 4),
        ("mpi.beside_compute", 4),
    }
    text = plan_study(profile)
    study = study_from_toml(tomllib.loads(text), where="plan")
    assert {measure.probe for measure in study.measures} >= {probe for probe, _ in needs}
    largest = {m.probe: m.params.get("max_bytes") for m in study.measures}
    assert largest["mpi.pingpong"] == 4096 and largest["mpi.bandwidth"] == 4096
    assert max(m.params.get("window", 0) for m in study.measures) == 0
    for odd in ('"""', "\\", "]]\n[[measure"):
        spoilt = plan_study(replace(profile, command=f"a{odd}b"))
        assert study_from_toml(tomllib.loads(spoilt), where="plan").name == "ladder-mpi"


def test_the_plan_measures_long_messages_often_enough_and_few_at_once():
    profile = case(size=1 << 20).base.profile
    study = study_from_toml(tomllib.loads(plan_study(profile)), where="plan")
    long = [m for m in study.measures if m.params.get("min_bytes", 0) > 1024]
    assert {m.probe for m in long} == {"mpi.pingpong", "mpi.bandwidth", "mpi.sendrecv"}
    for measure in long:
        assert measure.params["max_bytes"] == 1 << 20 and measure.params["iterations"] >= 20
        # Warm-up, timed calls and loop of the largest size fit at 1 Gb/s.
        at_once = measure.params.get("window", 2)
        calls = 2 * measure.params["iterations"] + measure.params["warmup"]
        assert measure.params["budget_s"] >= calls * at_once * 8 * (1 << 20) / 1e9
    # No size is left out between the two series.
    sizes = sorted(
        size
        for m in study.measures
        if m.probe == "mpi.pingpong"
        for size in MpiParams(m.params["min_bytes"], m.params["max_bytes"], between=True).sizes()
    )
    gap = max(two / one for one, two in itertools.pairwise(sizes) if one >= 24)
    assert len(sizes) == len(set(sizes)) and gap <= 1.5


def test_the_needs_of_several_applications_are_joined():
    small, large = (case(size=size).base.profile for size in (8, 1 << 20))
    joined = merged([*required_curves(small), *required_curves(large)])
    assert [need.probe for need in joined] == sorted(
        {need.probe for need in required_curves(large)}
    )
    assert max(need.largest for need in joined) == 1 << 20


def test_start_up_is_init_and_a_connection_to_each_peer():
    def ladder(name, init_s, first_s):
        one = network(name, ranks=4, nodes=4, **FAST)
        own = {}
        for probe, value in (("mpi.init", init_s), ("mpi.first_message", first_s)):
            key = CurveKey(probe, 4, 4)
            own[key] = Curve(key, np.array([0.0]), np.full((6, 1), value))
        return replace(one, curves={**one.curves, **own})

    planted = case(ranks=4).between(ladder("a", 0.2, 1e-4), ladder("b", 0.3, 3e-3))
    start = predict(planted)
    assert start.connections == 2 and start.connecting_s == pytest.approx(2 * 2.9e-3)
    assert start.start_up_s == pytest.approx(0.1058)
    # Without them nothing is said, and nothing refused.
    assert predict(case()).start_up_s is None


def test_a_slower_link_does_not_multiply_what_launches_differ_by():
    # Half of the launches are twice as slow throughout; small messages are as fast as the first.
    rows = [[2, 2, 1.9, 2, 3]] * 3 + [[4, 3.9, 4, 4, 6]] * 3
    rough = curve_of("mpi.pingpong", rows)
    slower = rough.scaled(4, 40)
    assert not slower.faults(None)
    assert slower.at(8) == pytest.approx(4 * rough.at(8))
    assert slower.spread == pytest.approx(rough.spread)
    added = rough.at(128) - rough.at(8)
    assert slower.at(128) == pytest.approx(4 * rough.at(8) + 40 * added, rel=0.02)


def test_code_after_messages_is_slower_by_what_the_probe_says_there_and_back():
    def ladder(name, between_s):
        one = network(name)
        own = {}
        for which, value in (("between", between_s), ("alone", 1e-6)):
            key = CurveKey(f"mpi.beside_compute {which}", 2, 2)
            own[key] = Curve(key, np.array([0.0]), np.full((6, 1), value))
        return replace(one, curves={**one.curves, **own})

    a, b = ladder("a", 1.1e-6), ladder("b", 1.5e-6)
    # Of a millisecond of computing 0.4 us are lost, and won on the way back.
    for before, after, more_s in ((a, b, 4e-7), (b, a, -4e-7)):
        planted = replace(case(), b=after)
        planted = replace(planted, base=replace(planted.base, ladder=before))
        _, costs = planted.costs(1.0)
        assert costs.beside * costs.beside_s == pytest.approx(more_s)
        on_a = replay(planted.base.trace, Costs(before))
        found = planted.replayed(1.0).compute_s[0] - on_a.compute_s[0]
        assert found == pytest.approx(STEPS * more_s)


def test_what_if():
    planted = case(a=SLOW, size=1 << 20)
    twice = parse_what_if(["latency=x0.5", "bandwidth=x2"]).applied(planted.a)
    half = predict(replace(planted, b=twice))
    computing = STEPS * 1e-3
    assert half.time_s - computing == pytest.approx((half.base_s - computing) / 2, rel=0.02)
    fast = parse_what_if(["bandwidth=8Gb/s"]).applied(planted.a)
    assert fast.message("mpi.pingpong", 2).at(1 << 20) == pytest.approx(
        50e-6 + (1 << 20) / 1e9, 0.02
    )
    shared = network("c", cores=1, ranks=4, nodes=1)
    assert parse_what_if(["cores=2x"]).applied(shared).cores == 2
    assert parse_what_if(["cores=4x"]).applied(shared).cores is None
    for wrong in ("latency", "latency=x0", "bandwidth=fast", "color=x2", "cores=-1x"):
        with raises(UsageError, "BL-PREDICT-206"):
            parse_what_if([wrong])


def test_other_processors_need_a_calibration_or_give_no_point():
    other = case(b={"facts": {"cpu.isa": "sse2"}})
    with raises(AnalysisError, "BL-PREDICT-426", "cpu.isa", "avx2", "sse2"):
        factor_between(other.a, other.b)
    bounds = predict(replace(other, compute=ComputeFactor(None, 1.0, 4.0, "bounds")))
    assert bounds.time_s is None and bounds.hi_s / bounds.lo_s > 2.5
    known = predict(replace(other, compute=ComputeFactor(2.0, 1.9, 2.1, "calibrated")))
    truth = replay(other.base.trace, Costs(other.b, compute=2.0)).time_s
    assert known.time_s == pytest.approx(truth, rel=1e-6)


# Shares ---------------------------------------------------------------------------------------


def test_shapley_values_add_up_and_are_fair():
    values = shapley(
        ["latency", "bandwidth"],
        lambda chosen: {0: 0.0, 1: 1.0, 2: 5.0}[len(chosen)],
    )
    assert values == {"latency": 2.5, "bandwidth": 2.5}


@pytest.mark.parametrize(
    ("given", "b", "factor", "expected"),
    [
        # By hand, in s, what each input adds.
        ({"size": 8, "reductions": 0}, {"rate": 5e9}, 1.0, {"latency": STEPS * 48e-6}),
        ({"size": 1 << 20, "reductions": 0}, {"latency": 2e-6}, 1.0,
         {"bandwidth": STEPS * (1 << 20) * (1 / 1e8 - 1 / 5e9)}),
        ({"size": 8, "reductions": 0}, {"latency": 2e-6, "rate": 5e9}, 1.6,
         {"compute": STEPS * 0.6e-3}),
        ({"size": 8, "reductions": 10}, {"latency": 2e-6, "rate": 5e9, "worse": 40}, 1.0,
         {"collectives": 10 * STEPS * 39 * 2e-6}),
        ({"size": 100_000, "reductions": 0}, {}, 1.3,
         {"latency": STEPS * 48e-6, "bandwidth": STEPS * 1e5 * (1 / 1e8 - 1 / 5e9),
          "compute": STEPS * 0.3e-3}),
        ({"size": 60_000, "reductions": 4}, {"worse": 3}, 1.2,
         {"latency": STEPS * (48e-6 + 4 * 48e-6 * 2), "compute": STEPS * 0.2e-3,
          "bandwidth": STEPS * 6e4 * (1 / 1e8 - 1 / 5e9),
          "collectives": STEPS * 4 * (3 * 50e-6 - 2e-6 - 48e-6 * 2)}),
    ],
)  # fmt: skip
def test_planted_shares_are_found_within_ten_points(given, b, factor, expected, fits):
    planted = case(b={**SLOW, **b}, compute=ComputeFactor(factor, factor, factor, ""), **given)
    on_a = replay(planted.base.trace, Costs(planted.a)).time_s
    loss = sum(expected.values())
    found = explain_loss(planted, [on_a] * 6, [on_a + loss] * 6)
    shares = {share.input: share.share for share in found.shares}
    for name, value in expected.items():
        assert shares[name] == pytest.approx(value / loss, abs=0.1), name
    assert abs(shares["residual"]) < 0.1
    assert sum(shares.values()) == pytest.approx(1)
    assert found.explained > 0.9
    fits("explain-app", found.rows())


def test_a_loss_within_noise_has_no_shares():
    planted = case()
    on_a = replay(planted.base.trace, Costs(planted.a)).time_s
    rng = np.random.default_rng(2)
    noisy = [on_a * (1 + 0.05 * rng.standard_normal()) for _ in range(8)]
    with raises(AnalysisError, "BL-PREDICT-503"):
        explain_loss(planted, noisy, noisy[::-1])
    with raises(AnalysisError, "BL-PREDICT-361"):
        explain_loss(replace(planted, base=replace(planted.base, trace=None)), [1.0] * 6, [2.0] * 6)


def test_what_is_not_explained_is_said():
    planted = case()
    on_a = replay(planted.base.trace, Costs(planted.a)).time_s
    on_b = replay(planted.base.trace, Costs(planted.b)).time_s
    found = explain_loss(planted, [on_a] * 6, [on_b + (on_b - on_a)] * 6)
    assert found.shares[-1].input == "residual"
    assert found.shares[-1].share == pytest.approx(0.5, abs=0.02)
    assert found.explained == pytest.approx(0.5, abs=0.02)


def test_computing_is_not_scaled_by_what_the_replay_lacks():
    """A replay that lacks 12 % lacks it of messages: what computing costs is in the trace."""
    same = {"latency": 2e-6, "rate": 5e9}
    right = replay(program(steps=STEPS), Costs(network("a", **FAST))).time_s
    factor = ComputeFactor(1.5, 1.45, 1.55, "")
    planted = case(b=same, compute=factor, truth=right / 0.88)
    measured = base_time_s(planted.base.profile)
    cost = STEPS * 0.5e-3
    found = explain_loss(planted, [measured] * 6, [measured + cost] * 6, paired=True)
    share = next(one for one in found.shares if one.input == "compute")
    assert share.time_s == pytest.approx(cost, rel=0.02)
    # A factor that is known to 10 % gives a share of a width.
    assert share.lo_s < 0.95 * cost < 1.05 * cost < share.hi_s
    assert share.hi_s - share.lo_s == pytest.approx(STEPS * 0.1e-3, rel=0.3)


def test_shares_are_paired_by_block():
    """Blocks differ by 15 %, the platforms by 6 % in each: that is clear, the same twice is not."""
    planted = case()
    on_a = replay(planted.base.trace, Costs(planted.a)).time_s
    rng = np.random.default_rng(4)
    own = [on_a * math.exp(0.15 * rng.standard_normal()) for _ in range(8)]
    slower = [1.06 * time for time in own]
    found = explain_loss(planted, own, slower, paired=True)
    assert found.loss_s == pytest.approx(0.06 * float(np.median(own)), rel=0.01)
    with raises(AnalysisError, "BL-PREDICT-503"):
        explain_loss(planted, own, slower)
    with raises(AnalysisError, "BL-PREDICT-503", "1.000"):
        explain_loss(planted, own, own, paired=True)


def test_what_two_ladders_have_in_common_does_not_widen_a_prediction():
    def noisy(name, drawn):
        ladder, rng = network(name, **SLOW), np.random.default_rng(drawn)
        curves = {
            key: Curve(key, one.sizes, one.raw[None, :] * np.exp(rng.normal(0, 0.4, (6, 1))))
            for key, one in ladder.curves.items()
        }
        return replace(ladder, curves=curves)

    same = predict(case(a=SLOW).between(noisy("a", 1), noisy("b", 1)))
    assert same.time_s == pytest.approx(same.base_s)
    assert same.hi_s / same.lo_s < 1.3
    # A network that differs keeps what unseen programs were off by.
    assert predict(case()).residual > 0.1


def with_times(planted, setup_s=0.0):
    """Ranks that set up first, and the time in each call: what its like take on A."""
    streams = []
    for one in planted.base.trace.streams:
        computed = one.compute_s.copy()
        computed[0] += setup_s
        streams.append(replace(one, compute_s=computed))
    done = replay(replace(planted.base.trace, streams=tuple(streams)), Costs(planted.a))
    for at, one in enumerate(streams):
        means = done.taken_s[at] / np.maximum(np.bincount(one.shape), 1)
        streams[at] = replace(one, spent_s=means[one.shape])
    trace = replace(planted.base.trace, streams=tuple(streams))
    profile = profile_of(trace, done.time_s, compute_s=STEPS * 1e-3 + setup_s)
    return replace(planted, base=replace(planted.base, profile=profile, trace=trace))


def test_a_prediction_is_of_the_applications_own_clock():
    """What comes before the clock starts computes; the median launch counts, not the profiled."""
    setup_s = 0.02
    planted = with_times(case(), setup_s)
    wall = base_time_s(planted.base.profile)
    truth = replay(planted.base.trace, Costs(planted.b)).time_s
    own = wall - setup_s
    found = predict(
        replace(
            planted,
            base=replace(planted.base, clock=ApplicationClock(launch_s=own, median_s=2 * own)),
        )
    )
    assert found.base_s == pytest.approx(2 * own)
    assert found.time_s == pytest.approx(2 * (truth - setup_s), rel=0.005)


@pytest.mark.parametrize(("a", "b"), [(FAST, SLOW), (SLOW, FAST)])
def test_steps_that_the_clock_leaves_out_take_their_messages_with_them(a, b):
    """An iteration that warms up sends as much as the others do, on both platforms."""
    planted = with_times(case(a=a, b=b, size=1 << 20))
    wall = base_time_s(planted.base.profile)
    truth = replay(planted.base.trace, Costs(planted.b)).time_s
    left = 0.2
    clock = ApplicationClock(launch_s=(1 - left) * wall, median_s=(1 - left) * wall)
    found = predict(replace(planted, base=replace(planted.base, clock=clock)))
    assert found.time_s == pytest.approx((1 - left) * truth, rel=0.04)


def test_wait_rows_are_charged_one_latency():
    profile = case(steps=10).base.profile
    waits = profile.calls.filter(pl.col("call") == "MPI_Waitall")
    assert waits["receives"].sum() == waits["count"].sum()
