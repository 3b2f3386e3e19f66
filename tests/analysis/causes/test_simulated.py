"""Causes on simulated platforms: the parameters that were given."""

from dataclasses import replace

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.words.sums import sum_sentences

from .planted import SMALL, explained, factors, found, names

GIVEN = {"sim.latency_s": 2e-6, "sim.rate_bits_per_s": 100e9, "sim.compute_factor": 1.0}


def test_a_parameter_that_was_given_is_the_cause_and_bounds_it():
    mpi = found("mpi.pingpong", 1.9, **SMALL)
    one = explained(mpi, facts={**GIVEN, "sim.latency_s": 4e-6}, base=GIVEN)
    assert names(one) == ["simulated latency"]
    assert factors(one) == pytest.approx((1.0, 2.0)) and one.word is CauseStatus.MAY_EXPLAIN
    assert "was given as 4.00 µs, the baseline's as 2.00 µs" in one.standing[0].words
    assert not explained(mpi, facts=GIVEN, base=GIVEN).known


def test_of_a_rate_less_is_worse_and_far_apart_it_bounds_nothing():
    program = found("npb.cg", 3.0, nodes=4)
    one = explained(program, facts={**GIVEN, "sim.rate_bits_per_s": 1e9}, base=GIVEN)
    assert names(one) == ["simulated rate"] and one.word is CauseStatus.MAY_EXPLAIN
    assert not explained(program, facts={**GIVEN, "sim.rate_bits_per_s": 2e11}, base=GIVEN).known


def test_between_simulations_what_was_given_is_the_cause_however_far_apart():
    """19.9 times slower all-reduce with 47 times the latency: nothing remains unexplained."""
    given = {**GIVEN, "sim.nic_messages_per_s": 1e6}
    slower = {**given, "sim.nic_messages_per_s": 5e4, "sim.latency_s": 94e-6}
    one = explained(found("mpi.allreduce", 19.9, **SMALL), facts=slower, base=given)
    one = replace(one, point=replace(one.point, exact=True))
    assert names(one) == ["simulated latency", "simulated message rate"]
    assert one.word is CauseStatus.EXPLAINS and not one.differing
    text = sum_sentences(one)
    assert "the rate of messages of its NICs was given as 50.0 k" in text
    assert "no other input of the model differs" in text and "not explained" not in text
    none = explained(found("mpi.allreduce", 1.5, **SMALL), facts=given, base=given)
    assert not none.terms and none.word is None


def test_computation_that_was_given_as_slower_concerns_programs():
    facts = {**GIVEN, "sim.compute_factor": 2.0}
    assert names(explained(found("npb.ep", 2.0), facts=facts, base=GIVEN)) == [
        "simulated computation"
    ]
    assert not explained(found("mpi.pingpong", 2.0, **SMALL), facts=facts, base=GIVEN).known
