"""What the tests of exhibits share: drawing a kind, and reading what was drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bareline.report.blocks import Figure

from . import drawn


@pytest.fixture(scope="session")
def figures() -> Callable[..., list[Figure]]:
    """Return a function that draws a kind of exhibit."""
    return drawn.figures


@pytest.fixture(scope="session")
def rows_of() -> Callable[[Figure], list[dict[str, Any]]]:
    """Return a function that collects every row that a figure's drawing holds."""
    return lambda figure: drawn.rows_of(figure.panels)
