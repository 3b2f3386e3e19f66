"""Restore the study, platforms and plan of a run from its directory, and check its owner.

A run contains the commands that run on its platforms, so a user who continues a run executes
commands of its author. Another user's run is read under limits, and none of its commands runs
before the user trusts the run.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bareline.host.cache import cache_folder
from bareline.platforms.config import make_spec
from bareline.probes.base import load_probes
from bareline.store.header import HEADER_FILE
from bareline.store.run import Run
from bareline.study.plan import make_plan
from bareline.study.study import Study, study_from_toml
from bareline.vocabulary.errors import StoreError, UsageError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import Metric, Trial
from bareline.vocabulary.platform import PlatformSpec


def study_of(run: Run) -> Study:
    """Return the study of a run, as it was when the run was created.

    Raises UsageError: the results were imported, so that nothing was planned.
    Raises StoreError: the run measured with a parameter that its probe no longer has.
    """
    if run.header.imported:
        raise UsageError(
            "the run contains imported results, so that there is nothing to measure",
            where=str(run.path),
            hint="`bareline show` and `bareline compare` read it, `bareline import` adds to it",
        )
    content = dict(run.header.study)
    # The first headers of bareline 0.1.0 have none of these, and their plan must stay the same.
    before = {"order": "shuffled", "blocks_per_boot": 0, "emulated_launches": 0}
    content["study"] = {**before, **content.get("study", {})}
    probes = load_probes()
    for name, defaults in run.header.defaults.items():
        gone = sorted(set(defaults) - set(probes[name].defaults())) if name in probes else []
        if gone:
            raise StoreError(
                f"this run used the parameter '{gone[0]}' of {name}, which this version of"
                " bareline does not have",
                where=f"{run.path}/run.toml, [probe.{name}.defaults]",
                hint="continue with the bareline that began the run, or measure into a new folder",
            )
    return study_from_toml(content, where=f"{run.path}/run.toml", defaults=run.header.defaults)


def platforms_of(run: Run) -> list[PlatformSpec]:
    """Return the platforms of a run, as they were when the run was created."""
    return [
        make_spec(name, table, where=f"{run.path}/run.toml, [platform.{name}]")
        for name, table in run.header.platforms.items()
    ]


def plan_of(run: Run) -> tuple[Trial, ...]:
    """Return the plan of a run, planned again."""
    return make_plan(study_of(run), platforms_of(run), seed=run.header.seed)


def declare_today(run: Run) -> None:
    """Add to the header the metrics and parameters that are new in the run's probes.

    They are new if the probes gained them after the run was created.

    The metrics of the present probes must be declared, or the run could not be read. The default of
    a new parameter is the value with which the run was measured.

    Raises StoreError: a metric of the run now has another unit or direction.
    """
    loaded = load_probes()
    probes = dict(run.header.probes)
    for name, declared in run.header.probes.items():
        if name not in loaded:
            continue
        metrics = {**loaded[name].declaration()["metrics"], **declared["metrics"]}
        for metric, today in loaded[name].metrics.items():
            _check_metric(run, f"{name} measures {metric}", today, metrics[metric])
        more = {"metrics": metrics}
        if "defaults" in declared:
            more["defaults"] = {**loaded[name].defaults(), **declared["defaults"]}
        probes[name] = {**declared, **more}
    if probes != run.header.probes:
        run.replace_header(replace(run.header, probes=probes))


def _check_metric(run: Run, subject: str, today: Metric, declared: Mapping[str, Any]) -> None:
    if declared["unit"] != today.unit:
        problem = (
            f"this version of bareline measures {subject} in {today.unit}, but the run has "
            f"{declared['unit']}"
        )
    elif {declared["better"], today.better} == {"lower", "higher"}:
        problem = (
            f"{subject}: {today.better} is better in this version of bareline, but "
            f"{declared['better']} is better in the run"
        )
    else:
        return
    hint = "measure again into a new folder"
    raise StoreError(problem, where=str(run.path), hint=hint)


def owner_of(path: Path) -> int | None:
    """Return the ID of the user who owns a run; None if the caller is the owner."""
    for place in (path, path / HEADER_FILE):
        owner = place.stat().st_uid
        if owner != os.geteuid():
            return owner
    return None


def see_to_trust(run: Run, *, trust: bool) -> None:
    """Refuse to run another user's commands until the caller has trusted the run once.

    The trust is for the present content of the run: another study, platform or path needs it again.

    - `trust`: the caller trusts the run now.

    Raises UsageError: the caller has never trusted the run, and does not trust it now.
    """
    owner = owner_of(run.path)
    if owner is None:
        return
    # The header as it was read: its file may have changed since.
    text = f"{run.header.to_toml()}\0{run.path.resolve()}"
    mark = cache_folder() / "trusted" / hashlib.sha256(text.encode()).hexdigest()
    if trust:
        mark.parent.mkdir(mode=0o700, exist_ok=True)
        replace_file(mark, "")
    elif not mark.exists():
        raise UsageError(
            f"the run belongs to another user (number {owner}), but you would run its programs",
            where=str(run.path),
            hint=f"read {HEADER_FILE} there, then `bareline continue --trust "
            f"{shlex.quote(str(run.path))}`",
        )
