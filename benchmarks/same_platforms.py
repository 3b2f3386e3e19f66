"""Real A/A runs: what is claimed of two platforms that are the same, and how much must be expected.

    python benchmarks/same_platforms.py [--runs 6] [--launches 7] [--out DIR]

Each run measures one of two small studies on two platforms of this machine with the same options
and other names: `one` on one node (compute, memory, messages in shared memory), `two` on pairs of
hosts without a hypervisor (TCP and messages between nodes). Whatever is called slower or faster is
false. The rules allow a false sentence in at most 5 % of pages (all sentences together) and one in
twenty rows that are called different; the number of runs is fixed before, and all are told.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.store.run import Run

PLATFORMS = """
[platform.first]
type = "local"
[platform.second]
type = "local"
[platform.first-pair]
type = "netns"
[platform.second-pair]
type = "netns"
"""
HEAD = """
[study]
name = "same-{name}"
launches = {launches}
precision = 0
"""
MEASURES = {
    "one": """
[[measure]]
probe = "compute.dgemm"
params = { n = 256, repeat = 10 }
[[measure]]
probe = "memory.stream"
params = { repeat = 3, stores = "regular" }
[[measure]]
probe = "mpi.pingpong"
params = { min_bytes = 8, max_bytes = 1048576, budget_s = 0.15 }
ranks = 2
""",
    "two": """
[[measure]]
probe = "net.nuttcp"
params = { duration_s = 1 }
ranks = 2
[[measure]]
probe = "mpi.pingpong"
params = { min_bytes = 8, max_bytes = 1048576, budget_s = 0.15 }
ranks = 2
nodes = 2
[[measure]]
probe = "mpi.allreduce"
params = { min_bytes = 8, max_bytes = 65536, budget_s = 0.15 }
ranks = 2
nodes = 2
""",
}
ON = {"one": ("first", "second"), "two": ("first-pair", "second-pair")}


def measure(study: str, launches: int, out: Path) -> Run:
    """Measure one study on two equal platforms."""
    platforms, file = out.with_suffix(".platforms.toml"), out.with_suffix(".toml")
    platforms.write_text(PLATFORMS)
    file.write_text(HEAD.format(name=study, launches=launches) + MEASURES[study])
    chosen = [word for name in ON[study] for word in ("--on", name)]
    command = ["run", str(file), "--platforms", str(platforms), *chosen, "--out", str(out)]
    subprocess.run([sys.executable, "-m", "bareline", *command], check=True, capture_output=True)
    return Run.open(out)


def claims(run: Run) -> tuple[list[str], list[str], int]:
    """Return the false sentences and rows of a run, and the number of rows that were tested."""
    comparison = Comparison(read_runs([run]))
    told = [f"{f.probe} {f.verdict}" for f in comparison.findings if f.verdict.decided]
    table = comparison.table
    decided = table.filter(table["verdict"].is_in(["slower", "faster"]))
    rows = [
        f"{probe} {params} {metric}"
        for probe, params, metric in decided.select("probe", "params", "metric").iter_rows()
    ]
    return told, rows, table.height


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, look, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=6, help="of each study")
    parser.add_argument("--launches", type=int, default=7, help="blocks of each run")
    parser.add_argument("--out", type=Path, help="keep the runs in this folder")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.out or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for study in MEASURES:
            pages, wrong_rows, rows = 0, 0, 0
            for number in range(args.runs):
                run = measure(study, args.launches, folder / f"{study}-{number + 1}")
                told, decided, tested = claims(run)
                pages, wrong_rows, rows = (
                    pages + bool(told),
                    wrong_rows + len(decided),
                    rows + tested,
                )
                said = "; ".join([*told, *decided]) or "nothing"
                print(f"{study} {number + 1}: {tested} rows, claimed: {said}", flush=True)
            print(
                f"{study} nodes: {pages} of {args.runs} pages with a false sentence "
                f"(expected at most {0.05 * args.runs:.1f}), {wrong_rows} of {rows} rows\n"
            )


if __name__ == "__main__":
    main()
