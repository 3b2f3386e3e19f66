"""A run before it begins, while it goes on and when it has ended."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from operator import itemgetter
from textwrap import shorten
from typing import Any

from bareline.report.blocks import Block, Next, Remark, Rows, Table
from bareline.store.run import Run
from bareline.vocabulary.looks import look_words
from bareline.vocabulary.model import Failed, Record
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import count, format_duration, format_value, listing, significant

#: Endings of the names of probes that measure every node or link of a cluster.
_OF_EACH = (".each_node", ".each_pair")
#: More changed trials are counted, not listed; and of each no more than so many values.
_MOST_LINES = 40
_MOST_VALUES = 3


def plan_blocks(
    rows: Sequence[Mapping[str, Any]], *, scale: str | None = None, changes: Sequence[str] = (),
    exact: Collection[str] = (), control: str = "", baseline: str = "", costs: Sequence[str] = (),
) -> Iterator[Block]:  # fmt: skip
    """Describe the trials of a plan, a line for each case, and the remarks on it.

    - `scale`, `changes`: the scale of the study, and its changes.
    - `exact`: platforms of which one trial of a case is all there is.
    - `control`, `baseline`: the platform that is the baseline once more, "" without one.
    - `costs`: core hours that it is going to take, in lines.
    """
    yield _cases_table(rows)
    blocks = {row["block"] for row in rows}
    platforms = sorted({row["platform"] for row in rows})
    at_scale = f", at scale {scale}" if scale else ""
    trials = f"{count(len(rows), 'trial')} in {count(len(blocks), 'block')}"
    yield Remark(f"{trials} on {listing(platforms)}{at_scale}; --json lists them in their order")
    spare = sum(row["block"] > 0 and row["platform"] in exact for row in rows)
    if spare:
        yield Remark(
            f"of these {count(spare, 'simulation')} only where the first of the case fails: "
            "a simulation repeats exactly"
        )
    if control:
        twice = sum(row["platform"] == control for row in rows)
        yield Remark(
            f"of these {count(twice, 'trial')} on {control}, the negative control: {baseline} "
            f"measured again, which takes as much time as {baseline} itself; --no-control leaves "
            "it out"
        )
    yield from map(Remark, costs)
    for line in changes:
        yield Remark(f"  {line}", "muted")


@dataclass(frozen=True, order=True, slots=True)
class _Case:
    """A case of a plan, as a line of its table."""

    probe: str
    layout: str
    parameters: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> _Case:
        parameters = [sanitized_name(row["params"])]
        if row["profile"]:
            parameters.append("profiled")
        return cls(row["probe"], row["layout"] or "-", ", ".join(filter(None, parameters)))


def _cases_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """List the cases of a plan with the platforms of their trials."""
    trials: dict[_Case, list[str]] = {}
    for row in rows:
        trials.setdefault(_Case.of(row), []).append(row["platform"])
    everywhere = {row["platform"] for row in rows}

    def platforms(case: _Case) -> str:
        measured = set(trials[case])
        return "all" if measured == everywhere else listing(sorted(measured))

    table = Rows(sorted(trials))
    table.text("probe", lambda case: case.probe)
    table.text("layout", lambda case: case.layout)
    table.text("parameters", lambda case: case.parameters)
    table.figure("trials", lambda case: str(len(trials[case])))
    table.text("platforms", platforms)
    return table.table(whole=True)


def job_blocks(job: Mapping[str, Any]) -> Iterator[Block]:
    """Show the script of a batch job and the command that would submit it."""
    yield Remark(job["script"], unbroken=True)
    yield Remark(f"{shlex.join(job['command'])}\n", unbroken=True)
    if job["chain"] > 1:
        yield Remark(
            f"and {count(job['chain'] - 1, 'job')} more like it, each after the one before\n"
        )


def run_list_blocks(rows: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """List run directories, a line each, and the command to type next."""
    if not rows:
        yield Remark("no run lies here; `bareline run STUDY --on P` makes one")
        return
    table = Rows(rows).text("run", itemgetter("run"))
    table.text("study", lambda row: ", ".join(filter(None, [row["study"], row["scale"]])))
    table.text("begun (UTC)", lambda row: _minute(row["created"]))
    table.figure("trials", lambda row: str(row["trials"]))
    yield table.text("platforms", lambda row: ", ".join(row["platforms"])).table(whole=True)
    verb = "compare" if len(rows[-1]["platforms"]) > 1 else "show"
    yield Next((f"bareline {verb} {shlex.quote(rows[-1]['run'])}",))


def _minute(created: str) -> str:
    return created[:16].replace("T", " ")


def status_blocks(row: Mapping[str, Any]) -> Iterator[Block]:
    """Describe the state of a run."""
    at_scale = f" at scale {row['scale']}" if row.get("scale") else ""
    written = "is being written to" if row["active"] else "is not being written to"
    yield Remark(row["run"], "bold", unbroken=True)
    yield Remark(
        f"study {row['study']}{at_scale}, begun {_minute(row['created'])} UTC, seed {row['seed']}, "
        f"baseline {row['baseline']}; {written}"
    )
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
        yield Next((f"bareline continue {shlex.quote(row['run'])}",))


def _progress_words(row: Mapping[str, Any]) -> str:
    """Format the numbers of trials of a run: measured, failed, skipped, not needed and left."""
    parts = [
        f"{row['measured']} of {count(row['planned'], 'trial')} measured",
        f"{row['failed']} failed",
    ]
    if row["skipped"]:
        parts.append(f"{row['skipped']} skipped")
    parts.append(f"{row['saved']} not needed")
    if row.get("not_run"):
        parts.append(f"{row['not_run']} not run: time budget")
    parts.append(f"{row['remaining']} left")
    return ", ".join(parts)


def _counts(row: Mapping[str, Any]) -> Table:
    rows = Rows(row["platforms"].items()).text("platform", itemgetter(0))
    kinds = ["planned", "measured", "failed"]
    if row["skipped"]:
        kinds.append("skipped")
    for kind in kinds:
        rows.figure(kind, lambda item, kind=kind: str(item[1][kind]))  # type: ignore[misc]
    rows.figure("time", lambda item: format_duration(item[1]["seconds"]))
    hours = lambda item: item[1]["core_hours"]  # noqa: E731
    rows.number("core hours", hours, significant, absent=significant(nan))

    def cost(item: tuple[str, Mapping[str, Any]]) -> str:
        counts = item[1]
        if counts["cost"] is None:
            return "-"
        return f"{significant(counts['cost'])} {counts['currency']}"

    if any(counts["cost"] is not None for counts in row["platforms"].values()):
        rows.figure("cost", cost)
    return rows.table(whole=True)


def run_end_blocks(
    run: Run,
    on: Collection[str],
    *,
    measured: int,
    failed: int,
    skipped: int,
    saved: int,
    not_run: int = 0,
) -> Iterator[Block]:
    """Describe how a run ended and the commands to type next.

    - `on`: platforms that have records.
    - `measured`, `failed`, `skipped`, `saved`, `not_run`: trials with numbers, without, whose
      program is not installed, that were not needed, that the time budget left no time for.
    """
    numbers = {
        "failed": failed,
        "skipped": skipped,
        "not needed": saved,
        "not run: time budget": not_run,
    }
    parts = [f"{count(measured, 'trial')} measured"]
    parts += [f"{number} {word}" for word, number in numbers.items() if number]
    yield Remark(f"{', '.join(parts)}; results in {run.path}", unbroken=True)
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
    """Return the verb that shows a run: one platform alone is compared only with itself."""
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
) -> Iterator[Block]:
    """Describe the differences after outputs were read again, and those that could not be read."""
    units = {name: declared["metrics"] for name, declared in run.header.probes.items()}
    lines = [
        f"{_at(new)}: {_outcome(old, units)} -> {_outcome(new, units)}" for old, new in changed
    ]
    lines += [f"{_at(record)}: not read again: {reason}" for record, reason in unread]
    for line in lines[:_MOST_LINES]:
        yield Remark(line, unbroken=True)
    if len(lines) > _MOST_LINES:
        yield Remark(f"and {len(lines) - _MOST_LINES} more", "muted")


def _at(record: Record) -> str:
    return f"trial {record.trial.index}, {record.trial.case.label} on {record.trial.platform}"


def _outcome(record: Record, units: Mapping[str, Mapping[str, Any]]) -> str:
    if isinstance(record.outcome, Failed):
        reason = " ".join(record.outcome.reason.split())
        return f"failed [{record.outcome.stage.value}] {shorten(reason, 120, placeholder=' ...')}"
    samples = record.outcome.samples
    metrics = units[record.trial.case.probe]
    parts = []
    for sample in samples[:_MOST_VALUES]:
        unit = metrics.get(sample.metric, {}).get("unit", "")
        parts.append(f"{sample.metric} {format_value(sample.value, unit)}")
    if len(samples) > _MOST_VALUES:
        parts.append(f"{len(samples) - _MOST_VALUES} more")
    parts += [f"[{code}]" for code in record.caveats]
    return ", ".join(parts)
