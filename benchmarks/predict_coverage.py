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

``--leave-out`` shows whether the model's error (`bareline.predict.interval`) depends on the
program, the platform or the run: without each of them the narrowest intervals that contain 95 % of
the other medians are looked for, and the share of its own medians inside these is printed.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bareline.analysis.numbers.disturbance import without_disturbed_trials
from bareline.analysis.numbers.records import Records, read_runs
from bareline.predict.applications import Application, applications
from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import factor_between
from bareline.predict.curves.platform_curves import PlatformCurves, read_ladder
from bareline.predict.interval import LEVEL, LEVEL_WORDS, ModelError
from bareline.predict.prediction import Prediction, predict
from bareline.store.run import Run
from bareline.vocabulary.errors import BarelineError

FEWEST, MOST = 6, 12


@dataclass(frozen=True)
class Draw:
    """One prediction beside the median of the launches that were drawn there.

    - `change`: of all inputs together, in ln, on which the model's error depends.
    """

    run: str
    application: str
    prediction: Prediction
    measured_s: float
    change: float

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

    def width_with(self, error: ModelError) -> float:
        """Return the half-width with another error of the model, in ln."""
        own = self.prediction
        misfit = math.log(own.reproduced) if own.model == "replay" and own.reproduced else 0.0
        parts = math.hypot(own.launches, own.ladder, own.residual)
        others = math.hypot(own.launches, own.ladder, misfit, error.of(self.change))
        return self.width / parts * others


def drawn_application(application: Application, rng: np.random.Generator) -> Application:
    """Return an application with some of its launches, in their order."""
    count = min(len(application.launches), int(rng.integers(FEWEST, MOST + 1)))
    chosen = sorted(rng.choice(len(application.launches), count, replace=False))
    return replace(application, launches=tuple(application.launches[at] for at in chosen))


def drawn_ladder(ladder: PlatformCurves, rng: np.random.Generator) -> PlatformCurves:
    """Return a ladder with some of its launches."""
    count = min(ladder.n, int(rng.integers(FEWEST, MOST + 1)))
    return ladder.of_launches(rng.choice(ladder.n, count, replace=False))


def draws(path: Path, number: int, rng: np.random.Generator) -> Iterator[Draw]:
    """Yield predictions of a run's applications between all pairs of its platforms."""
    records, _ = without_disturbed_trials(read_runs([Run.open(path)]))
    by_name = applications(records)
    each = math.ceil(number / len(by_name))
    for by_platform in by_name.values():
        usable = {name: one for name, one in by_platform.items() if len(one.launches) >= 2}
        pairs = list(itertools.permutations(usable, 2))
        for position in range(each):
            base, target = (usable[name] for name in pairs[position % len(pairs)])
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
    case = PredictionCase(base.base(a), b, compute)
    return Draw(run, base.name, predict(case), target.median_s, case.change)


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


#: What tells apart the draws that are left out together, by its name.
GROUPS: dict[str, Callable[[Draw], str]] = {
    "program": lambda draw: draw.application,
    "base": lambda draw: draw.prediction.base,
    "target": lambda draw: draw.prediction.platform,
    "run": lambda draw: draw.run,
}


def inside_with(draws: Sequence[Draw], error: ModelError) -> npt.NDArray[np.bool_]:
    """Return which medians lie inside the intervals with another error of the model."""
    log_errors = np.array([abs(math.log1p(draw.error)) for draw in draws])
    return np.asarray(log_errors <= [draw.width_with(error) for draw in draws])


def narrowest(draws: Sequence[Draw]) -> ModelError:
    """Return the error with the narrowest intervals that contain `LEVEL` of the medians."""
    candidates = []
    for per_change in np.arange(0.05, 0.65, 0.05):
        for largest in np.arange(0.1, 0.55, 0.05):
            error = ModelError(float(per_change), float(largest))
            if np.mean(inside_with(draws, error)) >= LEVEL:
                width = np.median([draw.width_with(error) for draw in draws])
                candidates.append((float(width), error.per_change, error.largest))
    _, per_change, largest = min(candidates)
    return ModelError(per_change, largest)


def show_left_out(draws: Sequence[Draw]) -> None:
    """Print how many medians lie inside intervals that were made without their group."""
    error = narrowest(draws)
    print(f"narrowest with {LEVEL_WORDS} inside: {error.per_change:.2f}, {error.largest:.2f}")
    for name, group_of in GROUPS.items():
        groups = sorted({group_of(draw) for draw in draws})
        if len(groups) < 2:
            continue
        inside: list[bool] = []
        for group in groups:
            error = narrowest([draw for draw in draws if group_of(draw) != group])
            own = inside_with([draw for draw in draws if group_of(draw) == group], error)
            inside += own.tolist()
            print(
                f"  without {name} {group}: {error.per_change:.2f}, {error.largest:.2f}; "
                f"{np.mean(own):.0%} of its {len(own)} inside"
            )
        print(f"each {name} left out: {np.mean(inside):.1%} of {len(inside)} inside")


def main() -> None:
    """Draw, predict, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--predictions", type=int, default=200, help="over all runs, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leave-out", action="store_true", help="also without each group")
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
    if arguments.leave_out:
        show_left_out([one for one in found if one.prediction.model == "replay"])


if __name__ == "__main__":
    main()
