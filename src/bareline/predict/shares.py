"""The division of a measured loss among the layers, by swapping inputs from A to B.

The replay is run with each subset of inputs swapped; an input's share is the change by swapping it,
averaged over all orders of swapping (Shapley's value). The residual is the part of the measured
loss that the replay does not explain.

References
----------
L. S. Shapley, "A value for n-person games", Contributions to the Theory of Games II, 1953.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from bareline.analysis.numbers.programs import REPLAYED_TERMS
from bareline.analysis.numbers.records import Records
from bareline.predict.applications import Application, applications, name_of, usable
from bareline.predict.case import PredictionCase, drawn_case
from bareline.predict.curves.compute import ComputeFactor, factor_between
from bareline.predict.curves.costs import INPUTS, Costs, Input, mixed
from bareline.predict.curves.platform_curves import read_ladder
from bareline.predict.interval import DEVIATIONS, ENDS, LEVEL_WORDS, half_width
from bareline.predict.prediction import REFUSE
from bareline.predict.replay.delta import delta
from bareline.predict.replay.engine import replay
from bareline.predict.replay.validity import check_ladders
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.units import format_value

#: The names of inputs in sentences.
TITLES: Mapping[str, str] = {**REPLAYED_TERMS, "residual": "not explained"}
_DRAWS = 40


class LossShare(TypedDict):
    """``explain --app``: a share of an application's loss."""

    base: str
    platform: str
    loss_s: float
    input: str
    title: str
    time_s: float
    lo_s: float | None
    hi_s: float | None
    share: float


@dataclass(frozen=True, slots=True)
class InputShare:
    """A part of a loss, with its interval from the curves' launches and the measured times."""

    input: str
    time_s: float
    lo_s: float
    hi_s: float
    share: float

    @property
    def title(self) -> str:
        """The name of the part in words."""
        return TITLES[self.input]


@dataclass(frozen=True, slots=True)
class LossSplit:
    """A measured loss and its shares, the largest first and the residual last.

    - `measured_a`, `measured_b`: times of the application on A and B by its own clock, in s.
    - `control`: a sentence on the times on one node of each platform, and on start-up.
    """

    base: str
    platform: str
    measured_a: tuple[float, ...]
    measured_b: tuple[float, ...]
    reproduced: float
    shares: tuple[InputShare, ...]
    control: str = ""

    @property
    def loss_s(self) -> float:
        """The additional time of the application on B, in s."""
        return self.b_s - self.a_s

    @property
    def a_s(self) -> float:
        """The median of the application's times on A, in s."""
        return float(np.median(self.measured_a))

    @property
    def b_s(self) -> float:
        """The median of the application's times on B, in s."""
        return float(np.median(self.measured_b))

    def rows(self) -> list[LossShare]:
        """Return a tidy row for each share, in SI units: the steps of a waterfall."""
        head = {"base": self.base, "platform": self.platform, "loss_s": self.loss_s}
        return [row_of(LossShare, share, **head) for share in self.shares]

    @property
    def explained(self) -> float:
        """The share of the loss that the inputs explain."""
        residual = next(share for share in self.shares if share.input == "residual")
        return 1 - abs(residual.share)


def explain_loss(
    case: PredictionCase,
    measured_a: Sequence[float],
    measured_b: Sequence[float],
    *,
    paired: bool = False,
    control: str = "",
    margin: float = 0.02,
    seed: int = 1,
) -> LossSplit:
    """Return the shares of an application's measured loss.

    - `paired`: whether times at the same index are of one block (a launch on A and one on B).

    Raises AnalysisError: the loss is within noise, or the replay does not reproduce the time on A.
    """
    rng = np.random.default_rng(seed)
    times = _MeasuredTimes(np.asarray(measured_a, float), np.asarray(measured_b, float), paired)
    _refuse_noise(case, times, margin, rng)
    values = _values(case, case.compute.middle, times.a_s)
    spread = _spreads(case, list(values), rng)
    # The baseline's launches leave the scale of every share uncertain.
    scale = half_width(_medians(times.a, rng)) / times.a_s
    widths = {name: math.hypot(spread[name], values[name] * scale) for name in values}
    loss_s = times.b_s - times.a_s
    parts = [_share(name, value, widths[name], loss_s) for name, value in values.items()]
    parts.sort(key=lambda share: -abs(share.time_s))
    width = math.hypot(half_width(times.resampled(operator.sub, rng)), *widths.values())
    residual = _share("residual", loss_s - sum(values.values()), width, loss_s)
    return LossSplit(
        base=case.a.platform,
        platform=case.b.platform,
        measured_a=tuple(measured_a),
        measured_b=tuple(measured_b),
        reproduced=case.base.reproduced,
        shares=(*parts, residual),
        control=control,
    )


_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _MeasuredTimes:
    """The times of an application on A and B, in s.

    If the times are paired, those at the same index are of the same block.
    """

    a: _Array
    b: _Array
    paired: bool

    @property
    def a_s(self) -> float:
        """The median time on A, in s."""
        return float(np.median(self.a))

    @property
    def b_s(self) -> float:
        """The median time on B, in s."""
        return float(np.median(self.b))

    @property
    def ratio(self) -> float:
        """The factor by which B takes longer; the median over the blocks if times are paired."""
        return float(np.median(self.b / self.a)) if self.paired else self.b_s / self.a_s

    def resampled(
        self, compare: Callable[[_Array, _Array], _Array], rng: np.random.Generator
    ) -> _Array:
        """Return results of `compare` for medians of random launches (random blocks if paired)."""
        if self.paired:
            return _medians(compare(self.b, self.a), rng)
        return compare(_medians(self.b, rng), _medians(self.a, rng))


def _refuse_noise(
    case: PredictionCase, times: _MeasuredTimes, margin: float, rng: np.random.Generator
) -> None:
    """Raise AnalysisError if the interval of the ratio contains ratios within the margin."""
    low, high = np.quantile(times.resampled(operator.truediv, rng), ENDS)
    if low < 1 + margin and high > 1 - margin:
        raise AnalysisError(
            f"there is no certain loss that could be divided: {case.b.platform} takes "
            f"{times.ratio:.3f} times as long as "
            f"{case.a.platform} ({LEVEL_WORDS} interval {low:.3f} to {high:.3f}), which is within "
            "noise",
            hint="measure more launches, or a larger problem",
        )


def _medians(values: _Array, rng: np.random.Generator) -> _Array:
    draws = rng.choice(values, (1000, len(values)))
    return np.asarray(np.median(draws, axis=1))


def _values(case: PredictionCase, factor: float, a_s: float) -> dict[Input, float]:
    """Return the cost of each input, in s.

    The predicted time is the time on A plus the costs of all inputs. The costs are scaled from the
    profiled launch to the median launch.
    """
    base = case.base
    trace = base.trace
    if trace is None:
        raise AnalysisError(
            "the shares need a trace", where=str(base.profile.path), hint="profile with --trace"
        )
    if abs(base.reproduced - 1) > REFUSE:
        raise AnalysisError(
            f"the replay takes {base.reproduced:.2f} times the measured time on "
            f"{base.ladder.platform}, so that the loss cannot be divided among its causes",
            hint="trace again on a quiet machine",
        )
    a, b = case.costs(factor)
    values = shapley(
        _differing(a, b), lambda swapped: base.timed_s(replay(trace, mixed(a, b, swapped)))
    )
    median = a_s / base.launch_s
    return {name: value * median for name, value in values.items()}


def _share(name: str, value: float, width: float, loss: float) -> InputShare:
    return InputShare(name, value, value - width, value + width, value / loss)


def _differing(a: Costs, b: Costs) -> list[Input]:
    """Return the inputs that differ; each further input doubles the number of replays."""
    on_a = a.ladder
    on_b = b.ladder
    shares_cores = bool(on_a.cores or on_b.cores)
    equal = {
        "compute": (a.compute, a.beside) == (b.compute, b.beside),
        "cores": not shares_cores or (on_a.cores, on_a.layout) == (on_b.cores, on_b.layout),
        "io": a.io == b.io,
    }
    return [name for name in INPUTS if not equal.get(name)]


def shapley(
    inputs: Sequence[Input], worth: Callable[[frozenset[Input]], float]
) -> dict[Input, float]:
    """Return how much each input changes `worth`, averaged over all orders of swapping inputs."""
    count = len(inputs)
    sizes = range(count + 1)
    subsets = itertools.chain.from_iterable(itertools.combinations(inputs, n) for n in sizes)
    worths = {subset: worth(subset) for subset in map(frozenset, subsets)}

    def share(name: Input) -> float:
        total = 0.0
        for before, value in worths.items():
            if name not in before:
                orders = count * math.comb(count - 1, len(before))
                total += (worths[before | {name}] - value) / orders
        return total

    return {name: share(name) for name in inputs}


def _spreads(
    case: PredictionCase, inputs: Sequence[Input], rng: np.random.Generator
) -> dict[Input, float]:
    """Return half-widths of the shares, from random draws of curves in the difference model."""
    low = math.log(case.compute.lo)
    high = math.log(case.compute.hi)
    # The bounds are the ends of the middle `LEVEL` of a normal distribution.
    deviation = (high - low) / 2 / DEVIATIONS

    def draw() -> dict[Input, float]:
        drawn = drawn_case(case, rng)
        factor = math.exp(rng.normal((low + high) / 2, deviation))
        a, b = drawn.costs(factor)
        return shapley(inputs, lambda swapped: delta(case.base.profile, a, mixed(a, b, swapped)))

    draws = [draw() for _ in range(_DRAWS)]
    widths: dict[Input, float] = {}
    for name in inputs:
        widths[name] = half_width([values[name] for values in draws])
    return widths


#: The additional time of start-up is printed from this share of the application's time on.
_START_UP = 0.005
#: If the times on one node differ by more, the node is a cause before the network.
_CONTROL = 0.05


def explain_application(
    records: Records,
    app: str,
    baseline: str,
    platform: str,
    *,
    by_name: Mapping[str, dict[str, Application]] | None = None,
) -> LossSplit:
    """Return the shares of the layers in an application's loss between two platforms.

    - `app`: the application's probe, or its name (``npb.cg problem_class=A ranks=4``), or the path
      of a profile of the same command line.
    - `by_name`: the applications of the run; if None, they are read.

    Raises AnalysisError: the application is not on both platforms, its loss is noise, or curves are
    missing.
    """
    by_name = by_name or applications(records)
    name = name_of(by_name, app)
    on_a, on_b = usable(records, name, by_name[name], (baseline, platform))
    a = read_ladder(records, on_a.platform, on_a.launches[0].layout)
    b = read_ladder(records, on_b.platform, on_b.launches[0].layout)
    check_ladders(on_a.typical.profile, a, b)
    control = _control(by_name, on_a, on_b)
    compute = control.factor or factor_between(a, b, records, program=on_a.program)
    times_a = {launch.key: launch.time_s for launch in on_a.launches}
    times_b = {launch.key: launch.time_s for launch in on_b.launches}
    blocks = [key for key in times_a if key in times_b]
    measured_a = on_a.times_s
    measured_b = on_b.times_s
    paired = len(blocks) >= min(len(times_a), len(times_b))
    if paired:
        measured_a = [times_a[key] for key in blocks]
        measured_b = [times_b[key] for key in blocks]
    return explain_loss(
        PredictionCase(on_a.base(a), b, compute),
        measured_a,
        measured_b,
        paired=paired,
        control="; ".join(filter(None, [control.words, _start_up(on_a, on_b)])),
        margin=records.margin,
    )


@dataclass(frozen=True, slots=True)
class _Control:
    """A program on one node of each platform: a text, and the factor of computing time."""

    words: str
    factor: ComputeFactor | None = None


def _control(
    by_name: Mapping[str, dict[str, Application]], a: Application, b: Application
) -> _Control:
    """Return the comparison on one node of each platform, or the text that none was measured."""
    for name, by_platform in by_name.items():
        on_a = by_platform.get(a.platform)
        on_b = by_platform.get(b.platform)
        if name == a.name or on_a is None or on_b is None or on_a.program != a.program:
            continue
        if not (_is_of_one_node(on_a) and _is_of_one_node(on_b)):
            continue
        ratio = on_b.median_s / on_a.median_s
        words = f"on one node {b.platform} takes {ratio:.3f} times as long"
        if abs(ratio - 1) <= _CONTROL:
            return _Control(f"{words}: the node is not to blame")
        source = "the same program on one node of each"
        factor = ComputeFactor(ratio, 0.97 * ratio, 1.03 * ratio, source)
        return _Control(f"{words}: computing is charged with that", factor)
    return _Control(
        "the program was not measured on one node of each: computing is taken to be the same"
    )


def _is_of_one_node(application: Application) -> bool:
    return bool(application.launches) and application.launches[0].layout.nodes == 1


def _start_up(a: Application, b: Application) -> str:
    """Describe MPI_Init's additional time on B, which the application's clock does not count."""
    longer_s = _init_s(b) - _init_s(a)
    if abs(longer_s) < _START_UP * a.median_s:
        return ""
    amount = format_value(abs(longer_s), "s")
    way = "longer" if longer_s > 0 else "less"
    return f"MPI_Init takes {amount} {way}, outside this time"


def _init_s(application: Application) -> float:
    """Return the time of MPI_Init on the slowest rank in s, as the median over the launches."""
    profiles = [launch.profile for launch in application.launches]
    longest_ns = [profile.rank_table["init_ns"].to_numpy().max() for profile in profiles]
    return float(np.median(longest_ns)) * 1e-9
