"""Every probe a row, grouped by layer: which layers hurt, seen in five seconds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import with_interval
from bareline.report.blocks import Rows
from bareline.report.content.document import Document
from bareline.report.content.grid import by_loss
from bareline.report.content.wording import sentence_case, verdict_tone, verdict_word
from bareline.report.exhibits.base import Draft, ExhibitKind, grouped_by
from bareline.report.exhibits.columns import graded
from bareline.report.figures.grammar import MARK, Channel, Chart, Style, both_widths, layer, plot
from bareline.report.figures.marks import rows_axis
from bareline.report.figures.rows import absence, rule_at, value_axis, written, written_clear
from bareline.report.figures.scales import ratio_ticks
from bareline.report.figures.theme import colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count, plain
from bareline.vocabulary.verdicts import Verdict

#: Height of a row's name where it stands above the marks, and of a layer's.
_NAME_PX, _HEAD_PX = 15, 26
#: Above this many rows each probe keeps only its most telling one.
MOST_ROWS = 45

#: Findings of one subject, a platform each.
_Row = Sequence[Finding]


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    findings = [one for one in document.findings if spec.probe in (None, one.probe)]
    if not findings:
        return
    rows, note = _fold(document, findings)
    probes = {finding.probe for finding in findings}
    margin = f"±{document.margin * 100:g}\u00a0%"
    caption = (
        f"Right of 1 is worse than {document.baseline}, left is better. A mark is the worst "
        f"decided point of a row, without any the farthest, with its 95 % interval; a pale bar "
        f"reaches over all its points. The shaded band ({margin}) counts as equal."
    )
    yield Draft(
        title=spec.title or f"Every probe, relative to {document.baseline}",
        spec=ExhibitSpec(kind=spec.kind, caption=spec.caption),
        notes=["" if spec.caption else caption, note],
        cells=[
            cell
            for cell in document.cells
            if cell.headline and cell.ratio is not None and cell.place.probe in probes
        ],
        layer="",
        drawing=both_widths(lambda *, narrow: _Drawing(document, rows, narrow=narrow).chart()),
        summary=_summary(rows),
        table=Rows([one for row in rows for one in row], lambda one: one.subject)
        .text("probe", lambda one: sentence_case(one.subject))
        .platform(lambda one: one.platform)
        .estimate("ratio", lambda one: one.ratio, tone=lambda one: verdict_tone(one.verdict))
        .number("n", lambda one: one.n)
        .column(
            "verdict", lambda one: graded(one.verdict, one.grade, few_boots=one.few_boots), "text"
        )
        .table(),
        data=(),
    )


def _fold(document: Document, findings: Sequence[Finding]) -> tuple[list[_Row], str]:
    """Group findings into rows by subject; too many rows keep the worst of each probe."""
    order, layers = by_loss(document.findings, document.names), list(Layer)
    rows = [
        sorted(row, key=lambda finding: order.index(finding.platform))
        for row in grouped_by(findings, lambda finding: finding.subject).values()
    ]
    rows.sort(key=lambda row: layers.index(row[0].layer))
    if len(rows) <= MOST_ROWS:
        return [*rows], ""

    def weight(row: _Row) -> Any:
        return max(finding.weight for finding in row)

    worst = [max(own, key=weight) for own in grouped_by(rows, lambda row: row[0].probe).values()]
    return [*worst], (
        f"Of {len(rows)} rows one is shown for each probe: the one that differs most on any "
        "platform. The table below has all shown values, the sections the rest."
    )


class _Drawing:
    """The figure at one width, in px; narrow ones write a row's name above it, not beside it."""

    def __init__(self, document: Document, rows: Sequence[_Row], *, narrow: bool) -> None:
        self.document, self.looks, self.narrow = document, looks(document.names), narrow
        longest, most = max(len(row[0].subject) for row in rows), max(map(len, rows))
        self.pitch = 15.0 if most == 1 else 11.0 if most <= 5 else 7.0
        self.labels = min(330.0, max(150.0, 14 + 6.2 * longest))
        self.plot, self.gap = 815 - self.labels, 5
        if narrow:
            self.labels, self.plot, self.pitch, self.gap = 0, 262, self.pitch + 1, 12
        self.ticks = ratio_ticks(
            end
            for row in rows
            for one in row
            if one.ratio
            for end in (*one.ratio.known, *(p.ratio.value for p in one.compared if p.ratio))
        )
        #: Rows of the chart's layers, by what is drawn of them.
        self.drawn: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.height = 0.0
        for words, own in grouped_by(rows, lambda row: row[0].layer.words).items():
            self._place_layer(words, own)
        self.y = rows_axis(self.height)

    def _place_layer(self, words: str, rows: Sequence[_Row]) -> None:
        self.drawn["rules"].append({"y": self.height})
        self.drawn["heads"].append({"y": self.height + _HEAD_PX / 2 + 1, "text": words})
        self.height += _HEAD_PX
        for number, row in enumerate(rows):
            if number:
                self.drawn["lines"].append({"y": self.height - self.gap / 2})
            depth = max(len(row), 1) * self.pitch  # only what was planned takes room
            name = sentence_case(row[0].subject)
            if self.narrow:
                for line in wrap(name, 42):
                    self.drawn["labels"].append({"y": self.height + _NAME_PX / 2, "text": line})
                    self.height += _NAME_PX
            else:
                self.drawn["labels"].append({"y": self.height + depth / 2, "text": name})
            for place, finding in enumerate(row):
                self._place(finding, self.height + (place + 0.5) * self.pitch)
            self.height += depth + self.gap

    def _place(self, finding: Finding, y: float) -> None:
        simulated = any(point.simulated for point in finding.points)
        ink = self.looks[finding.platform].ink(hollow=simulated)
        where, word = f"{finding.platform}, {finding.subject}", verdict_word(finding.verdict)
        base, ratio = {"y": y, **ink}, finding.ratio
        if ratio is None:
            text = f"{finding.platform}: {word}"
            self.drawn["empty"].append({**base, "tip": f"{where}: {word}", "text": text})
            return
        base["tip"] = f"{where}: {with_interval(ratio, 'times')}, n = {finding.n}, {word}"
        every = [point.ratio.value for point in finding.compared if point.ratio]
        if len(every) > 1:
            self.drawn["ranges"].append({**base, "lo": min(every), "hi": max(every)})
        is_open = ratio.lo is not None and ratio.hi is None
        lo, hi = min(ratio.known), self.ticks.domain[1] if is_open else max(ratio.known)
        place = {"x": ratio.value, "lo": lo, "hi": hi, "end": max([hi, *every])}
        self.drawn["marks"].append({**base, **place, "text": plain(ratio.value)})

    def chart(self) -> Chart:
        low, high = map(math.log, self.ticks.domain)
        at_one = -low / (high - low)
        absent: Style = {"fontSize": 11, "limit": self.plot * (1 - at_one) - 12, "aria": True}
        layers = [
            *self._ground(),
            *self._names(),
            *self._values(),
            absence(self.drawn["empty"], at_one * self.plot + 10, self.y, **absent),
            *self._legend(),
        ]
        return plot(layers, self.plot, self.height)

    def _x(self, field: str = "x") -> Channel:
        title = f"Ratio to {self.document.baseline}, log scale; right of 1 is worse"
        how: Style = {"titleAlign": "left", "titleAnchor": "start", "titleColor": colour("soft")}
        return value_axis(
            self.ticks, field, log=True, orient="top", title=title, titleLimit=self.plot, **how
        )

    def _ground(self) -> Iterator[Chart]:
        margin = self.document.margin
        band: Style = {"color": colour("band"), "y": 0, "y2": self.height}
        yield layer(
            "rect", [{"x": 1 / (1 + margin), "x2": 1 + margin}], x=self._x(), x2="x2", **band
        )
        yield rule_at(1.0, self._x(), 1.3)
        # Lines reach over names and numbers, too.
        reach: Style = {"x": -self.labels, "x2": self.plot + 44, "strokeWidth": 0.7}
        for name, token in (("lines", "line"), ("rules", "faint")):
            yield layer("rule", self.drawn[name], y=self.y, color=colour(token), **reach)

    def _names(self) -> Iterator[Chart]:
        limit = self.labels - 8 if self.labels else self.plot + 44
        heads: Style = {"fontWeight": 600, "fontSize": 12}
        for name, style in (("heads", heads), ("labels", {"limit": limit})):
            drawn = written_clear(self.drawn[name], -self.labels, self.y, **style)
            yield from drawn if self.narrow else drawn[1:]

    def _values(self) -> Iterator[Chart]:
        marks, size = self.drawn["marks"], 46 if self.pitch >= 10 else 32
        reach: Style = {"x": self._x("lo"), "x2": "hi", "y": self.y}
        yield layer("rule", self.drawn["ranges"], "stroke", **reach, strokeWidth=7, opacity=0.25)
        yield layer("rule", marks, "stroke", **reach, strokeWidth=2.2, opacity=0.55)
        point: Style = {"tips": True, "size": size, "strokeWidth": 1.2, "opacity": 1}
        yield layer("point", marks, MARK, x=self._x(), y=self.y, **point)
        if self.pitch >= 11:
            soft: Style = {"dx": 8, "fontSize": 11, "color": colour("soft")}
            yield written(marks, self._x("end"), self.y, **soft)

    def _legend(self) -> Iterator[Chart]:
        keys: list[tuple[dict[str, Any], float, int]] = []
        x, line = 0.0, 0
        for name in by_loss(self.document.findings, self.document.names[1:]):
            length = 32 + 6.6 * min(len(name), 29)
            if x and x + length > self.labels + self.plot:
                x, line = 0.0, line + 1
            key = {"text": name, **self.looks[name].ink(hollow=False)}
            keys.append((key, x - self.labels, line))
            x += length
        point: Style = {"size": 46, "strokeWidth": 1.2, "opacity": 1}
        for key, x, own in keys:
            y = -46 - 17 * (line - own)
            yield layer("point", [key], MARK, x=x + 5, y=y, **point)
            yield written([key], x + 14, y, limit=190, fontSize=11.5)


def _summary(rows: Sequence[_Row]) -> str:
    findings = [finding for row in rows for finding in row]
    text = f"{count(len(rows), 'row')} in {len({f.layer for f in findings})} layers."
    for name, own in grouped_by(findings, lambda finding: finding.platform).items():
        numbers = Counter(finding.verdict for finding in own)
        parts = [f"{count(numbers[one], 'row')} {one}" for one in Verdict if numbers[one]]
        losses = {one.subject: one.ratio.value for one in own if one.ratio and one.ratio.value > 1}
        worst = max(losses, key=losses.__getitem__, default="")
        most = f"; most in {worst}, {plain(losses[worst])} times" if worst else ""
        text += f" {name}: {', '.join(parts)}{most}."
    return text


EXHIBIT = ExhibitKind(
    "overview",
    "every probe a row: its ratio to the baseline with interval, one mark per platform",
    _shown,
)
