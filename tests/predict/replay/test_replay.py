"""The replay on planted programs and platforms, whose times follow by hand."""

from __future__ import annotations

import ctypes
import time
from dataclasses import replace

import numpy as np
import pytest
from planted_programs import done, network, program, shape, stream, trace

from bareline.build.native import load_library
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.curves.requirements import RECEIVING, SENDING
from bareline.predict.replay.engine import _Tables, replay, why_not_replayable
from bareline.predict.replay.validity import lacks_of
from bareline.report.terminal.predictions import said_lacks
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError

LATENCY, RATE = 10e-6, 1e9


def costs(**given):
    return Costs(network(**{"latency": LATENCY, "rate": RATE, **given}))


def waited_s(done, rank):
    """How long a rank stood in calls."""
    return done.ends_s[rank] - done.compute_s[rank]


def test_ping_pong_takes_twice_the_latency_each_way():
    there = [
        (shape("MPI_Send", "send", to=1, size=8), 0.0),
        (shape("MPI_Recv", "receive", from_=1, size=8), 0.0),
    ]
    back = [
        (shape("MPI_Recv", "receive", from_=0, size=8), 0.0),
        (shape("MPI_Send", "send", to=0, size=8), 0.0),
    ]
    found = replay(trace(stream(0, there * 100), stream(1, back * 100)), costs())
    assert found.time_s == pytest.approx(200 * (LATENCY + 8 / RATE), rel=0.01)


def test_a_message_that_lies_there_costs_its_receiver_little():
    late = [(shape("MPI_Recv", "receive", from_=0, size=8), 5e-3)]
    early = [(shape("MPI_Send", "send", to=1, size=8), 0.0)]
    found = replay(trace(stream(0, early), stream(1, late)), costs())
    assert found.time_s == pytest.approx(5e-3, rel=0.001)


def test_a_long_message_waits_until_both_stand_in_a_call():
    size = 1 << 20
    wire = LATENCY + size / RATE
    # The receiver posts at once, computes, and only then looks: nothing moves before.
    sender = [(shape("MPI_Send", "send", to=1, size=size), 0.0)]
    receiver = [
        (shape("MPI_Irecv", "receive", posts=True, from_=0, size=size), 0.0),
        (done(0), 0.0),
        (shape("MPI_Wait", "wait"), 3e-3),
    ]
    found = replay(trace(stream(0, sender), stream(1, receiver)), costs())
    assert found.time_s == pytest.approx(3e-3 + wire, rel=0.001)
    # A short one is there already.
    short = [(replace(one, size=1024), before) for one, before in receiver]
    sends = [(replace(sender[0][0], size=1024), 0.0)]
    assert replay(trace(stream(0, sends), stream(1, short)), costs()).time_s < 3.1e-3


def test_isend_irecv_wait_codes_do_not_lock():
    size = 1 << 18
    both = [
        [
            (shape("MPI_Isend", "send", posts=True, to=1 - rank, size=size), 0.0),
            (shape("MPI_Recv", "receive", from_=1 - rank, size=size), 1e-4),
            (done(0), 0.0),
            (shape("MPI_Wait", "wait"), 0.0),
        ]
        * 20
        for rank in (0, 1)
    ]
    found = replay(trace(stream(0, both[0]), stream(1, both[1])), costs())
    each = 1e-4 + LATENCY + size / RATE
    assert found.time_s == pytest.approx(20 * each, rel=0.1)


def test_what_the_replay_lacks_is_named_by_function_and_size():
    """Each send was traced 10 us longer than the ladder has it, each reduction 2 us shorter."""
    planted = program(steps=100, size=4096)
    found = replay(planted, costs())
    reductions = np.array([one.call == "MPI_Allreduce" for one in planted.streams[0].shapes])
    sends = np.array([one.call == "MPI_Isend" for one in planted.streams[0].shapes])
    off = 1e-5 * sends - 2e-6 * reductions
    traced = [
        replace(one, spent_s=(taken / np.maximum(np.bincount(one.shape), 1) + off)[one.shape])
        for one, taken in zip(planted.streams, found.taken_s, strict=True)
    ]
    lacks = lacks_of(replace(planted, streams=tuple(traced)), found, found.time_s)
    by_call = {one.call: one for one in lacks}
    send, sums = by_call["MPI_Isend"], by_call["MPI_Allreduce"]
    assert lacks[0] is send and lacks[-1] is sums and send.size_bytes == 4096
    assert send.calls == sums.calls == 100
    assert send.replayed_s - send.traced_s == pytest.approx(-1e-3)
    assert sums.share == pytest.approx(200e-6 / found.time_s)
    assert by_call["MPI_Waitall"].share == pytest.approx(0, abs=1e-12)
    assert said_lacks(lacks).startswith("; its largest errors are in MPI_Isend of 4 KiB (-1.0%")


@pytest.mark.parametrize("size", [8, 1 << 20], ids=["eager", "rendezvous"])
@pytest.mark.parametrize("late_s", [0.0, 1.0], ids=["asked", "sent"])
def test_many_unmatched_messages_take_time_in_proportion(size, late_s):
    """A search from the first for each took sixteen times the steps for four times as many."""

    def steps(count):
        sends = [
            (replace(shape("MPI_Isend", "send", posts=True, to=1, size=size), send_tag=tag), 0.0)
            for tag in range(count)
        ]
        receive = shape("MPI_Recv", "receive", from_=0, size=size)
        receives = [
            (replace(receive, receive_tag=tag), late_s if tag == count - 1 else 0.0)
            for tag in reversed(range(count))
        ]
        waits = [*((done(ago), 0.0) for ago in range(count)), (shape("MPI_Waitall", "wait"), 0.0)]
        planted = trace(stream(0, sends + waits), stream(1, receives))
        assert replay(planted, costs()).time_s > late_s
        taken = []
        for _ in range(5):
            tables = _Tables(planted.streams, costs())
            before = time.process_time()
            load_library().bl_replay_run(ctypes.c_void_p(tables.job.ctypes.data))
            taken.append(time.process_time() - before)
        return min(taken)

    assert steps(8_000) < 8 * steps(2_000)


def test_a_link_carries_one_message_after_the_other():
    size, count = 32768, 6
    sends = [(shape("MPI_Isend", "send", posts=True, to=1, size=size), 0.0)] * count
    posts = [(shape("MPI_Irecv", "receive", posts=True, from_=0, size=size), 0.0)] * count
    waits = [*((done(ago), 0.0) for ago in range(count)), (shape("MPI_Waitall", "wait"), 0.0)]
    found = replay(trace(stream(0, sends + waits), stream(1, posts + waits)), costs())
    # One latency for all, then the link's rate.
    assert found.time_s == pytest.approx(LATENCY + count * size / RATE, rel=0.15)


def test_collectives_wait_for_the_last_and_roots_have_their_roles():
    def run(call, root, slow):
        one = shape(call, "collective", comm_size=4, root=root, size=8)
        planted = [stream(rank, [(one, 1e-2 if rank == slow else 0.0)]) for rank in range(4)]
        return replay(trace(*planted), costs(ranks=4))

    two_steps = 2 * (LATENCY + 8 / RATE)
    everyone = run("MPI_Allreduce", -2, 3)
    assert everyone.time_s == pytest.approx(1e-2 + two_steps, rel=0.001)
    # A broadcast does not wait for a member that comes late, a reduction's members for nobody.
    assert run("MPI_Bcast", 0, 3).time_s == pytest.approx(1e-2, rel=0.01)
    assert run("MPI_Bcast", 0, 0).time_s == pytest.approx(1e-2 + two_steps, rel=0.001)
    late_member = run("MPI_Reduce", 0, 3)
    assert late_member.time_s == pytest.approx(1e-2 + two_steps, rel=0.001)
    assert max(waited_s(late_member, rank) for rank in (1, 2)) < 1e-3


def test_a_measured_overhead_takes_the_place_of_the_window_s():
    plain = network(latency=LATENCY, rate=RATE)
    curves = dict(plain.curves)
    for name, value in ((SENDING, 6e-6), (RECEIVING, 4e-6)):
        key = CurveKey(name, 2, 2)
        curves[key] = Curve(key, np.array([1.0, 4096.0]), np.full((6, 2), value))
    measured = replace(plain, curves=curves)
    # Twenty short messages that nobody waits for, then their receiver, who finds them there.
    sends = [(shape("MPI_Send", "send", to=1, size=8), 0.0)] * 20
    takes = [(shape("MPI_Recv", "receive", from_=0, size=8), 1e-2 * (at == 0)) for at in range(20)]
    planted = trace(stream(0, sends), stream(1, takes))
    sender = waited_s(replay(planted, Costs(measured)), 0)
    assert sender == pytest.approx(20 * 6e-6, rel=0.01)
    assert replay(planted, Costs(measured)).time_s == pytest.approx(1e-2 + 20 * 4e-6, rel=1e-3)
    assert waited_s(replay(planted, Costs(plain)), 0) < sender / 2
    # Never more than the whole transfer.
    slow = replace(curves[CurveKey(SENDING, 2, 2)], launches=np.full((6, 2), 1.0))
    curves[slow.key] = slow
    assert Costs(replace(plain, curves=curves)).send_overhead(2, 8) == Costs(plain).transfer(2, 8)


def test_the_size_from_which_a_send_waits_is_measured():
    plain = network(latency=1e-6, rate=RATE, nodes=1)
    assert plain.protocol(1) == (4096, True)
    sizes = np.array([8.0, 64.0, 256.0, 512.0, 4096.0])

    def with_sends(*times):
        key = CurveKey(SENDING, 2, 1)
        own = Curve(key, sizes, np.array([times] * 3))
        return replace(plain, curves={**plain.curves, key: own})

    # From 512 B on the sender waits for the receiver, which looks after 45 us.
    early = with_sends(1e-7, 1e-7, 2e-7, 45e-6, 48e-6)
    assert early.protocol(1) == (256, True)
    # One size that was disturbed is no limit, and what never waits has none.
    assert with_sends(1e-7, 60e-6, 2e-7, 45e-6, 48e-6).protocol(1) == (256, True)
    assert with_sends(1e-7, 60e-6, 2e-7, 3e-7, 4e-7).protocol(1) == (4096, True)
    # A sender of 1 KiB stays until its receiver, which computes, comes.
    sends = [(shape("MPI_Send", "send", to=1, size=1024), 0.0)]
    takes = [(shape("MPI_Recv", "receive", from_=0, size=1024), 5e-3)]
    planted = trace(stream(0, sends), stream(1, takes))
    assert waited_s(replay(planted, Costs(early)), 0) == pytest.approx(5e-3, rel=0.01)
    assert waited_s(replay(planted, Costs(plain)), 0) < 1e-4


def test_ranks_that_share_a_core_take_turns():
    alone = replay(program(steps=20), costs(nodes=1)).time_s
    shared = replay(program(steps=20), costs(nodes=1, cores=1)).time_s
    assert shared == pytest.approx(alone + 20 * 1e-3, rel=0.05)


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_program_of_steps_takes_what_its_steps_take(ranks):
    planted = program(ranks=ranks, steps=30, compute=1e-3, size=8192)
    found = replay(planted, costs(ranks=ranks, nodes=ranks))
    steps = 1 if ranks == 2 else 2
    each = 1e-3 + LATENCY + 8192 / RATE + steps * LATENCY
    assert found.time_s == pytest.approx(30 * each, rel=0.05)


def test_what_cannot_be_replayed_says_why():
    lonely = stream(0, [(shape("MPI_Recv", "receive", from_=1, size=8), 0.0)])
    with raises(AnalysisError, "BL-PREDICT-450"):
        replay(trace(lonely, stream(1, [])), costs())
    puts = stream(0, [(shape("MPI_Put", "one-sided", to=1), 0.0)] * 9)
    slow = replace(puts, spent_s=puts.spent_s + 1e-3)
    assert "one-sided" in why_not_replayable(trace(slow, slow))
    assert why_not_replayable(program()) == ""
    assert "missing" in why_not_replayable(trace(replace(lonely, lost=3), lonely))


def _both_ways(curves, sizes, both_s):
    """Add what MPI_Sendrecv of two ranks on two nodes takes."""
    key = CurveKey("mpi.sendrecv", 2, 2)
    return {**curves, key: Curve(key, np.array(sizes), np.tile(both_s, (6, 1)))}


@pytest.mark.parametrize("rate", [RATE, 125e6])
@pytest.mark.parametrize("reductions", [0, 1])
def test_messages_that_cross_take_what_both_ways_take(rate, reductions):
    """On 1 Gb/s a message that crosses another took 15 to 35 % longer than the replay said.

    Both are delayed, whether ranks meet after each exchange or drift apart.
    """
    size, more = 16384, 33e-6
    plain = network(latency=LATENCY, rate=rate)
    alone = LATENCY + size / rate
    sizes, both_s = [1.0, float(size)], [LATENCY + 5e-6, alone + 5e-6 + more]
    slow = Costs(replace(plain, curves=_both_ways(plain.curves, sizes, both_s)))
    steps = program(steps=50, compute=1e-4, size=size, reductions=reductions)
    apart = replay(steps, Costs(plain)).time_s
    assert replay(steps, slow).time_s - apart == pytest.approx(50 * more, rel=0.01)
    one_way = trace(
        stream(0, [(shape("MPI_Send", "send", to=1, size=size), 0.0)] * 20),
        stream(1, [(shape("MPI_Recv", "receive", from_=0, size=size), 0.0)] * 20),
    )
    assert replay(one_way, slow).time_s == replay(one_way, Costs(plain)).time_s


def test_messages_that_cross_for_a_while_take_longer_for_that_while():
    size, more, share = 16384, 40e-6, 0.25
    plain = network(latency=LATENCY, rate=125e6)
    wire_s = size / 125e6
    sizes, both_s = [1.0, float(size)], [LATENCY, LATENCY + wire_s + more]
    slow = Costs(replace(plain, curves=_both_ways(plain.curves, sizes, both_s)))

    def sides(late_s):
        first = [
            (shape("MPI_Isend", "send", posts=True, to=1, size=size), 0.0),
            (shape("MPI_Recv", "receive", from_=1, size=size), 0.0),
        ]
        second = [
            (shape("MPI_Isend", "send", posts=True, to=0, size=size), late_s),
            (shape("MPI_Recv", "receive", from_=0, size=size), 0.0),
        ]
        return trace(stream(0, first), stream(1, second))

    late = sides((1 - share) * wire_s)
    # The end of the rank that receives the second message.
    longer_s = replay(late, slow).ends_s[0] - replay(late, Costs(plain)).ends_s[0]
    assert longer_s == pytest.approx(share * more, rel=0.02)
    never = sides(2 * wire_s)
    assert replay(never, slow).ends_s == replay(never, Costs(plain)).ends_s


def test_a_curve_of_both_ways_that_is_cut_or_faster_changes_nothing():
    size = 16384
    plain = network(latency=LATENCY, rate=RATE)
    for sizes, both_s in (
        ([1.0, 1024.0], [LATENCY, LATENCY + 1e-3]),
        ([1.0, float(size)], [LATENCY, LATENCY + 1e-6]),
        ([0.0], [1.0]),
    ):
        curves = _both_ways(plain.curves, sizes, both_s)
        assert Costs(replace(plain, curves=curves)).crossing(2, size) >= Costs(plain).transfer(
            2, size
        )
    cut = Costs(replace(plain, curves=_both_ways(plain.curves, [1.0, 1024.0], [1e-5, 1e-2])))
    assert cut.crossing(2, size) == Costs(plain).transfer(2, size)
