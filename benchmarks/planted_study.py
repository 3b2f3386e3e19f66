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
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bareline.platforms.config import platforms_from_toml
from bareline.published.catalogue import publications
from bareline.published.model import PublishedStudy
from bareline.published.quantities import Condition, Spread
from bareline.published.ratios import PublishedRatio, Span, published_ratios, worse
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
_BASES = {"s": 1.0, "B/s": 1e9, "bit/s": 9e9, "flop/s": 1e10, "op/s": 1e9, "1": 0.8, "%": 50.0}
#: What computation costs more where anything does.
_COMPUTING = 1.12
_STARTED = "2026-01-01T00:00:00+00:00"
_KERNELS = ("copy", "scale", "add", "triad")


def main() -> None:
    """Plant a run and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("study")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--launches", type=int)
    parser.add_argument(
        "--failing", action="append", default=[], help="a probe that fails but on the baseline"
    )
    parser.add_argument(
        "--usual", action="store_true", help="name platforms as the study's roles usually are"
    )
    given = parser.parse_args()
    run = plant(
        given.study,
        given.folder,
        launches=given.launches,
        failing=given.failing,
        usual=given.usual,
    )
    print(run.path)


class _Plain(argparse.RawDescriptionHelpFormatter):
    pass


def plant(
    name: str,
    folder: Path,
    *,
    launches: int | None = None,
    failing: list[str] | None = None,
    noise: float = 0.01,
    seed: int = 1,
    power: float = 1.0,
    usual: bool = False,
    probes: Collection[str] = (),
) -> Run:
    """Make the run; a role is a platform of its own name, or with `usual` its usual platform.

    Losses are the printed ones to a power: with 0 nobody loses, with 0.5 all lose less. Given
    `probes`, only these are planted.
    """
    study = find_study(name)
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
    run = begin.create_run(study, specs, folder, baseline=baseline)
    base = next(role for role, name in names.items() if name == baseline)
    printed = {names[role]: ratios for role, ratios in _printed(study, base).items()}
    generator = np.random.default_rng(seed)
    with run.writing():
        for trial in plan_of(run):
            lost = trial.platform != run.header.baseline and trial.case.probe in (failing or [])
            own = 0.0 if trial.platform == run.header.baseline else power
            outcome = (
                Failed(Stage.EXIT, "exit code 1")
                if lost
                else Measured(tuple(_samples(run, trial, printed, noise, generator, own)))
            )
            run.append(Record(trial=trial, outcome=outcome, started=_STARTED, duration_s=1.0))
    return run


def _printed(study: Study, baseline: str) -> Mapping[str, list[PublishedRatio]]:
    """Give the printed ratios of each role against the baseline's role."""
    found: dict[str, list[PublishedRatio]] = {}
    known = publications()
    base = set(study.roles[baseline].published)
    for role, keys in study.roles.items():
        for key in keys.published:
            publication, _, platform = key.partition(":")
            found.setdefault(role, []).extend(
                ratio
                for ratio in published_ratios(known[publication])
                if ratio.platform == platform
                and f"{publication}:{ratio.baseline}" in base
                and ratio.probe is not None
            )
            found.setdefault(role, []).extend(_values(known[publication], platform, base))
    return found


def _values(
    study: PublishedStudy, platform: str, base: Collection[str]
) -> Iterator[PublishedRatio]:
    """Give ratios of values that are printed of a platform and of the baseline, e.g. by step.

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
    printed: Mapping[str, list[PublishedRatio]],
    noise: float,
    generator: np.random.Generator,
    power: float,
) -> Iterator[Sample]:
    declared = run.header.probes[trial.case.probe]
    layer = Layer(declared["layer"])
    theirs = printed.get(trial.platform, [])
    for point in _points(trial):
        for metric, about in declared["metrics"].items():
            value = _base(trial, layer, about["unit"], point)
            worse = _worse(trial, layer, metric, point, theirs) ** power
            share = _communication(trial)
            if metric.startswith(("compute", "communication")) and layer in (Layer.NPB, Layer.APP):
                # What a program computes loses as DGEMM does; the rest of its loss is messages.
                whole = _worse(trial, layer, "time", point, theirs) ** power
                computed = (1 - share) * min(whole, _COMPUTING if whole > 1 else 1.0)
                value *= computed if metric.startswith("compute") else whole - computed
                worse = 1.0
            value *= 1 / worse if about["better"] == "higher" else worse
            yield Sample(metric, value * float(np.exp(noise * generator.standard_normal())), point)


def _points(trial: Trial) -> list[dict[str, Scalar]]:
    params = parse_point(trial.case.params)
    probe = trial.case.probe
    if probe == "io.sequential":
        return [{"block_bytes": 1 << k} for k in range(14, 25, int(params.get("block_factor", 2)))]
    if probe == "memory.stream":
        return [{"kernel": kernel} for kernel in _KERNELS]
    if probe.startswith("mpi.") and probe != "mpi.barrier":
        low = max(1, int(params.get("min_bytes", 1)))
        high = int(params.get("max_bytes", 1 << 22))
        first = math.ceil(math.log2(low))
        return [{"size_bytes": 1 << k} for k in range(first, high.bit_length())]
    return [{}]


def _base(trial: Trial, layer: Layer, unit: str, point: Mapping[str, Scalar]) -> float:
    """Give a figure of the baseline that grows with sizes and falls with ranks, as real ones do."""
    ranks = trial.case.ranks
    size = point.get("size_bytes")
    if isinstance(size, int) and unit in ("s", "B/s"):
        time_s = (2e-6 + size / 3e9) * max(1.0, math.log2(ranks))
        return time_s if unit == "s" else size / time_s
    base = _BASES[unit]
    return base * 400 / ranks if unit == "s" and layer in (Layer.NPB, Layer.APP) else base


def _communication(trial: Trial) -> float:
    """Give the share of a program's time that is communication on the baseline."""
    return min(0.6, 0.05 * math.log2(trial.case.ranks + 1))


def _worse(
    trial: Trial, layer: Layer, metric: str, point: Mapping[str, Scalar],
    printed: list[PublishedRatio],
) -> float:  # fmt: skip
    """Give the loss that is printed of a value, the narrowest conditions first."""
    here: dict[str, Any] = {
        **parse_point(trial.case.params), **point, "ranks": trial.case.ranks,
        "nodes": trial.layout.nodes if trial.layout else 1,
    }  # fmt: skip
    here["placement"] = "intra_node" if here["nodes"] == 1 else "inter_node"
    fitting = [
        ratio
        for ratio in printed
        if ratio.probe_metric == metric
        and ratio.probe in (trial.case.probe, f"{layer.value}.*")
        and all(_holds(value, here.get(name)) for name, value in ratio.at)
    ]
    for ratio in sorted(fitting, key=lambda ratio: -len(ratio.at)):
        ends = [float(end) for end in (ratio.span.low, ratio.span.high) if end]
        return math.exp(sum(map(math.log, ends)) / len(ends))
    within, between = _USUAL[layer]
    return within if here["nodes"] == 1 else between


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
