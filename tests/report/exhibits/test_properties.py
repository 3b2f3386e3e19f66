"""What no exhibit ever does, whatever was measured and whatever is missing."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.exhibits.base import load_exhibits
from bareline.report.exhibits.efficiency import efficiencies
from bareline.report.exhibits.rules import RULES, ruled_ratio
from bareline.report.exhibits.speeds import speeds
from bareline.report.figures.marks import stretches
from bareline.testing.exhibits import seen_as
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Better, Layer, Metric
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import Verdict

from .drawn import sets_of

PLATFORMS = ("bare", "vm-virtio", "vm-e1000")
#: Kinds whose lines run along ranks or sizes.
ALONG = ("curve", "scaling", "relative", "relative-performance")

values = st.one_of(st.none(), st.just(0.0), st.floats(1e-9, 1e9))


@st.composite
def cell_sets(draw: st.DrawFn) -> tuple[Row, ...]:
    """Return consistent cells: a ratio only where both sides of the same layout have a value."""
    better = draw(st.sampled_from(("lower", "higher", "none")))
    sizes = draw(st.sampled_from(((None,), (8, 64, 1024, 4096))))
    cells = []
    for nodes in draw(st.sampled_from(((1,), (2,), (1, 2)))):
        for ranks in (1, 2, 4, 8):
            for size in sizes:
                base: float | None = None
                for platform in PLATFORMS:
                    value = draw(values)
                    simulated = draw(st.booleans()) if platform != "bare" else False
                    base = value if platform == "bare" else base
                    ratio = None
                    if platform != "bare" and better != "none" and value and base:
                        ratio = value / base if better == "lower" else base / value
                    cells.append(
                        _cell(platform, better, nodes, ranks, size, value, base, ratio, simulated)
                    )
    return tuple(cells)


def _cell(
    platform: str,
    better: Better,
    nodes: int,
    ranks: int,
    size: int | None,
    value: float | None,
    base: float | None,
    ratio: float | None,
    simulated: bool,
) -> Row:
    known = value is not None
    point = "" if size is None else f"size_bytes={size}"
    verdict = Verdict.SLOWER if ratio else Verdict.MISSING
    return Row(
        place=Place("npb.cg", "time", ranks=ranks, nodes=nodes, point=point),
        platform=platform,
        layer=Layer.NPB,
        metric=Metric("s", better),
        n=6 if known else 0,
        value=around(value),
        base=None if base is None else Estimate(base),
        ratio=around(ratio),
        verdict=None if platform == "bare" else verdict,
        caveats=(Caveat("simulated"),) if simulated else (),
    )


def around(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value, value * 0.9, value * 1.1)


def holding(document: Document, cells: tuple[Row, ...]) -> Document:
    """Return the document with these cells, without any trials."""
    return seen_as(document, samples=document.samples.clear(), cells=cells)


def drawn(figure: Figure) -> list[list[dict[str, Any]]]:
    return [list(rows) for rows in sets_of(figure.panels)]


QUICK = settings(
    max_examples=4,  # drawing is slow, and each example holds up to 96 cells
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow,
                           HealthCheck.data_too_large],
)  # fmt: skip


@pytest.mark.parametrize("kind", sorted(set(load_exhibits()) - {"overview", "suitability"}))
@QUICK
@given(cells=cell_sets(), rule=st.sampled_from(("", *RULES)))
def test_no_number_comes_from_what_is_missing(
    in_roles: Document, kind: str, cells: tuple[Row, ...], rule: str
) -> None:
    document = holding(in_roles, cells)
    spec = ExhibitSpec(kind=kind, probe="npb.cg", rule=rule)
    for figure in load_exhibits()[kind].figures(document, spec):
        for rows in drawn(figure):
            for row in rows:
                for value in row.values():
                    assert not isinstance(value, float) or math.isfinite(value)
        table = figure.data_table
        for fields in table.rows if table is not None else ():
            for field in fields:
                assert not isinstance(field.order, float) or math.isfinite(field.order)
                assert "nan" not in field.text and "inf" not in field.text.split()


@QUICK
@given(cells=cell_sets(), rule=st.sampled_from(("", *RULES)))
def test_a_ratio_needs_both_sides_of_one_layout(
    in_roles: Document, cells: tuple[Row, ...], rule: str
) -> None:
    document = holding(in_roles, cells)
    spec = ExhibitSpec(kind="degradation", probe="npb.cg", metric="time", rule=rule)
    bases = {
        (c.place.nodes, c.place.ranks, c.place.point): c for c in cells if c.platform == "bare"
    }
    for cell in cells:
        base = bases[cell.place.nodes, cell.place.ranks, cell.place.point]
        found = ruled_ratio(document, cell, base, rule)
        if cell.platform != "bare" and found is not None:
            assert base.median and cell.median
    for figure in load_exhibits()["degradation"].figures(document, spec):
        table = figure.data_table
        assert table is not None
        shown = sum(isinstance(row[2].order, float) for row in table.rows)
        assert shown <= sum(cell.ratio is not None for cell in cells)


@pytest.mark.parametrize("kind", ALONG)
@QUICK
@given(cells=cell_sets())
def test_no_line_crosses_a_gap_or_joins_clocks_or_layouts(
    in_roles: Document, kind: str, cells: tuple[Row, ...]
) -> None:
    document = holding(in_roles, cells)
    spec = ExhibitSpec(kind=kind, probe="npb.cg", metric="time")
    for figure in load_exhibits()[kind].figures(document, spec):
        for rows in drawn(figure):
            joined: dict[str, list[dict[str, Any]]] = {}
            for row in rows:
                if "stretch" in row and "series" in row:
                    joined.setdefault(row["stretch"], []).append(row)
            for line in joined.values():
                places = sorted(row["x"] for row in line)
                assert len(set(places)) == len(places), "two layouts on one line"
                assert len({row["fill"] != row["colour"] for row in line}) == 1
                _assert_whole(cells, line[0]["series"], places)


def _assert_whole(cells: tuple[Row, ...], platform: str, places: list[float]) -> None:
    """Between the ends of a line, the platform has a value wherever it was measured."""
    axis = {float(cell.place.coordinates.get("size_bytes", cell.place.ranks)) for cell in cells}
    if not set(places) <= axis:
        axis = {float(cell.place.ranks) for cell in cells}
    inner = {place for place in axis if places[0] < place < places[-1]}
    assert inner <= set(places)


def of_one_line(cells: tuple[Row, ...]) -> list[Row]:
    """Return the cells that differ from the first one in platform and ranks alone."""
    first = cells[0]
    return [
        cell
        for cell in cells
        if (cell.place.nodes, cell.place.point) == (first.place.nodes, first.place.point)
        and cell.metric.better != "none"
    ]


@QUICK
@given(cells=cell_sets(), weak=st.booleans())
def test_efficiencies_divide_like_by_like(cells: tuple[Row, ...], weak: bool) -> None:
    for platform in PLATFORMS:
        own = [cell for cell in of_one_line(cells) if cell.platform == platform]
        for point in efficiencies(own, "ranks", weak=weak):
            same = [cell for cell in own if cell.simulated == point.cell.simulated and cell.median]
            first = min(same, key=lambda cell: cell.place.ranks)
            if point.cell.place.ranks == first.place.ranks:
                assert point.efficiency.value == pytest.approx(100)
            assert point.efficiency.value > 0


@QUICK
@given(cells=cell_sets())
def test_relative_speeds_divide_like_by_like(cells: tuple[Row, ...]) -> None:
    for cell, speed in speeds("bare", of_one_line(cells), "ranks"):
        assert not cell.simulated, "the baseline is measured: simulated speeds have no base"
        assert speed.value > 0


@given(
    present=st.lists(st.booleans(), min_size=2, max_size=12),
    hollow=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_stretches_end_at_gaps_and_at_another_clock(
    present: list[bool], hollow: list[bool]
) -> None:
    rows = [
        {"x": float(x), "series": "a", "colour": "c", "fill": "paper" if hollow[x] else "c"}
        for x, there in enumerate(present)
        if there
    ]
    found = {row["x"]: row["stretch"] for row in stretches(rows, map(float, range(len(present))))}
    for left, right in pairwise(rows):
        beside = right["x"] == left["x"] + 1 and right["fill"] == left["fill"]
        assert (found[left["x"]] == found[right["x"]]) == beside
