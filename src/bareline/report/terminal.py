"""Results and lists in the terminal: the verdict first, tables of at most 100 columns.

Names, reasons and titles come from files and programs, so they are never read as markup, and
control characters in them are replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import polars as pl
from rich.box import Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bareline.model import caveat_text
from bareline.report.cells import Cell, headline_first, numeric_axis, read_cells, varying
from bareline.report.document import Fact, Statement
from bareline.report.scales import SIZE_TICKS, Scale, unit_scale
from bareline.report.wording import (
    AMOUNT,
    VERDICTS,
    count,
    describe,
    interval,
    metric_name,
    parameter_name,
    ratio_interval,
    ratio_text,
)
from bareline.store import Run

WIDTH = 100
_STYLES = {"slower": "bold red", "faster": "bold green", "failed": "yellow", "missing": "yellow"}
_LONGEST_SWEEP = 7
#: Only a line under the heads.
_RULE = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")


class Tally(Protocol):
    """How a run stands, as its runner tells."""

    @property
    def measured(self) -> int:
        """Trials with numbers."""

    @property
    def failed(self) -> int:
        """Trials without."""

    @property
    def saved(self) -> int:
        """Trials that were not needed."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, how it is aligned, and whether it may be shortened to fit."""

    head: str
    kind: Literal["number", "light", "text", "name"] = "text"


def make_console(*, stderr: bool = False) -> Console:
    """Make the console that everything is printed on.

    At most 100 columns wide; without colours where they are not wanted (NO_COLOR) or not
    understood (no terminal).
    """
    stream = sys.stderr if stderr else sys.stdout
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    return console


def clean(text: object) -> str:
    """Replace what a terminal would obey instead of show."""
    return "".join(
        sign if sign.isprintable() or sign == "\n" else "\ufffd"
        for sign in str(text).replace("\u202f", " ").replace("\u00a0", " ")
    )


# Results -------------------------------------------------------------------------------------


def print_statements(statements: Sequence[Statement], console: Console) -> None:
    """Print the verdict, one paragraph a layer."""
    if not statements:
        console.print("There is nothing to compare.")
    for statement in statements:
        text = Text(clean(statement.text))
        text.highlight_regex(AMOUNT, "bold")
        text.highlight_regex(r"\[[^\[\]]*\]", "dim")
        console.print(text)
        console.print()


def print_summary(summary: pl.DataFrame, console: Console, *, details: bool = False) -> None:
    """Print medians with their intervals, one table per probe and unit.

    Parameters
    ----------
    details
        Also detail metrics, and every point of a sweep.
    """
    cells = read_cells(summary, None)

    def columns(scale: Scale, metric: str) -> list[Column]:
        return [
            Column("platform", "name"),
            Column(scale.titled(metric), "number"),
            Column("95 %", "light"),
            Column("n", "number"),
        ]

    def fields(cell: Cell, scale: Scale) -> list[Text | str]:
        bounds = interval(scale, cell.lo, cell.hi)
        return [cell.platform, scale.show(cell.value), bounds, str(cell.n)]

    _print_cells(cells, console, columns, fields, details=details)


def print_comparison(
    statements: Sequence[Statement],
    comparison: pl.DataFrame,
    console: Console,
    *,
    details: bool = False,
) -> None:
    """Print the verdict, then every comparison with the baseline.

    Parameters
    ----------
    details
        Also detail metrics, and every point of a sweep.
    """
    print_statements(statements, console)
    cells = read_cells(None, comparison)
    baseline = comparison.item(0, "baseline") if comparison.height else ""

    def columns(scale: Scale, metric: str) -> list[Column]:
        return [
            Column("platform", "name"),
            Column(scale.titled(metric), "number"),
            Column(baseline, "number"),
            Column("ratio", "number"),
            Column("95 %", "light"),
            Column("n", "number"),
            Column("verdict"),
        ]

    def fields(cell: Cell, scale: Scale) -> list[Text | str]:
        style = _STYLES.get(cell.verdict, "")
        return [
            cell.platform,
            scale.show(cell.value),
            scale.show(cell.value_baseline),
            Text(ratio_text(cell.ratio), style=style),
            ratio_interval(cell.ratio_lo, cell.ratio_hi),
            str(cell.n),
            Text(VERDICTS.get(cell.verdict, cell.verdict), style=style),
        ]

    _print_cells(cells, console, columns, fields, details=details)
    console.print(
        Text(f"A ratio above 1 is worse than {clean(baseline)}; 95 % is its interval.", "dim")
    )


def _print_cells(
    cells: Sequence[Cell],
    console: Console,
    columns: Callable[[Scale, str], list[Column]],
    fields: Callable[[Cell, Scale], list[Text | str]],
    *,
    details: bool,
) -> None:
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if details or not cell.detail:
            groups.setdefault((cell.probe, cell.unit), []).append(cell)
    left_out = 0
    probes = list(dict.fromkeys(probe for probe, _ in groups))
    ordered = sorted(
        groups.items(),
        key=lambda item: (probes.index(item[0][0]), not any(cell.headline for cell in item[1])),
    )
    for (probe, _), own in ordered:
        shown = own if details else _thinned(own)
        left_out += len(own) - len(shown)
        _print_group(probe, headline_first(shown), console, columns, fields)
    if left_out:
        noun = count(left_out, "row")
        console.print(Text(f"{noun} between these sizes left out; --all shows them.", "dim"))


def _print_group(
    probe: str,
    cells: Sequence[Cell],
    console: Console,
    columns: Callable[[Scale, str], list[Column]],
    fields: Callable[[Cell, Scale], list[Text | str]],
) -> None:
    scale = unit_scale((v for cell in cells for v in (cell.value, cell.value_baseline)),
                       cells[0].unit)  # fmt: skip
    names = varying(cells)
    metrics = list(dict.fromkeys(metric_name(cell.metric) for cell in cells))
    points = [_point(cell, names, several=len(metrics) > 1) for cell in cells]
    letters = _letters(cells)
    heads = columns(scale, metrics[0] if len(metrics) == 1 else "median")
    if any(points):
        head = parameter_name(names[0]) if len(metrics) == 1 and len(names) == 1 else ""
        heads = [Column(head, "name"), *heads]
    rows = []
    for cell, point in zip(cells, points, strict=True):
        row = fields(cell, scale)
        marks = "".join(sorted(letters[code] for code in cell.caveats))
        rows.append([*([point] if any(points) else []), *row, Text(marks, style="dim")])
    console.print(Text(clean(probe), style="bold"))
    print_table([*heads, Column("")], rows, console)
    for code, letter in letters.items():
        console.print(Text(f"  {letter}  {clean(caveat_text(code))}", style="dim"))
    console.print()


def _point(cell: Cell, names: Sequence[str], *, several: bool) -> str:
    parts = [metric_name(cell.metric)] if several else []
    return ", ".join(filter(None, [*parts, describe(cell, names)]))


def _letters(cells: Sequence[Cell]) -> dict[str, str]:
    codes = dict.fromkeys(code for cell in cells for code in cell.caveats)
    return {code: chr(ord("a") + index % 26) for index, code in enumerate(codes)}


def _thinned(cells: Sequence[Cell]) -> list[Cell]:
    """Keep the ends of a long sweep and the sizes that axes are marked with."""
    axis = numeric_axis(cells)
    if axis is None:
        return list(cells)
    values = sorted({value for cell in cells if (value := _number(cell, axis)) is not None})
    if len(values) <= _LONGEST_SWEEP:
        return list(cells)
    kept = {values[0], values[-1], *(size for size in SIZE_TICKS if size in values)}
    return [cell for cell in cells if (value := _number(cell, axis)) is None or value in kept]


def _number(cell: Cell, axis: str) -> float | None:
    value = cell.coordinates.get(axis)
    return float(value) if isinstance(value, int | float) else None


def print_facts(
    rows: Sequence[Fact], names: Sequence[str], console: Console, *, details: bool = False
) -> None:
    """Print the platforms' characteristics: those that differ, and on demand the rest.

    Parameters
    ----------
    names
        The platforms, in the order of each row's values.
    details
        Also what is the same everywhere.
    """
    shown = [row for row in rows if details or not row.equal]
    heads = [Column("characteristic", "name"), *(Column(name) for name in names)]
    fields = [[f"{row.group}: {row.label}", *row.values] for row in shown]
    print_table(heads, fields, console)
    if len(shown) < len(rows):
        noun = count(len(rows) - len(shown), "characteristic")
        console.print(Text(f"{noun} the same everywhere; --all shows them.", "dim"))


def print_run_end(run: Run, tally: Tally, console: Console) -> None:
    """Print how a run ended and what to type next."""
    parts = [count(tally.measured, "trial") + " measured"]
    if tally.failed:
        parts.append(f"{tally.failed} failed")
    if tally.saved:
        parts.append(f"{tally.saved} not needed")
    console.print(Text(", ".join(parts) + f"; results in {clean(run.path)}"), soft_wrap=True)
    commands = [f"bareline compare {run.path}", f"bareline report {run.path}"]
    if tally.failed:
        commands.append(f"bareline continue {run.path} --retry-failed")
    print_next(commands, console)


def print_next(commands: Sequence[str], console: Console) -> None:
    """Print what to type next, each command unbroken so that it can be copied."""
    for index, command in enumerate(commands):
        text = Text("next: " if index == 0 else "      ", style="dim")
        console.print(text + Text(clean(command), style="cyan"), soft_wrap=True)


# Plans and lists -----------------------------------------------------------------------------


def print_plan(
    rows: Sequence[Mapping[str, Any]], console: Console, *, scale: str | None = None
) -> None:
    """Print the trials of a plan in their order."""
    columns = [
        Column("trial", "number"),
        Column("block", "number"),
        Column("platform", "name"),
        Column("probe", "name"),
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
            row["misfit"] or row["params"],
        ]
        for row in rows
    ]
    print_table(columns, fields, console)
    blocks = len({row["block"] for row in rows})
    at = f", at scale {clean(scale)}" if scale else ""
    console.print(f"{count(len(rows), 'trial')} in {count(blocks, 'block')}{at}")


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
    heads = [Column("platform", "name")]
    heads += [Column(name, "number") for name in ("planned", "measured", "failed")]
    fields = [
        [name, *(str(counts[key]) for key in ("planned", "measured", "failed"))]
        for name, counts in row["platforms"].items()
    ]
    print_table(heads, fields, console)
    console.print(
        f"{row['measured']} of {count(row['planned'], 'trial')} measured, {row['failed']} failed, "
        f"{row['saved']} not needed, {row['remaining']} left"
    )
    if row["remaining"] and not row["active"]:
        print_next([f"bareline continue {row['run']}"], console)


def print_platforms(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the platforms: those available here first, then why the others are not."""
    ready = [row for row in rows if row["available"]]
    heads = [Column("platform", "name"), Column("type", "name"), Column("nodes", "number")]
    print_table(
        [*heads, Column("")],
        [[row["platform"], row["type"], str(row["nodes"]), row["title"]] for row in ready],
        console,
    )
    others = [row for row in rows if not row["available"]]
    if others:
        console.print()
        console.print(Text("not available here", style="bold"))
        print_table(
            [*heads, Column("why, and what to do")],
            [
                [
                    row["platform"],
                    row["type"],
                    str(row["nodes"]),
                    "; ".join(filter(None, [row["reason"], row["hint"]])),
                ]
                for row in others
            ],
            console,
        )


def print_probes(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the probes by layer."""
    print_table(
        [Column("probe", "name"), Column("layer", "name"), Column("")],
        [[row["probe"], row["layer"], row["summary"]] for row in rows],
        console,
    )


def print_probe(row: Mapping[str, Any], console: Console) -> None:
    """Print one probe with its parameters and metrics."""
    console.print(Text(clean(row["probe"]), style="bold") + Text(f"  {clean(row['summary'])}"))
    if row["source"]:
        console.print(Text(f"source: {clean(row['source'])}"))
    if row["min_ranks"] > 1:
        console.print(f"needs at least {row['min_ranks']} ranks")
    console.print()
    if row["params"]:
        print_table(
            [Column("parameter", "name"), Column("default")],
            [[name, str(value)] for name, value in row["params"].items()],
            console,
        )
        console.print()
    print_table(
        [Column("metric", "name"), Column("unit", "name"), Column("better", "name"), Column("")],
        [
            [
                metric["metric"],
                metric["unit"],
                metric["better"],
                "headline"
                if metric["metric"] == row["headline"]
                else "detail"
                if metric["detail"]
                else "",
            ]
            for metric in row["metrics"]
        ],
        console,
    )


def print_studies(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the built-in studies."""
    print_table(
        [Column("study", "name"), Column("cases", "number"), Column("trials of each", "number"),
         Column("scales"), Column("")],
        [[row["study"], str(row["cases"]), str(row["launches"]), ", ".join(row["scales"]),
          row["title"]] for row in rows],
        console,
    )  # fmt: skip


def print_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], console: Console
) -> None:
    """Print a table that fits the console: texts wrap or are shortened, numbers never are."""
    table = Table(box=_RULE, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim",
                  border_style="dim", show_edge=False)  # fmt: skip
    for column in columns:
        right = column.kind in ("number", "light")
        table.add_column(
            Text(clean(column.head)),
            justify="right" if right else "left",
            style="dim" if column.kind == "light" else "",
            no_wrap=column.kind != "text",
            overflow="ellipsis" if column.kind == "name" else "fold",
        )
    for row in rows:
        table.add_row(*(_field(value) for value in row))
    console.print(table)


def _field(value: Text | str) -> Text:
    return value if isinstance(value, Text) else Text(clean(value))
