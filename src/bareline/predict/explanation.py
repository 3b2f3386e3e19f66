"""``bareline explain RUN --app``: which layer costs an application of a run what."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bareline.analysis.records import Records
from bareline.predict.applications import Application, applications
from bareline.predict.compute import ComputeFactor, factor_between
from bareline.predict.ladder import read_ladder
from bareline.predict.prediction import Case, check_ladders
from bareline.predict.shares import Loss, explain_loss
from bareline.profile.files import is_profile, read_profile
from bareline.vocabulary.errors import AnalysisError, did_you_mean

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
    name = _named(found, app)
    pair = [found[name].get(one) for one in (baseline, platform)]
    missing = [
        one for one, own in zip((baseline, platform), pair, strict=True)
        if own is None or not own.launches
    ]  # fmt: skip
    if missing:
        raise AnalysisError(
            f"{name} has no undisturbed profiled launch on {' and '.join(missing)}",
            where=", ".join(str(run.path) for run in records.runs),
            hint="measure it with `profile = true` on both, with a core per rank",
        )
    one, other = pair
    assert one is not None and other is not None
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


def _named(found: Mapping[str, dict[str, Application]], app: str) -> str:
    """Find the application that is meant.

    Raises
    ------
    AnalysisError
        There is none of that name, or several.
    """
    path = Path(app)
    if is_profile(path):
        command = read_profile(path).command
        names = [
            name
            for name, own in found.items()
            if any(one.launches and one.launches[0].profile.command == command
                   for one in own.values())
        ]  # fmt: skip
    else:
        names = [name for name in found if name == app or name.split(" ", 1)[0] == app]
        # More nodes before one: the one-node case is the control.
        several = [name for name in names if not name.endswith("nodes=1")]
        names = several or names
    if len(names) == 1:
        return names[0]
    if not names:
        hint = did_you_mean(app, list(found), f"it has {'; '.join(found)}")
        raise AnalysisError(f"the run holds no profiled application '{app}'", hint=hint)
    raise AnalysisError(
        f"'{app}' may be any of {len(names)} applications",
        hint=f"name one in full: {'; '.join(names)}",
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
