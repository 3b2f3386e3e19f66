"""What each step of a ladder brings, as a cloud's network tests are usually told.

One row per platform in the order of the steps: its value, and how many times better it is than
the step before and than the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import polars as pl

from bareline.analysis.numbers.cell import Cell, Estimate, read_cells
from bareline.report.blocks.table import Field, Table
from bareline.report.content.document import Document
from bareline.report.content.published import PrintedValue, printed_values
from bareline.report.content.wording import metric_name, sentence_case, value_words, verdict_word
from bareline.report.exhibits.base import Kind, Shown, grouped_by, select
from bareline.report.exhibits.columns import CellRows, tone_of
from bareline.report.figures.grammar import NO_DRAWING, Chart, Drawing
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.figures.stairs import Tread, staircase
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import plain

#: Comparisons by platform and place.
_Lookup = Mapping[tuple[str, Place], Cell]
Printed = Mapping[str, PrintedValue]


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Draw one per probe, metric and point; none unless the study is a ladder."""
    compared = document.comparison
    if not compared.is_ladder:
        return
    cells = [cell for cell in select(document, spec) if cell.metric.better != "none"]
    names = varying(cell.place for cell in cells)
    before, first = _lookup(compared.from_before), _lookup(compared.from_first)
    usual = "An improvement above 1 is better than the step it refers to."
    for place, own in grouped_by(cells, lambda cell: cell.place).items():
        # The baseline is the last of the steps.
        steps = sorted(own, key=lambda cell: compared.rungs.index(cell.platform))
        printed = printed_values(document.roles, own[0]) if spec.published else {}
        scale = unit_scale((cell.median for cell in own), own[0].metric.unit)
        wide, narrow = (
            _stairs(document, steps, printed, scale, narrow=way) for way in (False, True)
        )
        yield Shown(
            title=f"{metric_name(place.metric)}, step by step",
            what=(place.probe, place.metric),
            label=place.told(names),
            notes=[
                "" if spec.caption else usual,
                "Dashed: as it is printed, on the hardware of its time." if printed else "",
            ],
            cells=own,
            probe=place.probe,
            drawing=Drawing([wide], narrow=[narrow]) if _climbs(steps) else NO_DRAWING,
            summary=_summary(steps, printed, scale),
            table=_table(steps, printed, scale, before, first),
        )


def _climbs(steps: Sequence[Cell]) -> bool:
    """Tell whether platforms are steps: the first of them is the worst."""
    medians = [cell.median for cell in steps if cell.median is not None]
    worst = max if steps[0].metric.better == "lower" else min
    return bool(medians) and steps[0].median == worst(medians)


def _table(
    steps: Sequence[Cell], printed: Printed, scale: Scale, before: _Lookup, first: _Lookup
) -> Table:
    rows = CellRows(steps, lambda cell: cell).platforms()
    for title, lookup, told in (
        ("× the step before", before, False),
        ("× the first step", first, True),
    ):
        rows.column(title, _improved(lookup)).interval(_improvement(lookup))
        if told and any(one.gain for one in printed.values()):
            rows.column("printed ×", lambda cell: _as_printed(printed, cell, "gain"))
    rows.median(f"median {metric_name(steps[0].place.metric)}", scale)
    if printed:
        rows.column("printed", lambda cell: _as_printed(printed, cell, "text"))
    return rows.launches().table()


def _as_printed(printed: Printed, cell: Cell, which: Literal["gain", "text"]) -> Field:
    one = printed.get(cell.platform)
    if one is None:
        return Field("")
    told = one.gain if which == "gain" else one.text
    return Field(told, one.value, tip=f"published: {one.source}")


def _stairs(
    document: Document, steps: Sequence[Cell], printed: Printed, scale: Scale, *, narrow: bool
) -> Chart:
    styles = looks(document.names)
    treads = []
    for cell in steps:
        own, one = None, printed.get(cell.platform)
        if cell.value is not None and cell.value.value > 0:
            lo, hi = (end * scale.factor if end else None for end in (cell.value.lo, cell.value.hi))
            own = {
                "y": cell.value.value * scale.factor,
                "lo": lo,
                "hi": hi,
                "text": scale.show(cell.value.value),
                "tip": f"{cell.platform}: {value_words(cell, scale)}",
                **styles[cell.platform].ink(hollow=cell.simulated),
            }
        told = (
            None
            if one is None
            else {
                "y": one.value * scale.factor,
                "text": scale.show(one.value),
                "tip": f"{cell.platform}, printed: {one.text}; {one.source}",
            }
        )
        treads.append(Tread(cell.platform, own, told))
    title = sentence_case(scale.titled(metric_name(steps[0].place.metric)))
    return staircase(treads, title, narrow=narrow)


def _summary(steps: Sequence[Cell], printed: Printed, scale: Scale) -> str:
    told = []
    for cell in steps:
        one = printed.get(cell.platform)
        text = f"{cell.platform} {value_words(cell, scale)}"
        told.append(f"{text} (printed: {one.text})" if one else text)
    return f"{sentence_case(metric_name(steps[0].place.metric))} by step: {'; '.join(told)}."


def _lookup(comparison: pl.DataFrame) -> _Lookup:
    return {(cell.platform, cell.place): cell for cell in read_cells(None, comparison)}


def _improvement(steps: _Lookup) -> Callable[[Cell], Estimate | None]:
    """Give the comparison of a cell the other way round: how many times better."""

    def better(cell: Cell) -> Estimate | None:
        step = steps.get((cell.platform, cell.place))
        ratio = step.ratio if step else None
        return ratio.inverse() if ratio and ratio.value else None

    return better


def _improved(steps: _Lookup) -> Callable[[Cell], Field]:
    better = _improvement(steps)

    def field(cell: Cell) -> Field:
        step, factor = steps.get((cell.platform, cell.place)), better(cell)
        if factor is None:
            return Field(verdict_word(step.verdict) if step else "", tone="muted")
        return Field(
            plain(factor.value), factor.value, tone=tone_of(step.verdict if step else None)
        )

    return field


EXHIBIT = Kind(
    "steps", "a stair per platform: its value, and the improvement over the step before", _shown
)
