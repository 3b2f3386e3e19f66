"""The grade on random pages: whether all voices say the same, how often it is wrong, what it finds.

    python benchmarks/grades.py pages [--pages 1000] [--null] [--offset 0.02]
    python benchmarks/grades.py power RUN [RUN ...] [--pages 300]

`pages` plants runs of two to four platforms with losses, gains, crashes, launches lost to limits,
noise of unequal widths and of two modes, boots and controls, and compares them as any run. With
``--null`` no platform differs; with ``--offset`` each case on each platform is off by a normal
amount that no launch shows, and every page has a control, which is off as well. `power`
takes the noise from real runs: blocks are drawn with all their points, centred, and one program
loses a known amount, beside rows that differ as they did there. *Before* is a family of the
headlines without weights and without "likely".
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bareline import stats
from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.suitability import Certainty, Suitability
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.session.variants import with_control
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Failed, Measured, Record, Sample, Stage, Trial
from bareline.vocabulary.verdicts import Grade, Verdict

SEED = 20_261_124
PROBES = {
    "compute.dgemm": ("rate", True),
    "memory.stream": ("bandwidth", True),
    "net.nuttcp": ("rate", True),
    "mpi.allreduce": ("latency", False),
    "mpi.pingpong": ("latency", False),
    "io.sequential": ("write_rate", True),
    "npb.cg": ("time", False),
    "npb.ep": ("time", False),
    "app.ocean": ("time", False),
}
FEWEST = 6
SIZES = (8, 1024, 65536, 1 << 20)
KINDS = ("equal", "slower", "faster", "crashes", "lost")
SHARES = (0.55, 0.25, 0.08, 0.06, 0.06)
_EQUAL = (1.0, 0.0, 0.0, 0.0, 0.0)


# Random pages ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """What a page is drawn from, by probe and platform."""

    platforms: tuple[str, ...]
    probes: tuple[str, ...]
    launches: int
    blocks_per_boot: int
    control: bool
    kinds: dict[tuple[str, str], str]
    factors: dict[tuple[str, str], float]
    widths: dict[str, float]
    modes: bool
    boot_spread: float
    offset: float

    @property
    def few_boots(self) -> bool:
        """Whether platforms boot fewer than six times."""
        return bool(self.blocks_per_boot) and -(-self.launches // self.blocks_per_boot) < 6

    def boot_of(self, trial: Trial) -> int | None:
        """Return the boot of a trial; the baseline boots as the others do."""
        return 1 + trial.block // self.blocks_per_boot if self.blocks_per_boot else None


def drawn(generator: np.random.Generator, *, null: bool = False, offset: float = 0.0) -> Plan:
    """Draw what a page is like; `offset` is the spread of what no launch shows, on logarithms."""
    platforms = ("a", "b", "c", "d")[: int(generator.integers(2, 5))]
    count = int(generator.integers(3, len(PROBES) + 1))
    probes = tuple(map(str, generator.choice(list(PROBES), count, replace=False)))
    launches = int(generator.choice([6, 8, 10, 12]))
    pairs = [(probe, name) for probe in probes for name in platforms[1:]]
    return Plan(
        platforms,
        probes,
        launches,
        int(generator.choice([0, 1, launches], p=[0.6, 0.2, 0.2])),
        bool(generator.random() < 0.2) or offset > 0,
        {pair: str(generator.choice(KINDS, p=_EQUAL if null else SHARES)) for pair in pairs},
        {pair: float(np.exp(generator.uniform(0.08, 1.5))) for pair in pairs},
        {name: float(np.exp(generator.uniform(-5.5, -2.5))) for name in (*platforms, "a-again")},
        bool(generator.random() < 0.3),
        float(generator.choice([0.0, 0.03])),
        offset,
    )


def planted(plan: Plan, folder: Path, generator: np.random.Generator) -> Run:
    """Write a run."""
    study = study_from_toml(
        {
            "study": {
                "name": "s", "launches": plan.launches, "min_launches": plan.launches,
                "precision": 0, "layouts": "any", "control": plan.control,
            },
            "measure": [{"probe": name, "ranks": 2} for name in plan.probes],
        },
        where="t",
    )  # fmt: skip
    tables = {name: {"type": "null"} for name in plan.platforms}
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    asked = with_control(study, specs, "a", None)
    order = int(generator.integers(1 << 30))  # of the trials: without it no page is drawn twice
    run = begin.create_run(
        asked.study, asked.platforms, folder, baseline="a", control=asked.name, seed=order
    )
    boots = plan.boot_spread * generator.standard_normal((8, len(PROBES), plan.launches + 2))
    offsets = plan.offset * generator.standard_normal((8, len(PROBES)))
    names = list(plan.widths)
    with run.writing():
        for trial in plan_of(run):
            at = names.index(trial.platform) if trial.platform in names else len(names)
            probe = list(PROBES).index(trial.case.probe)
            brought = offsets[at, probe]
            boot = plan.boot_of(trial)
            if boot is not None:
                brought += boots[at, probe, boot]
            outcome = _outcome(plan, trial, brought, generator)
            run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=5.0, boot=boot))
    return run


def _outcome(
    plan: Plan, trial: Trial, brought: float, generator: np.random.Generator
) -> Measured | Failed:
    probe, name = trial.case.probe, trial.platform
    kind = plan.kinds.get((probe, name), "equal")
    if kind == "crashes" and generator.random() < 0.6:
        return Failed(Stage.EXIT, "exit code 1")
    if kind == "lost" and generator.random() < 0.7:
        return Failed(Stage.TIMEOUT, "no end after 300 s")
    worse = {"slower": 1.0, "faster": -1.0}.get(kind, 0.0)
    factor = np.log(plan.factors.get((probe, name), 1.0)) * worse
    metric, rate = PROBES[probe]
    width = plan.widths.get(name, 0.02)
    launch = generator.standard_normal()
    if plan.modes:  # a tenth of a launch's spread around one of two speeds, with equal medians
        launch = 0.1 * launch + 2.0 * (generator.random() < 0.5) - 1.0
    samples = []
    for size in SIZES if probe.startswith("mpi.") else (0,):
        own = width * (0.7 * launch + 0.7 * generator.standard_normal())
        value = 1e-3 * float(np.exp(factor + brought + own))
        point = {"size_bytes": size} if size else {}
        samples.append(Sample(metric, 1 / value if rate else value, point))
    return Measured(tuple(samples))


# What is said of them -------------------------------------------------------------------------


def disagreements(comparison: Comparison) -> Iterator[str]:
    """Name what one voice grades otherwise than another."""
    cells = {(c.platform, c.place): c for c in comparison.cells if c.headline}
    told = " ".join(sentence.text for sentence in comparison.statements)
    rows = {(r["platform"], r["subject"]): r for r in comparison.rows() if r["kind"] == "finding"}
    for finding in comparison.findings:
        for point in finding.points:
            if cells[point.platform, point.place].grade is not point.grade:
                yield f"row and finding: {finding.subject}"
        row = rows[finding.platform, finding.subject]
        if row["grade"] is not finding.grade or [p["grade"] for p in row["points"]] != [
            point.grade for point in finding.points
        ]:
            yield f"JSON: {finding.subject}"
        if finding.grade.is_claim and finding.subject not in told:
            yield f"sentence: {finding.subject}"
    for probe, platform in {(f.probe, f.platform) for f in comparison.findings}:
        own = [f for f in comparison.findings if (f.probe, f.platform) == (probe, platform)]
        yield from _of_conditions(comparison, own, f"{platform}:{probe}")
    yield from _of_squares(comparison)
    yield from _of_suitability(comparison, cells)


def _worse(finding: Finding, *grades: Grade) -> bool:
    """Return whether any of it is worse with one of some grades."""
    if finding.by_mean and finding.verdict is Verdict.SLOWER and finding.grade in grades:
        return True
    return any(point.grade in grades for point in finding.of(Verdict.SLOWER))


def _of_conditions(comparison: Comparison, own: Sequence[Finding], selector: str) -> Iterator[str]:
    for text, grades in (
        ("is slower", (Grade.CERTAIN,)),
        ("is likely slower", (Grade.CERTAIN, Grade.LIKELY)),
    ):
        met = check(parse_condition(f"{selector} {text}"), comparison).violations
        said = any(_worse(finding, *grades) for finding in own)
        if said is not any("cannot be judged" not in line for line in met):
            yield f"condition: {selector} {text}"


def _of_squares(comparison: Comparison) -> Iterator[str]:
    for (layer, platform), square in comparison.glance.squares.items():
        own = [f for f in comparison.findings if (f.layer, f.platform) == (layer, platform)]
        certain = any(_worse(f, Grade.CERTAIN) for f in own)
        likely = any(_worse(f, Grade.LIKELY) for f in own)
        if (square.mark is Verdict.SLOWER) is not (certain or likely):
            yield f"matrix: {layer} on {platform}"
        expected = Grade.CERTAIN if certain else Grade.LIKELY
        if (certain or likely) and square.grade is not expected:
            yield f"grade of the matrix: {layer} on {platform}"


def _of_suitability(comparison: Comparison, cells: dict[tuple[str, object], Row]) -> Iterator[str]:
    losses = {(cell.platform, cell.place.probe): cell for cell in cells.values()}
    for row in comparison.suitability:
        sure = row.certainty is Certainty.SURE
        for ground in row.grounds:
            if sure and ground.grade in (Grade.LIKELY, Grade.OPEN):
                yield f"suitability is sure of what is not: {ground.subject}"
            if ground.grade is Grade.OPEN and ground.lo is not None and ground.lo > 1:
                yield f"suitability knows a loss: {ground.subject}"
            lost = losses.get((row.platform, ground.probe))
            if row.answer is Suitability.SUITED and sure and lost is not None and lost.lost:
                some, _ = lost.lost.ended_badly(worse=True)
                if some:
                    yield f"suitability is sure of what crashed: {ground.subject}"


def wrong(plan: Plan, comparison: Comparison) -> Counter[str]:
    """Count what is claimed, and what of it is not so."""
    found: Counter[str] = Counter()
    for finding in comparison.findings:
        for point in finding.points:
            if point.grade is None or not point.grade.is_claim:
                continue
            kind = plan.kinds[point.place.probe, point.platform]
            worse = point.verdict is Verdict.SLOWER
            true = {"equal": False, "faster": not worse}.get(kind, worse)
            found[point.grade.value] += 1
            if plan.launches == FEWEST and not plan.few_boots:
                found[f"{point.grade.value} at six"] += 1
            if plan.few_boots:
                found["few " + point.grade.value] += 1
            elif not true:
                found["false " + point.grade.value] += 1
        if finding.by_mean and finding.grade is Grade.CERTAIN:
            kinds = {plan.kinds[finding.probe, finding.platform]}
            found["false certain"] += kinds == {"equal"}
    return found


def pages(count: int, first: int = 0, *, null: bool = False, offset: float = 0.0) -> Counter[str]:
    """Plant pages, hold their voices against each other, and count what is wrong."""
    total: Counter[str] = Counter()
    for number in range(first, first + count):
        generator = np.random.default_rng([SEED, number])
        plan = drawn(generator, null=null, offset=offset)
        with tempfile.TemporaryDirectory() as scratch:
            run = planted(plan, Path(scratch) / "run", generator)
            comparison = Comparison(read_runs([run]))
            unlike = list(disagreements(comparison))
            found = wrong(plan, comparison)
        if unlike:
            print(f"page {number}: {'; '.join(unlike[:4])}", flush=True)
        likely = found["likely"] - found["few likely"]
        total += found
        total["pages"] += 1
        total["pages that disagree"] += bool(unlike)
        total["pages with boots enough"] += not plan.few_boots
        total["pages with a false certain"] += bool(found["false certain"])
        total["pages with a likely"] += bool(likely)
        total["pages whose control differs"] += any(c.differ for c in comparison.controls)
        if likely:
            total["false likely per mille"] += round(1000 * found["false likely"] / likely)
    return total


def told(total: Counter[str]) -> str:
    """Describe what was counted."""
    honest = max(1, total["pages with boots enough"])
    likely = max(1, total["likely"] - total["few likely"])
    return (
        f"{total['pages']} pages: {total['pages that disagree']} with voices that disagree; "
        f"{total['certain']} certain claims, false on {total['pages with a false certain']} of "
        f"{honest} pages ({total['pages with a false certain'] / honest:.1%}); {likely} likely "
        f"claims, {total['false likely']} false ({total['false likely'] / likely:.1%}); with few "
        f"boots {total['few certain']} certain, {total['few likely']} likely; with {FEWEST} "
        f"launches {total['certain at six']} certain, {total['likely at six']} likely; the control "
        f"differs on {total['pages whose control differs']} pages"
    )


# Power with the noise of real runs ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Noise:
    """Differences of real runs: of each platform and block all points, centred; and their shifts.

    `shifts` are the means that were taken out, of one platform that loses and of one that does
    not; `weights` are those of the family, `groups` the points of each finding.
    """

    blocks: np.ndarray
    shifts: np.ndarray
    weights: np.ndarray
    headline: np.ndarray
    groups: list[np.ndarray]
    asked: int


def noise_of(paths: Sequence[Path]) -> Noise:
    """Read the noise of runs that measured the same."""
    blocks, shifts = [], []
    for path in paths:
        comparison = Comparison(read_runs([Run.open(path)]))
        judged = comparison.judged
        rows = comparison.points.filter(platform=comparison.others[0])
        rows = rows.filter(rows["ratio"].is_not_null() & (rows["n_used"] >= 6)).sort(
            "probe", "params", "metric", "point"
        )
        if not blocks:
            keys = rows.select("probe", "params", "ranks", "nodes", "metric", "point")
        rows = keys.join(rows, on=keys.columns, how="left", maintain_order="left")
        at = rows["point_row"].to_numpy()
        for pair in judged._pairs[: len(comparison.others)]:
            own = pair.differences[at]
            own = own[:, :FEWEST]  # of runs with looks not all cases have more
            mean = np.nanmean(own, axis=-1, keepdims=True)
            # Without the factor noise is too small by what centring took: 9 % from six blocks.
            count = np.count_nonzero(~np.isnan(own), axis=-1, keepdims=True)
            given_back = np.sqrt(count / (count - 1))
            blocks.append(np.nan_to_num(own - mean) * given_back)
            shifts.append(mean[:, 0])
    headline = rows["headline"].fill_null(False).to_numpy()
    weights = judged._weights[0][at]
    own = [
        np.flatnonzero(np.isin(at, [point.point_row for point in finding.points]))
        for finding in judged.findings
        if finding.platform == comparison.others[0]
    ]
    (asked,) = np.flatnonzero((rows["layer"] == "app").to_numpy() & headline)
    return Noise(
        np.stack(blocks), np.stack(shifts), weights, headline,
        [one for one in own if one.size > 1], int(asked),
    )  # fmt: skip


def drawn_page(
    noise: Noise, launches: int, loss: float, generator: np.random.Generator, *, others: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the differences of two platforms and say which rows differ."""
    rows, true = [], []
    for number in range(2):
        chosen = generator.integers(0, noise.blocks.shape[0], launches)
        column = generator.integers(0, noise.blocks.shape[2], launches)
        signs = generator.choice([-1.0, 1.0], launches)
        own = np.stack(
            [noise.blocks[k, :, j] * s for k, j, s in zip(chosen, column, signs, strict=True)],
            axis=-1,
        )
        shift = np.zeros(own.shape[0])
        if others and number == 1:
            shift = np.array(
                noise.shifts[generator.integers(0, noise.shifts.shape[0] // 2) * 2 + 1]
            )
        shift[noise.asked] = np.log(loss) if number == 1 else 0.0
        rows.append(own + shift[:, None])
        true.append(np.abs(shift) > 0)
    return np.concatenate(rows), np.concatenate(true)


def _family(noise: Noise, rows: np.ndarray, *, weighed: bool) -> np.ndarray:
    """Return what is certain of the rows, before or after."""
    half = rows.shape[0] // 2
    keep = np.ones(half, bool) if weighed else noise.headline
    weight = noise.weights if weighed else np.ones(half)
    parts, weights = [], []
    for own in (rows[:half], rows[half:]):
        means = [own[group].mean(axis=0) for group in noise.groups]
        parts += [own[keep], np.array(means)]
        sizes = [weight[group].max() * group.size ** (1 / 6) for group in noise.groups]
        weights += [weight[keep], np.array(sizes)]
    p = stats.family_wise_p(np.concatenate(parts), np.log1p(0.02), weight=np.concatenate(weights))
    found = np.zeros(rows.shape[0], bool)
    size = int(keep.sum())
    for number, start in enumerate((0, size + len(noise.groups))):
        own = np.flatnonzero(keep) + number * half
        found[own] = p[start : start + size] <= stats.CERTAIN_ALPHA
    return found & shown(rows)


def shown(rows: np.ndarray) -> np.ndarray:
    """Whether rows have an interval beyond no difference and an estimate beyond the margin."""
    shift = stats.paired_shift(rows, np.zeros(rows.shape))
    beyond = (shift.lo > 0) | (shift.hi < 0)
    return np.asarray(beyond & (np.abs(shift.shift) > np.log1p(0.02)))


def power(paths: Sequence[Path], count: int) -> None:
    """Print how often a program's loss is told, and what is false."""
    noise = noise_of(paths)
    at = noise.headline.size + noise.asked
    print("launches  loss  others lose  certain before  certain  told  false certain  false likely")
    for others in (True, False):
        for launches in (6, 8, 10, 12):
            for loss in (1.0, 1.1, 1.2, 1.4):
                generator = np.random.default_rng([SEED, launches, round(100 * loss), others])
                seen, false, wrong_likely, likely_rows = np.zeros(3), 0, 0, 0
                for _ in range(count):
                    rows, true = drawn_page(noise, launches, loss, generator, others=others)
                    before = _family(noise, rows, weighed=False)
                    certain = _family(noise, rows, weighed=True)
                    q = stats.false_discovery_q(rows, np.log1p(0.02))
                    likely = (q <= stats.ALPHA) & shown(rows) & ~certain
                    seen += [before[at], certain[at], certain[at] or likely[at]]
                    false += bool((certain & ~true).any())
                    wrong_likely += int((likely & ~true).sum())
                    likely_rows += int(likely.sum())
                shares = seen / count
                wrong_share = wrong_likely / max(1, likely_rows)
                cells = [f"{launches:8}", f"{loss - 1:5.0%}", f"{others!s:>12}"]
                cells += [
                    f"{share:{width}.0%}" for share, width in zip(shares, (15, 8, 5), strict=True)
                ]
                cells += [f"{false / count:14.1%}", f"{wrong_share:13.1%}"]
                print(" ".join(cells), flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Plant and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["pages", "power"])
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--null", action="store_true", help="no platform differs")
    parser.add_argument("--offset", type=float, default=0.0, help="what no launch shows")
    args = parser.parse_args(argv)
    if args.what == "pages":
        print(told(pages(args.pages or 1000, args.first, null=args.null, offset=args.offset)))
    else:
        power(args.runs, args.pages or 300)


if __name__ == "__main__":
    main()
