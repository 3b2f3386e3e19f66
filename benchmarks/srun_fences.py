"""How often ranks of Open MPI do not come up under `srun --mpi=pmix`, by the fence of PMIx.

    python benchmarks/srun_fences.py launches.jsonl [--launches 300] [--minutes 8] [--load 2]

A Slurm cluster of four nodes is made here, as the tests make it; needs root. Launches of four ranks
on four nodes (`mpibench barrier`) take turns: Slurm's own choice, ``tree``, ``ring``. Each is a
line of the file; what it holds from before counts, so that pieces add up. Processes that only
compute load the cores. A launch that does not end within 10 s counts as hung. The table at the end
gives the share of launches that failed or hung with its exact 95 % interval (Clopper-Pearson).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "platforms" / "reached"))

from machines import slurm_cluster
from scipy.stats import binomtest

from bareline.build.native import ensure_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import find_mpi

FENCES = ("default", "tree", "ring")
LIMIT_S = 10.0


def launch(job: str, program: Path, fence: str) -> tuple[str, float]:
    """Launch once; say how it ended, and after how long."""
    environment = dict(os.environ) | ({} if fence == "default" else {"SLURM_PMIX_FENCE": fence})
    line = ["srun", f"--jobid={job}", "--overlap", "--mpi=pmix", "-N4", "-n4", "--quiet"]
    line += ["env", "OMPI_MCA_mpi_yield_when_idle=1", str(program), "barrier", "-i", "5"]
    started = time.monotonic()
    with subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as srun:
        try:
            said, _ = srun.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            srun.send_signal(signal.SIGKILL)
            srun.communicate()
            listed = ["squeue", "-hs", f"--jobs={job}", "--format=%i"]
            steps = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
            numbered = (step for step in steps.split() if step[-1].isdigit())
            subprocess.run(["scancel", *numbered], check=False)
            return "hung", LIMIT_S
    if srun.returncode == 0 and '"end":true' in said:
        how = "ok"
    elif "Segmentation fault" in said:
        how = "SIGSEGV"
    else:
        how = f"exit {srun.returncode}: {said.strip().splitlines()[-1:]}"
    return how, time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--launches", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--load", type=int, default=2)
    asked = parser.parse_args()
    program = ensure_native(find_mpi("openmpi"), cache_folder()) / "mpibench"
    ends = time.monotonic() + 60 * asked.minutes
    counts = Counter(
        (line["fence"], line["how"]) for line in map(json.loads, asked.file.open())
    ) if asked.file.exists() else Counter()  # fmt: skip
    loads = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(asked.load)]
    try:
        with slurm_cluster(4) as cluster, cluster.inside(), asked.file.open("a") as file:
            held = ["salloc", "-N4", "--exclusive", "--no-shell", "--job-name=fences"]
            told = subprocess.run(held, capture_output=True, text=True, check=True).stderr
            job = told.split("Granted job allocation")[1].split()[0]
            while time.monotonic() < ends:
                done = Counter(fence for fence, _ in counts.elements())
                fence = min(FENCES, key=lambda name: done[name])
                if done[fence] >= asked.launches:
                    break
                how, seconds = launch(job, program, fence)
                counts[fence, how] += 1
                load = os.getloadavg()[0]
                row = {"fence": fence, "how": how, "s": round(seconds, 2), "load": load}
                file.write(json.dumps(row) + "\n")
                file.flush()
            subprocess.run(["scancel", job], check=False)
    finally:
        for load_process in loads:
            load_process.kill()
    for fence in FENCES:
        told = ", ".join(f"{n} {how}" for (name, how), n in sorted(counts.items()) if name == fence)
        launches = sum(n for (name, _), n in counts.items() if name == fence)
        failed = launches - counts[fence, "ok"]
        share = binomtest(failed, launches).proportion_ci() if launches else (0.0, 1.0)
        interval = f"[{share[0]:.2%}, {share[1]:.2%}]"
        print(f"{fence:8} {failed} of {launches} failed or hung {interval}: {told}")


if __name__ == "__main__":
    main()
