"""The compiled replay beside the one in Python: equal to the last bit, on any program."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from bareline.predict import compiled, replay, stepping
from bareline.predict.costs import Costs
from bareline.profile.compiled import library
from bareline.vocabulary.errors import AnalysisError

from .planted import done, network, program, shape, stream, trace

COMMUNICATORS = (7, 9)
SIZES = (0, 8, 1000, 4096, 70_000, 1 << 20)


@pytest.fixture(scope="module")
def steps():
    found = library(build=True)
    if found is None:
        pytest.skip("no CMake or C compiler: replays run in Python")
    return found


class Program:
    """Ranks that call what comes, sometimes so that they wait for each other for ever."""

    def __init__(self, rng, ranks):
        self.rng, self.ranks = rng, ranks
        self.calls = [[] for _ in range(ranks)]
        self.posts = [0] * ranks
        self.open = [[] for _ in range(ranks)]
        self.asks_for_any = rng.random() < 0.5

    def call(self, rank, call, kind, **given):
        before = self.rng.choice([0.0, 1e-6, 1e-4, 1e-4 * self.rng.random()])
        self.calls[rank].append((shape(call, kind, **given), before))
        if given.get("posts"):
            self.posts[rank] += 1
            self.open[rank].append(self.posts[rank])

    def message(self):
        rng = self.rng
        source, target = rng.randrange(self.ranks), rng.randrange(self.ranks)
        size, tag, comm = rng.choice(SIZES), rng.randrange(3), rng.choice(COMMUNICATORS)
        call = rng.choice(["MPI_Isend", "MPI_Isend", "MPI_Issend"])
        self.call(source, call, "send", posts=True, to=target, size=size, send_tag=tag, comm=comm)
        asked = {"from_": source, "receive_tag": tag, "size": size, "comm": comm}
        for name in ("from_", "receive_tag"):
            if self.asks_for_any and rng.random() < 0.4:
                asked[name] = -1
        posts = rng.random() < 0.5
        self.call(target, "MPI_Irecv" if posts else "MPI_Recv", "receive", posts=posts, **asked)

    def wait(self, rank, posts):
        for post in posts:
            self.open[rank].remove(post)
            self.calls[rank].append((done(self.posts[rank] - post), 0.0))
        self.call(rank, "MPI_Waitall", "wait")

    def collective(self):
        call = self.rng.choice(["MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Ibcast",
                                "MPI_Comm_dup", "MPI_Comm_free"])  # fmt: skip
        given = {"size": self.rng.choice(SIZES), "comm_size": self.ranks}
        if call in ("MPI_Bcast", "MPI_Reduce", "MPI_Ibcast"):
            given["root"] = self.rng.randrange(self.ranks)
        kind = "communicator" if "Comm" in call else "collective"
        for rank in range(self.ranks):
            self.call(rank, call, kind, posts=call == "MPI_Ibcast", **given)

    def step(self):
        rank = self.rng.randrange(self.ranks)
        kind = self.rng.random()
        if kind < 0.6:
            self.message()
        elif kind < 0.75:
            most = len(self.open[rank])
            self.wait(rank, self.rng.sample(self.open[rank], self.rng.randint(0, most)))
        elif kind < 0.9:
            self.collective()
        else:
            self.call(rank, *self.rng.choice([("write", "posix-io"), ("MPI_Test", "test")]))

    def trace(self):
        for rank in range(self.ranks):
            self.wait(rank, list(self.open[rank]))
        streams = [stream(rank, calls) for rank, calls in enumerate(self.calls)]
        return trace(
            *(
                replace(one, spent_s=np.array([1e-5 * self.rng.random() for _ in one.shape]))
                for one in streams
            )
        )


def test_any_program_takes_the_same_time(steps):
    stopped = 0
    for seed in range(150):
        rng = random.Random(seed)
        made = Program(rng, rng.choice([1, 2, 3, 4, 7]))
        for _ in range(rng.choice([10, 50, 200])):
            made.step()
        planted = made.trace()
        nodes = min(made.ranks, rng.choice([1, 2]))
        ladder = network(ranks=max(2, made.ranks), nodes=nodes, cores=rng.choice([None, 1, 2]))
        costs = Costs(ladder, compute=rng.choice([1.0, 1.37]), io=rng.choice([1.0, 2.5]))
        found = compiled.step_through(steps, planted, costs)
        assert found == stepping.step_through(planted, costs), f"seed {seed}"
        stopped += found is None
    assert 0 < stopped < 75, "both kinds of programs were there"


def test_many_unmatched_messages_are_found_in_their_order(steps):
    """Tags come again, and receives ask for them in the reverse order of the sends."""
    count = 10_000
    sends = [
        (replace(shape("MPI_Isend", "send", posts=True, to=1, size=8), send_tag=tag % 1000), 0.0)
        for tag in range(count)
    ]
    receives = [
        (replace(shape("MPI_Recv", "receive", from_=0, size=8), receive_tag=tag % 1000), 0.0)
        for tag in reversed(range(count))
    ]
    waits = [*((done(ago), 0.0) for ago in range(count)), (shape("MPI_Waitall", "wait"), 0.0)]
    planted = trace(stream(0, sends + waits), stream(1, receives))
    costs = Costs(network())
    assert compiled.step_through(steps, planted, costs) == stepping.step_through(planted, costs)


def test_a_long_trace_is_stepped_through_by_what_is_compiled(steps, monkeypatch):
    def in_python(*_):
        raise AssertionError("stepped through in Python")

    monkeypatch.setattr(stepping, "step_through", in_python)
    assert replay.replay(program(), Costs(network())).time_s > 0
    lost = [(shape("MPI_Recv", "receive", from_=1, size=8), 0.0)]
    with pytest.raises(AnalysisError, match="ranks wait for what no rank does"):
        replay.replay(trace(stream(0, lost), stream(1, [])), Costs(network()))
