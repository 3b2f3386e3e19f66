"""Two profiles side by side, call sites, and what the commands print of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.profile.comparison import compare_profiles
from bareline.profile.files import read_profile, write_profile
from bareline.profile.model import SITE_COLUMNS
from bareline.profile.sites import call_sites, with_sites_named

from .conftest import Bench

#: A place that calls MPI_Send, on two ranks.
SITE = {
    "call": "MPI_Send", "object": "/a/app", "offset": 64, "function": "halo", "file": "/a/halo.f90",
    "line": 12, "count": 20, "bytes": 160, "time_ns": 4_000_000, "max_ns": 500_000, "ranks": 2,
    "rank_min_ns": 1_000_000, "rank_max_ns": 3_000_000,
}  # fmt: skip
SAMPLE = Path(__file__).parent / "data" / "planted.profile"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """The sample, and the same with reductions that take three times as long."""
    sample = read_profile(SAMPLE)
    slow = pl.when(pl.col("call") == "MPI_Allreduce").then(3 * pl.col("time_ns"))
    calls = sample.call_table.with_columns(time_ns=slow.otherwise("time_ns"))
    after = replace(
        sample,
        call_table=calls,
        send_table=sample.send_table.slice(1),
        rank_table=sample.rank_table.with_columns(wall_ns=pl.col("wall_ns") * 2),
    )
    paths = tmp_path / "before.profile", tmp_path / "after.profile"
    write_profile(sample, paths[0])
    write_profile(after, paths[1])
    return paths


def test_the_largest_change_comes_first(pair: tuple[Path, Path]) -> None:
    before, after = map(read_profile, pair)
    both = compare_profiles(before, after)
    first = both.calls[0]
    assert first.call == "MPI_Allreduce" and first.count_before == first.count_after
    assert first.time_s_after == pytest.approx(3 * first.time_s_before)
    assert all(abs(call.change_s) < 1e-12 for call in both.calls[1:])
    assert both.split[0].ratio == pytest.approx(2)
    assert both.pairs_only_before == 1 and both.pairs_only_after == 0 and both.alike == ""
    assert "ranks: 4 and 2" in compare_profiles(before, replace(after, ranks=2)).alike


def test_compare_prints_two_profiles(
    pair: tuple[Path, Path], fits: Callable[[str, object], None]
) -> None:
    names = [str(path) for path in pair]
    shown = CliRunner().invoke(app, ["compare", *names])
    assert shown.exit_code == 0, shown.output
    assert "2.00 times as long as before.profile" in shown.output
    assert "One run each: no interval" in shown.output
    rows = json.loads(CliRunner().invoke(app, ["compare", "--json", *names]).output)
    fits("compare-profiles", rows)
    assert {row["type"] for row in rows} == {"split", "call", "size"}


def test_call_sites_and_the_imbalance_of_calls_stand_side_by_side(tmp_path: Path) -> None:
    sample = replace(read_profile(SAMPLE), site_table=pl.DataFrame([SITE], schema=SITE_COLUMNS))
    # Twice the time, all of it on one rank more; and a place that only the later program has.
    slower = SITE | {"time_ns": 8_000_000, "rank_max_ns": 6_000_000}
    added = SITE | {"line": 40, "time_ns": 2_000_000, "rank_max_ns": 1_000_000}
    doubled = pl.when(pl.col("call") == "MPI_Send").then(2 * pl.col("rank_max_ns"))
    after = replace(
        sample,
        site_table=pl.DataFrame([slower, added], schema=SITE_COLUMNS),
        call_table=sample.call_table.with_columns(rank_max_ns=doubled.otherwise("rank_max_ns")),
    )
    both = compare_profiles(sample, after)
    first, second = both.sites
    assert first.place == "halo (halo.f90:12)" and second.place == "halo (halo.f90:40)"
    assert first.change_s == pytest.approx(4e-3 / sample.ranks)
    assert first.imbalance_before == pytest.approx(1.5) == first.imbalance_after
    assert second.imbalance_before is None and second.count_before == 0
    sends = next(call for call in both.calls if call.call == "MPI_Send")
    one, other = sends.imbalance_before, sends.imbalance_after
    assert one is not None and other is not None and other == pytest.approx(2 * one) and one >= 1
    names = []
    for name, profile in (("a", sample), ("b", after)):
        write_profile(profile, tmp_path / f"{name}.profile")
        names.append(str(tmp_path / f"{name}.profile"))
    # The names of places are broken where the terminal is narrow.
    shown = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["compare", *names])
    assert "Call sites that change most" in shown.output and "halo.f90:40" in shown.output
    rows = json.loads(CliRunner().invoke(app, ["compare", "--json", *names]).output)
    assert {row["type"] for row in rows} == {"split", "call", "size", "site"}


@pytest.mark.mpi
def test_call_sites_name_function_and_line(bench: Bench) -> None:
    if shutil.which("addr2line") is None:
        pytest.skip("no addr2line")
    bench.launch(2, "ending", "return")
    profile = read_profile(bench.folder / "app.profile")
    table = profile.site_table
    # Every call of the two ranks is counted at some site.
    calls = profile.calls.filter(
        ~pl.col("call").str.starts_with("MPI_Init") & (pl.col("kind") != "posix-io")
    )
    assert table["count"].sum() == calls["count"].sum()
    assert set(table["object"]) == {str(bench.program("ending"))}
    sends = [site for site in call_sites(with_sites_named(profile)) if site.call == "MPI_Send"]
    assert len(sends) == 1 and sends[0].count == 10 and sends[0].ranks == 1
    assert sends[0].place.startswith("main")


def test_old_profiles_are_read_without_sites() -> None:
    profile = read_profile(SAMPLE)
    assert profile.site_table.is_empty() and call_sites(profile) == []
    assert profile.rank_table["processor_ns"].unique().to_list() == [-1]
