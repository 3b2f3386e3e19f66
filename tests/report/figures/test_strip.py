"""The strip plot: printed trials above the platform's own, on one axis."""

from __future__ import annotations

import pytest

from bareline.report.figures.rows import StripRow, strip_plot
from bareline.report.figures.svg import draw

INK = {"colour": "#0072b2", "fill": "#0072b2", "shape": "square"}


@pytest.mark.parametrize("narrow", [False, True])
def test_printed_trials_stand_above_own_ones(narrow: bool) -> None:
    own = [(9.0 + i / 10, f"own {i}") for i in range(10)]
    printed = [(4.4 + i / 2, f"published: {i}") for i in range(10)]
    chart = strip_plot(
        [
            StripRow("vm-virtio-tuned", INK, own, printed),
            StripRow("b", INK, [(9.1, "other")], ()),
        ],
        "Rate (Gb/s)",
        narrow=narrow,
    )
    rows = [row for drawn in chart["layer"] for row in drawn["data"]["values"]]
    heights = {row["tip"]: row["y"] for row in rows if "tip" in row}
    assert len(heights) == 20 + 1
    assert all(heights[f"published: {i}"] < heights[f"own {i}"] for i in range(10))
    drawing = draw(chart)
    assert "vm-virtio-tuned" in drawing and "…" not in drawing
