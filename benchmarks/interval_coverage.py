"""Print the coverage tables of docs/method/appendix-statistics.md, by simulation with a fixed seed.

python benchmarks/interval_coverage.py [--simulations N] [--update PAGE]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from simulated_coverage import (
    DISTRIBUTIONS,
    RatioOf,
    Share,
    block_drift_coverage,
    family_corrections,
    lost_coverage,
    median_coverage,
    normal,
    ratio_coverage,
    sequence_drift_coverage,
    stopped_coverage,
    unlike_coverage,
    unlike_truth,
)

from bareline.stats import null_distribution, paired_ratio, unpaired_ratio

SEED = 20_151_115
LAUNCHES = (6, 10, 20, 30)
DRIFT = 0.01
BEGIN, END = "<!-- coverage tables: begin -->", "<!-- coverage tables: end -->"

Cell = Callable[[int], Share]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100_000, metavar="N")
    parser.add_argument("--update", type=Path, metavar="PAGE")
    options = parser.parse_args()
    sections = []
    for section in tables(options.simulations):
        print(section, end="\n\n", flush=True)
        sections.append(section)
    if options.update:
        update(options.update, "\n\n".join(sections))


def update(page: Path, tables: str) -> None:
    """Replace what stands between the page's two markers."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")


def tables(simulations: int) -> Iterator[str]:
    """Yield the tables, each with its own stream of random numbers."""
    builders = (medians, paired, unpaired, unlike, drift, stopping, families, losses)
    for builder, seed in zip(builders, np.random.SeedSequence(SEED).spawn(8), strict=True):
        yield builder(simulations, np.random.default_rng(seed))


def medians(simulations: int, rng: np.random.Generator) -> str:
    rows = {
        noise.name: [median_coverage(noise, n, simulations, rng) for n in LAUNCHES]
        for noise in DISTRIBUTIONS
    }
    exact = [null_distribution.sign(n) for n in LAUNCHES]
    return by_launches("Coverage of the median's interval", rows, exact, simulations)


def paired(simulations: int, rng: np.random.Generator) -> str:
    exact = [null_distribution.signed_rank(n) for n in LAUNCHES]
    return of_ratios("the paired ratio", paired_ratio, exact, simulations, rng)


def unpaired(simulations: int, rng: np.random.Generator) -> str:
    exact = [null_distribution.mann_whitney(n, n) for n in LAUNCHES]
    return of_ratios("the unpaired ratio", unpaired_ratio, exact, simulations, rng)


def of_ratios(
    subject: str,
    ratio_of: RatioOf,
    exact: Sequence[null_distribution.NullDistribution],
    simulations: int,
    rng: np.random.Generator,
) -> str:
    """Return the table of the intervals of a ratio; `exact`: its null by number of launches."""
    rows = {
        noise.name: [ratio_coverage(noise, n, simulations, rng, ratio_of) for n in LAUNCHES]
        for noise in DISTRIBUTIONS
    }
    return by_launches(f"Coverage of {subject}'s interval", rows, exact, simulations)


def unlike(simulations: int, rng: np.random.Generator) -> str:
    steady, _, heavy, delayed, modes = DISTRIBUTIONS
    rows = {}
    for name, pair in {
        "delays against normal": (delayed, steady),
        "two modes against normal": (modes, steady),
        "heavy tails against two modes": (heavy, modes),
    }.items():
        for how, ratio_of in {"paired": paired_ratio, "unpaired": unpaired_ratio}.items():
            truth = unlike_truth(pair, 40 * simulations, rng, ratio_of)
            rows[f"{name}, {how}"] = [
                unlike_coverage(pair, truth, (simulations, n), rng, ratio_of) for n in LAUNCHES
            ]
    return by_launches(
        "Coverage where the platforms' noise differs in shape", rows, (), simulations
    )


def drift(simulations: int, rng: np.random.Generator) -> str:
    rows = {}
    for sigma in (0.01, 0.03, 0.075):
        noise = normal(sigma)
        rows[f"{noise.name}: randomised blocks"] = [
            block_drift_coverage(noise, n, simulations, rng, DRIFT) for n in LAUNCHES
        ]
        rows[f"{noise.name}: all of A, then all of B"] = [
            sequence_drift_coverage(noise, n, simulations, rng, DRIFT) for n in LAUNCHES
        ]
    return by_launches("Coverage of the ratio under a drift of 1 % per run", rows, (), simulations)


def stopping(simulations: int, rng: np.random.Generator) -> str:
    few = max(1, simulations // 5)
    rows = []
    for noise in (*map(normal, (0.01, 0.02, 0.03, 0.05)), *DISTRIBUTIONS[1:]):
        found = stopped_coverage(noise, few, rng)
        rows.append(
            (
                noise.name,
                f"{found.mean_launches:.1f}",
                percent(found.not_reached),
                percent(found.median),
                percent(found.ratio),
            )
        )
    title = f"Coverage after adaptive stopping at 2 %, 6 to 30 blocks ({few:,} simulations each)"
    head = ("noise", "mean n", "not reached", "median's interval", "paired ratio's interval")
    return table(title, head, rows)


def losses(simulations: int, rng: np.random.Generator) -> str:
    rows = {}
    for noise in DISTRIBUTIONS:
        for how, counted in {"left out": False, "counted as slowest": True}.items():
            rows[f"{noise.name}: {how}"] = [
                lost_coverage(noise, n, simulations, rng, counted=counted) for n in LAUNCHES
            ]
    title = "Coverage of the paired ratio where the slowest 20 % of a platform's launches are lost"
    return by_launches(title, rows, (), simulations)


def families(simulations: int, rng: np.random.Generator) -> str:
    few = max(1, simulations // 50)

    rows = []
    for n in (6, 8, 10, 12):
        for shared in (0.0, 0.5, 0.9):
            none, one, all_of_them = (
                family_corrections(n, few, rng, slower=slower, shared=shared)
                for slower in (0, 1, 24)
            )
            cells = [percent(correction.false_claims) for correction in none]
            cells += [percent(correction.found) for correction in (*one, *all_of_them)]
            rows.append((str(n), f"{100 * shared:.0f} %", *cells))
    questions = ("false claim", "one slower, found", "all slower, found")
    head = ["n", "shared noise"]
    head += [f"{question}: {how}" for question in questions for how in ("Holm", "flips")]
    return table(f"Families of 24 sizes ({few:,} families each)", head, rows)


def by_launches(
    title: str,
    rows: dict[str, list[Share]],
    exact: Sequence[null_distribution.NullDistribution],
    simulations: int,
) -> str:
    """Return a table with one column per number of launches."""
    body = [(name, *map(percent, shares)) for name, shares in rows.items()]
    if exact:
        levels = (null.level(null.interval_rank(0.95)) for null in exact)
        body.append(("*exact level*", *(f"*{100 * level:.2f}*" for level in levels)))
    error = max(share.standard_error for shares in rows.values() for share in shares)
    title = f"{title} ({simulations:,} simulations each, standard error at most {100 * error:.2f})"
    return table(title, ("noise", *(f"n = {n}" for n in LAUNCHES)), body)


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table under a bold title; numbers are per cent."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join([f"**{title}**", "", *("| " + " | ".join(line) + " |" for line in lines)])


def percent(share: Share) -> str:
    return f"{100 * share.value:.2f}"


if __name__ == "__main__":
    main()
