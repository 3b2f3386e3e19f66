"""Heat strips: one cell a finding, nothing that was not planned, and every mark with its words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.numbers.sizes import CLASSES
from bareline.report.content.grid import open_span
from bareline.report.content.strips import strip
from bareline.vocabulary.model import Layer, Metric, format_point
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import Grade, Verdict, grade_of


def finding(title, ratio, verdict, *, size=None, nodes=1, platform="b"):
    point = format_point({"size_bytes": int(size.low)}) if size else ""
    cell = Row(
        Place("mpi.x", "latency", point=point, used=nodes), platform, Layer.MPI,
        Metric("s", "lower"), baseline="a", n=10, n_baseline=10, verdict=verdict,
        grade=grade_of(verdict, sure=True),
        ratio=None if ratio is None else Estimate(ratio, ratio * 0.98, ratio * 1.02),
    )  # fmt: skip
    return Finding(title, (cell,), size)


def test_columns_are_nodes_and_sizes_in_order_and_every_platform_has_its_part():
    small, middle, large = CLASSES[:3]
    found = [
        finding("reduce", 134.0, Verdict.SLOWER, size=small, nodes=20),
        finding("reduce", 1.0, Verdict.EQUIVALENT, size=large),
        finding("reduce", None, Verdict.FAILED, size=small),
        finding("ping", 1.7, Verdict.INCONCLUSIVE, size=middle),
        finding("reduce", 1.7, Verdict.SLOWER, size=small, platform="c", nodes=20),
    ]
    table = strip(found, Layer.MPI, ["c", "b", "none"])
    assert table is not None
    assert table.groups == (
        (("1 node", 6), ("20 nodes", 2)),
        (("< 8K", 2), ("8-256K", 2), ("≥ 256K", 2), ("< 8K", 2)),
    )
    assert [column.platform for column in table.columns[1:]] == ["c", "b"] * 4
    told = {row[0].text: [(part.text, part.look) for part in row[1:]] for row in table.rows}
    none = ("", "")
    assert told == {
        "Reduce": [none, ("✗", "failed"), none, none, none, ("1.0", "equal"),
                   ("1.7", "worse-2"), ("134", "worse-4")],
        "Ping": [none, none, none, ("? 1.7", "open"), none, none, none, none],
    }  # fmt: skip
    assert "134 times slower [131, 137], n = 10" in table.rows[0][8].tip
    assert {row[0].link for row in table.rows} == {"probe-mpi-x"}
    assert strip(found[:1], Layer.MPI, ["b"]) is None  # one part alone is no strip


def test_likely_is_marked_and_open_shows_its_interval():
    likely = finding("x", 2.0, Verdict.SLOWER)
    likely = replace(likely, points=(replace(likely.points[0], grade=Grade.LIKELY),))
    unknown = finding("y", 2.0, Verdict.INCONCLUSIVE)
    unknown = replace(unknown, points=(replace(unknown.points[0], ratio=Estimate(2.0, 0.5, 8.0)),))
    table = strip([likely, unknown], Layer.MPI, ["b"])
    assert table is not None
    assert [row[1].text for row in table.rows] == ["~2.0", "? 0.50–8.0"]


@pytest.mark.parametrize(
    ("ratio", "look"),
    [(1.05, "worse-0"), (1.2, "worse-1"), (2.0, "worse-2"), (5.0, "worse-3"), (20.0, "worse-4")],
)
def test_shades_grow_with_the_logarithm_in_both_directions(ratio, look):
    one = finding("x", ratio, Verdict.SLOWER)
    other = finding("y", 1 / ratio, Verdict.FASTER)
    table = strip([one, other], Layer.MPI, ["b"])
    assert table is not None
    assert [row[1].look for row in table.rows] == [look, look.replace("worse", "better")]


def test_a_strip_holds_every_finding_of_its_layer():
    found = [finding(f"t{k}", 1.5, Verdict.SLOWER, nodes=1 + k % 3) for k in range(9)]
    table = strip([*found, replace(found[0], title="z")], Layer.MPI, ["b"])
    assert table is not None
    assert sum(bool(part.text) for row in table.rows for part in row[1:]) == 10


def test_what_has_no_interval_says_of_how_few_launches_it_is():
    bare = [finding(name, 2.0, Verdict.INCONCLUSIVE) for name in ("x", "y")]
    bare = [
        replace(one, points=(replace(one.points[0], n=4, n_baseline=4, ratio=Estimate(2.0)),))
        for one in bare
    ]
    assert open_span(*bare) == "2.00 (n = 4)"
    assert open_span(finding("z", 2.0, Verdict.INCONCLUSIVE)) == "1.96 to 2.04"
