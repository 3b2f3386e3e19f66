"""A drawing, and the blocks of exhibits under the names that these were written with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bareline.report.blocks.figure import Figure
from bareline.report.blocks.table import Column, Field, Tone
from bareline.report.blocks.table import Table as DataTable
from bareline.report.figures.grammar import alt

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.ConcatChart


@dataclass(frozen=True, slots=True)
class Drawing:
    """The drawing of a figure, in the fields of `Figure` of the same names."""

    panels: Iterable[Chart] = ()
    names: Iterable[str] = ()
    large: int | None = None
    narrow: Iterable[Chart] = ()
    wide: bool = True


NO_DRAWING = Drawing()

__all__ = ["NO_DRAWING", "Chart", "Column", "DataTable", "Drawing", "Field", "Figure", "Tone"]
