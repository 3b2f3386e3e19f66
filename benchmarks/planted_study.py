"""Plant a run of a published study at its own size, with losses as the publication prints them.

What a page looks like, and how long it takes, shows only at the size of the paper: every case of
the study on every role, up to 240 ranks, as many launches as it asks for. Nothing is measured: null
platforms stand for the roles, and a value is a base figure times the printed loss times noise.

    python benchmarks/planted_study.py nebula runs/planted
    bareline report runs/planted
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bareline.platforms.config import platforms_from_toml
from bareline.published.catalogue import publications
from bareline.published.model import PublishedStudy, Trials
from bareline.published.quantities import UNITS, Condition, Spread
from bareline.published.ratios import PublishedRatio, Span, published_ratios, ratios_across, worse
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.store.run import Run
from bareline.study.catalogue import find_study
from bareline.study.study import Study
from bareline.vocabulary.model import (
    Failed,
    Layer,
    Measured,
    Record,
    Sample,
    Scalar,
    Stage,
    Trial,
    parse_point,
)  # fmt: skip

#: Losses where a publication prints none, by layer: within a node, and between nodes.
_USUAL: Mapping[Layer, tuple[float, float]] = {
    Layer.COMPUTE: (1.1, 1.1), Layer.MEMORY: (1.05, 1.05), Layer.NETWORK: (1.5, 1.5),
    Layer.MPI: (1.05, 4.0), Layer.IO: (2.0, 2.0), Layer.NPB: (1.15, 1.8), Layer.APP: (1.15, 1.6),
}  # fmt: skip
_BASES = {"s": 1.0, "B/s": 1e9, "bit/s": 9.6e9, "flop/s": 1e10, "op/s": 1e9, "1": 0.8, "%": 50.0}


def _growing(first: float, slope: float, ranks: int) -> float:
    return first * (max(ranks, 32) / 32) ** slope


def _meeting(size_bytes: int) -> float:
    """Return a loss of 1.5 for the smallest messages that is none from 1 MiB."""
    return 1.0 + 0.5 * max(0.0, 1 - math.log2(size_bytes) / 20)


def _settling(size_bytes: int) -> float:
    """Return a loss of 2.5 to 3 until the time jumps, then of 1.2."""
    return 2.75 if size_bytes < 1024 else 1.2


#: Losses that agree with a publication's words on message sizes, by its platform and program.
_BY_SIZE: Mapping[tuple[str, str], Callable[[int], float]] = {
    ("infinicloud:nos-hw-virtual", "mpi.pingpong"): _meeting,
    ("infinicloud:nos-hw-virtual", "mpi.alltoall"): _settling,
}
#: Losses against InfiniBand, or against native hardware, that agree with what a publication says in
#: words and draws, where it prints no number for them: by its platform, program and ranks.
_AGREEING: Mapping[tuple[str, str], Callable[[int], float]] = {
    # Begins on the line of InfiniBand, or a little above it.
    ("magellan:magellan-tcpoib", "app.planewave"): partial(_growing, 0.999, 0.15),
    ("magellan:magellan-tcpoib", "app.lattice"): partial(_growing, 1.01, 0.0),
    ("magellan:magellan-10g", "app.planewave"): partial(_growing, 1.08, 0.22),
    ("magellan:magellan-10g", "app.lattice"): partial(_growing, 2.2, 0.0),
    ("magellan:magellan-10g", "mpi.alltoall"): partial(_growing, 3.0, 0.4),
    ("magellan:magellan-1g", "app.planewave"): partial(_growing, 1.6, 0.3),
    # 2.5 on 64 ranks, 4.8 on 256, as printed.
    ("magellan:magellan-1g", "app.lattice"): partial(_growing, 1.8, 0.47),
    ("magellan:magellan-10g-vm", "app.planewave"): partial(_growing, 1.75, 0.5),
    ("magellan:magellan-10g-vm", "app.lattice"): partial(_growing, 6.0, 0.9),
    ("magellan:amazon-cc", "app.planewave"): partial(_growing, 1.1, 0.22),
    ("magellan:amazon-cc", "app.lattice"): partial(_growing, 2.23, 0.0),
    ("infinicloud:hw-virtual-nehalem", "compute.linpack"): partial(_growing, 3.5, 0.0),
    ("infinicloud:nos-hw-native-ipoib", "mpi.pingpong"): partial(_growing, 9.0, 0.0),
}
#: What computation costs more where anything does.
_COMPUTING = 1.12
#: A wire of 10 Gb/s, and cores of which HPL's planted rate on 240 is the printed share: 91.7 % on
#: Pleiades, whose cores are 11.7/11.2 times as fast as Nebula's.
_WIRE_BPS = 1e10
_CORE_FLOPS, _BASELINE_CORE_FLOPS = 1e10 / 240 / 0.917 * 11.2 / 11.7, 1e10 / 240 / 0.917
_STARTED = "2026-01-01T00:00:00+00:00"
#: Sizes that a smaller scale changes, and that change no loss here.
_SIZES = frozenset({"n", "nb", "streams"})
_KERNELS = ("copy", "scale", "add", "triad")
#: The one message size that each of perftest's programs sends unless a study asks otherwise.
_RDMA_BYTES = {"net.ib_write_lat": 2, "net.ib_write_bw": 65536}


def main() -> None:
    """Plant a run and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("study")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--launches", type=int)
    parser.add_argument("--scale", help="one of the study's scales, e.g. small")
    parser.add_argument(
        "--failing", action="append", default=[], help="a probe that fails but on the baseline"
    )
    parser.add_argument(
        "--as-listed", action="store_true", help="plant the trials that a publication lists"
    )
    parser.add_argument(
        "--usual", action="store_true", help="name platforms as the study's roles usually are"
    )
    given = parser.parse_args()
    run = plant(
        given.study,
        given.folder,
        launches=given.launches,
        scale=given.scale,
        failing=given.failing,
        usual=given.usual,
        as_listed=given.as_listed,
    )
    print(run.path)


class _Plain(argparse.RawDescriptionHelpFormatter):
    pass


def plant(
    name: str,
    folder: Path,
    *,
    launches: int | None = None,
    scale: str | None = None,
    failing: list[str] | None = None,
    noise: float = 0.01,
    seed: int = 1,
    power: float = 1.0,
    usual: bool = False,
    probes: Collection[str] = (),
    as_listed: bool = False,
) -> Run:
    """Make the run; a role is a platform of its own name, or with `usual` its usual platform.

    Losses are the printed ones to a power: with 0 nobody loses, with 0.5 all lose less. Given
    `probes`, only these are planted. At a `scale`, cases are those of that scale. `as_listed`:
    a trial that a publication lists has its printed value, without noise.
    """
    study = find_study(name)
    if scale is not None:
        study = study.at_scale(scale)
    if launches is not None:
        study = study.with_launches(launches)
    if probes:
        wanted = [measure for measure in study.measures if measure.probe in probes]
        study = study.model_copy(update={"measures": wanted})
    names = {
        role: (about.platform if usual else None) or role for role, about in study.roles.items()
    }
    study = study.with_roles([f"{role}={name}" for role, name in names.items()], [])
    tables = {name: {"type": "null", "nodes": 1000} for name in names.values()}
    specs = list(platforms_from_toml({"platform": tables}, where="planted").values())
    baseline = study.baseline or specs[0].name
    run = begin.create_run(study, specs, folder, baseline=baseline, seed=seed)
    base = next(role for role, name in names.items() if name == baseline)
    printed = _printed(study, base, names)
    listed = _listed_trials(study, names)
    generator = np.random.default_rng(seed)
    with run.writing():
        for platform in names.values():
            is_baseline = platform == run.header.baseline
            core_flops = _BASELINE_CORE_FLOPS if is_baseline else _CORE_FLOPS
            facts = {"net.speed_bps": _WIRE_BPS, "cpu.peak_flops_per_core": core_flops}
            run.write_facts(platform, facts)
        for trial in plan_of(run):
            lost = trial.platform != run.header.baseline and trial.case.probe in (failing or [])
            own = 0.0 if trial.platform == run.header.baseline else power
            outcome = (
                Failed(Stage.EXIT, "exit code 1")
                if lost
                else Measured(tuple(_samples(run, trial, printed, noise, generator, own)))
            )
            if isinstance(outcome, Measured):
                outcome = _with_lists(outcome, trial, listed, as_listed=as_listed, power=power)
            run.append(Record(trial=trial, outcome=outcome, started=_STARTED, duration_s=1.0))
    return run


@dataclass(frozen=True, slots=True)
class _Role:
    """What is printed of a platform, and what agrees with the publication where nothing is."""

    published: tuple[str, ...]
    losses: tuple[_Loss, ...]

    def agreeing(self, probe: str, here: Mapping[str, Any]) -> float | None:
        """Return a loss that agrees with the publication's words; None where it has none."""
        for name in self.published:
            if about := _AGREEING.get((name, probe)):
                return about(here["ranks"])
            if by_size := _BY_SIZE.get((name, probe)):
                return by_size(here["size_bytes"])
        return None


@dataclass(frozen=True, slots=True)
class _Loss:
    """A printed ratio of a role against another role; None: against the baseline's."""

    ratio: PublishedRatio
    against: str | None = None


def _printed(study: Study, baseline: str, names: Mapping[str, str]) -> dict[str, _Role]:
    """Return the printed ratios of each platform, those against the baseline first."""
    known = publications()
    base = set(study.roles[baseline].published)
    plays = {key: names[role] for role, about in study.roles.items() for key in about.published}
    found: dict[str, _Role] = {}
    for role, about in study.roles.items():
        own: list[_Loss] = []
        for key in about.published:
            publication, _, platform = key.partition(":")
            ratios = [
                ratio
                for ratio in published_ratios(known[publication])
                if ratio.platform == platform and ratio.probe is not None
            ]
            for other in base:
                study_id, _, other_platform = other.partition(":")
                if study_id == publication:
                    ratios += ratios_across(known[publication], platform, other_platform)
            for ratio in ratios:
                other = f"{publication}:{ratio.baseline}"
                if other in base:
                    own.append(_Loss(ratio))
                elif plays.get(other, names[role]) != names[role]:
                    own.append(_Loss(ratio, plays[other]))
            own += map(_Loss, _values(known[publication], platform, base))
        own.sort(key=lambda loss: loss.against is not None)
        found[names[role]] = _Role(tuple(about.published), tuple(own))
    return found


def _values(
    study: PublishedStudy, platform: str, base: Collection[str]
) -> Iterator[PublishedRatio]:
    """Yield ratios of values that are printed of a platform and of the baseline, e.g. by step.

    They count where no ratio is printed.
    """
    for own in (result for result in study.results if result.platform == platform):
        benchmark = study.benchmark(own.benchmark)
        for other in study.results:
            if (
                benchmark
                and own.value
                and other.value
                and own.kind == other.kind == "absolute"
                and f"{study.id}:{other.platform}" in base
                and (own.benchmark, own.metric, own.unit)
                == (other.benchmark, other.metric, other.unit)
                and {*own.at, *other.at} <= {"ranks", "nodes", "test"}
            ):
                ratio = worse(own.value, other.value, better=own.better)
                yield PublishedRatio(
                    publication=study.id, benchmark=own.benchmark, metric=own.metric,
                    platform=platform, baseline=other.platform, span=Span(ratio, ratio), text="",
                    probe=benchmark.probe, probe_metric=benchmark.metrics.get(own.metric),
                )  # fmt: skip


def _samples(
    run: Run,
    trial: Trial,
    printed: Mapping[str, _Role],
    noise: float,
    generator: np.random.Generator,
    power: float,
) -> Iterator[Sample]:
    declared = run.header.probes[trial.case.probe]
    layer = Layer(declared["layer"])
    for point in _points(trial):
        here = _place_of(trial, point)
        loss = partial(_worse, trial.platform, trial.case.probe, layer, here, printed)
        for metric, about in declared["metrics"].items():
            value = _base(trial, layer, about["unit"], point)
            worse = loss(metric) ** power
            part = metric.partition("_")[0]
            if part in ("compute", "communication") and layer in (Layer.NPB, Layer.APP):
                share = _communication(trial)
                value *= share if part == "communication" else 1 - share
            value *= 1 / worse if about["better"] == "higher" else worse
            yield Sample(metric, value * float(np.exp(noise * generator.standard_normal())), point)


def _listed_trials(study: Study, names: Mapping[str, str]) -> dict[tuple[str, str], Trials]:
    """Return the trials that a publication lists in the order of time, by platform and probe."""
    found = {}
    for role, about in study.roles.items():
        for key in about.published:
            publication, _, platform = key.partition(":")
            known = publications()[publication]
            for row in known.trials:
                benchmark = known.benchmark(row.benchmark)
                if row.platform == platform and row.order == "time" and benchmark is not None:
                    found[names[role], benchmark.probe] = row
    return found


def _with_lists(
    outcome: Measured,
    trial: Trial,
    listed: Mapping[tuple[str, str], Trials],
    *,
    as_listed: bool,
    power: float,
) -> Measured:
    """Give a trial the retransmissions that are listed of it, if anything is lost, else none.

    With `as_listed` also the listed rate.
    """
    row = listed.get((trial.platform, trial.case.probe))
    if row is None:
        return outcome
    samples = []
    for sample in outcome.samples:
        place = trial.block % len(row.values)
        if sample.metric == "retransmissions":
            count = row.retransmissions[place] if row.retransmissions and power > 0 else 0
            sample = replace(sample, value=float(count))
        elif sample.metric == "rate" and as_listed:
            factor = UNITS[row.unit][1]
            sample = replace(sample, value=float(row.values[place] * factor))
        samples.append(sample)
    return replace(outcome, samples=tuple(samples))


def _points(trial: Trial) -> list[dict[str, Scalar]]:
    params = parse_point(trial.case.params)
    probe = trial.case.probe
    if probe == "io.sequential":
        step = round(math.log2(int(params.get("block_factor", 2))))
        return [{"block_bytes": 1 << k} for k in range(14, 25, step)]
    if probe in _RDMA_BYTES:
        return [{"size_bytes": _RDMA_BYTES[probe]}]
    if probe == "memory.stream":
        return [{"kernel": kernel} for kernel in _KERNELS]
    if probe.startswith("mpi.") and probe != "mpi.barrier":
        low = max(1, int(params.get("min_bytes", 1)))
        high = int(params.get("max_bytes", 1 << 22))
        first = math.ceil(math.log2(low))
        return [{"size_bytes": 1 << k} for k in range(first, high.bit_length())]
    return [{}]


def _base(trial: Trial, layer: Layer, unit: str, point: Mapping[str, Scalar]) -> float:
    """Return a figure of the baseline that grows with sizes and falls with ranks."""
    ranks = trial.case.ranks
    size = point.get("size_bytes")
    if isinstance(size, int) and unit in ("s", "B/s"):
        time_s = (2e-6 + size / 3e9) * max(1.0, math.log2(ranks))
        return time_s if unit == "s" else size / time_s
    base = _BASES[unit]
    return base * 400 / ranks if unit == "s" and layer in (Layer.NPB, Layer.APP) else base


def _communication(trial: Trial) -> float:
    """Return the share of a program's time that is communication on the baseline."""
    return min(0.6, 0.05 * math.log2(trial.case.ranks + 1))


def _place_of(trial: Trial, point: Mapping[str, Scalar]) -> dict[str, Any]:
    nodes = trial.layout.nodes if trial.layout else 1
    return {
        **parse_point(trial.case.params),
        **point,
        "ranks": trial.case.ranks,
        "nodes": nodes,
        "placement": "intra_node" if nodes == 1 else "inter_node",
    }


def _worse(
    platform: str, probe: str, layer: Layer, here: Mapping[str, Any],
    printed: Mapping[str, _Role], metric: str,
) -> float:  # fmt: skip
    """Return the loss that is printed of a value, the narrowest conditions first.

    What is printed against another platform is multiplied with that platform's own loss.
    """
    if platform not in printed:
        return 1.0
    agreeing = printed[platform].agreeing(probe, here)
    fitting = [
        loss
        for loss in printed[platform].losses
        if loss.ratio.probe_metric == metric
        and (agreeing is None or None not in (loss.ratio.span.low, loss.ratio.span.high))
        and loss.ratio.measured_by(probe)
        and all(
            _holds(value, here.get(name)) for name, value in loss.ratio.at if name not in _SIZES
        )
    ]
    for loss in sorted(fitting, key=lambda loss: (loss.against is not None, -len(loss.ratio.at))):
        own = _within(loss.ratio.span, probe)
        if loss.against is None:
            return own
        return own * _worse(loss.against, probe, layer, here, printed, metric)
    if agreeing is not None:
        return agreeing
    if metric.startswith("compute") and layer in (Layer.NPB, Layer.APP):
        return _COMPUTING  # what a program computes loses as DGEMM does
    within, between = _USUAL[layer]
    return within if here["nodes"] == 1 else between


def _within(span: Span, probe: str) -> float:
    """Return the middle of a printed range on a log scale; programs of small messages lose more."""
    ends = [math.log(float(end)) for end in (span.low, span.high) if end]
    share = 0.7 if probe in ("npb.cg", "npb.lu") else 0.5
    return math.exp(min(ends) + share * (max(ends) - min(ends)))


def _holds(condition: Condition, value: object) -> bool:
    if value is None or isinstance(value, str):
        return value is None or condition == value
    if isinstance(condition, Spread):
        return condition.holds(float(value))  # type: ignore[arg-type]
    if isinstance(condition, list):
        return value in condition
    return condition == value


if __name__ == "__main__":
    main()
