"""What the order of trials and the number of boots do to intervals, by simulation on real plans.

    python benchmarks/order_of_trials.py [--simulations N] [--update docs/method/measuring.md]

Two platforms that are equally fast, compared as bareline compares them (paired ratio, 95 %):

- under a random walk of 1 % a trial, which is what a machine does that warms up or fills, and 0.5 %
  of noise, how wide is the interval in each order of trials;
- with a spread of 2 % between boots and 1 % between launches, how often does the interval hold the
  truth when guests are made again every k blocks, over launches and over boots.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bareline.platforms.config import platforms_from_toml
from bareline.stats import paired_ratio
from bareline.study.plan import make_plan
from bareline.study.study import study_from_toml
from bareline.vocabulary.verdicts import MIN_LAUNCHES

SEED = 20_150_507
LAUNCHES = 10
CASES = (5, 20, 50)
WALK, NOISE = 0.01, 0.005
BOOT_SPREAD, LAUNCH_SPREAD = 0.02, 0.01
ORDERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("shuffled together", {"order": "shuffled"}),
    ("pairs", {}),
    ("pairs, 2 cases a turn", {"cases_per_turn": 2}),
    ("pairs, 4 cases a turn", {"cases_per_turn": 4}),
    ("pairs, 10 cases a turn", {"cases_per_turn": 10}),
)
BLOCKS_PER_BOOT = (1, 2, 3, 5, 10, 0)
BEGIN, END = "<!-- order tables: begin -->", "<!-- order tables: end -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400, metavar="N")
    parser.add_argument("--update", type=Path, metavar="PAGE")
    options = parser.parse_args()
    rng = np.random.default_rng(SEED)
    text = "\n".join(
        [*drift_table(options.simulations, rng), "", *boot_table(options.simulations * 25, rng)]
    )
    print(text)
    if options.update:
        before, rest = options.update.read_text(encoding="utf-8").split(BEGIN)
        _, after = rest.split(END)
        page = f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"
        options.update.write_text(page, encoding="utf-8")


def drift_table(simulations: int, rng: np.random.Generator) -> Iterator[str]:
    yield f"Mean half-width of the ratio's interval, {LAUNCHES} launches, {simulations} runs each:"
    yield ""
    yield f"| order | {' | '.join(f'{count} cases' for count in CASES)} | turns a block, 20 cases |"
    yield f"|---|{'---|' * len(CASES)}---|"
    for name, head in ORDERS:
        widths = [f"{100 * half_width(count, head, simulations, rng):.2f} %" for count in CASES]
        yield f"| {name} | {' | '.join(widths)} | {turns(20, head):.0f} |"


def plan_of(cases: int, head: dict[str, Any], seed: int) -> list[tuple[int, int, int]]:
    """Return (block, platform, case) of each trial of a real plan."""
    study = study_from_toml(
        {
            "study": {"name": "s", "launches": LAUNCHES, "precision": 0, **head},
            "measure": [
                {"probe": "null", "sweep": {"points": [number + 1 for number in range(cases)]}}
            ],
        },
        where="simulation",
    )
    tables = {"platform": {"a": {"type": "null"}, "b": {"type": "null"}}}
    platforms = list(platforms_from_toml(tables, where="simulation").values())
    numbers = {case: number for number, (_, case) in enumerate(study.cases())}
    return [
        (trial.block, "ab".index(trial.platform), numbers[trial.case])
        for trial in make_plan(study, platforms, seed=seed)
    ]


def half_width(
    cases: int, head: dict[str, Any], simulations: int, rng: np.random.Generator
) -> float:
    widths = []
    for seed in range(max(1, simulations // 10)):
        plan = np.array(plan_of(cases, head, seed))
        for _ in range(10):
            logs = np.cumsum(WALK * rng.standard_normal(len(plan)))
            logs += NOISE * rng.standard_normal(len(plan))
            values = np.empty((2, cases, LAUNCHES))
            values[plan[:, 1], plan[:, 2], plan[:, 0]] = np.exp(logs)
            ratio = paired_ratio(values[1], values[0])
            widths.append(np.mean(np.log(ratio.hi / ratio.lo) / 2))
    return float(np.mean(widths))


def turns(cases: int, head: dict[str, Any]) -> float:
    """Return how often the machine changes hands in a block."""
    plan = plan_of(cases, head, seed=1)
    changes = sum(first[1] != second[1] for first, second in pairwise(plan))
    return (changes + 1) / LAUNCHES


def boot_table(simulations: int, rng: np.random.Generator) -> Iterator[str]:
    sizes = (6, 10, 20)
    yield (
        "The second table has the coverage of the ratio's 95 % interval in "
        f"{simulations} runs each."
    )
    yield (
        f"The spread is {100 * BOOT_SPREAD:g} % between boots and {100 * LAUNCH_SPREAD:g} % "
        "between launches."
    )
    yield (
        "A cell has two coverages: if each launch counts as one value, and if each boot counts as "
        "one value (as in bareline, from six boots on)."
    )
    yield ""
    yield f"| guests made again | {' | '.join(f'{size} launches' for size in sizes)} |"
    yield f"|---|{'---|' * len(sizes)}"
    for every in BLOCKS_PER_BOOT:
        name = f"every {every} blocks" if every > 1 else "every block" if every else "never"
        shares = [coverage(every, size, simulations, rng) for size in sizes]
        yield f"| {name} | {' | '.join(shares)} |"


def coverage(every: int, launches: int, simulations: int, rng: np.random.Generator) -> str:
    boots = np.arange(launches) // (every or launches)
    shared = BOOT_SPREAD * rng.standard_normal((simulations, boots[-1] + 1))[:, boots]
    guest = np.exp(shared + LAUNCH_SPREAD * rng.standard_normal((simulations, launches)))
    bare = np.exp(LAUNCH_SPREAD * rng.standard_normal((simulations, launches)))
    found = [paired_ratio(guest, bare), paired_ratio(guest, bare, groups=boots)]
    shares = [100 * np.mean((ratio.lo <= 1) & (ratio.hi >= 1)) for ratio in found]
    over_boots = f"{shares[1]:.0f} %" if boots[-1] + 1 >= MIN_LAUNCHES else "-"
    return f"{shares[0]:.0f} %, {over_boots}"


if __name__ == "__main__":
    main()
