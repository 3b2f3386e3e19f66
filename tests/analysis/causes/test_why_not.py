"""``explain --why-not``: what a cause needs, what there was of it, and what came of it."""

import pytest

from bareline.analysis.judgements.causes.search import explain, load_rules
from bareline.analysis.judgements.causes.why_not import rule_of, why_not
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.verdicts import Verdict

from .planted import LARGE, SMALL, found


def asked(name, *findings, facts=None, base=None):
    facts = {"vm": facts or {}, "bare": base or {}}
    told = explain(findings, facts, "bare")
    return why_not(rule_of(name), "vm", findings, told, facts, "bare")


def test_facts_that_are_missing_are_said_with_the_side_that_lacks_them():
    one = asked("clock", found("compute.dgemm", 1.4), facts={"cpu.max_hz": 2e9})
    assert [(fact.key, fact.value, fact.value_baseline) for fact in one.facts] == [
        ("cpu.max_hz", 2e9, None),
        ("cpu.base_hz", None, None),
    ]
    (answer,) = one.answers
    assert answer.word is None
    assert answer.reason == "cpu.max_hz or cpu.base_hz is not known of bare"


def test_measurements_are_said_with_their_nodes_and_missing_ones_by_name():
    loopback = found("net.nuttcp", 1.0, verdict=Verdict.EQUIVALENT, nodes=1)
    fast, slow = {"net.speed_bps": 1e10}, {"net.speed_bps": 1e9}
    one = asked("link rate", found("mpi.pingpong", 9.0, **LARGE), loopback, facts=slow, base=fast)
    assert [(probe, worst and worst.place.ran_on) for probe, worst in one.measured] == [
        ("net.nuttcp", 1),
        ("net.iperf3", None),
        ("net.ib_write_bw", None),
    ]
    assert "also due to" not in one.answers[0].figures and "extra" in one.answers[0].figures


def test_each_loss_that_it_concerns_has_an_answer():
    stream = found("net.nuttcp", 2.0, half=1.01, nodes=2)
    losses = [
        found("mpi.alltoall", 2.0, half=1.01, **LARGE),
        found("mpi.allreduce", 2.0, **SMALL),
        found("compute.dgemm", 2.0),
    ]
    rates = {"net.speed_bps": 5e9}, {"net.speed_bps": 10e9}
    large, small, _ = asked("link-rate", *losses, stream, facts=rates[0], base=rates[1]).answers
    assert large.word is not None and large.reason.startswith("its link carries 5.00 Gb/s")
    assert small.word is None and "its cost is at most 0.031 %" in small.reason


def test_a_cause_that_was_withdrawn_says_why():
    stream = found("net.nuttcp", 40.0, base=9.44e9, nodes=2)
    (answer,) = asked("Link Rate", stream, facts={"net.shaped_bps": 1e9}).answers
    assert answer.word is None
    assert answer.reason == "withdrawn: at most 25 % of the link is used"


def test_what_it_concerns_is_said_where_nothing_is_worse():
    one = asked("clock", found("io.sequential", 3.0))
    assert not one.answers and one.concerns == "Compute, NAS Parallel Benchmarks and Applications"


@pytest.mark.parametrize("name", ["MTU", "mtu", "link-rate", "emulated NIC", "paravirtual nic"])
def test_names_are_found_however_they_are_written(name):
    assert rule_of(name).name in {rule.name for rule in load_rules()}


def test_a_wrong_name_lists_the_known_ones():
    with raises(UsageError, "BL-ANALYSIS-161", "'link rat'", "'link rate'") as caught:
        rule_of("link rat")
    assert all(rule.name in str(caught.value) for rule in load_rules())
