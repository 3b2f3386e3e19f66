"""Pages in memory with boots, lost launches and losses everywhere: what is false, what is found.

    python benchmarks/boot_pages.py [--pages 1000] [--update docs/method/appendix-statistics.md]

A page compares platform b with a, 50 cases in blocks. b boots: the effect of a boot is drawn once
for each case and all launches in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.judgements.decide import decide_mean
from bareline.analysis.numbers.cube import Cube
from bareline.analysis.numbers.family import discoveries, family_wise
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.vocabulary.verdicts import Verdict

SEED = 20_261_203
CASES = 50
MARGIN = 0.02
LIMIT_S, TOOK_S = 300.0, 5.0
#: Blocks a boot (0: one boot) and launches.
SCHEDULES = ((1, 6), (2, 10), (2, 12), (0, 10))
EFFECTS, NOISES = (0.0, 0.02, 0.05), (0.01, 0.02)
BEGIN, END = "<!-- boot tables: begin -->", "<!-- boot tables: end -->"


@dataclass(frozen=True)
class Planted:
    """What a page is drawn from: spreads are of logarithms, losses factors above 1.

    Parameters
    ----------
    blocks_per_boot, launches
        How often b boots; 0 blocks are one boot for all.
    effect, noise
        Spread between boots, and between launches.
    loss
        How many times slower b is, of the first `slower` cases.
    lost, base_lost
        The probability with which a launch of b, and of a, exceeds its limit.
    """

    blocks_per_boot: int = 1
    launches: int = 6
    effect: float = 0.0
    noise: float = 0.01
    loss: float = 1.0
    slower: int = 0
    lost: float = 0.0
    base_lost: float = 0.0
    cases: int = CASES

    @property
    def boots(self) -> np.ndarray[Any, Any]:
        """The boot of each block."""
        return np.arange(self.launches) // (self.blocks_per_boot or self.launches)


@dataclass(frozen=True)
class Page:
    """What a page claims: of its points, of their mean, and whether of these boots alone."""

    points: tuple[Verdict, ...]
    mean: Verdict
    few_boots: bool

    @property
    def claims(self) -> bool:
        """Whether anything is called slower or faster."""
        return self.mean.decided or any(verdict.decided for verdict in self.points)


def cube_of(planted: Planted) -> Cube:
    """Make a cube of the right shape, whose values every page overwrites."""
    cases, launches = planted.cases, planted.launches
    rows = pl.DataFrame({"case": range(cases)}).join(
        pl.DataFrame({"block": range(launches)}), how="cross"
    )
    trials = pl.concat(
        rows.with_columns(
            platform=pl.lit(name),
            boot=pl.lit(planted.boots[rows["block"].to_numpy()] + 1)
            if name == "b"
            else pl.lit(None, pl.Int64),
        )
        for name in "ab"
    ).select(
        pl.int_range(pl.len()).alias("row"), "block", "platform", "boot",
        run=pl.lit(0), probe=pl.lit("app.planted"),
        params=pl.format("case={}", pl.col("case").cast(pl.String).str.zfill(4)),
        ranks=pl.lit(1), threads=pl.lit(1), nodes=pl.lit(0), status=pl.lit("measured"),
        stage=pl.lit(None, pl.String), reason=pl.lit(None, pl.String),
        caveats=pl.lit([], pl.List(pl.String)), duration_s=pl.lit(TOOK_S),
        timeout_s=pl.lit(LIMIT_S),
    )  # fmt: skip
    values = trials.select("row", metric=pl.lit("time"), point=pl.lit(""), value=pl.lit(1.0))
    declared = {"probe": "app.planted", "metric": "time", "layer": "app", "better": "lower",
                "headline": True}  # fmt: skip
    return Cube(["a", "b"], trials, values, pl.DataFrame([declared]))


def draw(cube: Cube, planted: Planted, generator: np.random.Generator) -> None:
    """Fill a cube with one page."""
    shape = (2, planted.cases, planted.launches)
    logs = planted.noise * generator.standard_normal(shape)
    boots = planted.boots
    brought = planted.effect * generator.standard_normal((planted.cases, boots[-1] + 1))
    logs[1] += brought[:, boots]
    logs[1, : planted.slower] += np.log(planted.loss)
    cube.values[:] = np.exp(logs)
    chance = np.array([planted.base_lost, planted.lost])[:, None, None]
    cube.lost = generator.random(shape) < chance
    cube.values[cube.lost] = np.nan
    cube.limit_s = np.where(cube.lost.any(axis=-1), LIMIT_S, np.nan)


def page(cube: Cube) -> Page:
    """Judge one page as bareline does."""
    pair = PlatformPair(cube, "b", "a")
    every = np.arange(pair.directed.size)
    (q,), (by_loss,) = discoveries([pair], [pair.directed], MARGIN)
    family = family_wise([pair], [pair.directed], MARGIN, [[every]])
    (p,) = family.points
    mean = decide_mean(family.means[0][0], MARGIN, 1.0)
    ratio = pair.ratio
    n = np.minimum(ratio.n, ratio.n_baseline)
    row = stats.judge(ratio.ratio, ratio.lo, ratio.hi, n, q, margin=MARGIN)
    row = np.where(by_loss > 0, Verdict.SLOWER, np.where(by_loss < 0, Verdict.FASTER, row))
    certain = np.nan_to_num(p, nan=1.0) <= stats.CERTAIN_ALPHA
    said = tuple(
        verdict if sure or not verdict.decided else Verdict.INCONCLUSIVE
        for verdict, sure in zip(map(Verdict, row.tolist()), certain.tolist(), strict=True)
    )
    mean_verdict = mean.verdict if mean else Verdict.INCONCLUSIVE
    return Page(said, mean_verdict, pair.boots.few)


def pages(planted: Planted, count: int) -> list[Page]:
    """Draw and judge so many pages."""
    key = [int(1000 * value) for value in vars(planted).values()]
    generator = np.random.default_rng([SEED, *key])
    cube = cube_of(planted)
    judged = []
    for _ in range(count):
        draw(cube, planted, generator)
        judged.append(page(cube))
    return judged


def share(judged: Sequence[Page], holds: Callable[[Page], bool]) -> float:
    """Return the share of pages of which something holds, in per cent."""
    return 100 * float(np.mean([holds(one) for one in judged]))


def schedule(planted: Planted) -> str:
    """Name how often b boots."""
    every = planted.blocks_per_boot
    often = {0: "never again", 1: "again each block"}.get(every, f"again every {every} blocks")
    return f"{often}, n = {planted.launches}"


def false_table(count: int) -> Iterator[str]:
    """Describe how many pages are false of platforms that do not differ."""
    yield (
        f"**Pages of {CASES} cases without any difference: per cent with a claim ({count} pages "
        f"each, standard error at most {_error(count)})**"
    )
    yield ""
    yield "| boots | spread of boots | noise | claims | of these boots alone |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for every, launches in SCHEDULES:
        for effect in EFFECTS:
            for noise in NOISES:
                planted = Planted(every, launches, effect, noise)
                judged = pages(planted, count)
                claims = share(judged, lambda one: one.claims and not one.few_boots)
                limited = "-"
                if judged[0].few_boots:
                    limited = f"{share(judged, lambda one: one.claims and one.few_boots):.0f}"
                cells = [f"{claims:.1f}", limited]
                head = f"{schedule(planted)} | {100 * effect:g} % | {100 * noise:g} %"
                yield f"| {head} | {' | '.join(cells)} |"


def power_table(count: int) -> Iterator[str]:
    """Describe how often a lone loss among 50 cases is found."""
    losses = (1.05, 1.1, 1.2)
    yield f"**A single loss among {CASES} cases found, per cent of {count} pages**"
    yield ""
    heads = " | ".join(f"{100 * (loss - 1):.0f} % slower" for loss in losses)
    yield f"| boots | spread of boots | noise | {heads} |"
    yield "| --- | ---: | ---: |" + " ---: |" * len(losses)
    for every, launches in ((1, 6), (1, 10), (2, 12), (2, 20), (0, 10)):
        for effect in EFFECTS[:2]:
            cells = []
            for loss in losses:
                planted = Planted(every, launches, effect, 0.01, loss=loss, slower=1)
                found = share(pages(planted, count), lambda one: one.points[0].decided)
                cells.append(f"{found:.0f}")
            head = f"{schedule(planted)} | {100 * effect:g} % | 1 %"
            yield f"| {head} | {' | '.join(cells)} |"


def everywhere_table(count: int) -> Iterator[str]:
    """Describe how often a loss of all cases is found."""
    yield (
        f"**All {CASES} cases slower, noise 5 %: per cent of {count} pages on which the loss is "
        "found**"
    )
    yield ""
    yield "| loss | n | at any point | by the mean |"
    yield "| ---: | ---: | ---: | ---: |"
    for loss in (1.0, 1.03, 1.05, 1.1):
        for launches in (6, 10):
            planted = Planted(1, launches, 0.0, 0.05, loss=loss, slower=CASES)
            judged = pages(planted, count)
            cells = [share(judged, _any_point), share(judged, lambda one: one.mean.decided)]
            numbers = " | ".join(f"{cell:.0f}" for cell in cells)
            yield f"| {100 * (loss - 1):.0f} % | {launches} | {numbers} |"


def lost_table(count: int) -> Iterator[str]:
    """Describe what is claimed where launches exceed their limit."""
    yield (
        f"**Launches over their limit, 8 launches, noise 1 %: per cent of {count} pages with a "
        "claim**"
    )
    yield ""
    yield "| cases | launches lost on b, on a | claim about a case | about the mean |"
    yield "| ---: | ---: | ---: | ---: |"
    for cases in (1, 8, CASES):
        for lost, base in ((0.75, 0.0), (0.9, 0.0), (1.0, 0.0), (0.1, 0.1), (0.5, 0.5)):
            planted = replace(Planted(1, 8, 0.0, 0.01, cases=cases), lost=lost, base_lost=base)
            judged = pages(planted, count)
            mean = "-"
            if cases > 1:
                mean = f"{share(judged, lambda one: one.mean.decided):.0f}"
            cells = [f"{share(judged, _any_point):.0f}", mean]
            yield f"| {cases} | {lost:.0%}, {base:.0%} | {' | '.join(cells)} |".replace("%", " %")


def _any_point(one: Page) -> bool:
    return any(verdict.decided for verdict in one.points)


def _error(count: int) -> str:
    return f"{100 * (0.05 * 0.95 / count) ** 0.5:.1f} at 5 %"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--update", type=Path, metavar="PAGE")
    options = parser.parse_args(argv)
    few = max(1, options.pages // 5)
    tables = (
        false_table(options.pages), power_table(few), everywhere_table(few), lost_table(few),
    )  # fmt: skip
    sections = []
    for table in tables:
        sections.append("\n".join(table))
        print(sections[-1], end="\n\n", flush=True)
    if options.update:
        before, rest = options.update.read_text(encoding="utf-8").split(BEGIN)
        _, after = rest.split(END)
        text = "\n\n".join(sections)
        options.update.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
