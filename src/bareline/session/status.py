"""The state of a run: its planned, measured, failed and remaining trials, and open questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NotRequired

from typing_extensions import TypedDict

from bareline.platforms.base import exact_among, running_of
from bareline.session.history import History, counted_as
from bareline.session.looks import answers_its_question, planned_looks
from bareline.session.origin import plan_of, platforms_of, study_of
from bareline.store.run import Run
from bareline.study.plan import left_out_lines
from bareline.vocabulary.errors import BarelineError, StoreError
from bareline.vocabulary.facts import money
from bareline.vocabulary.looks import PlannedLook
from bareline.vocabulary.model import Record, Trial
from bareline.vocabulary.units import HOUR_S, listing
from bareline.vocabulary.verdicts import Grade

#: Up to so many bytes of records, every sample is read, and damage in a sample is reported.
_READ_WHOLE_BYTES = 32 << 20


class PlatformCounts(TypedDict):
    """The numbers of trials of a platform."""

    planned: int
    measured: int
    failed: int
    skipped: int
    seconds: float
    core_hours: float | None
    cost: float | None
    currency: str | None
    running: str


class RunStatus(TypedDict):
    """The output of ``run``, ``continue`` and ``status``: the progress of a run."""

    run: str
    study: str
    scale: str | None
    created: str
    seed: int
    baseline: str
    control: str | None
    config_hash: str
    planned: int
    measured: int
    failed: int
    skipped: int
    saved: int
    not_run: int
    remaining: int
    active: bool
    looks: list[PlannedLook]
    max_core_hours: float | None
    platforms: dict[str, PlatformCounts]
    machines: list[str]
    left_out: list[str]
    job: NotRequired[str]
    job_state: NotRequired[str]
    job_log: NotRequired[str]


def status_of(run: Run) -> RunStatus:
    """Return the state of a run: numbers of trials, in total and by platform."""
    study = study_of(run)
    plan = plan_of(run)
    history = History(
        study,
        plan,
        exact_among(platforms_of(run)),
        run.header.baseline,
        run.header.control,
        answered=partial(answers_its_question, run),
    )
    results = run.heads() if run.records_bytes > _READ_WHOLE_BYTES else {}
    # Samples are read only where the width of intervals decides which trials are left.
    decides = any(history.wanted(measure.probe) for measure in study.measures)
    if not results or (decides and len(results) < len(plan)):
        results = run.finished(history.wanted)
    for record in results.values():
        history.add(record)
    tally = history.tally()
    return {
        "run": str(run.path),
        "study": study.name,
        "scale": study.scale,
        "created": run.header.created,
        "seed": run.header.seed,
        "baseline": run.header.baseline,
        "control": run.header.control or None,
        "config_hash": run.header.config_hash,
        "planned": tally.planned,
        "measured": tally.measured,
        "failed": tally.failed,
        "skipped": tally.skipped,
        "saved": tally.saved,
        "not_run": tally.not_run,
        "remaining": tally.remaining,
        "active": run.is_being_written(),
        "looks": planned_looks(study, plan, history.blocks_done()),
        "max_core_hours": study.max_core_hours,
        "platforms": _by_platform(run, plan, history.records),
        "machines": [session.moved for session in run.sessions().values() if session.moved],
        "left_out": left_out_lines(run.left_out()),
    }


def _by_platform(run: Run, plan: Sequence[Trial], records: Mapping[int, Record]) -> dict[str, Any]:
    used = run.cost()
    facts = {}
    with suppress(StoreError):  # A comparison reports a damaged file.
        facts = run.facts()
    counted: dict[str, dict[str, Any]] = {}
    for spec in platforms_of(run):
        hours = None if used is None else used.get(spec.name, 0.0) / HOUR_S
        cost, currency = money(facts.get(spec.name, {}), hours) or (None, None)
        counted[spec.name] = {
            **{"planned": 0, "measured": 0, "failed": 0, "skipped": 0, "seconds": 0.0},
            **{"core_hours": hours, "cost": cost, "currency": currency},
            "running": running_of(spec),
        }
    for trial in plan:
        counts = counted[trial.platform]
        counts["planned"] += 1
        if trial.index in records:
            record = records[trial.index]
            counts[counted_as(record)] += 1
            counts["seconds"] += record.duration_s
    return counted


def shortfall(run: Run, blocks: int) -> str:
    """Report that the time budget ended a run after `blocks` blocks, and the open questions."""
    study = study_of(run)
    ended = f"the time budget of {study.budget_s:g} s ended the run after {blocks} of "
    return f"{ended}{study.launches} blocks{_open(run)}"


def _open(run: Run) -> str:
    import polars as pl

    from bareline.analysis.judgements.grades import question_of
    from bareline.analysis.numbers.records import read_runs
    from bareline.analysis.numbers.selection import selector_filter
    from bareline.analysis.words.comparison import Comparison

    try:
        records = read_runs([run])
        comparison = Comparison(records)
        if comparison.alone:
            return ""
        rows = comparison.points.filter(pl.col("better") != "none")
    except BarelineError:
        return ""  # a comparison of the run reports the reason
    relevant = rows.filter(
        pl.any_horizontal([selector_filter(text) for text in question_of(records)])
    )
    if relevant.is_empty():
        return ""
    still = relevant.filter(pl.col("grade") == Grade.OPEN.value)
    if still.is_empty():
        return "; what it asks is answered"
    questions = [
        f"{probe} {metric} on {listing(sorted(set(points['platform'])))}"
        for (probe, metric), points in still.group_by(["probe", "metric"], maintain_order=True)
    ]
    return f"; still open: {'; '.join(questions)}"


def end_remarks(run: Run) -> list[str]:
    """Return remarks on disturbed trials, and on launches that are missing for a verdict."""
    from bareline.analysis.numbers.disturbance import disturbed_trials
    from bareline.analysis.numbers.records import read_runs
    from bareline.analysis.words.disturbance import disturbed_words
    from bareline.analysis.words.power import missing_launches

    if run.records_bytes > _READ_WHOLE_BYTES:
        return []  # so many launches are enough
    try:
        records = read_runs([run])
        remarks = [disturbed_words(disturbed_trials(records)), missing_launches(records)]
    except BarelineError:
        return []  # a comparison of the run reports the reason
    return [remark for remark in remarks if remark]
