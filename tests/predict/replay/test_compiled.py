"""The compiled replay beside the one in Python: equal to the last bit, on any program."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from planted_programs import done, network, program, shape, stream, trace

from bareline.build.native import load_library
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.replay.engine import replay
from bareline.predict.replay.trace_files import read_records
from bareline.profile.records import VALUES_BY_VERSION, Room, TooMany, decode
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError, ToolMissing
from bareline.vocabulary.message_codes import code_of

from .stepping import step_through

COMMUNICATORS = (7, 9)
SIZES = (0, 8, 1000, 4096, 70_000, 1 << 20)


def compiled(planted, costs):
    """Give what the compiled steps find; None where ranks wait for what no rank does."""
    try:
        return replay(planted, costs)
    except AnalysisError as error:
        if code_of(error) != "BL-PREDICT-450":
            raise
        return None


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


def _slower_both_ways(ladder):
    """Return curves of messages that cross each other, on one node and on two."""
    alone = {key: curve for key, curve in ladder.curves.items() if key.probe == "mpi.pingpong"}
    keys = {key: CurveKey("mpi.sendrecv", key.ranks, key.nodes) for key in alone}
    return {
        keys[key]: Curve(keys[key], curve.sizes, 1.3 * curve.launches)
        for key, curve in alone.items()
    }


def test_any_program_takes_the_same_time():
    stopped = 0
    for seed in range(150):
        rng = random.Random(seed)
        made = Program(rng, rng.choice([1, 2, 3, 4, 7]))
        for _ in range(rng.choice([10, 50, 200])):
            made.step()
        planted = made.trace()
        nodes = min(made.ranks, rng.choice([1, 2]))
        ladder = network(ranks=max(2, made.ranks), nodes=nodes, cores=rng.choice([None, 1, 2]))
        if rng.random() < 0.5:
            ladder = replace(ladder, curves={**ladder.curves, **_slower_both_ways(ladder)})
        costs = Costs(
            ladder,
            compute=rng.choice([1.0, 1.37]),
            io=rng.choice([1.0, 2.5]),
            beside=rng.choice([0.0, 0.13]),
            beside_s=3e-5,
        )
        found, expected = compiled(planted, costs), step_through(planted, costs)
        assert found == expected, f"seed {seed}"
        if found is not None:
            np.testing.assert_array_equal(
                np.concatenate(found.taken_s), np.concatenate(expected.taken_s), f"seed {seed}"
            )
        stopped += found is None
    assert 0 < stopped < 75, "both kinds of programs were there"


def test_many_unmatched_messages_are_found_in_their_order():
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
    assert compiled(planted, costs) == step_through(planted, costs)


def test_what_does_not_fit_together_is_named():
    lost = [(shape("MPI_Recv", "receive", from_=1, size=8), 0.0)]
    with raises(AnalysisError, "BL-PREDICT-450"):
        replay(trace(stream(0, lost), stream(1, [])), Costs(network()))
    half = replace(program(), streams=program().streams[:1])
    with raises(AnalysisError, "BL-PREDICT-124", "1", "2"):
        replay(half, Costs(network()))


@pytest.fixture
def nothing_built(tmp_path, monkeypatch):
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "cache"))
    load_library.cache_clear()
    yield monkeypatch
    load_library.cache_clear()


def test_without_a_compiler_the_replay_says_what_to_install(nothing_built, tmp_path):
    nothing_built.setenv("PATH", str(tmp_path))
    with raises(ToolMissing, "BL-BUILD-632", "cmake") as caught:
        replay(program(), Costs(network()))
    assert "cmake" in caught.value.hint
    # A trace is read all the same, by Python.
    assert _outcome(read_records, _varied(random.Random(1), 9)) != "damaged"


def _varied(rng, records, values=13):
    """Give a stream of records of several shapes, as a program might write it."""
    found = bytearray()

    def number(value):
        while value >= 0x80:
            found.append(value & 0x7F | 0x80)
            value >>= 7
        found.append(value)

    kinds = []
    for _ in range(records):
        if not kinds or rng.random() < 0.1:
            call = rng.choice([0, 1, 2])
            kinds.append(call)
            number(0)
            number(call)
            number(rng.randrange(2))
            ends = [0, 0, 0] if call == 0 else [rng.choice([-2, -1, 0, 1]) for _ in range(3)]
            for value in (*ends, rng.choice([-1, 5, 1 << 40]), -1):
                number(2 * value if value >= 0 else -2 * value - 1)
            amounts = (rng.getrandbits(64), 2, rng.randrange(1 << 40), 0, 0, rng.randrange(99))
            for value in amounts[: values - 7]:
                number(value)
        else:
            call = kinds[shape := rng.randrange(len(kinds))]
            number(shape + 1)
        if call != 0:
            found += rng.randbytes(4)
    return bytes(found)


_NAMES = [["a", "send"], ["b", "wait"], ["c", "x"]]


def _outcome(read, stream, version=2):
    try:
        shapes, numbers, codes = read(stream, _NAMES, 2, Room(), version)
    except (TooMany, LookupError, ArithmeticError, ValueError):
        return "damaged"
    return shapes, numbers.tolist(), codes.tolist()


@pytest.mark.parametrize(("version", "values"), VALUES_BY_VERSION.items())
def test_the_compiled_reader_reads_what_the_one_in_python_does(version, values):
    """Whole, cut off, and with bytes changed."""
    rng = random.Random(1)
    outcomes = Counter()
    for _ in range(300):
        whole = _varied(rng, rng.randrange(40), values)
        spoilt = bytearray(whole)
        for _ in range(rng.choice([0, 0, 1, 3])):
            if spoilt:
                spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        stream = bytes(spoilt[: rng.choice([len(spoilt), rng.randint(0, len(spoilt))])])
        found = _outcome(read_records, stream, version)
        assert found == _outcome(decode, stream, version)
        outcomes[found == "damaged"] += 1
    assert min(outcomes[True], outcomes[False]) > 50
