"""Results in the terminal: the verdict first, tables of at most 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from bareline.analysis.judgements.control import Control
from bareline.analysis.numbers.cell import Cell, read_cells
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.promise import control_sentence
from bareline.report.blocks import Block, Field, Remark, Rows, Section, Table
from bareline.report.content.cells import headline_first, numeric_axis, position
from bareline.report.content.compared import compared
from bareline.report.content.wording import (
    axis_name,
    case_words,
    metric_name,
    verdict_tone,
    verdict_word,
)
from bareline.report.figures.scales import SIZE_TICKS, Scale, unit_scale
from bareline.vocabulary.model import Stage
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count

_LONGEST_SWEEP = 7
#: Adds to a table of cells what it says of each, in a unit and under the metric's name.
_Columns = Callable[[Rows[Cell], Scale, str], object]


def summary_blocks(summary: pl.DataFrame, *, details: bool = False) -> Iterator[Block]:
    """Give medians with their intervals, one table per probe and unit.

    - `details`: also detail metrics, and every point of a sweep.
    """

    def columns(rows: Rows[Cell], scale: Scale, metric: str) -> None:
        rows.text("platform", lambda cell: cell.platform)
        rows.estimate(scale.titled(metric), lambda cell: cell.value, scale.show)
        rows.figure("n", lambda cell: str(cell.n))

    cells = read_cells(summary if details else unprofiled(summary), None)
    return _cell_blocks(cells, columns, details=details)


def cost_blocks(texts: Sequence[str]) -> Iterator[Block]:
    """Give the core hours of a run by platform, where they were counted."""
    if texts:
        yield Remark(f"core hours: {', '.join(texts)}", "muted")


def failed_blocks(failed: pl.DataFrame) -> Iterator[Block]:
    """Name what failed or was skipped, a line each, with the reason of the last failure.

    - `failed`: as of `bareline.analysis.numbers.summary.failures`.
    """
    for row in failed.iter_rows(named=True):
        where = f"{case_words(row)} on {row['platform']}"
        trials = f"{row['n_failed']} of {count(row['n'] + row['n_failed'], 'trial')}"
        said = f"failed: {where}: {trials} [{row['stage']}] {row['reason']}"
        if row["stage"] == Stage.ABSENT.value:
            said = f"skipped: {where}: {row['reason']}"
        yield Remark(said, "caution")


def control_blocks(
    controls: Sequence[Control], comparison: pl.DataFrame | None = None, *, details: bool = False
) -> Iterator[Block]:
    """Say what comparing the baseline with itself found, and its rows where they are given."""
    if comparison is not None:
        yield from _row_blocks(comparison, details=details)
    for control in controls:
        yield Remark(control_sentence(control), "muted")
    if not controls:
        yield Remark("No control was measured: `bareline run --control` adds one.", "muted")


def comparison_blocks(comparison: Comparison, *, details: bool = False) -> Iterator[Block]:
    """Give the answer, every finding on every platform, and why.

    - `details`: also every point of every metric.
    """
    yield from compared(comparison)
    yield Remark()
    if details:
        yield from _row_blocks(comparison.table, details=True)
    else:
        hint = "`bareline explain` says all in sentences; --probe P and --all list every point."
        yield Remark(hint, "muted")


def selected_blocks(rows: pl.DataFrame, all_rows: int, *, details: bool = False) -> Iterator[Block]:
    """Give some rows of a comparison, and of how many they are.

    - `details`: also detail metrics, and every point of a sweep.
    """
    yield from _row_blocks(rows, details=details)
    yield Remark(
        f"{rows.height} of {count(all_rows, 'row')} selected; intervals and verdicts are those "
        "over all of them.",
        "muted",
    )


def _row_blocks(comparison: pl.DataFrame, *, details: bool) -> Iterator[Block]:
    baseline = comparison.item(0, "baseline") if comparison.height else ""

    def columns(rows: Rows[Cell], scale: Scale, metric: str) -> None:
        rows.text("platform", lambda cell: cell.platform)
        rows.figure(scale.titled(metric), lambda cell: scale.show(cell.median))
        rows.figure(baseline, lambda cell: scale.show(cell.base.value if cell.base else None))
        rows.estimate(
            "ratio", lambda cell: cell.ratio, tone=lambda cell: verdict_tone(cell.verdict)
        )
        rows.figure("n", lambda cell: str(cell.n))
        rows.column(
            "verdict",
            lambda cell: Field(verdict_word(cell.verdict), tone=verdict_tone(cell.verdict)),
            "text",
        )

    yield from _cell_blocks(read_cells(None, comparison), columns, details=details)
    yield Remark(f"A ratio above 1 is worse than {baseline}; 95 % is its interval.", "muted")


def _cell_blocks(cells: Sequence[Cell], columns: _Columns, *, details: bool) -> Iterator[Block]:
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
        yield Section(probe, (_table(headline_first(shown), columns),))
        yield Remark()
    if left_out:
        noun = count(left_out, "row")
        yield Remark(f"{noun} between these sizes left out; --all shows them.", "muted")


def _table(cells: Sequence[Cell], columns: _Columns) -> Table:
    sides = [side for cell in cells for side in (cell.value, cell.base) if side is not None]
    scale = unit_scale([side.value for side in sides], cells[0].metric.unit)
    names = varying(cell.place for cell in cells)
    metrics = list(dict.fromkeys(metric_name(cell.place.metric) for cell in cells))
    one = len(metrics) == 1

    def point(cell: Cell) -> str:
        metric = "" if one else metric_name(cell.place.metric)
        return ", ".join(filter(None, [metric, cell.place.words_of(names)]))

    rows = Rows(cells)
    if any(map(point, cells)):
        rows.text(axis_name(names[0]) if one and len(names) == 1 else "", point)
    columns(rows, scale, metrics[0] if one else "median")
    return rows.column("", lambda cell: Field("", caveats=cell.caveats), "text").table(whole=True)


def _thinned(cells: Sequence[Cell]) -> list[Cell]:
    """Keep the ends of a long sweep and the sizes that axes are marked with."""
    axis = numeric_axis(cells)
    if axis is None:
        return list(cells)
    values = sorted({position(cell, axis) for cell in cells})
    if len(values) <= _LONGEST_SWEEP:
        return list(cells)
    sizes = {values[0], values[-1], *SIZE_TICKS}
    return [cell for cell in cells if position(cell, axis) in sizes]
