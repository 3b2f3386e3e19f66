"""What the tests of exhibits share: drawing a kind, and reading what was drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bareline.report.content.document import Document
from bareline.report.exhibits.base import find_exhibit
from bareline.report.figures.figure import Figure
from bareline.store.header import ExhibitSpec


def _rows(spec: Any) -> list[dict[str, Any]]:
    if isinstance(spec, dict):
        sets = [spec.get("values"), *spec.get("datasets", {}).values()]
        own = [row for text in sets if isinstance(text, str) for row in json.loads(text)]
        return own + [row for value in spec.values() for row in _rows(value)]
    if isinstance(spec, list):
        return [row for value in spec for row in _rows(value)]
    return []


@pytest.fixture(scope="session")
def figures() -> Callable[..., list[Figure]]:
    """Give a function that draws a kind of exhibit."""

    def draw(document: Document, **spec: Any) -> list[Figure]:
        wanted = ExhibitSpec(**spec)
        return find_exhibit(wanted.kind).figures(document, wanted)

    return draw


@pytest.fixture(scope="session")
def rows_of() -> Callable[[Figure], list[dict[str, Any]]]:
    """Give a function that collects every row that a figure's drawing holds."""
    return lambda figure: _rows([panel.to_dict(validate=False) for panel in figure.panels])
