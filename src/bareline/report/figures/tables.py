"""Tables that are written column by column: a head, and its field of every row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Literal, Self, TypeVar

from bareline.analysis.amounts import between
from bareline.analysis.cell import Estimate
from bareline.report.figures.figure import Column, DataTable, Field, Tone
from bareline.vocabulary.units import plain, whole

R = TypeVar("R")
Kind = Literal["number", "light", "text"]


class Rows(Generic[R]):
    """A table of some rows, to which columns are added one after the other.

    Parameters
    ----------
    group
        What rows that stand together share; all of them without it.
    """

    def __init__(self, rows: Iterable[R], group: Callable[[R], object] | None = None) -> None:
        self.rows = list(rows)
        self._group = group
        self._columns: list[Column] = []
        self._fields: list[list[Field]] = []

    def column(self, title: str, field: Callable[[R], Field], kind: Kind = "number") -> Self:
        """Add a column of fields."""
        self._columns.append(Column(title, kind))
        self._fields.append([field(row) for row in self.rows])
        return self

    def text(self, title: str, told: Callable[[R], str], *, wrap: bool = False) -> Self:
        """Add a column of words."""
        return self.column(title, lambda row: Field(told(row), wrap=wrap), "text")

    def platform(self, name: Callable[[R], str], title: str = "platform") -> Self:
        """Add a column of platforms, each with its mark."""
        return self.column(title, lambda row: Field(name(row), platform=name(row)), "text")

    def number(
        self,
        title: str,
        value: Callable[[R], float | None],
        write: Callable[[float], str] = whole,
        *,
        kind: Kind = "number",
        absent: str = "–",
        tone: Callable[[R], Tone] | None = None,
    ) -> Self:
        """Add a column of figures; `absent` stands where there is none."""

        def field(row: R) -> Field:
            own = value(row)
            text = absent if own is None else write(own)
            return Field(text, own, tone=tone(row) if tone else "")

        return self.column(title, field, kind)

    def interval(
        self,
        held: Callable[[R], Estimate | None],
        write: Callable[[float], str] = plain,
        *,
        title: str = "95 %",
    ) -> Self:
        """Add a column of intervals, in lighter ink."""

        def field(row: R) -> Field:
            own = held(row)
            return Field(between(own, write), own.lo if own else None)

        return self.column(title, field, "light")

    def table(self, foot: tuple[Field, ...] = ()) -> DataTable:
        """Give the table."""
        keys = [self._group(row) if self._group else None for row in self.rows]
        starts = (i for i in range(1, len(keys)) if keys[i] != keys[i - 1])
        rows = zip(*self._fields, strict=True)
        return DataTable(tuple(self._columns), tuple(rows), frozenset(starts), foot)
