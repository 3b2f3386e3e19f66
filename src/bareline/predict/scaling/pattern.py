"""The calls of a program's ranks by their place on its grid, from several counts at once.

All ranks of a place (a corner, an edge, a face, the inside) make the same calls, on every count.
The ranks that a call concerns follow a relation (`relations`, `members`) that is the same for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.grid import BOTH_ENDS, MOST_SIDES, Grid, Place, grids
from bareline.predict.scaling.members import MembersRule, common, rules_of
from bareline.predict.scaling.relations import End, OtherEnds
from bareline.profile.period import ProgramPeriod, calls_of
from bareline.profile.records import NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream
from bareline.vocabulary.errors import AnalysisError, one_line

_Numbers = npt.NDArray[np.integer[Any]]


class Step(NamedTuple):
    """The kind of a call, without the ranks that it concerns and its sizes; `ago`: see `Shape`."""

    call: str
    kind: str
    posts: bool
    sends: bool
    receives: bool
    rooted: bool
    shared: bool
    ago: int


def _step(shape: Shape) -> Step:
    if shape.kind == "done":
        return Step("done", "done", False, False, False, False, False, shape.to)
    ends = (shape.to != NOBODY, shape.from_ != NOBODY, shape.root != NOBODY)
    return Step(shape.call, shape.kind, shape.posts, *ends, shape.comm_size > 1, 0)


@dataclass(frozen=True)
class RankCalls:
    """A rank's calls as columns."""

    steps: tuple[Step, ...]
    to: _Numbers
    from_: _Numbers
    root: _Numbers
    comm: _Numbers

    @classmethod
    def of(cls, stream: CallStream) -> RankCalls:
        """Return the calls of a stream."""
        shape_steps = [_step(shape) for shape in stream.shapes]
        steps = tuple(shape_steps[number] for number in stream.shape.tolist())
        columns = (
            np.array([getattr(shape, name) for shape in stream.shapes], np.int64)[stream.shape]
            for name in ("to", "from_", "root", "comm")
        )
        return cls(steps, *columns)


@dataclass(frozen=True)
class JobCalls:
    """A period's calls of all ranks, and the members of its communicators."""

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
        streams = tuple(RankCalls.of(stream) for stream in period.trace.streams)
        return cls(period, streams, {comm: frozenset(ranks) for comm, ranks in members.items()})


@dataclass(frozen=True)
class Template:
    """The calls of the ranks of a place; an end or communicator is None where a call has none.

    - `longest`: the longest sides on which they were seen; `counts`: on how many counts.
    """

    steps: tuple[Step, ...]
    to: tuple[End | None, ...]
    from_: tuple[End | None, ...]
    root: tuple[End | None, ...]
    comm: tuple[tuple[MembersRule, ...] | None, ...]
    longest: tuple[int, ...]
    counts: int

    def is_checked(self, place: Place) -> bool:
        """Whether a second rank makes these calls: next to it along each side, or on a count."""
        if 1 not in place:
            return self.counts > 1
        pairs = zip(place, self.longest, strict=True)
        return all(length > BOTH_ENDS + 1 for here, length in pairs if here == 1)


@dataclass(frozen=True)
class Pattern:
    """The calls of the ranks of each place, on several counts; the largest count is the last."""

    counts: tuple[tuple[Grid, JobCalls], ...]
    templates: Mapping[Place, Template]

    @property
    def grid(self) -> Grid:
        """The grid of the largest count."""
        return self.counts[-1][0]

    @property
    def period(self) -> ProgramPeriod:
        """The period of the largest count."""
        return self.counts[-1][1].period

    def is_checked(self, place: Place) -> bool:
        """Whether more than one rank shows the calls of a place."""
        return self.templates[place].is_checked(place)

    @property
    def ways(self) -> int:
        """The number of different relations that its messages follow."""
        ends = (
            end for template in self.templates.values() for end in (*template.to, *template.from_)
        )
        return len({end.chosen for end in ends if end is not None})


def recognise(largest: JobCalls, others: Sequence[JobCalls] = ()) -> Pattern:
    """Return the pattern of a program on its largest count and on the other counts that fit it.

    Raises AnalysisError: no message shows a grid, or no grid fits; the error names the first call
    that does not fit.
    """
    period = largest.period
    if not any(
        shape.kind in POINT_TO_POINT for stream in period.trace.streams for shape in stream.shapes
    ):
        raise _refused(period, "no rank sends to another alone, so that the profiles show no grid")
    patterns: list[Pattern] = []
    odd = ""
    for sides in range(1, MOST_SIDES + 1):
        for grid in grids(period.ranks, sides):
            templates = _templates(((grid, largest),))
            if isinstance(templates, str):
                odd = odd if odd and not templates else templates or odd
            else:
                patterns.append(Pattern(((grid, largest),), templates))
    # A grid whose sides have ends alone and no inside fits any calls.
    if all(_ends(pattern) == len(pattern.grid.sides) for pattern in patterns):
        share = share_of(period, (*POINT_TO_POINT, "wait"))
        traffic = f"what it sends ({share:.0%} of a period's time; {odd} differs first)"
        raise _refused(period, f"{traffic} does not go along the sides of a grid")
    patterns.sort(key=lambda pattern: (_ends(pattern), pattern.ways, len(pattern.grid.sides)))
    wider = (_with_others(pattern, others) for pattern in patterns)
    best = next((pattern for pattern in wider if len(pattern.counts) > 1), None)
    return best or patterns[0]


def _ends(pattern: Pattern) -> int:
    """Return the number of sides along which no rank is inside."""
    return sum(side == BOTH_ENDS for side in pattern.grid.sides)


def _with_others(pattern: Pattern, others: Sequence[JobCalls]) -> Pattern:
    """Return a pattern with the other counts that fit it, each on the first grid that fits."""
    for job in sorted(others, key=lambda other: -other.period.ranks):
        for grid in grids(job.period.ranks, len(pattern.grid.sides)):
            counts = ((grid, job), *pattern.counts)
            templates = _templates(counts)
            if not isinstance(templates, str):
                pattern = Pattern(counts, templates)
                break
    return pattern


def _templates(counts: Sequence[tuple[Grid, JobCalls]]) -> dict[Place, Template] | str:
    """Return the calls of each place, or the name of the call that does not fit."""
    rows: dict[Place, list[tuple[Grid, JobCalls, int]]] = {}
    for grid, job in counts:
        for rank, calls in enumerate(job.ranks):
            of_place = rows.setdefault(grid.place(rank), [])
            of_place.append((grid, job, rank))
            first = of_place[0]
            model = first[1].ranks[first[2]].steps
            if calls.steps != model:
                return first_other(model, calls.steps)
    templates = {}
    for place, place_rows in rows.items():
        template = _template(place_rows)
        if isinstance(template, str):
            return template
        templates[place] = template
    return templates


def _template(rows: Sequence[tuple[Grid, JobCalls, int]]) -> Template | str:
    _, job, first = rows[0]
    steps = job.ranks[first].steps
    ends: dict[str, tuple[End | None, ...]] = {}
    for name, has in (("to", "sends"), ("from_", "receives"), ("root", "rooted")):
        columns = [position for position, step in enumerate(steps) if getattr(step, has)]
        made: list[End | None] = [None] * len(steps)
        for position, end in zip(columns, _ends_of(rows, name, columns), strict=True):
            if not end:
                return steps[position].call
            made[position] = end
        ends[name] = tuple(made)
    comms: list[tuple[MembersRule, ...] | None] = [None] * len(steps)
    by_numbers: dict[tuple[int, ...], tuple[MembersRule, ...]] = {}
    for position, step in enumerate(steps):
        if not step.shared:
            continue
        numbers = tuple(int(job.ranks[rank].comm[position]) for _, job, rank in rows)
        if numbers not in by_numbers:
            by_numbers[numbers] = common(
                [
                    list(rules_of(grid, rank, job.members[number]))
                    for (grid, job, rank), number in zip(rows, numbers, strict=True)
                ]
            )
        if not by_numbers[numbers]:
            return f"the communicator of {step.call}"
        comms[position] = by_numbers[numbers]
    longest = tuple(map(max, zip(*(grid.sides for grid, _, _ in rows), strict=True)))
    jobs = {job.period.ranks for _, job, _ in rows}
    return Template(
        steps, ends["to"], ends["from_"], ends["root"], tuple(comms), longest, len(jobs)
    )


def _ends_of(
    rows: Sequence[tuple[Grid, JobCalls, int]], name: str, columns: Sequence[int]
) -> list[End]:
    if not columns:
        return []
    others = np.stack([getattr(job.ranks[rank], name)[columns] for _, job, rank in rows])
    coordinates = np.array([grid.at(rank) for grid, _, rank in rows])
    sides = np.array([grid.sides for grid, _, _ in rows])
    # Calls that concern the same ranks on all counts follow the same relations.
    unique, which = np.unique(others, axis=1, return_inverse=True)
    ends = OtherEnds(coordinates, sides, sides.prod(axis=1), unique).ends()
    return [ends[number] for number in which.reshape(-1).tolist()]


def first_other(one: Sequence[Step], other: Sequence[Step]) -> str:
    """Name the first call that two ranks do not share, or both where each makes another one."""
    for a, b in zip_longest(one, other):
        calls = {step.call for step in (a, b) if step is not None and step.kind != "done"}
        if a != b and calls:
            return " or ".join(sorted(calls))
    return "MPI_Wait"


def collectives_of(job: JobCalls) -> Counter[str]:
    """Return how often rank 0 calls each collective in a period."""
    return Counter(step.call for step in job.ranks[0].steps if step.kind == "collective")


def program_of(period: ProgramPeriod) -> str:
    """Name a period's program."""
    return one_line(period.trace.command.split(" ", 1)[0].rsplit("/", 1)[-1])[:60]


def _refused(period: ProgramPeriod, why: str) -> AnalysisError:
    return AnalysisError(
        f"{program_of(period)} on {period.ranks} ranks cannot be constructed for more ranks: {why}",
        where=str(period.trace.path),
        hint="profile with four or more ranks along each side (16 for two, 64 for three); "
        "other programs are predicted for the ranks that were profiled",
    )


def share_of(period: ProgramPeriod, kinds: Sequence[str]) -> float:
    """Return the share of a period's time that calls of some kinds take."""
    spent = whole = 0.0
    for stream in period.trace.streams:
        chosen = np.array([shape.kind in kinds for shape in stream.shapes])[stream.shape]
        spent += float(stream.spent_s[chosen].sum())
        whole += float(stream.spent_s.sum() + stream.compute_s.sum())
    return spent / (whole or 1.0)


def shapes_of(job: JobCalls, rank: int) -> list[Shape]:
    """Return the calls of a rank, one after the other."""
    return list(calls_of(job.period.trace.streams[rank]))
