"""A run before it begins, while it goes on and when it has ended."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from textwrap import shorten
from typing import Any, Protocol

from rich.console import Console
from rich.text import Text

from bareline.report.blocks import Column
from bareline.report.writers.columns import print_table
from bareline.report.writers.console import clean, print_next
from bareline.store.run import Run
from bareline.vocabulary.model import Failed, Record
from bareline.vocabulary.texts import shown_name
from bareline.vocabulary.units import count, format_duration, format_value, listing, significant

#: Probes of every node or link of a cluster are called so.
_OF_EACH = (".each_node", ".each_pair")
#: More changed trials are counted, not listed; and of each no more than so many values.
_MOST_LINES = 40
_MOST_VALUES = 3


class Tally(Protocol):
    """How a run stands, as its runner tells."""

    @property
    def measured(self) -> int:
        """Trials with numbers."""

    @property
    def failed(self) -> int:
        """Trials without."""

    @property
    def skipped(self) -> int:
        """Trials whose program is not installed."""

    @property
    def saved(self) -> int:
        """Trials that were not needed."""

    @property
    def on(self) -> Collection[str]:
        """Platforms that have records."""


@dataclass(frozen=True, slots=True)
class PlanNotes:
    """What is to be said of a plan beside its trials.

    - `scale`, `changes`: the scale of the study, and what it changed.
    - `exact`: platforms of which one trial of a case is all there is.
    - `control`, `baseline`: the platform that is the baseline once more, "" without one.
    - `costs`: core hours that it is going to take, in lines.
    """

    scale: str | None = None
    changes: Sequence[str] = ()
    exact: Collection[str] = ()
    control: str = ""
    baseline: str = ""
    costs: Sequence[str] = ()


def print_plan(rows: Sequence[Mapping[str, Any]], console: Console, notes: PlanNotes) -> None:
    """Print what a plan measures, a line for each case, and what is to be said of it."""
    columns = [
        Column("probe"),
        Column("layout"),
        Column("parameters"),
        Column("trials", "number"),
        Column("platforms"),
    ]
    cases: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        profiled = "profiled" if row["profile"] else ""
        parameters = ", ".join(filter(None, [shown_name(row["params"]), profiled]))
        case = (row["probe"], row["layout"] or "-", parameters)
        cases.setdefault(case, []).append(row["platform"])
    everywhere = {row["platform"] for row in rows}
    fields = [
        [*case, str(len(on)), "all" if {*on} == everywhere else listing(sorted({*on}))]
        for case, on in sorted(cases.items())
    ]
    print_table(columns, fields, console)
    blocks = len({row["block"] for row in rows})
    at = f", at scale {clean(notes.scale)}" if notes.scale else ""
    order = "; --json lists them in their order"
    on = listing([clean(name) for name in sorted(everywhere)])
    console.print(
        f"{count(len(rows), 'trial')} in {count(blocks, 'block')} on {on}{at}{order}",
        highlight=False,
    )
    _print_notes(rows, console, notes)


def _print_notes(rows: Sequence[Mapping[str, Any]], console: Console, notes: PlanNotes) -> None:
    spare = sum(row["block"] > 0 and row["platform"] in notes.exact for row in rows)
    if spare:
        console.print(
            f"of these {count(spare, 'simulation')} only where the first of the case fails: "
            "a simulation repeats exactly",
            highlight=False,
        )
    if notes.control:
        twice = sum(row["platform"] == notes.control for row in rows)
        console.print(
            f"of these {count(twice, 'trial')} on {clean(notes.control)}, the negative control: "
            f"{clean(notes.baseline)} measured again, which takes as much time as "
            f"{clean(notes.baseline)} itself; --no-control leaves it out",
            highlight=False,
        )
    for line in notes.costs:
        console.print(clean(line), highlight=False)
    for line in notes.changes:
        console.print(f"  {clean(line)}", style="dim", highlight=False)


def print_job(job: Mapping[str, Any], console: Console) -> None:
    """Print the script of a batch job and the command that would submit it."""
    console.print(Text(job["script"]), soft_wrap=True)
    console.print(Text(f"{shlex.join(job['command'])}\n"), soft_wrap=True)
    if job["chain"] > 1:
        left = count(job["chain"] - 1, "job")
        console.print(f"and {left} more like it, each after the one before\n", highlight=False)


def print_runs(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print run directories, a line each, and what to type next."""
    if not rows:
        console.print("no run lies here; `bareline run STUDY --on P` makes one")
        return
    heads = [Column("run"), Column("study"), Column("begun (UTC)"), Column("trials", "number")]
    fields = [
        [
            row["run"],
            f"{row['study']}, {row['scale']}" if row["scale"] else row["study"],
            row["created"][:16].replace("T", " "),
            str(row["trials"]),
            ", ".join(row["platforms"]),
        ]
        for row in rows
    ]
    print_table([*heads, Column("platforms")], fields, console)
    verb = "compare" if len(rows[-1]["platforms"]) > 1 else "show"
    print_next([f"bareline {verb} {shlex.quote(rows[-1]['run'])}"], console)


def print_status(row: Mapping[str, Any], console: Console) -> None:
    """Print how a run stands."""
    state = "is being written to" if row["active"] else "is not being written to"
    at = f" at scale {clean(row['scale'])}" if row.get("scale") else ""
    console.print(Text(clean(row["run"]), style="bold"), soft_wrap=True)
    console.print(
        Text(
            f"study {clean(row['study'])}{at}, begun {row['created'][:16].replace('T', ' ')} UTC, "
            f"seed {row['seed']}, baseline {clean(row['baseline'])}; {state}"
        )
    )
    if "job" in row:
        console.print(Text(f"batch job {clean(row['job'])}: {clean(row['job_state'])}"))
    _print_counts(row, console)
    skipped = f"{row['skipped']} skipped, " if row["skipped"] else ""
    console.print(
        f"{row['measured']} of {count(row['planned'], 'trial')} measured, {row['failed']} failed, "
        f"{skipped}{row['saved']} not needed, {row['remaining']} left"
    )
    if row.get("control"):
        control = clean(row["control"])
        console.print(f"{control} is the negative control: {clean(row['baseline'])} once more")
    for name, counts in row["platforms"].items():
        if counts["running"]:
            console.print(Text(f"{clean(name)} runs now: {clean(counts['running'])}"))
    for line in row["machines"]:
        console.print(Text(f"goes on on another machine, {clean(line)}"))
    for line in row["left_out"]:
        console.print(Text(f"left out on {clean(line)}", style="dim"))
    if row["remaining"] and not row["active"]:
        print_next([f"bareline continue {shlex.quote(row['run'])}"], console)


def _print_counts(row: Mapping[str, Any], console: Console) -> None:
    """Print what was done on each platform, in which time and for how much."""
    kinds = ["planned", "measured", "failed", *(["skipped"] if row["skipped"] else [])]
    heads = [Column("platform")]
    heads += [Column(name, "number") for name in kinds]
    heads += [Column("time", "number"), Column("core hours", "number")]
    priced = any(counts["cost"] is not None for counts in row["platforms"].values())
    heads += [Column("cost", "number")] if priced else []
    fields = [
        [
            name,
            *(str(counts[key]) for key in kinds),
            format_duration(counts["seconds"]),
            significant(nan if counts["core_hours"] is None else counts["core_hours"]),
            *([_cost(counts)] if priced else []),
        ]
        for name, counts in row["platforms"].items()
    ]
    print_table(heads, fields, console)


def _cost(counts: Mapping[str, Any]) -> str:
    if counts["cost"] is None:
        return "-"
    return f"{significant(counts['cost'])} {clean(counts['currency'])}"


def print_run_end(run: Run, tally: Tally, console: Console) -> None:
    """Print how a run ended and what to type next."""
    parts = [count(tally.measured, "trial") + " measured"]
    if tally.failed:
        parts.append(f"{tally.failed} failed")
    if tally.skipped:
        parts.append(f"{tally.skipped} skipped")
    if tally.saved:
        parts.append(f"{tally.saved} not needed")
    console.print(Text(", ".join(parts) + f"; results in {clean(run.path)}"), soft_wrap=True)
    path, control = shlex.quote(str(run.path)), run.header.control
    # One platform alone has nothing to be compared with, but itself.
    several = len(set(tally.on) - {control}) > 1 or {control, run.header.baseline} <= set(tally.on)
    looked = "compare" if several else "nodes" if _surveys(run) else "show"
    commands = [f"bareline {looked} {path}", f"bareline report {path}"]
    if tally.failed or tally.skipped:
        commands.append(f"bareline continue {path} --retry-failed")
    print_next(commands, console)
    if not several and looked != "nodes":
        console.print(
            Text(
                "to compare, measure on another platform too (`--on`), or give "
                "`bareline compare` this run and that one",
                style="dim",
            )
        )


def print_reread(
    run: Run,
    changed: Sequence[tuple[Record, Record]],
    unread: Sequence[tuple[Record, str]],
    console: Console,
) -> None:
    """Print what came out differently when outputs were read again, and what could not be read."""
    units = {name: declared["metrics"] for name, declared in run.header.probes.items()}
    lines = [
        f"{_place(new)}: {_outcome(old, units)} -> {_outcome(new, units)}" for old, new in changed
    ]
    lines += [f"{_place(record)}: not read again: {reason}" for record, reason in unread]
    for line in lines[:_MOST_LINES]:
        console.print(Text(clean(line)), soft_wrap=True)
    if len(lines) > _MOST_LINES:
        console.print(f"and {len(lines) - _MOST_LINES} more", style="dim")


def _place(record: Record) -> str:
    return f"trial {record.trial.index}, {record.trial.case.label} on {record.trial.platform}"


def _outcome(record: Record, units: Mapping[str, Mapping[str, Any]]) -> str:
    if isinstance(record.outcome, Failed):
        reason = " ".join(record.outcome.reason.split())
        return f"failed [{record.outcome.stage.value}] {shorten(reason, 120, placeholder=' ...')}"
    samples = record.outcome.samples
    metrics = units[record.trial.case.probe]
    shown = [
        f"{one.metric} {format_value(one.value, metrics.get(one.metric, {}).get('unit', ''))}"
        for one in samples[:_MOST_VALUES]
    ]
    more = [f"{len(samples) - len(shown)} more"] if len(samples) > len(shown) else []
    return ", ".join([*shown, *more, *(f"[{code}]" for code in record.caveats)])


def _surveys(run: Run) -> bool:
    """Tell whether a run measures the nodes of a cluster one by one."""
    return any(measure["probe"].endswith(_OF_EACH) for measure in run.header.study["measure"])
