"""Every single trial as a number, as the studies print their bandwidth trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.cell import Cell
from bareline.published.catalogue import publications
from bareline.published.model import Trials
from bareline.published.quantities import UNITS
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.report.content.wording import count, metric_name, verdict_word
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.report.figures.scales import Scale, unit_scale
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

    @property
    def columns(self) -> tuple[Column, ...]:
        return (Column(self.title), *((Column(BESIDE, "light"),) if self.beside else ()))

    def fields(self, index: int) -> tuple[Field, ...]:
        return tuple(
            fields[index] if index < len(fields) else Field("")
            for fields in (self.trials, *([self.beside] if self.beside else []))
        )


class TrialList(Exhibit):
    """One row per trial in the order of time, or sorted; the median last."""

    kind = "trials"
    summary = "all individual trials of a metric in time order, a column per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per probe, metric and point."""
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in select(document, spec):
            groups.setdefault((cell.place.probe, cell.place.metric), []).append(cell)
        drawn = []
        for cells in groups.values():
            names = varying(cell.place for cell in cells)
            points: dict[str, list[Cell]] = {}
            for cell in cells:
                points.setdefault(cell.place.told(names), []).append(cell)
            drawn += [
                _figure(document, spec, label, own)
                for label, own in points.items()
                if any(cell.value is not None for cell in own)
            ]
        return drawn


def _figure(document: Document, spec: ExhibitSpec, label: str, cells: Sequence[Cell]) -> Figure:
    scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
    in_order = spec.rule != "sorted"
    listings, note = _measured(document, cells, scale, in_order=in_order)
    theirs = list(_published(document, spec, cells[0]))
    listings += theirs
    rows = tuple(
        (Field(str(index + 1), index + 1), *(f for one in listings for f in one.fields(index)))
        for index in range(max((len(one.trials) for one in listings), default=0))
    )
    foot = [Field("median", "")]
    for one in listings:
        foot += [one.foot, *([Field("")] if one.beside else [])]
    title = spec.title or f"All trials of {scale.titled(metric_name(cells[0].place.metric))}"
    order = "In the order of time." if in_order else "Sorted, as the publication lists them."
    told = "Published are trials on hardware of their own time." if theirs else ""
    return Figure(
        id=slug("trials", cells[0].place.probe, cells[0].place.metric, label, spec.title),
        title=f"{title}, {label}" if label else title,
        caption=" ".join(filter(None, [spec.caption, order, note, told])),
        probe=cells[0].place.probe,
        layer=cells[0].layer,
        wide=True,
        data_table=DataTable(
            (Column("trial"), *(column for one in listings for column in one.columns)),
            rows,
            foot=tuple(foot),
        ),
        data=tuple(
            {"platform": dot.cell.platform, "block": dot.block, "trial": dot.trial,
             "metric": dot.cell.place.metric, "unit": dot.cell.metric.unit, "value": dot.value}
            for dot in trial_dots(document, cells, 1_000_000_000).dots
        ),
    )  # fmt: skip


def _measured(
    document: Document, cells: Sequence[Cell], scale: Scale, *, in_order: bool
) -> tuple[list[_Listing], str]:
    present = {cell.platform: cell for cell in cells}
    names = [name for name in document.names if name in present]
    dots = trial_dots(document, cells, MOST_TRIALS * len(cells))
    listings, counts = [], []
    for name in names:
        cell = present[name]
        own = [dot for dot in dots.dots if dot.cell.platform == name]
        own.sort(key=lambda dot: (dot.block, dot.trial) if in_order else (dot.value, dot.trial))
        counted = _counted(document, cell)
        listings.append(
            _Listing(
                f"{name} ({scale.unit})" if scale.unit else name,
                [Field(scale.show(dot.value), dot.value) for dot in own],
                [_count(counted.get(dot.trial)) for dot in own] if counted else (),
                Field(
                    scale.show(cell.median) if cell.value else verdict_word(cell.verdict),
                    caveats=cell.caveats,
                ),
            )
        )  # fmt: skip
        if cell.n_failed:
            counts.append(f"{name}: {count(cell.n_failed, 'further trial')} failed")
    note = ". ".join(filter(None, [dots.note.replace("drawn as dots", "listed"), *counts]))
    return listings, note


def _counted(document: Document, cell: Cell) -> dict[int, float]:
    """Give what the probe counts beside the value, by trial."""
    other = replace(cell, place=replace(cell.place, metric=BESIDE))
    found = trial_dots(document, [other], 1_000_000_000).dots if cell.place.metric != BESIDE else ()
    return {dot.trial: dot.value for dot in found}


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

    middle = sorted(trials.values)
    half = len(middle) // 2
    median = middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
    assert trials.unit in UNITS
    return _Listing(
        f"{title}, published ({trials.unit})",
        [shown(value) for value in trials.values],
        [shown(value) for value in trials.retransmissions or ()],
        shown(f"{median:.5g}"),
    )


EXHIBIT = TrialList()
