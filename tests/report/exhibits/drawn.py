"""Drawing a kind of exhibit, and reading what was drawn."""

from __future__ import annotations

import json
from typing import Any

from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.exhibits.base import find_exhibit
from bareline.vocabulary.exhibit import ExhibitSpec


def figures(document: Document, **spec: Any) -> list[Figure]:
    """Draw a kind of exhibit."""
    wanted = ExhibitSpec(**spec)
    return find_exhibit(wanted.kind).figures(document, wanted)


def rows_of(spec: Any) -> list[dict[str, Any]]:
    """Collect all inline rows of a Vega-Lite specification."""
    if isinstance(spec, dict):
        sets = [spec.get("values"), *spec.get("datasets", {}).values()]
        own = [row for text in sets if isinstance(text, str) for row in json.loads(text)]
        return own + [row for value in spec.values() for row in rows_of(value)]
    if isinstance(spec, list):
        return [row for value in spec for row in rows_of(value)]
    return []
