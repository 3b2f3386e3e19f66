"""Drawing a kind of exhibit, and reading what was drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.exhibits.base import find_exhibit
from bareline.vocabulary.exhibit import ExhibitSpec


def figures(document: Document, **spec: Any) -> list[Figure]:
    """Draw a kind of exhibit."""
    wanted = ExhibitSpec(**spec)
    return find_exhibit(wanted.kind).figures(document, wanted)


def sets_of(spec: Any) -> Iterator[Sequence[dict[str, Any]]]:
    """Give each set of rows that a Vega-Lite specification, or several, draw."""
    if isinstance(spec, dict):
        if "data" in spec:
            yield spec["data"]["values"]
        spec = [*spec.values()]
    if isinstance(spec, list | tuple):
        for value in spec:
            yield from sets_of(value)


def rows_of(spec: Any) -> list[dict[str, Any]]:
    """Collect all rows of a Vega-Lite specification, a set that several layers draw once."""
    texts = dict.fromkeys(json.dumps(rows) for rows in sets_of(spec))
    return [row for text in texts for row in json.loads(text)]


def check(spec: Any) -> None:
    """Hold a specification against the schema of Vega-Lite."""
    import altair as alt  # not above: the contract of exhibits holds where Altair is not installed

    alt.Chart.from_dict(json.loads(json.dumps(spec)), validate=True)
