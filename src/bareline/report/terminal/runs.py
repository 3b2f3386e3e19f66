"""A run before it begins, while it runs and after its end."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from operator import itemgetter
from textwrap import shorten
from typing import Any, TypeAlias

from bareline.report.blocks import Block, Field, Next, Remark, Rows, Table
from bareline.store.run import Run
from bareline.vocabulary.looks import look_words
from bareline.vocabulary.model import Failed, Record
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import (
    count,
    format_duration,
    format_value,
    joined,
    listing,
    significant,
)

#: Endings of the names of probes that measure every node or link of a cluster.
_OF_EACH = (".each_node", ".each_pair")
#: The largest number of changed trials in a list, and of values of each trial.
_MOST_LINES = 40
_MOST_VALUES = 3


#: A row of ``--json``: the value of each column.
JsonRow: TypeAlias = Mapping[str, Any]
_Blocks: TypeAlias = Iterator[Block]


def plan_blocks(
    rows: Sequence[JsonRow], *, scale: str | None = None, changes: Sequence[str] = (),
    exact: Collection[str] = (), control: str = "", baseline: str = "", costs: Sequence[str] = (),
) -> _Blocks:  # fmt: skip
    """Yield the trials of a plan, a line for each case, and remarks.

    - `scale`: the scale of the study.
    - `changes`: lines with the settings that this scale changes.
    - `exact`: platforms on which one trial of a case is enough, because all trials are equal.
    - `control`: the name under which the baseline is measured a second time; "" if it is not.
    - `baseline`: the name of the baseline.
    - `costs`: lines with the expected core hours.
    """
    yield _cases_table(rows)
    yield Remark(_trials_words(rows, scale))
    spare = sum(row["block"] > 0 and row["platform"] in exact for row in rows)
    if spare:
        simulations = count(spare, "simulation")
        yield Remark(
            f"of these {simulations} only where the first of the case fails: "
            "a simulation repeats exactly"
        )
    if control:
        of_control = sum(row["platform"] == control for row in rows)
        trials = count(of_control, "trial")
        yield Remark(
            f"of these {trials} on {control}, the negative control: {baseline} "
            f"measured again, which takes as much time as {baseline} itself; --no-control leaves "
            "it out"
        )
    yield from map(Remark, costs)
    for line in changes:
        yield Remark(f"  {line}", "muted")


def _trials_words(rows: Sequence[JsonRow], scale: str | None) -> str:
    """Describe the number of trials, and of their blocks and platforms."""
    block_numbers = {row["block"] for row in rows}
    names = {row["platform"] for row in rows}
    trials = count(len(rows), "trial")
    blocks = count(len(block_numbers), "block")
    platforms = listing(sorted(names))
    at_scale = f", at scale {scale}" if scale else ""
    return f"{trials} in {blocks} on {platforms}{at_scale}; --json lists them in their order"


@dataclass(frozen=True, order=True, slots=True)
class _Case:
    """A case of a plan, as a row of the table."""

    probe: str
    layout: str
    parameters: str

    @classmethod
    def of(cls, row: JsonRow) -> _Case:
        profiled = "profiled" if row["profile"] else ""
        parameters = joined(sanitized_name(row["params"]), profiled)
        return cls(row["probe"], row["layout"] or "-", parameters)


def _cases_table(rows: Sequence[JsonRow]) -> Table:
    """Return the table of the cases of a plan, with the platforms of their trials."""
    trials: dict[_Case, list[str]] = {}
    everywhere: set[str] = set()
    for row in rows:
        platform = row["platform"]
        everywhere.add(platform)
        trials.setdefault(_Case.of(row), []).append(platform)

    def platforms(case: _Case) -> str:
        measured = set(trials[case])
        if measured == everywhere:
            return "all"
        return listing(sorted(measured))

    table = Rows(sorted(trials))
    table.text("probe", lambda case: case.probe)
    table.text("layout", lambda case: case.layout)
    table.text("parameters", lambda case: case.parameters)
    table.figure("trials", lambda case: str(len(trials[case])))
    table.text("platforms", platforms)
    return table.table(whole=True)


def job_blocks(job: JsonRow) -> _Blocks:
    """Yield the script of a batch job and the command that would submit it."""
    command = shlex.join(job["command"])
    yield Remark(job["script"], unbroken=True)
    yield Remark(f"{command}\n", unbroken=True)
    more = job["chain"] - 1
    if more > 0:
        yield Remark(f"and {count(more, 'job')} more like it, each after the one before\n")


def run_list_blocks(rows: Sequence[JsonRow]) -> _Blocks:
    """Yield the list of run directories, a line each, and the command to type next."""
    if not rows:
        yield Remark("no run lies here; `bareline run STUDY --on P` makes one")
        return
    table = Rows(rows).text("run", itemgetter("run"))
    table.text("study", lambda row: joined(row["study"], row["scale"] or ""))
    table.text("begun (UTC)", lambda row: _minute(row["created"]))
    table.figure("trials", lambda row: str(row["trials"]))
    table.text("platforms", lambda row: ", ".join(row["platforms"]))
    yield table.table(whole=True)
    last = rows[-1]
    verb = "compare" if len(last["platforms"]) > 1 else "show"
    path = shlex.quote(last["run"])
    yield Next((f"bareline {verb} {path}",))


def _minute(created: str) -> str:
    return created[:16].replace("T", " ")


def status_blocks(row: JsonRow) -> _Blocks:
    """Yield the state of a run."""
    yield Remark(row["run"], "bold", unbroken=True)
    yield Remark(_origin_words(row))
    if "job" in row:
        yield Remark(f"batch job {row['job']}: {row['job_state']}")
        if row.get("job_log"):
            yield Remark(f"its log ends with: {row['job_log']}")
    yield _counts(row)
    yield Remark(_progress_words(row))
    if row.get("control"):
        yield Remark(f"{row['control']} is the negative control: {row['baseline']} once more")
    for name, counts in row["platforms"].items():
        if counts["running"]:
            yield Remark(f"{name} runs now: {counts['running']}")
    for look in row["looks"]:
        yield Remark(look_words(look), "muted")
    for line in row["machines"]:
        yield Remark(f"goes on on another machine, {line}")
    for line in row["left_out"]:
        yield Remark(f"left out on {line}", "muted")
    if row["remaining"] and not row["active"]:
        path = shlex.quote(row["run"])
        yield Next((f"bareline continue {path}",))


def _origin_words(row: JsonRow) -> str:
    """Describe the study of a run, its start, and whether it still runs."""
    study = f"study {row['study']}"
    if row.get("scale"):
        study += f" at scale {row['scale']}"
    begun = _minute(row["created"])
    activity = "a process is measuring it" if row["active"] else "no process is measuring it"
    seed = f"seed {row['seed']}"
    return f"{study}, begun {begun} UTC, {seed}, baseline {row['baseline']}; {activity}"


def _progress_words(row: JsonRow) -> str:
    """Describe the numbers of trials of a run: measured, failed, skipped, not needed, left."""
    planned = count(row["planned"], "trial")
    parts = [f"{row['measured']} of {planned} measured", f"{row['failed']} failed"]
    if row["skipped"]:
        parts.append(f"{row['skipped']} skipped")
    parts.append(f"{row['saved']} not needed")
    if row.get("not_run"):
        parts.append(f"{row['not_run']} not run (time budget used up)")
    parts.append(f"{row['remaining']} left to run")
    return ", ".join(parts)


def _counts(row: JsonRow) -> Table:
    """Return the table of the trials and the time of a run by platform."""
    counts = list(row["platforms"].values())
    kinds = ["planned", "measured", "failed"]
    if row["skipped"]:
        kinds.append("skipped")
    rows = Rows(counts)
    rows.fields("platform", map(Field, row["platforms"]), "text")
    for kind in kinds:
        rows.fields(kind, [Field(str(platform[kind])) for platform in counts])
    rows.figure("time", lambda platform: format_duration(platform["seconds"]))
    rows.number("core hours", itemgetter("core_hours"), significant, absent=significant(nan))
    if any(platform["cost"] is not None for platform in counts):
        rows.figure("cost", _cost)
    return rows.table(whole=True)


def _cost(platform: JsonRow) -> str:
    if platform["cost"] is None:
        return "-"
    return f"{significant(platform['cost'])} {platform['currency']}"


def run_end_blocks(
    run: Run,
    on: Collection[str],
    *,
    measured: int,
    failed: int,
    skipped: int,
    saved: int,
    not_run: int = 0,
) -> _Blocks:
    """Yield the result of a run and the commands to type next.

    - `on`: platforms that have records.
    - `measured`: number of trials with values.
    - `failed`: number of trials without values.
    - `skipped`: number of trials of programs that are not installed.
    - `saved`: number of trials that were not needed any more.
    - `not_run`: number of trials that were left when the time budget was used up.
    """
    numbers = {
        "failed": failed,
        "skipped": skipped,
        "not needed": saved,
        "not run (time budget used up)": not_run,
    }
    trials = f"{count(measured, 'trial')} measured"
    for word, number in numbers.items():
        if number:
            trials += f", {number} {word}"
    yield Remark(f"{trials}; results in {run.path}", unbroken=True)
    path = shlex.quote(str(run.path))
    verb = _next_verb(run, on)
    commands = [f"bareline {verb} {path}", f"bareline report {path}"]
    if failed or skipped:
        commands.append(f"bareline continue {path} --retry-failed")
    yield Next(tuple(commands))
    if verb == "show":
        yield Remark(
            "to compare, measure on another platform too (`--on`), or give `bareline compare` this "
            "run and that one",
            "muted",
        )


def _next_verb(run: Run, on: Collection[str]) -> str:
    """Return the command that shows a run: `compare`, or for one platform `nodes` or `show`.

    A baseline and its control also count as several platforms. `nodes` is for probes that measure
    each node or each pair of nodes.
    """
    control = run.header.control
    has_several = len(set(on) - {control}) > 1
    if has_several or {control, run.header.baseline} <= set(on):
        return "compare"
    measures = run.header.study["measure"]
    if any(measure["probe"].endswith(_OF_EACH) for measure in measures):
        return "nodes"
    return "show"


def reread_blocks(
    run: Run, changed: Sequence[tuple[Record, Record]], unread: Sequence[tuple[Record, str]]
) -> _Blocks:
    """Yield the trials whose results changed when the outputs were parsed again.

    The trials whose output cannot be read are listed after them.
    """
    metrics = {name: declared["metrics"] for name, declared in run.header.probes.items()}
    lines: list[str] = []
    for old, new in changed:
        before = _outcome(old, metrics)
        after = _outcome(new, metrics)
        lines.append(f"{_trial_words(new)}: {before} -> {after}")
    for record, reason in unread:
        lines.append(f"{_trial_words(record)}: not read again: {reason}")
    for line in lines[:_MOST_LINES]:
        yield Remark(line, unbroken=True)
    if len(lines) > _MOST_LINES:
        yield Remark(f"and {len(lines) - _MOST_LINES} more", "muted")


def _trial_words(record: Record) -> str:
    trial = record.trial
    return f"trial {trial.index}, {trial.case.label} on {trial.platform}"


def _outcome(record: Record, metrics: Mapping[str, JsonRow]) -> str:
    """Format the outcome of a trial.

    - `metrics`: the declared metrics of each probe.
    """
    outcome = record.outcome
    if isinstance(outcome, Failed):
        reason = shorten(outcome.reason, 120, placeholder=" ...")
        return f"failed [{outcome.stage.value}] {reason}"
    probe_metrics = metrics[record.trial.case.probe]
    parts = []
    for sample in outcome.samples[:_MOST_VALUES]:
        declared = probe_metrics.get(sample.metric, {})
        value = format_value(sample.value, declared.get("unit", ""))
        parts.append(f"{sample.metric} {value}")
    more = len(outcome.samples) - len(parts)
    if more:
        parts.append(f"{more} more")
    parts += [f"[{code}]" for code in record.caveats]
    return ", ".join(parts)
