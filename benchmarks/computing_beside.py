"""What computing between an application's calls takes on each platform of a run, by its length.

    benchmarks/computing_beside.py RUN app.ocean --base shm

RUN holds the application traced (``profile = true``). Stretches between calls that follow the same
calls are alike: of each kind the 30 % quantile of a launch, which other programs hardly move, and
the median over launches. Printed by length on the base: how many a rank has, what they take there
in all, and on the others by how many times and by how many microseconds each is longer.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from bareline.analysis.numbers.records import read_runs
from bareline.predict.applications import applications
from bareline.profile.trace import CallStream
from bareline.store.run import Run

#: Calls before a stretch that make it the same as another one.
_BEFORE = 8
_ENDS_US = (0.7, 2, 5, 12, 30, 100, 1e6)


def by_kind(stream: CallStream) -> dict[tuple[object, ...], tuple[int, float]]:
    """Return the number of stretches of each kind, and their 30 % quantile in us."""
    names = [(shape.call, shape.size) for shape in stream.shapes]
    kinds = defaultdict(list)
    for at in range(_BEFORE, len(stream.shape)):
        key = tuple(names[number] for number in stream.shape[at - _BEFORE : at + 1])
        kinds[key].append(float(stream.compute_s[at]))
    return {key: (len(own), 1e6 * float(np.quantile(own, 0.3))) for key, own in kinds.items()}


def main() -> None:
    """Print a line for each platform and range of lengths."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("probe")
    parser.add_argument("--base", default="shm")
    asked = parser.parse_args()
    records = read_runs([Run.open(asked.run)])
    found = applications(records, max_queued=1.0)
    by_platform = next(own for name, own in found.items() if name.startswith(asked.probe))
    taken: dict[str, dict[tuple[object, ...], list[float]]] = {}
    counts: dict[tuple[object, ...], int] = {}
    for platform, application in by_platform.items():
        own = taken.setdefault(platform, defaultdict(list))
        for launch in application.launches:
            for stream in launch.trace.streams if launch.trace else ():
                for key, (count, time_us) in by_kind(stream).items():
                    own[(stream.rank, *key)].append(time_us)
                    counts[(stream.rank, *key)] = count
    base = {key: float(np.median(times)) for key, times in taken[asked.base].items()}
    print("platform  up to us  stretches  base us   times  each longer by us")
    for platform, own in taken.items():
        low = 0.0
        for high in (*_ENDS_US, np.inf):
            whole = high == np.inf
            chosen = [k for k, t in base.items() if k in own and (whole or low <= t < high)]
            weights = np.array([counts[key] for key in chosen])
            one = np.array([base[key] for key in chosen])
            other = np.array([np.median(own[key]) for key in chosen])
            low = high
            if not chosen or platform == asked.base:
                continue
            said = "all" if whole else f"{high:g}"
            times = weights @ other / (weights @ one)
            each = weights @ (other - one) / weights.sum()
            print(
                f"{platform:8}  {said:>8}  {weights.sum():9}  {weights @ one:7.0f}  {times:6.3f}  "
                f"{each:+8.2f}"
            )


if __name__ == "__main__":
    main()
