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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bareline.analysis.records import Records
from bareline.predict.applications import Application, applications, name_of, usable
from bareline.predict.compute import ComputeFactor, factor_between
from bareline.predict.costs import INPUTS, Costs, Input, mixed
from bareline.predict.delta import delta
from bareline.predict.ladder import read_ladder
from bareline.predict.prediction import REFUSE, Case, base_time_s, check_ladders
from bareline.predict.replay import replay
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError

#: How inputs are called in sentences.
TITLES: Mapping[str, str] = {
    "compute": "computing and memory",
    "latency": "latency of messages",
    "bandwidth": "bandwidth of messages",
    "collectives": "algorithms of collectives",
    "cores": "waiting for a shared core",
    "io": "files",
    "start-up": "start-up",
    "residual": "not explained",
}
_DRAWS = 40


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a loss.

    Attributes
    ----------
    time_s, lo_s, hi_s
        What it costs, with a 90 % interval over the ladders' launches and the measured times.
    share
        Of the whole loss.
    """

    input: str
    time_s: float
    lo_s: float
    hi_s: float
    share: float

    @property
    def title(self) -> str:
        """Its name in words."""
        return TITLES[self.input]

    def row(self) -> dict[str, Any]:
        """Give it as a tidy row in SI units."""
        return {
            "input": self.input,
            "title": self.title,
            "time_s": self.time_s,
            "lo_s": self.lo_s,
            "hi_s": self.hi_s,
            "share": self.share,
        }


@dataclass(frozen=True, slots=True)
class Loss:
    """A measured loss and its shares, the largest first, the residual last.

    Attributes
    ----------
    measured_a, measured_b
        Times of the launches on both platforms from ``MPI_Init`` to ``MPI_Finalize``, in s.
    start_up_s
        What ``MPI_Init`` takes longer on B: a part of the loss.
    control
        What one node alone says, in words.
    """

    base: str
    platform: str
    measured_a: tuple[float, ...]
    measured_b: tuple[float, ...]
    reproduced: float
    shares: tuple[Share, ...]
    start_up_s: float = 0.0
    control: str = ""

    @property
    def loss_s(self) -> float:
        """What the application takes longer on B, start-up included."""
        return float(np.median(self.measured_b) - np.median(self.measured_a)) + self.start_up_s

    def rows(self) -> list[dict[str, Any]]:
        """Give a tidy row for each share, in SI units: the steps of a waterfall."""
        common = {"base": self.base, "platform": self.platform, "loss_s": self.loss_s}
        return [{**common, **share.row()} for share in self.shares]

    @property
    def explained(self) -> float:
        """Share of the loss that the inputs explain."""
        residual = next(share for share in self.shares if share.input == "residual")
        return 1 - abs(residual.share)


def explain_loss(
    case: Case,
    measured_a: Sequence[float],
    measured_b: Sequence[float],
    *,
    start_up_s: float = 0.0,
    control: str = "",
    margin: float = 0.02,
    seed: int = 1,
) -> Loss:
    """Split the loss of an application between two platforms on which it was measured.

    Raises
    ------
    AnalysisError
        The loss is within noise, or the replay does not reproduce the time on A.
    """
    a_s, b_s = float(np.median(measured_a)), float(np.median(measured_b))
    rng = np.random.default_rng(seed)
    drawn = _drawn_medians(measured_b, rng) / _drawn_medians(measured_a, rng)
    _check_clear(case, drawn, b_s / a_s, margin)
    trace, on_a, reproduced = _replayed(case)
    factor = case.compute.value or math.sqrt(case.compute.lo * case.compute.hi)
    a, b = case.costs(factor)
    inputs = _differing(a, b)
    scale = a_s / on_a
    values = shapley(inputs, lambda swapped: scale * replay(trace, mixed(a, b, swapped)).time_s)
    spread = _spreads(case, inputs, factor, rng)
    loss = b_s - a_s + start_up_s
    noise = float(np.quantile(drawn, 0.95) - np.quantile(drawn, 0.05)) / 2 * a_s
    shares = [_share(name, value, spread.get(name, 0.0), loss) for name, value in values.items()]
    if start_up_s:
        shares.append(_share("start-up", start_up_s, 0.0, loss))
    shares.sort(key=lambda share: -abs(share.time_s))
    explained = sum(values.values())
    width = math.hypot(noise, *spread.values())
    shares.append(_share("residual", loss - start_up_s - explained, width, loss))
    return Loss(
        base=case.a.platform,
        platform=case.b.platform,
        measured_a=tuple(measured_a),
        measured_b=tuple(measured_b),
        reproduced=reproduced,
        shares=tuple(shares),
        start_up_s=start_up_s,
        control=control,
    )


def _check_clear(case: Case, drawn: Any, ratio: float, margin: float) -> None:
    """Refuse a loss within noise: there is nothing to share out."""
    low, high = np.quantile(drawn, [0.05, 0.95])
    if low < 1 + margin and high > 1 - margin:
        raise AnalysisError(
            f"no loss to share out: {case.b.platform} takes {ratio:.3f} times as long as "
            f"{case.a.platform} (90 % interval {low:.3f} to {high:.3f}), which is within noise",
            hint="measure more launches, or a larger problem",
        )


def _replayed(case: Case) -> tuple[Trace, float, float]:
    """Give the trace, its replay's time on A in s, and that over the profiled time."""
    if case.trace is None:
        raise AnalysisError(
            "shares need a trace", where=str(case.profile.path), hint="profile with --trace"
        )
    on_a = replay(case.trace, Costs(case.a)).time_s
    reproduced = on_a / base_time_s(case.profile)
    if abs(reproduced - 1) > REFUSE:
        raise AnalysisError(
            f"the replay gives {reproduced:.2f} of the measured time on {case.a.platform}: "
            "no shares can be given",
            hint="trace again on a quiet machine",
        )
    return case.trace, on_a, reproduced


def _share(name: str, value: float, width: float, loss: float) -> Share:
    return Share(name, value, value - width, value + width, value / loss)


def _drawn_medians(values: Sequence[float], rng: np.random.Generator) -> Any:
    array = np.asarray(values, float)
    return np.median(rng.choice(array, (1000, len(array))), axis=1)


def _differing(a: Costs, b: Costs) -> list[Input]:
    """Leave out what is the same on both: each input doubles the replays."""
    inputs: list[Input] = ["latency", "bandwidth", "collectives"]
    if a.compute != b.compute:
        inputs.append("compute")
    if (a.ladder.cores, a.ladder.layout) != (b.ladder.cores, b.ladder.layout) and (
        a.ladder.cores or b.ladder.cores
    ):
        inputs.append("cores")
    if a.io != b.io:
        inputs.append("io")
    return [name for name in INPUTS if name in inputs]


def shapley(
    inputs: Sequence[Input], worth: Callable[[frozenset[Input]], float]
) -> dict[str, float]:
    """Give each input's change of `worth`, averaged over all orders of swapping."""
    known = {
        frozenset(chosen): worth(frozenset(chosen))
        for size in range(len(inputs) + 1)
        for chosen in itertools.combinations(inputs, size)
    }
    count = len(inputs)
    shares: dict[str, float] = {}
    for name in inputs:
        total = 0.0
        for before, value in known.items():
            if name in before:
                continue
            weight = (
                math.factorial(len(before))
                * math.factorial(count - len(before) - 1)
                / math.factorial(count)
            )
            total += weight * (known[before | {name}] - value)
        shares[name] = total
    return shares


def _spreads(
    case: Case, inputs: Sequence[Input], factor: float, rng: np.random.Generator
) -> dict[str, float]:
    """Give half-widths of the shares over draws of the ladders, by the difference model."""
    if min(case.a.n, case.b.n) < 2:
        return {}
    drawn: dict[str, list[float]] = {name: [] for name in inputs}
    for _ in range(_DRAWS):
        one = replace(case, a=case.a.resampled(rng), b=case.b.resampled(rng))
        a, b = one.costs(factor)
        values = shapley(
            inputs,
            lambda swapped, a=a, b=b: delta(case.profile, a, mixed(a, b, swapped)),  # type: ignore[misc]
        )
        for name, value in values.items():
            drawn[name].append(value)
    return {
        name: float(np.quantile(values, 0.95) - np.quantile(values, 0.05)) / 2
        for name, values in drawn.items()
    }


#: A one-node control that differs by more blames the node before the network.
_CONTROL = 0.05


def explain_application(
    records: Records,
    app: str,
    baseline: str,
    platform: str,
    *,
    found: Mapping[str, dict[str, Application]] | None = None,
) -> Loss:
    """Split what an application loses between two platforms of a run into layers.

    Parameters
    ----------
    app
        Its probe, or all that tells it apart (``npb.cg problem_class=A ranks=4``), or the path of
        a profile of the same command line.
    found
        The applications of the run, where they were read already.

    Raises
    ------
    AnalysisError
        The run does not hold it on both, the loss is within noise, or a ladder does not carry it.
    """
    found = found or applications(records)
    name = name_of(found, app)
    one, other = usable(records, name, found[name], (baseline, platform))
    launch = one.typical
    a, b = (read_ladder(records, each.platform, each.launches[0].layout) for each in (one, other))
    check_ladders(launch.profile, a, b)
    control, factor = _control(found, name, one, other)
    compute = factor or factor_between(a, b, records, program=one.program)
    return explain_loss(
        Case(launch.profile, launch.trace, a, b, compute),
        one.times_s,
        other.times_s,
        start_up_s=_start_up(other) - _start_up(one),
        control=control,
        margin=records.margin,
    )


def _control(
    found: Mapping[str, dict[str, Application]], name: str, a: Application, b: Application
) -> tuple[str, ComputeFactor | None]:
    """Compare the same program on one node of each platform, if that was measured."""
    program = name.split(" ranks=", maxsplit=1)[0]
    for other, own in found.items():
        one, two = own.get(a.platform), own.get(b.platform)
        if (
            other == name
            or other.split(" ranks=")[0] != program
            or one is None
            or two is None
            or not (one.launches and two.launches)
            or one.launches[0].layout.nodes != 1
            or two.launches[0].layout.nodes != 1
        ):
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


def _start_up(one: Application) -> float:
    times = [
        float(launch.profile.rank_table["init_ns"].to_numpy().max()) for launch in one.launches
    ]
    return float(np.median(times)) * 1e-9
