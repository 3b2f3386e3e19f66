"""The plan: which trial runs when. Pure and seeded, so that it can be made again from the run.

Trials are ordered in randomised complete blocks: a block has every case on every platform
once, in a new random order. Slow drift of a machine then affects all platforms
equally, and the analysis removes it by pairing within blocks. A study names the order in a block:

``pairs``: cases are shuffled, and the platforms of a case follow each other, so that they are close
in time. Over as many blocks as there are platforms, every one is first once, second once and so on.
A platform whose turn costs seconds may take several cases at a turn.

``shuffled``: cases and platforms are shuffled together, as bareline 0.1.0 did at first. Pairs are a
    third of a block apart on average, and a drift of the machine comes between them.

References
----------
S. Hunold and A. Carpen-Amarie, "MPI Benchmarking Revisited: Experimental Design and
Reproducibility", arXiv:1505.07734.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bareline.study.measure import Measure
from bareline.study.study import OrderKind, Study
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import PROCESSOR_LAYERS, Case, Layout, Placement, Trial
from bareline.vocabulary.pinning import Pinning
from bareline.vocabulary.place import nodes_words
from bareline.vocabulary.platform import Capacity, LeftOut, PlatformSpec
from bareline.vocabulary.units import listing

#: A plan is made again by every command that reads a run; more trials would take too long.
MOST_TRIALS = 1_000_000
_MOST_REASONS = 3
#: One platform alone is compared with nothing.
_FEWEST = 2


class Cell(NamedTuple):
    """A cell of a block: number of the platform, number of the case."""

    platform: int
    case: int


@dataclass(frozen=True, slots=True)
class PlanCell:
    """A case on a platform, launched at most `launches` times."""

    layout: Layout
    timeout_s: float
    launches: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The cases of a study on its platforms, before they are ordered.

    - `cells`: by number of the platform and of the case.
    - `left_out`: cases of the study that do not fit there, or never run on such a platform.
    """

    cases: tuple[Case, ...]
    cells: Mapping[Cell, PlanCell]
    left_out: tuple[LeftOut, ...]


def choose(study: Study, platforms: Sequence[PlatformSpec]) -> Choice:
    """Describe the measured cases by platform, and the omitted ones with the reason.

    Raises StudyError: a measure is impossible on any platform.
    """
    numbers: dict[Case, int] = {}
    cells: dict[Cell, PlanCell] = {}
    left_out: dict[tuple[int, Case], LeftOut] = {}
    capacities = [spec.capacity for spec in platforms]
    for measure, case in study.cases(platforms):
        command = study.command_of(case)
        for number, spec in enumerate(platforms):
            if not measure.asks(spec.name):
                continue
            layout = None
            reason = spec.refuses(command) or _refusal(study, case, spec)
            if not reason:
                layout, reason = _fitting(study, measure, case, capacities[number])
            if layout is None:
                left_out[number, case] = LeftOut(platform=spec.name, case=case, reason=reason)
                continue
            if command.mpi:
                layout = replace(layout, pinning=_pinning(case, spec))
            launches = _launches_of(study, measure, case, platforms)
            cell = Cell(number, numbers.setdefault(case, len(numbers)))
            cells.setdefault(cell, PlanCell(layout, measure.timeout_s, launches))
    return Choice(tuple(numbers), cells, tuple(_nowhere_else(left_out, numbers, cells)))


def _nowhere_else(
    left_out: Mapping[tuple[int, Case], LeftOut],
    numbers: Mapping[Case, int],
    cells: Mapping[Cell, PlanCell],
) -> Iterator[LeftOut]:
    """Yield the cases that are left out, unless another measure has the same case there."""
    for (number, case), omitted in left_out.items():
        if Cell(number, numbers.get(case, -1)) not in cells:
            yield omitted


def _fitting(
    study: Study, measure: Measure, case: Case, capacity: Capacity
) -> tuple[Layout | None, str]:
    """Return the layout of a case on a platform and "", or None and why it does not fit."""
    layout, lacking = lay_out(
        case,
        capacity,
        study.find_probe(case.probe).nodes,
        within_cores=measure.shapes().within_cores,
    )
    if layout is None:
        return None, f"does not fit: {lacking}"
    return layout, ""


def _pinning(case: Case, spec: PlatformSpec) -> Pinning:
    """Return how ranks are pinned: by the case, or by the platform's option."""
    return Pinning.parse(case.pinning) if case.pinning else spec.options.pinning


def _refusal(study: Study, case: Case, spec: PlatformSpec) -> str:
    """Describe why a study does not ask a platform for a case; empty where it does."""
    layer = study.find_probe(case.probe).layer
    if layer in PROCESSOR_LAYERS and spec.name in study.emulated:
        return "computing is not compared on emulated processors"
    if case.pinning and not spec.options.pins:
        return "ranks cannot be pinned on this platform"
    if case.profile and not spec.options.profiles:
        return "a simulated program cannot be profiled"
    return ""


def _launches_of(
    study: Study, measure: Measure, case: Case, platforms: Sequence[PlatformSpec]
) -> int:
    """Return how often a case is launched at most; seldom where nothing is compared with it."""
    if case.profile and measure.profiles_once:
        return 1
    launches = study.launches_of(case)
    names = {spec.name for spec in platforms if measure.asks(spec.name)}
    emulated = names & set(study.emulated)
    computes = study.find_probe(case.probe).layer in PROCESSOR_LAYERS
    if computes and emulated and len(names - emulated) < _FEWEST:
        return min(launches, study.emulated_launches or launches)
    return launches


def _reasons(study: Study, platforms: Sequence[PlatformSpec], choice: Choice) -> str | None:
    """Return why nothing of a study is measured, and the scale at which something would be."""
    reasons = left_out_lines(choice.left_out)[:_MOST_REASONS]
    if study.scale is None:
        for name in study.scales:
            if choose(study.at_scale(name), platforms).cells:
                reasons.append(f"--scale {name} fits")
                break
    return "; ".join(reasons) or None


def make_plan(
    study: Study, platforms: Sequence[PlatformSpec], *, seed: int | None = None
) -> tuple[Trial, ...]:
    """Order all trials of a study.

    - `seed`: overrides the study's; 0 without either.

    Raises StudyError: nothing of the study is for these platforms, or fits them, or there are more
    than a million trials.
    """
    choice = choose(study, platforms)
    if not choice.cells:
        names = ", ".join(spec.name for spec in platforms)
        raise StudyError(
            f"nothing of the study '{study.name}' runs on {names}",
            hint=_reasons(study, platforms, choice),
        )
    count = sum(cell.launches for cell in choice.cells.values())
    if count > MOST_TRIALS:
        raise StudyError(
            f"the study '{study.name}' has {count:,} trials, more than {MOST_TRIALS:,}",
            hint="lower `launches`, or sweep fewer values",
        )
    if seed is None:
        seed = study.seed or 0
    trials: list[Trial] = []
    for block in range(study.launches):
        launched = [cell for cell, planned in choice.cells.items() if block < planned.launches]
        order = order_block(
            launched,
            seed=seed,
            block=block,
            kind=study.order,
            cases_per_turn=study.cases_per_turn or 1,
        )
        for cell in order:
            planned = choice.cells[cell]
            trials.append(
                Trial(
                    index=len(trials),
                    block=block,
                    platform=platforms[cell.platform].name,
                    case=choice.cases[cell.case],
                    layout=planned.layout,
                    timeout_s=planned.timeout_s,
                )
            )
    return tuple(trials)


def order_block(
    cells: Sequence[Cell], *, seed: int, block: int, kind: OrderKind, cases_per_turn: int = 1
) -> list[Cell]:
    """Order the cells of a block: numbers from 0; a platform takes `cases_per_turn` at a turn."""
    if kind == "shuffled":
        order = list(cells)
        random.Random(f"{seed}:{block}").shuffle(order)
        return order
    platforms_of: dict[int, set[int]] = {}
    for platform, case in cells:
        platforms_of.setdefault(case, set()).add(platform)
    groups = _groups(sorted(platforms_of), seed, cases_per_turn)
    numbers = list(range(len(groups)))
    random.Random(f"{seed}:{block}:cases").shuffle(numbers)
    ordered = []
    for number in numbers:
        cases = list(groups[number])
        random.Random(f"{seed}:{block}:{number}").shuffle(cases)
        platforms = sorted(set().union(*(platforms_of[case] for case in cases)))
        for platform in _turns(platforms, seed, block, number):
            ordered += [Cell(platform, case) for case in cases if platform in platforms_of[case]]
    return ordered


def _groups(cases: list[int], seed: int, cases_per_turn: int) -> list[list[int]]:
    """Return the cases that share a turn, which are the same in every block."""
    if cases_per_turn > 1:
        random.Random(f"{seed}:groups").shuffle(cases)
    starts = range(0, len(cases), cases_per_turn)
    return [cases[start : start + cases_per_turn] for start in starts]


def _turns(platforms: Sequence[int], seed: int, block: int, group: int) -> list[int]:
    """Order the platforms of a group: a Latin square over as many blocks as there are platforms."""
    square, row = divmod(block, len(platforms))
    generator = random.Random(f"{seed}:{square}:{group}:turns")
    first = list(platforms)
    shifts = list(range(len(platforms)))
    generator.shuffle(first)
    generator.shuffle(shifts)
    shift = shifts[row]
    return first[shift:] + first[:shift]


def fresh_seed() -> int:
    """Draw a seed for a run that was given none; it is kept in the run directory."""
    return secrets.randbelow(1 << 31)


def lay_out(
    case: Case, capacity: Capacity, wanted: int | None = None, *, within_cores: bool = False
) -> tuple[Layout | None, str]:
    """Distribute a case's ranks over the nodes of a platform.

    - `wanted`: number of nodes that the probe measures between, for any number of ranks; the
      case's own number replaces it.
    - `within_cores`: whether every rank needs a core of its own; else ranks may share cores.
    Returns the layout and "", or None and the missing part of the platform.
    """
    exact = case.nodes or wanted
    if exact is not None and exact > capacity.nodes:
        return None, f"needs {exact} nodes, the platform has {capacity.nodes}"
    nodes = exact or _even_nodes(case, capacity)
    layout = Layout(nodes, case.ranks // nodes, case.threads)
    cores = capacity.cores_per_node
    busy = layout.cores_per_node
    if within_cores and cores is not None and busy > cores:
        return None, f"needs {busy} cores on a node, the platform has {cores}"
    return layout, ""


def _even_nodes(case: Case, capacity: Capacity) -> int:
    """Return the largest number of nodes that gives every node the same number of ranks."""
    most = min(capacity.nodes, case.ranks)
    if case.placement is Placement.PACK:
        most = 1
    return next(nodes for nodes in range(most, 0, -1) if case.ranks % nodes == 0)


def largest_layout(trials: Sequence[Trial], platform: str) -> Layout:
    """Return the smallest layout that covers all trials of a plan on a platform."""
    layouts = [trial.layout for trial in trials if trial.platform == platform and trial.layout]
    return Layout(
        max((layout.nodes for layout in layouts), default=1),
        max((layout.ranks_per_node for layout in layouts), default=1),
        max((layout.threads_per_rank for layout in layouts), default=1),
    )


def left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    """Describe the omitted cases, a line for each reason, with platforms and probes."""
    probes: dict[tuple[str, str], dict[str, list[int]]] = {}
    for row in left_out:
        cases = probes.setdefault((row.platform, row.reason), {})
        cases.setdefault(row.case.probe, []).append(row.case.ranks)
    platforms_of: dict[tuple[str, str], list[str]] = {}
    for (platform, reason), cases in probes.items():
        words = cases_words(cases)
        text = f"{words}: {reason}" if len(cases) > 1 else f"{words} {reason}"
        platforms_of.setdefault((reason, text), []).append(platform)
    return [f"{listing(platforms)}: {text}" for (_, text), platforms in platforms_of.items()]


def cases_words(ranks: Mapping[str, Iterable[int]]) -> str:
    """Name cases by probe and ranks: ``mpi.pingpong and mpi.allreduce with 2 ranks``."""
    probes_with: dict[tuple[int, ...], list[str]] = {}
    for probe, numbers in ranks.items():
        probes_with.setdefault(tuple(sorted(set(numbers))), []).append(probe)
    words = []
    for counts, probes in probes_with.items():
        names = listing(probes)
        if counts != (1,):
            names += f" with {listing([str(count) for count in counts])} ranks"
        words.append(names)
    return listing(words)


def unlike(study: Study, platforms: Sequence[PlatformSpec], baseline: str) -> list[str]:
    """List the layouts that could not be compared with the baseline's, and the remedy."""
    if study.layouts != "equal":
        return []
    choice = choose(study, platforms)
    names = [spec.name for spec in platforms]
    base = names.index(baseline)
    groups: dict[_UnlikeLayouts, dict[str, list[int]]] = {}
    with_equal: set[str] = set()
    nodes: set[int] = set()
    for cell, planned in choice.cells.items():
        base_planned = choice.cells.get(Cell(base, cell.case))
        if cell.platform == base or base_planned is None:
            continue
        name = names[cell.platform]
        if planned.layout == base_planned.layout:
            with_equal.add(name)
            continue
        nodes |= {planned.layout.nodes, base_planned.layout.nodes}
        case = choice.cases[cell.case]
        unlike_layouts = _UnlikeLayouts.of(name, planned.layout, base_planned.layout)
        group = groups.setdefault(unlike_layouts, {})
        group.setdefault(case.probe, []).append(case.ranks)
    if not groups:
        return []
    lines = []
    for key, probes in groups.items():
        lines.append(
            f"{cases_words(probes)} cannot be compared: {key.layout} on {key.platform}, "
            f"{key.base_layout} on {baseline}"
        )
    affected = dict.fromkeys(key.platform for key in groups)
    nothing = [name for name in affected if name not in with_equal]
    if nothing:
        lines.append(f"nothing of this study can be compared on {listing(nothing)}")
    remedy = (
        "to compare, choose platforms of as many nodes (bare-pair is this machine as two hosts), "
        f'write `nodes = {min(nodes)}` into the [[measure]], or `layouts = "any"` into [study]'
    )
    return [*lines, remedy]


class _UnlikeLayouts(NamedTuple):
    """A platform's layout of some cases, and the baseline's, in words that differ."""

    platform: str
    layout: str
    base_layout: str

    @classmethod
    def of(cls, platform: str, layout: Layout, base_layout: Layout) -> _UnlikeLayouts:
        """Describe two layouts by their nodes where these differ, or in full."""
        words = nodes_words(layout.nodes)
        base_words = nodes_words(base_layout.nodes)
        if words == base_words:
            return cls(platform, str(layout), str(base_layout))
        return cls(platform, words, base_words)
