"""Rows that ``--json`` prints: a class declares their columns next to the code that makes them.

Types are JSON's: null means that a number does not exist. Columns are added, never renamed
(docs/reference/stability.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from typing_extensions import TypedDict

_Row = TypeVar("_Row")
Params = dict[str, bool | int | float | str]


def open_row(columns: type[_Row]) -> type[_Row]:
    """Declare that rows have columns which are not listed."""
    columns.__pydantic_config__ = {"extra": "allow"}  # type: ignore[attr-defined]
    return columns


class Bounds(TypedDict):
    """A ratio with its 95 % interval; more than 1 is worse than the baseline."""

    ratio: float | None
    lo: float | None
    hi: float | None


def row_of(columns: type[_Row], found: object, **given: Any) -> _Row:
    """Return each column of a ``TypedDict`` as given, or else the attribute of its name."""
    return _picked(columns.__annotations__, found, given)  # type: ignore[return-value]


def printed_row(columns: type, found: object, **given: Any) -> dict[str, Any]:
    """Return each field of a dataclass as given, or else the attribute of its name."""
    return _picked((field.name for field in fields(columns)), found, given)


def _picked(names: Iterable[str], source: object, given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] if name in given else getattr(source, name) for name in names}
