"""Numbers of ranks and nodes: numbers, lists of numbers, and sweeps that follow the platforms.

``ranks = "powers"`` and ``nodes = "powers"`` are 1, 2, 4 and so on, up to the capacity of the
largest platform of the run, so that a case is the same on every platform. ``nodes = "all"`` is each
platform's own number of nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from bareline.vocabulary.errors import ProbeError, StudyError
from bareline.vocabulary.model import Placement
from bareline.vocabulary.platform import Capacity

#: The largest machines have fewer ranks, threads and nodes.
_MOST = 100_000_000
#: Powers of two are tried up to here: more ranks than any machine has.
_LARGEST_POWER = 24

POWERS = "powers"
ALL = "all"
CORES = "cores"


def _or(*words: str) -> BeforeValidator:
    """Return a validator that refuses every word except `words`, with a one-line message."""
    choices = " or ".join(f'"{word}"' for word in words)

    def check(value: Any) -> Any:
        if isinstance(value, str) and value not in words:
            raise ValueError(f"'{value}' is not a number; write a number, or {choices}")
        return value

    return BeforeValidator(check)


Count = Annotated[int, Field(ge=1, le=_MOST)]
_Counts = Annotated[list[Count], Field(min_length=1)]
Counts = Annotated[Count | _Counts | Literal["powers"], _or(POWERS)]
NodeCounts = Annotated[Count | _Counts | Literal["powers", "all"], _or(POWERS, ALL)]
PerNode = Annotated[Count | Literal["cores"], _or(CORES)]

#: Ranks and the exact number of nodes, or None where the placement decides.
Shape = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The ranks and nodes of a ``[[measure]]``; see `bareline.study.measure.Measure`.

    - `ends`: the number of nodes between which the probe measures, with one rank on each node
      unless the ``[[measure]]`` has more ranks. None if the layout determines the number of nodes.
    """

    ranks: int | Sequence[int] | str | None
    nodes: int | Sequence[int] | str | None
    ranks_per_node: int | str | None
    threads: int
    placement: Placement
    where: str
    ends: int | None = None

    @property
    def within_cores(self) -> bool:
        """Whether every rank needs its own core, because the sweep itself follows the cores."""
        return self.ranks == POWERS or self.ranks_per_node == CORES

    @property
    def follows_platforms(self) -> bool:
        """Whether the values depend on the platforms of the run."""
        return self.within_cores or self._open_nodes

    def shapes(self, room: Mapping[str, Capacity], check: Callable[[int], None]) -> Iterator[Shape]:
        """Yield numbers of ranks and nodes, each pair once.

        - `room`: the capacity of each platform, by name; without it, the smallest case of each
          sweep.
        - `check`: refuses a number of ranks with which the probe cannot run.

        Raises StudyError: the keys contradict each other, no number of ranks divides evenly over
            the named nodes, or there are more nodes than the probe measures between.
        Raises ProbeError: the probe cannot run with a number of ranks that the study names.
        """
        if self.ranks_per_node is None:
            candidates = self._over_nodes(room, check)
        elif self.nodes is None:
            candidates = self._full_nodes(check)
        else:
            candidates = self._by_nodes(room, check)
        return (shape for shape in dict.fromkeys(candidates) if self._has_ends(shape[1]))

    def _has_ends(self, nodes: int | None) -> bool:
        if self.ends is None or nodes is None or nodes <= self.ends:
            return True
        if self._open_nodes:
            return False
        raise StudyError(
            f"the probe measures between {self.ends} nodes, so that some of {nodes} nodes"
            " would be idle",
            where=self.where,
            hint=f"write nodes = {self.ends}, or nodes = 1 for both ends on one node",
        )

    def _over_nodes(
        self, room: Mapping[str, Capacity], check: Callable[[int], None]
    ) -> Iterator[Shape]:
        if self._open_nodes and self.ranks is None and self.ends is None:
            raise StudyError(
                f'nodes = "{self.nodes}" requests several nodes, but the case has only '
                "one rank, which uses one node",
                where=self.where,
                hint="add ranks_per_node = 1, or set `ranks` to the number of ranks",
            )
        numbers: Sequence[int | None] = self._nodes(room) if self.nodes is not None else [None]
        for nodes in numbers:
            tried = list(self._ranks_on(nodes, room, check))
            even = [ranks for ranks in tried if nodes is None or ranks % nodes == 0]
            if not even and not self._open_nodes:
                raise StudyError(
                    f"{tried[0]} ranks do not divide evenly over {nodes} nodes",
                    where=self.where,
                    hint="write `ranks` as a multiple of `nodes`, or `ranks_per_node`",
                )
            yield from ((ranks, nodes) for ranks in even)

    def _ranks_on(
        self, nodes: int | None, room: Mapping[str, Capacity], check: Callable[[int], None]
    ) -> Iterator[int]:
        if self.ranks != POWERS:
            fewest = nodes if self.ends and nodes else 1
            for ranks in _listed(self.ranks or fewest):
                check(ranks)
                yield ranks
            return
        least = nodes or 1
        most = 0
        for capacity in self._with_cores(room):
            if capacity.nodes >= least:
                used = nodes or self._nodes_used(capacity)
                most = max(most, capacity.ranks(self.threads, used))
        yield from _powers(least, most, check)

    def _nodes_used(self, capacity: Capacity) -> int:
        """Return the number of a platform's nodes that the placement uses by default."""
        return 1 if self.placement is Placement.PACK else capacity.nodes

    def _full_nodes(self, check: Callable[[int], None]) -> Iterator[Shape]:
        """Yield pairs in which the number of nodes follows from the number of ranks."""
        each = self.ranks_per_node
        if not isinstance(each, int) or self.ranks == POWERS:
            raise StudyError(
                "the number of nodes is not defined because neither 'ranks' nor 'nodes' "
                "is a number",
                where=self.where,
                hint=f'write nodes = "{POWERS}" and `ranks_per_node`, and remove `ranks`',
            )
        fewest = each * self.ends if self.ends else 1
        for ranks in _listed(self.ranks or fewest):
            check(ranks)
            nodes, rest = divmod(ranks, each)
            if rest:
                raise StudyError(
                    f"{ranks} ranks are not a multiple of {each} ranks per node; change"
                    " `ranks` or `ranks_per_node`",
                    where=self.where,
                )
            yield ranks, nodes

    def _by_nodes(
        self, room: Mapping[str, Capacity], check: Callable[[int], None]
    ) -> Iterator[Shape]:
        """Yield pairs in which the number of ranks follows from the number of nodes."""
        if self.ranks is not None:
            raise StudyError(
                "'ranks' follow from 'nodes' and 'ranks_per_node'",
                where=self.where,
                hint="remove one of the three keys",
            )
        ranks_per_node = self._each(room)
        numbers = self._nodes(room)
        any_fits = False
        for each, nodes in itertools.product(ranks_per_node, numbers):
            ranks = each * nodes
            try:
                check(ranks)
            except ProbeError:
                if not self.follows_platforms:
                    raise
                continue
            any_fits = True
            yield ranks, nodes
        if any_fits:
            return
        # The least number that the probe takes; the plan lists platforms that are too small for it.
        if self._open_nodes:
            each = ranks_per_node[0]
            for ranks in _powers(each, 0, check):
                yield ranks, ranks // each
        else:
            nodes = numbers[0]
            for ranks in _powers(nodes, 0, check):
                yield ranks, nodes

    @property
    def _open_nodes(self) -> bool:
        return self.nodes in (POWERS, ALL)

    def _nodes(self, room: Mapping[str, Capacity]) -> list[int]:
        if self.nodes == ALL:
            return sorted({capacity.nodes for capacity in room.values()}) or [1]
        if self.nodes != POWERS:
            return _listed(self.nodes or 1)
        most = max((capacity.nodes for capacity in room.values()), default=1)
        return [1 << power for power in range(most.bit_length())]

    def _each(self, room: Mapping[str, Capacity]) -> list[int]:
        if self.ranks_per_node != CORES:
            return _listed(self.ranks_per_node or 1)
        sizes = {capacity.ranks(self.threads, 1) for capacity in self._with_cores(room)}
        return sorted(size for size in sizes if size) or [1]

    def _with_cores(self, room: Mapping[str, Capacity]) -> list[Capacity]:
        for name, capacity in room.items():
            if capacity.cores_per_node is None:
                raise StudyError(
                    f"the platform '{name}' does not give the number of cores of its nodes",
                    where=self.where,
                    hint=f"add cores_per_node = N to [platform.{name}]",
                )
        return list(room.values())


def _listed(value: int | Sequence[int] | str) -> list[int]:
    assert not isinstance(value, str)
    return [value] if isinstance(value, int) else list(value)


def _powers(start: int, most: int, check: Callable[[int], None]) -> Iterator[int]:
    """Yield `start` times 1, 2, 4 ... up to `most`.

    If the check refuses all these numbers, the next permitted number is yielded.
    """
    refused: ProbeError | None = None
    any_taken = False
    for power in range(_LARGEST_POWER):
        ranks = start << power
        if ranks > most and any_taken:
            return
        try:
            check(ranks)
        except ProbeError as error:
            refused = refused or error
            continue
        any_taken = True
        yield ranks
        if ranks >= most:
            return
    if not any_taken and refused is not None:
        raise refused
