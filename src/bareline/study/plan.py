"""The plan: which trial runs when. Pure and seeded, so that it can be made again from the run.

Trials are ordered in randomised complete blocks: a block holds every case on every platform
once, in an order drawn anew for each block (see `bareline.study.order`). Slow drift of a machine
then falls on all platforms alike, and the analysis removes it by pairing within blocks.

References
----------
S. Hunold and A. Carpen-Amarie, "MPI Benchmarking Revisited: Experimental Design and
Reproducibility", arXiv:1505.07734.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence

from bareline.platforms.base import PlatformSpec
from bareline.study.order import order_block
from bareline.study.study import Study
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Case, Layout, Placement, Trial, parse_point

#: A plan is made anew by every command that reads a run; more trials nobody waits for.
MOST_TRIALS = 1_000_000


def make_plan(
    study: Study, platforms: Sequence[PlatformSpec], *, seed: int | None = None
) -> tuple[Trial, ...]:
    """Order all trials of a study.

    Parameters
    ----------
    platforms
        The platforms of the run; the order does not matter for the plan's fairness.
    seed
        Overrides the study's; 0 without either.

    Raises
    ------
    StudyError
        A measure names a platform that the run does not have and leaves none, or there are more
        than a million trials.
    """
    numbers: dict[Case, int] = {}
    cells = {
        (number, numbers.setdefault(case, len(numbers))): measure
        for measure, case in study.cases()
        for number, spec in enumerate(platforms)
        if (measure.platforms is None or spec.name in measure.platforms)
        and not refusal(study, case, spec)
    }
    cases = list(numbers)
    if not cells:
        raise StudyError(
            f"nothing of the study '{study.name}' runs on {', '.join(s.name for s in platforms)}"
        )
    count = study.launches * len(cells)
    if count > MOST_TRIALS:
        raise StudyError(
            f"the study '{study.name}' has {count:,} trials, more than {MOST_TRIALS:,}",
            hint="lower `launches`, or sweep fewer values",
        )
    seed = (study.seed or 0) if seed is None else seed
    trials: list[Trial] = []
    for block in range(study.launches):
        for number, case_number in order_block(
            list(cells),
            seed=seed,
            block=block,
            kind=study.order,
            cases_per_turn=study.cases_per_turn or 1,
        ):
            spec, case = platforms[number], cases[case_number]
            wanted = study.find_probe(case.probe).nodes
            layout, misfit = lay_out(case, spec.options.node_count, wanted)
            trials.append(
                Trial(
                    index=len(trials),
                    block=block,
                    platform=spec.name,
                    case=case,
                    layout=layout,
                    misfit=misfit,
                    timeout_s=cells[number, case_number].timeout_s,
                )
            )
    return tuple(trials)


def refusal(study: Study, case: Case, spec: PlatformSpec) -> str:
    """Say why a case can never run on a platform of this kind; "" where it may."""
    probe = study.find_probe(case.probe)
    command = probe.command(probe.make_params(parse_point(case.params)), Layout(1, case.ranks))
    return spec.options.refuses(command)


def left_out(study: Study, platforms: Sequence[PlatformSpec]) -> list[str]:
    """Name, a line each, what of a study a platform is not asked for, and why."""
    lines: dict[str, None] = {}
    for measure, case in study.cases():
        for spec in platforms:
            if measure.platforms is None or spec.name in measure.platforms:
                reason = refusal(study, case, spec)
                if reason:
                    lines[f"{spec.name}: {case.probe} {reason}, it is left out"] = None
    return list(lines)


def fresh_seed() -> int:
    """Draw a seed for a run that was given none; it is kept in the run directory."""
    return secrets.randbelow(1 << 31)


def lay_out(
    case: Case, node_count: int, wanted: int | None = None
) -> tuple[Layout | None, str | None]:
    """Lay a case's ranks over a platform of `node_count` nodes.

    Parameters
    ----------
    wanted
        Number of nodes that the probe measures between, whatever the ranks are; the case's own
        number goes before it.

    Returns
    -------
    tuple
        The layout, or None and the reason why it does not fit.
    """
    exact = case.nodes or wanted
    if exact is not None and exact > node_count:
        return None, f"needs {exact} nodes, the platform has {node_count}"
    nodes = exact or (1 if case.placement is Placement.PACK else min(node_count, case.ranks))
    if case.ranks % nodes:
        if exact is not None:
            return None, f"{case.ranks} ranks do not divide evenly over {nodes} nodes"
        # The largest number of nodes that gives every node the same number of ranks.
        nodes = max(n for n in range(1, nodes + 1) if case.ranks % n == 0)
    return Layout(nodes, math.ceil(case.ranks / nodes), case.threads), None


def largest_layout(trials: Sequence[Trial], platform: str) -> Layout:
    """Give the smallest layout that covers all that a plan asks of a platform."""
    layouts = [trial.layout for trial in trials if trial.platform == platform and trial.layout]
    return Layout(
        max((layout.nodes for layout in layouts), default=1),
        max((layout.ranks_per_node for layout in layouts), default=1),
        max((layout.threads_per_rank for layout in layouts), default=1),
    )
