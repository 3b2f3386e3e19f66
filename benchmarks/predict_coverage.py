"""How often a prediction's interval holds what was measured, and how wide it is.

    python benchmarks/predict_coverage.py RUN... --predictions 200

Each RUN has ladders and profiled applications on several platforms, as `make demo` and
`benchmarks/predict_campaign.py` leave them. One prediction is one draw: of each platform `n` of its
launches without putting back, n from 6 to 12 (or all of fewer), the same blocks for ladders and
applications of both sides. It is predicted from the drawn launches alone, in both directions, and
held against the median of the drawn launches of the platform that was asked for. So launches are
real and draws of one run are not independent: the number of runs says how far the result carries.

The table has the share of medians inside their intervals, the signed, median and 90 % error, the
half-width of the intervals with its parts, and that of the machine's own launches.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bareline.analysis.numbers.disturbance import without_disturbed_trials
from bareline.analysis.numbers.records import Records, read_runs
from bareline.predict.applications import Application, applications
from bareline.predict.compute import factor_between
from bareline.predict.ladder import Ladder, read_ladder
from bareline.predict.prediction import Prediction, PredictionCase, predict
from bareline.store.run import Run
from bareline.vocabulary.errors import BarelineError

FEWEST, MOST = 6, 12


@dataclass(frozen=True)
class Draw:
    """One prediction beside the median of the launches that were drawn there."""

    run: str
    prediction: Prediction
    measured_s: float

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        assert self.prediction.time_s is not None
        return self.prediction.time_s / self.measured_s - 1

    @property
    def inside(self) -> bool:
        """Whether the measured median lies in the interval."""
        return self.prediction.lo_s <= self.measured_s <= self.prediction.hi_s

    @property
    def width(self) -> float:
        """Half of the interval, in ln."""
        return math.log(self.prediction.hi_s / self.prediction.lo_s) / 2


def drawn_application(application: Application, rng: np.random.Generator) -> Application:
    """Return an application with some of its launches, in their order."""
    count = min(len(application.launches), int(rng.integers(FEWEST, MOST + 1)))
    chosen = sorted(rng.choice(len(application.launches), count, replace=False))
    return replace(application, launches=tuple(application.launches[at] for at in chosen))


def drawn_ladder(ladder: Ladder, rng: np.random.Generator) -> Ladder:
    """Return a ladder with some of its launches."""
    count = min(ladder.n, int(rng.integers(FEWEST, MOST + 1)))
    return ladder.of_launches(rng.choice(ladder.n, count, replace=False))


def draws(path: Path, number: int, rng: np.random.Generator) -> Iterator[Draw]:
    """Yield predictions of a run's applications between all pairs of its platforms."""
    records, _ = without_disturbed_trials(read_runs([Run.open(path)]))
    for own in applications(records).values():
        usable = {name: one for name, one in own.items() if len(one.launches) >= 2}
        pairs = list(itertools.permutations(usable, 2))
        for at in range(number):
            base, target = (usable[name] for name in pairs[at % len(pairs)])
            try:
                yield draw(records, path.name, base, target, rng)
            except BarelineError as error:
                print(f"refused: {base.name}, {base.platform} to {target.platform}: {error}")


def draw(
    records: Records,
    run: str,
    base: Application,
    target: Application,
    rng: np.random.Generator,
) -> Draw:
    """Predict once from drawn launches."""
    seed = int(rng.integers(2**31))  # the same blocks on both sides
    a, b = (
        drawn_ladder(
            read_ladder(records, one.platform, one.launches[0].layout), np.random.default_rng(seed)
        )
        for one in (base, target)
    )
    base, target = (drawn_application(one, rng) for one in (base, target))
    compute = factor_between(a, b, records, program=base.program)
    done = predict(PredictionCase(base.base(a), b, compute))
    return Draw(run, done, target.median_s)


HEAD = (
    f"{'':<34} {'n':>4} {'inside':>7} {'signed':>7} {'median':>7} {'90 %':>6} "
    f"{'width':>6} {'launches':>9} {'ladder':>7} {'model':>6} {'repeats':>8}"
)


def show(title: str, found: list[Draw]) -> None:
    """Print a line of the table: errors in per cent, half-widths in ln."""
    errors = np.array([one.error for one in found])
    inside = np.mean([one.inside for one in found])
    width = np.median([one.width for one in found])
    predictions = [one.prediction for one in found]
    launches, ladder, model = (
        float(np.median([getattr(one, part) for one in predictions]))
        for part in ("launches", "ladder", "residual")
    )
    known = [one.repeats for one in predictions if one.repeats is not None]
    repeats = float(np.median(known)) if known else math.nan
    print(
        f"{title:<34} {len(found):>4} {inside:>7.0%} {np.median(errors):>+7.1%} "
        f"{np.median(abs(errors)):>7.1%} {np.quantile(abs(errors), 0.9):>6.1%} "
        f"{width:>6.3f} {launches:>9.3f} {ladder:>7.3f} {model:>6.3f} {repeats:>8.3f}"
    )


def main() -> None:
    """Draw, predict, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--predictions", type=int, default=200, help="over all runs, at least")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    each = math.ceil(arguments.predictions / len(arguments.runs))
    found = [one for run in arguments.runs for one in draws(run, each, rng)]
    print(HEAD)
    show("all", found)
    for run in dict.fromkeys(one.run for one in found):
        show(run, [one for one in found if one.run == run])
    for pair in sorted({(one.prediction.base, one.prediction.platform) for one in found}):
        own = [one for one in found if (one.prediction.base, one.prediction.platform) == pair]
        show(" to ".join(pair), own)


if __name__ == "__main__":
    main()
