"""Programs with known traffic: the profile holds exactly that, in every language and library."""

from __future__ import annotations

import subprocess

import polars as pl
import pytest

from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.profile.summary import imbalance, top_calls

from .conftest import Bench, rows
from .planted import CHILD, COLLECTIVES, MPI4, PARENTS, PLANTED, PLANTED_SENDS, Key, Sums

pytestmark = pytest.mark.mpi


def sums_of(profile: Profile) -> dict[Key, Sums]:
    key = ("call", "kind", "region", "size_low", "comm_size", "inter", "peer")
    value = ("count", "bytes", "sent_bytes", "received_bytes")
    table = profile.calls.select(*key, *value)
    found = {row[: len(key)]: row[len(key) :] for row in table.rows()}
    assert len(found) == table.height, "a key occurs twice"
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("program", ["planted", "planted_mpif", "planted_mpi", "planted_mpi_f08"])
def test_every_binding_counts_exactly_what_was_planted(bench: Bench, program: str) -> None:
    profile = bench.profile(4, program, str(bench.folder / "planted.dat"))
    found = sums_of(profile)
    polled = {key for key in found if key[0] == "MPI_Test"}
    # What the Fortran run-time library or MPI's I/O layer opens for itself is not planted.
    files = {key for key in found if key[1] == "posix-io"}
    assert {key: found[key] for key in found.keys() - polled - files} == PLANTED
    assert len(polled) == 1
    assert profile.nodes == 1 and profile.complete and profile.ranks == 4
    sends = profile.send_table
    assert {row[:2]: row[2:] for row in sends.rows()} == PLANTED_SENDS
    assert profile.rank_table["untracked"].sum() == 0
    assert profile.rank_table["dropped"].sum() == 0


@pytest.mark.parametrize("program", ["planted", "planted_mpi_f08"])
def test_every_request_is_followed_to_its_end(bench: Bench, program: str) -> None:
    profile = bench.profile(4, program, str(bench.folder / "planted.dat"))
    posted = profile.calls.filter(
        pl.col("call").is_in(
            [
                "MPI_Isend",
                "MPI_Irecv",
                "MPI_Start",
                "MPI_Startall",
                "MPI_Iallreduce",
                "MPI_Ibarrier",
            ]
        )
    )
    assert posted["finished"].to_list() == posted["count"].to_list()
    assert (posted["flight_ns"] >= posted["window_ns"]).all()


def test_all_collectives_in_place_and_between_two_sides(bench: Bench) -> None:
    profile = bench.profile(4, "collectives")
    found = sums_of(profile)
    collective = {key: value for key, value in found.items() if key[1] == "collective"}
    assert collective == COLLECTIVES


def test_persistent_collectives_and_large_counts(bench: Bench) -> None:
    done = bench.launch(2, "mpi4")
    if done.returncode == 77:
        pytest.skip(f"{bench.mpi.title} is older than MPI 4")
    profile = bench.profile_of(done)
    assert sums_of(profile) == MPI4
    started = profile.calls.filter(pl.col("call").is_in(["MPI_Start", "MPI_Startall"]))
    assert started["finished"].to_list() == started["count"].to_list()


def test_processes_that_are_spawned_have_a_profile_of_their_own(bench: Bench) -> None:
    # Open MPI 5.0.7 of Debian 13 waits for ever in MPI_Comm_spawn, with and without a profiler.
    try:
        plain = bench.launch(2, "spawn", profiled=False, limit_s=40)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{bench.mpi.title} cannot spawn here: it does not end")
    if plain.returncode != 0:
        pytest.skip(f"{bench.mpi.title} cannot spawn here: {plain.stderr.strip()[:200]}")
    done = bench.launch(2, "spawn")
    parents = bench.profile_of(done)
    (path,) = bench.folder.glob("app.profile.spawned-*")
    child = read_profile(path)
    assert (parents.ranks, child.ranks) == (2, 1)
    for profile, expected in ((parents, PARENTS), (child, CHILD)):
        found = {key: sums for key, sums in sums_of(profile).items() if key[1] != "posix-io"}
        assert found == expected
    assert parents.send_table.is_empty(), "the child is no rank of the parents' world"


def test_threads_count_into_tables_of_their_own(bench: Bench) -> None:
    done = bench.launch(2, "threads")
    if done.returncode == 77:
        pytest.skip("this MPI library does not provide MPI_THREAD_MULTIPLE")
    profile = bench.profile_of(done)
    # 4 threads of 200 messages each, then 100 more of 2 one after the other, on 2 ranks.
    assert rows(profile, "MPI_Send") == [
        ("MPI_Send", 8, 2, 800, 8 * 800, 8 * 800, 0),
        ("MPI_Send", 16, 2, 400, 16 * 400, 16 * 400, 0),
        ("MPI_Send", 24, 2, 400, 24 * 400, 24 * 400, 0),
        ("MPI_Send", 32, 2, 400, 32 * 400, 32 * 400, 0),
    ]
    arrived = 8 * 800 + 72 * 400
    assert rows(profile, "MPI_Irecv") == [("MPI_Irecv", 64, 2, 2000, 64 * 2000, 0, arrived)]
    assert profile.calls.filter(pl.col("call") == "MPI_Irecv")["finished"].to_list() == [2000]
    assert profile.thread_level == "multiple"
    # A hundred threads that came and went have left their tables to each other.
    assert profile.rank_table["threads"].max() <= 8  # type: ignore[operator]


def test_many_sizes_fall_into_bins_and_few_stay_exact(bench: Bench) -> None:
    profile = bench.profile(2, "sizes")
    table = profile.calls.filter(pl.col("call") == "MPI_Bcast").sort("size_low")
    assert table.select("size_low", "size_high", "count").rows() == [
        (0, 0, 2),
        (1, 1, 2),
        (2, 3, 4),
        (4, 7, 8),
        (8, 15, 16),
        (16, 31, 32),
        (32, 63, 64),
        (64, 127, 128),
        (128, 255, 256),
        (256, 511, 88),
    ]
    assert table["bytes"].sum() == 2 * sum(range(300))
    exact = profile.calls.filter(pl.col("call") == "MPI_Allreduce")
    assert sorted(exact["size_low"]) == [10 * size for size in range(1, 41)]
    assert (exact["size_low"] == exact["size_high"]).all()


def test_files_count_and_pipes_do_not(bench: Bench) -> None:
    profile = bench.profile(2, "files", str(bench.folder / "data"))
    found = rows(profile, "read", "write", "fsync")
    assert found == [
        ("fsync", 0, 0, 2, 0, 0, 0),
        ("read", 500, 0, 2, 1000, 0, 1000),
        ("read", 4096, 0, 2, 8192, 0, 8192),
        ("write", 1000, 0, 12, 12000, 12000, 0),
    ]
    assert (profile.rank_table["posix_ns"] > 0).all()


def test_split_separates_waiting_from_transfer(bench: Bench) -> None:
    profile = bench.profile(2, "imbalance", env={"BARELINE_PROFILE_SPLIT": "1"})
    assert profile.mode == "split"
    reduction = profile.calls.filter(pl.col("call") == "MPI_Allreduce").row(0, named=True)
    # Rank 0 waits 10 times 20 ms for rank 1, in the barrier; the rest is the reduction. On a busy
    # machine either may take longer, so that only their order is sure.
    assert reduction["waited_ns"] > 0.1e9
    assert reduction["time_ns"] < reduction["waited_ns"]
    waited = dict(profile.rank_table.select("rank", "waited_ns").rows())
    assert waited[0] > 0.1e9
    assert waited[0] > waited[1]
    (call,) = top_calls(profile, 1)
    assert call.call == "MPI_Allreduce" and call.waited is not None and call.waited > 0.5


def test_imbalance_and_time_between_calls(bench: Bench) -> None:
    profile = bench.profile(2, "imbalance")
    uneven = imbalance(profile)
    assert uneven.slowest == 1
    assert uneven.most_s > 0.19
    assert uneven.factor > 1.5
    parts = profile.rank_table.select(
        (pl.col("compute_ns") + pl.col("mpi_ns") + pl.col("posix_ns") + pl.col("paused_ns"))
        / pl.col("wall_ns")
    ).to_series()
    assert parts.is_between(0.98, 1.001).all()


def test_overlap_window_lasts_from_post_to_wait(bench: Bench) -> None:
    profile = bench.profile(2, "overlap")
    for row in profile.calls.filter(pl.col("finished") > 0).iter_rows(named=True):
        assert row["finished"] == 10
        assert 0.03 <= row["window_ns"] / row["finished"] * 1e-9 < 2


def test_ranks_tell_what_the_system_knows(bench: Bench) -> None:
    ranks = bench.profile(2, "imbalance").rank_table
    assert (ranks["memory_bytes"] > 1 << 20).all()
    # Rank 1 slept ten times.
    assert ranks["voluntary_switches"][1] >= 10
    assert (ranks["minor_faults"] >= 0).all() and (ranks["major_faults"] >= 0).all()
    assert all(ranks["clock_source"]) and all(ranks["host"])
