"""Launch a program that reports where a layout's ranks run and which transport their messages use.

The requested placement is not always possible. If ranks are placed differently, records contain the
observed placement, so that trials with equal placements are compared. A caveat names the requested
and the observed placement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bareline.platforms.base import Allocation
from bareline.probes._place import PLACE, Rank, Seen, read_place
from bareline.session.allocations import Allocations
from bareline.vocabulary.caveats import OTHER_MPI, OTHER_PLACEMENT, OTHER_TRANSPORT
from bareline.vocabulary.errors import BuildError, ParseError, PlatformError, ToolMissing
from bareline.vocabulary.model import Command, Layout, Scalar, Trial
from bareline.vocabulary.pinning import Pinning, SeenBinding


@dataclass(frozen=True, slots=True)
class SeenLayout:
    """The observations about a layout on a platform; `layout` has the observed placement."""

    layout: Layout
    facts: Mapping[str, Scalar]
    caveats: tuple[str, ...] = ()


class Placements:
    """The observed placement of each layout on each platform; a session observes it once."""

    def __init__(self, allocations: Allocations) -> None:
        self._allocations = allocations
        self._seen: dict[tuple[str, Layout], SeenLayout] = {}

    def of(self, trial: Trial) -> SeenLayout:
        """Return the observations about a trial's layout.

        If the layout has not been observed yet, return the requested layout.
        """
        assert trial.layout is not None, "a plan lays every case out"
        return self._seen.get((trial.platform, trial.layout)) or SeenLayout(trial.layout, {})

    def see(self, trial: Trial, allocation: Allocation, command: Command) -> None:
        """Observe the layout of an MPI trial once; raises PlatformError as in `look`."""
        assert trial.layout is not None
        key = (trial.platform, trial.layout)
        if key in self._seen or not _is_native(command):
            return
        facts = self._allocations.facts(trial.platform)
        self._seen[key] = SeenLayout(trial.layout, {})
        if "mpi.flavour" not in facts:
            return  # a simulated library places no ranks
        try:
            self._seen[key] = look(allocation, trial.layout, facts, command)
        except (ParseError, BuildError, ToolMissing) as error:
            self._allocations.note(trial.platform, f"where ranks are was not seen: {error}")
            return
        self._allocations.update_facts(trial.platform, self._seen[key].facts)


def _is_native(command: Command) -> bool:
    """Whether a command starts one of bareline's own MPI programs."""
    return command.mpi and any("{native}" in part for part in command.argv)


def look(
    allocation: Allocation, layout: Layout, facts: Mapping[str, Scalar], command: Command
) -> SeenLayout:
    """Launch a layout once, with the variables of `command`, and observe where its ranks are.

    - `facts`: the facts of the platform.

    Raises PlatformError: the programs do not belong to the launcher's library.
    Raises ParseError: the launch fails, or its output is not complete.
    """
    variables = dict(command.env) | dict(PLACE.env)
    program = replace(PLACE, env=tuple(variables.items()))
    output = allocation.run(program, layout, timeout_s=60.0)
    if output.exit_code or output.timed_out:
        raise ParseError(
            f"the program that looks at the placement of the ranks ended with exit code"
            f" {output.exit_code}"
        )
    seen = read_place(output)
    flavour = f"{facts.get('mpi.flavour', 'the launcher')} {facts.get('mpi.version', '')}".strip()
    if seen.jobs > 1:
        raise PlatformError(
            f"the programs are built with {seen.built_with}, and the launcher of {flavour} starts "
            f"them as {seen.jobs} jobs instead of {layout.ranks} ranks",
            hint=(
                f"set `mpi` of the platform to {seen.built_with} or {flavour}; `bareline build "
                "--on` builds the programs for this library"
            ),
        )
    return shown(seen, layout, facts)


def shown(seen: Seen, layout: Layout, known: Mapping[str, Scalar]) -> SeenLayout:
    """Return the observations, with a caveat for each one that differs from the request."""
    allowed = known.get("cpu.allowed")
    pinning = placed(seen.ranks, layout, allowed if isinstance(allowed, int) else 0)
    carriers = ", ".join(seen.carriers)
    caveats = []
    if pinning != layout.pinning:
        words = f"asked {layout.pinning.words}, seen {pinning.words}"
        caveats.append(f"{OTHER_PLACEMENT}: {words}")
    transport = known.get("mpi.transport")
    if transport in ("shm", "tcp") and seen.kinds - {transport}:
        caveats.append(f"{OTHER_TRANSPORT}: asked {transport}, seen {carriers}")
    if seen.built_with and seen.library and seen.built_with != seen.library:
        caveats.append(f"{OTHER_MPI}: built with {seen.built_with}, ran with {seen.library}")
    facts = {**seen.compiled, "mpi.library": seen.library}
    if layout.ranks > 1:
        where = "between_nodes" if layout.nodes > 1 else "within_node"
        facts[f"mpi.carrier.{where}"] = carriers
    facts[f"placement.{layout}"] = _words(seen.ranks)
    reported = {name: text for name, text in facts.items() if text}
    return SeenLayout(replace(layout, pinning=pinning), reported, tuple(caveats))


def placed(ranks: Sequence[Rank], layout: Layout, allowed: int) -> Pinning:
    """Return the requested placement; if the ranks do not have it, the observed binding.

    - `allowed`: number of hardware threads of a node that its processes may use; 0 if not known.
    """
    wanted = layout.pinning
    threads = layout.threads_per_rank
    if not ranks or not all(rank.cpus for rank in ranks):
        return wanted
    if wanted.binding == "none":
        as_wanted = _is_free(ranks, allowed)
    else:
        as_wanted = _is_bound(ranks, wanted, threads) and _is_dealt(ranks, wanted)
    if as_wanted:
        return wanted
    return Pinning(binding=_class_of(ranks, threads, allowed))


def _is_free(ranks: Sequence[Rank], allowed: int) -> bool:
    """Whether each rank may run on every hardware thread of its node."""
    return all(len(rank.cpus) >= allowed for rank in ranks)


def _is_bound(ranks: Sequence[Rank], wanted: Pinning, threads: int) -> bool:
    if wanted.binding == "socket":
        return all(len(rank.packages) <= 1 for rank in ranks)
    if wanted.binding == "numa":
        return all(len(rank.numa) <= 1 for rank in ranks)
    if _shares(ranks):
        return False
    if wanted.binding == "core":
        return all(rank.cores in (0, threads) for rank in ranks)
    return all(len(rank.cpus) == threads for rank in ranks)


def _is_dealt(ranks: Sequence[Rank], wanted: Pinning) -> bool:
    """Whether the ranks are distributed over sockets or NUMA domains as requested."""
    if wanted.domain:
        in_domain: Counter[tuple[int, frozenset[int]]] = Counter()
        for rank in ranks:
            domain = rank.packages if wanted.ranks_per_socket else rank.numa
            in_domain[rank.node, domain] += 1
        return max(in_domain.values()) <= wanted.ranks_per_domain
    if wanted.distribution != "cyclic":
        return True
    return not any(_share_a_socket(rank, following) for rank, following in pairwise(ranks))


def _share_a_socket(rank: Rank, other: Rank) -> bool:
    """Whether two ranks use the same sockets of a node that has several sockets."""
    if rank.node != other.node or rank.machine_packages <= 1:
        return False
    return rank.packages == other.packages


def _class_of(ranks: Sequence[Rank], threads: int, allowed: int) -> SeenBinding:
    if allowed and _is_free(ranks, allowed):
        return "none"
    if _shares(ranks) and any(_lacks_cores(rank, ranks, threads) for rank in ranks):
        return "shared"
    if all(rank.cores == threads for rank in ranks):
        return "core"
    if all(len(rank.cpus) == threads for rank in ranks):
        return "hwthread"
    if all(len(rank.numa) == 1 < rank.machine_numa for rank in ranks):
        return "numa"
    if all(len(rank.packages) == 1 < rank.machine_packages for rank in ranks):
        return "socket"
    return "some"


def _lacks_cores(rank: Rank, ranks: Sequence[Rank], threads: int) -> bool:
    """Whether the cores of `rank` are too few for all ranks that may run on these cores."""
    sharing = 0
    for other in ranks:
        sharing += rank.node == other.node and not rank.cpus.isdisjoint(other.cpus)
    return _cores(rank) < sharing * threads


def _cores(rank: Rank) -> int:
    return rank.cores or len(rank.cpus)


def _shares(ranks: Sequence[Rank]) -> bool:
    """Whether two ranks may use the same hardware thread of a node."""
    used: dict[int, set[int]] = defaultdict(set)
    for rank in ranks:
        if not used[rank.node].isdisjoint(rank.cpus):
            return True
        used[rank.node] |= rank.cpus
    return False


def _words(ranks: Sequence[Rank]) -> str:
    """Describe each rank's part of a node, as in ``1 core a rank, 1 of 2 sockets in use``."""
    if not ranks:
        return ""
    cores = [_cores(rank) for rank in ranks]
    least = min(cores)
    most = max(cores)
    noun = "core" if most == 1 else "cores"
    many = str(most) if least == most else f"{least} to {most}"
    parts = [f"{many} {noun} a rank"]
    first = ranks[0]
    if first.machine_packages > 1:
        sockets: set[int] = set()
        for rank in ranks:
            if rank.node == first.node:
                sockets |= rank.packages
        parts.append(f"{len(sockets)} of {first.machine_packages} sockets in use")
    if _shares(ranks):
        parts.append("which they share")
    return ", ".join(parts)
