"""Every probe a row, grouped by layer: which layers hurt, seen in five seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell, Estimate
from bareline.analysis.findings import Finding
from bareline.report.content.document import Document
from bareline.report.content.wording import (
    caveat_notes,
    count,
    ratio_interval,
    ratio_text,
    sentence_case,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit
from bareline.report.exhibits.table import tone_of
from bareline.report.figures.channels import inline, raw, tip
from bareline.report.figures.figure import Chart, Column, DataTable, Field, Figure
from bareline.report.figures.marks import rows_axis
from bareline.report.figures.scales import Ticks, ratio_ticks
from bareline.report.figures.theme import colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import plain
from bareline.vocabulary.verdicts import Verdict

#: Height of a row's name where it stands above the marks.
_NAME_PX = 15
#: Above this many rows each probe keeps only its most telling one.
MOST_ROWS = 45


class Overview(Exhibit):
    """Ratios to the baseline on a log axis, with intervals and the equivalence band."""

    kind = "overview"
    summary = "every probe a row: its ratio to the baseline with interval, one mark per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure over all probes."""
        findings = [
            finding
            for finding in document.findings
            if spec.probe is None or finding.probe == spec.probe
        ]
        if not findings:
            return []
        rows, note = _fold(document, findings)
        names = document.names[1:]
        margin = f"±{document.method.margin * 100:g}\u00a0%"
        caption = spec.caption or (
            f"Right of 1 is worse than {document.baseline}, left is better. Bars are 95 % "
            f"intervals; the shaded band ({margin}) counts as equal."
        )
        return [
            Figure(
                id="overview",
                title=spec.title or f"Every probe, relative to {document.baseline}",
                caption=f"{caption} {note}".strip(),
                panels=(_Drawing(document, rows, names, narrow=False).chart(),),
                narrow=(_Drawing(document, rows, names, narrow=True).chart(),),
                wide=True,
                text_summary=_summary(document, rows),
                caveats=caveat_notes(_compared(document, findings)),
                data_table=_table(rows),
            )
        ]


def _compared(document: Document, findings: Sequence[Finding]) -> list[Cell]:
    """Give the cells that findings condense."""
    probes = {finding.probe for finding in findings}
    return [
        cell
        for cell in document.cells
        if cell.headline and cell.ratio is not None and cell.place.probe in probes
    ]


def _fold(document: Document, findings: Sequence[Finding]) -> tuple[list[list[Finding]], str]:
    """Group findings into rows by subject; too many rows keep the worst of each probe."""
    subjects: dict[str, list[Finding]] = {}
    for finding in findings:
        subjects.setdefault(finding.subject, []).append(finding)
    rows = [
        sorted(row, key=lambda finding: document.names.index(finding.platform))
        for row in subjects.values()
    ]
    order = list(Layer)
    rows.sort(key=lambda row: order.index(Layer(row[0].layer)))
    if len(rows) <= MOST_ROWS:
        return rows, ""
    worst: dict[str, list[Finding]] = {}
    for row in rows:
        kept = worst.get(row[0].probe)
        if kept is None or _effect(row) > _effect(kept):
            worst[row[0].probe] = row
    return list(worst.values()), (
        f"Of {len(rows)} rows the one that differs most is shown for each probe; the table "
        "below has all shown values, the sections the rest."
    )


def _effect(row: Sequence[Finding]) -> float:
    ratios = [finding.ratio.value for finding in row if finding.ratio]
    return max((abs(math.log(ratio)) for ratio in ratios), default=0.0)


@dataclass(frozen=True, slots=True)
class _Size:
    """Geometry in px. Narrow drawings write a row's name above it instead of beside it."""

    labels: float
    plot: float
    pitch: float
    gap: float
    head: float

    @classmethod
    def choose(cls, platforms: int, longest: int, *, narrow: bool) -> _Size:
        pitch = 13.0 if platforms <= 3 else 11.0 if platforms <= 5 else 7.0
        if narrow:
            return cls(0, 262, pitch + 1, 12, 26)
        labels = min(330.0, max(150.0, 14 + 6.2 * longest))
        return cls(labels, 815 - labels, pitch, 8, 26)


class _Drawing:
    """The figure at one width; every position is worked out here, in px."""

    def __init__(
        self,
        document: Document,
        rows: Sequence[Sequence[Finding]],
        names: Sequence[str],
        *,
        narrow: bool,
    ) -> None:
        self.document = document
        self.names = list(names)
        self.looks = looks(document.names)
        self.narrow = narrow
        self.simulated = {
            (cell.platform, cell.place.probe) for cell in document.cells if cell.simulated
        }
        longest = max((len(row[0].subject) for row in rows), default=0)
        self.size = _Size.choose(len(names), longest, narrow=narrow)
        self.ticks: Ticks = ratio_ticks(
            value
            for row in rows
            for finding in row
            if (ratio := finding.ratio) is not None
            for value in (ratio.value, ratio.lo, ratio.hi)
            if value is not None
        )
        self.marks: list[dict[str, Any]] = []
        self.empty: list[dict[str, Any]] = []
        self.labels: list[dict[str, Any]] = []
        self.heads: list[dict[str, Any]] = []
        self.rules: list[dict[str, Any]] = []
        self.lines: list[dict[str, Any]] = []
        self.height = self._place(rows)

    def _place(self, rows: Sequence[Sequence[Finding]]) -> float:
        y, layer, size = 0.0, "", self.size
        for row in rows:
            if row[0].layer != layer:
                layer = row[0].layer
                self.rules.append({"y": y})
                self.lines[-1:] = []
                self.heads.append({"y": y + size.head / 2 + 1, "text": layer.words})
                y += size.head
            depth = len(self.names) * size.pitch
            self.labels.append(
                {
                    "y": y + _NAME_PX / 2 if self.narrow else y + depth / 2,
                    "text": sentence_case(row[0].subject),
                }
            )
            y += _NAME_PX if self.narrow else 0
            for finding in row:
                place = self.names.index(finding.platform) + 0.5
                self._place_mark(finding, y + place * size.pitch)
            y += depth + size.gap
            self.lines.append({"y": y - size.gap / 2})
        return y

    def _place_mark(self, finding: Finding, y: float) -> None:
        simulated = (finding.platform, finding.probe) in self.simulated
        base = {
            "y": y,
            **self.looks[finding.platform].ink(hollow=simulated),
            "tip": _tip(finding),
        }
        ratio = finding.ratio
        if ratio is None:
            word = verdict_word(finding.verdict)
            self.empty.append({**base, "text": f"{finding.platform}: {word}"})
            return
        end = ratio.hi if ratio.hi is not None else ratio.value
        if ratio.lo is not None and ratio.hi is None:
            end = self.ticks.domain[1]  # open above
        self.marks.append(
            {
                **base,
                "x": ratio.value,
                "lo": ratio.lo if ratio.lo is not None else ratio.value,
                "hi": end,
                "text": plain(ratio.value),
            }
        )

    def chart(self) -> Chart:
        """Draw everything."""
        layers = [
            *self._ground(),
            *self._names(),
            *self._values(),
            *self._missing(),
            *self._legend(),
        ]
        return alt.layer(*layers).properties(width=self.size.plot, height=self.height)

    def _x(self, field: str = "x") -> alt.X:
        return alt.X(
            field=field,
            type="quantitative",
            scale=alt.Scale(type="log", domain=list(self.ticks.domain), nice=False),
            axis=alt.Axis(
                orient="top",
                values=list(self.ticks.values),
                labelExpr=self.ticks.label_expression,
                title=f"Ratio to {self.document.baseline}, log scale; right of 1 is worse",
                titleAlign="left",
                titleAnchor="start",
                titleColor=colour("soft"),
                titleLimit=self.size.plot,
            ),
        )

    def _y(self) -> alt.Y:
        return rows_axis(self.height)

    def _ground(self) -> list[alt.Chart]:
        """Draw the equivalence band, the line at 1 and a line above each layer."""
        margin = self.document.method.margin
        band = [{"x": 1 / (1 + margin), "x2": 1 + margin}]
        return [
            alt.Chart(inline(band))
            .mark_rect(color=colour("band"), aria=False)
            .encode(x=self._x(), x2=alt.X2(field="x2"), y=alt.value(0), y2=alt.value(self.height)),
            alt.Chart(inline([{"x": 1}]))
            .mark_rule(color=colour("baseline"), strokeWidth=1.3, aria=False)
            .encode(x=self._x()),
            self._across(self.lines, "line"),
            self._across(self.rules, "faint"),
        ]

    def _across(self, rows: list[dict[str, Any]], token: str) -> alt.Chart:
        """Draw lines over the whole width, names and numbers included."""
        chart: alt.Chart = (
            alt.Chart(inline(rows))
            .mark_rule(color=colour(token), strokeWidth=0.7, aria=False)
            .encode(y=self._y(), x=alt.value(-self.size.labels), x2=alt.value(self.size.plot + 44))
        )
        return chart

    def _names(self) -> list[alt.Chart]:
        def written(rows: list[dict[str, Any]], **style: Any) -> alt.Chart:
            chart: alt.Chart = (
                alt.Chart(inline(rows))
                .mark_text(align="left", baseline="middle", aria=False, **style)
                .encode(
                    y=self._y(),
                    x=alt.value(-self.size.labels),
                    text=alt.Text(field="text", type="nominal"),
                )
            )
            return chart

        limit = self.size.labels - 8 if not self.narrow else self.size.plot
        texts = ((self.heads, {"fontWeight": 600, "fontSize": 12}), (self.labels, {"limit": limit}))
        drawn = []
        for rows, style in texts:
            if self.narrow:  # names lie over the grid: clear the ground around the letters
                drawn.append(written(rows, **style, stroke=colour("paper"), strokeWidth=5))
            drawn.append(written(rows, **style))
        return drawn

    def _values(self) -> list[alt.Chart]:
        base = alt.Chart(inline(self.marks)).encode(y=self._y())
        drawn = [
            base.mark_rule(strokeWidth=2.2, opacity=0.55, aria=False).encode(
                x=self._x("lo"), x2=alt.X2(field="hi"), stroke=raw(alt.Stroke, "colour")
            ),
            base.mark_point(
                size=46 if self.size.pitch >= 10 else 32, strokeWidth=1.2, opacity=1
            ).encode(
                x=self._x(),
                stroke=raw(alt.Stroke, "colour"),
                fill=raw(alt.Fill, "fill"),
                shape=raw(alt.Shape, "shape"),
                description=tip(),
            ),
        ]
        if self.size.pitch >= 11:
            drawn.append(
                base.mark_text(
                    align="left",
                    baseline="middle",
                    dx=8,
                    fontSize=10.5,
                    color=colour("soft"),
                    aria=False,
                ).encode(x=self._x("hi"), text=alt.Text(field="text", type="nominal"))
            )
        return drawn

    def _missing(self) -> list[alt.Chart]:
        """Write "failed" or "missing" where a value would stand."""
        base = alt.Chart(inline(self.empty)).encode(y=self._y())
        ticks = self.ticks
        at_one = -math.log(ticks.domain[0]) / math.log(ticks.domain[1] / ticks.domain[0])
        return [
            base.mark_text(
                align="left",
                baseline="middle",
                fontSize=10.5,
                fontStyle="italic",
                color=colour("soft"),
                limit=self.size.plot * (1 - at_one) - 12,
            ).encode(
                x=alt.value(at_one * self.size.plot + 10),
                text=alt.Text(field="text", type="nominal"),
                description=tip(),
            )
        ]

    def _legend(self) -> list[alt.Chart]:
        """Write the platforms' marks and names in lines above the axis."""
        width = self.size.labels + self.size.plot
        places: list[tuple[str, float, int]] = []
        x, line = 0.0, 0
        for name in self.names:
            length = 32 + 6.6 * min(len(name), 29)
            if x and x + length > width:
                x, line = 0.0, line + 1
            places.append((name, x - self.size.labels, line))
            x += length
        drawn = []
        for name, left, own_line in places:
            y = alt.value(-46 - 17 * (line - own_line))
            look = self.looks[name]
            base = alt.Chart(inline([{"text": name}]))
            drawn += [
                base.mark_point(
                    size=46,
                    strokeWidth=1.2,
                    fill=look.colour,
                    stroke=look.colour,
                    shape=look.shape,
                    opacity=1,
                    aria=False,
                ).encode(x=alt.value(left + 5), y=y),
                base.mark_text(
                    align="left", baseline="middle", aria=False, limit=190, fontSize=11.5
                ).encode(x=alt.value(left + 14), y=y, text=alt.Text(field="text", type="nominal")),
            ]
        return drawn


def _tip(finding: Finding) -> str:
    ratio = finding.ratio
    if ratio is None:
        return f"{finding.platform}, {finding.subject}: {verdict_word(finding.verdict)}"
    text = f"{finding.platform}, {finding.subject}: {plain(ratio.value)} times"
    bounds = ratio_interval(ratio)
    text += f" [{bounds}]" if bounds else ""
    return f"{text}, n = {finding.n}, {verdict_word(finding.verdict)}"


def _table(rows: Sequence[Sequence[Finding]]) -> DataTable:
    columns = (
        Column("probe", "text"),
        Column("platform", "text"),
        Column("ratio"),
        Column("95 %", "light"),
        Column("n"),
        Column("verdict", "text"),
    )
    fields: list[tuple[Field, ...]] = []
    starts = set()
    for row in rows:
        starts.add(len(fields))
        for finding in row:
            tone = tone_of(finding.verdict)
            ratio = finding.ratio or Estimate(math.nan)
            known = ratio.value if finding.ratio else None
            fields.append(
                (
                    Field(sentence_case(finding.subject)),
                    Field(finding.platform, platform=finding.platform),
                    Field(ratio_text(known), known, tone=tone),
                    Field(ratio_interval(ratio), ratio.lo),
                    Field(str(finding.n), finding.n),
                    Field(verdict_word(finding.verdict), tone=tone),
                )
            )
    return DataTable(columns, tuple(fields), frozenset(starts - {0}))


def _summary(document: Document, rows: Sequence[Sequence[Finding]]) -> str:
    findings = [finding for row in rows for finding in row]
    text = f"{count(len(rows), 'row')} in {len({f.layer for f in findings})} layers."
    for name in document.names[1:]:
        own = [finding for finding in findings if finding.platform == name]
        parts = [
            count(sum(finding.verdict == verdict for finding in own), "row") + f" {verdict}"
            for verdict in Verdict
            if any(finding.verdict == verdict for finding in own)
        ]
        text += f" {name}: {', '.join(parts)}"
        losses = [(f.ratio.value, f) for f in own if f.ratio is not None and f.ratio.value > 1]
        if losses:
            most, worst = max(losses, key=lambda loss: loss[0])
            text += f"; most in {worst.subject}, {plain(most)} times"
        text += "."
    return text


EXHIBIT = Overview()
