"""Launch each variant once before a run, to warm up and to find failures and durations.

The measured values are not recorded. Platforms whose nodes are borrowed or booted are not warmed
up, because their start would cost as much as the run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from bareline.host.cache import scratch_folder
from bareline.host.owner import owner_mark
from bareline.platforms.base import Context, load_platform_types
from bareline.session.judge import judge_output
from bareline.study.plan import choose
from bareline.study.study import Study
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Failed, Layout
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import count

#: An idle rank of Open MPI takes some 10 ms to start, and 30 MB.
_MOST_RANKS_PER_CORE = 128


def warm_up(study: Study, platforms: Sequence[PlatformSpec]) -> list[float]:
    """Launch the study's first case once on each platform; return the duration of each in s.

    If a platform is not on this machine, boots, or borrows nodes, nothing is launched, and the list
    is empty.

    Raises UsageError: a program fails (the error contains the end of its output), or there are far
        more ranks than cores.
    """
    types = load_platform_types()
    kinds = [types[spec.type] for spec in platforms]
    if not all(kind.here and not (kind.boots or kind.borrows) for kind in kinds):
        return []
    return [_launched(study, spec) for spec in platforms]


def _launched(study: Study, spec: PlatformSpec) -> float:
    choice = choose(study, [spec])
    if not choice.cells:
        return 0.0  # the plan gives the reason why no case fits
    (_, number), cell = next(iter(choice.cells.items()))
    case = choice.cases[number]
    _refuse_crowd(cell.layout)
    command = _marked(spec.furnish(study.command_of(case, cell.layout)))
    platform = load_platform_types()[spec.type]
    with (
        scratch_folder(spec.name) as scratch,
        platform(spec, Context(scratch)).acquire(cell.layout) as allocation,
    ):
        allocation.prepare(command)
        output = allocation.run(command, cell.layout, timeout_s=cell.timeout_s)
    probe = study.find_probe(case.probe)
    params = study.params_of(case)
    outcome = judge_output(probe, params, output, cell.timeout_s).outcome
    if isinstance(outcome, Failed):
        raise UsageError(
            f"the command fails: {' '.join(outcome.reason.split())[-600:]}",
            where=spec.title or spec.name,
            hint="run it by itself until it succeeds; its output must not depend on a terminal",
        )
    return output.duration_s


def _refuse_crowd(layout: Layout) -> None:
    """Raise UsageError if a start of so many ranks would keep the machine busy for minutes."""
    cores = os.cpu_count() or 1
    if layout.ranks > _MOST_RANKS_PER_CORE * cores:
        crowd = f"{layout.ranks:,} ranks on {count(cores, 'core')}"
        raise UsageError(
            f"{crowd} would keep the machine busy for minutes",
            where="--ranks",
            hint=f"use at most {_MOST_RANKS_PER_CORE * cores:,}",
        )


def _marked(command: Command) -> Command:
    """Return the command with a variable that marks its processes, so that they can be found."""
    mark = ((TRIAL_VARIABLE, f"{owner_mark()}-pilot"),)
    return replace(command, env=command.env + mark)
