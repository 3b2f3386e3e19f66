"""A period whose calls do not fit together is not replayed: the first call is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bareline.predict.scaling.consistency import first_fault
from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.ranks import scaled
from bareline.profile.records import NOBODY, Shape
from bareline.profile.trace import Trace
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError

from .stencil import calls, period, stream


def call(name, kind, *, posts=False, to=NOBODY, from_=NOBODY, root=NOBODY, tag=-1, size=0, comm=1):
    send, receive = (tag, -1) if to != NOBODY else (-1, tag)
    sent = size if to != NOBODY or kind == "collective" else 0
    return Shape(name, kind, posts, to, from_, root, send, receive, comm, 2, size, sent, 0)


def send(to, tag=0, size=8):
    return call("MPI_Send", "send", to=to, tag=tag, size=size)


def receive(from_, tag=0, size=8):
    return call("MPI_Recv", "receive", from_=from_, tag=tag, size=size)


def swap(other, size=8):
    return Shape("MPI_Sendrecv", "send-receive", False, other, other, -2, 1, 1, 1, 2, size, size, 0)


def collective(name="MPI_Bcast", root=0, size=8):
    return call(name, "collective", root=root, size=size)


def done(ago):
    return Shape("done", "done", False, ago, 0, 0, 0, 0, 0, 0, 0, 0, 0)


POSTED = call("MPI_Irecv", "receive", posts=True, from_=1, tag=0, size=8)


def fault_of(first, second):
    streams = tuple(stream(rank, own) for rank, own in enumerate((first, second)))
    return first_fault(Trace(Path("x"), 2, 1, "x", streams))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param([send(1), receive(1)], [receive(0), send(0)], id="one after the other"),
        pytest.param([send(1, 1), send(1, 2)], [receive(0, 2), receive(0, 1)], id="by tag"),
        pytest.param([send(1, 3)], [receive(0, -1)], id="any tag"),
        pytest.param([swap(1)], [swap(0)], id="exchanged"),
        pytest.param([send(1)], [receive(0, size=80)], id="more room than needed"),
        pytest.param([POSTED, send(1), done(0)], [send(0), receive(0)], id="posted"),
        pytest.param([collective()], [collective()], id="collective"),
    ],
)
def test_calls_that_fit_are_no_fault(first, second):
    assert fault_of(first, second) is None


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([send(1)], [collective()], "call 1 of rank 0, MPI_Send, sends tag 0 to rank 1, which"),
        ([receive(1, 4)], [receive(0, 4)], "call 1 of rank 0, MPI_Recv, receives from rank 1, w"),
        ([send(1, 1)], [receive(0, 2)], "sends no tag 2"),
        ([send(1, size=80)], [receive(0)], "has room for 8 B, and rank 0 sends 80 B"),
        ([receive(1), send(1)], [receive(0), send(0)], "waits for ranks that wait for it"),
        ([collective(root=0)], [collective(root=1)], "has root 1 where rank 0 calls it with"),
        ([collective()], [collective("MPI_Reduce")], "stands where rank 0 calls MPI_Bcast"),
        ([collective(size=8)], [collective(size=16)], "moves 16 B where rank 0"),
        ([collective()] * 2, [collective()], "is one collective more than rank 1 calls"),
        ([collective()], [send(1)], "is of 2 ranks, and 1 call it"),
        ([POSTED, done(0), send(1)], [receive(0), send(0)], "waits for ranks"),
    ],
)
def test_the_first_call_that_does_not_fit_is_named(first, second, said):
    assert said in str(fault_of(first, second))


def opposite(sides):
    """A program that also sends to the block opposite: on 3x3x3 every place has one rank."""
    grid, made = Grid(sides), period(sides, (24, 24, 24))
    streams = []
    for rank in range(grid.ranks):
        other = grid.ranks - 1 - rank
        model = calls(grid, rank, (24, 24, 24))
        more = [] if other == rank else [swap(other, 64)]
        streams.append(stream(rank, [*more, *model]))
    return replace(made, trace=replace(made.trace, streams=tuple(streams)))


def test_a_made_period_that_is_not_a_program_is_refused_with_its_call():
    periods = [opposite((2, 3, 3)), opposite((3, 3, 3))]
    with raises(AnalysisError, "BL-PREDICT-899"):
        scaled(periods).grown(Grid((4, 4, 4)))
