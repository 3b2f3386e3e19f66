"""Computation and communication of a program stacked to its time, one bar per platform."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bareline.analysis.cell import Cell
from bareline.report.content.document import Document
from bareline.report.content.wording import summed_up, told_apart
from bareline.report.exhibits.barpanel import Bars, Group
from bareline.report.exhibits.base import Exhibit, grouped_by, select
from bareline.report.exhibits.columns import cells_table
from bareline.report.figures.figure import Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying

#: What the parts add up to, up to the ranks' different ends.
TOTAL = "time"
#: Metrics from the axis outwards, with their names and how strongly they are filled.
PARTS = (("compute_mean", "computation", 0.62), ("communication_mean", "communication", 0.22))
_LEGEND = (
    "Dark: computation; light: communication, waiting included (means over the ranks, which add "
    "up to the time). The line across is the median time, the dots are the trials."
)

#: The parts of each platform's total, in the order of `PARTS`.
_Parts = Mapping[tuple[str, Place], Sequence[float]]


class Stacked(Exhibit):
    """One bar per platform and parameters, divided into computation and communication."""

    kind = "stacked"
    summary = "computation and communication stacked to the time, one bar per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure for all probes of a layer that tell their parts."""
        metrics = (TOTAL, *(metric for metric, *_ in PARTS))
        cells = [
            cell
            for metric in metrics
            for cell in select(document, spec.model_copy(update={"metric": metric}))
        ]
        divided = {place.probe for _, place in _parts_of(cells)}
        cells = [cell for cell in cells if cell.place.probe in divided]
        layers = grouped_by(cells, lambda cell: cell.layer)
        return [self._bars(document, spec, own) for own in layers.values()]

    def _bars(self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
        parts = _parts_of(cells)
        totals = [cell for cell in cells if cell.place.metric == TOTAL]
        bars = _Bars.around(document, totals, others=map(sum, parts.values()))
        bars = replace(bars, divided=parts, groups=_groups(document, totals))
        places = {cell.place for cell in totals}
        shown = [
            cell
            for cell in document.cells
            if replace(cell.place, metric=TOTAL) in places
            and cell.place.metric in (TOTAL, *(metric for metric, *_ in PARTS))
        ]
        probes = list(dict.fromkeys(cell.place.probe for cell in cells))
        what = probes[0] if len(probes) == 1 else spec.probe or cells[0].layer
        return self.figure(
            spec,
            what,
            title="Computation and communication",
            notes=[_LEGEND, *bars.notes],
            cells=shown,
            probe=probes[0] if len(probes) == 1 else "",
            panels=bars.panels(),
            summary=f"{what}, median times. {_summary(bars)}",
            table=cells_table(shown),
        )


def _groups(document: Document, totals: Sequence[Cell]) -> list[Group]:
    """Put together what is compared: of several probes all on the fewest ranks first."""
    probes = list(dict.fromkeys(cell.place.probe for cell in totals))
    titles = [document.probe_titles.get(probe, probe) for probe in probes]
    shorts = dict(zip(probes, told_apart(titles), strict=True)) if len(probes) > 1 else {}
    names = varying(cell.place for cell in totals)

    def label(cell: Cell) -> str:
        own = shorts.get(cell.place.probe, "")
        return ", ".join(filter(None, [own, cell.place.told(names)]))

    ordered = sorted(totals, key=lambda cell: cell.place.ranks) if shorts else totals
    return list(grouped_by(ordered, label).items())


def _parts_of(cells: Iterable[Cell]) -> _Parts:
    """Give the parts of the totals of which all are known."""
    known = {(cell.platform, cell.place): cell.median for cell in cells}
    found = {}
    for platform, place in known:
        if place.metric == TOTAL:
            own = [known.get((platform, replace(place, metric=metric))) for metric, *_ in PARTS]
            values = [value for value in own if value is not None]
            if len(values) == len(PARTS):
                found[platform, place] = values
    return found


@dataclass(frozen=True, slots=True)
class _Bars(Bars):
    """Bars that are divided into parts."""

    divided: _Parts = field(default_factory=dict)

    @property
    def shown(self) -> Sequence[str]:
        """Only who was asked: the study may give programs to some roles alone."""
        asked = {cell.platform for _, cells in self.groups for cell in cells}
        return [name for name in self.document.names if name in asked]

    def parts(self, cell: Cell) -> Sequence[tuple[float, float]]:
        """Give each part with how strongly it is filled."""
        own = self.divided.get((cell.platform, cell.place), ())
        return [(value, strength) for value, (_, _, strength) in zip(own, PARTS, strict=False)]

    def tip(self, cell: Cell) -> str:
        """Tell the parts, too."""
        own = self.divided.get((cell.platform, cell.place), ())
        named = zip(own, PARTS, strict=False)
        told = [f"{part} {self.scale.show(v)} {self.scale.unit}" for v, (_, part, _) in named]
        return "; ".join([Bars.tip(self, cell), *told])


def _summary(bars: _Bars) -> str:
    def told(cell: Cell) -> str:
        split = bars.divided[cell.platform, cell.place]
        share = 100 * split[-1] / sum(split) if sum(split) else 0.0
        value = f"{bars.scale.show(cell.median)} {bars.scale.unit}"
        return f"{cell.platform} {value}, {share:.0f} % of it communication"

    return summed_up(
        {
            label: [told(cell) for cell in cells if (cell.platform, cell.place) in bars.divided]
            for label, cells in bars.groups
        }
    )


EXHIBIT = Stacked()
