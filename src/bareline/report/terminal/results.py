"""Results and lists in the terminal: the verdict first, tables of at most 100 columns.

Names, reasons and titles come from files and programs, so they are never read as markup, and
control characters in them are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl
from rich.console import Console
from rich.text import Text

from bareline.analysis.judgements.control import Control
from bareline.analysis.numbers.cell import Cell, between, figure, read_cells
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.promise import control_sentence
from bareline.report.blocks import Column
from bareline.report.content.cells import headline_first, numeric_axis
from bareline.report.content.compared import compared
from bareline.report.content.wording import (
    axis_name,
    case_words,
    lettered,
    metric_name,
    verdict_word,
)
from bareline.report.figures.scales import SIZE_TICKS, Scale, unit_scale
from bareline.report.writers.columns import print_table
from bareline.report.writers.console import clean
from bareline.report.writers.terminal import print_blocks
from bareline.vocabulary.caveats import notes
from bareline.vocabulary.model import Stage
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count
from bareline.vocabulary.verdicts import Verdict

_STYLES: Mapping[Verdict | None, str] = {
    Verdict.SLOWER: "bold red",
    Verdict.FASTER: "bold green",
    Verdict.FAILED: "yellow",
    Verdict.MISSING: "yellow",
    Verdict.DOES_NOT_FIT: "dim",
    Verdict.SKIPPED: "dim",
    Verdict.NOT_COMPARABLE: "dim",
}
_LONGEST_SWEEP = 7


# Results -------------------------------------------------------------------------------------


def print_summary(summary: pl.DataFrame, console: Console, *, details: bool = False) -> None:
    """Print medians with their intervals, one table per probe and unit.

    - `details`: also detail metrics, and every point of a sweep.
    """
    cells = read_cells(summary if details else unprofiled(summary), None)

    def columns(scale: Scale, metric: str) -> list[Column]:
        return [
            Column("platform"),
            Column(scale.titled(metric), "number"),
            Column("95 %", "light"),
            Column("n", "number"),
        ]

    def fields(cell: Cell, scale: Scale) -> list[Text | str]:
        bounds = between(cell.value, scale.show)
        return [cell.platform, scale.show(cell.median), bounds, str(cell.n)]

    _print_cells(cells, console, columns, fields, details=details)


def print_cost(texts: Sequence[str], console: Console) -> None:
    """Print the core hours of a run by platform, where they were counted."""
    if texts:
        console.print(f"core hours: {clean(', '.join(texts))}", style="dim", highlight=False)


def print_failed(failed: pl.DataFrame, console: Console) -> None:
    """Name what failed or was skipped, a line each, with the reason of the last failure.

    - `failed`: as of `bareline.analysis.numbers.summary.failed_cases`.
    """
    for row in failed.iter_rows(named=True):
        where = f"{case_words(row)} on {row['platform']}"
        trials = f"{row['n_failed']} of {count(row['n'] + row['n_failed'], 'trial')}"
        said = f"failed: {where}: {trials} [{row['stage']}] {row['reason']}"
        if row["stage"] == Stage.ABSENT.value:
            said = f"skipped: {where}: {row['reason']}"
        console.print(Text(clean(said), "yellow"))


def print_control(
    controls: Sequence[Control],
    comparison: pl.DataFrame | None,
    console: Console,
    details: bool = False,
) -> None:
    """Print what comparing the baseline with itself found, and its rows where they are given."""
    if comparison is not None:
        _print_rows(comparison, console, details=details)
    for control in controls:
        console.print(Text(clean(control_sentence(control)), "dim"))
    if not controls:
        console.print(Text("No control was measured: `bareline run --control` adds one.", "dim"))


def print_comparison(comparison: Comparison, console: Console, *, details: bool = False) -> None:
    """Print the answer, every finding on every platform, and why.

    - `details`: also every point of every metric.
    """
    print_blocks(compared(comparison), console)
    console.print()
    if details:
        _print_rows(comparison.table, console, details=True)
    else:
        told = "`bareline explain` says all in sentences; --probe P and --all list every point."
        console.print(Text(told, "dim"))


def print_selected(
    rows: pl.DataFrame, all_rows: int, console: Console, *, details: bool = False
) -> None:
    """Print some rows of a comparison, and of how many they are.

    - `details`: also detail metrics, and every point of a sweep.
    """
    _print_rows(rows, console, details=details)
    console.print(
        Text(
            f"{rows.height} of {count(all_rows, 'row')} selected; intervals and verdicts are those "
            "over all of them.",
            "dim",
        )
    )


def _print_rows(comparison: pl.DataFrame, console: Console, *, details: bool) -> None:
    cells = read_cells(None, comparison)
    baseline = comparison.item(0, "baseline") if comparison.height else ""

    def columns(scale: Scale, metric: str) -> list[Column]:
        return [
            Column("platform"),
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
            scale.show(cell.median),
            scale.show(cell.base.value if cell.base else None),
            Text(figure(cell.ratio.value if cell.ratio else None), style=style),
            between(cell.ratio),
            str(cell.n),
            Text(verdict_word(cell.verdict), style=style),
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
        if details or not cell.metric.detail:
            groups.setdefault((cell.place.probe, cell.metric.unit), []).append(cell)
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
    sides = [side for cell in cells for side in (cell.value, cell.base) if side is not None]
    scale = unit_scale([side.value for side in sides], cells[0].metric.unit)
    names = varying(cell.place for cell in cells)
    metrics = list(dict.fromkeys(metric_name(cell.place.metric) for cell in cells))
    points = [_point(cell, names, several=len(metrics) > 1) for cell in cells]
    letters = lettered(caveat for cell in cells for caveat in cell.caveats)
    heads = columns(scale, metrics[0] if len(metrics) == 1 else "median")
    if any(points):
        head = axis_name(names[0]) if len(metrics) == 1 and len(names) == 1 else ""
        heads = [Column(head), *heads]
    rows = []
    for cell, point in zip(cells, points, strict=True):
        row = fields(cell, scale)
        marks = ",".join(sorted(letters[caveat] for caveat in cell.caveats))
        rows.append([*([point] if any(points) else []), *row, Text(marks, style="dim")])
    console.print(Text(clean(probe), style="bold"))
    print_table([*heads, Column("")], rows, console)
    for caveat, told in notes(letters).items():
        console.print(Text(f"  {letters[caveat]}  {clean(told)}", style="dim"))
    console.print()


def _point(cell: Cell, names: Sequence[str], *, several: bool) -> str:
    parts = [metric_name(cell.place.metric)] if several else []
    return ", ".join(filter(None, [*parts, cell.place.words_of(names)]))


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
    value = cell.place.coordinates.get(axis)
    return float(value) if isinstance(value, int | float) else None
