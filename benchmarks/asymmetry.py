"""Lopsided noise: how often it makes a page false, and how often the page says so.

Pages of rows in blocks, their differences as a comparison takes them. A launch's value is a floor
and a delay of an exponential or lognormal distribution, shifted to a median of 1, or normal noise;
both platforms have the same median. A page is false if any row is claimed in a sentence
(family-wise). It says so if the differences are seen to be lopsided and the medians of all those
rows lie within the spread. Beside it, pages on which it would be said for nothing: noise that is
symmetric, or skewed alike on both sides, and one row in five slower by the loss.

    .venv/bin/python benchmarks/asymmetry.py --update docs/method/appendix-statistics.md
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np

from bareline import stats

ZONE = np.log1p(0.02)
BLOCKS = (7, 10, 20)
#: By name: noise and width of the baseline, noise and width of the platform.
UNEQUAL = {
    "delays 1 %, delays 3 %": ("delays", 0.01, "delays", 0.03),
    "delays 2 %, delays 6 %": ("delays", 0.02, "delays", 0.06),
    "delays 1 %, delays 10 %": ("delays", 0.01, "delays", 0.10),
    "lognormal delays 1 %, 5 %": ("lognormal", 0.01, "lognormal", 0.05),
    "normal 1 %, delays 5 %": ("normal", 0.01, "delays", 0.05),
}
ALIKE = {
    "normal 2 %": ("normal", 0.02, "normal", 0.02),
    "normal 1 %, normal 6 %": ("normal", 0.01, "normal", 0.06),
    "heavy tails 2 %": ("heavy", 0.02, "heavy", 0.02),
    "delays 3 %": ("delays", 0.03, "delays", 0.03),
    "two modes": ("modes", 0.1, "modes", 0.1),
    "normal 1 %, boots 3 %": ("boots", 0.01, "boots", 0.01),
}


def noise(
    kind: str, width: float, shape: tuple[int, int], generator: np.random.Generator
) -> np.ndarray:
    """Draw logarithms of values with median 1; a boot of two blocks is shared by all rows."""
    if kind == "normal":
        return width * generator.standard_normal(shape)
    if kind == "heavy":
        return width * generator.standard_t(3, shape)
    if kind == "modes":
        return width * (generator.random(shape) < 0.4) + 0.01 * generator.standard_normal(shape)
    if kind == "boots":
        boots = 0.03 * np.repeat(generator.standard_normal((1, shape[1] // 2 + 1)), 2, axis=1)
        return width * generator.standard_normal(shape) + boots[:, : shape[1]]
    delays = generator.exponential(size=shape) - np.log(2)
    if kind == "lognormal":
        delays = np.exp(generator.standard_normal(shape)) - 1
    return np.log(np.maximum(1 + width * delays, 0.1))


def page(
    shapes: tuple[str, float, str, float],
    rows: int,
    blocks: int,
    loss: float,
    generator: np.random.Generator,
) -> tuple[bool, bool]:
    """Return whether a page claims anything, and whether it then calls the noise lopsided."""
    base_kind, base_width, kind, width = shapes
    base = noise(base_kind, base_width, (rows, blocks), generator)
    values = noise(kind, width, (rows, blocks), generator)
    values[: rows // 5] += np.log1p(loss)
    claimed = stats.family_wise_p(values - base, ZONE) <= stats.ALPHA
    if not claimed.any():
        return False, False
    seen = stats.asymmetry_p(values - base) <= stats.ASYMMETRY_ALPHA
    small = stats.within_spread(np.exp(values), np.exp(base))
    told = seen and (small[claimed].all() if loss == 0 else small[claimed].any())
    return True, bool(told)


def shares(
    shapes: tuple[str, float, str, float], rows: int, blocks: int, loss: float, pages: int
) -> tuple[float, float]:
    """Return the per cent of pages that claim something, and of those that say it, of all pages."""
    generator = np.random.default_rng([rows, blocks, round(1000 * loss)])
    seen = [page(shapes, rows, blocks, loss, generator) for _ in range(pages)]
    claimed, told = np.array(seen).mean(axis=0)
    return 100 * claimed, 100 * told


def table(pages: int) -> str:
    """Measure both tables as Markdown."""
    heads = " | ".join(f"{rows} rows, n = {n}" for rows in (10, 50) for n in BLOCKS)
    rule = "| --- |" + " ---: |" * 6
    lines = [
        f"**Equal medians: per cent of {pages} pages: with a false claim, with the caveat**",
        "",
        f"| baseline, platform | {heads} |",
        rule,
    ]
    for name, shapes in UNEQUAL.items():
        fields = []
        for rows in (10, 50):
            for blocks in BLOCKS:
                false, told = shares(shapes, rows, blocks, 0.0, pages)
                fields.append(f"{false:.0f}, {told:.0f}")
        lines.append(f"| {name} | {' | '.join(fields)} |")
    lines += [
        "",
        f"**A fifth of the rows 5 % slower: per cent of {pages} pages with a needless caveat**",
        "",
        f"| both platforms | {heads} |",
        rule,
    ]
    for name, shapes in ALIKE.items():
        fields = [
            f"{shares(shapes, rows, blocks, 0.05, pages)[1]:.0f}"
            for rows in (10, 50)
            for blocks in BLOCKS
        ]
        lines.append(f"| {name} | {' | '.join(fields)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write them between their marks on a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--update", type=Path, metavar="PAGE")
    given = parser.parse_args()
    found = table(given.pages)
    if given.update is None:
        print(found)
        return
    text = given.update.read_text(encoding="utf-8")
    marks = "<!-- lopsided tables: begin -->", "<!-- lopsided tables: end -->"
    between = re.compile(rf"(?<={marks[0]}).*(?={marks[1]})", re.DOTALL)
    given.update.write_text(between.sub(f"\n\n{found}\n\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
