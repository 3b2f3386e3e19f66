"""Causes of programs: what they do not use is none, and their own split decides."""

from pathlib import Path

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.numbers.programs import (
    COMMUNICATING,
    COMPUTING,
    ReplayedTerm,
    Split,
    application_of,
)
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.row import Estimate
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.sums import sum_sentences
from bareline.profile.files import read_profile
from bareline.profile.launch import PROFILE_FILE
from bareline.vocabulary.model import Sample
from bareline.vocabulary.verdicts import Verdict

from .planted import LARGE, SMALL, explained, factors, found, names, share_of

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


def terms(one):
    """Give the shares of the terms by their names."""
    return {term.term.value: term.share for term in one.terms}


def ends(share):
    """Give the bounds of a share."""
    return share.lo, share.hi


def test_a_program_that_computes_is_not_blamed_on_mpi():
    """EP sends three messages; MPI's factor of 5 was its cause before."""
    ep = found("npb.ep", 1.5, half=1.01, nodes=2)
    one = explained(ep, MPI, DGEMM, splits=Planted(ep=EP))
    assert terms(one).keys() == {"computing"}
    assert one.word is CauseStatus.EXPLAINS
    assert "are due to computing (" in sum_sentences(one)


def test_a_program_that_computes_has_no_cause_where_only_mpi_lost():
    one = explained(found("npb.ep", 1.5, nodes=2), MPI, splits=Planted(ep=EP))
    assert not one.known and one.word is None
    assert one.probes_to_run == ("compute.dgemm",)


def test_computation_and_communication_lose_by_their_shares_and_add_up():
    cg = found("npb.cg", 2.0, half=1.05, nodes=2)
    one = explained(cg, MPI, DGEMM, splits=Planted(cg=CG))
    assert terms(one).keys() == {"computing", "messages"}
    least, most = 1 + 0.7 * (1.5 / 1.02 - 1), 1 + 0.7 * (1.5 * 1.02 - 1) + 0.3 * (5 * 1.05 - 1)
    assert factors(one) == pytest.approx((least, most))
    assert one.word is CauseStatus.EXPLAINS


def test_a_network_between_two_nodes_costs_a_program_within_one_nothing():
    """CG on one node was blamed on the network between two before."""
    cg = found("npb.cg", 1.5, nodes=1, ranks=4)
    within = found("mpi.allreduce", 1.0, verdict=Verdict.EQUIVALENT, **(SMALL | {"nodes": 1}))
    for splits in (Planted(cg=CG), Planted()):
        assert not explained(cg, MPI, within, splits=splits).known


def test_measurements_count_on_as_many_nodes_as_the_program_has():
    cg = found("npb.cg", 1.5, nodes=4)
    one = explained(cg, MPI, splits=Planted(cg=CG))
    assert not one.known and one.probes_to_run == ("compute.dgemm", "mpi.pingpong")
    alike = found("mpi.allreduce", 5.0, **(SMALL | {"nodes": 4}))
    assert terms(explained(cg, alike, splits=Planted(cg=CG))).keys() == {"messages"}


CLOCKS = {"facts": {"cpu.max_hz": 2e9}, "base": {"cpu.max_hz": 3e9}}


def test_a_part_that_takes_no_longer_refuses_the_facts_that_would_change_it():
    own = Split(0.7, 0.3, CG.source, Estimate(1.0, 0.99, 1.01), Estimate(3.0, 2.9, 3.1))
    one = explained(found("npb.cg", 1.6, nodes=2), MPI, DGEMM, splits=Planted(cg=own), **CLOCKS)
    assert not names(one)
    assert "1.00 [0.990, 1.01] times as long by its own clock" in one.withdrawn


def test_a_program_s_own_clock_narrows_what_the_probes_leave_open():
    """MPI loses up to 175 times, which alone explains nothing; its messages lost 3 times."""
    mpi = found("mpi.allreduce", 175.0, **SMALL)
    own = Split(0.7, 0.3, CG.source, Estimate(1.0, 0.99, 1.01), Estimate(3.0, 2.9, 3.1))
    loss = found("npb.cg", 1.6, half=1.02, nodes=2)
    one = explained(loss, mpi, splits=Planted(cg=own))
    assert ends(terms(one)["messages"]) == pytest.approx((0.3 * 1.9, 0.3 * 2.1))
    assert one.word is CauseStatus.EXPLAINS
    assert not explained(loss, mpi, splits=Planted(cg=CG)).terms


def test_a_program_that_computes_faster_than_the_rung_below_has_its_own_loss():
    """DGEMM lost half; the program's own clock shows 20 % in its computing."""
    own = Split(0.7, 0.3, CG.source, Estimate(1.2, 1.19, 1.21), Estimate(1.0, 0.99, 1.01))
    one = explained(found("npb.cg", 1.14, half=1.02, nodes=2), DGEMM, splits=Planted(cg=own))
    assert ends(terms(one)["computing"]) == pytest.approx((0.7 * 0.19, 0.7 * 0.21))
    assert one.word is CauseStatus.EXPLAINS


def test_what_no_probe_below_lost_remains_unexplained():
    """Communication took 5 times as long, of which messages explain 1.5: ranks waited."""
    mpi = found("mpi.allreduce", 1.5, half=1.02, **SMALL)
    own = Split(0.7, 0.3, CG.source, Estimate(1.0, 0.99, 1.01), Estimate(5.0, 4.9, 5.1))
    one = explained(found("npb.cg", 2.2, nodes=2), mpi, splits=Planted(cg=own))
    assert one.word is CauseStatus.CONTRIBUTES
    assert ends(terms(one)["messages"]) == pytest.approx((0.0, 0.3 * (1.5 * 1.02 - 1)))


def test_a_program_of_one_rank_does_not_communicate():
    one = explained(found("npb.cg", 1.5, nodes=1), DGEMM, splits=Planted(cg=Split(1, 0, "x")))
    assert terms(one).keys() == {"computing"}


def test_without_a_split_a_program_loses_at_most_the_most():
    cg = found("npb.cg", 1.6, nodes=2)
    below = [DGEMM, found("memory.stream", 1.5)]
    one = explained(cg, *below)
    assert terms(one).keys() == {"computing"}
    assert factors(one) == pytest.approx((1.0, 1.5 * 1.05))
    assert not explained(cg).known
    assert explained(cg).probes_to_run == ("npb.cg profile=true",)


def test_a_bound_over_decades_explains_nothing():
    """1.00 to 205 explained any loss before."""
    slow = found("mpi.pingpong", 195.0, **LARGE)
    one = explained(found("npb.cg", 1.6, nodes=2), slow)
    assert not one.terms and one.word is None


def test_what_all_cores_lose_together_is_no_loss_of_a_rank():
    every = found("compute.dgemm", 2.0, params="mode=all")
    assert not explained(found("npb.ep", 2.0), every, splits=Planted(ep=EP)).known


# Facts that share the terms -----------------------------------------------------------------------


def test_a_lower_clock_shares_the_computing_of_a_program():
    """A program is explained as a sum like every other row: no factor of its own."""
    one = explained(
        found("npb.cg", 1.35, half=1.02, nodes=2), DGEMM, splits=Planted(cg=CG), **CLOCKS
    )
    assert names(one) == ["clock"]
    # The clock costs at most half of the time that the program computes.
    assert ends(share_of(one, "clock")) == pytest.approx((terms(one)["computing"].lo, 0.7 * 0.5))
    assert not one.rests
    assert "due to the clock (its clock is 1.50 times lower)" in sum_sentences(one)


def test_a_link_shares_the_messages_of_a_program_and_not_its_computing():
    rates = {"facts": {"net.shaped_bps": 1e9}, "base": {"net.shaped_bps": 10e9}}
    own = Split(0.7, 0.3, CG.source, Estimate(1.2, 1.19, 1.21), Estimate(3.0, 2.9, 3.1))
    one = explained(
        found("npb.cg", 1.74, half=1.02, nodes=2),
        MPI,
        found("compute.dgemm", 1.2, half=1.02),
        splits=Planted(cg=own),
        **rates,
    )
    assert names(one) == ["link rate"]
    assert ends(share_of(one, "link rate")) == pytest.approx((0.3 * 1.9, 0.3 * 2.1))
    assert [term.term.value for term in one.rests] == ["computing"]
    within = found("npb.cg", 1.74, nodes=1, ranks=4)
    assert not names(explained(within, MPI, DGEMM, splits=Planted(cg=own), **rates))


def test_a_link_that_no_stream_fills_is_refused_for_programs_as_well():
    rates = {"facts": {"net.shaped_bps": 5e9}, "base": {"net.shaped_bps": 10e9}}
    stream = found("net.nuttcp", 1.0, verdict=Verdict.EQUIVALENT, half=1.01, nodes=2)
    one = explained(found("npb.cg", 1.6, nodes=2), MPI, stream, splits=Planted(cg=CG), **rates)
    assert not names(one) and "link rate: " in one.withdrawn


def replayed(*terms):
    """Give the terms of a replayed loss of CG, as predictions keep them."""
    of_program = application_of(found("npb.cg", 1.6, nodes=2).points[0].place)
    return {("vm", of_program): (tuple(ReplayedTerm(*term) for term in terms), 8)}


def test_the_terms_of_the_replay_are_those_of_the_explanation():
    """A gain counts, too, and more than was lost is printed: the sum is the prediction."""
    loss = found("npb.cg", 1.6, half=1.02, nodes=2, metric="time")
    given = [
        ("message bandwidth", 0.8, 0.75, 0.85),
        ("message latency", -0.1, -0.12, -0.08),
        ("computing and memory", 0.05, 0.04, 0.06),
    ]
    rates = {"facts": {"net.shaped_bps": 1e9}, "base": {"net.shaped_bps": 10e9}}
    one = explained(loss, MPI, DGEMM, splits=Planted(cg=CG), replayed=replayed(*given), **rates)
    assert one.explained.value == pytest.approx(0.75)
    assert one.left.value == pytest.approx(-0.15)
    assert names(one) == ["link rate"] and share_of(one, "link rate").value == pytest.approx(0.8)
    text = sum_sentences(one)
    assert text.count("by the replay of its trace") == 1
    assert "The link rate (1.00 Gb/s) alone can explain all of these 600 µs" in text
    assert text.endswith("the estimates exceed the loss by 150 µs [38.0, 261]")


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
    shares = {probe: terms(one)["computing"].value for probe, one in told.items() if one.terms}
    assert shares["npb.ep"] == pytest.approx(0.999 * 0.5, rel=0.02)
    assert shares["npb.cg"] == pytest.approx(0.7 * 0.5, rel=0.02)


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
    assert terms(one).keys() == {"messages"}
    assert terms(one)["messages"].hi == pytest.approx(0.5 * (1 - computes), rel=0.03)
