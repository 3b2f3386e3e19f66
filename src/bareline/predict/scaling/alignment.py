"""The alignment of periods: profiles of one program may be cut at different collectives.

A period is cut after the first collective of all ranks that recurs. On few ranks a communicator of
some ranks may contain all ranks, and then the cut is after a different call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bareline.predict.scaling.job_calls import JobCalls, Step
from bareline.profile.period import ProgramPeriod, is_closed
from bareline.profile.trace import CallStream


def aligned(job: JobCalls, model: JobCalls) -> JobCalls:
    """Return `job`, cut so that the first rank makes its calls in the same order as in `model`.

    The first rank is at the low end of each side of the grid for every number of ranks, so that it
    makes the same calls in both jobs. If no cut after a collective of all ranks leads to this
    order, `job` is returned unchanged.
    """
    wanted = _comparable(model)
    if _comparable(job) == wanted:
        return job
    for begins in _cuts(job):
        turned = _turned(job.period, begins)
        if not is_closed(turned.trace):
            continue
        candidate = JobCalls.of(turned)
        if _comparable(candidate) == wanted:
            return candidate
    return job


def _comparable(job: JobCalls) -> tuple[Step, ...]:
    return job.ranks[0].steps


def _cuts(job: JobCalls) -> Iterator[list[int]]:
    """Yield the possible begins of the period: for each rank, the number of its first call."""
    behind = [list(_behind_collectives(job, rank)) for rank in range(len(job.ranks))]
    if len({len(numbers) for numbers in behind}) == 1:
        yield from map(list, zip(*behind, strict=True))


def _behind_collectives(job: JobCalls, rank: int) -> Iterator[int]:
    """Yield the numbers of a rank's calls that come directly after a collective of all ranks."""
    for number, step in enumerate(job.ranks[rank].steps):
        if _is_of_all(job, rank, number, step):
            yield number + 1


def _is_of_all(job: JobCalls, rank: int, number: int, step: Step) -> bool:
    if step.kind != "collective" or not step.shared:
        return False
    members = job.members[int(job.ranks[rank].comm[number])]
    return len(members) == job.period.ranks


def _turned(period: ProgramPeriod, begins: list[int]) -> ProgramPeriod:
    """Return the period, rotated so that each rank begins with its call in `begins`."""
    streams = tuple(
        _from(stream, begin) for stream, begin in zip(period.trace.streams, begins, strict=True)
    )
    return replace(period, trace=replace(period.trace, streams=streams))


def _from(stream: CallStream, begin: int) -> CallStream:
    return replace(
        stream,
        shape=np.roll(stream.shape, -begin),
        compute_s=np.roll(stream.compute_s, -begin),
        spent_s=np.roll(stream.spent_s, -begin),
    )
