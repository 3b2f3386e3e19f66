"""A planted program on a grid: a halo exchange, a sum of all ranks, in any number of steps."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from bareline.predict.scaling.grid import Grid
from bareline.profile.period import ProgramPeriod
from bareline.profile.records import NOBODY, Shape
from bareline.profile.trace import CallStream, Trace


def _shape(call, kind, *, posts=False, to=NOBODY, from_=NOBODY, tags=(-1, -1), comm=(0, 0), size=0):
    sent, received = (
        (size, 0) if kind == "send" else (0, size) if kind == "receive" else (size,) * 2
    )
    return Shape(call, kind, posts, to, from_, -2, *tags, *comm, size, sent, received)


def local(cells, side, at):
    """Cells of a part: where they do not divide the first ones have one more."""
    return cells // side + (at < cells % side)


def calls(grid, rank, cells, *, ends=False, rows=False):
    """What a rank calls in one step: along each side forth, then back, and waits for each."""
    at, own = grid.at(rank), []
    world = (1, grid.ranks)
    parts = [local(n, side, here) for n, side, here in zip(cells, grid.sides, at, strict=True)]
    for side, length in enumerate(grid.sides):
        face = 8 * math.prod(part for other, part in enumerate(parts) if other != side)
        for way in (1, -1):
            tag = 2 * side + (way > 0)
            reach = [here + way * (other == side) for other, here in enumerate(at)]
            back = [here - way * (other == side) for other, here in enumerate(at)]
            posts = 0
            if not ends or 0 <= back[side] < length:
                own.append(_shape("MPI_Irecv", "receive", posts=True, from_=grid.rank(back),
                                  tags=(-1, tag), comm=world, size=face))  # fmt: skip
                posts += 1
            if not ends or 0 <= reach[side] < length:
                own.append(_shape("MPI_Isend", "send", posts=True, to=grid.rank(reach),
                                  tags=(tag, -1), comm=world, size=face))  # fmt: skip
                posts += 1
            own += [Shape("done", "done", False, ago, 0, 0, 0, 0, 0, 0, 0, 0, 0)
                    for ago in reversed(range(posts))]  # fmt: skip
            own.append(_shape("MPI_Waitall", "wait"))
    if rows:
        own.append(_shape("MPI_Bcast", "collective", comm=(2 + at[-1], grid.sides[0]), size=64))
    own.append(_shape("MPI_Allreduce", "collective", comm=world, size=8))
    return own


def stream(rank, own, compute_s=1e-5):
    shapes = tuple(dict.fromkeys(own))
    numbers = np.array([shapes.index(shape) for shape in own], np.int32)
    return CallStream(rank, shapes, numbers, np.full(len(own), compute_s), np.full(len(own), 1e-6),
                  finished=True, lost=0)  # fmt: skip


def traced(sides, cells, steps, **how):
    """The whole run: some calls before, the steps, a sum after."""
    grid = Grid(sides)
    before = [_shape("MPI_Barrier", "collective", comm=(1, grid.ranks))] * 3
    after = [_shape("MPI_Reduce", "collective", comm=(1, grid.ranks), size=16)]
    streams = tuple(
        stream(rank, before + steps * calls(grid, rank, cells, **how) + after)
        for rank in range(grid.ranks)
    )
    return Trace(Path("app.trace"), grid.ranks, 1, "./app x", streams)


def period(sides, cells, **how):
    """One step of it."""
    grid = Grid(sides)
    streams = tuple(
        stream(rank, calls(grid, rank, cells, **how), 1e-3 / grid.ranks)
        for rank in range(grid.ranks)
    )
    trace = Trace(Path("app.trace"), grid.ranks, 1, "./app x", streams)
    return ProgramPeriod(trace, 10, len(streams[0].shape), 4, shared=False)
