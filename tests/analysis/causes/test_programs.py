"""Causes of programs: what they do not use is none, and their own split decides."""

from pathlib import Path

import pytest

from bareline.analysis.judgements.causes.cause import Word
from bareline.analysis.numbers.programs import COMMUNICATING, COMPUTING, Split
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.row import Estimate
from bareline.analysis.words.comparison import Comparison
from bareline.profile.files import read_profile
from bareline.profile.launch import PROFILE_FILE
from bareline.vocabulary.model import Sample
from bareline.vocabulary.verdicts import Verdict

from .planted import LARGE, SMALL, explained, factors, found, names

PROFILE = Path(__file__).parents[2] / "profile" / "data" / "planted.profile"


class Planted:
    """Splits by probe."""

    def __init__(self, **splits):
        self.splits = splits

    def of(self, platform, place):
        return self.splits.get(place.probe.partition(".")[2])


EP = Split(0.999, 0.001, "by its own clock on bare")
CG = Split(0.7, 0.3, "by its own clock on bare")
MPI = found("mpi.allreduce", 5.0, **SMALL)
DGEMM = found("compute.dgemm", 1.5, half=1.02)


def test_a_program_that_computes_is_not_blamed_on_mpi():
    """EP sends three messages; MPI's factor of 5 was its cause before."""
    ep = found("npb.ep", 1.5, half=1.01, nodes=2)
    one = explained(ep, MPI, DGEMM, splits=Planted(ep=EP))
    assert names(one) == ["computation"]
    assert (
        "99.9" not in one.standing[0].words
        and "100 % of its time by its own clock on bare" in one.standing[0].words
    )
    assert one.absent["communication"] == "its communication is only 0.10 % of its time"
    assert one.word is Word.EXPLAINS


def test_a_program_that_computes_has_no_cause_where_only_mpi_lost():
    one = explained(found("npb.ep", 1.5, nodes=2), MPI, splits=Planted(ep=EP))
    assert not one.known and one.word is None


def test_computation_and_communication_lose_by_their_shares_and_add_up():
    cg = found("npb.cg", 2.0, half=1.05, nodes=2)
    one = explained(cg, MPI, DGEMM, splits=Planted(cg=CG))
    assert sorted(names(one)) == ["communication", "computation"]
    least, most = 1 + 0.7 * (1.5 / 1.02 - 1), 1 + 0.7 * (1.5 * 1.02 - 1) + 0.3 * (5 * 1.05 - 1)
    assert factors(one) == pytest.approx((least, most))
    assert one.word is Word.EXPLAINS


def test_a_network_between_two_nodes_costs_a_program_within_one_nothing():
    """CG on one node was blamed on the network between two before."""
    cg = found("npb.cg", 1.5, nodes=1, ranks=4)
    within = found("mpi.allreduce", 1.0, verdict=Verdict.EQUIVALENT, **(SMALL | {"nodes": 1}))
    for splits in (Planted(cg=CG), Planted()):
        one = explained(cg, MPI, within, splits=splits)
        assert not one.known
        told = [one.absent[name] for name in ("communication", "layers below")]
        assert any("certainly worse" in reason for reason in told)


def test_measurements_count_on_as_many_nodes_as_the_program_has():
    cg = found("npb.cg", 1.5, nodes=4)
    assert not explained(cg, MPI, splits=Planted(cg=CG)).known
    alike = found("mpi.allreduce", 5.0, **(SMALL | {"nodes": 4}))
    assert names(explained(cg, alike, splits=Planted(cg=CG))) == ["communication"]


def test_a_part_that_takes_no_longer_is_withdrawn():
    own = Split(0.7, 0.3, CG.source, Estimate(1.0, 0.99, 1.01), Estimate(3.0, 2.9, 3.1))
    one = explained(found("npb.cg", 1.6, nodes=2), MPI, DGEMM, splits=Planted(cg=own))
    assert names(one) == ["communication"]
    assert "by itself it takes 1.00 [0.990, 1.01] times as long" in one.withdrawn


def test_a_program_s_own_clock_narrows_what_the_probes_leave_open():
    """MPI loses up to 175 times, which alone says nothing; the program's messages lost 3 times."""
    mpi = found("mpi.allreduce", 175.0, **SMALL)
    own = Split(0.7, 0.3, CG.source, Estimate(1.0, 0.99, 1.01), Estimate(3.0, 2.9, 3.1))
    loss = found("npb.cg", 1.6, half=1.02, nodes=2)
    one = explained(loss, mpi, splits=Planted(cg=own))
    assert factors(one) == pytest.approx((1 + 0.3 * 1.9, 1 + 0.3 * 2.1))
    assert one.word is Word.EXPLAINS
    assert (
        "takes 3.00 [2.90, 3.10] times as long, and mpi.allreduce below 8 KiB loses"
        in one.standing[0].words
    )
    assert explained(loss, mpi, splits=Planted(cg=CG)).word is Word.DIFFERS


def test_what_no_probe_below_lost_remains_unexplained():
    """Communication took 5 times as long, of which messages explain 1.5: ranks waited."""
    mpi = found("mpi.allreduce", 1.5, half=1.02, **SMALL)
    own = Split(0.7, 0.3, CG.source, Estimate(1.0, 0.99, 1.01), Estimate(5.0, 4.9, 5.1))
    one = explained(found("npb.cg", 2.2, nodes=2), mpi, splits=Planted(cg=own))
    assert one.word is Word.CONTRIBUTES
    assert factors(one) == pytest.approx((1.0, 1 + 0.3 * (1.5 * 1.02 - 1)))


def test_a_program_of_one_rank_does_not_communicate():
    one = explained(found("npb.cg", 1.5, nodes=1), DGEMM, splits=Planted(cg=Split(1, 0, "x")))
    assert names(one) == ["computation"]
    assert "does not communicate" in one.absent["communication"]


def test_without_a_split_a_program_loses_at_most_the_most():
    cg = found("npb.cg", 1.6, nodes=2)
    below = [DGEMM, found("memory.stream", 1.5)]
    one = explained(cg, *below)
    assert names(one) == ["layers below"]
    assert factors(one) == pytest.approx((1.0, 1.5 * 1.05))
    assert not explained(cg).known


def test_a_bound_over_decades_is_no_cause():
    """1.00 to 205 explained any loss before."""
    slow = found("mpi.pingpong", 195.0, **LARGE)
    one = explained(found("npb.cg", 1.6, nodes=2), slow)
    assert one.word is Word.DIFFERS and not one.terms
    assert names(one) == ["layers below"]


def test_what_all_cores_lose_together_is_no_loss_of_a_rank():
    every = found("compute.dgemm", 2.0, params="mode=all")
    assert not explained(found("npb.ep", 2.0), every, splits=Planted(ep=EP)).known


# Splits -------------------------------------------------------------------------------------------


def _kernels(shares, loss):
    """Yield the samples of programs that divide their time, and of what computes below them."""

    def samples(trial, generator):
        noise = 1 + 0.002 * generator.standard_normal()
        worse = loss if trial.platform == "b" else 1.0
        if trial.case.probe == "compute.dgemm":
            yield Sample("rate", 6e10 / worse * noise)
            return
        communicating = shares[trial.case.probe]
        yield Sample("time", worse * noise)
        yield Sample(COMPUTING, (1 - communicating) * worse * noise)
        yield Sample(COMMUNICATING, communicating * worse * noise)

    return samples


def test_a_program_s_own_clock_splits_its_time(plant_study):
    shares = {"npb.ep": 0.001, "npb.cg": 0.3}
    cases = [{"probe": probe, "ranks": 2} for probe in shares]
    run = plant_study(_kernels(shares, 1.5), *cases, {"probe": "compute.dgemm"})
    told = {one.finding.probe: one for one in Comparison(read_runs([run])).explanations}
    assert names(told["npb.ep"]) == names(told["npb.cg"]) == ["computation"]
    assert "100 % of its time by its own clock on a" in told["npb.ep"].standing[0].words
    assert "70 % of its time by its own clock on a" in told["npb.cg"].standing[0].words


def test_a_profile_splits_the_time_of_a_program_without_a_clock(plant_study):
    """A program of others has no clock for its parts; the baseline's profile has."""

    def samples(trial, generator):
        worse = 1.5 if trial.platform == "b" else 1.0
        value = worse * (1 + 0.002 * generator.standard_normal())
        match trial.case.probe:
            case "compute.dgemm":
                yield Sample("rate", 6e10 / value)
            case "mpi.allreduce":
                yield Sample("latency", 1e-6 * value, {"size_bytes": 8})
            case _:
                yield Sample("time", value)

    case = {"probe": "npb.cg", "ranks": 2, "profile": True}
    others = {"probe": "compute.dgemm"}, {"probe": "mpi.allreduce", "ranks": 2}
    run = plant_study(samples, case, *others)
    records = read_runs([run])
    for row in records.trials.filter(profile=True, platform="a").iter_rows(named=True):
        path = run.raw_file(row["trial"], PROFILE_FILE, row["attempt"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PROFILE.read_bytes())
    (one,) = [e for e in Comparison(records).explanations if e.finding.probe == "npb.cg"]
    ranks = read_profile(PROFILE).rank_table
    computes = ranks["compute_ns"].sum() / (ranks["wall_ns"] - ranks["paused_ns"]).sum()
    assert computes < 0.01
    assert names(one) == ["communication"]
    assert f"{100 * (1 - computes):.0f} % of its time by its profile on a" in one.standing[0].words
    assert "its computation is only" in one.absent["computation"]
