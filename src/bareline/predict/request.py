"""What is asked on the command line, made into a prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bareline.analysis.records import Records
from bareline.predict.compute import ComputeFactor, factor_between
from bareline.predict.ladder import read_ladder
from bareline.predict.prediction import Case, Model, Prediction, predict
from bareline.predict.whatif import parse_what_if
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.profile.trace import Trace, read_trace, trace_of
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Layout


@dataclass(frozen=True, slots=True)
class Request:
    """A question.

    Attributes
    ----------
    profile
        Its file; the trace is looked for beside it.
    source
        The run with the ladder of the profile's platform, `base` (default: its baseline).
    to
        The platform that is asked for; None with `what_if` alone.
    ladder, calibration
        Runs with its ladder, and with one rank of the application on both platforms.
    """

    profile: Path
    source: Records
    base: str | None = None
    to: str | None = None
    ladder: Records | None = None
    calibration: Records | None = None
    what_if: tuple[str, ...] = ()
    model: Model = "auto"


def answer(request: Request) -> Prediction:
    """Predict what a request asks for.

    Raises
    ------
    ProfileError, AnalysisError, UsageError
        Something that it names does not exist, or does not carry a prediction.
    """
    profile = read_profile(request.profile)
    trace = find_trace(request.profile, profile)
    base = request.base or request.source.baseline
    a = read_ladder(request.source, base, layout_of(request.source, base, profile))
    if request.to is None:
        b, compute = a, ComputeFactor(1.0, 1.0, 1.0, "the same platform")
    else:
        records = request.ladder or request.source
        b = read_ladder(records, request.to, layout_of(records, request.to, profile))
        compute = factor_between(a, b, records, request.calibration)
    if request.what_if:
        changes = parse_what_if(request.what_if)
        changed = ", ".join(request.what_if)
        b = replace(changes.applied(b), platform=f"{b.platform} with {changed}")
        compute = _times(compute, changes.compute)
    return predict(Case(profile, trace, a, b, compute), model=request.model)


def find_trace(path: Path, profile: Profile) -> Trace | None:
    """Read the trace beside a profile, if there is one.

    Raises
    ------
    ProfileError
        It is damaged.
    AnalysisError
        It is of another run of the program.
    """
    # In a run directory both are files of one trial.
    names = [trace_of(path), path.with_name(path.name.replace(".profile", ".trace"))]
    found = next((name for name in names if name.exists() and name != path), None)
    if found is None:
        return None
    trace = read_trace(found)
    if (trace.ranks, trace.began_unix_ns) != (profile.ranks, profile.began_unix_ns):
        raise AnalysisError(
            f"is not the trace of {path.name}: it began at another time",
            where=str(found),
            hint="profile with --trace again, or move the trace away for --model delta",
        )
    return trace


def layout_of(records: Records, platform: str, profile: Profile) -> Layout:
    """Say how the application's ranks lie on a platform: as a ladder trial of as many ranks did.

    Raises
    ------
    AnalysisError
        No trial had as many ranks there.
    """
    trials = records.trials.filter(
        (records.trials["platform"] == platform)
        & (records.trials["ranks"] == profile.ranks)
        & (records.trials["status"] == "measured")
    )
    layouts = [Layout.parse(text) for text in trials["layout"].drop_nulls().unique().to_list()]
    if not layouts:
        raise AnalysisError(
            f"nothing of {profile.ranks} ranks was measured on '{platform}'",
            where=", ".join(str(run.path) for run in records.runs),
            hint="`bareline predict --plan PROFILE` writes the study that measures its ladder",
        )
    return max(layouts, key=lambda layout: layout.nodes)


def _times(factor: ComputeFactor, by: float) -> ComputeFactor:
    value = factor.value * by if factor.value is not None else None
    return ComputeFactor(value, factor.lo * by, factor.hi * by, factor.source)
