"""How much performance each application loses, in percent, by ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import tidy
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, beside, points_for
from bareline.report.content.wording import caveat_notes, metric_name, sentence_case, verdict_word
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.exhibits.rules import RULES, rule_text, ruled_ratio
from bareline.report.exhibits.table import PUBLISHED_COLUMN, published_field, ratio_fields
from bareline.report.figures.channels import heading, inline, raw, tip
from bareline.report.figures.figure import Chart, Column, DataTable, Field, Figure
from bareline.report.figures.marks import diamonds, rows_axis
from bareline.report.figures.scales import Ticks, signed_ticks
from bareline.report.figures.theme import colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying

PLOT_PX = 430
LABELS_PX = 230
PITCH_PX = 16
HEAD_PX = 20


class Degradation(Exhibit):
    """Bars of performance lost from zero, one per application, ranks and platform."""

    kind = "degradation"
    summary = "performance lost in percent by application and ranks, one bar per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure over all probes; the headline metric of each without another."""
        cells = [
            cell
            for cell in select(document, spec)
            if cell.metric.better in ("lower", "higher") and (spec.metric or cell.headline)
        ]
        bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
        compared = [cell for cell in cells if cell.platform != document.baseline]
        ratios = {
            (cell.platform, cell.place): ruled_ratio(
                document, cell, bases.get(cell.place), spec.rule
            )
            for cell in compared
        }
        if not any(ratios.values()):
            return []
        points = points_for(document.published, spec, cells, document.baseline)
        names = varying(cell.place for cell in cells)
        groups: dict[str, list[Cell]] = {}
        for cell in compared:
            title = sentence_case(document.probe_titles.get(cell.place.probe, cell.place.probe))
            groups.setdefault(", ".join(filter(None, [title, cell.place.told(names)])), []).append(
                cell
            )
        panel = _Panel(document, spec.rule, groups, ratios, points)
        layers = {cell.layer for cell in compared}
        metrics = {metric_name(cell.place.metric) for cell in compared}
        what = f", {metrics.pop()}" if len(metrics) == 1 else ""
        told = [rule_text(spec.rule, document.baseline)]
        told.append("Diamonds: what the publication lost; hovering names the source."
                    if points else "")  # fmt: skip
        return [
            Figure(
                id=slug("degradation", spec.probe or "all", spec.metric or "", spec.title),
                title=spec.title or f"Performance lost against {document.baseline}{what}",
                caption=" ".join(
                    filter(None, [spec.caption, "1 - 1/factor of the baseline's performance; "
                                  "left of zero is a gain.", *told])
                ),
                layer=compared[0].layer if len(layers) == 1 else "",
                panels=(panel.chart(),),
                wide=True,
                text_summary=panel.summary,
                caveats=caveat_notes(compared),
                data_table=_table(spec.rule, groups, ratios, points),
                data=tidy(cells),
            )
        ]  # fmt: skip


def lost(ratio: float | None) -> float | None:
    """Give the performance lost in percent for a ratio; None without one."""
    return 100 * (1 - 1 / ratio) if ratio else None


def lost_within(cell: Cell) -> tuple[float | None, float | None]:
    """Give the ends of what a cell loses in percent; None where there is none."""
    ratio = cell.ratio
    return (lost(ratio.lo), lost(ratio.hi)) if ratio else (None, None)


class _Panel:
    """All bars on one axis of percent."""

    def __init__(
        self,
        document: Document,
        rule: str,
        groups: dict[str, list[Cell]],
        ratios: dict[tuple[str, Place], float | None],
        points: Sequence[PublishedPoint],
    ) -> None:
        self.looks = looks(document.names)
        self.heads: list[dict[str, Any]] = []
        self.bars: list[dict[str, Any]] = []
        self.empty: list[dict[str, Any]] = []
        self.diamonds: list[dict[str, Any]] = []
        told, y = [], 0.0
        for title, cells in groups.items():
            self.heads.append({"y": y + HEAD_PX / 2 + 2, "text": title})
            y += HEAD_PX
            for cell in cells:
                ratio = ratios[cell.platform, cell.place]
                self._place(cell, ratio, y + PITCH_PX / 2, bounds=rule not in RULES)
                for point in beside(points, cell):
                    self.diamonds.append(
                        {
                            "x": lost(point.middle),
                            "y": y + PITCH_PX / 2,
                            "tip": point.tip,
                            "colour": self.looks[cell.platform].colour,
                        }
                    )
                share = lost(ratio)
                told.append(
                    f"{title} on {cell.platform} "
                    + (
                        f"{share:.1f} %"
                        if share is not None
                        else verdict_word(cell.verdict) or "missing"
                    )
                )
                y += PITCH_PX
        self.height = y
        self.summary = f"Performance lost: {'; '.join(told[:12])}."
        self.ticks: Ticks = signed_ticks(
            [row[key] for row in self.bars for key in ("x", "lo", "hi")]
            + [row["x"] for row in self.diamonds]
        )

    def _place(self, cell: Cell, ratio: float | None, y: float, *, bounds: bool) -> None:
        ink = self.looks[cell.platform].ink(hollow=cell.simulated)
        base = {"y": y, "name": cell.platform, **ink}
        share = lost(ratio)
        if share is None:
            self.empty.append({**base, "text": verdict_word(cell.verdict) or "missing"})
            return
        low, high = lost_within(cell) if bounds else (None, None)
        held = f" [{low:.1f}, {high:.1f}]" if low is not None and high is not None else ""
        self.bars.append(
            {**base, "x": share, "zero": 0.0, "top": y - 5, "bottom": y + 5,
             "lo": share if low is None else low, "hi": share if high is None else high,
             "text": f"{share:.1f}",
             "tip": f"{cell.platform}: {share:.1f} % lost{held}, n = {cell.n}"}
        )  # fmt: skip

    def chart(self) -> Chart:
        """Draw the panel."""
        base = alt.Chart(inline(self.bars))
        named = alt.Chart(inline([*self.bars, *self.empty]))
        empty = alt.Chart(inline(self.empty))
        written: dict[str, Any] = {"align": "left", "baseline": "middle", "aria": False}
        text = alt.Text(field="text", type="nominal")
        return alt.layer(
            alt.Chart(inline([{"x": 0}]))
            .mark_rule(color=colour("baseline"), strokeWidth=1.2, aria=False)
            .encode(x=self._x()),
            base.mark_rect(fillOpacity=0.25, aria=False).encode(
                x=self._x("zero"), x2=alt.X2(field="x"), y=self._y("top"),
                y2=alt.Y2(field="bottom"), fill=raw(alt.Fill, "colour"),
            ),
            base.mark_rule(strokeWidth=1.6, color=colour("ink"), aria=False).encode(
                x=self._x("lo"), x2=alt.X2(field="hi"), y=self._y()
            ),
            base.mark_rule(strokeWidth=2).encode(
                x=self._x(), y=self._y("top"), y2=alt.Y2(field="bottom"),
                stroke=raw(alt.Stroke, "colour"), description=tip(),
            ),
            base.mark_text(**written).encode(x=alt.value(PLOT_PX + 8), y=self._y(), text=text),
            named.mark_point(size=38, strokeWidth=1.2, opacity=1, aria=False).encode(
                x=alt.value(8 - LABELS_PX), y=self._y(), stroke=raw(alt.Stroke, "colour"),
                fill=raw(alt.Fill, "fill"), shape=raw(alt.Shape, "shape"),
            ),
            named.mark_text(**written, limit=LABELS_PX - 24).encode(
                x=alt.value(18 - LABELS_PX), y=self._y(),
                text=alt.Text(field="name", type="nominal"),
            ),
            alt.Chart(inline(self.heads))
            .mark_text(**written, fontWeight=600, limit=LABELS_PX + PLOT_PX)
            .encode(x=alt.value(-LABELS_PX), y=self._y(), text=text),
            empty.mark_text(**written, fontStyle="italic", color=colour("soft")).encode(
                x=alt.value(self._zero_px() + 6), y=self._y(), text=text
            ),
            diamonds(self.diamonds, self._x(), self._y()),
        ).properties(
            width=PLOT_PX, height=self.height, title=heading("performance lost (%)", PLOT_PX)
        )  # fmt: skip

    def _zero_px(self) -> float:
        low, high = self.ticks.domain
        return PLOT_PX * -low / (high - low)

    def _x(self, field: str = "x") -> alt.X:
        return alt.X(
            field=field,
            type="quantitative",
            scale=alt.Scale(domain=list(self.ticks.domain), nice=False),
            axis=alt.Axis(values=list(self.ticks.values),
                          labelExpr=self.ticks.label_expression, title=None),
        )  # fmt: skip

    def _y(self, field: str = "y") -> alt.Y:
        return rows_axis(self.height, field)


def _table(
    rule: str,
    groups: dict[str, list[Cell]],
    ratios: dict[tuple[str, Place], float | None],
    points: Sequence[PublishedPoint],
) -> DataTable:
    rows: list[tuple[Field, ...]] = []
    starts = set()
    for title, cells in groups.items():
        starts.add(len(rows))
        for cell in cells:
            share = lost(ratios[cell.platform, cell.place])
            _, bounds, verdict = ratio_fields(cell)
            low, high = lost_within(cell)
            held = f"{low:.1f}–{high:.1f}" if low is not None and high is not None else ""
            rows.append(
                (
                    Field(title),
                    Field(cell.platform, platform=cell.platform),
                    Field("–" if share is None else f"{share:.1f}", share, caveats=cell.caveats),
                    *(() if rule in RULES else (Field(held, bounds.order),)),
                    Field(str(cell.n), cell.n),
                    verdict,
                    *((published_field(beside(points, cell)),) if points else ()),
                )
            )
    columns = (
        Column("benchmark", "text"),
        Column("platform", "text"),
        Column("lost (%)"),
        *(() if rule in RULES else (Column("95 %", "light"),)),
        Column("n"),
        Column("verdict", "text"),
        *((PUBLISHED_COLUMN,) if points else ()),
    )
    return DataTable(columns, tuple(rows), frozenset(starts - {0}))


EXHIBIT = Degradation()
