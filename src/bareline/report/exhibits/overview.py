"""The exhibit with a row for every probe, grouped by layer; it shows which layers are slow."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.report.blocks import Field, Figure, Rows, Table, Tone
from bareline.report.content.document import Document
from bareline.report.content.grid import by_loss
from bareline.report.content.wording import sentence_case, verdict_tone, verdict_word
from bareline.report.exhibits.base import Exhibit, figure_of
from bareline.report.exhibits.columns import graded
from bareline.report.figures.marks import rows_axis
from bareline.report.figures.rows import absence, rule_at, value_axis, written, written_clear
from bareline.report.figures.scales import ratio_ticks
from bareline.report.figures.theme import colour, looks
from bareline.report.figures.vega import (
    MARK,
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
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count, plain
from bareline.vocabulary.verdicts import Verdict

#: Height of a row's name above its marks, and of a layer's name.
_NAME_PX = 15
_HEAD_PX = 26
#: With more rows, each probe keeps only its row with the largest difference.
MOST_ROWS = 45

#: Findings of one subject, one for each platform.
_Row = Sequence[Finding]
_Rows = Sequence[_Row]


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    findings = [finding for finding in document.findings if spec.probe in (None, finding.probe)]
    if not findings:
        return
    rows = _grouped(document, findings)
    note = ""
    if len(rows) > MOST_ROWS:
        note = _left_out(rows)
        rows = _most_telling(rows)
    caption = "" if spec.caption else _caption(document)
    probes = {finding.probe for finding in findings}
    cells = []
    for cell in document.cells:
        if cell.headline and cell.ratio is not None and cell.place.probe in probes:
            cells.append(cell)
    yield figure_of(
        # The id of the figure does not depend on the title.
        ExhibitSpec(kind=spec.kind, caption=spec.caption),
        title=spec.title or f"Every probe, relative to {document.baseline}",
        notes=[caption, note],
        cells=cells,
        layer="",
        drawing=both_widths(lambda *, narrow: _Drawing(document, rows, narrow=narrow).chart()),
        summary=_summary(rows),
        table=_table(rows),
        data=(),
    )


def _caption(document: Document) -> str:
    margin = f"±{document.margin * 100:g}\u00a0%"
    return (
        f"Ratios above 1 are worse than {document.baseline}, below 1 better. Each mark is "
        "the worst decided point of its row with its 95 % interval; if no point is decided, it is "
        "the point farthest from 1. The pale bar covers all points of the row. The shaded band "
        f"({margin}) counts as equal."
    )


def _table(rows: _Rows) -> Table:
    def verdict(finding: Finding) -> Field:
        return graded(finding.verdict, finding.grade, few_boots=finding.few_boots)

    def tone(finding: Finding) -> Tone:
        return verdict_tone(finding.verdict)

    findings = _all_findings(rows)
    table = Rows(findings, lambda finding: finding.subject)
    table.text("probe", lambda finding: sentence_case(finding.subject))
    table.platform(lambda finding: finding.platform)
    table.estimate("ratio", lambda finding: finding.ratio, tone=tone)
    table.number("n", lambda finding: finding.n)
    table.column("verdict", verdict, "text")
    return table.table()


def _grouped(document: Document, findings: _Row) -> list[_Row]:
    """Return findings in rows by probe, class of sizes and layout, in the order of the layers."""
    platforms = by_loss(document.findings, document.names)
    layers = list(Layer)
    rows: list[_Row] = []
    for row in grouped_by(findings, lambda finding: finding.subject).values():
        row.sort(key=lambda finding: platforms.index(finding.platform))
        rows.append(row)
    rows.sort(key=lambda row: layers.index(row[0].layer))
    return rows


def _most_telling(rows: _Rows) -> list[_Row]:
    """Return only the worst row of each probe."""
    probes = grouped_by(rows, lambda row: row[0].probe)
    return [max(group, key=_weight) for group in probes.values()]


def _left_out(rows: _Rows) -> str:
    return (
        f"Of {len(rows)} rows one is shown for each probe: the row with the largest difference on "
        "any platform. The table below has all shown values, the sections the rest."
    )


def _all_findings(rows: _Rows) -> list[Finding]:
    findings: list[Finding] = []
    for row in rows:
        findings += row
    return findings


def _weight(row: _Row) -> Any:
    return max(finding.weight for finding in row)


def _point_ratios(finding: Finding) -> list[float]:
    """Return the ratios of all points of a finding."""
    return [point.ratio.value for point in finding.compared if point.ratio]


def _ends(rows: _Rows) -> Iterator[float]:
    """Yield every ratio for which the axis must have room."""
    for finding in _all_findings(rows):
        if finding.ratio:
            yield from finding.ratio.known
            yield from _point_ratios(finding)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The lengths of a drawing in px.

    - `labels`: width of the rows' names at the left; 0 if they are written above the marks.
    - `plot`: width of the axis.
    - `pitch`: height of a mark's row; `gap`: distance between two subjects.
    """

    labels: float
    plot: float
    pitch: float
    gap: float

    @classmethod
    def of(cls, rows: _Rows, *, narrow: bool) -> _Sizes:
        most_platforms = max(map(len, rows))
        pitch = 7.0
        if most_platforms == 1:
            pitch = 15.0
        elif most_platforms <= 5:
            pitch = 11.0
        if narrow:
            return cls(labels=0, plot=262, pitch=pitch + 1, gap=12)
        longest = max(len(row[0].subject) for row in rows)
        labels = min(330.0, max(150.0, 14 + 6.2 * longest))
        return cls(labels=labels, plot=815 - labels, pitch=pitch, gap=5)

    @property
    def end(self) -> float:
        """The right end of the rows' lines, which also pass below the numbers."""
        return self.plot + 44

    @property
    def name_limit(self) -> float:
        """The largest width of a name."""
        if self.labels:
            return self.labels - 8
        return self.end


class _Drawing:
    """The drawing of the overview at one width; if narrow, names are above the rows."""

    def __init__(self, document: Document, rows: _Rows, *, narrow: bool) -> None:
        self.document = document
        self.looks = looks(document.names)
        self.narrow = narrow
        self.sizes = _Sizes.of(rows, narrow=narrow)
        self.ticks = ratio_ticks(_ends(rows))
        #: Rows of the chart's layers, by the kind of their marks.
        self.drawn: defaultdict[str, list[Datum]] = defaultdict(list)
        self.height = 0.0
        for words, layer_rows in grouped_by(rows, lambda row: row[0].layer.words).items():
            self._place_head(words)
            self._place_layer(layer_rows)
        self.y = rows_axis(self.height)

    def _add(self, kind: str, y: float, **row: Any) -> None:
        """Add a row of a kind (e.g. "mark") at the height `y`."""
        self.drawn[kind].append({"y": y, **row})

    def _place_head(self, words: str) -> None:
        self._add("rules", self.height)
        self._add("heads", self.height + _HEAD_PX / 2 + 1, text=words)
        self.height += _HEAD_PX

    def _place_layer(self, rows: _Rows) -> None:
        pitch = self.sizes.pitch
        gap = self.sizes.gap
        for number, row in enumerate(rows):
            if number:
                self._add("lines", self.height - gap / 2)
            depth = max(len(row), 1) * pitch  # only planned cases take room
            name = sentence_case(row[0].subject)
            self._place_name(name, depth)
            for place, finding in enumerate(row):
                self._place(finding, self.height + (place + 0.5) * pitch)
            self.height += depth + gap

    def _place_name(self, name: str, depth: float) -> None:
        if not self.narrow:
            self._add("labels", self.height + depth / 2, text=name)
            return
        for line in wrap(name, 42):
            self._add("labels", self.height + _NAME_PX / 2, text=line)
            self.height += _NAME_PX

    def _place(self, finding: Finding, y: float) -> None:
        platform = finding.platform
        is_simulated = any(point.simulated for point in finding.points)
        ink = self.looks[platform].ink(hollow=is_simulated)
        subject = f"{platform}, {finding.subject}"
        word = verdict_word(finding.verdict)
        if finding.ratio is None:
            self._add("empty", y, **ink, tip=f"{subject}: {word}", text=f"{platform}: {word}")
            return
        ratio = with_interval(finding.ratio, "times")
        base = {**ink, "tip": f"{subject}: {ratio}, n = {finding.n}, {word}"}
        ratios = _point_ratios(finding)
        if len(ratios) > 1:
            self._add("ranges", y, **base, lo=min(ratios), hi=max(ratios))
        self._add("marks", y, **base, **self._reach(finding.ratio, ratios))

    def _reach(self, ratio: Estimate, ratios: Sequence[float]) -> Datum:
        """Return the data of a mark: its ratio, interval, right end, and the number next to it."""
        high = max(ratio.known)
        if ratio.lo is not None and ratio.hi is None:
            _, high = self.ticks.domain
        return {
            "x": ratio.value,
            "lo": min(ratio.known),
            "hi": high,
            "end": max([high, *ratios]),
            "text": plain(ratio.value),
        }

    def chart(self) -> Chart:
        layers = [*self._ground(), *self._names(), *self._values()]
        layers.append(self._absences())
        layers += self._legend()
        return plot(layers, self.sizes.plot, self.height)

    def _absences(self) -> Chart:
        """Write the reason in each row that has no mark, right of the line at 1."""
        low, high = map(math.log, self.ticks.domain)
        width = self.sizes.plot
        share = -low / (high - low)
        style: Style = {"fontSize": 11, "limit": width * (1 - share) - 12, "aria": True}
        return absence(self.drawn["empty"], share * width + 10, self.y, **style)

    def _x(self, field: str = "x") -> Channel:
        title = f"Ratio to {self.document.baseline}, log scale; right of 1 is worse"
        style: Style = {
            "titleAlign": "left",
            "titleAnchor": "start",
            "titleColor": colour("soft"),
            "titleLimit": self.sizes.plot,
        }
        return value_axis(self.ticks, field, log=True, orient="top", title=title, **style)

    def _ground(self) -> Iterator[Chart]:
        highest = 1 + self.document.margin
        equal = [{"x": 1 / highest, "x2": highest}]
        band: Style = {"color": colour("band"), "y": 0, "y2": self.height}
        yield layer("rect", equal, x=self._x(), x2="x2", **band)
        yield rule_at(1.0, self._x(), 1.3)
        # Lines also reach over names and numbers.
        reach: Style = {"x": -self.sizes.labels, "x2": self.sizes.end, "strokeWidth": 0.7}
        for name, token in (("lines", "line"), ("rules", "faint")):
            yield layer("rule", self.drawn[name], y=self.y, color=colour(token), **reach)

    def _names(self) -> Iterator[Chart]:
        yield from self._words("heads", fontWeight=600, fontSize=12)
        yield from self._words("labels", limit=self.sizes.name_limit)

    def _words(self, kind: str, **style: Any) -> Iterator[Chart]:
        """Yield the texts at the left of rows; if narrow, on a background that covers the marks."""
        ground, words = written_clear(self.drawn[kind], -self.sizes.labels, self.y, **style)
        if self.narrow:
            yield ground
        yield words

    def _values(self) -> Iterator[Chart]:
        marks = self.drawn["marks"]
        size = 46 if self.sizes.pitch >= 10 else 32
        reach: Style = {"x": self._x("lo"), "x2": "hi", "y": self.y}
        yield layer("rule", self.drawn["ranges"], "stroke", **reach, strokeWidth=7, opacity=0.25)
        yield layer("rule", marks, "stroke", **reach, strokeWidth=2.2, opacity=0.55)
        point: Style = {"tips": True, "size": size, "strokeWidth": 1.2, "opacity": 1}
        yield layer("point", marks, MARK, x=self._x(), y=self.y, **point)
        if self.sizes.pitch >= 11:
            soft: Style = {"dx": 8, "fontSize": 11, "color": colour("soft")}
            yield written(marks, self._x("end"), self.y, **soft)

    def _legend(self) -> Iterator[Chart]:
        """Yield the marks and names of the platforms above the plot, in as many lines as needed."""
        names = by_loss(self.document.findings, self.document.names[1:])
        left = self.sizes.labels
        keys = _legend_keys(names, left + self.sizes.plot)
        last = max((key.line for key in keys), default=0)
        point: Style = {"size": 46, "strokeWidth": 1.2, "opacity": 1}
        for key in keys:
            ink = self.looks[key.name].ink(hollow=False)
            row = {"text": key.name, **ink}
            x = key.x - left
            y = -46 - 17 * (last - key.line)
            yield layer("point", [row], MARK, x=x + 5, y=y, **point)
            yield written([row], x + 14, y, limit=190, fontSize=11.5)


@dataclass(frozen=True, slots=True)
class _Key:
    """A platform's position in the legend: distance from the left in px, and number of the line."""

    name: str
    x: float
    line: int


def _legend_keys(names: Iterable[str], width: float) -> list[_Key]:
    """Return the positions of names in lines of at most the given width."""
    keys: list[_Key] = []
    x = 0.0
    line = 0
    for name in names:
        letters = min(len(name), 29)
        length = 32 + 6.6 * letters
        if x and x + length > width:
            x = 0.0
            line += 1
        keys.append(_Key(name, x, line))
        x += length
    return keys


def _summary(rows: _Rows) -> str:
    findings = _all_findings(rows)
    layers = {finding.layer for finding in findings}
    parts = [f"{count(len(rows), 'row')} in {len(layers)} layers."]
    for name, group in grouped_by(findings, lambda finding: finding.platform).items():
        parts.append(f"{name}: {_platform_summary(group)}.")
    return " ".join(parts)


def _platform_summary(findings: _Row) -> str:
    """Describe a platform's findings: the count of each verdict, and the largest loss."""
    numbers = Counter(finding.verdict for finding in findings)
    verdicts = [verdict for verdict in Verdict if numbers[verdict]]
    text = ", ".join(f"{count(numbers[verdict], 'row')} {verdict}" for verdict in verdicts)
    losses = {}
    for finding in findings:
        if finding.ratio and finding.ratio.value > 1:
            losses[finding.subject] = finding.ratio.value
    if not losses:
        return text
    worst = max(losses, key=losses.__getitem__)
    return f"{text}; most in {worst}, {plain(losses[worst])} times"


EXHIBIT = Exhibit(
    "overview",
    "every probe a row: its ratio to the baseline with interval, one mark per platform",
    _figures,
)
