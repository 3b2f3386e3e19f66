"""The blocks of exhibits under the names that these were written with."""

from __future__ import annotations

from bareline.report.blocks.figure import Figure
from bareline.report.blocks.table import Column, Field, Tone
from bareline.report.blocks.table import Table as DataTable
from bareline.report.figures.grammar import alt

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.ConcatChart

__all__ = ["Chart", "Column", "DataTable", "Field", "Figure", "Tone"]
