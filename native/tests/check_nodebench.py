"""Run nodebench at small sizes and check what it prints and refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from protocol import check_lines


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it to the end."""
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def check_stream(program: str) -> None:
    """Run all kernels with both kinds of stores, on parts of unequal length."""
    for threads in ("1", "2", "3"):
        for stores in ("regular", "nontemporal"):
            result = run(
                program,
                *("stream", "--size", "1000192", "--repeat", "3"),
                *("--threads", threads, "--stores", stores),
            )
            if stores == "nontemporal" and "no non-temporal stores" in result.stderr:
                assert result.returncode == 2, result
                continue
            assert result.returncode == 0, result
            points, cut = check_lines(result.stdout, "nodebench", "stream")
            kernels = [point["point"]["kernel"] for point in points]
            assert kernels == ["copy", "scale", "add", "triad"] and not cut, result.stdout
            fields = {"point", "iterations", "verified", "rate", "loop_rate"}
            assert all(set(point) == fields for point in points), points


def check_latency(program: str) -> None:
    """Walk small working sets; every point asked for is measured or cut with its reason."""
    result = run(program, "latency", "--sizes", "4K:96K", "--budget", "0.001")
    assert result.returncode == 0, result
    points, cut = check_lines(result.stdout, "nodebench", "latency")
    asked = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96]
    said = [(point["point"]["working_set_bytes"], point["point"]["page_bytes"]) for point in points + cut]
    expected = [(size << 10, page) for size in asked for page in (4 << 10, 2 << 20)]
    assert sorted(said) == sorted(expected), said
    assert all(point["reason"] for point in cut), cut
    assert all(0 < point["time"]["median"] < 1e-5 for point in points), points
    one_kind = run(program, "latency", "--sizes", "4K:4K", "--budget", "0.001", "--pages", "small")
    points, cut = check_lines(one_kind.stdout, "nodebench", "latency")
    assert [point["point"]["page_bytes"] for point in points + cut] == [4 << 10], one_kind


def check_random_access(program: str) -> None:
    """Update a small table, alone and on every core; a short budget makes fewer updates."""
    for mode, budget in (("single", "10"), ("star", "10"), ("single", "1e-9")):
        result = run(program, "random_access", "--size", "1M", "--mode", mode, "--budget", budget)
        assert result.returncode == 0, result
        points, cut = check_lines(result.stdout, "nodebench", "random_access")
        assert len(points) == 1 and not cut and points[0]["errors"] == 0, points
        whole = 4 * (1 << 20) // 8
        assert (points[0]["updates"] == whole) == (budget == "10"), points


def check_dgemm(program: str) -> None:
    """Multiply matrices, where there is a BLAS."""
    result = run(program, "dgemm", "--n", "65", "--repeat", "3", "--threads", "1")
    if "built without a BLAS" in result.stderr:
        print("dgemm: no BLAS, not tested")
        return
    assert result.returncode == 0, result
    points, _ = check_lines(result.stdout, "nodebench", "dgemm")
    assert len(points) == 1 and points[0]["point"] == {"n": 65}, points
    assert 0 <= points[0]["residual"] <= 1, points


def check_errors(program: str) -> None:
    """Give wrong command lines, and a place that takes no output."""
    for arguments in (
        [],
        ["swim"],
        ["stream", "--n", "5"],
        ["stream", "--size", "1"],
        ["stream", "--threads", "0"],
        ["stream", "--repeat"],
        ["stream", "--stores", "odd"],
        ["dgemm", "--n", "x"],
        ["stream", "more"],
        ["stream", "--pages", "small"],
        ["latency", "--sizes", "16K"],
        ["latency", "--sizes", "16K:4K"],
        ["latency", "--sizes", "5K:5K"],
        ["latency", "--pages", "1G"],
        ["random_access", "--size", "4096"],
        ["random_access", "--mode", "all"],
    ):
        result = run(program, *arguments)
        assert result.returncode == 2 and result.stdout == "", (arguments, result)
        assert result.stderr.startswith("nodebench: ") and result.stderr.count("\n") == 1, result
    with Path("/dev/full").open("w") as full:
        failed = subprocess.run(
            [program, "stream", "--size", "4096", "--repeat", "1"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert failed.returncode == 1 and "cannot write results" in failed.stderr, failed


if __name__ == "__main__":
    check_stream(sys.argv[1])
    check_latency(sys.argv[1])
    check_random_access(sys.argv[1])
    check_dgemm(sys.argv[1])
    check_errors(sys.argv[1])
