"""Causes between nodes: links, frames, latency, adapters; within a node none of them."""

import pytest

from bareline.analysis.causes.cause import Word
from bareline.analysis.causes.search import explain
from bareline.vocabulary.verdicts import Verdict

from .planted import LARGE, SMALL, explained, found, names

HALF, FULL = {"net.shaped_bps": 5e9}, {"net.shaped_bps": 10e9}
GUEST = {
    "cpu.emulated": True, "cpu.allowed": 1, "net.kind": "emulated", "net.driver": "e1000",
    "net.mtu": 1500,
}  # fmt: skip
REAL = {"cpu.emulated": False, "net.kind": "virtual link"}


# Rate ---------------------------------------------------------------------------------------------


def test_a_link_explains_the_rate_of_a_stream_that_fills_it():
    stream = found("net.nuttcp", 10.0, base=9.44e9, nodes=2)
    one = explained(stream, facts={"net.shaped_bps": 1e9})
    assert one.explained == pytest.approx((9.44, 9.44 * 1538 / 1448))
    assert one.word is Word.EXPLAINS


def test_a_link_that_is_not_filled_is_withdrawn():
    stream = found("net.nuttcp", 40.0, base=9.44e9, nodes=2)
    one = explained(stream, facts={"net.shaped_bps": 1e9})
    assert not one.known
    assert "only 24 % of the link is used" in one.causes[0].withdrawn


def test_a_link_that_the_baseline_does_not_fill_either_is_no_cause():
    stream = found("net.nuttcp", 1.3, base=0.8e9, nodes=2)
    assert not explained(stream, facts={"net.shaped_bps": 1e9}).causes


def test_mpi_on_a_link_of_half_the_rate_says_so():
    """2^20 B take at least 1.68 ms of 5 Gb/s, and at most that beside all of the baseline's."""
    mpi = found("mpi.pingpong", 1.89, **LARGE)
    one = explained(mpi, facts=HALF, base=FULL)
    assert names(one) == ["link rate"]
    assert one.explained == pytest.approx((1.678, 1 + 1.678 * 1538 / 1448), rel=1e-3)


def test_the_rate_of_a_link_and_of_a_stream_are_one_factor():
    mpi = found("mpi.alltoall", 1.97, half=1.01, **LARGE)
    stream = found("net.nuttcp", 1.95, half=1.02, nodes=2)
    one = explained(mpi, stream, facts=HALF, base=FULL)
    assert names(one) == ["link rate", "network rate"]
    assert one.explained == pytest.approx((1.95 / 1.02, 1.95 * 1.02))
    assert one.word is Word.EXPLAINS
    assert one.words.count("net.nuttcp is 1.95") == 1


@pytest.mark.parametrize(
    ("size", "base", "ratio", "half"),
    [(128 << 10, 39.0e-6, 30.0, 1.02), (512 << 10, 93.9e-6, 42.7, 1.3)],
)
def test_a_stream_foretells_the_time_of_a_message_that_crosses_the_link_once(
    size, base, ratio, half
):
    """On a baseline that copies in memory a message loses more than a stream's rate does.

    The figures are those of the tutorial, whose streams carried 13.3 and 0.905 Gb/s.
    """
    large = {**LARGE, "point": f"size_bytes={size}", "base": base}
    mpi = found("mpi.pingpong", ratio, half=half, **large)
    stream = found("net.nuttcp", 14.7, half=1.02, nodes=2, base=13.3e9)
    one = explained(mpi, stream)
    wire = 8 * size / (13.3e9 / 14.7) / base
    assert one.explained == pytest.approx((wire / 1.02, 1 + wire * 1.02))
    assert one.word is Word.EXPLAINS


def test_a_network_that_does_not_differ_withdraws_the_link():
    stream = found("net.nuttcp", 1.0, verdict=Verdict.EQUIVALENT, nodes=2)
    one = explained(found("mpi.pingpong", 1.89, **LARGE), stream, facts=HALF, base=FULL)
    assert not one.known
    assert {cause.name for cause in one.causes} == {"link rate", "network rate"}
    assert all("net.nuttcp is not worse" in cause.withdrawn for cause in one.causes)


def test_a_loopback_acquits_no_network():
    """A stream within a node is equal, and says nothing of a link of half the rate."""
    loopback = found("net.nuttcp", 1.0, verdict=Verdict.EQUIVALENT, nodes=1)
    one = explained(found("mpi.pingpong", 1.89, **LARGE), loopback, facts=HALF, base=FULL)
    assert names(one) == ["link rate"] and not one.withdrawn


def test_a_loss_within_a_node_is_not_told_by_a_stream_between_two():
    within = found("mpi.pingpong", 1.89, **(LARGE | {"nodes": 1}))
    stream = found("net.nuttcp", 1.95, nodes=2)
    facts = {**HALF, "net.delay_s": 1e-3, "net.mtu": 1500, **GUEST, "cpu.emulated": False}
    one = explained(within, stream, facts=facts, base={**FULL, **REAL, "net.mtu": 9000})
    assert not one.known
    assert one.absent["link rate"] == "within a node no network is used"


# Frames -------------------------------------------------------------------------------------------


def test_shorter_frames_are_named_and_bounded_by_their_number():
    stream = found("net.nuttcp", 3.0, base=9e9, nodes=2)
    facts, base = ({"net.mtu": mtu} for mtu in (1500, 9000))
    one = explained(stream, facts=facts, base=base)
    assert names(one) == ["MTU"] and one.explained == (1.0, 6.0)
    assert "1500 bytes instead of 9000" in one.standing[0].words
    assert not explained(stream, facts=base, base=facts).known
    assert not explained(stream, facts=facts, base=facts).known


def test_frames_on_a_full_link_cost_no_more_than_their_heads():
    stream = found("net.nuttcp", 2.05, half=1.01, base=9.9e9, nodes=2)
    facts, base = {"net.mtu": 1500, **HALF}, {"net.mtu": 9000, **FULL}
    one = explained(stream, facts=facts, base=base)
    assert names(one) == ["link rate", "MTU"]
    heads = (8948 / 9038) / (1448 / 1538)
    assert one.causes[1].hi == pytest.approx(heads)
    assert one.word is Word.EXPLAINS


@pytest.mark.parametrize(("size", "named"), [(64, False), (1448, False), (4096, True)])
def test_a_message_that_fits_into_one_frame_does_not_lose_by_the_mtu(size, named):
    mpi = found("mpi.pingpong", 2.0, **(SMALL | {"point": f"size_bytes={size}"}))
    one = explained(mpi, facts={"net.mtu": 1500}, base={"net.mtu": 9000})
    assert names(one) == (["MTU"] if named else [])


def test_frames_and_the_stream_that_measured_them_are_one_factor():
    mpi = found("mpi.alltoall", 3.0, half=1.01, **LARGE)
    stream = found("net.nuttcp", 3.0, half=1.02, nodes=2)
    one = explained(mpi, stream, facts={"net.mtu": 1500}, base={"net.mtu": 9000})
    assert names(one) == ["network rate", "MTU"]
    assert one.explained == pytest.approx((3 / 1.02, 3 * 1.02))


# Latency ------------------------------------------------------------------------------------------


def test_an_added_delay_is_bounded_by_one_way_and_there_and_back():
    mpi = found("mpi.pingpong", 6.0, **SMALL, base=20e-6)
    assert explained(mpi, facts={"net.delay_s": 1e-4}).explained == pytest.approx((6.0, 11.0))
    assert not explained(mpi, facts={"net.delay_s": 1e-4}, base={"net.delay_s": 1e-4}).known


def test_a_delay_and_the_latency_that_measured_it_are_one_factor():
    """2.01 = explained 3.98 to 6.04 before: the delay's factor times that of the sockets."""
    mpi = found("mpi.pingpong", 2.01, half=1.01, **SMALL, base=100e-6)
    sockets = found("net.sockperf", 2.0, half=1.005, nodes=2, base=100e-6)
    one = explained(mpi, sockets, facts={"net.delay_s": 1e-4})
    assert names(one) == ["network latency", "delay"]
    assert one.explained == pytest.approx((2 / 1.005, 2 * 1.005))
    assert one.word is Word.EXPLAINS


def test_a_latency_is_carried_over_as_a_ratio_or_as_the_time_that_it_adds():
    mpi = found("mpi.pingpong", 9.0, half=1.02, **SMALL, base=10e-6)
    sockets = found("net.sockperf", 5.0, half=1.01, nodes=2, base=20e-6)
    one = explained(mpi, sockets)
    assert one.explained == pytest.approx((5 / 1.01, 1 + 20 * (5 * 1.01 - 1) / 10))
    assert one.word is Word.EXPLAINS


def test_a_latency_that_does_not_differ_withdraws_the_delay():
    mpi = found("mpi.pingpong", 6.0, **SMALL, base=20e-6)
    sockets = found("net.sockperf", 1.0, verdict=Verdict.EQUIVALENT, nodes=2)
    one = explained(mpi, sockets, facts={"net.delay_s": 1e-4})
    assert not one.known and "delay: net.sockperf is not worse" in one.withdrawn


# The way to the wire ------------------------------------------------------------------------------


def test_software_in_place_of_hardware_is_named_and_nothing_bounds_it():
    slow = found("mpi.allreduce", 153.0, **SMALL)
    one = explained(slow, facts=GUEST, base=REAL)
    assert names(one) == ["emulated processor", "emulated NIC"]
    assert one.word is Word.DIFFERS and one.residual == (None, pytest.approx(153 * 1.05))
    assert "e1000" in one.standing[1].words
    # Both sides alike, or not known: no cause.
    assert not explained(slow, facts=GUEST, base=GUEST).known
    assert not explained(slow, facts=GUEST, base={}).known
    # Memory does not go through the adapter.
    within = found("mpi.pingpong", 59.5, **(SMALL | {"nodes": 1}))
    assert names(explained(within, facts=GUEST, base=REAL)) == ["emulated processor"]


def test_a_stream_over_the_same_adapter_is_the_better_cause():
    stream = found("net.nuttcp", 20.0, half=1.02, nodes=2)
    mpi = found("mpi.pingpong", 21.0, **LARGE)
    one = explained(mpi, stream, facts=GUEST, base=REAL)
    assert names(one) == ["network rate"]
    assert one.word is Word.EXPLAINS


@pytest.mark.parametrize(
    ("ratio", "standing", "words"),
    [
        (100.0, ["emulated processor", "emulated NIC"], "1.50 [1.36, 1.65] times as much as on q"),
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
        # Bounded below alone, it contributes, and what remains is said first.
        assert one.explained == (pytest.approx(150 / 100 / 1.05**2), None)
        assert one.word is Word.CONTRIBUTES
        assert one.text.startswith("at most 116 times remain unexplained")
        assert [one.word_of(cause) for cause in one.causes] == [Word.DIFFERS, Word.CONTRIBUTES]
    if not words:
        assert "0.750 [0.680, 0.827] times as long as on q" in one.causes[1].withdrawn
    # With longer frames it differs in more than its adapter.
    assert " q" not in " ".join(cause.words for cause in of(faster | {"net.mtu": 9000}).causes)


def test_another_transport_is_named():
    mpi = found("mpi.pingpong", 30.0, rate=False)
    one = explained(mpi, facts={"mpi.transport": "tcp"}, base={"mpi.transport": "shm"})
    assert one.standing[0].words == "its ranks talk over tcp, the baseline's over shm"
    assert not explained(mpi, facts={"mpi.transport": "shm"}, base={"mpi.transport": "shm"}).known
