"""The exhibit of a ladder study: the gain of each step over the previous and the first step.

In a ladder study each platform is the previous platform with one change. Each platform is a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from bareline.analysis.numbers.row import Estimate, Row, read_rows
from bareline.report.blocks import Field, Figure, Table
from bareline.report.content.document import Document
from bareline.report.content.printed_values import PrintedValue, printed_values
from bareline.report.content.wording import (
    metric_name,
    sentence_case,
    value_words,
    verdict_tone,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit, figure_of, select
from bareline.report.exhibits.columns import CellRows
from bareline.report.figures.marks import marks, spans, y_axis
from bareline.report.figures.scales import Scale, log_ticks, unit_scale
from bareline.report.figures.theme import MarkLook, colour, looks
from bareline.report.figures.vega import (
    NO_DRAWING,
    Channel,
    Chart,
    Datum,
    Style,
    both_widths,
    layer,
    plot,
)
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import plain

#: Comparisons by platform and place.
_Lookup = Mapping[tuple[str, Place], Row]
#: The printed value of each platform.
Printed = Mapping[str, PrintedValue]


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield a figure per probe, metric and point; nothing if the study is not a ladder."""
    compared = document.comparison
    if not compared.is_ladder:
        return
    cells = [cell for cell in select(document, spec) if cell.metric.better != "none"]
    names = varying(cell.place for cell in cells)
    from_before = _by_place(compared.from_before)
    from_first = _by_place(compared.from_first)
    gains = _Gains(from_before, from_first)
    for place, group in grouped_by(cells, lambda cell: cell.place).items():
        # The baseline is the last of the steps.
        steps = sorted(group, key=lambda cell: compared.rungs.index(cell.platform))
        printed: Printed = {}
        if spec.published:
            printed = printed_values(document.roles, group[0])
        scale = unit_scale((cell.median for cell in group), group[0].metric.unit)
        drawing = NO_DRAWING
        if _climbs(steps):
            drawing = both_widths(_stairs, document, steps, printed, scale)
        yield figure_of(
            spec,
            title=f"{metric_name(place.metric)}, step by step",
            what=(place.probe, place.metric),
            label=place.words_of(names),
            notes=_notes(spec, printed),
            cells=group,
            probe=place.probe,
            drawing=drawing,
            summary=_summary(steps, printed, scale),
            table=_table(steps, printed, scale, gains),
        )


_USUAL = "An improvement above 1 is better than the step it refers to."
_AS_PRINTED = "Dashed: as it is printed, on the hardware of its time."


def _notes(spec: ExhibitSpec, printed: Printed) -> Iterator[str]:
    """Yield the notes; the standard note only if the exhibit has no caption."""
    if not spec.caption:
        yield _USUAL
    if printed:
        yield _AS_PRINTED


@dataclass(frozen=True, slots=True)
class _Gains:
    """The comparisons of each step with the previous step and with the first step."""

    from_before: _Lookup
    from_first: _Lookup


def _by_place(comparison: pl.DataFrame) -> _Lookup:
    return {(cell.platform, cell.place): cell for cell in read_rows(None, comparison)}


def _climbs(steps: Sequence[Row]) -> bool:
    """Whether the first platform has the worst value, so that the steps can be drawn as stairs."""
    medians = [cell.median for cell in steps if cell.median is not None]
    if not medians:
        return False
    first = steps[0]
    if first.metric.better == "lower":
        return first.median == max(medians)
    return first.median == min(medians)


def _table(steps: Sequence[Row], printed: Printed, scale: Scale, gains: _Gains) -> Table:
    """Return a table with a row for each step: gains, and printed values if there are any."""
    rows = CellRows(steps, lambda cell: cell).platforms()
    rows.column("× the step before", partial(_improved, gains.from_before))
    rows.interval(partial(_improvement, gains.from_before))
    rows.column("× the first step", partial(_improved, gains.from_first))
    rows.interval(partial(_improvement, gains.from_first))

    def printed_field(text: Callable[[PrintedValue], str], cell: Row) -> Field:
        value = printed.get(cell.platform)
        if value is None:
            return Field("")
        return Field(text(value), value.value, tip=f"published: {value.source}")

    if any(value.gain for value in printed.values()):
        rows.column("printed ×", partial(printed_field, lambda value: value.gain))
    rows.median(f"median {metric_name(steps[0].place.metric)}", scale)
    if printed:
        rows.column("printed", partial(printed_field, lambda value: value.text))
    return rows.launches().table()


def _stairs(
    document: Document, steps: Sequence[Row], printed: Printed, scale: Scale, *, narrow: bool
) -> Chart:
    """Return a staircase chart of the steps, with the printed values as a dashed staircase."""
    styles = looks(document.names)
    treads: list[Tread] = []
    for cell in steps:
        look = styles[cell.platform]
        measured = _measured_tread(cell, scale, look)
        value = printed.get(cell.platform)
        as_printed = None
        if value:
            as_printed = _printed_tread(cell.platform, value, scale)
        treads.append(Tread(cell.platform, measured, as_printed))
    title = scale.titled(metric_name(steps[0].place.metric))
    return staircase(treads, sentence_case(title), narrow=narrow)


def _measured_tread(cell: Row, scale: Scale, look: MarkLook) -> Datum | None:
    """Return the row of a measured value; None if it cannot be on a logarithmic axis."""
    value = cell.value
    if value is None or value.value <= 0:
        return None
    drawn = value.times(scale.factor)
    return {
        "y": drawn.value,
        "lo": drawn.lo or None,
        "hi": drawn.hi or None,
        "text": scale.show(value.value),
        "tip": f"{cell.platform}: {value_words(cell, scale)}",
        **look.ink(hollow=cell.simulated),
    }


def _printed_tread(platform: str, printed: PrintedValue, scale: Scale) -> Datum:
    return {
        "y": printed.value * scale.factor,
        "text": scale.show(printed.value),
        "tip": f"{platform}, printed: {printed.text}; {printed.source}",
    }


def _summary(steps: Sequence[Row], printed: Printed, scale: Scale) -> str:
    """Describe the measured and the printed value of each step."""
    parts: list[str] = []
    for cell in steps:
        words = f"{cell.platform} {value_words(cell, scale)}"
        value = printed.get(cell.platform)
        if value:
            words += f" (printed: {value.text})"
        parts.append(words)
    metric = sentence_case(metric_name(steps[0].place.metric))
    return f"{metric} by step: {'; '.join(parts)}."


def _improvement(steps: _Lookup, cell: Row) -> Estimate | None:
    """Return how many times better a cell is than its step in `steps`; None if not compared."""
    step = steps.get((cell.platform, cell.place))
    if step is None or step.ratio is None or not step.ratio.value:
        return None
    return step.ratio.inverse()


def _improved(steps: _Lookup, cell: Row) -> Field:
    """Format how many times better a cell is than its step in `steps`, or else the verdict."""
    step = steps.get((cell.platform, cell.place))
    verdict = step.verdict if step else None
    factor = _improvement(steps, cell)
    if factor is None:
        return Field(verdict_word(verdict), tone="muted")
    return Field(plain(factor.value), factor.value, verdict_tone(verdict))


EXHIBIT = Exhibit(
    "steps", "a stair per platform: its value, and the improvement over the step before", _figures
)


#: The value of each step as a row of a layer; None for a step without a value.
_Steps = Sequence[Datum | None]
HEIGHT_PX = 230
_CHARACTER_PX = 6.6
#: The distance between a tread and the number above or below it.
_NUMBER_PX = 11


@dataclass(frozen=True, slots=True)
class Tread:
    """A step: its name, the measured value as the data of a mark, and the printed value.

    - `measured`: has "y", "lo", "hi", "text", "tip" and the platform's ink; None if the case
      failed.
    - `printed`: has "y", "text" and "tip"; None if no value is printed.
    """

    name: str
    measured: Datum | None
    printed: Datum | None


def staircase(treads: Sequence[Tread], title: str, *, narrow: bool = False) -> Chart:
    """Draw the steps from left to right; if `narrow`, their names are slanted."""
    longest_px = max(len(tread.name) for tread in treads) * _CHARACTER_PX
    step_px = 52.0 if narrow else max(100.0, longest_px + 12)
    measured_rows = [tread.measured for tread in treads]
    printed_rows = [tread.printed for tread in treads]
    measured = _in_the_middle(measured_rows)
    printed = _in_the_middle(printed_rows)
    scale = {"domain": [0, len(treads)], "nice": False}
    x: Channel = {"field": "x", "type": "quantitative", "scale": scale, "axis": None}
    ticks = log_ticks(_axis_values([*measured, *printed]), pad=0.1)
    place: Style = {"x": x, "y": y_axis(ticks)}
    number: Style = {**place, "text": "text", "tips": True, "baseline": "middle"}
    dashed: Style = {**place, "strokeDash": [5, 3], "color": colour("faint")}
    ink = colour("ink")
    with_interval = [row for row in measured if row["lo"] and row["hi"]]
    layers = [
        _treads(printed_rows, **dashed),
        layer("text", printed, **number, dy=_NUMBER_PX, color=colour("soft")),
        _treads(measured_rows, **place, color=ink),
        spans(with_interval, **place, strokeWidth=1.4),
        marks(measured, **place),
        layer("text", measured, **number, dy=-_NUMBER_PX, color=ink, fontWeight=600),
    ]
    # A layer without rows would still take part in the drawing.
    layers = [drawn for drawn in layers if drawn["data"]["values"]]
    layers += _tread_names(treads, x, longest_px, narrow=narrow)
    return plot(layers, step_px * len(treads), HEIGHT_PX, title)


def _tread_names(
    treads: Sequence[Tread], x: Channel, longest_px: float, *, narrow: bool
) -> Iterator[Chart]:
    """Write the names under the steps."""
    names = [{"x": number + 0.5, "text": tread.name} for number, tread in enumerate(treads)]
    beneath: Style = {"x": x, "y": HEIGHT_PX + 8, "text": "text", "baseline": "top"}
    if not narrow:
        yield layer("text", names, **beneath, align="center")
        return
    yield layer("text", names, **beneath, align="right", angle=320)
    # An invisible point keeps room for the slanted names.
    depth = HEIGHT_PX + 16 + 0.65 * longest_px
    yield layer("point", names[:1], x=x, y=depth, size=1, opacity=0)


def _in_the_middle(rows: _Steps) -> list[Datum]:
    """Return the rows with "x" at the middle of their steps."""
    return [{**row, "x": step + 0.5} for step, row in enumerate(rows) if row]


def _axis_values(rows: Sequence[Datum]) -> list[float]:
    """Return the values of the rows and the ends of their intervals."""
    values: list[float] = []
    for row in rows:
        values += [row[field] for field in ("y", "lo", "hi") if row.get(field)]
    return values


def _treads(rows: _Steps, **style: Any) -> Chart:
    """Draw a line as wide as each step, joined to the next; a missing step is a gap."""
    gaps = 0
    points: list[Datum] = []
    for step, row in enumerate(rows):
        if row is None:
            gaps += 1
            continue
        for side in (0, 1):
            order = 2 * step + side
            points.append({"x": step + side, "y": row["y"], "stretch": gaps, "order": order})
    order_channel = {"field": "order", "type": "quantitative"}
    return layer("line", points, detail="stretch", order=order_channel, strokeWidth=1.3, **style)
