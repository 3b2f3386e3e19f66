"""Plant the survey of a fleet: every node and a sample of its links, with or without faults.

A node, a link or the nodes of a switch are made slower by a factor. Healthy nodes differ by half a
per cent, launches by one, one launch in a hundred is disturbed. Nothing is measured.

    python benchmarks/planted_fleet.py 1024 runs/fleet --slow-node 1.2 --slow-switch 1.3
    bareline nodes runs/fleet
    python benchmarks/planted_fleet.py 128 runs/healthy --fleets 20
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bareline.analysis.judgements.survey import survey
from bareline.analysis.numbers.fleet import fleets
from bareline.analysis.numbers.records import read_runs
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.store.run import Run
from bareline.study.catalogue import find_study
from bareline.vocabulary.model import Measured, Record, Sample, Trial
from bareline.vocabulary.nodeset import fold

_STARTED = "2026-01-01T00:00:00+00:00"
_BASES = {
    "compute.each_node": {"rate": 2e12},
    "memory.each_node": {"bandwidth": 3e11},
    "mpi.each_pair": {"latency": 1.4e-6, "bandwidth": 1.1e10},
}
#: A way through a second switch.
_FARTHER = {"latency": 1.6, "bandwidth": 1.0}


@dataclass(frozen=True)
class Faults:
    """How many times slower one node, one link and one switch with its nodes are."""

    node: float = 1.0
    link: float = 1.0
    switch: float = 1.0


class PlantedFleet:
    """Draws what launches on a fleet give."""

    def __init__(self, nodes: int, per_switch: int, faults: Faults, seed: int) -> None:
        width = max(3, len(str(nodes)))
        self.names = [f"node{number:0{width}d}" for number in range(1, nodes + 1)]
        self.per_switch = per_switch
        self.faults = faults
        self.generator = np.random.default_rng(seed)
        self.bad_node = nodes // 3
        self.bad_link = (nodes // 2, nodes // 2 + 1)
        self.bad_switch = (nodes // per_switch) // 2 + 1
        spread = self.generator.standard_normal((3, nodes))
        self.own = dict(zip(("rate", "bandwidth", "network"), np.exp(0.005 * spread), strict=True))

    def switches(self) -> str:
        """Return the fact that names the switches."""
        parts = [
            self.names[at : at + self.per_switch]
            for at in range(0, len(self.names), self.per_switch)
        ]
        return "; ".join(f"leaf{at}: {fold(part)}" for at, part in enumerate(parts, 1))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of fleetbench's sample."""
        count, distance = len(self.names), 1
        while distance < count:
            for first in range(count - distance):
                yield first, first + distance
            distance *= 2

    def samples(self, trial: Trial) -> tuple[Sample, ...]:
        """Draw one launch."""
        found = []
        pairs = trial.case.probe == "mpi.each_pair"
        for metric, base in _BASES[trial.case.probe].items():
            slower = self._of_pairs(metric) if pairs else self._of_nodes(metric)
            value = base * slower if metric == "latency" else base / slower
            found.append(Sample(metric, float(np.median(value))))
            name = f"{'pair' if pairs else 'node'}_{metric}"
            found += [
                Sample(name, float(one), point)
                for one, point in zip(value, self._points(pairs), strict=True)
            ]
        return tuple(found)

    def _points(self, pairs: bool) -> list[dict[str, str | int | float | bool]]:
        if not pairs:
            return [{"node": name} for name in self.names]
        return [{"node": self.names[a], "peer": self.names[b]} for a, b in self.pairs()]

    def _noise(self, count: int, size: float) -> np.ndarray:
        normal = np.exp(size * self.generator.standard_normal(count))
        return normal * np.where(self.generator.random(count) < 0.01, 1.5, 1.0)

    def _of_nodes(self, metric: str) -> np.ndarray:
        slower = self.own[metric] * self._noise(len(self.names), 0.01)
        if metric == "bandwidth":
            slower[self.bad_node] *= self.faults.node
        return slower

    def _of_pairs(self, metric: str) -> np.ndarray:
        ends = np.array(list(self.pairs()))
        switch = ends // self.per_switch
        slower = self.own["network"][ends].prod(axis=1) * self._noise(len(ends), 0.02)
        slower[switch[:, 0] != switch[:, 1]] *= _FARTHER[metric]
        if metric == "bandwidth":
            slower[(switch == self.bad_switch).any(axis=1)] *= self.faults.switch
            slower[(ends == self.bad_link).all(axis=1)] *= self.faults.link
        return slower


def plant(
    nodes: int, folder: Path, *, per_switch: int = 16, faults: Faults | None = None, seed: int = 1
) -> Run:
    """Make the run of a survey."""
    table = {"cluster": {"type": "null", "nodes": nodes}}
    specs = list(platforms_from_toml({"platform": table}, where="planted").values())
    study = find_study("node-survey")
    run = begin.create_run(study, specs, folder, baseline="cluster", seed=seed)
    planted = PlantedFleet(nodes, per_switch, faults or Faults(), seed)
    with run.writing():
        run.write_facts("cluster", {"nodes.switches": planted.switches()})
        for trial in plan_of(run):
            outcome = Measured(planted.samples(trial))
            run.append(Record(trial=trial, outcome=outcome, started=_STARTED, duration_s=1.0))
    return run


def main() -> None:
    """Plant runs, judge them, say what was found and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("nodes", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fleets", type=int, default=1)
    parser.add_argument("--per-switch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    for name in ("node", "link", "switch"):
        parser.add_argument(f"--slow-{name}", type=float, default=1.0)
    given = parser.parse_args()
    faults = Faults(given.slow_node, given.slow_link, given.slow_switch)
    for number in range(given.fleets):
        folder = given.folder if given.fleets == 1 else given.folder / str(number)
        run = plant(
            given.nodes,
            folder,
            per_switch=given.per_switch,
            faults=faults,
            seed=given.seed + number,
        )
        begun = time.perf_counter()
        records = read_runs([Run.open(run.path)])
        (fleet,) = fleets(records)
        found = survey(fleet, records.margin)
        took_s = time.perf_counter() - begun
        names = [
            f"{one.kind} {'-'.join(one.names)} {one.ratio.value:.2f}" for one in found.deviating
        ]
        print(f"{run.path}: {found.tests} tests, {took_s:.1f} s, found: {', '.join(names) or '-'}")


if __name__ == "__main__":
    main()
