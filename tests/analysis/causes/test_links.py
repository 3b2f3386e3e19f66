"""Causes in what a link carries; within a node none of them, and a loopback tells of none."""

import pytest

from bareline.analysis.judgements.causes.cause import Word
from bareline.vocabulary.verdicts import Verdict

from .planted import LARGE, SMALL, explained, found, names

HALF, FULL = {"net.shaped_bps": 5e9}, {"net.shaped_bps": 10e9}


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


@pytest.mark.parametrize(("size", "explains"), [(32 << 10, True), (1 << 20, False)])
def test_a_shaper_lets_messages_of_a_few_buckets_pass_in_part(size, explains):
    """32 KiB in 11.7 times the demo's 20.7 us: less than the wire takes, more than half of it."""
    base = 20.7e-6 * size / (32 << 10)
    mpi = found("mpi.pingpong", 11.7, half=1.05, **{**LARGE, "point": f"size_bytes={size}",
                                                    "base": base})  # fmt: skip
    stream = found("net.nuttcp", 17.5, half=1.05, nodes=2, base=16.6e9)
    one = explained(mpi, stream, facts={"net.shaped_bps": 1e9}, base={"net.shaped_bps": 40e9})
    assert (one.word is Word.EXPLAINS) is explains
    unshaped = explained(mpi, stream, facts={"net.speed_bps": 1e9}, base={"net.speed_bps": 40e9})
    assert not unshaped.known


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


def test_an_adapter_that_leaves_frames_to_the_processor_is_named():
    off, on = ({"net.offload.tso": state} for state in (False, True))
    stream = found("net.nuttcp", 2.0, half=1.01, nodes=2)
    one = explained(stream, facts=off, base=on)
    assert names(one) == ["offload"] and one.word is Word.DIFFERS
    assert not explained(stream, facts=on, base=off).known
    # The stream measured what that costs MPI.
    mpi = found("mpi.alltoall", 2.0, half=1.01, **LARGE)
    assert explained(mpi, stream, facts=off, base=on).word is Word.EXPLAINS
    assert not explained(found("mpi.alltoall", 2.0, **SMALL), facts=off, base=on).known
