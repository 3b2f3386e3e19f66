"""Drawing a kind of exhibit, and reading what was drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
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
    """Yield each set of rows that a Vega-Lite specification, or several, draw."""
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


#: How many rows of a set are held against the schema, which takes any object as a row.
_ROWS = 3


@cache
def _vega_lite() -> Any:
    # Not above: the contract of exhibits holds where neither of them is installed.
    import altair
    from jsonschema import Draft7Validator

    (file,) = Path(altair.__file__).parent.glob("vegalite/*/schema/vega-lite-schema.json")
    return Draft7Validator(json.loads(file.read_text(encoding="utf-8")))


def check(spec: Any) -> None:
    """Hold a specification, with the first rows of its sets, against the schema of Vega-Lite.

    The schema itself takes a tenth of the time of ``altair.Chart.from_dict``.
    """
    plain = json.loads(json.dumps(spec))
    for rows in sets_of(plain):
        assert all(isinstance(row, dict) for row in rows)
        del rows[_ROWS:]  # type: ignore[attr-defined]
    for error in _vega_lite().iter_errors(plain):
        raise AssertionError(f"{list(error.absolute_path)}: {error.message[:500]}")
