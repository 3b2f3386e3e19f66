"""What each step of a ladder brings, as a cloud's network tests are usually told.

One row per platform in the order of the steps: its value, and how many times better it is than
the step before and than the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from bareline.analysis.cell import Cell, Estimate, read_cells
from bareline.report.content.document import Document
from bareline.report.content.wording import metric_name, verdict_word
from bareline.report.exhibits.base import Exhibit, grouped_by, select
from bareline.report.exhibits.columns import CellRows, tone_of
from bareline.report.figures.figure import Field, Figure
from bareline.report.figures.scales import unit_scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import plain

#: Comparisons by platform and place.
_Lookup = Mapping[tuple[str, Place], Cell]


class Steps(Exhibit):
    """Improvement factors: above 1 is better, whatever the metric's direction."""

    kind = "steps"
    summary = "one row per platform: its value, and the improvement over the step before"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per probe, metric and point; none unless the study is a ladder."""
        compared = document.comparison
        if not compared.is_ladder:
            return []
        cells = [cell for cell in select(document, spec) if cell.metric.better != "none"]
        names = varying(cell.place for cell in cells)
        before, first = _lookup(compared.from_before), _lookup(compared.from_first)
        drawn = []
        for place, own in grouped_by(cells, lambda cell: cell.place).items():
            metric = metric_name(place.metric)
            scale = unit_scale((cell.median for cell in own), own[0].metric.unit)
            rows = (
                CellRows(sorted(own, key=_rung(document)), lambda cell: cell)
                .platforms()
                .median(f"median {metric}", scale)
                .launches()
            )
            for title, steps in (("× the step before", before), ("× the first step", first)):
                rows.column(title, _improved(steps)).interval(_improvement(steps))
            drawn.append(
                self.figure(
                    spec,
                    place.probe,
                    place.metric,
                    title=f"{metric}, step by step",
                    label=place.told(names),
                    notes=[
                        ""
                        if spec.caption
                        else "An improvement above 1 is better than the step it refers to."
                    ],
                    cells=own,
                    probe=place.probe,
                    table=rows.table(),
                )
            )
        return drawn


def _lookup(comparison: pl.DataFrame) -> _Lookup:
    return {(cell.platform, cell.place): cell for cell in read_cells(None, comparison)}


def _rung(document: Document) -> Callable[[Cell], int]:
    """Order cells as the steps are: the baseline is the last one."""
    rungs = document.comparison.rungs
    return lambda cell: rungs.index(cell.platform)


def _improvement(steps: _Lookup) -> Callable[[Cell], Estimate | None]:
    """Give the comparison of a cell the other way round: how many times better."""

    def better(cell: Cell) -> Estimate | None:
        step = steps.get((cell.platform, cell.place))
        ratio = step.ratio if step else None
        return ratio.inverse() if ratio and ratio.value else None

    return better


def _improved(steps: _Lookup) -> Callable[[Cell], Field]:
    better = _improvement(steps)

    def field(cell: Cell) -> Field:
        step, factor = steps.get((cell.platform, cell.place)), better(cell)
        if factor is None:
            return Field(verdict_word(step.verdict) if step else "", tone="muted")
        return Field(
            plain(factor.value), factor.value, tone=tone_of(step.verdict if step else None)
        )

    return field


EXHIBIT = Steps()
