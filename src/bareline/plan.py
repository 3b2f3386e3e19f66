"""The plan: which trial runs when. Pure and seeded, so that it can be made again from the run.

Trials are ordered in randomised complete blocks: a block holds every case on every platform
once, in an order drawn anew for each block. Slow drift of a machine then falls on all platforms
alike, and the analysis removes it by pairing within blocks.

References
----------
S. Hunold and A. Carpen-Amarie, "MPI Benchmarking Revisited: Experimental Design and
Reproducibility", arXiv:1505.07734.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from bareline.errors import StudyError
from bareline.model import Case, Layout, Placement, Trial
from bareline.platforms.base import PlatformSpec
from bareline.study import Measure, Study


def make_plan(
    study: Study, platforms: Sequence[PlatformSpec], *, seed: int | None = None
) -> tuple[Trial, ...]:
    """Order all trials of a study.

    Parameters
    ----------
    platforms
        The platforms of the run; the order does not matter for the plan's fairness.
    seed
        Overrides the study's.

    Raises
    ------
    StudyError
        A measure names a platform that the run does not have and leaves none.
    """
    cells = [
        (spec, measure, case)
        for measure, case in study.cases()
        for spec in _chosen(measure, platforms)
    ]
    if not cells:
        raise StudyError(
            f"nothing of the study '{study.name}' runs on {', '.join(s.name for s in platforms)}"
        )
    seed = study.seed if seed is None else seed
    trials: list[Trial] = []
    for block in range(study.launches):
        order = list(cells)
        random.Random(f"{seed}:{block}").shuffle(order)
        for spec, measure, case in order:
            layout, misfit = lay_out(case, spec.options.node_count)
            trials.append(
                Trial(
                    index=len(trials),
                    block=block,
                    platform=spec.name,
                    case=case,
                    layout=layout,
                    misfit=misfit,
                    timeout_s=measure.timeout_s,
                )
            )
    return tuple(trials)


def _chosen(measure: Measure, platforms: Sequence[PlatformSpec]) -> list[PlatformSpec]:
    if measure.platforms is None:
        return list(platforms)
    return [spec for spec in platforms if spec.name in measure.platforms]


def lay_out(case: Case, node_count: int) -> tuple[Layout | None, str | None]:
    """Lay a case's ranks over a platform of `node_count` nodes.

    Returns
    -------
    tuple
        The layout, or None and the reason why it does not fit.
    """
    if case.nodes is not None and case.nodes > node_count:
        return None, f"needs {case.nodes} nodes, the platform has {node_count}"
    nodes = case.nodes or (1 if case.placement is Placement.PACK else min(node_count, case.ranks))
    if case.ranks % nodes:
        if case.nodes is not None:
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
