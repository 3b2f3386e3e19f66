"""A run before it begins, while it goes on and when it has ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from rich.console import Console
from rich.text import Text

from bareline.report.content.wording import count
from bareline.report.terminal.console import clean, print_next
from bareline.report.terminal.tables import Column, print_table
from bareline.store.run import Run


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


def print_plan(
    rows: Sequence[Mapping[str, Any]],
    console: Console,
    *,
    scale: str | None = None,
    changes: Sequence[str] = (),
    exact: Collection[str] = (),
) -> None:
    """Print the trials of a plan in their order, and what the scale changed.

    Parameters
    ----------
    exact
        Platforms of which one trial of a case is all there is.
    """
    columns = [
        Column("trial", "number"),
        Column("block", "number"),
        Column("platform"),
        Column("probe"),
        Column("layout"),
        Column("parameters"),
    ]
    fields = [
        [
            str(row["trial"]),
            str(row["block"]),
            row["platform"],
            row["probe"],
            row["layout"] or "-",
            ", ".join(filter(None, [row["params"], "profiled" if row["profile"] else ""])),
        ]
        for row in rows
    ]
    print_table(columns, fields, console)
    blocks = len({row["block"] for row in rows})
    at = f", at scale {clean(scale)}" if scale else ""
    console.print(f"{count(len(rows), 'trial')} in {count(blocks, 'block')}{at}")
    spare = sum(row["block"] > 0 and row["platform"] in exact for row in rows)
    if spare:
        console.print(
            f"of these {count(spare, 'simulation')} only where the first of the case fails: "
            "a simulation repeats exactly",
            highlight=False,
        )
    for line in changes:
        console.print(f"  {clean(line)}", style="dim", highlight=False)


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
    kinds = ["planned", "measured", "failed", *(["skipped"] if row["skipped"] else [])]
    heads = [Column("platform")]
    heads += [Column(name, "number") for name in kinds]
    fields = [
        [name, *(str(counts[key]) for key in kinds)] for name, counts in row["platforms"].items()
    ]
    print_table(heads, fields, console)
    skipped = f"{row['skipped']} skipped, " if row["skipped"] else ""
    console.print(
        f"{row['measured']} of {count(row['planned'], 'trial')} measured, {row['failed']} failed, "
        f"{skipped}{row['saved']} not needed, {row['remaining']} left"
    )
    for line in row["left_out"]:
        console.print(Text(f"left out on {clean(line)}", style="dim"))
    if row["remaining"] and not row["active"]:
        print_next([f"bareline continue {row['run']}"], console)


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
    commands = [f"bareline compare {run.path}", f"bareline report {run.path}"]
    if tally.failed or tally.skipped:
        commands.append(f"bareline continue {run.path} --retry-failed")
    print_next(commands, console)
