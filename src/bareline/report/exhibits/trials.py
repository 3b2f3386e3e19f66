"""Every single trial, drawn and as a number, as the studies print their bandwidth trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import median

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import publications
from bareline.published.model import Trials
from bareline.published.quantities import UNITS
from bareline.report.blocks import Field, Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.report.content.wording import metric_name, sentence_case, verdict_word
from bareline.report.exhibits.base import Draft, ExhibitKind, by_metric, grouped_by, select
from bareline.report.figures.grammar import Chart, both_widths
from bareline.report.figures.rows import Mark, StripRow, strip_plot
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.figures.theme import PUBLISHED_SHAPE, colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count, plain, whole

#: What is listed beside the value where the probe counts it.
COUNT = "retransmissions"
#: Of fewer trials the first is not set apart from the later ones.
_FEWEST_TRIALS = 4


@dataclass(frozen=True, slots=True)
class _Listing:
    """A column of trials: what else was counted, their median, and their marks in a row's unit."""

    platform: str
    title: str
    trials: Sequence[Field]
    counts: Sequence[Field]
    foot: Field
    marks: Sequence[Mark]
    printed: bool = False


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    for _, cells in by_metric(select(document, spec)):
        names = varying(cell.place for cell in cells)
        points = [(cell.place.words_of(names), cell) for cell in cells]
        for label, group in grouped_by(points, itemgetter(0)).items():
            own = [cell for _, cell in group]
            if any(cell.value is not None for cell in own):
                yield _of_point(document, spec, label, own)


def _of_point(document: Document, spec: ExhibitSpec, label: str, cells: Sequence[Row]) -> Draft:
    place = cells[0].place
    scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
    in_order = spec.rule != "sorted"
    listings, note = _measured(document, cells, scale, in_order=in_order)
    theirs = list(_published(document, spec, cells[0], scale))
    listings += theirs
    what = scale.titled(metric_name(place.metric))
    return Draft(
        title=f"All trials of {what}",
        what=(place.probe, place.metric),
        label=label,
        notes=[
            "In the order of time." if in_order else "Sorted, as the publication lists them.",
            note,
            "Hollow, above: published trials, on hardware of their own time." if theirs else "",
            "Upright: medians.",
            _first_apart(listings) if in_order else "",
        ],
        probe=place.probe,
        layer=cells[0].layer,
        drawing=both_widths(_strips, document, listings, cells, sentence_case(what)),
        summary=_summary(listings, what),
        table=_table(listings),
        data=[
            {"platform": dot.cell.platform, "block": dot.block, "trial": dot.trial,
             "metric": place.metric, "unit": cells[0].metric.unit, "value": dot.value}
            for dot in trial_dots(document, cells).dots
        ],
    )  # fmt: skip


def _first_apart(listings: Sequence[_Listing]) -> str:
    """Compare each first trial with the median of the later ones: TCP and caches start slowly."""
    parts = []
    for listing in listings:
        values = [field.order for field in listing.trials if isinstance(field.order, int | float)]
        later = median(values[1:]) if len(values) >= _FEWEST_TRIALS else 0.0
        if later > 0:
            name = listing.title.rpartition(" (")[0]  # a ratio has no unit
            parts.append(f"{name} {plain(values[0] / later)}")
    return (
        f"The first trial over the median of the later ones: {', '.join(parts)}." if parts else ""
    )


def _table(listings: Sequence[_Listing]) -> Table:
    def at(fields: Sequence[Field]) -> Callable[[int], Field]:
        return lambda index: fields[index] if index < len(fields) else Field("")

    rows = Rows(range(max((len(one.trials) for one in listings), default=0)))
    rows.number("trial", lambda index: index + 1)
    foot = [Field("median", "")]
    for one in listings:
        rows.column(one.title, at(one.trials))
        foot.append(one.foot)
        if one.counts:
            rows.column("retrans", at(one.counts), "light")  # as nuttcp prints it
            foot.append(Field(""))
    return rows.table(tuple(foot))


def _strips(
    document: Document, listings: Sequence[_Listing], cells: Sequence[Row], title: str, *,
    narrow: bool,
) -> Chart:  # fmt: skip
    styles, simulated = looks(document.names), {c.platform for c in cells if c.simulated}
    rows = []
    for name, every in grouped_by(listings, lambda one: one.platform).items():
        # A role that nobody took has the ink of no platform.
        ink = {"colour": colour("soft"), "fill": colour("paper"), "shape": PUBLISHED_SHAPE}
        if name in styles:
            ink = styles[name].ink(hollow=name in simulated)
        own, printed = (
            [mark for one in every if one.printed is side for mark in one.marks]
            for side in (False, True)
        )
        if own or printed:
            rows.append(StripRow(name, ink, own, printed))
    return strip_plot(rows, title, narrow=narrow)


def _summary(listings: Sequence[_Listing], what: str) -> str:
    parts = [
        f"{one.title} {plain(min(values))} to {plain(max(values))}, median {one.foot.text}"
        for one in listings
        if (values := [value for value, _ in one.marks])
    ]
    return f"{sentence_case(what)}, single trials: {'; '.join(parts)}."


def _measured(
    document: Document, cells: Sequence[Row], scale: Scale, *, in_order: bool
) -> tuple[list[_Listing], str]:
    present = {cell.platform: cell for cell in cells}
    # At most 100 rows of a table; beyond, trials are thinned evenly over their order.
    dots = trial_dots(document, cells, 100 * len(cells))
    listings, notes = [], [dots.note.replace("drawn as dots", "listed")]
    for name in (name for name in document.names if name in present):
        cell = present[name]
        own = [dot for dot in dots.dots if dot.cell.platform == name]
        own.sort(key=lambda dot: (dot.block, dot.trial) if in_order else (dot.value, dot.trial))
        counted: dict[int, float] = {}
        if cell.place.metric != COUNT:
            other = replace(cell, place=replace(cell.place, metric=COUNT))
            counted = {dot.trial: dot.value for dot in trial_dots(document, [other]).dots}
        counts = [counted.get(dot.trial) for dot in own] if counted else []
        middle = scale.show(cell.median) if cell.value else verdict_word(cell.verdict)
        shown = [(dot, f"{scale.show(dot.value)} {scale.unit}") for dot in own if dot.value > 0]
        listings.append(
            _Listing(
                name,
                scale.titled(name),
                [Field(scale.show(dot.value), dot.value) for dot in own],
                [Field("–" if one is None else whole(one), one) for one in counts],
                Field(middle, caveats=cell.caveats),
                [
                    (dot.value * scale.factor, f"{name}, trial {dot.trial}: {words}")
                    for dot, words in shown
                ],
            )
        )
        if cell.n_failed:
            notes.append(f"{name}: {count(cell.n_failed, 'further trial')} failed.")
    return listings, " ".join(filter(None, notes))


def _published(
    document: Document, spec: ExhibitSpec, cell: Row, scale: Scale
) -> Iterator[_Listing]:
    cast = {name: role for role in document.roles.values() for name in role.published}
    here = (cell.place.probe, cell.place.metric)
    for study in publications().values():
        for trials in study.trials:
            benchmark = study.benchmark(trials.benchmark)
            role = cast.get(f"{study.id}:{trials.platform}")
            wanted = not spec.published or f"{study.id}:{trials.part}" in spec.published
            if role is None or benchmark is None or not wanted:
                continue
            if (benchmark.probe, benchmark.metrics.get(trials.metric)) != here:
                continue
            title, (unit, factor) = role.title or trials.platform, UNITS[trials.unit]
            source = f"{study.publication.short}, {study.part(trials.part).label}"
            # Bits and bytes are not laid beside each other.
            drawn = float(factor) * scale.factor if unit == cell.metric.unit else None
            yield _listed(trials, role.platform or title, title, source, drawn)


def _listed(
    trials: Trials, platform: str, title: str, source: str, factor: float | None
) -> _Listing:
    def shown(value: object) -> Field:
        return Field(str(value), float(str(value)), tip=f"published: {source}")

    return _Listing(
        platform,
        f"{title}, published ({trials.unit})",
        [shown(value) for value in trials.values],
        [shown(value) for value in trials.retransmissions or ()],
        shown(f"{median(trials.values):.5g}"),
        [
            (float(value) * factor, f"published: {value} {trials.unit}; {source}")
            for value in trials.values
            if factor is not None
        ],
        printed=True,
    )


EXHIBIT = ExhibitKind(
    "trials", "all individual trials of a metric: a strip, and a table in time order", _shown
)
