"""Run every benchmark of mpibench at small sizes and check what it prints."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from protocol import Launcher, check_lines

# What a point has to carry besides `time` or `rate`, by the benchmark's kind.
TIMES = {"time", "loop_mean", "loop_mean_max", "rank_mean", "rank_mean_min", "rank_mean_max"}
RATES = {"rate", "loop_rate", "loop_rate_min"}
MESSAGES = {"message_rate", "loop_message_rate", "loop_message_rate_min"}
OVERLAP = {"time", "time_communication", "time_computation", "overlap", "rank_mean_overlap"}
ORDERS = {"orders", "orders_asked", "orders_sendrecv", "orders_nonblocking"}
COUNTS = {"point", "iterations", "iterations_asked", "verified"}


def expected_fields(benchmark: str) -> set[str]:
    """Give the members of a point with a size above zero."""
    if benchmark.startswith("overlap_"):
        return COUNTS | OVERLAP
    if benchmark == "init":
        return COUNTS | (TIMES - {"loop_mean", "loop_mean_max"})
    if benchmark == "first_message":
        return COUNTS | {"time", "next"}
    if benchmark == "beside_compute":
        return COUNTS | {"between", "alone", "allreduce", "allreduce_cold"}
    if benchmark == "overhead":
        return COUNTS | {"send", "receive"}
    counts = COUNTS | {"loop_iterations"}
    if benchmark in ("bandwidth", "bibandwidth"):
        return counts | RATES
    if benchmark == "multi_pair":
        return counts | RATES | MESSAGES
    if benchmark in ("pingpong", "sendrecv", "exchange"):
        return counts | TIMES | RATES
    if benchmark.startswith("ring_"):
        return counts | TIMES | RATES | ORDERS
    return counts | TIMES


def check_consistency(point: dict[str, Any]) -> None:
    """Check what must hold between the members of a point."""
    if "rank_mean" in point:
        assert point["rank_mean_min"] <= point["rank_mean"] * (1 + 1e-9), point
        assert point["rank_mean"] <= point["rank_mean_max"] * (1 + 1e-9), point
        # The slowest rank of each iteration is no faster than any one rank all along.
        if "orders" not in point:
            assert point["rank_mean_max"] <= point["time"]["mean"] * (1 + 1e-9), point
    if "loop_mean" in point:
        assert point["loop_mean"] <= point["loop_mean_max"] * (1 + 1e-9), point
    if "loop_rate" in point:
        assert point["loop_rate_min"] <= point["loop_rate"] * (1 + 1e-9), point


def check(launcher: Launcher, ranks: int, program: str, listed: dict[str, Any]) -> None:
    """Run one benchmark."""
    name = listed["name"]
    sized = "size_max_bytes" in listed
    # A short and a long message: MPI libraries send them by different protocols.
    sizes = [0 if listed.get("size_min_bytes") == 0 else 8, 65536]
    done = []
    for size in sizes if sized else [None]:
        options = ["-i", "5", "-x", "1", "-W", "4", "--permutations", "3", "-t", "20"]
        if size is not None:
            options += ["-m", f"{size}:{size}"]
        result = launcher.run(ranks, program, name, *options)
        assert result.returncode == 0, f"{name}: exit {result.returncode}: {result.stderr}"
        points, cut = check_lines(result.stdout, "mpibench", name)
        header = json.loads(result.stdout.splitlines()[0])
        assert header["ranks"] == ranks and header["nodes"] == 1, header
        assert header["rank_nodes"] == [0] * ranks, header
        assert not cut and len(points) == 1, (name, result.stdout)
        assert points[0]["point"] == ({} if size is None else {"size_bytes": size}), points
        expected = expected_fields(name) - (RATES if size == 0 else set())
        assert set(points[0]) == expected, (name, set(points[0]) ^ expected)
        check_consistency(points[0])
        done.append(size)
    print(f"{name}: {done}")


def main() -> int:
    """Check all that the program lists."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("program")
    arguments = parser.parse_args()
    launcher = Launcher(arguments.launcher)
    listing = subprocess.run(
        [arguments.program, "--list"], capture_output=True, text=True, check=True
    ).stdout
    benchmarks = [json.loads(line) for line in listing.splitlines()]
    assert len(benchmarks) >= 28, f"only {len(benchmarks)} benchmarks are listed"
    for listed in benchmarks:
        check(launcher, arguments.ranks, arguments.program, listed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
