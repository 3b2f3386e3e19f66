"""Core hours that a plan asks for, before anything is asked for: as expected, and at most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bareline.platforms.base import load_platform_types
from bareline.store.naming import RUNS, list_runs
from bareline.store.run import Run
from bareline.study.plan import largest_layout
from bareline.study.study import Study
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import Case, Trial
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import HOUR_S

#: So many of the latest runs of a study are asked how long its trials took.
_MOST_RUNS = 3
_MOST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a platform is going to cost.

    - `cores`: None where nobody can tell before it is up.
    - `expected_h`: core hours by what trials took in earlier runs here, or by the study's time
      budget; None where neither is there.
    - `most_h`: core hours if every trial took its time limit.
    """

    platform: str
    cores: int | None
    expected_h: float | None
    most_h: float | None


def outlook(
    study: Study, platforms: Sequence[PlatformSpec], plan: Sequence[Trial]
) -> list[Outlook]:
    """Estimate what each platform of a plan costs; queues are not counted.

    What a batch system or a cloud lends is held to the end of the run, whatever runs.
    """
    types = load_platform_types()
    most_s = _summed(plan, lambda trial: trial.timeout_s)
    expected_s = _expected_s(study, plan)
    found = []
    for spec in platforms:
        kind = types[spec.type]
        cores = kind.cores(spec, largest_layout(plan, spec.name))
        during = list(most_s) if kind.borrows else [spec.name]
        expected, most = (
            cores * sum(seconds.get(name, 0.0) for name in during) / HOUR_S
            if cores is not None and seconds
            else None
            for seconds in (expected_s, most_s)
        )
        found.append(Outlook(spec.name, cores, expected, most))
    return found


def _summed(plan: Sequence[Trial], seconds: Callable[[Trial], float]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for trial in plan:
        total[trial.platform] += seconds(trial)
    return total


def _expected_s(study: Study, plan: Sequence[Trial]) -> Mapping[str, float]:
    """Give how long trials of each platform take together; nothing where nobody can tell."""
    took = _earlier(study.name)
    if all((trial.platform, trial.case) in took for trial in plan):
        found = _summed(plan, lambda trial: took[trial.platform, trial.case])
    elif study.budget_s:
        found = _summed(plan, lambda _: 1.0)
        found = {name: study.budget_s * number / len(plan) for name, number in found.items()}
    else:
        return {}
    share = study.budget_s / sum(found.values()) if study.budget_s else 1.0
    return {name: seconds * min(1.0, share) for name, seconds in found.items()}


def _earlier(study: str) -> dict[tuple[str, Case], float]:
    """Give the mean time of a trial in the latest runs of a study here, by platform and case."""
    took: dict[tuple[str, Case], list[float]] = defaultdict(list)
    runs = [one.path for one in list_runs(RUNS) if one.header.study["study"]["name"] == study]
    for path in runs[-_MOST_RUNS:]:
        with suppress(StoreError):
            run = Run.open(path)
            if run.records_bytes <= _MOST_BYTES:
                for record in run.heads().values():
                    took[record.trial.platform, record.trial.case].append(record.duration_s)
    return {key: sum(times) / len(times) for key, times in took.items()}


def told(rows: Sequence[Outlook], limit: float | None) -> list[str]:
    """Say in a line what a plan costs, and which limit ends it before; nothing of no cost."""
    parts = []
    for row in rows:
        if row.cores is None or row.most_h is None:
            parts.append(f"{row.platform}: not known before it is up")
            continue
        about = "" if row.expected_h is None else f"about {row.expected_h:.2g}, "
        parts.append(f"{row.platform} ({row.cores} cores): {about}at most {row.most_h:.2g}")
    ends = "" if limit is None else f"; it ends at {limit:g}"
    return [f"core hours: {'; '.join(parts)}{ends}"] if parts else []
