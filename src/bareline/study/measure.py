"""What a study measures and what it draws: its ``[[measure]]`` and ``[[exhibit]]`` tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from bareline.probes.base import Probe, find_probe
from bareline.store.header import ExhibitSpec
from bareline.study.scale import MeasureScale
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Case, Layout, Placement, Scalar, format_point

#: More cases of one measure nobody waits for.
MOST_CASES = 100_000
#: Ranks, threads and nodes of the largest machines stay below.
_MOST = 100_000_000
_Count = Annotated[int, Field(ge=1, le=_MOST)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Measure(_Table):
    """One ``[[measure]]``: a probe, its parameters and how many ranks it runs with.

    Attributes
    ----------
    probe
        Name of the probe.
    params
        Its parameters; the rest keep their defaults.
    sweep
        Parameters with a list of values each: every combination is a case.
    ranks
        MPI ranks, one number or a list of them.
    threads
        Threads per rank.
    nodes
        Exact number of nodes; without it, as many as the placement uses.
    ranks_per_node
        Exact number of ranks on every node; the number of nodes follows from it.
    placement
        "spread" lays ranks over all nodes, "pack" fills one node first.
    profile
        Load the profiler into every rank and keep each trial's profile beside its raw output.
    platforms, roles
        Only these platforms, or those that take these roles and the ones without a role; all of
        the run without either.
    timeout_s
        Longest time that one trial may take.
    scale
        What takes other values at a scale, by the scale's name.
    """

    probe: str
    params: dict[str, Scalar] = {}
    sweep: dict[str, list[Scalar]] = {}
    ranks: _Count | list[_Count] = 1
    threads: _Count = 1
    nodes: _Count | None = None
    ranks_per_node: _Count | None = None
    placement: Placement = Placement.SPREAD
    profile: bool = False
    platforms: list[str] | None = None
    roles: list[str] | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 300.0
    scale: dict[str, MeasureScale] = {}

    def cases(self, *, where: str, probe: Probe[Any] | None = None) -> Iterator[Case]:
        """Expand the sweeps into cases with checked, canonical parameters.

        Parameters
        ----------
        probe
            The probe, where it is a program of the study's own.
        """
        probe = probe or find_probe(self.probe, where=where)
        both = sorted(set(self.params) & set(self.sweep))
        if both:
            raise StudyError(f"'{both[0]}' stands in params and in sweep", where=where)
        self._check_size(where)
        ranks_list = self.ranks if isinstance(self.ranks, list) else [self.ranks]
        for values in itertools.product(*self.sweep.values()):
            given = {**self.params, **dict(zip(self.sweep, values, strict=True))}
            params = probe.make_params(given, where=where)
            for ranks in ranks_list:
                nodes = self._nodes_for(ranks, where)
                if nodes is None and probe.nodes is not None:
                    # An end on every node, whether the study counts them as ranks or not.
                    ranks = max(ranks, probe.nodes)
                probe.check_ranks(params, ranks, where=where)
                if self.profile and not probe.command(params, Layout(1, ranks)).mpi:
                    raise StudyError(
                        f"{self.probe} calls no MPI function: there is nothing to profile",
                        where=where,
                        hint="remove `profile`",
                    )
                yield Case(
                    probe=self.probe,
                    params=format_point(given),
                    ranks=ranks,
                    threads=self.threads,
                    nodes=nodes,
                    placement=self.placement,
                    profile=self.profile,
                )

    def _check_size(self, where: str) -> None:
        """Refuse a sweep before its combinations are made."""
        count = math.prod(len(values) for values in self.sweep.values())
        count *= len(self.ranks) if isinstance(self.ranks, list) else 1
        if count > MOST_CASES:
            raise StudyError(
                f"sweeps {count:,} cases, more than {MOST_CASES:,}",
                where=where,
                hint="sweep fewer values",
            )

    def _nodes_for(self, ranks: int, where: str) -> int | None:
        if self.ranks_per_node is None:
            return self.nodes
        if self.nodes is not None:
            raise StudyError("'nodes' and 'ranks_per_node' exclude each other", where=where)
        nodes, rest = divmod(ranks, self.ranks_per_node)
        if rest:
            raise StudyError(
                f"{ranks} ranks are no multiple of {self.ranks_per_node} per node", where=where
            )
        return nodes


class Exhibit(ExhibitSpec, _Table):
    """One ``[[exhibit]]`` of a study file, which may hold no keys but these."""

    where: dict[str, Scalar | list[Scalar]] = {}
