"""What a run was begun with, made again from its directory: its study, platforms and plan."""

from __future__ import annotations

from dataclasses import replace

from bareline.platforms.base import PlatformSpec
from bareline.platforms.config import make_spec
from bareline.probes.base import load_probes
from bareline.store.run import Run
from bareline.study.plan import make_plan
from bareline.study.study import Study, study_from_toml
from bareline.vocabulary.errors import StoreError, UsageError
from bareline.vocabulary.model import Trial


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
    content = dict(run.header.study)
    # What bareline 0.1.0 wrote at first says none of these: its plan must come out as it was.
    before = {"order": "shuffled", "blocks_per_boot": 0, "emulated_launches": 0}
    content["study"] = {**before, **content.get("study", {})}
    return study_from_toml(content, where=f"{run.path}/run.toml")


def platforms_of(run: Run) -> list[PlatformSpec]:
    """Give the platforms of a run, as they were when the run was made."""
    return [
        make_spec(name, table, where=f"{run.path}/run.toml, [platform.{name}]")
        for name, table in run.header.platforms.items()
    ]


def plan_of(run: Run) -> tuple[Trial, ...]:
    """Make the plan of a run again."""
    return make_plan(study_of(run), platforms_of(run), seed=run.header.seed)


def declare_today(run: Run) -> None:
    """Add to the header which metrics the run's probes have besides today.

    A run of before is continued and parsed again by the probes of today, which may deliver more
    than they did; what they deliver must be declared, or the run could not be read.

    Raises
    ------
    StoreError
        A metric that the run holds is of another unit today.
    """
    known = load_probes()
    probes = dict(run.header.probes)
    for name, declared in run.header.probes.items():
        if name not in known:
            continue
        metrics = {**known[name].declaration()["metrics"], **declared["metrics"]}
        for metric, today in known[name].metrics.items():
            if metrics[metric]["unit"] != today.unit:
                raise StoreError(
                    f"{name} measures {metric} in {today.unit} today, not in "
                    f"{metrics[metric]['unit']}",
                    where=str(run.path),
                    hint="measure again into a new folder",
                )
        probes[name] = {**declared, "metrics": metrics}
    if probes != run.header.probes:
        run.replace_header(replace(run.header, probes=probes))
