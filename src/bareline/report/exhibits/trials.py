"""Every single trial as a number, as the studies print their bandwidth trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from bareline.analysis.cell import Cell
from bareline.published.catalogue import publications
from bareline.published.model import Trials
from bareline.published.quantities import UNITS
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.report.content.wording import count, metric_name, verdict_word
from bareline.report.exhibits.base import Exhibit, by_metric, grouped_by, select
from bareline.report.figures.figure import Field, Figure
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.figures.tables import Rows
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import whole

#: Most rows of a table; beyond, trials are thinned evenly over their order.
MOST_TRIALS = 100
#: What is listed beside the value where the probe counts it.
BESIDE = "retransmissions"


@dataclass(frozen=True, slots=True)
class _Listing:
    """A column of trials, and what else was counted in each; `foot` is the median."""

    title: str
    trials: Sequence[Field]
    beside: Sequence[Field]
    foot: Field


class TrialList(Exhibit):
    """One row per trial in the order of time, or sorted; the median last."""

    kind = "trials"
    summary = "all individual trials of a metric in time order, a column per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per probe, metric and point."""
        return [
            self._table(document, spec, label, own)
            for _, cells in by_metric(select(document, spec))
            for label, own in _points(cells).items()
            if any(cell.value is not None for cell in own)
        ]

    def _table(
        self, document: Document, spec: ExhibitSpec, label: str, cells: Sequence[Cell]
    ) -> Figure:
        place = cells[0].place
        scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
        in_order = spec.rule != "sorted"
        listings, note = _measured(document, cells, scale, in_order=in_order)
        theirs = list(_published(document, spec, cells[0]))
        listings += theirs
        rows = Rows(range(max((len(one.trials) for one in listings), default=0)))
        rows.number("trial", lambda index: index + 1)
        foot = [Field("median", "")]
        for one in listings:
            rows.column(one.title, _at(one.trials))
            foot.append(one.foot)
            if one.beside:
                rows.column(BESIDE, _at(one.beside), "light")
                foot.append(Field(""))
        return self.figure(
            spec,
            place.probe,
            place.metric,
            title=f"All trials of {scale.titled(metric_name(place.metric))}",
            label=label,
            notes=[
                "In the order of time." if in_order else "Sorted, as the publication lists them.",
                note,
                "Published are trials on hardware of their own time." if theirs else "",
            ],
            probe=place.probe,
            layer=cells[0].layer,
            table=rows.table(tuple(foot)),
            data=[
                {"platform": dot.cell.platform, "block": dot.block, "trial": dot.trial,
                 "metric": place.metric, "unit": cells[0].metric.unit, "value": dot.value}
                for dot in trial_dots(document, cells).dots
            ],
        )  # fmt: skip


def _points(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    names = varying(cell.place for cell in cells)
    return grouped_by(cells, lambda cell: cell.place.told(names))


def _at(fields: Sequence[Field]) -> Callable[[int], Field]:
    return lambda index: fields[index] if index < len(fields) else Field("")


def _measured(
    document: Document, cells: Sequence[Cell], scale: Scale, *, in_order: bool
) -> tuple[list[_Listing], str]:
    present = {cell.platform: cell for cell in cells}
    dots = trial_dots(document, cells, MOST_TRIALS * len(cells))
    listings, counts = [], []
    for name in (name for name in document.names if name in present):
        cell = present[name]
        own = [dot for dot in dots.dots if dot.cell.platform == name]
        own.sort(key=lambda dot: (dot.block, dot.trial) if in_order else (dot.value, dot.trial))
        counted = _counted(document, cell)
        middle = scale.show(cell.median) if cell.value else verdict_word(cell.verdict)
        listings.append(
            _Listing(
                f"{name} ({scale.unit})" if scale.unit else name,
                [Field(scale.show(dot.value), dot.value) for dot in own],
                [_count(counted.get(dot.trial)) for dot in own] if counted else (),
                Field(middle, caveats=cell.caveats),
            )
        )
        if cell.n_failed:
            counts.append(f"{name}: {count(cell.n_failed, 'further trial')} failed.")
    note = " ".join(filter(None, [dots.note.replace("drawn as dots", "listed"), *counts]))
    return listings, note


def _counted(document: Document, cell: Cell) -> dict[int, float]:
    """Give what the probe counts beside the value, by trial."""
    if cell.place.metric == BESIDE:
        return {}
    other = replace(cell, place=replace(cell.place, metric=BESIDE))
    return {dot.trial: dot.value for dot in trial_dots(document, [other]).dots}


def _count(value: float | None) -> Field:
    return Field("–") if value is None else Field(whole(value), value)


def _published(document: Document, spec: ExhibitSpec, cell: Cell) -> Iterable[_Listing]:
    """Give the trials that the publication lists for platforms that have somebody here."""
    cast = {name: role for role in document.roles.values() for name in role.published}
    for study in publications().values():
        for trials in study.trials:
            benchmark = study.benchmark(trials.benchmark)
            wanted = not spec.published or f"{study.id}:{trials.part}" in spec.published
            if (
                wanted
                and f"{study.id}:{trials.platform}" in cast
                and benchmark is not None
                and (benchmark.probe, benchmark.metrics.get(trials.metric))
                == (cell.place.probe, cell.place.metric)
            ):
                role = cast[f"{study.id}:{trials.platform}"]
                short, label = study.publication.short, study.part(trials.part).label
                yield _listed(trials, role.title or trials.platform, f"{short}, {label}")


def _listed(trials: Trials, title: str, source: str) -> _Listing:
    def shown(value: object) -> Field:
        return Field(str(value), float(str(value)), tip=f"published: {source}")

    assert trials.unit in UNITS
    return _Listing(
        f"{title}, published ({trials.unit})",
        [shown(value) for value in trials.values],
        [shown(value) for value in trials.retransmissions or ()],
        shown(f"{median(trials.values):.5g}"),
    )


EXHIBIT = TrialList()
