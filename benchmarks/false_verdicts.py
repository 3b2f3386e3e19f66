"""Are verdicts true? Pages of platforms that do not differ, and losses that must be found.

    python benchmarks/false_verdicts.py [--pages N] [--update docs/method/appendix-statistics.md]
    python benchmarks/false_verdicts.py --only power --probe mpi.pingpong --launches 20

Whole runs are simulated (records, comparison, sentences: what a user sees), with a fixed seed:

* A/A pages: several platforms that are the same. A page is wrong if any sentence claims a
  difference. Two studies: one like ``quick`` (five probes, curves, three platforms) and one with 50
  cases of a single probe.
* Power: one probe of a quick-like study is slower by 5, 10 or 30 %; how often do the sentences,
  and the rows of the table, find it?
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

BEGIN, END = "<!-- verdict tables: begin -->", "<!-- verdict tables: end -->"
SEED = 20_261_122
LOSSES = (0.05, 0.10, 0.30)
LAUNCHES = (6, 10, 20)
#: Probes that are made slower, one at a time: a calm one and one with noise.
SLOWER = ("compute.dgemm", "mpi.pingpong")
SIZES = tuple(8 << power for power in range(0, 18, 2))

#: Noise of a launch by probe, as on a busy two-core machine.
QUICK = {
    "compute.dgemm": 0.015, "memory.stream": 0.04, "net.nuttcp": 0.06,
    "mpi.pingpong": 0.05, "mpi.allreduce": 0.08,
}  # fmt: skip
_METRICS: Mapping[str, tuple[str, str, str, str]] = {
    "compute.dgemm": ("compute", "rate", "flop/s", "higher"),
    "memory.stream": ("memory", "bandwidth", "B/s", "higher"),
    "net.nuttcp": ("network", "rate", "B/s", "higher"),
    "mpi.pingpong": ("mpi", "latency", "s", "lower"),
    "mpi.allreduce": ("mpi", "latency", "s", "lower"),
    "null": ("app", "time", "s", "lower"),
}
Draw = Callable[[np.random.Generator], float]


def points(probe: str) -> Sequence[str]:
    """Return the points of a probe."""
    if probe == "memory.stream":
        return [f"kernel={kernel}" for kernel in ("copy", "scale", "add", "triad")]
    return [f"size_bytes={size}" for size in SIZES] if probe.startswith("mpi") else [""]


def write_run(
    folder: Path,
    cases: Sequence[tuple[str, str]],
    platforms: Sequence[str],
    launches: int,
    generator: np.random.Generator,
    *,
    noise: Mapping[str, float],
    skewed: bool = False,
    loss: Mapping[tuple[str, str], float] | None = None,
) -> None:
    """Write a run directory; what a launch's points share is half of their noise."""
    (folder / "facts").mkdir(parents=True)
    (folder / "raw").mkdir()
    header = ["schema = 1", 'created = "2026-11-22T00:00:00+00:00"', "seed = 1",
              f'baseline = "{platforms[0]}"', 'config_hash = "0"', "[versions]"]  # fmt: skip
    for probe in dict(cases):
        layer, metric, unit, better = _METRICS[probe]
        header += [f'[probe."{probe}"]', f'layer = "{layer}"', f'headline = "{metric}"',
                   f'title = "{probe}"', f'[probe."{probe}".metrics.{metric}]',
                   f'unit = "{unit}"', f'better = "{better}"', "detail = false"]  # fmt: skip
    header += ["[study.study]", 'name = "simulated"']
    for name in platforms:
        header += [f'[platform."{name}"]', 'type = "null"']
    (folder / "run.toml").write_text("\n".join(header) + "\n")

    def draw(count: int) -> np.ndarray:
        if skewed:
            return generator.exponential(size=count) - 1.0
        return generator.standard_normal(count)

    lines = []
    for block in range(launches):
        for probe, params in cases:
            metric, better = _METRICS[probe][1], _METRICS[probe][3]
            sign = 1 if better == "lower" else -1
            for name in platforms:
                own = points(probe)
                factor = (loss or {}).get((probe, name), 0.0)
                logs = noise[probe] * (draw(1) + draw(len(own))) / np.sqrt(2)
                values = 1e-3 * np.exp(sign * (logs + np.log1p(factor)))
                samples = [
                    {"metric": metric, "point": point, "value": float(value)}
                    for point, value in zip(own, values, strict=True)
                ]
                lines.append(
                    json.dumps({
                        "trial": len(lines), "attempt": 1, "block": block, "platform": name,
                        "probe": probe, "params": params, "ranks": 1, "threads": 1, "nodes": None,
                        "placement": "spread", "layout": "1x1x1", "timeout_s": 300, "started": "",
                        "duration_s": 0.1, "clock": "wall", "status": "measured", "stage": None,
                        "reason": None, "caveats": [], "samples": samples,
                    })
                )  # fmt: skip
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")


#: Reads runs and prints, for each, what its sentences and its rows claim.
_READ = """
import json, sys
from pathlib import Path
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.numbers.records import read_runs
from bareline.store.run import Run
for line in sys.stdin:
    comparison = Comparison(read_runs([Run.open(Path(line.strip()))]))
    claims = [[f.probe, f.platform] for f in comparison.findings if f.verdict.decided]
    table = comparison.table
    decided = table.filter(table["verdict"].is_in(["slower", "faster"]))
    rows = [list(row) for row in decided.select("probe", "platform").iter_rows()]
    print(json.dumps([claims, rows, table.height]), flush=True)
"""


def looked_at(folders: Sequence[Path]) -> Iterator[tuple[list, list, int]]:
    """Yield what the sentences and the rows of each run claim, and how many rows there are."""
    done = subprocess.run(
        [sys.executable, "-c", _READ],
        input="".join(f"{folder}\n" for folder in folders),
        capture_output=True,
        text=True,
        check=True,
    )
    for line in done.stdout.splitlines():
        yield tuple(json.loads(line))  # type: ignore[misc]


def many_cases(count: int) -> list[tuple[str, str]]:
    """Return cases of one probe."""
    return [("null", f"median_s={k}") for k in range(1, count + 1)]


def false_pages(pages: int) -> str:
    """Return the table of A/A pages."""
    quick = [(probe, "") for probe in QUICK]
    studies = {
        "quick-like, 3 platforms, n = 7": (quick, ("a", "b", "c"), 7, False),
        "quick-like, 3 platforms, n = 7, delays": (quick, ("a", "b", "c"), 7, True),
        "quick-like, 4 platforms, n = 10": (quick, ("a", "b", "c", "d"), 10, False),
        "50 cases of a probe, n = 6": (many_cases(50), ("a", "b"), 6, False),
        "50 cases of a probe, n = 10": (many_cases(50), ("a", "b"), 10, False),
    }
    head = ["study", "pages", "wrong sentence", "wrong row", "rows a page"]
    rows = []
    for number, (name, (cases, platforms, launches, skewed)) in enumerate(studies.items()):
        generator = np.random.default_rng([SEED, number])
        with tempfile.TemporaryDirectory() as temporary:
            folders = [Path(temporary) / str(page) for page in range(pages)]
            for folder in folders:
                write_run(folder, cases, platforms, launches, generator,
                          noise={**QUICK, "null": 0.05}, skewed=skewed)  # fmt: skip
            looked = list(looked_at(folders))
        sentences = share(bool(claims) for claims, _, _ in looked)
        wrong_rows = share(bool(decided) for _, decided, _ in looked)
        height = looked[0][2]
        rows.append([name, str(pages), sentences, wrong_rows, str(height)])
    title = "Pages without any difference: per cent with a wrong sentence or row"
    return table(title, head, rows)


def power(
    pages: int,
    slower: Sequence[str] = SLOWER,
    counts: Sequence[int] = LAUNCHES,
) -> str:
    """Return the table of detection: one probe is slower.

    A part of it has the same figures as the whole: each cell has a seed of its own.
    """
    cases = [(probe, "") for probe in QUICK]
    head = ["slower probe (noise)", "loss", *(f"n = {n}: sentence, row" for n in counts)]
    rows = []
    for probe in slower:
        for loss in LOSSES:
            cells = [f"{probe} ({QUICK[probe]:.1%})", f"{loss:.0%}"]
            for launches in counts:
                generator = np.random.default_rng([SEED, launches, int(loss * 100)])
                with tempfile.TemporaryDirectory() as temporary:
                    folders = [Path(temporary) / str(page) for page in range(pages)]
                    for folder in folders:
                        write_run(folder, cases, ("a", "b", "c"), launches, generator,
                                  noise=QUICK, loss={(probe, "b"): loss})  # fmt: skip
                    looked = list(looked_at(folders))
                hit = [probe, "b"]
                sentences = share(hit in claims for claims, _, _ in looked)
                found_rows = share(hit in decided for _, decided, _ in looked)
                cells.append(f"{sentences}, {found_rows}")
            rows.append(cells)
    return table(f"A loss found, per cent of {pages} runs", head, rows)


def share(hits: Iterator[bool]) -> str:
    """Write a share in per cent."""
    return f"{100 * float(np.mean(list(hits))):.0f}"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table under a bold title."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join([f"**{title}**", "", *("| " + " | ".join(line) + " |" for line in lines)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--only", choices=["pages", "power"], help="one of the two tables")
    parser.add_argument(
        "--probe", choices=SLOWER, action="append", help="with --only power: of this row alone"
    )
    parser.add_argument(
        "--launches", type=int, choices=LAUNCHES, action="append",
        help="with --only power: of this column alone",
    )  # fmt: skip
    parser.add_argument("--update", type=Path, metavar="PAGE")
    options = parser.parse_args()
    part = (options.probe or SLOWER, options.launches or LAUNCHES)
    if part != (SLOWER, LAUNCHES) and options.only != "power":
        parser.error("--probe and --launches choose a part of the table of --only power")
    if options.update and options.only:
        parser.error("--update writes both tables: leave --only away")
    sections = []
    builders = {"pages": false_pages, "power": lambda *how: power(*how, *part)}
    for section in [builders[options.only]] if options.only else builders.values():
        sections.append(section(options.pages))
        print(sections[-1], end="\n\n", flush=True)
    if options.update:
        before, rest = options.update.read_text(encoding="utf-8").split(BEGIN)
        _, after = rest.split(END)
        text = "\n\n".join(sections)
        options.update.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
