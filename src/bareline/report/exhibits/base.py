"""What an exhibit is, and how kinds of exhibits are found.

A kind of exhibit is one module of this package that ends in ``EXHIBIT = ...``.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, ClassVar, Literal, TypeVar

import altair as alt

from bareline.errors import AnalysisError, did_you_mean
from bareline.model import Scalar
from bareline.report.cells import Cell
from bareline.report.document import Document, ExhibitSpec

Tone = Literal["", "worse", "better", "muted"]
Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.ConcatChart
Channel = TypeVar("Channel", alt.Fill, alt.Stroke, alt.Shape)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; the unit stands in the head.

    Attributes
    ----------
    kind
        "number" aligns right, "light" too and in lighter ink (intervals), "text" aligns left.
    """

    title: str
    kind: Literal["number", "light", "text"] = "number"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a table.

    Attributes
    ----------
    text
        What is shown.
    order
        What the column is sorted by; the text itself without it.
    tone
        Ink of a ratio whose verdict is not "equivalent" or "inconclusive".
    caveats
        Codes that become footnote marks.
    platform
        Name of the platform whose mark stands before the text.
    """

    text: str
    order: float | str | None = None
    tone: Tone = ""
    caveats: tuple[str, ...] = ()
    platform: str = ""


@dataclass(frozen=True, slots=True)
class DataTable:
    """The numbers of a figure as rows.

    Attributes
    ----------
    starts
        Rows that begin a group.
    foot
        A last row that sorting leaves in its place.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Field, ...], ...]
    starts: frozenset[int] = frozenset()
    foot: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure or table of the page.

    Attributes
    ----------
    id
        Unique on the page; also the name of the figure's files.
    probe, layer
        Where it belongs; empty for the whole page.
    panels
        The drawing, in pieces that the page may put beside each other; none for a table.
    narrow
        The drawing for screens of less than 40 em; `panels` serve both without it.
    wide
        Whether the figure takes the whole width rather than half of it.
    text_summary
        What the figure shows, for whoever cannot see it.
    caveats
        What must be known of the values, in words: stands under the drawing where it is a file
        of its own. On the page the table says it.
    """

    id: str
    title: str
    caption: str = ""
    probe: str = ""
    layer: str = ""
    panels: tuple[Chart, ...] = ()
    narrow: tuple[Chart, ...] = ()
    wide: bool = False
    text_summary: str = ""
    caveats: tuple[str, ...] = ()
    data_table: DataTable | None = None

    @property
    def chart(self) -> Chart | None:
        """The whole drawing as one specification with its title, two panels to a row."""
        if not self.panels:
            return None
        title = f"{self.probe}: {self.title}" if self.probe else self.title
        return alt.concat(*self.panels, columns=2, spacing=24).properties(
            title=alt.Title(title, fontSize=13, offset=14)
        )


class Exhibit(ABC):
    """A kind of figure or table.

    Attributes
    ----------
    kind
        Its name in a study's ``[[exhibit]]``.
    summary
        One line for the reference.
    """

    kind: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw what the specification asks for; an empty list when the run holds none of it."""


@cache
def load_exhibits() -> dict[str, Exhibit]:
    """Find every kind of exhibit, by name."""
    import bareline.report.exhibits as package

    found: dict[str, Exhibit] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        exhibit = getattr(importlib.import_module(module.name), "EXHIBIT", None)
        if isinstance(exhibit, Exhibit):
            found[exhibit.kind] = exhibit
    return found


def find_exhibit(kind: str) -> Exhibit:
    """Give the kind of exhibit of this name.

    Raises
    ------
    AnalysisError
        There is none; the message names the closest.
    """
    exhibits = load_exhibits()
    if kind in exhibits:
        return exhibits[kind]
    hint = did_you_mean(kind, exhibits, f"the kinds are: {', '.join(exhibits)}")
    raise AnalysisError(f"no exhibit is of kind '{kind}'", where="[[exhibit]]", hint=hint)


def select(document: Document, spec: ExhibitSpec) -> list[Cell]:
    """Give the cells that a specification asks for.

    Without a metric that is every metric that is not a detail.
    """
    return [
        cell
        for cell in document.cells
        if (spec.probe is None or fnmatchcase(cell.probe, spec.probe))
        and (cell.metric == spec.metric if spec.metric else not cell.detail)
        and all(_matches(cell, name, wanted) for name, wanted in spec.where.items())
    ]


def _matches(cell: Cell, name: str, wanted: Scalar | Sequence[Scalar]) -> bool:
    value = cell.platform if name == "platform" else cell.coordinates.get(name)
    if isinstance(wanted, str | int | float):
        return value == wanted
    return value in wanted


def by_metric(cells: Sequence[Cell]) -> Iterator[tuple[tuple[str, str], list[Cell]]]:
    """Group cells by probe and metric, in the order in which they come."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.probe, cell.metric), []).append(cell)
    yield from groups.items()


def inline(rows: Sequence[Mapping[str, Any]]) -> alt.InlineData:
    """Hand rows to a chart as one text, which it neither copies nor checks value by value."""
    return alt.InlineData(values=json.dumps(list(rows)), format=alt.JsonDataFormat(type="json"))


def raw(channel: type[Channel], field: str) -> Channel:
    """Take a field's value as the colour or shape itself, without scale or legend."""
    return channel(field=field, type="nominal", scale=None, legend=None)


def tip() -> alt.Description:
    """Take the text of the field "tip" as what the page's tooltip says."""
    return alt.Description(field="tip", type="nominal")


def heading(text: str, width_px: float) -> alt.Title:
    """Write what the vertical axis shows above it, where it can be read without turning."""
    return alt.Title(text, fontWeight="normal", fontSize=11.5, limit=width_px, offset=6)
