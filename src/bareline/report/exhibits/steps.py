"""The gain of each step of a ladder over the one before and over the first, a row per platform."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

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
from bareline.report.exhibits.base import Exhibit, figure_of, grouped_by, select
from bareline.report.exhibits.columns import CellRows
from bareline.report.figures.grammar import (
    NO_DRAWING,
    Channel,
    Chart,
    Style,
    both_widths,
    layer,
    plot,
)
from bareline.report.figures.marks import marks, spans, y_axis
from bareline.report.figures.scales import Scale, log_ticks, unit_scale
from bareline.report.figures.theme import colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import plain

#: Comparisons by platform and place.
_Lookup = Mapping[tuple[str, Place], Row]
Printed = Mapping[str, PrintedValue]


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Draw one per probe, metric and point; none unless the study is a ladder."""
    compared = document.comparison
    if not compared.is_ladder:
        return
    cells = [cell for cell in select(document, spec) if cell.metric.better != "none"]
    names = varying(cell.place for cell in cells)
    before, first = (
        {(cell.platform, cell.place): cell for cell in read_rows(None, comparison)}
        for comparison in (compared.from_before, compared.from_first)
    )
    usual = "An improvement above 1 is better than the step it refers to."
    for place, own in grouped_by(cells, lambda cell: cell.place).items():
        # The baseline is the last of the steps.
        steps = sorted(own, key=lambda cell: compared.rungs.index(cell.platform))
        printed = printed_values(document.roles, own[0]) if spec.published else {}
        scale = unit_scale((cell.median for cell in own), own[0].metric.unit)
        medians = [cell.median for cell in steps if cell.median is not None]
        worst = max if steps[0].metric.better == "lower" else min
        # Platforms are steps where the first of them is the worst.
        climbs = medians and steps[0].median == worst(medians)
        drawn = both_widths(_stairs, document, steps, printed, scale) if climbs else NO_DRAWING
        yield figure_of(
            spec,
            title=f"{metric_name(place.metric)}, step by step",
            what=(place.probe, place.metric),
            label=place.words_of(names),
            notes=[
                "" if spec.caption else usual,
                "Dashed: as it is printed, on the hardware of its time." if printed else "",
            ],
            cells=own,
            probe=place.probe,
            drawing=drawn,
            summary=_summary(steps, printed, scale),
            table=_table(steps, printed, scale, before, first),
        )


def _table(
    steps: Sequence[Row], printed: Printed, scale: Scale, before: _Lookup, first: _Lookup
) -> Table:
    def as_printed(title: str, text: Callable[[PrintedValue], str]) -> None:
        def field(cell: Row) -> Field:
            one = printed.get(cell.platform)
            return Field(text(one), one.value, tip=f"published: {one.source}") if one else Field("")

        rows.column(title, field)

    rows = CellRows(steps, lambda cell: cell).platforms()
    for title, lookup in (("× the step before", before), ("× the first step", first)):
        rows.column(title, partial(_improved, lookup)).interval(partial(_improvement, lookup))
    if any(one.gain for one in printed.values()):
        as_printed("printed ×", lambda one: one.gain)
    rows.median(f"median {metric_name(steps[0].place.metric)}", scale)
    if printed:
        as_printed("printed", lambda one: one.text)
    return rows.launches().table()


def _stairs(
    document: Document, steps: Sequence[Row], printed: Printed, scale: Scale, *, narrow: bool
) -> Chart:
    styles = looks(document.names)
    treads = []
    for cell in steps:
        own = theirs = None
        if cell.value is not None and cell.value.value > 0:
            ends = {
                name: end * scale.factor if end else None
                for name, end in (("lo", cell.value.lo), ("hi", cell.value.hi))
            }
            own = {
                "y": cell.value.value * scale.factor,
                **ends,
                "text": scale.show(cell.value.value),
                "tip": f"{cell.platform}: {value_words(cell, scale)}",
                **styles[cell.platform].ink(hollow=cell.simulated),
            }
        if one := printed.get(cell.platform):
            theirs = {
                "y": one.value * scale.factor,
                "text": scale.show(one.value),
                "tip": f"{cell.platform}, printed: {one.text}; {one.source}",
            }
        treads.append(Tread(cell.platform, own, theirs))
    title = sentence_case(scale.titled(metric_name(steps[0].place.metric)))
    return staircase(treads, title, narrow=narrow)


def _summary(steps: Sequence[Row], printed: Printed, scale: Scale) -> str:
    def words(cell: Row) -> str:
        one, text = printed.get(cell.platform), f"{cell.platform} {value_words(cell, scale)}"
        return f"{text} (printed: {one.text})" if one else text

    parts = map(words, steps)
    return f"{sentence_case(metric_name(steps[0].place.metric))} by step: {'; '.join(parts)}."


def _improvement(steps: _Lookup, cell: Row) -> Estimate | None:
    """Return the comparison of a cell the other way round: how many times better."""
    step = steps.get((cell.platform, cell.place))
    ratio = step.ratio if step else None
    return ratio.inverse() if ratio and ratio.value else None


def _improved(steps: _Lookup, cell: Row) -> Field:
    step, factor = steps.get((cell.platform, cell.place)), _improvement(steps, cell)
    if factor is None:
        return Field(verdict_word(step.verdict) if step else "", tone="muted")
    tone = verdict_tone(step.verdict if step else None)
    return Field(plain(factor.value), factor.value, tone)


EXHIBIT = Exhibit(
    "steps", "a stair per platform: its value, and the improvement over the step before", _shown
)


HEIGHT_PX = 230
_CHARACTER_PX = 6.6
#: From a tread to the number over or under it.
_NUMBER_PX = 11


@dataclass(frozen=True, slots=True)
class Tread:
    """A step: its name, the measured value, as a row of `figures.marks`, and the printed one.

    - `own`: with "y", "lo", "hi", "text", "tip" and the platform's ink; None where it failed.
    - `printed`: with "y", "text" and "tip"; None where nothing is printed.
    """

    name: str
    own: dict[str, Any] | None
    printed: dict[str, Any] | None


def staircase(treads: Sequence[Tread], title: str, *, narrow: bool = False) -> Chart:
    """Draw the steps from left to right; `narrow` writes their names aslant."""
    longest = max(len(tread.name) for tread in treads) * _CHARACTER_PX
    step_px = 52.0 if narrow else max(100.0, longest + 12)
    own = [{**row, "x": at + 0.5} for at, tread in enumerate(treads) if (row := tread.own)]
    printed = [{**row, "x": at + 0.5} for at, tread in enumerate(treads) if (row := tread.printed)]
    ends = [row[end] for row in (*own, *printed) for end in ("y", "lo", "hi") if row.get(end)]
    scale = {"domain": [0, len(treads)], "nice": False}
    x: Channel = {"field": "x", "type": "quantitative", "scale": scale, "axis": None}
    place: Style = {"x": x, "y": y_axis(log_ticks(ends, pad=0.1))}
    number: Style = {**place, "text": "text", "tips": True, "baseline": "middle"}
    dashed: Style = {**place, "strokeDash": [5, 3], "color": colour("faint")}
    ink, soft = colour("ink"), colour("soft")
    layers = [
        _treads([tread.printed for tread in treads], **dashed),
        layer("text", printed, **number, dy=_NUMBER_PX, color=soft),
        _treads([tread.own for tread in treads], **place, color=ink),
        spans([row for row in own if row["lo"] and row["hi"]], **place, strokeWidth=1.4),
        marks(own, **place),
        layer("text", own, **number, dy=-_NUMBER_PX, color=ink, fontWeight=600),
    ]
    slant: Style = {"align": "right", "angle": 320} if narrow else {"align": "center"}
    names = [{"x": at + 0.5, "text": tread.name} for at, tread in enumerate(treads)]
    beneath: Style = {"x": x, "y": HEIGHT_PX + 8, "text": "text", "baseline": "top", **slant}
    # A layer without rows would still take part in the drawing.
    layers = [drawn for drawn in layers if drawn["data"]["values"]]
    layers.append(layer("text", names, **beneath))
    if narrow:  # an invisible point keeps room for the slanted names
        depth = HEIGHT_PX + 16 + 0.65 * longest
        layers.append(layer("point", names[:1], x=x, y=depth, size=1, opacity=0))
    return plot(layers, step_px * len(treads), HEIGHT_PX, title)


def _treads(rows: Sequence[dict[str, Any] | None], **how: Any) -> Chart:
    gaps = [*accumulate(int(row is None) for row in rows)]
    points = [
        {"x": at + side, "y": row["y"], "stretch": gaps[at], "order": 2 * at + side}
        for at, row in enumerate(rows)
        if row
        for side in (0, 1)
    ]
    order = {"field": "order", "type": "quantitative"}
    return layer("line", points, detail="stretch", order=order, strokeWidth=1.3, **how)
