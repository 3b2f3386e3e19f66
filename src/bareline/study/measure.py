"""The ``[[measure]]`` and ``[[exhibit]]`` tables of a study.

A scale contains the changes of a smaller or larger run than written::

    [scale.small]
    launches = 6

    [[measure]]
    probe = "compute.dgemm"
    params = { n = 4096 }
    scale.small = { params = { n = 512 } }
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bareline.probes.base import Probe, find_probe
from bareline.study.sweep import Count, Counts, NodeCounts, PerNode, Sweep
from bareline.vocabulary.errors import StudyError, UsageError
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Case, Layout, Placement, Scalar, format_point
from bareline.vocabulary.platform import Capacity, PinningKeys
from bareline.vocabulary.units import listing, parse_size

NO_DEFAULTS: Mapping[str, Scalar] = MappingProxyType({})
#: More cases of one measure are refused: their run would not end.
MOST_CASES = 100_000


class _Table(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


_PARAMETERS = ("params", "sweep", "per_rank")


class StudyScale(_Table):
    """A ``[scale.NAME]``: keys of ``[study]`` that take other values at this scale.

    Attributes
    ----------
    question, launches, looks, min_launches, precision, budget_s, blocks_per_boot, emulated_launches
    control, platforms, baseline
        As in ``[study]``.
    """

    question: list[str] | None = None
    launches: int | None = None
    looks: list[int] | None = None
    min_launches: int | None = None
    precision: float | None = None
    budget_s: float | None = None
    blocks_per_boot: int | None = None
    emulated_launches: int | None = None
    control: bool | None = None
    platforms: list[str] | None = None
    baseline: str | None = None

    def over(self, head: dict[str, Any]) -> dict[str, Any]:
        """Return the content of a ``[study]`` with these changes; new launches remove its looks."""
        changes = self.model_dump(exclude_none=True)
        if "launches" in changes or "looks" in changes:
            head = {key: value for key, value in head.items() if key not in ("launches", "looks")}
        return {**head, **changes}


class MeasureScale(_Table):
    """A measure's ``scale.NAME``: its values at this scale.

    - `params`, `sweep`, `per_rank`: parameters that are added or replaced; a value in one of
      them replaces the value of the same name in the other two.
    - `ranks`, `ranks_per_node`, `threads`, `nodes`, `roles`, `timeout_s`: as in ``[[measure]]``.
    - `skip`: leave the measure out.
    """

    params: dict[str, Scalar] = {}
    sweep: dict[str, list[Scalar]] = {}
    per_rank: dict[str, int | float] = {}
    ranks: Counts | None = None
    ranks_per_node: PerNode | None = None
    threads: Count | None = None
    nodes: Counts | None = None
    roles: list[str] | None = None
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    skip: bool = False

    def over(self, measure: dict[str, Any]) -> dict[str, Any]:
        """Return the content of a ``[[measure]]`` with the values of this scale."""
        new = {name: getattr(self, name) for name in _PARAMETERS}
        named = {name for table in new.values() for name in table}
        plain = self.model_dump(exclude_none=True, exclude={*_PARAMETERS, "skip"})
        tables = {
            name: {
                **{key: value for key, value in measure.get(name, {}).items() if key not in named},
                **new[name],
            }
            for name in _PARAMETERS
            if name in measure or new[name]
        }
        return {**measure, **plain, **tables}

    def changes(self, measure: Mapping[str, Any]) -> list[str]:
        """Describe its changes of a ``[[measure]]``: ``n 512 instead of 4096``."""
        if self.skip:
            return ["left out"]
        before = {**measure}
        after = self.model_dump(exclude_none=True, exclude={*_PARAMETERS, "skip", "timeout_s"})
        for name in _PARAMETERS:
            before |= measure.get(name, {})
            after |= getattr(self, name)
        return [
            f"{name} {_worded(value)} instead of {_worded(before.get(name, 'its default'))}"
            for name, value in after.items()
            if before.get(name) != value
        ]


def _worded(value: Any) -> str:
    return listing([str(item) for item in value]) if isinstance(value, list) else str(value)


#: Default limit of a launch's trace, in a run and by hand.
TRACE_BYTES = 64 << 20


def _trace_bytes(given: object) -> object:
    try:
        return parse_size(given) if isinstance(given, str) else given
    except (UsageError, OverflowError) as error:
        raise ValueError("write a size such as '128MB'") from error


class Profiling(_Table):
    """How a measure is profiled.

    - `trace`: largest size of the trace of a launch, such as "128MB".
    - `once`: in one more launch of each case, in addition to the compared ones.
    """

    trace: Annotated[int, BeforeValidator(_trace_bytes), Field(ge=1 << 16)] = TRACE_BYTES
    once: bool = False


class Measure(PinningKeys, _Table):
    """One ``[[measure]]``: a probe, its parameters and how many ranks it runs with.

    - `probe`: name of the probe.
    - `params`: its parameters; the rest keep their defaults.
    - `sweep`: parameters with a list of values each: every combination is a case.
    - `per_rank`: parameters that grow with the ranks: so much for each of them (weak scaling).
    - `ranks`: MPI ranks, one number, a list of them, or "powers": 1, 2, 4 ... up to the platforms'
      cores. 1 without it.
    - `threads`: threads per rank.
    - `nodes`: exact number of nodes, a list, "powers", or "all" that a platform has; without it, as
      many as the placement uses.
    - `ranks_per_node`: exact number of ranks on every node, or "cores": the number of nodes follows
      from the ranks, or the ranks from the nodes.
    - `placement`: "spread" lays ranks over all nodes, "pack" fills one node first.
    - `binding`, `ranks_per_socket`, `ranks_per_numa`, `distribution`: where on a node ranks are,
      instead of where the platform places them; see `PinningKeys`.
    - `profile`: load the profiler into every rank and keep each trial's profile with its raw
      output. "once" does so in one more launch of each case, in addition to the compared ones;
      a table also limits the length of a trace.
    - `platforms`: measure on these platforms only; on all by default.
    - `roles`: measure on the platforms that take these roles, and on platforms without a role.
    - `timeout_s`: longest time that one trial may take.
    - `scale`: the values at a scale, by the scale's name.
    """

    probe: str
    params: dict[str, Scalar] = {}
    sweep: dict[str, list[Scalar]] = {}
    per_rank: dict[str, int | float] = {}
    ranks: Counts | None = None
    threads: Count = 1
    nodes: NodeCounts | None = None
    ranks_per_node: PerNode | None = None
    placement: Placement = Placement.SPREAD
    profile: bool | Literal["once"] | Profiling = False
    platforms: list[str] | None = None
    roles: list[str] | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 300.0
    scale: dict[str, MeasureScale] = {}

    def asks(self, platform: str) -> bool:
        """Whether it is measured on a platform of this name."""
        return self.platforms is None or platform in self.platforms

    def shapes(self, where: str = "", ends: int | None = None) -> Sweep:
        """Return its ranks and nodes; see `Sweep`."""
        return Sweep(
            ranks=self.ranks,
            nodes=self.nodes,
            ranks_per_node=self.ranks_per_node,
            threads=self.threads,
            placement=self.placement,
            where=where,
            ends=ends,
        )

    def cases(
        self,
        *,
        where: str,
        probe: Probe[Any] | None = None,
        room: Mapping[str, Capacity] | None = None,
        defaults: Mapping[str, Scalar] = NO_DEFAULTS,
    ) -> Iterator[Case]:
        """Expand the sweeps into cases with checked, canonical parameters.

        - `probe`: the probe, where it is a program of the study's own.
        - `room`: the room of platforms, by name; without it a sweep over them is its smallest case.
        - `defaults`: of parameters that are not given; the probe's own without it.
        """
        probe = probe or find_probe(self.probe, where=where)
        self._check_sweep(where)
        sweep = self.shapes(where, probe.nodes)
        for values in itertools.product(*self.sweep.values()):
            fixed = {**self.params, **dict(zip(self.sweep, values, strict=True))}
            params = probe.make_params({**defaults, **fixed, **self.per_rank}, where=where)

            def check(ranks: int, params: Any = params) -> None:
                probe.check_ranks(params, max(ranks, self._ends(probe)), where=where)

            for ranks, nodes in sweep.shapes(room or {}, check):
                # One end on every node, also where the study does not count the ends as ranks.
                ranks = max(ranks, self._ends(probe))
                given = {**fixed, **{name: each * ranks for name, each in self.per_rank.items()}}
                if self.per_rank:
                    params = probe.make_params({**defaults, **given}, where=where)
                    probe.check_ranks(params, ranks, where=where)
                self._check_layout(probe, params, ranks, where)
                case = Case(
                    probe=self.probe,
                    params=_canonical(given, where),
                    ranks=ranks,
                    threads=self.threads,
                    nodes=nodes,
                    placement=self.placement,
                    profile=bool(self.profile) and not self.profiles_once,
                    pinning=str(self.pinning) if self.asks_pinning else "",
                )
                yield case
                if self.profiles_once:
                    yield replace(case, profile=True)

    @property
    def profiles_once(self) -> bool:
        """Whether one more launch of each case is profiled, and no other."""
        return self.profile.once if isinstance(self.profile, Profiling) else self.profile == "once"

    @property
    def trace_bytes(self) -> int:
        """Largest size of the trace of a launch, in bytes."""
        return self.profile.trace if isinstance(self.profile, Profiling) else TRACE_BYTES

    def _ends(self, probe: Probe[Any]) -> int:
        """Return the nodes that the probe measures between where the study names none."""
        return probe.nodes or 1 if self.nodes is None and self.ranks_per_node is None else 1

    def _check_sweep(self, where: str) -> None:
        for first, second in itertools.combinations(_PARAMETERS, 2):
            if both := sorted(set(getattr(self, first)) & set(getattr(self, second))):
                raise StudyError(f"'{both[0]}' is in {first} and in {second}", where=where)
        count = math.prod(len(values) for values in self.sweep.values())
        for counts in (self.ranks, self.nodes):
            count *= len(counts) if isinstance(counts, list) else 1
        if count > MOST_CASES:
            raise StudyError(
                f"sweeps {count:,} cases, more than {MOST_CASES:,}",
                where=where,
                hint="sweep fewer values",
            )

    def _check_layout(self, probe: Probe[Any], params: Any, ranks: int, where: str) -> None:
        ends = self._ends(probe)
        if ranks % ends:
            raise StudyError(f"{ranks} ranks do not divide evenly over {ends} nodes", where=where)
        if self.profile and not probe.command(params, Layout(1, ranks)).mpi:
            raise StudyError(
                f"{self.probe} calls no MPI function: there is nothing to profile",
                where=where,
                hint="remove `profile`",
            )


class Exhibit(ExhibitSpec, _Table):
    """One ``[[exhibit]]`` of a study file, which may have these keys only."""

    where: dict[str, Scalar | list[Scalar]] = {}


def _canonical(params: Mapping[str, Scalar], where: str) -> str:
    try:
        return format_point(params)
    except ValueError as error:  # no number, or beyond all
        raise StudyError(str(error), where=where, hint="give a finite number") from error
