"""Rows that ``--json`` prints: a class declares their columns next to the code that makes them.

A row that is only printed is a ``TypedDict``, filled by `row_of`. A frozen dataclass that the
program also uses is printed without such a row, if all its fields are columns.

Types are JSON's: null means that a number does not exist. Columns are added, never renamed
(docs/reference/stability.md).
"""

from __future__ import annotations

from typing import Any, TypeVar

from typing_extensions import TypedDict

_Row = TypeVar("_Row")
Params = dict[str, bool | int | float | str]


def open_row(columns: type[_Row]) -> type[_Row]:
    """Declare that rows may have columns which the class does not list."""
    columns.__pydantic_config__ = {"extra": "allow"}  # type: ignore[attr-defined]
    return columns


class Bounds(TypedDict):
    """A ratio with its 95 % interval; more than 1 is worse than the baseline."""

    ratio: float | None
    lo: float | None
    hi: float | None


def row_of(columns: type[_Row], source: object, **given: Any) -> _Row:
    """Return a row; a column that is not in `given` is read from an attribute of `source`."""
    row: dict[str, Any] = {}
    for name in columns.__annotations__:
        row[name] = given[name] if name in given else getattr(source, name)
    return row  # type: ignore[return-value]
