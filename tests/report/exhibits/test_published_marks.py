"""Published figures beside measured ones: a full mark only where ranks and nodes agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bareline.published.catalogue import publications
from bareline.published.ratios import PublishedRatio, published_ratios
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, same_place, where_printed
from bareline.vocabulary.place import Place

Draw = Callable[..., list[Figure]]
Rows = Callable[[Figure], list[dict[str, Any]]]
ROLES = {
    "native": {"title": "", "platform": "bare", "published": ["nebula:pleiades"]},
    "virtual": {"title": "", "platform": "vm-virtio", "published": ["nebula:nebula"]},
}


def printed(result: str) -> PublishedRatio:
    (found,) = (r for r in published_ratios(publications()["nebula"]) if result in r.results)
    return found


def on(ranks: int, nodes: int) -> Place:
    return Place("mpi.allreduce", "latency", ranks=ranks, nodes=nodes)


@pytest.mark.parametrize(
    ("result", "place", "elsewhere"),
    [
        ("allreduce-small", on(128, 16), ""),
        ("allreduce-small", on(2, 1), "128 ranks"),
        ("alltoall-64K-32", on(32, 4), "3 nodes"),
        ("alltoall-64K-32", on(16, 4), "32 ranks, 3 nodes"),
        ("allreduce-8B-intra", on(4, 1), ""),
        ("allreduce-8B-inter", on(16, 2), "ranks not printed"),
        ("sendrecv-small", on(2, 1), "ranks not printed"),
        ("npb-total-to32", on(25, 5), ""),
        ("npb-total-to32", on(64, 8), "4 to 32 ranks"),
    ],
)
def test_a_figure_is_of_a_place_only_where_its_ranks_and_nodes_are(
    result: str, place: Place, elsewhere: str
) -> None:
    ratio = printed(result)
    assert PublishedPoint(ratio, "vm", "bare", "", "").elsewhere(place) == elsewhere
    assert same_place(ratio, place) is (elsewhere == "")


def test_where_it_was_measured_is_told_in_words() -> None:
    assert where_printed(printed("alltoall-64K-32")) == "32 ranks, 3 nodes, between nodes"
    assert where_printed(printed("sendrecv-small")) == ""


def marks(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return what was drawn of each published figure, by what is printed."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if (
            str(row.get("tip", "")).startswith("published:")
            and "x" in row
            and row["x"] < row["end"]
        ):
            found.setdefault(row["tip"], []).append(row)
    return found


def test_what_was_measured_on_other_ranks_is_pale_and_says_so(
    planted: Callable[..., Document], figures: Draw, rows_of: Rows
) -> None:
    document = planted(
        ("bare", "vm-virtio"), ranks=(2, 128), roles=ROLES, probes=("mpi.allreduce",), broken=False
    )
    (figure,) = figures(
        document, kind="curve", probe="mpi.allreduce", x="size_bytes", published=["nebula:figure-5"]
    )
    few, many = (rows_of(one) for one in _apart(figure))
    assert all(row["pale"] for own in marks(few).values() for row in own)
    assert {row["beside"] for row in few if "beside" in row} == {"128 ranks"}
    assert marks(many) and not any(row["pale"] for own in marks(many).values() for row in own)
    assert not any("beside" in row for row in many)
    table = figure.data_table
    assert table is not None
    fields = [row[[c.title for c in table.columns].index("published ratio")] for row in table.rows]
    assert {field.tone for field in fields if "(128 ranks)" in field.text} == {"muted"}
    assert any(field.text == "71 to 139" and field.tone == "" for field in fields)


def _apart(figure: Figure) -> list[Figure]:
    return [replace(figure, panels=(panel,)) for panel in figure.panels]


def test_within_a_node_is_drawn_over_the_ranks_that_were_there(
    planted: Callable[..., Document], figures: Draw, rows_of: Rows
) -> None:
    document = planted(
        ("bare", "vm-virtio"), ranks=(2, 4, 8, 16), nodes=(1,), roles=ROLES, broken=False,
        probes=("npb.cg",),
    )  # fmt: skip
    (point,) = (
        point for point in document.published if point.ratio.results == ("npb-comm-intra-f16",)
    )
    # The planted program has no metric of its own for communication.
    point = replace(point, ratio=replace(point.ratio, probe_metric="time"))
    document = replace(document, published=[point])
    (figure,) = figures(document, kind="relative", probe="npb.*", metric="time", x="ranks")
    (drawn,) = marks(rows_of(figure)).values()
    assert {(row["lo"], row["hi"], row["end"], row["pale"]) for row in drawn} == {
        (1.1, 1.4, 16, False)
    }
    assert min(row["x"] for row in drawn) == 2
