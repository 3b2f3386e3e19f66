"""Start a run, or go on with one: from names on the command line to a runner."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bareline import __version__
from bareline.errors import UsageError
from bareline.header import Header
from bareline.model import Trial
from bareline.plan import make_plan
from bareline.platforms.base import PlatformSpec
from bareline.platforms.config import make_spec
from bareline.probes.base import find_probe
from bareline.runner import History, Observer, Runner, Tally
from bareline.store import Run, now
from bareline.study import Study, study_from_toml

_LIBRARIES = ("polars", "numpy", "scipy", "altair", "pydantic")


def choose_baseline(study: Study, platforms: Sequence[PlatformSpec], given: str | None) -> str:
    """Give the platform that the others are compared with.

    The command line decides, then the study, then the first platform.

    Raises
    ------
    UsageError
        The one that the command line names is not part of the run.
    """
    names = [spec.name for spec in platforms]
    if given is not None:
        if given not in names:
            raise UsageError(
                f"the baseline '{given}' is not part of the run",
                hint=f"add --on {given}, or choose one of: {', '.join(names)}",
            )
        return given
    return study.baseline if study.baseline in names else names[0]


def default_folder(study: Study) -> Path:
    """Name a run directory that does not exist yet, below ``runs``."""
    stem = f"{study.name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    folder = Path("runs") / stem
    number = 2
    while folder.exists():
        folder = Path("runs") / f"{stem}-{number}"
        number += 1
    return folder


def create_run(
    study: Study,
    platforms: Sequence[PlatformSpec],
    folder: Path,
    *,
    baseline: str,
    seed: int | None = None,
) -> Run:
    """Make a run directory from which everything can be planned again.

    Raises
    ------
    StudyError
        Nothing of the study runs on these platforms.
    StoreError
        The directory cannot be made.
    """
    seed = study.seed if seed is None else seed
    make_plan(study, platforms, seed=seed)
    names = sorted({measure.probe for measure in study.measures})
    header = Header(
        study=study.to_toml(),
        platforms={spec.name: spec.to_dict() for spec in platforms},
        probes={name: find_probe(name).declaration() for name in names},
        baseline=baseline,
        seed=seed,
        created=now(),
        versions=_versions(),
    )
    return Run.create(folder, header)


def plan_rows(
    study: Study, platforms: Sequence[PlatformSpec], seed: int | None = None
) -> list[dict[str, Any]]:
    """List the trials of a plan in the order in which they would run, for ``--dry-run``."""
    return [
        {
            "trial": trial.index,
            "block": trial.block,
            "platform": trial.platform,
            "probe": trial.case.probe,
            "params": trial.case.params,
            "ranks": trial.case.ranks,
            "threads": trial.case.threads,
            "profile": trial.case.profile,
            "layout": str(trial.layout) if trial.layout else None,
            "misfit": trial.misfit,
            "timeout_s": trial.timeout_s,
        }
        for trial in make_plan(study, platforms, seed=seed)
    ]


def _versions() -> dict[str, str]:
    found = {"bareline": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def study_of(run: Run) -> Study:
    """Give the study of a run, as it was when the run was made.

    Raises
    ------
    UsageError
        The results were imported: nothing was planned.
    """
    if run.header.imported:
        raise UsageError(
            "holds imported results: there is nothing to run",
            where=str(run.path),
            hint="`bareline show` and `bareline compare` read it, `bareline import` adds to it",
        )
    return study_from_toml(run.header.study, where=f"{run.path}/run.toml")


def platforms_of(run: Run) -> list[PlatformSpec]:
    """Give the platforms of a run, as they were when the run was made."""
    return [
        make_spec(name, table, where=f"{run.path}/run.toml, [platform.{name}]")
        for name, table in run.header.platforms.items()
    ]


def execute(run: Run, observer: Observer, *, retry_failed: bool = False) -> Tally:
    """Run every trial of a run that has no record yet; see `Runner.execute`."""
    runner = Runner(run, study_of(run), platforms_of(run), observer)
    return runner.execute(retry_failed=retry_failed)


def plan_of(run: Run) -> tuple[Trial, ...]:
    """Make the plan of a run again."""
    return make_plan(study_of(run), platforms_of(run), seed=run.header.seed)


def status_of(run: Run) -> dict[str, Any]:
    """Say how a run stands: counts over all and by platform, and its latest failures."""
    study, plan = study_of(run), plan_of(run)
    history = History(study, plan)
    for record in run.finished().values():
        history.add(record)
    tally = history.tally()
    by_platform: dict[str, dict[str, int]] = {}
    for trial in plan:
        counts = by_platform.setdefault(trial.platform, {"planned": 0, "measured": 0, "failed": 0})
        counts["planned"] += 1
        if trial.index in history.records:
            counts[history.records[trial.index].status] += 1
    return {
        "run": str(run.path),
        "study": study.name,
        "scale": study.scale,
        "created": run.header.created,
        "seed": run.header.seed,
        "baseline": run.header.baseline,
        "config_hash": run.header.config_hash,
        "planned": tally.planned,
        "measured": tally.measured,
        "failed": tally.failed,
        "saved": tally.saved,
        "remaining": tally.remaining,
        "active": run.is_being_written(),
        "platforms": by_platform,
    }
