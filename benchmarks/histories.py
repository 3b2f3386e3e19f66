"""Histories of runs with planted changes: bareline beside Apache Otava and asv's step detection.

    python benchmarks/histories.py --peers PYTHON [--histories 40] [--pages 20] [--years 4]

PYTHON is an interpreter that has `apache-otava` and `asv` (in an environment of its own: nothing
of bareline needs them). All three get the same series, with the defaults of their commands; Otava:
windows of 50, p of at most 0.001. A change counts as found if a change is named within two runs of
it; a history is found if all its changes are. For bareline two figures are printed: likely or
certain, and certain alone.

- *Histories*: one series with planted changes, looked at once.
- *Pages*: 20 series without a change, looked at once: the share of pages that name anything.
- *Years*: one series without a change, looked at after every run from the eighth on: the share of
  histories of which any look named anything.

Noise: normal of 1 and 3 %; heavy: Student's t of two degrees of freedom, scale 1 %; AR: 3 % with an
autoregression of 0.5; flicker: 1 %, and a fifth of the runs 5 % slower; drift: 1 %, and 0.1 % more
per run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bareline.stats import find_changes

SEED = 20_261_128
MARGIN = 0.02
PAGE = 20
FIRST_LOOK = 8
#: A change that is named so many runs off is found.
NEAR = 2

#: What runs in the interpreter of the peers: series on stdin, their changes on stdout, as JSON.
PEERS = """
import json, sys
from asv.step_detect import detect_steps
from otava.analysis import compute_change_points
found = []
for series in json.load(sys.stdin):
    otava = [int(point.index) for point in compute_change_points(series)[0]]
    steps = [int(left) for left, *_ in detect_steps(series)][1:]
    found.append([otava, steps])
json.dump(found, sys.stdout)
"""

Noise = Callable[[np.random.Generator, int], np.ndarray]


def _normal(spread: float) -> Noise:
    return lambda generator, n: spread * generator.standard_normal(n)


def _heavy(generator: np.random.Generator, n: int) -> np.ndarray:
    return 0.01 * generator.standard_t(2, n)


def _resembling(generator: np.random.Generator, n: int) -> np.ndarray:
    steps = 0.03 * np.sqrt(0.75) * generator.standard_normal(n + 30)
    found = np.zeros(n + 30)
    for run in range(1, n + 30):
        found[run] = 0.5 * found[run - 1] + steps[run]
    return found[30:]


def _flicker(generator: np.random.Generator, n: int) -> np.ndarray:
    slow = generator.random(n) < 0.2
    return 0.01 * generator.standard_normal(n) + 0.05 * slow


def _drift(generator: np.random.Generator, n: int) -> np.ndarray:
    return 0.01 * generator.standard_normal(n) + 0.001 * np.arange(n)


NOISES: dict[str, Noise] = {
    "1 %": _normal(0.01),
    "3 %": _normal(0.03),
    "heavy": _heavy,
    "AR": _resembling,
    "flicker": _flicker,
    "drift": _drift,
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """Changes of a history of n runs: the share of the runs before each, and its factor."""

    name: str
    runs: int
    changes: tuple[tuple[int, float], ...]

    def series(self, noise: Noise, generator: np.random.Generator) -> np.ndarray:
        """Return one history."""
        values = np.exp(noise(generator, self.runs))
        for at, factor in self.changes:
            values[at:] *= factor
        return values


def scenarios() -> list[Scenario]:
    """Return the histories with changes."""
    found = [
        Scenario(f"one step of {size} %, n = {n}", n, ((n // 2, 1 + size / 100),))
        for size in (2, 5, 10, 20)
        for n in (20, 60)
    ]
    found += [
        Scenario(f"last three runs {size} % slower, n = {n}", n, ((n - 3, 1 + size / 100),))
        for size in (5, 10, 20)
        for n in (10, 30)
    ]
    found += [
        Scenario(f"two steps of {size} %, n = {n}", n, ((n // 3, grown), (2 * n // 3, grown)))
        for size, grown in ((5, 1.05), (10, 1.1))
        for n in (30, 90)
    ]
    found += [
        Scenario(
            f"{size} % slower and back, n = {n}", n, ((n // 2, grown), (n // 2 + 10, 1 / grown))
        )
        for size, grown in ((5, 1.05), (10, 1.1))
        for n in (40, 120)
    ]
    found.append(Scenario("30 % faster, later 10 % slower, n = 60", 60, ((20, 0.7), (45, 1.1))))
    found.append(Scenario("30 % faster, later 10 % slower, n = 200", 200, ((60, 0.7), (150, 1.1))))
    return found


@dataclass(frozen=True, slots=True)
class Named:
    """The runs at which each program names a change."""

    likely: list[int]
    certain: list[int]
    otava: list[int]
    asv: list[int]


TOOLS = ("likely", "certain", "otava", "asv")


def ask(pages: Sequence[np.ndarray], peers: str) -> list[Named]:
    """Return what is named in each page, shape (series, runs); peers see each series alone."""
    rows = [row.tolist() for page in pages for row in page]
    done = subprocess.run(
        [peers, "-c", PEERS], input=json.dumps(rows), capture_output=True, text=True, check=True
    )
    answers = iter(json.loads(done.stdout))
    named = []
    for page in pages:
        changes = [one for course in find_changes(page, margin=MARGIN) for one in course.changes]
        own = [next(answers) for _ in page]
        named.append(
            Named(
                likely=[change.at for change in changes],
                certain=[change.at for change in changes if change.certain],
                otava=[at for otava, _ in own for at in otava],
                asv=[at for _, asv in own for at in asv],
            )
        )
    return named


def is_found(named: Iterable[int], scenario: Scenario) -> bool:
    """Whether every planted change is named."""
    places = list(named)
    return all(any(abs(at - place) <= NEAR for place in places) for at, _ in scenario.changes)


def histories(noise: Noise, scenario: Scenario, count: int, peers: str) -> list[float]:
    """Return the share of histories that each program finds."""
    generator = np.random.default_rng([SEED, scenario.runs, count])
    pages = [scenario.series(noise, generator)[None] for _ in range(count)]
    named = ask(pages, peers)
    return [np.mean([is_found(getattr(one, tool), scenario) for one in named]) for tool in TOOLS]


def calm_pages(noise: Noise, runs: int, count: int, peers: str) -> list[float]:
    """Return the share of pages without a change of which each program names any."""
    generator = np.random.default_rng([SEED, runs, PAGE])
    pages = [np.exp([noise(generator, runs) for _ in range(PAGE)]) for _ in range(count)]
    named = ask(pages, peers)
    return [np.mean([bool(getattr(one, tool)) for one in named]) for tool in TOOLS]


def calm_years(noise: Noise, nights: int, count: int, peers: str) -> list[float]:
    """Return the share of histories without a change of which each program ever names any."""
    generator = np.random.default_rng([SEED, nights, 1])
    ever = np.zeros((count, len(TOOLS)), dtype=bool)
    for year in range(count):
        values = np.exp(noise(generator, nights))
        looks = [values[None, :night] for night in range(FIRST_LOOK, nights + 1)]
        named = ask(looks, peers)
        ever[year] = [any(getattr(one, tool) for one in named) for tool in TOOLS]
    return [float(share) for share in ever.mean(axis=0)]


def _line(name: str, noise: str, shares: Sequence[Any]) -> str:
    cells = " | ".join(f"{100 * share:.0f}" for share in shares)
    return f"| {name} | {noise} | {cells} |"


def main() -> None:
    """Print the tables, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", required=True, help="Python that has apache-otava and asv")
    parser.add_argument("--histories", type=int, default=40)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--years", type=int, default=4)
    parser.add_argument("--nights", type=int, default=365)
    asked = parser.parse_args()
    head = "| likely or certain, % | certain, % | Otava, % | asv, % |\n|---|---|---|---|---|---|"
    if asked.histories:
        print(f"| history | noise {head}")
        for scenario in scenarios():
            for name in ("1 %", "3 %", "heavy", "AR", "flicker"):
                shares = histories(NOISES[name], scenario, asked.histories, asked.peers)
                print(_line(scenario.name, name, shares), flush=True)
    if asked.pages:
        print(f"\n| pages of {PAGE} without a change | noise {head}")
        for runs in (10, 30, 100):
            for name, noise in NOISES.items():
                shares = calm_pages(noise, runs, asked.pages, asked.peers)
                print(_line(f"n = {runs}", name, shares), flush=True)
    if asked.years:
        print(f"\n| a look after each of {asked.nights} runs | noise {head}")
        for name, noise in NOISES.items():
            shares = calm_years(noise, asked.nights, asked.years, asked.peers)
            print(_line("one series", name, shares), flush=True)


if __name__ == "__main__":
    main()
