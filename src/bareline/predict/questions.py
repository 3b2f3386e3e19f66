"""Predictions for another platform, for a changed platform, and of the change that saves most."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bareline.analysis.numbers.records import Records
from bareline.predict.applications import applications, name_of, usable
from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import AS_IT_IS, ComputeFactor, factor_between
from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.curves.platform_curves import PlatformCurves, read_ladder
from bareline.predict.curves.requirements import INIT
from bareline.predict.prediction import Model, Prediction, point, predict
from bareline.predict.replay.reference import ApplicationClock, ReferenceRun
from bareline.predict.replay.trace_files import read_trace
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.profile.trace import Trace, trace_of
from bareline.vocabulary.errors import AnalysisError, UsageError, one_line
from bareline.vocabulary.model import Layout
from bareline.vocabulary.place import nodes_words


def answer(
    profile: Path | str,
    source: Records,
    *,
    base: str | None = None,
    to: str | None = None,
    ladder: Records | None = None,
    calibration: Records | None = None,
    what_if: Sequence[str] = (),
    model: Model = "auto",
) -> Prediction:
    """Return the predicted time of an application on another or a changed platform.

    - `profile`: the profile's file, next to its trace; or the name of an application that the run
      `source` profiled on `base`. For a name, the launch nearest to the median is used, and the
      result also has the times that were measured on `to`.
    - `source`: the run with the measured curves (the ladder) of the profile's platform, `base`
      (default: its baseline).
    - `to`: the platform to predict for; None if `what_if` changes the base.
    - `ladder`: the run with the ladder of `to` (default: `source`).
    - `calibration`: a run with times of the application with one rank on both platforms.

    Raises ProfileError, AnalysisError, UsageError: an argument names something that does not exist,
    or a file that does not suffice for a prediction.
    """
    base = base or source.baseline
    measured_on = None if what_if else to
    path, measured_s, clock = _of_run(source, profile, base, measured_on)
    program = read_profile(path)
    trace = find_trace(path, program)
    a = read_ladder(source, base, layout_of(source, base, program))
    if isinstance(profile, Path):
        _check_place(program, a)
    b = a
    compute = AS_IT_IS
    if to is not None:
        records = ladder or source
        b = read_ladder(records, to, layout_of(records, to, program))
        compute = factor_between(a, b, records, calibration)
    if what_if:
        changes = parse_what_if(what_if)
        b = replace(changes.applied(b), platform=f"{b.platform} with {', '.join(what_if)}")
        compute = _times(compute, changes.compute)
    case = PredictionCase(ReferenceRun(program, trace, a, clock), b, compute)
    prediction = predict(case, model=model)
    return replace(prediction, measured_s=measured_s)


def _check_place(profile: Profile, base: PlatformCurves) -> None:
    """Raise AnalysisError if the profile's MPI library or number of nodes differs from `base`."""
    flavour = str(base.facts.get("mpi.flavour", ""))
    other = flavour and not "".join(profile.mpi.lower().split()).startswith(flavour)
    unlike = [f"with {one_line(profile.mpi)[:60]}, not {flavour}"] if other else []
    if profile.nodes != base.layout.nodes:
        unlike.append(f"{nodes_words(profile.nodes)}, not {nodes_words(base.layout.nodes)}")
    if unlike:
        raise AnalysisError(
            f"the profile is not of {base.platform}: it was made {' and '.join(unlike)}",
            where=str(profile.path),
            hint="give the platform of the profile as --base, and the run with the MPI benchmarks "
            f"of that platform as --from; or measure the program on {base.platform} with "
            '`profile = "once"` in its [[measure]]',
        )


def _of_run(
    source: Records, profile: Path | str, base: str, to: str | None
) -> tuple[Path, tuple[float, ...], ApplicationClock | None]:
    """Return the path of the profile, the run's times on `to`, and the application's clock."""
    if isinstance(profile, Path):
        return profile, (), None
    by_name = applications(source)
    name = name_of(by_name, profile)
    (on_base,) = usable(source, name, by_name[name], (base,))
    measured_s: tuple[float, ...] = ()
    if to is not None and to in by_name[name]:
        measured_s = tuple(by_name[name][to].times_s)
    return on_base.typical.path, measured_s, on_base.clock


def find_trace(path: Path, profile: Profile) -> Trace | None:
    """Return the trace next to a profile; None if there is no trace.

    Raises ProfileError: the trace is damaged.
    Raises AnalysisError: the trace is of another run of the program.
    """
    # Older profiles app.p8 and app.p16 share the name app.trace: its header shows its run.
    usual = trace_of(path)
    shared = path.with_suffix(".trace")
    file = usual if usual.exists() else shared
    if not file.exists() or file == path:
        return None
    trace = read_trace(file)
    if (trace.ranks, trace.began_unix_ns) == (profile.ranks, profile.began_unix_ns):
        return trace
    if file != usual:
        return None
    raise AnalysisError(
        f"the file is not the trace of {path.name}: the traced launch began at another time",
        where=str(file),
        hint="profile with --trace again, or move the trace away for --model delta",
    )


def layout_of(records: Records, platform: str, profile: Profile) -> Layout:
    """Return the layout of a profile's ranks on a platform.

    It is the layout of a trial with as many ranks as the profile.

    Raises AnalysisError: no trial on the platform has as many ranks.
    """
    trials = records.trials.filter(
        (records.trials["platform"] == platform)
        & (records.trials["ranks"] == profile.ranks)
        & (records.trials["status"] == "measured")
    )
    layouts = [Layout.parse(text) for text in trials["layout"].drop_nulls().unique().to_list()]
    if not layouts:
        raise AnalysisError(
            f"the run has no measurement with {profile.ranks} ranks on '{platform}'",
            where=", ".join(str(run.path) for run in records.runs),
            hint="`bareline predict --plan PROFILE` writes the study that measures its ladder",
        )
    return max(layouts, key=lambda layout: layout.nodes)


def _times(factor: ComputeFactor, by: float) -> ComputeFactor:
    value = factor.value * by if factor.value is not None else None
    return ComputeFactor(value, factor.lo * by, factor.hi * by, factor.source)


_FACTOR = re.compile(r"x?(\d+(?:\.\d+)?)x?")
_RATE = re.compile(r"(\d+(?:\.\d+)?) ?(k|M|G|T)(b/s|bit)", re.IGNORECASE)
_POWERS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Changes of a platform.

    - `latency`: factor on the time of the smallest messages.
    - `compute`: factor on the time of computing.
    - `bandwidth`: factor on the time of a byte; `rate_bps` sets the link's rate instead.
    - `cores`: factor on the number of cores that ranks share.
    """

    latency: float = 1.0
    bandwidth: float = 1.0
    rate_bps: float | None = None
    cores: float = 1.0
    compute: float = 1.0

    def applied(self, ladder: PlatformCurves) -> PlatformCurves:
        """Return the changed curves; with several nodes, only curves between nodes change."""
        byte_factor = self._byte_factor(ladder)
        has_several_nodes = ladder.layout.nodes > 1
        curves: dict[CurveKey, Curve] = {}
        for key, curve in ladder.curves.items():
            is_between_nodes = key.nodes > 1
            if is_between_nodes == has_several_nodes and key.probe != INIT:
                curves[key] = curve.scaled(self.latency, byte_factor)
            else:
                curves[key] = curve
        cores = None
        if ladder.cores is not None:
            more = round(ladder.cores * self.cores)
            cores = more if more < ladder.layout.ranks_per_node else None
        return replace(ladder, curves=curves, cores=cores)

    def _byte_factor(self, ladder: PlatformCurves) -> float:
        """Return the factor on the time of a byte.

        Raises UsageError: no curve shows the time of a byte.
        """
        if self.rate_bps is None:
            return self.bandwidth
        nodes = min(2, ladder.layout.nodes)
        curve = ladder.message("mpi.bandwidth", nodes) or ladder.message("mpi.pingpong", nodes)
        if curve is None or len(curve.sizes) < 2:
            raise UsageError(
                "a bandwidth in Gb/s needs a measured curve of the bandwidth, which the ladder"
                " does not have",
                hint="write bandwidth=x2",
            )
        byte_s = float(curve.times[-1] - curve.times[0]) / float(curve.sizes[-1])
        return 8 / self.rate_bps / byte_s


def parse_what_if(texts: Sequence[str]) -> WhatIf:
    """Return the changes in texts like ``latency=x0.5``, ``bandwidth=10Gb/s``, ``cores=2x``.

    Raises UsageError: a text does not name a change.
    """
    changes = WhatIf()
    for text in texts:
        name, _, value = text.partition("=")
        factor = _FACTOR.fullmatch(value)
        rate = _RATE.fullmatch(value)
        if name == "bandwidth" and rate is not None:
            bps = float(rate[1]) * _POWERS[rate[2].lower()]
            if bps > 0:
                changes = replace(changes, rate_bps=bps)
                continue
        number = float(factor[1]) if factor is not None else 0.0
        if name not in ("latency", "bandwidth", "cores", "compute") or not 0 < number < 1e6:
            raise UsageError(
                f"'{text[:60]}' is not a valid change of a platform",
                hint="write latency=x0.5, bandwidth=10Gb/s, bandwidth=x2, cores=2x or compute=x0.8",
            )
        # Twice the bandwidth is half the time of a byte.
        number = 1 / number if name == "bandwidth" else number
        changes = replace(changes, **{name: number})
    return changes


#: The changes that are tried, as `--what-if` takes them, and in words.
UPGRADES: Mapping[str, str] = {
    "latency=x0.5": "half the latency",
    "bandwidth=x2": "twice the bandwidth",
    "cores=2x": "twice the cores",
    "compute=x0.5": "processors twice as fast",
}


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A change of a platform, with an application's time without and with the change."""

    application: str
    platform: str
    change: str
    base_s: float
    time_s: float

    @property
    def title(self) -> str:
        """The change in words."""
        return UPGRADES[self.change]

    @property
    def saved(self) -> float:
        """The share of the time that the change saves."""
        return 1 - self.time_s / self.base_s

    def row(self) -> dict[str, Any]:
        """Return the change as a tidy row in SI units."""
        return {**asdict(self), "saved": self.saved}


def upgrades(application: str, case: PredictionCase) -> list[Upgrade]:
    """Return the effects of single changes on the base of a case, the best first.

    A change to more cores is tried only if ranks share cores.
    """
    effects = []
    for text in UPGRADES:
        changes = parse_what_if([text])
        if changes.cores != 1 and case.a.cores is None:
            continue
        factor = _times(case.compute, changes.compute)
        changed = replace(case, b=changes.applied(case.a), compute=factor)
        base_s, time_s = point(changed)
        effects.append(Upgrade(application, case.a.platform, text, base_s, time_s))
    return sorted(effects, key=lambda upgrade: upgrade.time_s)
