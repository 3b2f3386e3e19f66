"""The strip plot: printed trials above the platform's own, on one axis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bareline.report.figures.rows import StripRow, strip_plot
from bareline.report.figures.svg import draw

INK = {"colour": "#0072b2", "fill": "#0072b2", "shape": "square"}


def _dicts(spec: object) -> Iterator[dict[str, Any]]:
    if isinstance(spec, dict):
        yield spec
    for value in (
        spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    ):
        yield from _dicts(value)


@pytest.mark.parametrize("narrow", [False, True])
def test_printed_trials_stand_above_own_ones(narrow: bool) -> None:
    own = [(9.0 + i / 10, f"own {i}") for i in range(10)]
    printed = [(4.4 + i / 2, f"published: {i}") for i in range(10)]
    chart = strip_plot(
        [
            StripRow("vm-virtio-tuned", INK, own, printed, 9.5, 6.9),
            StripRow("b", INK, [(9.1, "other")], ()),
        ],
        "Rate (Gb/s)",
        narrow=narrow,
    )
    found = chart.to_dict(validate=False)
    texts = [one["values"] for one in _dicts(found) if isinstance(one.get("values"), str)]
    texts += [text for text in found.get("datasets", {}).values() if isinstance(text, str)]
    rows = [row for text in texts for row in json.loads(text)]
    heights = {row["tip"]: row["y"] for row in rows if "tip" in row}
    assert len(heights) == 20 + 1
    assert all(heights[f"published: {i}"] < heights[f"own {i}"] for i in range(10))
    drawing = draw(chart)
    assert "vm-virtio-tuned" in drawing and "…" not in drawing
