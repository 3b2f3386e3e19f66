"""Two separate runs: how often a page without any difference claims one, and what is found.

    python benchmarks/two_runs.py [--pages 1000]

Rows of two runs that share no block are drawn with noise of several kinds, independent or mostly
common to a launch, as wide in both runs or four times as wide in one, and compared together.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from bareline.stats import CERTAIN_ALPHA, family_wise_p, partnered, within_noise
from bareline.stats.launch_array import FloatArray

SEED = 20_261_128
MARGIN = float(np.log1p(0.02))
Drawn = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]


def two_modes(generator: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw noise of two modes, 40 % of it in the slow one."""
    slow = (generator.random(shape) < 0.4) - 0.4
    return np.asarray(2.0 * slow + 0.1 * generator.standard_normal(shape))


#: Noise about its mean, with a standard deviation of about 1.
NOISE: dict[str, Drawn] = {
    "normal": lambda generator, shape: generator.standard_normal(shape),
    "heavy tails": lambda generator, shape: generator.standard_t(3, shape) / np.sqrt(3),
    "delays": lambda generator, shape: generator.exponential(1.0, shape) - 1.0,
    "two modes": two_modes,
}
#: Standard deviations of the logarithms in both runs; an odd row has them the other way round.
SPREADS = {
    "the same": (0.04, 0.04, False),
    "one run four times": (0.02, 0.08, False),
    "four times, either way": (0.02, 0.08, True),
}


def page(
    generator: np.random.Generator,
    rows: int,
    launches: tuple[int, int],
    spread: tuple[float, float, bool],
    noise: Drawn,
    *,
    common: bool,
) -> tuple[FloatArray, FloatArray]:
    """Draw the logarithms of a page on both sides, shapes (rows, n) and (rows, m)."""
    first_width, second_width, turned = spread
    widths = np.full((rows, 2), (first_width, second_width))
    if turned:
        widths[1::2] = widths[1::2, ::-1]
    sides = []
    for side, count in enumerate(launches):
        drawn = noise(generator, (rows, count))
        if common:
            drawn = np.sqrt(0.9) * noise(generator, (1, count)) + np.sqrt(0.1) * drawn
        sides.append(widths[:, side, None] * drawn)
    return sides[0], sides[1]


def tested(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the p-values of a page: launches paired by their order, their names exchanged.

    What lies within the noise of both runs is not certain: its p-value is 1.
    """
    blocks = first.shape[-1] + second.shape[-1]
    values = np.full((first.shape[0], blocks), np.nan)
    baseline = values.copy()
    values[:, : first.shape[-1]] = first
    baseline[:, first.shape[-1] :] = second
    p = family_wise_p(partnered(values, baseline, np.arange(blocks)), MARGIN)
    kind = np.zeros(first.shape[0], dtype=np.int64)
    return np.where(within_noise(values, baseline, np.arange(blocks), kind), 1.0, p)


def false_pages(pages: int, *seed: int, **how: object) -> float:
    """Return the share of pages without a difference on which any row is certain."""
    false = 0
    for number in range(pages):
        generator = np.random.default_rng([SEED, *seed, number])
        p = tested(*page(generator, **how))  # type: ignore[arg-type]
        false += bool((p <= CERTAIN_ALPHA).any())
    return false / pages


def found(pages: int, slower: int, rows: int, launches: int, loss: float, width: float) -> float:
    """Return the share of rows that lose, and are certain, of all that lose."""
    certain = 0
    for number in range(pages):
        generator = np.random.default_rng([SEED, slower, rows, launches, number])
        first, second = page(
            generator, rows, (launches, launches), (width, width, False), NOISE["normal"],
            common=False,
        )  # fmt: skip
        first[:slower] += np.log(loss)
        certain += int((tested(first, second)[:slower] <= CERTAIN_ALPHA).sum())
    return certain / (pages * slower)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    asked = parser.parse_args()
    print("| noise | spreads | launches | rows | false, independent | false, common to a launch |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for number, (name, noise) in enumerate(NOISE.items()):
        for spreads, widths in SPREADS.items():
            for launches in ((6, 6), (8, 8), (10, 10), (6, 12)):
                for rows in (5, 20, 60):
                    shares = []
                    for common in (False, True):
                        share = false_pages(
                            asked.pages, number, rows, *launches, rows=rows,
                            launches=launches, spread=widths, noise=noise, common=common,
                        )  # fmt: skip
                        shares.append(share)
                    figures = " | ".join(f"{share:.1%}" for share in shares)
                    size = f"{launches[0]}, {launches[1]}"
                    print(f"| {name} | {spreads} | {size} | {rows} | {figures} |", flush=True)
    print()
    print("| slower rows | of | launches | loss | noise | certain |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for slower, rows, loss, width in (
        (20, 20, 10.0, 0.05), (20, 60, 10.0, 0.05), (1, 20, 1.2, 0.05), (1, 60, 1.2, 0.05),
        (1, 60, 1.2, 0.02), (1, 60, 1.1, 0.02),
    ):  # fmt: skip
        for launches in (6, 8, 10):
            share = found(min(asked.pages, 300), slower, rows, launches, loss, width)
            print(f"| {slower} | {rows} | {launches} | {loss:.1f} | {width:.0%} | {share:.0%} |")


if __name__ == "__main__":
    main()
