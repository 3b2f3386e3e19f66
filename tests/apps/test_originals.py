"""The mini-apps send what the programs send after which they are written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from bareline.profile.model import Profile

from .conftest import RANKS, Apps
from .originals import CALLS, Original, Row, originals, table

#: MPI_Pcontrol's region around the timed part, see native/harness/bl_timing.f90.
TIMED = 9
PAGE = Path(__file__).resolve().parents[2] / "docs" / "method" / "appendix-apps.md"
HELD = [original for original in originals().values() if original.held]


def counted(profile: Profile, kind: str) -> Counter[int]:
    """Count the calls of the timed part by their size."""
    calls = profile.calls.filter(
        (pl.col("region") == TIMED) & pl.col("call").is_in(list(CALLS[kind]))
    )
    assert (calls["size_low"] == calls["size_high"]).all(), "more sizes than are told apart"
    found: Counter[int] = Counter()
    for size, count in calls.select("size_low", "count").rows():
        found[size] += count
    return found


def check_row(original: Original, row: Row, found: Counter[int]) -> None:
    """Counts exactly, the mean size within a tenth."""
    own = {size: count for size, count in found.items() if row.takes(size)}
    together = sum(own.values())
    units = RANKS * original.steps[row.unit]
    assert together / units == pytest.approx(row.app_count, rel=1e-12), (row, own)
    if row.size_bytes is not None:
        mean = sum(size * count for size, count in own.items()) / together
        assert 0.9 * row.size_bytes[0] <= mean <= 1.1 * row.size_bytes[1], (row, own)


@pytest.mark.mpi
@pytest.mark.parametrize("original", HELD, ids=lambda original: original.name)
def test_messages_and_sums_are_those_of_the_original(original, apps: Apps, tmp_path) -> None:
    assert original.ranks == RANKS
    profile = apps.profile(original.app, original.problem_class, *original.options, folder=tmp_path)
    for kind in CALLS:
        found = counted(profile, kind)
        rows = [row for row in original.rows if row.kind == kind]
        for row in rows:
            check_row(original, row, found)
        if kind != "wait":  # how an app waits for what it received is held where the original's is
            others = {size: n for size, n in found.items() if not any(r.takes(size) for r in rows)}
            assert not others, f"{kind}s of no row: {others}"


@pytest.mark.parametrize("original", originals().values(), ids=lambda original: original.name)
def test_what_differs_from_the_original_is_argued(original) -> None:
    for row in original.rows:
        assert row.kind in CALLS and row.unit in original.steps
        assert row.why or row.count == row.app_count, row


def test_the_page_has_the_table_of_this_file() -> None:
    assert table() in PAGE.read_text(encoding="utf-8"), f"put this into {PAGE.name}:\n{table()}"
