"""What exhibits of bars share: which bars stand together, their axis, and how they are drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell
from bareline.report.content.cells import headline_first
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot, Dots, trial_dots
from bareline.report.content.published import PublishedPoint, beside
from bareline.report.content.wording import interval, metric_name, ratio_phrase, verdict_word
from bareline.report.exhibits.base import Exhibit, by_metric, select
from bareline.report.figures.channels import heading, inline, raw, tip
from bareline.report.figures.figure import Chart, Figure
from bareline.report.figures.marks import diamonds, rows_axis
from bareline.report.figures.scales import Scale, Ticks, unit_scale, zero_ticks
from bareline.report.figures.theme import colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying

#: What a diamond on an axis of values means.
DIAMONDS = (
    "Diamonds: the baseline's value changed by the published ratio; hovering names the source."
)
#: Names and bars together.
WIDTH_PX = 312
PITCH_PX = 18
HEAD_PX = 20
#: Most bars in a panel; further groups go on in the next one.
MOST_BARS = 27

#: Bars of the same metric and parameters, under their label.
Group = tuple[str, list[Cell]]


class BarExhibit(Exhibit):
    """A kind that draws one figure per probe and unit in which anything has a value."""

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw the figures."""
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in select(document, spec):
            groups.setdefault((cell.place.probe, cell.metric.unit), []).append(cell)
        return [
            self.figure(document, spec, cells)
            for cells in groups.values()
            if any(cell.value is not None for cell in cells)
        ]

    @abstractmethod
    def figure(self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
        """Draw the figure of some cells of one probe and unit."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars of a figure and the axis that all of its panels share.

    Attributes
    ----------
    metrics
        The headline first.
    dots, note
        The trials that are drawn of each cell, and words when that is not all of them.
    """

    metrics: Sequence[str]
    groups: Sequence[Group]
    scale: Scale
    ticks: Ticks
    dots: Mapping[Cell, Sequence[Dot]]
    note: str
    published: Sequence[PublishedPoint]

    @classmethod
    def around(
        cls,
        document: Document,
        cells: Sequence[Cell],
        *,
        published: Sequence[PublishedPoint] = (),
        others: Iterable[float] = (),
    ) -> Bars:
        """Lay out bars so that values, intervals, trials, published and other values have room."""
        metrics = list(dict.fromkeys(cell.place.metric for cell in headline_first(cells)))
        groups = grouped(cells, several=len(metrics) > 1)
        scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
        values = [end for cell in cells if cell.value for end in cell.value.known]
        values += [*others]
        trials = _drawn_trials(document, cells)
        values += [dot.value for dot in trials.dots]
        values += [value for _, own in groups for *_, value in expected(document, own, published)]
        ticks = zero_ticks(value * scale.factor for value in values)
        dots: dict[Cell, list[Dot]] = {}
        for dot in trials.dots:
            dots.setdefault(dot.cell, []).append(dot)
        return cls(metrics, groups, scale, ticks, dots, trials.note, published)

    @property
    def names(self) -> str:
        """The metrics in words."""
        return ", ".join(metric_name(metric) for metric in self.metrics)

    def chunks(self, platforms: int) -> list[Sequence[Group]]:
        """Share the groups out to panels."""
        each = max(1, MOST_BARS // max(1, platforms))
        return [self.groups[i : i + each] for i in range(0, len(self.groups), each)]


def _drawn_trials(document: Document, cells: Sequence[Cell]) -> Dots:
    """Give what bars show of the trials of some cells of one probe."""
    parts = [
        trial_dots(document, own, len(own) * document.dots_per_bar) for _, own in by_metric(cells)
    ]
    return Dots(
        tuple(dot for part in parts for dot in part.dots), sum(part.found for part in parts)
    )


def grouped(cells: Sequence[Cell], *, several: bool) -> list[Group]:
    """Put the platforms' cells of the same metric and parameters together, under their label."""
    names = varying(cell.place for cell in cells)
    groups: dict[str, list[Cell]] = {}
    for cell in headline_first(cells):
        label = cell.place.told(names)
        if several:
            label = (
                f"{metric_name(cell.place.metric)}, {label}"
                if label
                else metric_name(cell.place.metric)
            )
        groups.setdefault(label, []).append(cell)
    return list(groups.items())


def expected(
    document: Document, cells: Sequence[Cell], published: Sequence[PublishedPoint]
) -> list[tuple[PublishedPoint, Cell, float]]:
    """Give what platforms would have measured here with the published ratio to the baseline."""
    base = next((cell for cell in cells if cell.platform == document.baseline), None)
    if base is None or not base.median:
        return []
    return [
        (
            point,
            cell,
            base.median * point.middle
            if cell.metric.better == "lower"
            else base.median / point.middle,
        )
        for cell in cells
        if cell.metric.better in ("lower", "higher")
        for point in beside(published, cell)
    ]


class BarPanel:
    """Some groups of bars on one axis."""

    def __init__(self, document: Document, bars: Bars, groups: Sequence[Group]) -> None:
        self.document = document
        self.trials = bars.dots
        self.published = bars.published
        self.scale = bars.scale
        self.ticks = bars.ticks
        longest = max(len(name) for name in document.names)
        self.labels = min(170.0, max(76.0, 26 + 6.3 * longest))
        self.width = WIDTH_PX - self.labels
        self.looks = looks(document.names)
        self.heads: list[dict[str, Any]] = []
        self.bars: list[dict[str, Any]] = []
        self.empty: list[dict[str, Any]] = []
        self.dots: list[dict[str, Any]] = []
        self.diamonds: list[dict[str, Any]] = []
        y = 0.0
        for label, cells in groups:
            if label:
                self.heads.append({"y": y + HEAD_PX / 2 + 2, "text": label})
                y += HEAD_PX
            for name in document.names:
                cell = next((cell for cell in cells if cell.platform == name), None)
                self.place(name, cell, y + PITCH_PX / 2)
                y += PITCH_PX
            self._place_published(cells, y - PITCH_PX * len(document.names))
        self.height = y

    def place(self, name: str, cell: Cell | None, y: float) -> None:
        """Lay out a platform's bar and trials around the height `y`."""
        look, scale = self.looks[name], self.scale
        if cell is None or cell.value is None:
            word = verdict_word(cell.verdict) if cell is not None else ""
            self.empty.append(
                {"y": y, "name": name, **look.ink(hollow=False), "text": word or "missing"}
            )
            return
        bounds = interval(scale, cell.value)
        told = f"{name}: {scale.show(cell.median)} {scale.unit}"
        told += f" [{bounds}]" if bounds else ""
        told += f", n = {cell.n}"
        told += f"; {ratio_phrase(cell)}" if cell.ratio is not None else ""
        self.bars.append(
            {
                "y": y,
                "name": name,
                **look.ink(hollow=cell.simulated),
                "x": cell.value.value * scale.factor,
                "lo": min(cell.value.known) * scale.factor,
                "hi": max(cell.value.known) * scale.factor,
                "text": scale.show(cell.median),
                "top": y - 5,
                "bottom": y + 5,
                "tip": told,
            }
        )
        self._place_trials(name, cell, y)

    def _place_trials(self, name: str, cell: Cell, y: float) -> None:
        dots = sorted(self.trials.get(cell, ()), key=lambda dot: dot.trial)
        for index, dot in enumerate(dots):
            # The golden ratio spreads neighbours without any pattern or chance.
            offset = ((index * 0.618034) % 1 - 0.5) * 9
            value = self.scale.show(dot.value)
            self.dots.append(
                {
                    "x": dot.value * self.scale.factor,
                    "y": y + offset,
                    "colour": self.looks[name].colour,
                    "tip": f"{name}, trial {dot.trial}: {value} {self.scale.unit}",
                }
            )

    def _place_published(self, cells: Sequence[Cell], top: float) -> None:
        """Lay a diamond on a bar where the published ratio would put its end."""
        for point, cell, value in expected(self.document, cells, self.published):
            place = self.document.names.index(cell.platform)
            self.diamonds.append(
                {"y": top + (place + 0.5) * PITCH_PX, "x": value * self.scale.factor,
                 "colour": self.looks[cell.platform].colour, "tip": point.tip}
            )  # fmt: skip

    def chart(self) -> Chart:
        """Draw the panel."""
        layers = [
            *self.fills(),
            *self._trials(),
            *self._medians(),
            *self._names(),
            *self._published(),
        ]
        return alt.layer(*layers).properties(
            width=self.width, height=self.height, title=heading(self.scale.unit, self.width)
        )

    def x(self, field: str = "x") -> alt.X:
        """Give the channel of the values, from zero."""
        return alt.X(
            field=field,
            type="quantitative",
            scale=alt.Scale(domain=list(self.ticks.domain), nice=False),
            axis=alt.Axis(
                values=list(self.ticks.values),
                labelExpr=self.ticks.label_expression,
                title=None,
                labelOverlap=True,
            ),
        )

    def y(self, field: str = "y") -> alt.Y:
        """Give the channel of the heights."""
        return rows_axis(self.height, field)

    def fills(self) -> list[alt.Chart]:
        """Draw the bars themselves; simulated ones are outlined only."""
        measured = [bar for bar in self.bars if bar["fill"] != colour("paper")]
        simulated = [bar for bar in self.bars if bar["fill"] == colour("paper")]
        drawn = []
        for rows, style in (
            (measured, {"fillOpacity": 0.2}),
            (simulated, {"fillOpacity": 0, "strokeOpacity": 0.7, "strokeDash": [3, 2]}),
        ):
            if rows:
                base = alt.Chart(inline([{**row, "zero": 0} for row in rows]))
                encoded = {
                    "x": self.x("zero"),
                    "x2": alt.X2(field="x"),
                    "y": self.y("top"),
                    "y2": alt.Y2(field="bottom"),
                    "fill": raw(alt.Fill, "colour"),
                }
                if style["fillOpacity"] == 0:
                    encoded["stroke"] = raw(alt.Stroke, "colour")
                drawn.append(base.mark_rect(aria=False, **style).encode(**encoded))
        return drawn

    def _trials(self) -> list[alt.Chart]:
        return [
            alt.Chart(inline(self.dots))
            .mark_point(filled=True, shape="circle", size=11, opacity=0.4)
            .encode(
                x=self.x(),
                y=self.y(),
                fill=raw(alt.Fill, "colour"),
                description=tip(),
            )
        ]

    def _medians(self) -> list[alt.Chart]:
        base = alt.Chart(inline(self.bars))
        return [
            base.mark_rule(strokeWidth=1.6, aria=False, color=colour("ink")).encode(
                x=self.x("lo"), x2=alt.X2(field="hi"), y=self.y()
            ),
            base.mark_rule(strokeWidth=2).encode(
                x=self.x(),
                y=self.y("top"),
                y2=alt.Y2(field="bottom"),
                stroke=raw(alt.Stroke, "colour"),
                description=tip(),
            ),
            base.mark_text(align="left", baseline="middle", aria=False).encode(
                x=alt.value(self.width + 8),
                y=self.y(),
                text=alt.Text(field="text", type="nominal"),
            ),
        ]

    def _names(self) -> list[alt.Chart]:
        """Write platforms and groups at the left, and why a bar is not there."""
        base = alt.Chart(inline([*self.bars, *self.empty])).encode(y=self.y())
        left = -self.labels
        drawn = [
            base.mark_point(size=38, strokeWidth=1.2, opacity=1, aria=False).encode(
                x=alt.value(left + 5),
                stroke=raw(alt.Stroke, "colour"),
                fill=raw(alt.Fill, "fill"),
                shape=raw(alt.Shape, "shape"),
            ),
            base.mark_text(
                align="left", baseline="middle", limit=self.labels - 20, aria=False
            ).encode(x=alt.value(left + 14), text=alt.Text(field="name", type="nominal")),
            alt.Chart(inline(self.heads))
            .mark_text(align="left", baseline="middle", fontWeight=600, aria=False, limit=WIDTH_PX)
            .encode(x=alt.value(left), y=self.y(), text=alt.Text(field="text", type="nominal")),
        ]
        if self.empty:
            drawn.append(
                alt.Chart(inline(self.empty))
                .mark_text(
                    align="left",
                    baseline="middle",
                    fontStyle="italic",
                    color=colour("soft"),
                    aria=False,
                )
                .encode(x=alt.value(4), y=self.y(), text=alt.Text(field="text", type="nominal"))
            )
        return drawn

    def _published(self) -> list[alt.Chart]:
        if not self.diamonds:
            return []
        return [diamonds(self.diamonds, self.x(), self.y())]
