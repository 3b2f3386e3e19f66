"""Simulate the measurements of a run between nodes, and replay traces on simulated platforms."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.host.cache import scratch_folder
from bareline.platforms.base import Allocation, Context, load_platform_types
from bareline.platforms.config import choose_platforms, make_spec
from bareline.platforms.sim.options import SimOptions
from bareline.platforms.sim.platform import SimAllocation, SimPlatform
from bareline.probes.base import find_probe
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError, BarelineError, PlatformError, UsageError
from bareline.vocabulary.model import Layout, Sample, format_point, parse_point
from bareline.vocabulary.place import CASE
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.rows import Params

#: Metric of the kernels: seconds of computation, mean over the ranks.
_COMPUTATION = "compute_mean"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A row of ``calibrate``: a measurement and its simulation.

    - `params`: the parameters of the probe and of the point.
    - `error`: the relative deviation of the simulated value; 0.1 means 10 % above the measured one.
    """

    probe: str
    ranks: int
    params: Params
    unit: str
    measured: float
    simulated: float
    error: float

    @property
    def where(self) -> str:
        """The parameters of the probe, and then of the point, as a text."""
        return " ".join(format_point({name: value}) for name, value in self.params.items())


class Simulations:
    """Simulate the cases that a run measured on its platform `platform`.

    The methods take the table of the simulated platform.
    """

    def __init__(
        self, records: Records, platform: str, points: pl.DataFrame, tell: Callable[[str], None]
    ) -> None:
        self._cases = records.trials.filter(
            (pl.col("platform") == platform) & (pl.col("status") == "measured")
        ).unique([*CASE, "layout"], maintain_order=True)
        self._points = points
        self._defaults = records.defaults
        self._tell = tell

    def compute_factor(self, table: dict[str, Any]) -> float:
        """Return the measured computing time of kernels divided by the simulated computing time.

        The factor is the median over all kernels, or 1 without kernels. If each kernel had its
        own factor, the comparison with the measured times would check nothing.
        """
        factors = []
        for case, samples in self._simulated(table, kernels=True):
            simulated = [sample.value for sample in samples if sample.metric == _COMPUTATION]
            measured = self._measured(case, _COMPUTATION).get_column("value").to_list()
            if len(simulated) == len(measured) == 1 and simulated[0] > 0 and measured[0] > 0:
                factors.append(measured[0] / simulated[0])
        return statistics.median(factors) if factors else 1.0

    def checks(self, table: dict[str, Any]) -> tuple[list[Agreement], list[str]]:
        """Simulate all cases; return the checks, and the reasons of cases without a simulation."""
        checks: list[Agreement] = []
        left_out: list[str] = []
        for case, samples in self._simulated(table, left_out=left_out):
            checks += self._agreements(case, samples)
        return checks, left_out

    def _simulated(
        self, table: dict[str, Any], *, kernels: bool = False, left_out: list[str] | None = None
    ) -> Iterator[tuple[dict[str, Any], tuple[Sample, ...]]]:
        spec = make_spec("calibration", table, where="the calibrated platform")
        missing = [] if left_out is None else left_out
        kind = load_platform_types()[spec.type]
        layout = Layout(spec.options.node_count)
        with (
            scratch_folder("calibration") as scratch,
            kind(spec, Context(scratch)).acquire(layout) as cluster,
        ):
            for case in self._cases.iter_rows(named=True):
                if kernels and _COMPUTATION not in find_probe(case["probe"]).metrics:
                    continue
                try:
                    samples = self._simulate(cluster, spec, case)
                except BarelineError as error:
                    missing.append(f"{case['probe']}, {case['ranks']} ranks: {error}")
                    continue
                yield case, samples

    def _simulate(
        self, cluster: Allocation, spec: PlatformSpec[Any], case: dict[str, Any]
    ) -> tuple[Sample, ...]:
        probe = find_probe(case["probe"])
        layout = Layout.parse(case["layout"])
        # The parameters with which it was measured, also where defaults have changed since.
        given = {**self._defaults.get(probe.name, {}), **parse_point(case["params"])}
        given.pop("profile", None)
        params = probe.make_params(given)
        command = probe.command(params, layout)
        reason = str(spec.options.refuses(command))
        if case["profile"]:
            reason = "the case was profiled, and a profiled launch is not simulated"
        elif layout.nodes > spec.options.node_count:
            reason = (
                f"the case needs {layout.nodes} nodes, but the platform has"
                f" {spec.options.node_count}"
            )
        elif layout.ranks_per_node > 1:
            reason = "ranks share a node, but the calibrated curve is for messages between nodes"
        if reason:
            raise AnalysisError(reason)
        self._tell(f"{case['probe']}, {case['ranks']} ranks, {case['params']}")
        output = cluster.run(command, layout, timeout_s=600.0)
        if output.exit_code != 0:
            raise AnalysisError(f"the simulation ended with code {output.exit_code}")
        return probe.read(params, output).samples

    def _measured(self, case: dict[str, Any], metric: str) -> pl.DataFrame:
        return self._points.filter(
            *(pl.col(key) == case[key] for key in CASE), pl.col("metric") == metric
        )

    def _agreements(self, case: dict[str, Any], samples: tuple[Sample, ...]) -> Iterator[Agreement]:
        probe = find_probe(case["probe"])
        # A simulated collective function has only the mean of its loop, not the measured headline.
        headline = f"{probe.headline}_loop_mean" if probe.collective else probe.headline
        simulated = {
            format_point(sample.point): sample.value
            for sample in samples
            if sample.metric == headline
        }
        for row in self._measured(case, headline).iter_rows(named=True):
            value = simulated.get(row["point"])
            if value is not None and row["value"] > 0:
                yield Agreement(
                    probe=case["probe"],
                    ranks=case["ranks"],
                    params=parse_point(f"{case['params']} {row['point']}".strip()),
                    unit=row["unit"],
                    measured=row["value"],
                    simulated=value,
                    error=value / row["value"] - 1,
                )


@contextmanager
def simulated(
    name: str, path: Path | None, per_node: int | None
) -> Iterator[Callable[[Trace], float]]:
    """Yield a function that replays a trace on a simulated platform and returns the time in s.

    - `name`: the name of the platform.
    - `path`: the platform file that defines the platform; None for the usual files.
    - `per_node`: the number of ranks on a node; by default one per core.

    Raises PlatformError: the platform does not exist, or is too small for a trace.
    Raises UsageError: the platform is not simulated.
    """
    (spec,) = choose_platforms([name], path)
    options = spec.options
    if not isinstance(options, SimOptions):
        raise UsageError(
            f"'{name}' is not simulated, and no run with its MPI benchmarks (the ladder) is given",
            hint="add --from RUN, or take a platform of type sim: `bareline platforms` lists them",
        )
    most = per_node or options.cores
    with scratch_folder("growing") as scratch:
        platform = SimPlatform(cast(PlatformSpec[SimOptions], spec), Context(scratch))

        def run(trace: Trace) -> float:
            layout = Layout.spread(trace.ranks, most)
            if layout.nodes > options.nodes:
                raise PlatformError(
                    f"{trace.ranks} ranks, {layout.ranks_per_node} on each node, need"
                    f" {layout.nodes} "
                    f"nodes, but the platform has {options.nodes}",
                    where=name,
                    hint=(
                        "give the platform more nodes or cores in a platform file, or a larger"
                        " --per-node"
                    ),
                )
            assert isinstance(here, SimAllocation)
            return here.replayed_s(trace, layout, timeout_s=1800.0)

        with platform.acquire(Layout(1)) as here:
            yield run
