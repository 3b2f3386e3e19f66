"""Planted platforms and programs, whose times are known by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.curves.platform_curves import PlatformCurves
from bareline.profile.files import read_profile
from bareline.profile.model import CALL_COLUMNS, RANK_COLUMNS, Profile
from bareline.profile.records import NOBODY, Shape
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.model import Layout

SIZES = np.array([1.0, *(2.0**power for power in range(3, 24))])
COLLECTIVES = ("allreduce", "reduce", "bcast", "alltoall", "allgather", "gather", "scatter")


def network(
    name="a",
    latency=10e-6,
    rate=1e9,
    *,
    ranks=2,
    nodes=2,
    cores=None,
    launches=6,
    noise=0.0,
    worse=1.0,
    facts=None,
    seed=1,
):
    """A platform whose message of s bytes takes latency + s/rate, and collectives log2(n) of them.

    `worse` multiplies the collectives: a bad algorithm.
    """
    rng = np.random.default_rng(seed)
    layout = Layout(nodes, -(-ranks // nodes))
    curves = {}

    def add(probe, count, over, times):
        rows = times[None, :] * np.exp(noise * rng.standard_normal((launches, 1)))
        key = CurveKey(f"mpi.{probe}", count, over)
        curves[key] = Curve(key, SIZES if len(times) > 1 else np.array([0.0]), rows)

    message = latency + SIZES / rate
    for over in {1, min(nodes, 2)}:
        add("pingpong", 2, over, message)
        add("bandwidth", 2, over, np.maximum(0.1 * latency, SIZES / rate))
    steps = int(np.ceil(np.log2(ranks)))
    for probe in COLLECTIVES:
        add(probe, ranks, min(nodes, ranks), worse * steps * message)
    add("barrier", ranks, min(nodes, ranks), np.array([worse * steps * latency]))
    same = {"cpu.model": "X", "cpu.isa": "avx2", "mpi.flavour": "openmpi"}
    return PlatformCurves(name, curves, layout, cores, {**same, **(facts or {})})


def shape(call, kind, **given):
    """A shape with nothing but what is given."""
    values = {
        "posts": False, "to": NOBODY, "from_": NOBODY, "root": NOBODY, "send_tag": 0,
        "receive_tag": 0, "comm": 7, "comm_size": 2, "size": 0, "sent": 0, "received": 0,
    }  # fmt: skip
    return Shape(call, kind, **{**values, **given})


def stream(rank, calls):
    """A stream of (shape, computing before it)."""
    calls = [*calls, (shape("compute", "compute"), 0.0)]
    shapes = list(dict.fromkeys(one for one, _ in calls))
    number = {one: index for index, one in enumerate(shapes)}
    return CallStream(
        rank=rank,
        shapes=tuple(shapes),
        shape=np.array([number[one] for one, _ in calls], np.int32),
        compute_s=np.array([before for _, before in calls]),
        spent_s=np.zeros(len(calls)),
        finished=True,
        lost=0,
    )


def trace(*streams):
    return Trace(Path("planted.trace"), len(streams), 1, "planted", tuple(streams))


def done(ago):
    return shape("done", "done", to=ago)


def program(ranks=2, steps=50, compute=1e-3, size=65536, reductions=1):
    """Each step: compute, exchange with a neighbour, then reduce 8 bytes over all."""
    streams = []
    for rank in range(ranks):
        to, from_ = (rank + 1) % ranks, (rank - 1) % ranks
        step = [
            (shape("MPI_Irecv", "receive", posts=True, from_=from_, size=size), compute),
            (shape("MPI_Isend", "send", posts=True, to=to, size=size), 0.0),
            (done(1), 0.0),
            (done(0), 0.0),
            (shape("MPI_Waitall", "wait"), 0.0),
            *([(shape("MPI_Allreduce", "collective", comm_size=ranks, size=8), 0.0)] * reductions),
        ]
        streams.append(stream(rank, step * steps))
    return trace(*streams)


def profile_of(planted, wall_s, *, compute_s, queued_s=0.0):
    """The profile that the program would have, as far as models read it."""
    sample = read_profile(Path(__file__).parents[1] / "profile" / "data" / "planted.profile")
    ranks = planted.ranks
    rank = sample.rank_table.row(0, named=True) | {
        "wall_ns": round(wall_s * 1e9), "compute_ns": round(compute_s * 1e9), "paused_ns": 0,
        "mpi_ns": round((wall_s - compute_s) * 1e9), "queued_ns": round(queued_s * 1e9),
        "steal_ns": 0, "threads": 1,
    }  # fmt: skip
    rows: dict[tuple, dict] = {}
    empty = dict.fromkeys(CALL_COLUMNS, 0) | {"inter": False, "comm_nodes": 1}
    for one in planted.streams:
        receives = 0
        for number in one.shape:
            asked = one.shapes[number]
            if asked.kind in ("compute",):
                continue
            if asked.kind == "done":
                receives += 1
                continue
            peer = "other-node" if asked.kind in ("send", "receive") else "none"
            key = (asked.call, asked.size)
            row = rows.setdefault(
                key,
                {**empty, "call": asked.call, "kind": asked.kind, "peer": peer,
                 "comm_size": asked.comm_size if asked.kind != "wait" else 0,
                 "size_low": asked.size, "size_high": asked.size, "squares_ns2": 0.0},
            )  # fmt: skip
            row["count"] += 1
            row["bytes"] += asked.size
            row["received_bytes"] += asked.size if asked.kind == "receive" else 0
            if asked.kind == "wait":
                row["receives"] += receives // 2
                receives = 0
    total = round((wall_s - compute_s) * ranks * 1e9)
    waiting = [row for row in rows.values() if row["kind"] in ("wait", "collective")]
    # Shared out as a network of 2 us and 5 GB/s would.
    arrived = sum(row["received_bytes"] for row in rows.values())
    took = {
        row["call"]: row["count"] * 2e-6 + (arrived / 5e9 if row["kind"] == "wait" else 0)
        for row in waiting
    }
    for row in waiting:
        row["time_ns"] = round(total * took[row["call"]] / sum(took.values()))
    compute = {**empty, "call": "compute", "kind": "compute", "peer": "none", "squares_ns2": 0.0,
               "count": 1, "time_ns": round(compute_s * ranks * 1e9)}  # fmt: skip
    return Profile(
        path=Path("planted.profile"),
        complete=True,
        mode="plain",
        ranks=ranks,
        nodes=2,
        began_unix_ns=1,
        mpi="Open MPI",
        thread_level="single",
        command="planted",
        ranks_per_cell=1,
        rank_table=pl.DataFrame(
            [rank | {"rank": number} for number in range(ranks)], schema=dict(RANK_COLUMNS)
        ),
        call_table=pl.DataFrame([*rows.values(), compute], schema=dict(CALL_COLUMNS)),
        send_table=sample.send_table.clear(),
    )
