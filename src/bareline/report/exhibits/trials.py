"""The exhibit that lists every single trial, sorted by time or by value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any

from bareline.analysis.numbers.row import Estimate, Row
from bareline.published.catalogue import publications
from bareline.published.model import PublishedStudy, Trials
from bareline.published.quantities import UNITS
from bareline.report.blocks import Field, Figure, Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot, trial_dots
from bareline.report.content.wording import metric_name, sentence_case, verdict_word
from bareline.report.exhibits.base import Exhibit, by_metric, figure_of, select
from bareline.report.figures.marks import AxesStrip, line_mark, x_axis
from bareline.report.figures.rows import Mark, StripRow, strip_plot
from bareline.report.figures.scales import Scale, Ticks, log_ticks, unit_scale
from bareline.report.figures.theme import PUBLISHED_SHAPE, colour, looks
from bareline.report.figures.vega import Chart, Datum, both_widths
from bareline.store.header import RoleKeys
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count, plain, whole

#: The metric that is listed next to each value if the probe counts it.
COUNT = "retransmissions"
#: With fewer trials, the first trial is not compared with the later trials.
_FEWEST_TRIALS = 4
#: A table has at most this many rows. Of more trials, evenly chosen ones are shown.
_MOST_ROWS = 100
#: Height and width of the axes of trials over time, and their largest number of ticks.
_HEIGHT_PX = 230.0
_WIDE_PX = 520.0
_NARROW_PX = 190.0
_MOST_TICKS = 10


@dataclass(frozen=True, slots=True)
class _Listing:
    """A column of trials: their values, their counts, the median (`foot`), and their marks.

    - `counts`: retransmissions of each trial, if the probe counts them.
    - `places`: for each mark, the number of its trial, from 1 on.
    """

    platform: str
    title: str
    trials: Sequence[Field]
    counts: Sequence[Field]
    foot: Field
    marks: Sequence[Mark]
    places: Sequence[int]
    printed: bool = False

    @property
    def name(self) -> str:
        """The title without its unit."""
        return self.title.rpartition(" (")[0]

    @property
    def values(self) -> list[float]:
        return [value for value, _ in self.marks]


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for _, cells in by_metric(select(document, spec)):
        for label, group in _points(cells).items():
            if any(cell.value is not None for cell in group):
                yield _of_point(document, spec, label, group)


def _points(cells: Sequence[Row]) -> Mapping[str, Sequence[Row]]:
    names = varying(cell.place for cell in cells)
    return grouped_by(cells, lambda cell: cell.place.words_of(names))


def _of_point(document: Document, spec: ExhibitSpec, label: str, cells: Sequence[Row]) -> Figure:
    first = cells[0]
    place = first.place
    scale = unit_scale((cell.median for cell in cells), first.metric.unit)
    measured = _Measured(document, cells, scale, in_order=spec.rule != "sorted")
    printed = list(_published(document, spec, first, scale))
    listings = [*measured.listings(), *printed]
    name = scale.titled(metric_name(place.metric))
    draw = _over_time if measured.in_order else _strips
    inks = _Inks(document, cells)
    return figure_of(
        spec,
        title=f"All trials of {name}",
        what=(place.probe, place.metric),
        label=label,
        notes=_notes(measured, listings, has_printed=bool(printed)),
        probe=place.probe,
        layer=first.layer,
        drawing=both_widths(draw, inks, listings, sentence_case(name)),
        summary=_summary(listings, name, scale),
        table=_table(listings),
        data=map(_data, trial_dots(document, cells).dots),
    )


def _notes(
    measured: _Measured, listings: Sequence[_Listing], *, has_printed: bool
) -> Iterator[str]:
    if measured.in_order:
        yield "In the order of time."
    else:
        yield "Sorted, as the publication lists them."
    yield from measured.notes()
    if has_printed and measured.in_order:
        yield "Diamonds: published trials, on hardware of their own time."
    elif has_printed:
        yield "Hollow, above: published trials, on hardware of their own time."
    if measured.in_order:
        yield _first_apart(listings)
    else:
        yield "Upright: medians."


def _data(dot: Dot) -> Mapping[str, Any]:
    cell = dot.cell
    return {
        "platform": cell.platform,
        "block": dot.block,
        "trial": dot.trial,
        "metric": cell.place.metric,
        "unit": cell.metric.unit,
        "value": dot.value,
    }


def _first_apart(listings: Sequence[_Listing]) -> str:
    """Compare the first trial of each column with the median of its later trials.

    The first trial may be worse, because TCP and caches start slowly.
    """
    parts = []
    for listing in listings:
        values = [field.order for field in listing.trials if isinstance(field.order, int | float)]
        if len(values) < _FEWEST_TRIALS:
            continue
        later = median(values[1:])
        if later > 0:
            parts.append(f"{listing.name} {plain(values[0] / later)}")
    if not parts:
        return ""
    return f"The first trial over the median of the later ones: {', '.join(parts)}."


def _table(listings: Sequence[_Listing]) -> Table:
    most = max((len(listing.trials) for listing in listings), default=0)

    def filled(fields: Sequence[Field]) -> list[Field]:
        missing = most - len(fields)
        return [*fields, *[Field("")] * missing]

    rows = Rows(range(most))
    rows.number("trial", lambda index: index + 1)
    foot = [Field("median", "")]
    for listing in listings:
        rows.fields(listing.title, filled(listing.trials))
        foot.append(listing.foot)
        if listing.counts:
            rows.fields("retrans", filled(listing.counts), "light")  # as nuttcp prints it
            foot.append(Field(""))
    return rows.table(tuple(foot))


class _Inks:
    """The colour of each platform, and of published platforms that no platform represents."""

    def __init__(self, document: Document, cells: Sequence[Row]) -> None:
        self.looks = looks(document.names)
        self.simulated = {cell.platform for cell in cells if cell.simulated}

    def of(self, name: str) -> dict[str, str]:
        if name in self.looks:
            return self.looks[name].ink(hollow=name in self.simulated)
        return {"colour": colour("soft"), "fill": colour("paper"), "shape": PUBLISHED_SHAPE}

    def of_listing(self, listing: _Listing) -> dict[str, str]:
        ink = self.of(listing.platform)
        if not listing.printed:
            return ink
        return {**ink, "fill": colour("paper"), "shape": PUBLISHED_SHAPE}


def _over_time(inks: _Inks, listings: Sequence[_Listing], title: str, *, narrow: bool) -> Chart:
    """Draw trials by their number, which shows a slow start or a single bad trial."""
    rows: list[Datum] = []
    most = 1
    for listing in listings:
        ink = inks.of_listing(listing)
        series = listing.platform
        if listing.printed:
            series = f"{series}, printed"
        for place, (value, tip) in zip(listing.places, listing.marks, strict=True):
            rows.append(line_mark(place, Estimate(value), series, ink, tip))
            most = max(most, place)
    ticks = log_ticks(row["y"] for row in rows)
    width = _NARROW_PX if narrow else _WIDE_PX
    strip = AxesStrip(title, rows, ticks, _HEIGHT_PX, named=True, width_px=width)
    across = x_axis(_trial_ticks(most), "trial", labels=True, log=False)
    return strip.chart(across, range(1, most))


def _trial_ticks(most: int) -> Ticks:
    """Return a linear axis for trial numbers up to `most`."""
    step = math.ceil(most / _MOST_TICKS)
    numbers = map(float, range(1, most + 1, step))
    return Ticks.labelled((0.5, most + 0.5), numbers, whole)


def _strips(inks: _Inks, listings: Sequence[_Listing], title: str, *, narrow: bool) -> Chart:
    """Draw a row of trials for each platform, without their order in time."""
    rows = []
    for name, group in grouped_by(listings, lambda listing: listing.platform).items():
        measured: list[Mark] = []
        printed: list[Mark] = []
        for listing in group:
            if listing.printed:
                printed += listing.marks
            else:
                measured += listing.marks
        if measured or printed:
            rows.append(StripRow(name, inks.of(name), measured, printed))
    return strip_plot(rows, title, narrow=narrow)


def _summary(listings: Sequence[_Listing], name: str, scale: Scale) -> str:
    parts = []
    for listing in listings:
        values = listing.values
        if not values:
            continue
        title = listing.title
        middle = listing.foot.plain
        if listing.printed:
            # The table has the printed unit, and the marks have the unit of the axis.
            title = scale.titled(listing.name)
            middle = plain(median(values))
        low = plain(min(values))
        high = plain(max(values))
        parts.append(f"{title} {low} to {high}, median {middle}")
    return f"{sentence_case(name)}, single trials: {'; '.join(parts)}."


class _Measured:
    """The trials of the run, sorted by time or by value."""

    def __init__(
        self, document: Document, cells: Sequence[Row], scale: Scale, *, in_order: bool
    ) -> None:
        self.document = document
        self.scale = scale
        self.in_order = in_order
        by_platform = {cell.platform: cell for cell in cells}
        self.cells = [by_platform[name] for name in document.names if name in by_platform]
        self.dots = trial_dots(document, cells, _MOST_ROWS * len(cells))

    def notes(self) -> Iterator[str]:
        """Yield notes on the trials that are left out, and on the number of failed trials."""
        yield self.dots.note.replace("drawn as dots", "listed")
        for cell in self.cells:
            if cell.n_failed:
                yield f"{cell.platform}: {count(cell.n_failed, 'further trial')} failed."

    def listings(self) -> list[_Listing]:
        return [self._listing(cell) for cell in self.cells]

    def _listing(self, cell: Row) -> _Listing:
        scale = self.scale
        dots = self._dots_of(cell)
        marks: list[Mark] = []
        places: list[int] = []
        for place, dot in enumerate(dots, 1):
            if dot.value > 0:
                marks.append(self._mark(dot))
                places.append(place)
        middle = scale.show(cell.median) if cell.value else verdict_word(cell.verdict)
        return _Listing(
            cell.platform,
            scale.titled(cell.platform),
            [Field(scale.show(dot.value), dot.value) for dot in dots],
            self._counts(cell, dots),
            Field(middle, caveats=cell.caveats),
            marks,
            places,
        )

    def _dots_of(self, cell: Row) -> list[Dot]:
        dots = [dot for dot in self.dots.dots if dot.cell.platform == cell.platform]
        if self.in_order:
            return sorted(dots, key=lambda dot: (dot.block, dot.trial))
        return sorted(dots, key=lambda dot: (dot.value, dot.trial))

    def _mark(self, dot: Dot) -> Mark:
        words = f"{self.scale.show(dot.value)} {self.scale.unit}"
        tip = f"{dot.cell.platform}, trial {dot.trial}: {words}"
        return dot.value * self.scale.factor, tip

    def _counts(self, cell: Row, dots: Sequence[Dot]) -> list[Field]:
        """Return the retransmissions in each trial; empty if the probe does not count them."""
        if cell.place.metric == COUNT:
            return []
        place = replace(cell.place, metric=COUNT)
        counts = trial_dots(self.document, [replace(cell, place=place)]).dots
        if not counts:
            return []
        by_trial = {dot.trial: dot.value for dot in counts}
        fields: list[Field] = []
        for dot in dots:
            number = by_trial.get(dot.trial)
            text = "–" if number is None else whole(number)
            fields.append(Field(text, number))
        return fields


def _published(
    document: Document, spec: ExhibitSpec, cell: Row, scale: Scale
) -> Iterator[_Listing]:
    """Yield the published trials of the cell's metric, for the platforms that have a role."""
    cast: dict[str, RoleKeys] = {}
    for role in document.roles.values():
        cast |= dict.fromkeys(role.published, role)
    for study in publications().values():
        for trials in study.trials:
            taken = cast.get(f"{study.id}:{trials.platform}")
            if taken is None or not _measures(study, trials, cell):
                continue
            if not spec.published or f"{study.id}:{trials.part}" in spec.published:
                yield _listed(study, trials, taken, _drawn_factor(trials, cell, scale))


def _measures(study: PublishedStudy, trials: Trials, cell: Row) -> bool:
    benchmark = study.benchmark(trials.benchmark)
    if benchmark is None:
        return False
    metric = benchmark.metrics.get(trials.metric)
    return (benchmark.probe, metric) == (cell.place.probe, cell.place.metric)


def _drawn_factor(trials: Trials, cell: Row, scale: Scale) -> float | None:
    """Return the factor from the printed unit to the axis' unit; None for different quantities."""
    unit, factor = UNITS[trials.unit]
    if unit != cell.metric.unit:
        return None
    return float(factor) * scale.factor


def _listed(
    study: PublishedStudy, trials: Trials, role: RoleKeys, factor: float | None
) -> _Listing:
    source = f"{study.publication.short}, {study.part(trials.part).label}"
    title = role.title or trials.platform
    field = partial(_printed_field, source)
    marks: list[Mark] = []
    if factor is not None:
        for value in trials.values:
            tip = f"published: {value} {trials.unit}; {source}"
            marks.append((float(value) * factor, tip))
    return _Listing(
        role.platform or title,
        f"{title}, published ({trials.unit})",
        list(map(field, trials.values)),
        list(map(field, trials.retransmissions or ())),
        field(f"{median(trials.values):.5g}"),
        marks,
        range(1, len(marks) + 1),
        printed=True,
    )


def _printed_field(source: str, value: object) -> Field:
    text = str(value)
    return Field(text, float(text), tip=f"published: {source}")


EXHIBIT = Exhibit(
    "trials", "all individual trials of a metric, over time or by value, and their table", _figures
)
