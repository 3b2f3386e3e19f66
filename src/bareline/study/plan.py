"""Plan which trial runs when; the plan depends only on its inputs, so a run can repeat it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.study.measure import Measure
from bareline.study.order import Cell, order_block
from bareline.study.study import Study
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import PROCESSOR_LAYERS, Case, Command, Layout, Placement, Trial
from bareline.vocabulary.pinning import Pinning
from bareline.vocabulary.place import nodes_words
from bareline.vocabulary.platform import Capacity, LeftOut, PlatformSpec
from bareline.vocabulary.units import listing

#: A plan is made again by every command that reads a run; more trials would take too long.
MOST_TRIALS = 1_000_000
_MOST_REASONS = 3
#: One platform alone is compared with nothing.
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class PlanCell:
    """A case on a platform, with its largest number of launches."""

    layout: Layout
    timeout_s: float
    launches: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The cases of a study on its platforms, before they are ordered.

    - `cells`: the cells by number of the platform and of the case.
    - `left_out`: cases of the study that do not fit on a platform, or that platforms of its type
      never run.
    """

    cases: tuple[Case, ...]
    cells: Mapping[Cell, PlanCell]
    left_out: tuple[LeftOut, ...]


def choose(study: Study, platforms: Sequence[PlatformSpec]) -> Choice:
    """Return the measured cases of each platform, and the omitted cases with the reason.

    Raises StudyError: a case appears twice, or a ``[[measure]]`` is impossible for its probe.
    """
    numbers: dict[Case, int] = {}
    cells: dict[Cell, PlanCell] = {}
    left_out: dict[tuple[int, Case], LeftOut] = {}
    capacities = [spec.capacity for spec in platforms]
    for measure, case in study.cases(platforms):
        request = _Request(study, measure, case)
        command = study.command_of(case)
        launches = request.launches(platforms)
        for number, spec in enumerate(platforms):
            if not measure.asks(spec.name):
                continue
            layout = request.layout_on(spec, capacities[number], command)
            if isinstance(layout, str):
                left_out[number, case] = LeftOut(platform=spec.name, case=case, reason=layout)
                continue
            cell = Cell(number, numbers.setdefault(case, len(numbers)))
            cells.setdefault(cell, PlanCell(layout, measure.timeout_s, launches))
    return Choice(tuple(numbers), cells, tuple(_nowhere_else(left_out, numbers, cells)))


def _nowhere_else(
    left_out: Mapping[tuple[int, Case], LeftOut],
    numbers: Mapping[Case, int],
    cells: Mapping[Cell, PlanCell],
) -> Iterator[LeftOut]:
    """Yield the cases left out on a platform, unless another ``[[measure]]`` has them there."""
    for (number, case), omitted in left_out.items():
        if Cell(number, numbers.get(case, -1)) not in cells:
            yield omitted


class _Request:
    """A case of a ``[[measure]]``, before its platforms are known."""

    def __init__(self, study: Study, measure: Measure, case: Case) -> None:
        self._study = study
        self._measure = measure
        self._case = case
        self._probe = study.find_probe(case.probe)
        self._computes = self._probe.layer in PROCESSOR_LAYERS

    def layout_on(self, spec: PlatformSpec, capacity: Capacity, command: Command) -> Layout | str:
        """Return the nodes of the case on a platform, and how its ranks are pinned on them.

        If the case is not measured on the platform, the result is the reason as a text.
        """
        reason = spec.refuses(command) or self._refusal(spec)
        if reason:
            return reason
        within_cores = self._measure.shapes().within_cores
        wanted = self._probe.nodes
        layout, lacking = lay_out(self._case, capacity, wanted, within_cores=within_cores)
        if layout is None:
            return f"does not fit: {lacking}"
        if not command.mpi:
            return layout
        pinning = spec.options.pinning
        if self._case.pinning:
            pinning = Pinning.parse(self._case.pinning)
        return replace(layout, pinning=pinning)

    def _refusal(self, spec: PlatformSpec) -> str:
        """Return why the study does not request the case on a platform; empty if it does."""
        if self._computes and spec.name in self._study.emulated:
            return "computing is not compared on emulated processors"
        if self._case.pinning and not spec.options.pins:
            return "ranks cannot be pinned on this platform"
        if self._case.profile and not spec.options.profiles:
            return "a simulated program cannot be profiled"
        return ""

    def launches(self, platforms: Sequence[PlatformSpec]) -> int:
        """Return the largest number of launches of the case.

        It is small for computing on emulated processors if fewer than two platforms have real ones.
        """
        if self._case.profile and self._measure.profiles_once:
            return 1
        launches = self._study.launches_of(self._case)
        names = {spec.name for spec in platforms if self._measure.asks(spec.name)}
        real = names.difference(self._study.emulated)
        if self._computes and real != names and len(real) < _FEWEST:
            return min(launches, self._study.emulated_launches or launches)
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
    """Return all trials of a study in their order.

    - `seed`: replaces the study's seed; 0 if both are missing.

    Raises StudyError: the study has no case for these platforms, none of its cases fits on them, or
        it has more than a million trials.
    """
    choice = choose(study, platforms)
    if not choice.cells:
        names = ", ".join(spec.name for spec in platforms)
        raise StudyError(
            f"no case of the study '{study.name}' runs on {names}",
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
        for cell in _cells_of(block, choice, study, seed):
            planned = choice.cells[cell]
            trial = Trial(
                index=len(trials),
                block=block,
                platform=platforms[cell.platform].name,
                case=choice.cases[cell.case],
                layout=planned.layout,
                timeout_s=planned.timeout_s,
            )
            trials.append(trial)
    return tuple(trials)


def _cells_of(block: int, choice: Choice, study: Study, seed: int) -> list[Cell]:
    """Return the cells (a case on a platform) that are launched in a block, in their order."""
    return order_block(
        [cell for cell, planned in choice.cells.items() if block < planned.launches],
        seed=seed,
        block=block,
        kind=study.order,
        cases_per_turn=study.cases_per_turn or 1,
    )


def fresh_seed() -> int:
    """Return a random seed for a run without a given seed; the run directory stores it."""
    return secrets.randbelow(1 << 31)


def lay_out(
    case: Case, capacity: Capacity, wanted: int | None = None, *, within_cores: bool = False
) -> tuple[Layout | None, str]:
    """Distribute a case's ranks over the nodes of a platform.

    - `wanted`: the number of nodes between which the probe measures, for any number of ranks; the
      case's own number of nodes replaces it.
    - `within_cores`: whether every rank needs its own core; if false, ranks may share cores.

    Returns the layout and "", or None and words for the missing part of the platform.
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
    """Return the smallest layout that is large enough for all trials of a plan on a platform."""
    largest = Layout(1, 1, 1)
    for trial in trials:
        layout = trial.layout
        if layout is not None and trial.platform == platform:
            largest = Layout(
                max(largest.nodes, layout.nodes),
                max(largest.ranks_per_node, layout.ranks_per_node),
                max(largest.threads_per_rank, layout.threads_per_rank),
            )
    return largest


def left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    """Describe the omitted cases with a line for each reason, including platforms and probes."""
    platforms_of: dict[tuple[str, str], list[str]] = {}
    groups = grouped_by(left_out, lambda omitted: (omitted.platform, omitted.reason))
    for (platform, reason), omitted_there in groups.items():
        cases = [omitted.case for omitted in omitted_there]
        several_probes = len({case.probe for case in cases}) > 1
        colon = ":" if several_probes else ""
        text = f"{cases_words(cases)}{colon} {reason}"
        platforms_of.setdefault((reason, text), []).append(platform)
    return [f"{listing(platforms)}: {text}" for (_, text), platforms in platforms_of.items()]


def cases_words(cases: Iterable[Case]) -> str:
    """Describe cases by probe and ranks: ``mpi.pingpong and mpi.allreduce with 2 ranks``."""
    ranks_of: dict[str, set[int]] = {}
    for case in cases:
        ranks_of.setdefault(case.probe, set()).add(case.ranks)
    words = []
    for ranks, probes in grouped_by(ranks_of, lambda probe: tuple(sorted(ranks_of[probe]))).items():
        names = listing(probes)
        if ranks != (1,):
            names += f" with {listing([str(count) for count in ranks])} ranks"
        words.append(names)
    return listing(words)


def unlike(study: Study, platforms: Sequence[PlatformSpec], baseline: str) -> list[str]:
    """Describe each layout that cannot be compared with the baseline's layout, and the remedy."""
    if study.layouts != "equal":
        return []
    pairs = list(_layout_pairs(study, platforms, baseline))
    unlike_pairs = [pair for pair in pairs if pair.layout != pair.base_layout]
    if not unlike_pairs:
        return []
    lines = []
    for words, alike in grouped_by(unlike_pairs, _LayoutPair.words).items():
        cases = cases_words([pair.case for pair in alike])
        lines.append(f"{cases} cannot be compared: {words} on {baseline}")
    compared = {pair.platform for pair in pairs if pair.layout == pair.base_layout}
    affected = dict.fromkeys(pair.platform for pair in unlike_pairs)
    nothing = [name for name in affected if name not in compared]
    if nothing:
        lines.append(f"nothing of this study can be compared on {listing(nothing)}")
    fewest = min(min(pair.layout.nodes, pair.base_layout.nodes) for pair in unlike_pairs)
    remedy = (
        "to compare, choose platforms of as many nodes (bare-pair is this machine as two hosts), "
        f'write `nodes = {fewest}` into the [[measure]], or `layouts = "any"` into [study]'
    )
    return [*lines, remedy]


@dataclass(frozen=True, slots=True)
class _LayoutPair:
    """The layouts of a case on a platform and on the baseline."""

    case: Case
    platform: str
    layout: Layout
    base_layout: Layout

    def words(self) -> str:
        """Describe the two layouts: by their numbers of nodes; if these are equal, in full."""
        words = nodes_words(self.layout.nodes)
        base_words = nodes_words(self.base_layout.nodes)
        if words == base_words:
            words = str(self.layout)
            base_words = str(self.base_layout)
        return f"{words} on {self.platform}, {base_words}"


def _layout_pairs(
    study: Study, platforms: Sequence[PlatformSpec], baseline: str
) -> Iterator[_LayoutPair]:
    """Yield both layouts of the cases that the baseline and another platform have."""
    choice = choose(study, platforms)
    names = [spec.name for spec in platforms]
    base = names.index(baseline)
    for cell, planned in choice.cells.items():
        base_planned = choice.cells.get(Cell(base, cell.case))
        if cell.platform != base and base_planned is not None:
            case = choice.cases[cell.case]
            yield _LayoutPair(case, names[cell.platform], planned.layout, base_planned.layout)
