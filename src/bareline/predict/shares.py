"""Which layer costs an application what: a loss split by swapping inputs from A to B.

The replay is run with each subset of inputs swapped; an input's share is what it changes, averaged
over all orders in which the inputs could be swapped (Shapley's value). What the replay does not
explain of the measured loss is the residual, and is said.

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
from functools import partial
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from bareline.analysis.numbers.programs import REPLAYED_TERMS
from bareline.analysis.numbers.records import Records
from bareline.predict.applications import Application, applications, name_of, usable
from bareline.predict.compute import ComputeFactor, factor_between
from bareline.predict.costs import INPUTS, Costs, Input, mixed
from bareline.predict.delta import delta
from bareline.predict.fitness import check_ladders
from bareline.predict.ladder import read_ladder
from bareline.predict.prediction import REFUSE, PredictionCase, drawn_case, half_width
from bareline.predict.replay import replay
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.units import format_value

#: How inputs are called in sentences.
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
    """A part of a loss, with a 90 % interval over the ladders' launches and the measured times."""

    input: str
    time_s: float
    lo_s: float
    hi_s: float
    share: float

    @property
    def title(self) -> str:
        """Its name in words."""
        return TITLES[self.input]


@dataclass(frozen=True, slots=True)
class LossSplit:
    """A measured loss and its shares, the largest first, the residual last.

    - `measured_a`, `measured_b`: the application's times on both platforms by its own clock, in s.
    - `control`: what one node alone says, in words, and what starting takes longer.
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
        """What the application takes longer on B."""
        return self.b_s - self.a_s

    @property
    def a_s(self) -> float:
        """The median of its times on A."""
        return float(np.median(self.measured_a))

    @property
    def b_s(self) -> float:
        """The median of its times on B."""
        return float(np.median(self.measured_b))

    def rows(self) -> list[LossShare]:
        """Return a tidy row for each share, in SI units: the steps of a waterfall."""
        head = {"base": self.base, "platform": self.platform, "loss_s": self.loss_s}
        return [row_of(LossShare, share, **head) for share in self.shares]

    @property
    def explained(self) -> float:
        """Share of the loss that the inputs explain."""
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
    """Split an application's measured loss; `paired` times are of the same blocks, in order.

    Raises AnalysisError: the loss is within noise, or the replay does not reproduce the time on A.
    """
    rng = np.random.default_rng(seed)
    a, b = (np.asarray(one, float) for one in (measured_a, measured_b))
    a_s, b_s = (float(np.median(one)) for one in (a, b))
    drawn = partial(_resample, a, b, paired, rng)
    ratio = float(np.median(b / a)) if paired else b_s / a_s
    low, high = np.quantile(drawn(operator.truediv), [0.05, 0.95])
    if low < 1 + margin and high > 1 - margin:
        raise AnalysisError(
            f"no loss to share out: {case.b.platform} takes {ratio:.3f} times as long as "
            f"{case.a.platform} (90 % interval {low:.3f} to {high:.3f}), which is within noise",
            hint="measure more launches, or a larger problem",
        )
    values = _values(case, case.compute.middle, a_s)
    spread = _spreads(case, list(values), rng)
    # What the baseline's own launches leave open of the scale is open of every share.
    rough = half_width(_medians(a, rng)) / a_s
    widths = {name: math.hypot(spread[name], values[name] * rough) for name in values}
    loss = b_s - a_s
    parts = [_share(name, value, widths[name], loss) for name, value in values.items()]
    width = math.hypot(half_width(drawn(operator.sub)), *widths.values())
    residual = _share("residual", loss - sum(values.values()), width, loss)
    return LossSplit(
        base=case.a.platform,
        platform=case.b.platform,
        measured_a=tuple(measured_a),
        measured_b=tuple(measured_b),
        reproduced=case.base.reproduced,
        shares=(*sorted(parts, key=lambda share: -abs(share.time_s)), residual),
        control=control,
    )


def _medians(values: Any, rng: np.random.Generator) -> Any:
    return np.median(rng.choice(values, (1000, len(values))), axis=1)


def _resample(
    a: Any, b: Any, paired: bool, rng: np.random.Generator, compared: Callable[[Any, Any], Any]
) -> Any:
    """Draw how medians of B compare with those of A, block by block where times are paired."""
    if paired:
        return _medians(compared(b, a), rng)
    return compared(_medians(b, rng), _medians(a, rng))


def _values(case: PredictionCase, factor: float, a_s: float) -> dict[Input, float]:
    """Return what each input costs, in s.

    They are the terms of the prediction: with the time on A they add up to it. They are of the
    median launch instead of the profiled one.
    """
    base, trace = case.base, case.base.trace
    if trace is None:
        raise AnalysisError(
            "shares need a trace", where=str(base.profile.path), hint="profile with --trace"
        )
    if abs(base.reproduced - 1) > REFUSE:
        raise AnalysisError(
            f"the replay gives {base.reproduced:.2f} of the measured time on "
            f"{base.ladder.platform}: no shares can be given",
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
    """Leave out what is the same on both: each input doubles the replays."""
    one, other = a.ladder, b.ladder
    alike = {
        "compute": (a.compute, a.beside) == (b.compute, b.beside),
        "cores": (one.cores, one.layout) == (other.cores, other.layout)
        or not (one.cores or other.cores),
        "io": a.io == b.io,
    }
    return [name for name in INPUTS if not alike.get(name)]


def shapley(
    inputs: Sequence[Input], worth: Callable[[frozenset[Input]], float]
) -> dict[Input, float]:
    """Return each input's change of `worth`, averaged over all orders of swapping."""
    known = {
        frozenset(chosen): worth(frozenset(chosen))
        for size in range(len(inputs) + 1)
        for chosen in itertools.combinations(inputs, size)
    }
    count = len(inputs)

    def share(name: Input) -> float:
        return sum(
            1 / (count * math.comb(count - 1, len(before))) * (known[before | {name}] - value)
            for before, value in known.items()
            if name not in before
        )

    return {name: share(name) for name in inputs}


def _spreads(
    case: PredictionCase, inputs: Sequence[Input], rng: np.random.Generator
) -> dict[Input, float]:
    """Return the shares' half-widths over drawn ladders and factors, by the difference model."""
    low, high = math.log(case.compute.lo), math.log(case.compute.hi)

    def once() -> dict[Input, float]:
        one = drawn_case(case, rng)
        # The bounds are those of the middle 90 % of a normal distribution.
        a, b = one.costs(math.exp(rng.normal((low + high) / 2, (high - low) / 2 / 1.645)))
        return shapley(inputs, lambda swapped: delta(case.base.profile, a, mixed(a, b, swapped)))

    drawn = [once() for _ in range(_DRAWS)]
    return {name: half_width([values[name] for values in drawn]) for name in inputs}


#: What starting takes longer is said from this share of the application's time on.
_START_UP = 0.005
#: A one-node control that differs by more blames the node before the network.
_CONTROL = 0.05


def explain_application(
    records: Records,
    app: str,
    baseline: str,
    platform: str,
    *,
    found: Mapping[str, dict[str, Application]] | None = None,
) -> LossSplit:
    """Split what an application loses between two platforms of a run into layers.

    - `app`: its probe, or all that tells it apart (``npb.cg problem_class=A ranks=4``), or the path
      of a profile of the same command line.
    - `found`: the applications of the run, where they were read already.

    Raises AnalysisError: it is not on both, its loss is noise, or a ladder does not carry it.
    """
    found = found or applications(records)
    name = name_of(found, app)
    one, other = usable(records, name, found[name], (baseline, platform))
    a, b = (read_ladder(records, each.platform, each.launches[0].layout) for each in (one, other))
    check_ladders(one.typical.profile, a, b)
    control, factor = _control(found, one, other)
    compute = factor or factor_between(a, b, records, program=one.program)
    times = [{launch.key: launch.time_s for launch in each.launches} for each in (one, other)]
    blocks = [key for key in times[0] if key in times[1]]
    paired = len(blocks) >= min(map(len, times))
    return explain_loss(
        PredictionCase(one.base(a), b, compute),
        [times[0][key] for key in blocks] if paired else one.times_s,
        [times[1][key] for key in blocks] if paired else other.times_s,
        paired=paired,
        control="; ".join(filter(None, [control, _start_up(one, other)])),
        margin=records.margin,
    )


def _control(
    found: Mapping[str, dict[str, Application]], a: Application, b: Application
) -> tuple[str, ComputeFactor | None]:
    """Compare the same program on one node of each platform, if that was measured."""
    for name, own in found.items():
        one, two = own.get(a.platform), own.get(b.platform)
        if name == a.name or one is None or two is None or one.program != a.program:
            continue
        if not all(each.launches and each.launches[0].layout.nodes == 1 for each in (one, two)):
            continue
        ratio = two.median_s / one.median_s
        text = f"on one node {b.platform} takes {ratio:.3f} times as long"
        if abs(ratio - 1) <= _CONTROL:
            return f"{text}: the node is not to blame", None
        low, high = (ratio * (1 + sign * 0.03) for sign in (-1, 1))
        return (
            f"{text}: computing is charged with that",
            ComputeFactor(ratio, low, high, "the same program on one node of each"),
        )
    return "no one-node control was measured: computing is taken to be the same", None


def _start_up(*both: Application) -> str:
    """Describe MPI_Init's additional time on the second, which the application's clock omits."""
    inits = [
        [one.profile.rank_table["init_ns"].to_numpy().max() for one in app.launches] for app in both
    ]
    a_s, b_s = (float(np.median(own)) * 1e-9 for own in inits)
    if abs(b_s - a_s) < _START_UP * both[0].median_s:
        return ""
    longer = f"{format_value(abs(b_s - a_s), 's')} {'longer' if b_s > a_s else 'less'}"
    return f"MPI_Init takes {longer}, which is no part of this time"
