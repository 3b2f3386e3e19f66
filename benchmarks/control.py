"""How often the negative control sees what makes pages false: boots that are kept for a whole run.

A baseline, itself again and a platform that does not differ are planted in memory, each with a boot
of its own over the noise of launches, and compared as tables are.

    .venv/bin/python benchmarks/control.py
"""

from __future__ import annotations

import numpy as np

from bareline import stats

PAGES = 400
ROWS = 40
NOISE = 0.01
MARGIN = 0.02


def differs(values: np.ndarray, base: np.ndarray) -> bool:
    """Return whether any row is called slower or faster."""
    q = stats.false_discovery_q(np.log(values / base), np.log1p(MARGIN))
    found = stats.paired_ratio(values, base)
    verdicts = stats.judge(found.ratio, found.lo, found.hi, found.n, q, margin=MARGIN)
    return bool(np.isin(verdicts, ["slower", "faster"]).any())


def page(boot: float, launches: int, generator: np.random.Generator) -> tuple[bool, bool]:
    """Return whether a page claims a difference that is none, and whether its control differs."""
    base, again, platform = (
        np.exp(boot * generator.standard_normal())
        * np.exp(NOISE * generator.standard_normal((ROWS, launches)))
        for _ in range(3)
    )
    return differs(platform, base), differs(again, base)


def main() -> None:
    """Print, for boots of several sizes, how often pages are false and how often that is seen."""
    print(f"{ROWS} rows, noise of {NOISE:.0%}, per cent of {PAGES} pages")
    print("launches  boots  false  control differs  of the false pages")
    for launches in (6, 10):
        for boot in (0.0, 0.01, 0.02, 0.05):
            generator = np.random.default_rng([launches, round(1000 * boot)])
            seen = np.array([page(boot, launches, generator) for _ in range(PAGES)])
            false, control = seen.mean(axis=0)
            both = seen[seen[:, 0], 1].mean() if seen[:, 0].any() else np.nan
            print(f"{launches:8} {boot:6.0%} {false:6.0%} {control:16.0%} {both:19.0%}")


if __name__ == "__main__":
    main()
