"""Causes in what a link carries; within a node none of them, and a loopback tells of none."""

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.vocabulary.verdicts import Verdict

from .planted import LARGE, SMALL, explained, factors, found, names, share_of

HALF, FULL = {"net.shaped_bps": 5e9}, {"net.shaped_bps": 10e9}
GIGABIT, TEN = {"net.shaped_bps": 1e9}, {"net.shaped_bps": 10e9}


def message(size, base, ratio, probe="mpi.pingpong", half=1.02):
    return found(probe, ratio, half=half, base=base, rate=False, nodes=2, ranks=2,
                 point=f"size_bytes={size}")  # fmt: skip


def test_a_link_explains_the_rate_of_a_stream_that_fills_it():
    stream = found("net.nuttcp", 10.0, base=9.44e9, nodes=2)
    one = explained(stream, facts=GIGABIT)
    assert factors(one) == pytest.approx((9.44, 9.44 * 1538 / 1448))
    assert one.word is CauseStatus.EXPLAINS


def test_a_link_that_is_not_filled_is_withdrawn():
    stream = found("net.nuttcp", 40.0, base=9.44e9, nodes=2)
    one = explained(stream, facts=GIGABIT)
    assert not one.known
    assert "at most 25 % of the link is used" in one.causes[0].withdrawn


def test_a_link_that_may_be_filled_is_not_withdrawn():
    """A busy machine gave 67 % of 1 Gb/s, between 34 and 153 %: the link was withdrawn before."""
    stream = found("net.nuttcp", 8.4, half=1.95, base=5.64e9, nodes=2)
    one = explained(stream, message(24 << 10, 11.9e-6, 14.8), facts=GIGABIT)
    assert names(one) == ["link rate"]


def test_a_link_that_the_baseline_does_not_fill_either_is_no_cause():
    stream = found("net.nuttcp", 1.3, base=0.8e9, nodes=2)
    assert not explained(stream, facts=GIGABIT).causes


def test_mpi_on_a_link_of_half_the_rate_says_so():
    """2^20 B take 1.68 ms of 5 Gb/s, and 0.84 ms of 10."""
    mpi = found("mpi.pingpong", 1.89, **LARGE)
    one = explained(mpi, facts=HALF, base=FULL)
    assert names(one) == ["link rate"]
    share = share_of(one, "link rate")
    assert share.value == pytest.approx(0.839, rel=1e-3)
    assert share.hi == pytest.approx(1.678 * 1538 / 1448, rel=1e-3)


def test_a_message_of_6_kib_on_a_slow_link_is_its_bytes():
    """59 instead of 10 us had no known cause, since such messages were too small for a rate."""
    mpi = message(6144, 10e-6, 5.9, half=1.01)
    for base in ({}, TEN):
        one = explained(mpi, found("net.nuttcp", 23.0, nodes=2, base=22e9), facts=GIGABIT,
                        base=base)  # fmt: skip
        assert names(one) == ["link rate"] and one.word is CauseStatus.EXPLAINS
        share = share_of(one, "link rate")
        assert 42e-6 < share.value * one.base_s < 49.2e-6
        assert share.lo <= one.extra.value <= share.hi
        assert one.left.value * one.base_s == pytest.approx(49e-6 - share.value * 10e-6)


def test_a_message_of_1_kib_loses_the_time_of_the_wire():
    """8 of the 21 us are the wire: "too small for a link's rate to matter" before."""
    mpi = message(1024, 13e-6, 21 / 13, half=1.01)
    one = explained(mpi, found("net.nuttcp", 22.5, nodes=2, base=22e9), facts=GIGABIT)
    assert names(one) == ["link rate"]
    assert share_of(one, "link rate").value * one.base_s == pytest.approx(8e-6, rel=0.1)


def test_a_very_slow_link_explains_messages_of_any_size():
    """2.5 Gb/s and 5 Mb/s, 384 times: the MTU explained a part, the rate nothing."""
    mpi = message(2048, 8.6e-6, 384)
    facts, base = ({"net.shaped_bps": rate, "net.mtu": mtu}
                   for rate, mtu in ((5e6, 1500), (2.5e9, 9000)))  # fmt: skip
    stream = found("net.nuttcp", 480.0, nodes=2, base=2.35e9)
    one = explained(mpi, stream, facts=facts, base=base)
    assert one.standing[0].name == "link rate" and one.word is CauseStatus.EXPLAINS
    shares = {cause.name: cause.share.hi for cause in one.sized}
    assert shares.get("MTU", 0.0) < 0.1 * shares["link rate"]


def test_a_link_whose_baseline_has_no_limit_is_a_cause():
    """bare-pair against net-10g: the rate was the only fact that differed, and not a cause."""
    mpi = message(256 << 10, 120e-6, 2.2)
    stream = found("net.nuttcp", 2.3, nodes=2, base=22e9)
    assert names(explained(mpi, stream, facts={"net.shaped_bps": 10e9})) == ["link rate"]
    assert names(explained(mpi, facts={"net.shaped_bps": 10e9})) == ["link rate"]


@pytest.mark.parametrize("stream", [True, False])
def test_a_stream_that_was_measured_does_not_withdraw_the_true_link(stream):
    """All-reduce of 64 KiB, 1 instead of 10 Gb/s, 7.6 times: with nuttcp it was withdrawn.

    A collective got the stream's factor, 9.9 to 10.2, whatever of its time is bytes.
    """
    loss = message(65536, 72e-6, 7.6, "mpi.allreduce", half=1.03)
    beside = [found("net.nuttcp", 10.05, half=1.015, nodes=2, base=9.4e9)] if stream else []
    one = explained(loss, *beside, facts=GIGABIT, base=TEN)
    assert names(one) == ["link rate"] and one.word is CauseStatus.EXPLAINS


def test_rate_and_delay_add_up():
    """9.88 times: "expected 10.2 to 38.2" before, the product of both."""
    base_s, size, added = 60e-6, 65536, 1e-4
    extra_s = size * 8 / 1e9 - size * 8 / 10e9 + added
    loss = message(size, base_s, 1 + extra_s / base_s, half=1.01)
    stream = found("net.nuttcp", 10.0, half=1.01, nodes=2, base=9.4e9)
    sockets = found("net.sockperf", 1 + added / 8e-6, half=1.02, nodes=2, base=8e-6)
    facts = {**GIGABIT, "net.delay_s": added}
    for beside in ([], [stream], [sockets], [stream, sockets]):
        one = explained(loss, *beside, facts=facts, base={**TEN, "net.delay_s": 0.0})
        assert names(one) == ["link rate", "delay"] and one.word is CauseStatus.EXPLAINS
        assert share_of(one, "delay").holds(added / base_s, 0.01)
        assert share_of(one, "link rate").holds((extra_s - added) / base_s, 0.01)
        assert one.explained.value == pytest.approx(one.extra.value, rel=0.15)


def test_the_rate_of_a_link_and_of_a_stream_are_one_term():
    mpi = found("mpi.alltoall", 1.97, half=1.01, ranks=2, **LARGE)
    stream = found("net.nuttcp", 1.95, half=1.02, nodes=2)
    one = explained(mpi, stream, facts=HALF, base=FULL)
    assert names(one) == ["link rate"] and len(one.terms) == 1
    assert one.word is CauseStatus.EXPLAINS
    assert "net.nuttcp is 1.95" in one.terms[0].words


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
    mpi = message(size, base, ratio, half=half)
    stream = found("net.nuttcp", 14.7, half=1.02, nodes=2, base=13.3e9)
    one = explained(mpi, stream)
    added = 8 * size / 13.3e9 * 13.7 / base
    assert one.explained.value == pytest.approx(added)
    assert one.word in (CauseStatus.EXPLAINS, CauseStatus.CONTRIBUTES)
    assert abs(one.left.value) < 0.2 * one.extra.value


@pytest.mark.parametrize(("size", "explains"), [(32 << 10, True), (1 << 20, False)])
def test_a_shaper_lets_messages_of_a_few_buckets_pass_in_part(size, explains):
    """32 KiB in 11.7 times the demo's 20.7 us: less than the wire takes, more than half of it."""
    base = 20.7e-6 * size / (32 << 10)
    mpi = message(size, base, 11.7)
    stream = found("net.nuttcp", 17.5, half=1.05, nodes=2, base=16.6e9)
    one = explained(mpi, stream, facts={"net.shaped_bps": 1e9}, base={"net.shaped_bps": 40e9})
    assert bool(one.terms) is explains


def test_a_network_that_does_not_differ_withdraws_the_link():
    stream = found("net.nuttcp", 1.0, verdict=Verdict.EQUIVALENT, nodes=2)
    one = explained(found("mpi.pingpong", 1.89, **LARGE), stream, facts=HALF, base=FULL)
    assert not names(one)
    assert "net.nuttcp is not worse" in one.causes[0].withdrawn


def test_a_cause_whose_own_measurement_is_open_is_bounded_by_it():
    """At most 0.7 %: "may explain at most 10 times" before."""
    stream = found("net.nuttcp", 1.001, half=1.006, verdict=Verdict.INCONCLUSIVE, nodes=2)
    one = explained(message(1 << 20, 1e-3, 3.0), stream, facts=GIGABIT, base=TEN)
    assert not names(one)
    assert "net.nuttcp" in one.withdrawn


def test_a_loopback_acquits_no_network():
    """A stream within a node is equal, and says nothing of a link of half the rate."""
    loopback = found("net.nuttcp", 1.0, verdict=Verdict.EQUIVALENT, nodes=1)
    one = explained(found("mpi.pingpong", 1.89, **LARGE), loopback, facts=HALF, base=FULL)
    assert names(one) == ["link rate"] and not one.withdrawn


# Frames -------------------------------------------------------------------------------------------


def test_shorter_frames_are_named_and_bounded_by_their_number():
    stream = found("net.nuttcp", 3.0, base=9e9, nodes=2)
    facts, base = ({"net.mtu": mtu} for mtu in (1500, 9000))
    one = explained(stream, facts=facts, base=base)
    assert names(one) == ["MTU"] and factors(one) == (1.0, 6.0)
    assert "1500 bytes instead of 9000" in one.standing[0].words
    assert not explained(stream, facts=base, base=facts).known
    assert not explained(stream, facts=facts, base=facts).known


def test_frames_on_a_full_link_cost_no_more_than_their_heads():
    stream = found("net.nuttcp", 2.05, half=1.01, base=9.9e9, nodes=2)
    facts, base = {"net.mtu": 1500, **HALF}, {"net.mtu": 9000, **FULL}
    one = explained(stream, facts=facts, base=base)
    assert names(one) == ["link rate", "MTU"]
    heads = (8948 / 9038) / (1448 / 1538) - 1
    assert share_of(one, "MTU").hi == pytest.approx(heads * 2.05 * 1.01)
    assert one.word is CauseStatus.EXPLAINS


@pytest.mark.parametrize(("size", "named"), [(64, False), (1448, False), (4096, True)])
def test_a_message_that_fits_into_one_frame_does_not_lose_by_the_mtu(size, named):
    mpi = found("mpi.pingpong", 2.0, **(SMALL | {"point": f"size_bytes={size}"}))
    one = explained(mpi, facts={"net.mtu": 1500}, base={"net.mtu": 9000})
    assert names(one) == (["MTU"] if named else [])


def test_frames_and_the_stream_that_measured_them_are_one_term():
    mpi = found("mpi.alltoall", 3.0, half=1.01, ranks=2, **LARGE)
    stream = found("net.nuttcp", 3.0, half=1.02, nodes=2)
    one = explained(mpi, stream, facts={"net.mtu": 1500}, base={"net.mtu": 9000})
    assert names(one) == ["MTU"] and len(one.terms) == 1
    assert share_of(one, "MTU").value == pytest.approx(one.explained.value)


def test_an_adapter_that_leaves_frames_to_the_processor_is_named():
    off, on = ({"net.offload.tso": state} for state in (False, True))
    stream = found("net.nuttcp", 2.0, half=1.01, nodes=2)
    one = explained(stream, facts=off, base=on)
    assert names(one) == ["offload"] and one.word is CauseStatus.DIFFERS
    assert not explained(stream, facts=on, base=off).known
    # The stream measured what that costs MPI.
    mpi = found("mpi.alltoall", 2.0, half=1.01, ranks=2, **LARGE)
    assert share_of(explained(mpi, stream, facts=off, base=on), "offload").value > 0.5
    frame = {"net.mtu": 1500}
    small = explained(found("mpi.alltoall", 2.0, **SMALL), facts=off | frame, base=on | frame)
    assert not small.known


def test_offload_costs_nothing_beside_a_full_link():
    """It "explained" beside a full link of 1 Gb/s before."""
    facts, base = {"net.offload.tso": False, **GIGABIT}, {"net.offload.tso": True, **TEN}
    stream = found("net.nuttcp", 10.0, half=1.01, nodes=2, base=9.4e9)
    for loss in (stream, message(65536, 72e-6, 7.3)):
        one = explained(loss, *([] if loss is stream else [stream]), facts=facts, base=base)
        assert names(one) == ["link rate"]
        assert "its link is full" in one.absent["offload"]
