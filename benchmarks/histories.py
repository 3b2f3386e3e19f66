"""Histories of runs with planted changes: bareline beside Apache Otava and asv's step detection.

    python benchmarks/histories.py --peers PYTHON --out FILE [--noise NAME ...] [--part NAME ...]
    python benchmarks/histories.py --out FILE
    python benchmarks/histories.py --peers PYTHON --series SERIES.json

PYTHON is an interpreter that has `apache-otava` and `asv` (in an environment of its own: nothing
of bareline needs them). All three get the same series, with the defaults of their commands; Otava:
windows of 50, p of at most 0.001. Otava is also asked with the largest p at which it names a change
in at most 5 % of the single histories of that length and noise without one: its power at the false
alarms that bareline promises. Shares are kept in FILE, so that the parts can be measured one by
one; the second line prints the tables. The third line prints the changes that each program names in
real series: an object of lists of values, one a run.

- *histories*: one series with planted changes, looked at once. A change counts as found if a change
  is named within two runs of it; a history is found if all its changes are, and has a false change
  if one is named more than two runs away from all of them.
- *pages*: 20 series without a change, looked at once: the share of pages that name anything.
- *years*: one series without a change, looked at after every run from the eighth on: the share of
  histories of which any look named anything.

For bareline two figures are printed: likely or certain, and certain alone.

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
from pathlib import Path
from typing import Any

import numpy as np

from bareline.stats import find_changes

SEED = 20_261_128
MARGIN = 0.02
PAGE = 20
FIRST_LOOK = 8
#: A change that is named so many runs off is found.
NEAR = 2

#: Otava names a change in at most this share of calm histories, with a p that matches bareline.
MATCHED = 0.05
CALM_HISTORIES = 100
#: Values of p that Otava is tried with, the default first.
OTAVA_P = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-8, 1e-12)

#: What runs in the interpreter of the peers: series and values of p on stdin, changes on stdout.
PEERS = """
import json, sys
from asv.step_detect import detect_steps
from otava.analysis import compute_change_points
def otava(series, p):
    return [int(point.index) for point in compute_change_points(series, max_pvalue=p)[0]]
found = []
for series, p in json.load(sys.stdin):
    steps = [int(left) for left, *_ in detect_steps(series)][1:]
    found.append([otava(series, 0.001), otava(series, p), steps])
json.dump(found, sys.stdout)
"""

#: The same of the number of series in which Otava names something with each p.
ALARMS = """
import json, sys
from otava.analysis import compute_change_points
rows, values_of_p = json.load(sys.stdin)
alarms = [sum(bool(compute_change_points(row, max_pvalue=p)[0]) for row in rows)
          for p in values_of_p]
json.dump(alarms, sys.stdout)
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
    return [*_single_steps(), *_last_runs(), *_two_changes(), *_faster_then_slower()]


def _single_steps() -> Iterable[Scenario]:
    for size in (2, 5, 10, 20):
        for n in (10, 20, 60, 200):
            yield Scenario(f"one step of {size} %", n, ((n // 2, 1 + size / 100),))


def _last_runs() -> Iterable[Scenario]:
    for size in (5, 10, 20):
        for n in (10, 30, 100):
            yield Scenario(f"last three runs {size} % slower", n, ((n - 3, 1 + size / 100),))


def _two_changes() -> Iterable[Scenario]:
    for size in (5, 10):
        grown = 1 + size / 100
        for n in (30, 90):
            places = (n // 3, grown), (2 * n // 3, grown)
            yield Scenario(f"two steps of {size} %", n, places)
        for n in (40, 120):
            places = (n // 2, grown), (n // 2 + 10, 1 / grown)
            yield Scenario(f"{size} % slower for ten runs", n, places)


def _faster_then_slower() -> Iterable[Scenario]:
    for n, faster, slower in ((60, 20, 45), (200, 60, 150)):
        yield Scenario("30 % faster, later 10 % slower", n, ((faster, 0.7), (slower, 1.1)))


@dataclass(frozen=True, slots=True)
class Named:
    """The runs at which each program names a change."""

    likely: list[int]
    certain: list[int]
    otava: list[int]
    matched: list[int]
    asv: list[int]


TOOLS = ("likely", "certain", "otava", "matched", "asv")


def ask_peers(script: str, question: object, peers: str) -> Any:
    """Return what a script answers in the interpreter of the peers."""
    line = [peers, "-c", script]
    asked = json.dumps(question)
    answer = subprocess.run(line, input=asked, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def matched_p(noise: Noise, runs: int, peers: str) -> float:
    """Return the largest p with which Otava names something in few enough calm histories."""
    generator = np.random.default_rng([SEED, runs, CALM_HISTORIES])
    rows = [np.exp(noise(generator, runs)).tolist() for _ in range(CALM_HISTORIES)]
    alarms = ask_peers(ALARMS, [rows, OTAVA_P], peers)
    few = [p for p, count in zip(OTAVA_P, alarms, strict=True) if count <= MATCHED * len(rows)]
    return few[0] if few else 0.0


def ask(pages: Sequence[np.ndarray], peers: str, matched: Sequence[float] = ()) -> list[Named]:
    """Return what is named in each page, shape (series, runs); peers see each series alone.

    - `matched`: the p of Otava for each page; by default its own.
    """
    values_of_p = matched or [OTAVA_P[0]] * len(pages)
    rows = [[row.tolist(), p] for page, p in zip(pages, values_of_p, strict=True) for row in page]
    answers = iter(ask_peers(PEERS, rows, peers))
    named = []
    for page in pages:
        changes = [one for course in find_changes(page, margin=MARGIN) for one in course.changes]
        own = [next(answers) for _ in page]
        named.append(
            Named(
                likely=[change.at for change in changes],
                certain=[change.at for change in changes if change.certain],
                otava=[at for otava, _, _ in own for at in otava],
                matched=[at for _, matched, _ in own for at in matched],
                asv=[at for _, _, asv in own for at in asv],
            )
        )
    return named


def is_found(places: Sequence[int], scenario: Scenario) -> bool:
    """Whether every planted change is named."""
    return all(any(abs(at - place) <= NEAR for place in places) for at, _ in scenario.changes)


def has_false(places: Sequence[int], scenario: Scenario) -> bool:
    """Whether a change is named where none was planted."""
    return any(all(abs(at - place) > NEAR for at, _ in scenario.changes) for place in places)


Shares = dict[str, list[float]]


def histories(noise: Noise, count: int, peers: str) -> dict[str, Shares]:
    """Return, for each scenario, the shares of histories found and of those with a false change."""
    planted = scenarios()
    lengths = {scenario.runs for scenario in planted}
    p_of = {runs: matched_p(noise, runs, peers) for runs in lengths}
    pages = []
    matched = []
    for scenario in planted:
        generator = np.random.default_rng([SEED, scenario.runs, count])
        pages += [scenario.series(noise, generator)[None] for _ in range(count)]
        matched += [p_of[scenario.runs]] * count
    named = ask(pages, peers, matched)
    shares = {}
    for number, scenario in enumerate(planted):
        own = named[number * count : (number + 1) * count]
        shares[f"{scenario.name}, n = {scenario.runs}"] = _shares(own, scenario)
    return shares


def _shares(named: Sequence[Named], scenario: Scenario) -> Shares:
    shares: Shares = {}
    for tool in TOOLS:
        places = [getattr(one, tool) for one in named]
        found = np.mean([is_found(own, scenario) for own in places])
        false = np.mean([has_false(own, scenario) for own in places])
        shares[tool] = [float(found), float(false)]
    return shares


def calm_pages(noise: Noise, runs: int, count: int, peers: str) -> Shares:
    """Return the share of pages without a change of which each program names any."""
    generator = np.random.default_rng([SEED, runs, PAGE])
    pages = [np.exp([noise(generator, runs) for _ in range(PAGE)]) for _ in range(count)]
    named = ask(pages, peers)
    return {
        tool: [float(np.mean([bool(getattr(one, tool)) for one in named]))]
        for tool in TOOLS
        if tool != "matched"
    }


def calm_years(noise: Noise, nights: int, count: int, peers: str) -> Shares:
    """Return the share of histories without a change of which each program ever names any."""
    generator = np.random.default_rng([SEED, nights, 1])
    ever = np.zeros((count, len(TOOLS)), dtype=bool)
    for year in range(count):
        values = np.exp(noise(generator, nights))
        looks = [values[None, :night] for night in range(FIRST_LOOK, nights + 1)]
        named = ask(looks, peers)
        ever[year] = [any(getattr(one, tool) for one in named) for tool in TOOLS]
    return {tool: [float(ever[:, at].mean())] for at, tool in enumerate(TOOLS) if tool != "matched"}


@dataclass(frozen=True, slots=True)
class Results:
    """The shares that were measured, by part, row and noise, kept in a file."""

    path: Path
    shares: dict[str, dict[str, dict[str, Shares]]]

    @classmethod
    def open(cls, path: Path) -> Results:
        """Return the results of a file, which need not be there."""
        return cls(path, json.loads(path.read_text()) if path.exists() else {})

    def keep(self, part: str, row: str, noise: str, shares: Shares) -> None:
        """Write one more cell."""
        self.shares.setdefault(part, {}).setdefault(row, {})[noise] = shares
        self.path.write_text(json.dumps(self.shares, indent=1))

    def print_tables(self) -> None:
        """Print a table for each part; a cell is a noise, its entries are the programs."""
        for part, rows in self.shares.items():
            print(f"\n{part}: bareline likely or certain, certain; Otava; matched Otava; asv, %\n")
            print("|  | " + " | ".join(NOISES) + " |\n" + "|---" * (len(NOISES) + 1) + "|")
            for row, cells in rows.items():
                columns = [_cell(cells.get(noise)) for noise in NOISES]
                print(f"| {row} | " + " | ".join(columns) + " |")

    def print_summary(self) -> None:
        """Print, for each noise, how bareline compares in the rows of 5 % and more."""
        rows = [
            cells
            for row, cells in self.shares.get("histories", {}).items()
            if not row.startswith("one step of 2 %")
        ]
        print("\n| noise | as often as Otava | as matched Otava | found | false |")
        print("|---|---|---|---|---|")
        for noise in NOISES:
            cells = [row[noise] for row in rows if noise in row]
            if cells:
                print(f"| {noise} | {_summary(cells)} |")


def _summary(cells: Sequence[Shares]) -> str:
    """Return in how many cells bareline finds as much as Otava, and the means of all programs."""
    entries = []
    for peer in ("otava", "matched"):
        as_often = sum(cell["likely"][0] >= cell[peer][0] for cell in cells)
        entries.append(f"{as_often} of {len(cells)}")
    for which in (0, 1):
        means = [100 * np.mean([cell[tool][which] for cell in cells]) for tool in TOOLS]
        entries.append(" · ".join(f"{mean:.0f}" for mean in means))
    return " | ".join(entries)


def _cell(shares: Shares | None) -> str:
    """Return the shares of all programs in per cent: found, and false ones in brackets."""
    if shares is None:
        return ""
    entries = []
    for tool in TOOLS:
        if tool not in shares:
            continue
        share, *false = (f"{100 * one:.0f}" for one in shares[tool])
        entries.append(f"{share} ({false[0]})" if false and tool != "certain" else share)
    return " · ".join(entries)


def measure(part: str, noise: str, asked: argparse.Namespace, results: Results) -> None:
    """Measure all rows of a part with one noise."""
    make = NOISES[noise]
    if part == "histories":
        for row, shares in histories(make, asked.histories, asked.peers).items():
            results.keep(part, row, noise, shares)
    elif part == "pages":
        for runs in (10, 30, 100):
            shares = calm_pages(make, runs, asked.pages, asked.peers)
            results.keep(part, f"n = {runs}", noise, shares)
    else:
        shares = calm_years(make, asked.nights, asked.years, asked.peers)
        results.keep(part, f"{asked.nights} nights", noise, shares)


def print_real(path: Path, peers: str) -> None:
    """Print the runs at which each program names a change in the series of a file."""
    series = json.loads(path.read_text())
    named = ask([np.array(values, dtype=float)[None] for values in series.values()], peers)
    print("| series | runs | " + " | ".join(TOOLS) + " |\n" + "|---" * (len(TOOLS) + 2) + "|")
    for (name, values), one in zip(series.items(), named, strict=True):
        places = [", ".join(map(str, getattr(one, tool))) or "none" for tool in TOOLS]
        print(f"| {name} | {len(values)} | " + " | ".join(places) + " |")


PARTS = ("histories", "pages", "years")


def main() -> None:
    """Measure what is asked for, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", help="Python that has apache-otava and asv; measures")
    parser.add_argument("--out", type=Path, default=Path("histories.json"), help="file of shares")
    parser.add_argument("--series", type=Path, help="JSON file of real series; nothing is planted")
    parser.add_argument("--noise", nargs="*", default=list(NOISES), choices=list(NOISES))
    parser.add_argument("--part", nargs="*", default=list(PARTS), choices=PARTS)
    parser.add_argument("--histories", type=int, default=40)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--years", type=int, default=4)
    parser.add_argument("--nights", type=int, default=365)
    asked = parser.parse_args()
    if asked.series:
        print_real(asked.series, asked.peers)
        return
    results = Results.open(asked.out)
    for part in asked.part if asked.peers else ():
        for noise in asked.noise:
            measure(part, noise, asked, results)
    results.print_tables()
    results.print_summary()


if __name__ == "__main__":
    main()
