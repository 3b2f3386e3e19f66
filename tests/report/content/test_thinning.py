from __future__ import annotations

from itertools import product

import polars as pl
import pytest

from bareline.report.content.thinning import PLACE, thin
from bareline.vocabulary.model import format_point
from bareline.vocabulary.place import KEY

RANKS, SIZES, KERNELS = 200, 8, 3


def frames(
    probe: str = "mpi.large", metrics: tuple[str, ...] = ("latency", "latency_p99")
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a summary and a comparison of two platforms; rank 137 is slowest with 4 bytes."""
    rows = [
        {
            "platform": platform, "probe": probe, "params": format_point({"kernel": kernel}),
            "ranks": RANKS, "threads": 1, "nodes": 4, "metric": metric,
            "point": format_point({"rank": rank, "size_bytes": 1 << size}),
            "detail": metric.endswith("p99"),
            "ratio": 9.0 if (rank, size) == (137, 2) else 1.0 + rank / 1e4,
        }
        for platform, kernel, rank, size, metric in product(
            ("a", "b"), "xyz"[:KERNELS], range(RANKS), range(SIZES), metrics
        )
    ]  # fmt: skip
    table = pl.DataFrame(rows)
    return table.drop("ratio"), table.filter(platform="b")


def test_a_run_of_usual_size_is_shown_whole() -> None:
    summary, comparison = frames()
    shown = thin(summary, comparison, 2 * KERNELS * RANKS * SIZES)
    assert shown.summary is summary and shown.points is comparison
    assert not shown.notes


@pytest.mark.parametrize("most", [3_000, 1_000, 200])
def test_a_large_run_is_shown_evenly(most: int) -> None:
    summary, comparison = frames()
    shown = thin(summary, comparison, most)
    assert shown.points is not None
    values = shown.summary.filter(~pl.col("detail"))
    ends = 2 * 2 * 5  # of the comparison's largest and smallest, on both platforms
    assert most / 3 < values.height <= most + ends
    # Every platform and every metric has the same places.
    parts = shown.summary.partition_by(["platform", "metric"])
    assert len({frozenset(part.select(PLACE).iter_rows()) for part in parts}) == 1
    assert len(parts) == 4
    # They are spread over every parameter, with both ends.
    points = set(shown.summary.get_column("point"))
    for rank, size in product((0, RANKS - 1), (0, SIZES - 1)):
        assert format_point({"rank": rank, "size_bytes": 1 << size}) in points
    assert shown.summary.get_column("params").n_unique() == KERNELS
    # What differs most is there, wherever it lies.
    assert shown.points.get_column("ratio").max() == 9.0
    # Rows keep their order.
    kept = summary.join(shown.places, on=["probe", *PLACE], how="semi", maintain_order="left")
    assert shown.summary.equals(kept)
    assert "of 4800 points are shown: " in shown.notes["mpi.large"]
    assert " of 200 values of rank" in shown.notes["mpi.large"]


def test_small_probes_stay_whole_beside_a_large_one() -> None:
    large, compared = frames()
    small, other = frames("mpi.small", ("latency",))
    few = pl.col("point").str.contains("rank=[0-9] ")
    small, other = small.filter(few), other.filter(few)
    shown = thin(pl.concat([small, large]), pl.concat([other, compared]), 2_000)
    assert list(shown.notes) == ["mpi.large"]
    assert shown.summary.filter(probe="mpi.small").equals(small)
    assert shown.summary.filter(pl.col("probe") == "mpi.large", ~pl.col("detail")).height < 1_600


def test_texts_are_thinned_out_last_and_one_platform_alone_too() -> None:
    summary = pl.DataFrame(
        {
            "platform": "a", "probe": "io.files", "params": "", "ranks": 1, "threads": 1,
            "nodes": 0, "metric": "rate", "point": [f"file=f{number:04}" for number in range(900)],
            "detail": False,
        }
    )  # fmt: skip
    shown = thin(summary, None, 100)
    points = shown.summary.get_column("point").to_list()
    assert shown.points is None and len(points) == 100
    assert (points[0], points[-1]) == ("file=f0000", "file=f0899")
    assert "100 of 900 values of file" in shown.notes["io.files"]
    assert set(summary.columns) == {"platform", *KEY, "detail"}
