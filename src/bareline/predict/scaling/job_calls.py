"""The calls of a profiled program by rank, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.grid import Grid, Place
from bareline.predict.scaling.members import MembersRule, rules_of
from bareline.profile.period import ProgramPeriod, calls_of
from bareline.profile.records import NOBODY, Shape
from bareline.profile.trace import CallStream

_Numbers = npt.NDArray[np.integer[Any]]


class Step(NamedTuple):
    """The kind of a call, without its sizes and the ranks that it concerns.

    `ago` is for completions of a request: 1 means the request that was posted last, 2 the request
    before it, and so on.
    """

    call: str
    kind: str
    posts: bool
    sends: bool
    receives: bool
    rooted: bool
    shared: bool
    ago: int


#: An end of a call, by its name in `Shape` and in `Concern`.
EndName = Literal["to", "from_", "root"]
END_NAMES: tuple[EndName, ...] = ("to", "from_", "root")


def _step(shape: Shape) -> Step:
    if shape.kind == "done":
        return Step("done", "done", False, False, False, False, False, ago=shape.to)
    return Step(
        shape.call,
        shape.kind,
        shape.posts,
        sends=shape.to != NOBODY,
        receives=shape.from_ != NOBODY,
        rooted=shape.root != NOBODY,
        shared=shape.comm_size > 1,
        ago=0,
    )


@dataclass(frozen=True)
class RankCalls:
    """The calls of one rank as columns."""

    steps: tuple[Step, ...]
    to: _Numbers
    from_: _Numbers
    root: _Numbers
    comm: _Numbers

    @classmethod
    def of(cls, stream: CallStream) -> RankCalls:
        """Return the calls of one rank as arrays."""
        shape_steps = [_step(shape) for shape in stream.shapes]
        steps = tuple(shape_steps[number] for number in stream.shape.tolist())

        def column(name: str) -> _Numbers:
            of_shapes = np.array([getattr(shape, name) for shape in stream.shapes], np.int64)
            return of_shapes[stream.shape]

        return cls(steps, column("to"), column("from_"), column("root"), column("comm"))

    def ends(self, name: EndName) -> _Numbers:
        """Return for each call its receiver (`to`), its sender (`from_`) or its `root`."""
        ends: _Numbers = getattr(self, name)
        return ends


@dataclass(frozen=True)
class JobCalls:
    """The calls of all ranks in a period, and the members of the communicators."""

    period: ProgramPeriod
    ranks: tuple[RankCalls, ...]
    members: Mapping[int, frozenset[int]]

    @classmethod
    def of(cls, period: ProgramPeriod) -> JobCalls:
        """Return the calls of a period."""
        members: dict[int, set[int]] = {}
        for stream in period.trace.streams:
            for shape in stream.shapes:
                if shape.comm_size > 1:
                    members.setdefault(shape.comm, set()).add(stream.rank)
        ranks = tuple(map(RankCalls.of, period.trace.streams))
        return cls(period, ranks, {comm: frozenset(ranks) for comm, ranks in members.items()})


class ProfiledCount(NamedTuple):
    """The calls of a job on a profiled number of ranks, and the grid of the ranks."""

    grid: Grid
    job: JobCalls

    def ranks(self) -> Iterator[RankOfCount]:
        """Yield the ranks of the job."""
        for rank in range(self.grid.ranks):
            yield RankOfCount(self.grid, self.job, rank)


class RankOfCount(NamedTuple):
    """A rank of a job that was profiled."""

    grid: Grid
    job: JobCalls
    rank: int

    @property
    def place(self) -> Place:
        """The place of the rank on the grid."""
        return self.grid.place(self.rank)

    @property
    def calls(self) -> RankCalls:
        """The calls of the rank, as columns."""
        return self.job.ranks[self.rank]

    @property
    def shapes(self) -> Iterator[Shape]:
        """The calls of the rank, one after the other."""
        return calls_of(self.job.period.trace.streams[self.rank])

    def comm(self, number: int) -> int:
        """Return the number of the communicator of the rank's call `number`."""
        return int(self.calls.comm[number])

    def rules(self, comm: int) -> list[MembersRule]:
        """Return the rules that explain the members of one of the rank's communicators."""
        return list(rules_of(self.grid, self.rank, self.job.members[comm]))
