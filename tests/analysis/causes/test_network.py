"""Causes on the way between nodes: latency, delay, adapters; within a node none of them."""

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.judgements.causes.search import explain
from bareline.vocabulary.verdicts import Verdict

from .planted import LARGE, SMALL, explained, factors, found, names

GUEST = {
    "cpu.emulated": True, "cpu.allowed": 1, "net.kind": "emulated", "net.driver": "e1000",
    "net.mtu": 1500,
}  # fmt: skip
REAL = {"cpu.emulated": False, "net.kind": "virtual link"}


def test_a_loss_within_a_node_is_not_told_by_a_stream_between_two():
    within = found("mpi.pingpong", 1.89, **(LARGE | {"nodes": 1}))
    stream = found("net.nuttcp", 1.95, nodes=2)
    facts = {
        "net.shaped_bps": 5e9,
        "net.delay_s": 1e-3,
        "net.mtu": 1500,
        **GUEST,
        "cpu.emulated": False,
    }
    one = explained(
        within, stream, facts=facts, base={"net.shaped_bps": 10e9, **REAL, "net.mtu": 9000}
    )
    assert not one.known
    assert one.absent["link rate"] == "within a node no network is used"


# Latency ------------------------------------------------------------------------------------------


def test_an_added_delay_is_bounded_by_one_way_and_there_and_back():
    mpi = found("mpi.pingpong", 6.0, **SMALL, base=20e-6)
    assert factors(explained(mpi, facts={"net.delay_s": 1e-4})) == pytest.approx((6.0, 11.0))
    assert not explained(mpi, facts={"net.delay_s": 1e-4}, base={"net.delay_s": 1e-4}).known
    # What it is added to is the time of the message; the baseline's link need not have a delay.
    (cause,) = explained(mpi, facts={"net.delay_s": 1e-4}).causes
    assert "to a message that takes 20.0 us on the baseline" in cause.words.replace("µ", "u")


def test_a_delay_and_the_latency_that_measured_it_are_one_term():
    """2.01 = explained 3.98 to 6.04 before: the delay's factor times that of the sockets."""
    mpi = found("mpi.pingpong", 2.01, half=1.01, **SMALL, base=100e-6)
    sockets = found("net.sockperf", 2.0, half=1.005, nodes=2, base=100e-6)
    one = explained(mpi, sockets, facts={"net.delay_s": 1e-4})
    assert names(one) == ["delay"]
    assert factors(one) == pytest.approx((2 / 1.005, 2 * 1.005))
    assert one.word is CauseStatus.EXPLAINS


def test_a_latency_is_carried_over_as_a_ratio_or_as_the_time_that_it_adds():
    mpi = found("mpi.pingpong", 9.0, half=1.02, **SMALL, base=10e-6)
    sockets = found("net.sockperf", 5.0, half=1.01, nodes=2, base=20e-6)
    one = explained(mpi, sockets)
    assert factors(one) == pytest.approx((5 / 1.01, 1 + 20 * (5 * 1.01 - 1) / 10))
    assert one.word is CauseStatus.EXPLAINS


def test_a_latency_that_does_not_differ_withdraws_the_delay():
    mpi = found("mpi.pingpong", 6.0, **SMALL, base=20e-6)
    sockets = found("net.sockperf", 1.0, verdict=Verdict.EQUIVALENT, nodes=2)
    one = explained(mpi, sockets, facts={"net.delay_s": 1e-4})
    assert not names(one) and "delay: net.sockperf is not worse" in one.withdrawn


# The way to the wire ------------------------------------------------------------------------------


def test_software_in_place_of_hardware_is_named_and_nothing_bounds_it():
    slow = found("mpi.allreduce", 153.0, **SMALL)
    one = explained(slow, facts=GUEST, base=REAL)
    assert names(one) == ["emulated processor", "emulated NIC"]
    assert one.word is CauseStatus.DIFFERS and not one.terms
    assert "e1000" in one.standing[1].words
    # Both sides alike, or not known: no cause.
    assert not explained(slow, facts=GUEST, base=GUEST).known
    assert not explained(slow, facts=GUEST, base={}).known
    # Memory does not go through the adapter.
    within = found("mpi.pingpong", 59.5, **(SMALL | {"nodes": 1}))
    assert names(explained(within, facts=GUEST, base=REAL)) == ["emulated processor"]


def test_a_stream_over_the_same_adapter_says_what_it_costs():
    stream = found("net.nuttcp", 20.0, half=1.02, nodes=2)
    mpi = found("mpi.pingpong", 21.0, **LARGE)
    one = explained(mpi, stream, facts=GUEST, base=REAL)
    assert names(one) == ["emulated processor", "emulated NIC"]
    assert sum(cause.share.value for cause in one.sized) == pytest.approx(one.explained.value)
    assert one.explained.holds(one.extra.value, 0.1 * one.extra.value)


@pytest.mark.parametrize(
    ("ratio", "standing", "words"),
    [
        (100.0, ["emulated NIC", "emulated processor"], "1.50 [1.36, 1.65] times as much as on q"),
        (150.0, ["emulated processor", "emulated NIC"], "may cost nothing (1.00 [0.907, 1.10]"),
        (200.0, ["emulated processor"], ""),
    ],
)
def test_a_guest_with_a_faster_adapter_tells_what_the_adapter_costs(ratio, standing, words):
    slow = found("mpi.allreduce", 150.0, **SMALL)
    other = found("mpi.allreduce", ratio, **SMALL, platform="q")
    faster = GUEST | {"net.kind": "paravirtual", "net.driver": "virtio_net"}

    def of(facts):
        told = explain([slow, other], {"vm": GUEST, "bare": REAL, "q": facts}, "bare")
        return next(one for one in told if one.finding is slow)

    one = of(faster)
    assert names(one) == standing
    assert words in " ".join(cause.words for cause in one.standing)
    if ratio == 100.0:
        assert one.explained.value == pytest.approx(150 * (1 - 1 / 1.5))
        assert one.explained.hi == one.extra.hi  # the faster kind costs something as well
        assert [one.word_of(cause) for cause in one.causes] == [
            CauseStatus.DIFFERS,
            CauseStatus.EXPLAINS,
        ]
    if not words:
        assert "0.750 [0.680, 0.827] times as long as on q" in one.causes[1].withdrawn
    # With longer frames it differs in more than its adapter.
    assert " q" not in " ".join(cause.words for cause in of(faster | {"net.mtu": 9000}).causes)


def test_what_was_seen_to_carry_messages_goes_before_what_was_asked_for():
    mpi = found("mpi.pingpong", 30.0, rate=False)
    asked = {"mpi.transport": "auto", "mpi.flavour": "openmpi"}
    seen = [{**asked, "mpi.carrier.within_node": carrier} for carrier in ("BTL tcp", "MTL psm2")]
    one = explained(mpi, facts=seen[0], base=seen[1])
    assert one.standing[0].words == (
        "its messages are carried by BTL tcp, the baseline's by MTL psm2"
    )
    assert not explained(mpi, facts=seen[0], base=seen[0]).known
    other = {**seen[1], "mpi.flavour": "mpich"}
    assert not explained(mpi, facts=seen[0], base=other).known


def test_another_transport_is_named():
    mpi = found("mpi.pingpong", 30.0, rate=False)
    one = explained(mpi, facts={"mpi.transport": "tcp"}, base={"mpi.transport": "shm"})
    assert one.standing[0].words == "its ranks talk over tcp, the baseline's over shm"
    assert not explained(mpi, facts={"mpi.transport": "shm"}, base={"mpi.transport": "shm"}).known
