"""The ``[[measure]]`` and ``[[exhibit]]`` tables of a study.

A scale contains the changes for a smaller or larger run than the study describes::

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
    """A ``[scale.NAME]``: keys of ``[study]`` that have other values at this scale.

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

    def over(self, head: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a ``[study]`` by key, with the changes of this scale.

        If the scale changes `launches` or `looks`, neither of these keys keeps the study's value.
        """
        values = dict(head)
        changes = self.model_dump(exclude_none=True)
        if "launches" in changes or "looks" in changes:
            values.pop("launches", None)
            values.pop("looks", None)
        return values | changes


class MeasureScale(_Table):
    """The ``scale.NAME`` of a ``[[measure]]``: its values at this scale.

    - `params`, `sweep`, `per_rank`: parameters that are added or replaced. A value in one of these
      replaces the value of the same name in the other two.
    - `ranks`, `ranks_per_node`, `threads`, `nodes`, `roles`, `timeout_s`: as in ``[[measure]]``.
    - `skip`: leave the ``[[measure]]`` out.
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

    def over(self, measure: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a ``[[measure]]`` by key, with the changes of this scale."""
        replaced = {*self.params, *self.sweep, *self.per_rank}
        values = {**measure, **self._keys()}
        for table in _PARAMETERS:
            old = measure.get(table, {})
            unchanged = {name: old[name] for name in old if name not in replaced}
            changed = {**unchanged, **getattr(self, table)}
            if changed or table in measure:
                values[table] = changed
        return values

    def changes(self, measure: Mapping[str, Any]) -> list[str]:
        """Describe how the scale changes a ``[[measure]]``, such as ``n 512 instead of 4096``."""
        if self.skip:
            return ["left out"]
        before = {**measure}
        after = self._keys()
        after.pop("timeout_s", None)
        for table in _PARAMETERS:
            before |= measure.get(table, {})
            after |= getattr(self, table)
        lines = []
        for name, value in after.items():
            old = before.get(name)
            if old != value:
                old_words = "its default" if old is None else _worded(old)
                lines.append(f"{name} {_worded(value)} instead of {old_words}")
        return lines

    def _keys(self) -> dict[str, Any]:
        """Return the keys of a ``[[measure]]`` that the scale replaces, without its parameters."""
        return self.model_dump(exclude_none=True, exclude={*_PARAMETERS, "skip"})


def _worded(value: Any) -> str:
    if isinstance(value, list):
        return listing([str(item) for item in value])
    return str(value)


#: Default limit of a launch's trace, in a run and by hand.
TRACE_BYTES = 64 << 20


def _trace_bytes(given: object) -> object:
    try:
        return parse_size(given) if isinstance(given, str) else given
    except (UsageError, OverflowError) as error:
        raise ValueError(f"{given!r} is not a size; write e.g. '128MB'") from error


class Profiling(_Table):
    """How the launches of a ``[[measure]]`` are profiled.

    - `trace`: the largest size of the trace of a launch, such as "128MB".
    - `once`: profile one additional launch of each case, and none of the compared launches.
    """

    trace: Annotated[int, BeforeValidator(_trace_bytes), Field(ge=1 << 16)] = TRACE_BYTES
    once: bool = False


class Measure(PinningKeys, _Table):
    """One ``[[measure]]``: a probe with its parameters and its numbers of ranks.

    - `probe`: the name of the probe.
    - `params`: its parameters; other parameters keep their defaults.
    - `sweep`: parameters with a list of values each; every combination is a case.
    - `per_rank`: parameters that grow with the ranks: the amount for each rank (weak scaling).
    - `ranks`: MPI ranks, one number, a list of numbers, or "powers": 1, 2, 4 ... up to the
      platforms' cores. The default is 1.
    - `threads`: threads per rank.
    - `nodes`: the exact number of nodes, a list, "powers", or "all" nodes of a platform; without
      it, as many as the placement uses.
    - `ranks_per_node`: the exact number of ranks on every node, or "cores". The number of nodes
      follows from the ranks, or the ranks from the nodes.
    - `placement`: "spread" distributes ranks over all nodes, "pack" fills one node first.
    - `binding`, `ranks_per_socket`, `ranks_per_numa`, `distribution`: where on a node ranks are,
      instead of where the platform places them; see `PinningKeys`.
    - `profile`: load the profiler into every rank and store each trial's profile with its raw
      output. "once" does this in one additional launch of each case. A table also limits the size
      of a trace.
    - `platforms`: measure on these platforms only; the default is all platforms.
    - `roles`: measure on the platforms that take these roles, and on platforms without a role.
    - `timeout_s`: the longest time that one trial may take.
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
        """Whether the ``[[measure]]`` is for the platform of this name."""
        return self.platforms is None or platform in self.platforms

    @property
    def listed_for(self) -> list[str]:
        """The platforms on which no other ``[[measure]]`` may list the same cases; [""] for all.

        The result is empty if the ranks or nodes follow the platforms, because such a sweep may
        have cases of another ``[[measure]]``.
        """
        if self.shapes().follows_platforms:
            return []
        return self.platforms or [""]

    def values_at(self, scale: str) -> dict[str, Any] | None:
        """Return the values of the ``[[measure]]`` at a scale, by key; None if it is skipped."""
        values = {**dict(self), "scale": {}}
        change = self.scale.get(scale)
        if change is None:
            return values
        return None if change.skip else change.over(values)

    def changes_at(self, scale: str) -> list[str]:
        """Describe each change of the ``[[measure]]`` at a scale, with the probe in front."""
        change = self.scale.get(scale)
        if change is None:
            return []
        # Another measure of the same probe may have no number of nodes.
        nodes = "" if self.nodes is None else f" (nodes {self.nodes})"
        return [f"{self.probe}{nodes}: {text}" for text in change.changes(dict(self))]

    def shapes(self, where: str = "", ends: int | None = None) -> Sweep:
        """Return the ranks and nodes of the ``[[measure]]``; see `Sweep`."""
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

        - `probe`: the probe, if it is one of the study's own programs.
        - `room`: the capacity of each platform, by name; without it a sweep over platforms has only
          its smallest case.
        - `defaults`: the values of parameters that are not given; without it the probe's defaults.
        """
        probe = probe or find_probe(self.probe, where=where)
        self._check_sweep(where)
        sweep = self.shapes(where, probe.nodes)
        pinning = str(self.pinning) if self.asks_pinning else ""
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
                    pinning=pinning,
                )
                yield case
                if self.profiles_once:
                    yield replace(case, profile=True)

    @property
    def profiles_once(self) -> bool:
        """Whether one additional launch of each case is profiled, and no other launch."""
        return self.profile.once if isinstance(self.profile, Profiling) else self.profile == "once"

    @property
    def trace_bytes(self) -> int:
        """The largest size of the trace of a launch, in bytes."""
        return self.profile.trace if isinstance(self.profile, Profiling) else TRACE_BYTES

    def _ends(self, probe: Probe[Any]) -> int:
        """Return the number of nodes between which the probe measures by default."""
        return probe.nodes or 1 if self.nodes is None and self.ranks_per_node is None else 1

    def _check_sweep(self, where: str) -> None:
        for first, second in itertools.combinations(_PARAMETERS, 2):
            if both := sorted(set(getattr(self, first)) & set(getattr(self, second))):
                raise StudyError(
                    f"the parameter '{both[0]}' is in the tables {first} and {second}; remove it"
                    " from one of them",
                    where=where,
                )
        count = math.prod(len(values) for values in self.sweep.values())
        for counts in (self.ranks, self.nodes):
            count *= len(counts) if isinstance(counts, list) else 1
        if count > MOST_CASES:
            raise StudyError(
                f"the measure has {count:,} cases, which is more than {MOST_CASES:,}",
                where=where,
                hint="sweep fewer values",
            )

    def _check_layout(self, probe: Probe[Any], params: Any, ranks: int, where: str) -> None:
        ends = self._ends(probe)
        if ranks % ends:
            raise StudyError(f"{ranks} ranks do not divide evenly over {ends} nodes", where=where)
        if self.profile and not probe.command(params, Layout(1, ranks)).mpi:
            raise StudyError(
                f"{self.probe} calls no MPI function, so that its profile would be empty",
                where=where,
                hint="remove `profile`",
            )


class Exhibit(ExhibitSpec, _Table):
    """One ``[[exhibit]]`` of a study file; no other keys are permitted."""

    where: dict[str, Scalar | list[Scalar]] = {}


def _canonical(params: Mapping[str, Scalar], where: str) -> str:
    try:
        return format_point(params)
    except ValueError as error:  # not a number, or too large
        raise StudyError(
            f"a parameter has an invalid value: {error}", where=where, hint="give a finite number"
        ) from error
