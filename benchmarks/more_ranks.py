"""A mini-app on more ranks than it was profiled on, predicted, and run itself under SMPI.

    benchmarks/more_ranks.py ocean S --counts 2 4 8 16 --ranks 64
    benchmarks/more_ranks.py lattice A --counts 16 32 --ranks 64 --grid 2x4x8

Profiles a period at each count, ranks sharing cores where there are too few, and predicts the time
of all periods on three networks, one rank a node. Beside it stand what the totals of the program
itself at the same counts give: the best c + a p^i log2(p)^j (what Extra-P fits), and the speed-up
that is ideal. `--without-computing` compares what messages take alone, for which no core need be
free; with it the machine must be at rest, and the profiles of as many ranks as there are cores tell
computing. `--extrap PROGRAM` is Extra-P's own `extrap` (`pip install extrap` into an environment of
its own), which then extrapolates the totals as well.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.platforms.sim.platform import PLATFORM, SimAllocation
from bareline.predict.scaling.grid import parse_grid
from bareline.predict.scaling.prediction import Target, grow
from bareline.predict.scaling.ranks import scaled
from bareline.profile.period import ProgramPeriod, period_file, read_period
from bareline.vocabulary.model import Command, Layout

NETWORKS = ("ib-qdr", "10g", "1g")
_TIMEOUT_S = 3600.0
_SHARED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def profiled(app: str, size: str, ranks: int, folder: Path) -> ProgramPeriod:
    """Profile one period."""
    mpi = find_mpi("openmpi")
    program = build_native(mpi, cache_folder()).programs / f"app_{app}"
    out = folder / f"{app}.p{ranks}"
    line = [sys.executable, "-m", "bareline", "profile", "--period", "-o", str(out), "--"]
    line += [mpi.mpirun, "-n", str(ranks), str(program), size]
    subprocess.run(line, check=True, env=os.environ | _SHARED, stdout=subprocess.DEVNULL)
    return read_period(period_file(out))


def itself(there: SimAllocation, app: str, size: str, ranks: int) -> float:
    """Run the program itself in the simulator, and give its time in s."""
    command = Command(argv=(f"{{native}}/app_{app}", size), mpi=True)
    output = there.run(command, Layout(ranks), timeout_s=_TIMEOUT_S)
    lines = [json.loads(line) for line in output.stdout.splitlines() if line.startswith("{")]
    return float(next(line["time_s"] for line in lines if "time_s" in line))


def by_totals(counts: Sequence[int], times: Sequence[float], ranks: int) -> float:
    """Extrapolate totals by the best of c + a p^i log2(p)^j."""
    best = (float("inf"), 0.0)
    powers = product((-1, -2 / 3, -1 / 2, -1 / 3, 0, 1 / 3, 1 / 2, 2 / 3, 1), (0, 1, 2))
    for power, log in powers:
        rows = [[1.0, p**power * np.log2(p) ** log] for p in (*counts, ranks)]
        factors = np.linalg.lstsq(np.array(rows[:-1]), np.array(times), rcond=None)[0]
        off = float(np.abs(np.array(rows[:-1]) @ factors - times).sum())
        best = min(best, (off, float(np.array(rows[-1]) @ factors)))
    return best[1]


def by_extrap(program: str, counts: Sequence[int], times: Sequence[float], ranks: int) -> float:
    """Let Extra-P extrapolate totals."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        points = " ".join(f"({count})" for count in counts)
        data = "\n".join(f"DATA {time}" for time in times)
        file.write(f"PARAMETER p\n\nREGION total\nMETRIC time\nPOINTS {points}\n{data}\n")
        file.flush()
        line = [program, "--text", file.name, "--print", "functions-python", "--disable-progress"]
        done = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
    model = done.stdout.strip()
    print(f"Extra-P: {model} from {[float(f'{time:.4g}') for time in times]} s")
    return float(eval(model, {"p": ranks, "log2": np.log2}))


def main() -> None:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("app")
    parser.add_argument("size")
    parser.add_argument("--counts", type=int, nargs="+", default=[2, 4, 8, 16])
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--grid")
    parser.add_argument("--extrap", metavar="PROGRAM")
    parser.add_argument("--without-computing", action="store_true")
    asked = parser.parse_args()
    factor = 1e-6 if asked.without_computing else 1.0
    grid = parse_grid(asked.grid) if asked.grid else None
    errors: dict[str, list[float]] = {}
    print("network   itself s   predicted   by totals   ideal", "  Extra-P" * bool(asked.extrap))
    with tempfile.TemporaryDirectory() as folder:
        periods = [profiled(asked.app, asked.size, n, Path(folder)) for n in asked.counts]
        for name in NETWORKS:
            table = {"type": "sim", "nodes": asked.ranks, "cores": 1, "network": name}
            spec = make_spec("s", {**table, "compute_factor": factor}, where="benchmark")
            scratch = Path(folder) / name
            scratch.mkdir()
            with PLATFORM(spec, Context(scratch, cache_folder())).acquire(Layout(1)) as there:
                assert isinstance(there, SimAllocation)

                def run(trace, there=there):
                    return there.replayed_s(trace, Layout(trace.ranks), timeout_s=_TIMEOUT_S)

                target = Target(name, run)
                done = grow(scaled(periods), asked.ranks, grid, target)
                times = [itself(there, asked.app, asked.size, n) for n in asked.counts]
                true_s = itself(there, asked.app, asked.size, asked.ranks)
            guesses = {
                "predicted": done.rows()[-1]["time_s"],
                "by totals": by_totals(asked.counts, times, asked.ranks),
                "ideal": times[0] * asked.counts[0] / asked.ranks,
            }
            if asked.extrap:
                guesses["Extra-P"] = by_extrap(asked.extrap, asked.counts, times, asked.ranks)
            for kind, guess in guesses.items():
                errors.setdefault(kind, []).append(guess / true_s - 1)
            said = "   ".join(f"{guess / true_s - 1:+9.1%}" for guess in guesses.values())
            print(f"{name:8}  {true_s:9.6f}   {said}", flush=True)
    for kind, own in errors.items():
        print(f"{kind}: median of absolute errors {statistics.median(map(abs, own)):.1%}")


if __name__ == "__main__":
    main()
