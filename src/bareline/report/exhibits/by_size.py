"""MPI functions as OSU and IMB print them: a row for each size, a column for each platform."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bareline.analysis.numbers.cell import Cell
from bareline.report.blocks.table import Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import Kind, Shown, grouped_by, select, titled
from bareline.report.figures.scales import Scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying

#: What OSU and IMB print: the unit of each metric that they measure by size.
_SCALES: Mapping[str, Scale] = {"latency": Scale(1e6, "µs"), "bandwidth": Scale(1e-6, "MB/s")}
#: The mean over a plain loop, which they print, beside the median of the slowest rank.
_MEAN = "_loop_mean"
#: What columns of their own say.
_SHOWN = ("size_bytes", "ranks", "nodes")

#: The cells of a place, by platform.
_Row = tuple[Place, Mapping[str, Cell]]


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Give a table per metric that OSU and IMB have, too: of all functions together."""
    for metric, scale in _SCALES.items():
        cells = _cells(document, spec, metric)
        places = grouped_by(cells, lambda cell: cell.place)
        names = {
            probe: [name for name in varying(own) if name not in _SHOWN]
            for probe, own in grouped_by(places, lambda place: place.probe).items()
        }
        titles = {
            place: titled(document, own[0], names[place.probe], metric=False)
            for place, own in places.items()
        }
        means = any(place.metric.endswith(_MEAN) for place in places)
        what = metric_name(metric)
        if cells:
            yield Shown(
                title=f"{sentence_case(what)} by size",
                what=(metric,),
                label=what if spec.title else "",
                notes=[
                    "The mean over a loop, as OSU and IMB print it; the median over launches."
                    if means
                    else "The median over launches of the slowest rank."
                ],
                cells=cells,
                table=_rows(document, places, titles, scale),
                folded=True,
            )


def _rows(
    document: Document,
    places: Mapping[Place, Sequence[Cell]],
    titles: Mapping[Place, str],
    scale: Scale,
) -> Table:
    ordered: Sequence[_Row] = [
        (place, {cell.platform: cell for cell in own})
        for place, own in sorted(places.items(), key=lambda item: _order(item[0], titles))
    ]
    rows = Rows(ordered, lambda row: (titles[row[0]], row[0].layout))
    rows.text("function", lambda row: titles[row[0]])
    if any(place.nodes for place in places):
        rows.number("nodes", lambda row: row[0].nodes or None)
    rows.number("ranks", lambda row: row[0].ranks).number("size (B)", lambda row: row[0].size_bytes)
    there = {cell.platform for own in places.values() for cell in own}
    for name in (name for name in document.names if name in there):
        rows.number(f"{name} ({scale.unit})", _value(name, scale), "{:.2f}".format)
    return rows.table()


def _cells(document: Document, spec: ExhibitSpec, metric: str) -> list[Cell]:
    """Give the cells with a size: the means over loops where all functions have them."""
    found = {
        name: [
            cell
            for cell in select(document, spec.model_copy(update={"metric": name}))
            if cell.place.size_bytes is not None
        ]
        for name in (metric, metric + _MEAN)
    }
    own, means = found.values()
    return (
        means if {cell.place.case for cell in own} == {cell.place.case for cell in means} else own
    )


def _value(name: str, scale: Scale) -> Callable[[_Row], float | None]:
    def value(row: _Row) -> float | None:
        cell = row[1].get(name)
        return None if cell is None or cell.median is None else cell.median * scale.factor

    return value


def _order(place: Place, titles: Mapping[Place, str]) -> tuple[str, tuple[int, int, int], int]:
    return (titles[place], (place.nodes, place.ranks, place.threads), place.size_bytes or 0)


EXHIBIT = Kind(
    "by-size", "MPI functions as OSU and IMB print them: size, and one column a platform", _shown
)
