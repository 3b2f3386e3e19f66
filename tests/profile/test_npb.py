"""The NAS kernels of class S: counts and bytes follow from the specification.

On 2 ranks, and BT and SP, which want a square, on 4. Every kernel runs once untimed before its
timed iterations.

References
----------
D. Bailey et al., The NAS Parallel Benchmarks, NASA RNR-94-007 (1994).
D. Bailey et al., The NAS Parallel Benchmarks 2.0, NASA NAS-95-020 (1995): the decompositions.
"""

from __future__ import annotations

import json

import polars as pl
import pytest

from bareline.profile.files import read_profile
from bareline.profile.model import Profile

from .conftest import Bench

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

RANKS = 2
INT, DOUBLE, COMPLEX = 4, 8, 16


def kernel(bench: Bench, name: str, ranks: int = RANKS) -> tuple[Profile, dict[str, int]]:
    """Run a kernel; give its profile and its own count of the timed calls."""
    ran = bench.launch(ranks, bench.kernel(f"npb_{name}"), "S")
    assert ran.returncode == 0, ran.stderr
    point = next(json.loads(line) for line in ran.stdout.splitlines() if '"verified"' in line)
    assert point["verified"]
    calls = {call: int(value["calls"]) for call, value in point["mpi_s"].items()}
    return read_profile(bench.folder / "app.profile"), calls


def counted(profile: Profile, call: str) -> dict[int, int]:
    """Return the number of calls by message size."""
    rows = profile.calls.filter(pl.col("call") == call)
    return dict(rows.group_by("size_low").agg(pl.col("count").sum()).rows())


def test_ep_reduces_two_sums_and_ten_counts(bench: Bench) -> None:
    profile, _ = kernel(bench, "ep")
    found = counted(profile, "MPI_Allreduce")
    assert found[10 * DOUBLE] == RANKS
    assert found[DOUBLE] == 2 * RANKS


def test_is_exchanges_bucket_sizes_and_all_keys(bench: Bench) -> None:
    profile, own = kernel(bench, "is")
    keys, buckets, iterations = 1 << 16, 1 << 9, 10 + 1
    # The sizes of the buckets and five checked keys.
    assert counted(profile, "MPI_Allreduce")[(buckets + 5) * INT] == RANKS * iterations
    assert counted(profile, "MPI_Alltoall") == {RANKS * INT: RANKS * iterations}
    exchange = profile.calls.filter(pl.col("call") == "MPI_Alltoallv")
    assert exchange["count"].sum() == RANKS * iterations
    assert exchange["sent_bytes"].sum() == keys * INT * iterations
    assert exchange["received_bytes"].sum() == keys * INT * iterations
    assert own["MPI_Alltoallv"] == RANKS * (iterations - 1)


def test_ft_transposes_the_whole_array(bench: Bench) -> None:
    profile, own = kernel(bench, "ft")
    points, iterations = 64**3, 6
    # One transform forth, one back for each iteration, and the untimed one.
    assert counted(profile, "MPI_Alltoall") == {COMPLEX * points // RANKS: RANKS * (iterations + 2)}
    assert counted(profile, "MPI_Reduce")[COMPLEX] == RANKS * iterations
    assert own["MPI_Alltoall"] == RANKS * (iterations + 1)


def test_cg_sums_vectors_and_scalars(bench: Bench) -> None:
    profile, own = kernel(bench, "cg")
    order, solves, steps = 1400, 15 + 1, 25
    # A product per step and one for the residual; two dot products per step, one before and the
    # residual's norm after; two norms together per solve.
    expected = {
        order // RANKS * DOUBLE: RANKS * solves * (steps + 1),
        DOUBLE: RANKS * solves * (2 * steps + 2),
        2 * DOUBLE: RANKS * solves,
    }
    assert counted(profile, "MPI_Send") == expected
    assert counted(profile, "MPI_Irecv") == expected
    assert own["MPI_Send"] * solves == sum(expected.values()) * (solves - 1)
    sent = sum(size * count for size, count in expected.items())
    assert profile.send_table["bytes"].sum() == sent


def test_mg_exchanges_two_faces_per_level(bench: Bench) -> None:
    profile, own = kernel(bench, "mg")
    levels, cycles = (2, 4, 8, 16, 32), (1, 4)
    # Of 32^3 points, only one direction is divided. A cycle restricts, then smooths on the way up
    # after a residual; the finest level has the residual between cycles and the one before all.
    exchanges = {level: 3 * sum(cycles) for level in levels}
    exchanges[levels[0]] = 2 * sum(cycles)
    exchanges[levels[-1]] = sum(1 + 3 * cycle for cycle in cycles)
    expected = {(n + 2) ** 2 * DOUBLE: 2 * RANKS * count for n, count in exchanges.items()}
    assert counted(profile, "MPI_Send") == expected
    assert counted(profile, "MPI_Irecv") == expected
    timed = 2 * RANKS * (cycles[1] * (2 + 3 * (len(levels) - 1)) + 1)
    assert own["MPI_Send"] == timed


@pytest.mark.parametrize(
    ("name", "steps", "forward", "backward"),
    [
        # What a line's elimination hands on: a reduced 5 x 5 block and 5 right-hand sides of its
        # last row, and the solution of one row back.
        ("bt", 60, 5 * 5 + 5, 5),
        # The last two rows: three components share a matrix (2 diagonals above it and 3 right-hand
        # sides), the other two have one each (2 and 1); back come two rows of the solution.
        ("sp", 100, 2 * ((2 + 3) + 2 * (2 + 1)), 2 * 5),
    ],
)
def test_bt_and_sp_exchange_faces_and_pass_lines_on(
    bench: Bench, name: str, steps: int, forward: int, backward: int
) -> None:
    ranks, q, n = 4, 2, 12
    profile, own = kernel(bench, name, ranks)
    # The cube is cut into q^3 cells of 6^3 points, of which each process has q. All but the last
    # along a direction have a neighbour on that side: q - 1 cells send two layers of 5 unknowns.
    face = (q - 1) * 2 * 5 * (n // q) ** 2 * DOUBLE
    # Boundary points are not solved for, so 5 x 5 lines go through each face between cells.
    lines = ((n - 2) // q) ** 2
    solved = steps + 1
    # The residual is computed twice more: of the exact solution, to give the forcing, and at the
    # end, to verify it.
    exchanges = solved + 2
    expected = {
        face: 6 * ranks * exchanges,
        lines * forward * DOUBLE: 3 * (q - 1) * ranks * solved,
        lines * backward * DOUBLE: 3 * (q - 1) * ranks * solved,
    }
    assert counted(profile, "MPI_Isend") == expected
    assert counted(profile, "MPI_Irecv") == expected
    assert own["MPI_Isend"] == ranks * steps * (6 + 2 * 3 * (q - 1))
    # Five norms of the residual and of the error.
    assert counted(profile, "MPI_Allreduce")[5 * DOUBLE] == 2 * ranks
    sent = sum(size * count for size, count in expected.items())
    assert profile.send_table["bytes"].sum() == sent


def test_lu_pipelines_rows_and_exchanges_ghost_layers(bench: Bench) -> None:
    profile, own = kernel(bench, "lu")
    n, iterations = 12, 50
    # One of two blocks of 6 x 12 x 12 points waits for a row of the other in each inner plane, in
    # the lower sweep one way and in the upper one back.
    row, sweeps = 5 * n * DOUBLE, 2 * (n - 2) * (iterations + 1)
    # Two layers of 5 unknowns go both ways for each residual: one per iteration, and one after
    # each start, of the warm-up and of the timed part.
    layers, residuals = 2 * 5 * n * n * DOUBLE, iterations + 1 + 2
    expected = {row: sweeps, layers: RANKS * residuals}
    found = counted(profile, "MPI_Send")
    assert {size: found[size] for size in expected} == expected
    assert own["MPI_Send"] == 2 * (n - 2) * iterations + RANKS * iterations
    # Norms of the last correction, of the residual and of the error; three parts of the integral.
    assert counted(profile, "MPI_Allreduce")[5 * DOUBLE] == 3 * RANKS
    assert counted(profile, "MPI_Allreduce")[DOUBLE] >= 3 * RANKS


def test_profiles_of_kernels_do_not_change_their_results(bench: Bench) -> None:
    profile, _ = kernel(bench, "cg")
    program = bench.kernel("npb_cg")
    plain = bench.launch(RANKS, program, "S", profiled=False)
    again = bench.launch(RANKS, program, "S")

    def zeta(output: str) -> float:
        line = next(line for line in output.splitlines() if '"verified"' in line)
        return float(json.loads(line)["verification"][0]["value"])

    assert zeta(plain.stdout) == zeta(again.stdout)
    assert profile.complete
