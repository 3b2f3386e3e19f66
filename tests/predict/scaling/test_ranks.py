"""A period made anew for more ranks is what the program itself calls there, or is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.predict.curves.costs import Costs
from bareline.predict.replay.engine import replay
from bareline.predict.scaling.computing import computing
from bareline.predict.scaling.grid import Grid, parse_grid
from bareline.predict.scaling.job_calls import JobCalls
from bareline.predict.scaling.pattern import recognise
from bareline.predict.scaling.period_time import COMPUTING, MESSAGES
from bareline.predict.scaling.prediction import Target, grow
from bareline.predict.scaling.ranks import scaled
from bareline.profile.files import read_profile
from bareline.profile.period import calls_of, find_period, read_period, write_period
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError, BarelineError, ProfileError, UsageError

from .stencil import calls, period, stream, traced

#: Ranks share cores here, and Open MPI asks root whether it is meant.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # the same for version 5
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


def asked(trace):
    """What each rank asks for, one call after the other; communicators by their size alone."""
    bare = {"comm": 0, "element": 0}
    return [[replace(shape, **bare) for shape in calls_of(one)] for one in trace.streams]


def grown(cells, counts, target, **how):
    own = scaled([period(sides, cells, **how) for sides in counts])
    return own.grown(Grid(target))


SQUARES = ((2, 2), (2, 4), (4, 4))


@pytest.mark.parametrize(
    ("cells", "counts", "target", "how"),
    [
        pytest.param((64, 64), SQUARES, (8, 8), {}, id="two sides"),
        pytest.param((64, 64), SQUARES, (4, 8), {"rows": True}, id="broadcasts along rows"),
        pytest.param((64, 64), ((3, 3), *SQUARES), (8, 8), {"ends": True}, id="with ends"),
        pytest.param((64,), ((4,), (8,), (16,)), (64,), {}, id="one side"),
        pytest.param((64, 64, 64), ((2, 2, 2), (2, 4, 4), (4, 4, 4)), (4, 8, 8), {}, id="three"),
        pytest.param((33, 35), ((2, 2), (2, 4), (4, 4)), (6, 6), {}, id="parts of other sizes"),
    ],
)
def test_what_is_made_anew_is_what_the_program_calls(cells, counts, target, how):
    made = grown(cells, counts, target, **how)
    assert made.grid == Grid(target)
    assert asked(made.trace) == asked(period(target, cells, **how).trace)


def test_a_side_that_was_always_two_is_refused_by_its_place():
    own = scaled([period(sides, (64, 64, 64)) for sides in ((2, 2, 4), (2, 2, 8))])
    with raises(AnalysisError, "BL-PREDICT-201", "2") as error:
        own.grown(Grid((2, 4, 8)))
    assert error.value.hint


def test_communicators_of_rows_are_those_of_the_new_rows():
    made = grown((64, 64), SQUARES, (8, 8), rows=True).trace
    members = {}
    for one in made.streams:
        for shape in one.shapes:
            if shape.call == "MPI_Bcast":
                assert shape.comm_size == 8
                members.setdefault(shape.comm, []).append(one.rank)
    assert sorted(members.values()) == [list(range(row, row + 8)) for row in range(0, 64, 8)]


@pytest.mark.parametrize(
    ("cells", "counts", "target", "code"),
    [
        ((64, 64), SQUARES, "6x6", "BL-PREDICT-899"),
        ((64, 64), SQUARES, "16x16", "BL-PREDICT-702"),
        ((64, 64), SQUARES, "4x4x4", "BL-PREDICT-590"),
        ((64, 64), ((2, 2), (2, 4)), "4x4", "BL-PREDICT-201"),
    ],
)
def test_what_does_not_follow_is_refused(cells, counts, target, code):
    def make():
        periods = [period(sides, cells, ends=counts[-1] == (2, 4)) for sides in counts]
        return scaled(periods).grown(parse_grid(target))

    with raises((AnalysisError, UsageError), code) as error:
        make()
    assert error.value.hint


def test_a_grid_whose_rule_is_not_seen_is_asked_for():
    own = scaled([period(sides, (64, 64)) for sides in ((2, 2), (2, 4), (4, 4))])
    assert str(own.grid(32)) == "4x8"
    own = scaled([period(sides, (64, 64)) for sides in ((2, 2), (2, 4), (2, 8))])
    assert str(own.grid(32)) == "2x16"
    for sides, code in (
        (((2, 2), (4, 2), (2, 8)), "BL-PREDICT-126"),
        (((2, 2), (3, 3), (4, 4)), "BL-PREDICT-703"),
        (((4, 2), (4, 3), (4, 4)), "BL-PREDICT-703"),
    ):
        own = scaled([period(one, (24, 24)) for one in sides])
        with raises(AnalysisError, code) as error:
            own.grid(32)
        assert "--grid" in error.value.hint


def test_sizes_by_no_law_are_refused_with_their_function_and_share():
    odd = [period(sides, (64, 64)) for sides in SQUARES]
    streams = []
    for one in odd[1].trace.streams:
        shapes = [replace(s, size=s.size + 5 * (s.call == "MPI_Isend")) for s in one.shapes]
        streams.append(replace(one, shapes=tuple(shapes)))
    odd[1] = replace(odd[1], trace=replace(odd[1].trace, streams=tuple(streams)))
    with raises(AnalysisError, "BL-PREDICT-712", "MPI_Isend"):
        scaled(odd).grown(Grid((8, 8)))


def test_a_program_off_the_grid_is_refused_by_name_with_its_share():
    grid = Grid((4, 4))
    rng = np.random.default_rng(1)
    other = rng.permutation(16)
    streams = []
    for rank in range(16):
        own = calls(grid, rank, (64, 64))
        streams.append(stream(rank, [
            replace(s, to=int(other[s.to]) if s.to >= 0 else s.to,
                    from_=int(other[s.from_]) if s.from_ >= 0 else s.from_)
            for s in own
        ]))  # fmt: skip
    one = period((4, 4), (64, 64))
    with raises(AnalysisError, "BL-PREDICT-912"):
        recognise(JobCalls.of(replace(one, trace=replace(one.trace, streams=tuple(streams)))))


# Sizes that differ from step to step --------------------------------------------------------------


def moved(sides, steps=6, jitter=0.02):
    """The whole run of a program whose messages carry what particles crossed."""
    rng = np.random.default_rng(sum(sides))
    whole = traced(sides, (64, 64), steps)
    streams = []
    for one in whole.streams:

        def grown(shape):
            size = round(shape.size * (1 + jitter * rng.uniform(-1, 1)))
            return replace(shape, size=size, sent=size * bool(shape.sent),
                           received=size * bool(shape.received))  # fmt: skip

        streams.append(stream(one.rank, [
            grown(shape) if shape.kind in ("send", "receive") else shape for shape in calls_of(one)
        ]))  # fmt: skip
    return replace(whole, streams=tuple(streams))


def test_sizes_that_differ_from_step_to_step_become_means_with_a_band(profile, tmp_path):
    counts = ((3, 3), (3, 4), (4, 4))
    found = [find_period(moved(sides), profile) for sides in counts]
    assert all(one.repeats == 6 and 0.005 < one.spread < 0.02 for one in found)
    write_period(found[0], tmp_path / "app.period")
    assert read_period(tmp_path / "app.period").spread == found[0].spread
    own = scaled(found)
    made, true = own.grown(Grid((6, 6))), period((6, 6), (64, 64))
    assert 0 < made.off < 0.05
    bare = [[[replace(s, size=0, sent=0, received=0) for s in own] for own in asked(one)]
            for one in (made.trace, true.trace)]  # fmt: skip
    assert bare[0] == bare[1]
    sent = [sum(s.sent for own in asked(one) for s in own) for one in (made.trace, true.trace)]
    assert sent[0] == pytest.approx(sent[1], rel=2 * made.off)

    done = grow(own, 36, None, Target("p", lambda trace: 1e-9 * sum(
        shape.sent for one in trace.streams for shape in calls_of(one))))  # fmt: skip
    last = done.points[-1]
    assert last.period_lo_s < last.period_s < last.period_hi_s
    assert done.rows()[-1]["sizes_off"] == made.off


# The period ---------------------------------------------------------------------------------------


@pytest.fixture
def profile(request):
    return read_profile(request.config.rootpath / "tests/profile/data/planted.profile")


def test_the_period_of_a_run_is_found_with_what_lies_around_it(profile, tmp_path):
    found = find_period(traced((2, 4), (64, 64), 12), profile)
    assert (found.repeats, found.beside) == (12, 4)
    whole = asked(period((2, 4), (64, 64)).trace)
    assert asked(found.trace) == whole
    write_period(found, tmp_path / "app.period")
    again = read_period(tmp_path / "app.period")
    assert asked(again.trace) == whole and again.repeats == found.repeats
    assert again.compute_s == pytest.approx(1e-5 * found.calls)


def test_a_run_without_recurrence_has_no_period(profile):
    with raises(ProfileError, "BL-PROFILE-971"):
        find_period(traced((2, 2), (64, 64), 1), profile)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        ("", "BL-PROFILE-886"),
        ("{}", "BL-PROFILE-980"),
        ("[1]", "BL-PROFILE-980"),
        ('{"schema": "bareline.period", "version": 9}', "BL-PROFILE-980"),
    ],
)
def test_a_file_that_is_no_period_is_refused_in_one_line(tmp_path, spoil, code):
    (tmp_path / "x.period").write_text(spoil)
    with raises(ProfileError, code, str(tmp_path / "x.period")) as error:
        read_period(tmp_path / "x.period")
    assert error.value.hint and "\n" not in str(error.value)
    with raises(ProfileError, "BL-PROFILE-368"):
        read_period(tmp_path / "none.period")


def test_a_period_of_the_first_version_is_read(tmp_path):
    """It had no elements."""
    kept = period((2, 2), (64, 64))
    write_period(kept, tmp_path / "new.period")
    head, *rows = map(json.loads, (tmp_path / "new.period").read_text().splitlines())
    assert head["version"] == 2
    for row in rows:
        row["shapes"] = [values[:-1] for values in row["shapes"]]
    lines = [json.dumps(row) for row in (head | {"version": 1}, *rows)]
    (tmp_path / "old.period").write_text("\n".join(lines))
    assert asked(read_period(tmp_path / "old.period").trace) == asked(kept.trace)


# Odd but valid, and damaged -----------------------------------------------------------------------


ODD = (-1, 0, 1e999, float("nan"), 10**30, "x" * 300, None, [], {}, True, "\x1b[31m", 2**31)


def test_a_strangers_period_is_read_or_refused_in_one_line(tmp_path):
    """Cut anywhere, or with any value anywhere: what is read is made anew, or refused by name."""
    rng = np.random.default_rng(41)
    whole = [period(sides, (64, 64)) for sides in SQUARES]
    write_period(whole[-1], tmp_path / "good.period")
    good = (tmp_path / "good.period").read_text().splitlines()
    refused = 0
    for turn in range(150):
        lines, line = list(good), int(rng.integers(len(good)))
        if turn % 5 == 0:
            lines[line] = lines[line][: int(rng.integers(len(lines[line])))]
        else:
            row = json.loads(lines[line])
            key = list(row)[int(rng.integers(len(row)))]
            value = ODD[int(rng.integers(len(ODD)))]
            if isinstance(row[key], list) and turn % 2:
                at = int(rng.integers(len(row[key])))
                if isinstance(row[key][at], list):
                    row[key][at][int(rng.integers(len(row[key][at])))] = value
                else:
                    row[key][at] = value
            else:
                row[key] = value
            lines[line] = json.dumps(row)
        (tmp_path / "x.period").write_text("\n".join(lines))
        try:
            own = scaled([*whole[:-1], read_period(tmp_path / "x.period")])
            own.grown(own.grid(64))
        except BarelineError as error:  # anything else is a traceback
            refused += 1
            said = str(error)
            assert len(said) < 1500 and not {"\x1b", "\n"} & set(said)
    assert refused > 75
    (tmp_path / "x.period").write_text("[" * 100_000)
    with raises(ProfileError, "BL-VOCABULARY-843"):
        read_period(tmp_path / "x.period")


@pytest.mark.parametrize("counts", [(5, 7, 11), (3, 5, 13)])
def test_primes_are_a_line(counts):
    made = grown((1001 * 5,), [(n,) for n in counts], (17,))
    assert str(made.grid) == "17"
    assert asked(made.trace) == asked(period((17,), (1001 * 5,)).trace)
    own = scaled([period(sides, (64, 64)) for sides in SQUARES])
    with raises(AnalysisError, "BL-PREDICT-126"):
        own.grid(61)


def test_a_long_name_is_shortened():
    one = period((4,), (64,))
    long = replace(one, trace=replace(one.trace, command="/opt/" + "n" * 300 + " -x"))
    with pytest.raises(BarelineError) as error:
        scaled([long, period((8,), (64,))])
    assert len(str(error.value)) < 400


# Times --------------------------------------------------------------------------------------------


def test_computing_is_that_of_ranks_with_a_core_each():
    periods = [period(sides, (64, 64)) for sides in SQUARES]
    law = computing(periods)
    assert law.at(64) == pytest.approx(periods[0].compute_s * 4 / 64) and law.error < 1e-6
    shared = [replace(one, shared=True) for one in periods[1:]]
    assert computing([periods[0], *shared]).source.endswith("on 4 ranks, a core each")
    assert "not to be" in computing(shared).source
    idle = [
        replace(one, trace=replace(one.trace, streams=tuple(
            replace(own, compute_s=0 * own.compute_s) for own in one.trace.streams
        )))
        for one in periods
    ]  # fmt: skip
    assert computing(idle).at(64) < 1e-9


def test_where_scaling_ends_and_by_which_call():
    """An engine by hand: computing is shared, a sum takes more on more ranks."""
    periods = [period(sides, (64, 64)) for sides in SQUARES]

    def run(trace):
        first = trace.streams[0]
        sums = sum(shape.call == "MPI_Allreduce" for shape in calls_of(first))
        return float(first.compute_s.sum()) + sums * 1e-5 * trace.ranks

    done = grow(scaled(periods), 64, None, Target("p", run))
    assert [one.ranks for one in done.points] == [4, 8, 16, 32, 64]
    # A rank computes 1/p ms before each of its calls.
    work = 1e-3 * periods[0].calls
    for one in done.points:
        ranks = one.ranks
        assert one.period_s == pytest.approx(work / ranks + 1e-5 * ranks)
        assert one.shares[COMPUTING] * one.period_s == pytest.approx(work / ranks)
        assert one.shares["MPI_Allreduce"] * one.period_s == pytest.approx(1e-5 * ranks)
        assert one.shares[MESSAGES] == pytest.approx(0, abs=1e-12)
        assert one.period_lo_s == one.period_hi_s == one.period_s
    assert (done.points[0].scaling_ends, done.points[0].ended_by) == (32, "MPI_Allreduce")


def test_the_compiled_replay_takes_it():
    from planted_programs import network

    made = grown((64, 64), SQUARES, (8, 8)).trace
    done = replay(made, Costs(network(ranks=64, nodes=64)))
    assert len(done.compute_s) == 64 and done.time_s > max(done.compute_s) > 0


def test_more_ranks_on_a_measured_ladder(monkeypatch):
    """Messages take what they do on the ladder; collectives of more ranks grow as a tree."""
    from types import SimpleNamespace

    import polars as pl
    from planted_programs import network

    from bareline.predict.scaling import scaling_target

    ladder = network("p", ranks=4, nodes=4)
    monkeypatch.setattr(
        scaling_target, "read_ladder", lambda _, __, layout: replace(ladder, layout=layout)
    )
    trials = pl.DataFrame({"platform": ["p", "p"], "layout": ["2x1x1", "4x1x1"]})
    target = scaling_target.scaling_target(SimpleNamespace(trials=trials), "p", None, None, None)
    periods = [period(sides, (64, 64)) for sides in SQUARES]
    done = grow(scaled(periods), 64, None, target)
    (sums,) = [note for note in target.notes if "MPI_Allreduce of more ranks" in note]
    assert "is that of 4" in sums and done.rows()[-1]["clock"] == "replayed"
    costs = Costs(scaling_target._reaching(ladder, scaled(periods).grown(Grid((8, 8))).trace, []))
    latency = ladder.message("mpi.pingpong", 2).at(8)
    assert costs.collective("mpi.allreduce", 64, 64, 8) == pytest.approx(6 * latency)
    lame = {key: one for key, one in ladder.curves.items() if key.nodes > 1}
    monkeypatch.setattr(
        scaling_target,
        "read_ladder",
        lambda _, __, layout: replace(ladder, layout=layout, curves=lame),
    )
    packed = scaling_target.scaling_target(SimpleNamespace(trials=trials), "p", None, None, 4)
    with raises(AnalysisError, "BL-PREDICT-938") as error:
        grow(scaled(periods), 64, None, packed)
    assert "--per-node" in error.value.hint


@pytest.mark.sim
def test_a_prediction_for_more_ranks(fits, tmp_path):
    if shutil.which("smpirun") is None:
        pytest.skip("SimGrid is not installed")
    names = []
    for sides in ((2, 2), (2, 4), (4, 4)):
        one = period(sides, (64, 64))
        names.append(f"app.p{one.ranks}")
        write_period(one, tmp_path / f"{names[-1]}.period")

    def bareline(*words, code=0):
        line = [sys.executable, "-m", "bareline", *words]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done

    asked = ("predict", *names, "--ranks", "32", "--to", "sim-10g")
    rows = json.loads(bareline(*asked, "--json").stdout)
    fits("predict-ranks", rows)
    assert [row["grid"] for row in rows] == ["2x2", "2x4", "4x4", "4x8"]
    assert all(sum(row["shares"].values()) == pytest.approx(1) for row in rows)
    assert all(row["assumptions"] for row in rows)
    said = bareline(*asked, "--per-node", "1", "--figures", "drawn")
    assert "computing, as profiled" in (tmp_path / "drawn/ranks-32.svg").read_text()
    assert "Scaling" in said.stdout and "32*" in said.stdout and "4x8" in said.stdout
    for words, error_code in (
        ((*names, "--ranks", "256", "--to", "sim-10g"), "BL-PREDICT-702"),
        ((*names, "--ranks", "32", "--to", "bare"), "BL-SESSION-279"),
        ((*names, "--ranks", "32"), "BL-CLI-490"),
        ((*names, "--ranks", "32", "--to", "sim-10g", "--grid", "4xq"), "BL-PREDICT-621"),
        ((names[0], "--ranks", "32", "--to", "sim-10g"), "BL-PREDICT-340"),
        ((*names, "--to", "sim-10g"), "BL-CLI-676"),
    ):
        end = json.loads(bareline("predict", *words, "--json", code=2).stderr)
        assert end["code"] == error_code, end


# The real program ---------------------------------------------------------------------------------


MELT = """units lj
atom_style atomic
processors * * 1
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
{velocity}
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 10 delay 0 check no
fix 1 all nve
thermo 10
run 50
"""


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("velocity", ["", "velocity all create 1.44 87287 loop geom"])
def test_a_program_that_is_not_ours(tmp_path, velocity):
    """LAMMPS on 36 ranks from 9, 12 and 16: of a crystal exactly, of a melt all but the sizes."""
    lammps = shutil.which("lmp")
    if lammps is None:
        pytest.skip("LAMMPS is not installed (Debian's package lammps)")
    try:
        mpi = find_mpi("openmpi")
        build_native(mpi, cache_folder())
    except BarelineError as error:
        pytest.skip(str(error))
    (tmp_path / "in.melt").write_text(MELT.format(velocity=velocity))
    found = {}
    for ranks in (9, 12, 16, 36):
        out = tmp_path / f"lmp.p{ranks}"
        done = subprocess.run(
            [sys.executable, "-m", "bareline", "profile", "--period", "-o", out, "--",
             mpi.mpirun, "-n", str(ranks), lammps, "-in", "in.melt", "-log", "none"],
            env=os.environ | SETTINGS | {"OMP_NUM_THREADS": "1"}, cwd=tmp_path,
            capture_output=True, text=True, check=False, timeout=400,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found[ranks] = read_period(out.with_name(f"{out.name}.period"))
    own = scaled([found[ranks] for ranks in (9, 12, 16)])
    made, true = own.grown(own.grid(36)), found[36].trace
    assert str(made.grid) == "6x6"
    if not velocity:
        assert made.off == 0
        assert asked(made.trace) == asked(true)
        return
    bare = [[[replace(s, size=0, sent=0, received=0) for s in calls] for calls in asked(one)]
            for one in (made.trace, true)]  # fmt: skip
    assert bare[0] == bare[1] and 0 < made.off < 0.05
    sent = [sum(s.sent for calls in asked(one) for s in calls) for one in (made.trace, true)]
    assert sent[0] == pytest.approx(sent[1], rel=max(0.01, made.off))


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_ocean_on_32_ranks_from_4_8_and_16(tmp_path):
    try:
        mpi = find_mpi("openmpi")
        program = build_native(mpi, cache_folder()).programs / "app_ocean"
    except BarelineError as error:
        pytest.skip(str(error))
    found = {}
    for ranks in (4, 8, 16, 32):
        out = tmp_path / f"ocean.p{ranks}"
        done = subprocess.run(
            [sys.executable, "-m", "bareline", "profile", "--period", "-o", out, "--",
             mpi.mpirun, "-n", str(ranks), program, "S"],
            env=os.environ | SETTINGS, capture_output=True, text=True, check=False, timeout=400,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found[ranks] = read_period(out.with_name(f"{out.name}.period"))
        assert [file.name for file in tmp_path.glob("*.trace*")] == []
    assert found[32].repeats == 20
    own = scaled([found[ranks] for ranks in (4, 8, 16)])
    made = own.grown(own.grid(32))
    assert str(made.grid) == "4x8" and made.unchecked.calls == 0
    assert asked(made.trace) == asked(found[32].trace)
