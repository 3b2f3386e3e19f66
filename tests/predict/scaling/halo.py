"""Planted programs on grids that do more than a plain halo exchange: each adds calls to a step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bareline.predict.scaling.grid import Grid
from bareline.profile.records import NOBODY, Shape

from .stencil import calls, local, period, stream


def swap(grid, to, from_, *, tags=(9, 9), size=64):
    """A Sendrecv."""
    return Shape(
        "MPI_Sendrecv", "send-receive", False, to, from_, NOBODY, *tags, 1, grid.ranks,
        size, size, size,
    )  # fmt: skip


def collective(name, members, comm, *, root=NOBODY, size=8, sent=None, received=None):
    """A collective of so many members."""
    sent = size if sent is None else sent
    received = size if received is None else received
    return Shape(
        name, "collective", False, NOBODY, NOBODY, root, -1, -1, comm, members, size, sent, received
    )


def mirrored(grid, rank):
    """An exchange with the block opposite the middle."""
    other = grid.ranks - 1 - rank
    return [swap(grid, other, other)]


def half(grid, rank):
    """An exchange with the rank half the first side further on."""
    at = list(grid.at(rank))
    at[0] += grid.sides[0] // 2
    other = grid.rank(at)
    return [swap(grid, other, other)]


def fold(grid, rank):
    """The last row meets itself, as the top of a tripolar grid does."""
    at = list(grid.at(rank))
    if at[-1] != grid.sides[-1] - 1:
        return []
    other = grid.rank([grid.sides[0] - 1 - at[0], *at[1:]])
    return [] if other == rank else [swap(grid, other, other)]


def transposed(grid, rank):
    """An exchange with the block across the diagonal."""
    at = grid.at(rank)
    other = grid.rank([at[1], at[0], *at[2:]])
    return [swap(grid, other, other)]


def scattered(grid, rank):
    """An exchange along a permutation that follows nothing."""
    order = np.random.default_rng(grid.ranks).permutation(grid.ranks).tolist()
    return [swap(grid, order[rank], order.index(rank))]


def butterfly(grid, rank):
    """An exchange for each bit of the number of ranks."""
    bits = [1 << bit for bit in range((grid.ranks - 1).bit_length())]
    return [swap(grid, rank ^ bit, rank ^ bit) for bit in bits if rank ^ bit < grid.ranks]


def fours(grid, rank):
    """A sum over four ranks that follow each other."""
    return [collective("MPI_Allreduce", 4, 100 + rank // 4)]


def rows(grid, rank):
    """A broadcast along each row, from its first rank."""
    row = rank // grid.sides[0]
    root, size = row * grid.sides[0], 48
    sent, received = (size, 0) if rank == root else (0, size)
    return [collective("MPI_Bcast", grid.sides[0], 200 + row, root=root, size=size, sent=sent,
                       received=received)]  # fmt: skip


def rooted(number):
    """A broadcast, a reduction and a gather of all ranks; `number` from the first or the last."""

    def some(grid, rank):
        root = number % grid.ranks
        is_root = rank == root
        return [
            collective("MPI_Bcast", grid.ranks, 1, root=root, size=80, sent=80 * is_root,
                       received=80 * (not is_root)),
            collective("MPI_Reduce", grid.ranks, 1, root=root, size=16, received=16 * is_root),
            collective("MPI_Gather", grid.ranks, 1, root=root, size=24,
                       received=24 * (grid.ranks - 1) * is_root),
        ]  # fmt: skip

    return some


def gathered(grid, rank):
    """An Allgather, of which all ranks receive what each brings."""
    return [collective("MPI_Allgather", grid.ranks, 1, received=8 * grid.ranks)]


def gathered_unevenly(grid, rank):
    """1,000 elements at rank 0; the first ranks bring one more."""
    size = 8 * (1000 // grid.ranks + (rank < 1000 % grid.ranks))
    return [collective("MPI_Gatherv", grid.ranks, 1, root=0, size=size,
                       received=8000 * (rank == 0))]  # fmt: skip


def alone(grid, rank):
    """A sum over a communicator of the rank itself."""
    return [collective("MPI_Allreduce", 1, 900 + rank)]


def growing(grid, rank):
    """Sums whose number follows that of the ranks."""
    return [collective("MPI_Allreduce", grid.ranks, 1)] * (4 + grid.ranks // 4)


def late(grid, rank):
    """The same, but of as many sums on all counts up to 16."""
    return [collective("MPI_Allreduce", grid.ranks, 1)] * (4 + max(16, grid.ranks) // 16)


def tiled(grid, rank):
    """An exchange around the first side with tags that name the sender's tile."""
    at = grid.at(rank)
    to, back = (grid.rank([at[0] + way, *at[1:]]) for way in (1, -1))
    return [swap(grid, to, back, tags=(grid.ranks + rank, grid.ranks + back))]


def padded(shape, multiple):
    """A message in whole blocks of so many bytes."""
    whole = -(-shape.size // multiple) * multiple
    return replace(shape, size=whole, sent=whole * bool(shape.sent),
                   received=whole * bool(shape.received))  # fmt: skip


def of_elements(shape, element):
    """A message of as many elements of so many bytes; 8 in `stencil`."""
    size, sent, received = (n * element // 8 for n in (shape.size, shape.sent, shape.received))
    return replace(shape, size=size, sent=sent, received=received, element=element)


def program(sides, cells=(64, 64), *more, ends=False, block=1, element=0):
    """One step of a halo exchange with more calls before its sum."""
    grid, model = Grid(sides), period(sides, cells, ends=ends)
    streams = []
    for rank in range(grid.ranks):
        own = calls(grid, rank, cells, ends=ends)
        own = [padded(shape, block) if shape.kind in ("send", "receive") else shape
               for shape in own]  # fmt: skip
        if element:
            own = [of_elements(s, element) if s.kind in ("send", "receive") else s for s in own]
        added = [shape for extra in more for shape in extra(grid, rank)]
        streams.append(stream(rank, [*own[:-1], *added, own[-1]]))
    return replace(model, trace=replace(model.trace, streams=tuple(streams)))


def pipelines(sides, cells):
    """The pipelines of NPB 3.4's LU: ranks at an end of the grid send one row fewer along it."""
    grid, model = Grid(sides), period(sides, cells)
    streams = []
    for rank in range(grid.ranks):
        own = [shape for way in (1, -1) for shape in 3 * _pipe(grid, rank, cells, way)]
        streams.append(stream(rank, [*own, collective("MPI_Allreduce", grid.ranks, 1)]))
    return replace(model, trace=replace(model.trace, streams=tuple(streams)))


def _pipe(grid, rank, cells, way):
    """A plane: a row comes along each side, then goes on."""
    at, calls_ = grid.at(rank), []
    for begins in (True, False):
        for side, length in enumerate(grid.sides):
            other = 1 - side
            rows = local(cells[other], grid.sides[other], at[other])
            rows -= (at[other] == 0) + (at[other] == grid.sides[other] - 1)
            there = at[side] + (-way if begins else way)
            if not 0 <= there < length:
                continue
            end = grid.rank([there if s == side else here for s, here in enumerate(at)])
            size = 40 * rows
            ends = (NOBODY, end) if begins else (end, NOBODY)
            tags = (-1, side) if begins else (side, -1)
            name, kind = ("MPI_Recv", "receive") if begins else ("MPI_Send", "send")
            calls_.append(Shape(name, kind, False, *ends, NOBODY, *tags, 1, grid.ranks, size,
                                0 if begins else size, size if begins else 0))  # fmt: skip
    return calls_


def logarithmic(grid, rank):
    """A sum of as many elements as the number of ranks has bits after the first."""
    return [collective("MPI_Allreduce", grid.ranks, 1, size=8 * (grid.ranks.bit_length() - 1))]


def gathered_by_row(grid, rank):
    """An Allgather along each row, of which a rank receives what the row brings."""
    row = rank // grid.sides[0]
    return [collective("MPI_Allgather", grid.sides[0], 200 + row, received=8 * grid.sides[0])]


def from_the_middle(grid, rank):
    """A broadcast along each row, from its middle."""
    row = rank // grid.sides[0]
    root = row * grid.sides[0] + grid.sides[0] // 2
    sent, received = (48, 0) if rank == root else (0, 48)
    return [collective("MPI_Bcast", grid.sides[0], 200 + row, root=root, size=48, sent=sent,
                       received=received)]  # fmt: skip


def shuffled(grid, rank):
    """An exchange with the rank whose number along the first side has the same bits, reversed."""
    at = grid.at(rank)
    bits = grid.sides[0].bit_length() - 1
    other = grid.rank([int(f"{at[0]:0{bits}b}"[::-1], 2), *at[1:]])
    return [swap(grid, other, other)]


def third_on(grid, rank):
    """An exchange with the third rank on along the first side."""
    at = grid.at(rank)
    return [swap(grid, *(grid.rank([at[0] + step, *at[1:]]) for step in (3, -3)))]


def strip(grid, rank):
    """A second exchange in the first quarter of the first side, in its first rank at least."""
    at = grid.at(rank)
    if at[0] >= max(1, grid.sides[0] // 4):
        return []
    return [swap(grid, *(grid.rank([at[0], at[1] + step]) for step in (1, -1)), size=128)]


def in_blocks(grid, rank):
    """A message of a row of 648 cells in whole KiB."""
    at = grid.at(rank)
    size = -(-648 * 8 // grid.sides[0] // 1024) * 1024
    return [swap(grid, *(grid.rank([at[0], at[1] + step]) for step in (1, -1)), size=size)]
