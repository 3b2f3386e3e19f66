"""A drawing: what of a figure is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
