"""The calls of a program's ranks by their place on the grid, from several profiles.

All ranks of a place (a corner, an edge, a face, the inside) make the same calls, in every profile.
The partners and the communicator of a call follow the same rule for all ranks of the place (see the
modules `relations` and `members`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from bareline.predict.scaling.grid import BOTH_ENDS, MOST_SIDES, Grid, Place, grids
from bareline.predict.scaling.job_calls import (
    EndName,
    JobCalls,
    ProfiledCount,
    RankOfCount,
    Step,
)
from bareline.predict.scaling.members import MembersRule, common
from bareline.predict.scaling.relations import End, OtherEnds, Relation
from bareline.profile.period import ProgramPeriod
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.errors import AnalysisError, one_line


@dataclass(frozen=True, slots=True)
class Concern:
    """The ranks that a call concerns.

    The ends of a call are its receiver (`to`), its sender (`from_`) and its root. A field is None
    if the call has no such end, or no communicator.
    """

    to: End | None = None
    from_: End | None = None
    root: End | None = None
    comm: tuple[MembersRule, ...] | None = None

    def end(self, name: EndName) -> End | None:
        """Return the call's receiver (`to`), sender (`from_`) or root."""
        end: End | None = getattr(self, name)
        return end

    @property
    def ends(self) -> tuple[End | None, ...]:
        """All ends of the call."""
        return (self.to, self.from_, self.root)

    def also(self, other: Concern) -> Concern:
        """Return the relations and rules that are both in this concern and in `other`."""
        comm = self.comm
        if comm is not None and other.comm is not None:
            comm = tuple(rule for rule in comm if rule in other.comm)
        return Concern(
            _both(self.to, other.to),
            _both(self.from_, other.from_),
            _both(self.root, other.root),
            comm,
        )


def _both(end: End | None, other: End | None) -> End | None:
    return end.also(other) if end is not None and other is not None else None


@dataclass(frozen=True)
class Template:
    """The calls of the ranks at a place on the grid, with the ranks that each call concerns.

    - `longest`: the greatest length of each side on which the calls were profiled.
    - `counts`: the number of profiles with the calls.
    """

    steps: tuple[Step, ...]
    concerns: tuple[Concern, ...]
    longest: tuple[int, ...]
    counts: int

    def is_checked(self, place: Place) -> bool:
        """Whether a second rank at `place` made the same calls in the profiles.

        If the place is inside some sides, the profiles must have two inner ranks along each of
        these sides. If it is at an end of every side, two profiles must have the calls.
        """
        if 1 not in place:
            return self.counts > 1
        pairs = zip(place, self.longest, strict=True)
        return all(length > BOTH_ENDS + 1 for here, length in pairs if here == 1)


@dataclass(frozen=True)
class Pattern:
    """The calls of each place on the grid, from several profiles; the largest profile is last."""

    counts: tuple[ProfiledCount, ...]
    templates: Mapping[Place, Template]

    @property
    def grids(self) -> list[Grid]:
        """The grids of the profiles."""
        return [count.grid for count in self.counts]

    @property
    def grid(self) -> Grid:
        """The grid of the largest profile."""
        return self.counts[-1].grid

    @property
    def period(self) -> ProgramPeriod:
        """The period of the largest profile."""
        return self.counts[-1].job.period

    def is_checked(self, place: Place) -> bool:
        """Whether more than one profiled rank shows the calls of a place on the grid."""
        return self.templates[place].is_checked(place)

    @property
    def ways(self) -> int:
        """The number of different relations that the messages follow."""
        ways: set[tuple[Relation, ...]] = set()
        for template in self.templates.values():
            for concern in template.concerns:
                ends = (concern.to, concern.from_)
                ways.update(end.chosen for end in ends if end is not None)
        return len(ways)


def recognise(largest: JobCalls, others: Sequence[JobCalls] = ()) -> Pattern:
    """Return the pattern of a program, from its largest profile and the other profiles that fit.

    Raises AnalysisError: no message shows a grid, or no grid fits; the error names the first call
    that does not fit.
    """
    period = largest.period
    if not _has_messages(period):
        raise _refused(
            period,
            "no rank sends messages to a single other rank, so that the profiles show no grid",
        )
    patterns: list[Pattern] = []
    misfit = ""
    for grid in _possible_grids(period.ranks):
        counts = (ProfiledCount(grid, largest),)
        try:
            patterns.append(Pattern(counts, _templates(counts)))
        except _Misfit as odd:
            misfit = odd.call or misfit
    # A grid whose sides have ends alone and no inside fits any calls.
    if all(_ends(pattern) == len(pattern.grid.sides) for pattern in patterns):
        share = share_of(period, (*POINT_TO_POINT, "wait"))
        traffic = (
            f"its point-to-point messages ({share:.0%} of a period's time; the first that does"
            f" not fit is in {misfit})"
        )
        raise _refused(period, f"{traffic} do not follow the sides of a grid")
    patterns.sort(key=lambda pattern: (_ends(pattern), pattern.ways, len(pattern.grid.sides)))
    for pattern in patterns:
        wider = _with_others(pattern, others)
        if len(wider.counts) > 1:
            return wider
    return patterns[0]


def _has_messages(period: ProgramPeriod) -> bool:
    """Whether a rank sends a message to a single other rank."""
    for stream in period.trace.streams:
        if any(shape.kind in POINT_TO_POINT for shape in stream.shapes):
            return True
    return False


def _possible_grids(ranks: int) -> Iterator[Grid]:
    for sides in range(1, MOST_SIDES + 1):
        yield from grids(ranks, sides)


def _ends(pattern: Pattern) -> int:
    """Return the number of sides that have only two ranks, both at an end of the side."""
    return sum(side == BOTH_ENDS for side in pattern.grid.sides)


def _with_others(pattern: Pattern, others: Sequence[JobCalls]) -> Pattern:
    """Return the pattern with the other profiles that fit, each on the first grid that fits."""
    for job in sorted(others, key=lambda other: -other.period.ranks):
        pattern = _with_count(pattern, job)
    return pattern


def _with_count(pattern: Pattern, job: JobCalls) -> Pattern:
    """Return the pattern with a further profile on the first grid that fits, or unchanged."""
    for grid in grids(job.period.ranks, len(pattern.grid.sides)):
        counts = (ProfiledCount(grid, job), *pattern.counts)
        with suppress(_Misfit):
            return Pattern(counts, _templates(counts))
    return pattern


# Templates ----------------------------------------------------------------------------------------


class _Misfit(Exception):
    """Raised if ranks at one place on the grid make different calls, or a call fits no relation."""

    def __init__(self, call: str) -> None:
        super().__init__(call)
        self.call = call

    @classmethod
    def of_communicator(cls, call: str) -> _Misfit:
        """Return the error for a call whose communicator follows no rule."""
        return cls(f"the communicator of {call}")


def _templates(counts: Sequence[ProfiledCount]) -> dict[Place, Template]:
    """Return the calls of each place on the grid (such as a corner).

    Raises _Misfit: a call differs between ranks of one place, or fits no relation or rule.
    """
    by_place: dict[Place, list[RankOfCount]] = {}
    for count in counts:
        for rank in count.ranks():
            of_place = by_place.setdefault(rank.place, [])
            of_place.append(rank)
            model = of_place[0].calls.steps
            if rank.calls.steps != model:
                raise _Misfit(first_other(model, rank.calls.steps))
    return {place: _template(ranks) for place, ranks in by_place.items()}


def _template(ranks: Sequence[RankOfCount]) -> Template:
    """Return the calls of `ranks`, which are at one place on the grid and make equal calls."""
    steps = ranks[0].calls.steps
    to = _ends_of_calls(ranks, "to", lambda step: step.sends)
    from_ = _ends_of_calls(ranks, "from_", lambda step: step.receives)
    root = _ends_of_calls(ranks, "root", lambda step: step.rooted)
    comm = _communicators(ranks)
    concerns = tuple(
        Concern(to.get(number), from_.get(number), root.get(number), comm.get(number))
        for number in range(len(steps))
    )
    lengths = zip(*(rank.grid.sides for rank in ranks), strict=True)
    longest = tuple(map(max, lengths))
    jobs = {rank.job.period.ranks for rank in ranks}
    return Template(steps, concerns, longest, len(jobs))


def _communicators(ranks: Sequence[RankOfCount]) -> dict[int, tuple[MembersRule, ...]]:
    """Return the rules of the communicator of each call that has one."""
    rules: dict[int, tuple[MembersRule, ...]] = {}
    by_comms: dict[tuple[int, ...], tuple[MembersRule, ...]] = {}
    for number, step in enumerate(ranks[0].calls.steps):
        if not step.shared:
            continue
        comms = tuple(rank.comm(number) for rank in ranks)
        if comms not in by_comms:
            by_comms[comms] = common(list(map(RankOfCount.rules, ranks, comms)))
        if not by_comms[comms]:
            raise _Misfit.of_communicator(step.call)
        rules[number] = by_comms[comms]
    return rules


def _ends_of_calls(
    ranks: Sequence[RankOfCount], name: EndName, has_end: Callable[[Step], bool]
) -> dict[int, End]:
    """Return the end `name` (receiver, sender or root) of each call that has it, by call number."""
    steps = ranks[0].calls.steps
    numbers = [number for number, step in enumerate(steps) if has_end(step)]
    if not numbers:
        return {}
    others = np.stack([rank.calls.ends(name)[numbers] for rank in ranks])
    coordinates = np.array([rank.grid.at(rank.rank) for rank in ranks])
    sides = np.array([rank.grid.sides for rank in ranks])
    # Calls that concern the same ranks in all profiles follow the same relations.
    unique, which = np.unique(others, axis=1, return_inverse=True)
    fitting = OtherEnds(coordinates, sides, sides.prod(axis=1), unique).ends()
    ends: dict[int, End] = {}
    for number, end_number in zip(numbers, which.reshape(-1).tolist(), strict=True):
        end = fitting[end_number]
        if not end:
            raise _Misfit(steps[number].call)
        ends[number] = end
    return ends


def first_other(steps: Sequence[Step], others: Sequence[Step]) -> str:
    """Name the first calls in which two ranks differ."""
    for step, other in zip_longest(steps, others):
        if step == other:
            continue
        both = (made for made in (step, other) if made is not None)
        calls = {made.call for made in both if made.kind != "done"}
        if calls:
            return " or ".join(sorted(calls))
    return "MPI_Wait"


def collectives_of(job: JobCalls) -> Counter[str]:
    """Return the number of calls of rank 0 to each collective in a period."""
    return Counter(step.call for step in job.ranks[0].steps if step.kind == "collective")


def program_of(period: ProgramPeriod) -> str:
    """Return the name of a period's program."""
    return one_line(period.trace.command.split(" ", 1)[0].rsplit("/", 1)[-1])[:60]


def _refused(period: ProgramPeriod, why: str) -> AnalysisError:
    return AnalysisError(
        f"{program_of(period)} on {period.ranks} ranks cannot be constructed for more ranks: {why}",
        where=str(period.trace.path),
        hint="profile with four or more ranks along each side of the grid (16 ranks for two sides, "
        "64 for three); a program without a grid is predicted only for the ranks of its profiles",
    )


def share_of(period: ProgramPeriod, kinds: Sequence[str]) -> float:
    """Return the share of a period's time in calls of some kinds."""
    spent = whole = 0.0
    for stream in period.trace.streams:
        chosen = np.array([shape.kind in kinds for shape in stream.shapes])[stream.shape]
        spent += float(stream.spent_s[chosen].sum())
        whole += float(stream.spent_s.sum() + stream.compute_s.sum())
    return spent / (whole or 1.0)
