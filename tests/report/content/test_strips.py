"""Heat strips: one cell a finding, nothing that was not planned, and every mark with its words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bareline.analysis.cell import Cell, Estimate
from bareline.analysis.findings import Finding
from bareline.analysis.judgements.grades import grade_of
from bareline.analysis.sizes import CLASSES
from bareline.report.content.strips import strips
from bareline.vocabulary.model import Layer, Metric, format_point
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import Verdict


def finding(title, ratio, verdict, *, size=None, nodes=1, platform="b"):
    point = format_point({"size_bytes": int(size.low)}) if size else ""
    cell = Cell(
        Place("mpi.x", "latency", point=point, used=nodes), platform, Layer.MPI,
        Metric("s", "lower"), baseline="a", n=10, n_baseline=10, verdict=verdict,
        grade=grade_of(verdict, sure=True),
        ratio=None if ratio is None else Estimate(ratio, ratio * 0.98, ratio * 1.02),
    )  # fmt: skip
    return Finding(title, (cell,), size)


def test_columns_are_nodes_and_sizes_in_order_and_rows_are_functions():
    small, middle, large = CLASSES[:3]
    found = [
        finding("reduce", 134.0, Verdict.SLOWER, size=small, nodes=20),
        finding("reduce", 1.0, Verdict.EQUIVALENT, size=large),
        finding("reduce", None, Verdict.FAILED, size=small),
        finding("ping", 1.7, Verdict.INCONCLUSIVE, size=middle),
        finding("ping", 1.7, Verdict.SLOWER, platform="c"),
    ]
    (strip,) = strips(found, Layer.MPI, ["b", "c"])  # one finding alone is no strip
    assert strip.platform == "b"
    assert strip.heads == (("1 node", 3), ("20 nodes", 1))
    assert strip.columns == ("< 8K", "8-256K", "≥ 256K", "< 8K")
    told = {title: [cell and (cell.text, cell.look) for cell in row] for title, row in strip.rows}
    assert told == {
        "Reduce": [("✗", "failed"), None, ("1.0", "equivalent"), ("134", "worse-4")],
        "Ping": [None, ("?", "inconclusive"), None, None],
    }
    tip = strip.rows[0][1][3]
    assert tip is not None and "134 times slower [131, 137], n = 10" in tip.tip


@pytest.mark.parametrize(
    ("ratio", "look"),
    [(1.05, "worse-0"), (1.2, "worse-1"), (2.0, "worse-2"), (5.0, "worse-3"), (20.0, "worse-4")],
)
def test_shades_grow_with_the_logarithm_in_both_directions(ratio, look):
    one = finding("x", ratio, Verdict.SLOWER)
    other = finding("y", 1 / ratio, Verdict.FASTER)
    (strip,) = strips([one, other], Layer.MPI, ["b"])
    looks = [row[0].look for _, row in strip.rows if row[0] is not None]
    assert looks == [look, look.replace("worse", "better")]


def test_a_strip_holds_every_finding_of_its_layer():
    found = [finding(f"t{k}", 1.5, Verdict.SLOWER, nodes=1 + k % 3) for k in range(9)]
    (strip,) = strips([*found, replace(found[0], title="z")], Layer.MPI, ["b"])
    assert sum(cell is not None for _, row in strip.rows for cell in row) == 10
