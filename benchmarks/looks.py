"""Planned looks: how often a loss is told, after how many launches, and what is false.

    python benchmarks/looks.py RUN [RUN ...] [--pages 300]
    python benchmarks/looks.py --spread 0.1 [--pages 300]

The noise is that of real runs of a study with one application (such as `make demo`), as in
`benchmarks/grades.py power`: blocks are drawn with all their points, and the degrees of freedom
that centring took are given back. One program loses a known amount. *Planned*: looks after 8, 10
and 12 blocks, at 2, 1.5 and 1.5 %; after the first only the program is launched again, and a run
ends at the look that makes the loss certain. A number alone is a single look at 4 % after so many
blocks. `--spread` takes normal noise of that width instead, in 60 rows of each platform, of which
half of the variance is common to a block.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from grades import Noise, drawn_page, noise_of, shown

from bareline import stats
from bareline.analysis.numbers.pairs import mean_of
from bareline.stats.launch_array import BoolArray, FloatArray
from bareline.vocabulary.looks import DEFAULT_LOOKS, SPENT_AT_ONCE, spending

SEED = 20_261_129
LOSSES = (1.05, 1.1, 1.2, 1.4)
#: The looks of each plan: after how many blocks, and at which error.
Plans = dict[str, tuple[tuple[int, float], ...]]


@dataclass(frozen=True, slots=True)
class Told:
    """What a page told: whether the loss is certain, after how many blocks, and anything false."""

    certain: bool
    blocks: int
    false: bool


def planted_noise(spread: float, rows: int = 60, blocks: int = 2000) -> Noise:
    """Return normal noise of so many rows, one of which, the first, is asked about."""
    generator = np.random.default_rng(SEED)
    own = generator.standard_normal((2, rows, blocks))
    common = generator.standard_normal((2, 1, blocks))
    return Noise(
        blocks=spread * (own + common) / np.sqrt(2.0),
        shifts=np.log(generator.uniform(1.5, 20.0, (2, rows))),
        weights=np.concatenate([[2.0], np.ones(rows - 1)]),
        headline=np.ones(rows, dtype=np.bool_),
        groups=[np.arange(1, rows // 2)],
        asked=0,
    )


def family(noise: Noise, rows: FloatArray, alpha: float) -> BoolArray:
    """Return which rows are certain at an error, over rows and the means of findings together."""
    half = rows.shape[0] // 2
    parts, weights = [], []
    for own in (rows[:half], rows[half:]):
        means = [mean_of(own[group]) for group in noise.groups]
        sizes = [noise.weights[group].max() * group.size ** (1 / 6) for group in noise.groups]
        parts += [own, np.array(means)]
        weights += [noise.weights, np.array(sizes)]
    weight = np.concatenate(weights)
    p = stats.family_wise_p(np.concatenate(parts), np.log1p(0.02), weight=weight)
    second = half + len(noise.groups)
    p_of_rows = np.concatenate([p[:half], p[second : second + half]])
    return np.asarray((p_of_rows <= alpha) & shown(rows))


def page(
    noise: Noise, looks: Sequence[tuple[int, float]], loss: float, generator: np.random.Generator,
    *, others: bool,
) -> Told:  # fmt: skip
    """Draw a page and look at it as planned, until the program's loss is certain."""
    rows, true = drawn_page(noise, looks[-1][0], loss, generator, others=others)
    half = rows.shape[0] // 2
    asked = half + noise.asked
    program = np.isin(np.arange(rows.shape[0]) % half, noise.asked)
    rows[~program, looks[0][0] :] = np.nan
    certain = np.zeros(rows.shape[0], dtype=np.bool_)
    for blocks, alpha in looks:
        certain |= family(noise, rows[:, :blocks], alpha)
        if certain[asked] and loss > 1:
            break
    return Told(bool(certain[asked]) and loss > 1, blocks, bool((certain & ~true).any()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--spread", type=float, default=0.1)
    parser.add_argument("--alone", action="store_true", help="nothing else differs")
    parser.add_argument("--pages", type=int, default=300)
    asked = parser.parse_args()
    noise = noise_of(asked.runs) if asked.runs else planted_noise(asked.spread)
    planned = tuple(zip(DEFAULT_LOOKS, spending(len(DEFAULT_LOOKS)), strict=True))
    plans = {str(n): ((n, SPENT_AT_ONCE),) for n in (6, 8, 10, 12)} | {"planned": planned}
    for others in (False,) if asked.alone else (False, True):
        print(f"Per cent of {asked.pages} pages; other rows {'differ' if others else 'are equal'}")
        print_table(noise, plans, asked.pages, others=others)


def print_table(noise: Noise, plans: Plans, pages: int, *, others: bool) -> None:
    """Print how often each loss is certain, by launches, and how often any claim is false."""
    print(f"| loss | {' | '.join(plans)} | launches of the last, on average | false |")
    print(f"| ---: |{' ---: |' * (len(plans) + 2)}")
    for loss in LOSSES:
        certain, blocks, false = [], 0.0, []
        for looks in plans.values():
            generator = np.random.default_rng([SEED, round(100 * loss), others])
            told = [page(noise, looks, loss, generator, others=others) for _ in range(pages)]
            certain.append(f"{100 * np.mean([one.certain for one in told]):.0f}")
            false.append(f"{100 * np.mean([one.false for one in told]):.1f}")
            blocks = float(np.mean([one.blocks for one in told]))
        cells = [f"{loss - 1:.0%}", *certain, f"{blocks:.1f}", ", ".join(false)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
