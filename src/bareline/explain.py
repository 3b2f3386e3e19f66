"""The verdict in words: for each layer, how much worse, how sure, and where it comes from.

Message-size curves are condensed into classes (small, medium, large). Within a trial a class is
the geometric mean of its points, so a class has one value per trial and the comparison stays
paired by block; the family-wise correction runs over the classes of one probe on one platform.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from bareline import stats
from bareline.causes import causes
from bareline.compare import Cube, FloatCube, Records, choose_baseline, paired_in_blocks
from bareline.model import Layer, Scalar, parse_point
from bareline.units import listing, significant

#: Upper ends of the size classes in bytes: most MPI libraries change from their eager to their
#: rendezvous protocol somewhere between the first two.
SMALL_BYTES = 8 << 10
LARGE_BYTES = 256 << 10

#: Classes of sizes by the parameter that holds them. The caches of a core hold a working set below
#: 1 MiB on most processors, no cache one from 64 MiB.
_SIZE_CLASSES: Mapping[str, tuple[tuple[str, float, float], ...]] = {
    "size_bytes": (
        (" below 8 KiB", 0, SMALL_BYTES),
        (" from 8 to 256 KiB", SMALL_BYTES, LARGE_BYTES),
        (" from 256 KiB", LARGE_BYTES, float("inf")),
    ),
    "working_set_bytes": (
        (" below 1 MiB", 0, 1 << 20),
        (" from 1 to 64 MiB", 1 << 20, 64 << 20),
        (" from 64 MiB", 64 << 20, float("inf")),
    ),
}

_LAYER_NAMES = {
    Layer.COMPUTE: "Compute",
    Layer.MEMORY: "Memory",
    Layer.NETWORK: "Network",
    Layer.MPI: "MPI",
    Layer.IO: "Storage",
    Layer.NPB: "NAS benchmarks",
    Layer.APP: "Applications",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """How one probe, or one class of its points, compares on one platform.

    Parameters
    ----------
    layer, probe, platform
        What was compared.
    title
        The probe in words.
    subject
        The probe and class in words.
    ratio, lo, hi
        Times worse than the baseline with its 95 % interval; None where there is none.
    n
        Trials on the side that has fewer.
    verdict
        As in a comparison.
    rate
        The metric is a rate: worse is "lower" instead of "slower".
    """

    layer: Layer
    probe: str
    platform: str
    title: str
    subject: str
    ratio: float | None
    lo: float | None
    hi: float | None
    n: int
    verdict: str
    rate: bool

    @property
    def anchor(self) -> str:
        """Where the evidence stands on the page."""
        return f"layer-{self.layer.value}"


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of the verdict, with the finding that weighs most in it.

    `platform`, `ratio`, `lo`, `hi`, `n` are those of the worst finding, or of the only one.
    """

    layer: str
    platform: str
    text: str
    ratio: float | None
    lo: float | None
    hi: float | None
    n: int
    verdict: str
    anchor: str


def findings(
    records: Records,
    baseline: str | None = None,
    *,
    margin: float | None = None,
    platforms: Sequence[str] | None = None,
) -> list[Finding]:
    """Condense a comparison into one finding per probe, size class and platform.

    Parameters
    ----------
    baseline, margin
        The run's own without them.
    platforms
        What to compare with the baseline; all others without it.

    Raises
    ------
    AnalysisError
        The baseline is none of the platforms, or there is nothing else to compare it with.
    """
    cube = records.cube
    baseline, others = choose_baseline(records, baseline)
    platforms = others if platforms is None else platforms
    margin = records.margin if margin is None else margin
    points = cube.points.filter(pl.col("headline") & (pl.col("better") != "none"))
    found: list[Finding] = []
    for (probe,), group in points.group_by("probe", maintain_order=True):
        for platform in platforms:
            found += _of_probe(cube, _unprofiled(group), str(probe), platform, baseline, margin)
    found += _failures(records, platforms, found)
    ladder = list(Layer)
    return sorted(found, key=lambda finding: (ladder.index(finding.layer), finding.probe))


def _unprofiled(points: pl.DataFrame) -> pl.DataFrame:
    """Leave out what was measured under the profiler, unless all of a probe was."""
    profiled = [parse_point(params).get("profile") is True for params in points["params"]]
    return points if all(profiled) else points.filter(~pl.Series(profiled))


def _of_probe(
    cube: Cube, points: pl.DataFrame, probe: str, platform: str, baseline: str, margin: float
) -> Iterable[Finding]:
    first = points.row(0, named=True)
    rate = first["better"] == "higher"
    classes = list(_classes(points))
    pairs = []
    for _, rows in classes:
        own, base = cube.of(platform)[rows], cube.of(baseline)[rows]
        pairs.append((_condense(own, base), _condense(base, own)))
    own = np.stack([pair[0] for pair in pairs])
    base = np.stack([pair[1] for pair in pairs])
    worse, than = (base, own) if rate else (own, base)
    if paired_in_blocks(cube.of(platform), cube.of(baseline)):
        result = stats.paired_ratio(worse, than)
        adjusted = stats.adjust_paired(result.p, worse, than)
    else:
        result = stats.unpaired_ratio(worse, than)
        adjusted = stats.holm(result.p)
    n = np.minimum(result.n, result.n_baseline)
    verdicts = stats.judge(result.ratio, result.lo, result.hi, n, adjusted, margin=margin)
    for number, (name, _) in enumerate(classes):
        if n[number] == 0:
            continue
        yield Finding(
            layer=Layer(first["layer"]),
            probe=probe,
            platform=platform,
            title=first["title"],
            subject=f"{first['title']}{name}",
            ratio=_number(result.ratio[number]),
            lo=_number(result.lo[number]),
            hi=_number(result.hi[number]),
            n=int(n[number]),
            verdict=str(verdicts[number]),
            rate=rate,
        )


def _condense(values: FloatCube, other: FloatCube) -> FloatCube:
    """Give the geometric mean over the points that both platforms have, shape (blocks,)."""
    both = (~np.isnan(values)).any(axis=1) & (~np.isnan(other)).any(axis=1)
    chosen = values[both]
    if not chosen.size or (chosen <= 0).any():
        return np.full(values.shape[1], np.nan)
    # A block counts only where it has every point, so that all blocks mean the same thing.
    return np.asarray(np.exp(np.log(chosen).mean(axis=0)))


def _classes(points: pl.DataFrame) -> Iterable[tuple[str, list[int]]]:
    """Split a probe's points into classes of sizes, or one class without sizes."""
    rows = points.get_column("point_row").to_list()
    coordinates = [parse_point(point) for point in points.get_column("point")]
    parameter = next(
        (name for name in _SIZE_CLASSES if all(name in point for point in coordinates)), None
    )
    if parameter is None:
        yield "", rows
        return
    bounds = _SIZE_CLASSES[parameter]
    sizes = [point[parameter] for point in coordinates]
    for name, low, high in bounds:
        chosen = [
            row
            for row, size in zip(rows, sizes, strict=True)
            if isinstance(size, int) and low <= size < high
        ]
        if chosen:
            yield name, chosen


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _failures(
    records: Records, platforms: Sequence[str], found: Sequence[Finding]
) -> Iterable[Finding]:
    """Name probes that gave nothing to compare on a platform: they failed, or stand alone."""
    told = {(finding.probe, finding.platform) for finding in found}
    about = {
        row["probe"]: row
        for row in records.declarations.filter(pl.col("headline")).iter_rows(named=True)
    }
    cells = (
        records.trials.group_by("probe", "platform", maintain_order=True)
        .agg((pl.col("status") == "measured").any())
        .iter_rows()
    )
    for probe, platform, measured in cells:
        if platform in platforms and (probe, platform) not in told:
            yield Finding(
                layer=Layer(about[probe]["layer"]),
                probe=probe,
                platform=platform,
                title=about[probe]["title"],
                subject=about[probe]["title"],
                ratio=None,
                lo=None,
                hi=None,
                n=0,
                verdict="missing" if measured else "failed",
                rate=False,
            )


def statements(
    records: Records, baseline: str | None = None, *, margin: float | None = None
) -> list[Statement]:
    """Put the verdict into words: one sentence per layer, the hardest hit first in each."""
    baseline, _ = choose_baseline(records, baseline)
    margin = records.margin if margin is None else margin
    told = []
    everything = findings(records, baseline, margin=margin)
    for layer in Layer:
        group = [finding for finding in everything if finding.layer is layer]
        if group:
            said = _sentence(layer, group, baseline, margin)
            reasons = _reasons(layer, group, records.facts, baseline)
            told.append(replace(said, text=" ".join([said.text, *reasons])))
    return told


def _reasons(
    layer: Layer,
    group: Sequence[Finding],
    facts: Mapping[str, Mapping[str, Scalar]],
    baseline: str,
) -> list[str]:
    """Name causes of lost rates; what holds for several platforms is said once."""
    lost = [part.platform for part in group if part.verdict == "slower" and part.rate]
    name = "\0"  # stands for the platforms until all that share a cause are known
    shared: dict[str, list[str]] = {}
    for platform in dict.fromkeys(lost):
        known = (facts.get(platform, {}), baseline, facts.get(baseline, {}))
        for reason in causes(layer, name, *known):
            shared.setdefault(reason, []).append(platform)
    return [reason.replace(name, listing(platforms)) for reason, platforms in shared.items()]


def _sentence(layer: Layer, group: Sequence[Finding], baseline: str, margin: float) -> Statement:
    worst = max(group, key=weight)
    if all(finding.verdict == "equivalent" for finding in group):
        platforms = list(dict.fromkeys(finding.platform for finding in group))
        text = (
            f"{_LAYER_NAMES[layer]}: {listing(platforms)} "
            f"{'equals' if len(platforms) == 1 else 'equal'} {baseline} within {percent(margin)} "
            f"({listing(list(dict.fromkeys(part.subject for part in group)))}; "
            f"farthest: {worst.platform}, {_interval(worst)})."
        )
    else:
        by_subject: dict[str, list[Finding]] = {}
        for finding in group:
            by_subject.setdefault(finding.subject, []).append(finding)
        ordered = sorted(by_subject.values(), key=lambda parts: -max(map(weight, parts)))
        clauses = [_clause(parts, margin) for parts in ordered[:3]]
        text = f"{_LAYER_NAMES[layer]}: {'; '.join(clauses)}, compared with {baseline}."
    return statement_of(worst, text)


def statement_of(worst: Finding, text: str) -> Statement:
    """Give a sentence with the finding that weighs most in it."""
    return Statement(
        layer=worst.layer.value,
        platform=worst.platform,
        text=text,
        ratio=worst.ratio,
        lo=worst.lo,
        hi=worst.hi,
        n=worst.n,
        verdict=worst.verdict,
        anchor=worst.anchor,
    )


def _clause(parts: Sequence[Finding], margin: float) -> str:
    """Say one subject on all platforms; what is the same on several is said once."""
    said: dict[str, list[str]] = {}
    for part in parts:
        said.setdefault(phrase(part, margin), []).append(part.platform)
    told = [f"{words} on {listing(platforms)}" for words, platforms in said.items()]
    return f"{parts[0].subject} is {listing(told)}"


def weight(finding: Finding) -> float:
    """Order findings by how much they hurt; a failure hurts most, a lack of figures does not."""
    if finding.ratio is None:
        return float("inf") if finding.verdict == "failed" else 0.0
    return abs(float(np.log(finding.ratio)))


def _interval(finding: Finding) -> str:
    if finding.ratio is None:
        return "-"
    if finding.lo is None or finding.hi is None:
        return f"{significant(finding.ratio)} times, no interval"
    return f"{significant(finding.ratio)} [{significant(finding.lo)}, {significant(finding.hi)}]"


def phrase(finding: Finding, margin: float, *, baseline: str = "the baseline") -> str:
    """Say a ratio as people do: "2.3 times slower", "0.8 % faster, within noise"."""
    if finding.verdict == "missing":
        return f"not comparable ({baseline} has no figure for it)"
    if finding.ratio is None or finding.verdict == "failed":
        return "not measured: every trial failed"
    interval = ""
    if finding.lo is not None and finding.hi is not None:
        interval = f" [{significant(finding.lo)}, {significant(finding.hi)}]"
    if finding.verdict == "equivalent":
        return f"equal within {percent(margin)}{interval}"
    ratio = finding.ratio
    down, up = ("lower", "higher") if finding.rate else ("slower", "faster")
    times = ratio if ratio >= 1 else 1 / ratio
    word = down if ratio >= 1 else up
    amount = f"{significant(times)} times {word}"
    if times < 1.1:
        amount = f"{(times - 1) * 100:.1f} % {word}"
    if finding.n < stats.MIN_LAUNCHES:
        return f"{amount} (n = {finding.n}: no interval, no verdict)"
    if finding.verdict == "inconclusive":
        within_noise = (
            finding.lo is not None and finding.hi is not None and finding.lo <= 1 <= finding.hi
        )
        if within_noise and times < 1.1:
            return f"{amount}, within noise{interval}"
        return f"undecided (n = {finding.n}, interval{interval or ' none'})"
    if ratio < 1 and finding.lo is not None and finding.hi is not None:
        # The interval says the same as the words: how many times better.
        interval = f" [{significant(1 / finding.hi)}, {significant(1 / finding.lo)}]"
    return amount + interval


def percent(margin: float) -> str:
    """Write a margin as a percentage: ``2 %``."""
    return f"{margin * 100:g} %"
