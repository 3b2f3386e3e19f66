"""Run nodebench at small sizes and check what it prints and refuses."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from protocol import check_lines


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it to the end."""
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def check_stream(program: str) -> None:
    """Run all kernels with both kinds of stores, on parts of unequal length."""
    for threads in ("1", "2", "3"):
        for stores in ("regular", "nontemporal", "best"):
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
            fields = {"point", "iterations", "verified", "rate", "loop_rate", "stores"}
            assert all(set(point) == fields for point in points), points


def check_latency(program: str) -> None:
    """Walk small working sets; every point asked for is measured or cut with its reason."""
    result = run(program, "latency", "--sizes", "4K:96K", "--budget", "0.001")
    assert result.returncode == 0, result
    points, cut = check_lines(result.stdout, "nodebench", "latency")
    asked = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96]
    at = [point["point"] for point in points + cut]
    said = [(point["working_set_bytes"], point["page_bytes"]) for point in at]
    expected = [(size << 10, page) for size in asked for page in (4 << 10, 2 << 20)]
    assert sorted(said) == sorted(expected), said
    assert all(point["reason"] for point in cut), cut
    assert all(0 < point["time"]["median"] < 1e-5 for point in points), points
    one_kind = run(program, "latency", "--sizes", "4K:4K", "--budget", "0.001", "--pages", "small")
    points, cut = check_lines(one_kind.stdout, "nodebench", "latency")
    assert [point["point"]["page_bytes"] for point in points + cut] == [4 << 10], one_kind


def forbid_huge_pages() -> None:
    """Let the kernel give this process and what it starts no transparent huge pages."""
    pr_set_thp_disable = 41
    assert ctypes.CDLL(None).prctl(pr_set_thp_disable, 1, 0, 0, 0) == 0


def check_refused_pages(program: str) -> None:
    """Without 2 MiB pages their points are cut with the reason, never measured over 4 KiB ones."""
    result = subprocess.run(
        [program, "latency", "--sizes", "64K:64K", "--budget", "0.001"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=forbid_huge_pages,
        timeout=60,
    )
    points, cut = check_lines(result.stdout, "nodebench", "latency")
    sources = {point["pages"] for point in points}
    assert "transparent" not in sources, points
    if "reserved" not in sources:
        assert [point["point"]["page_bytes"] for point in cut] == [2 << 20], result
        assert "no 2 MiB pages" in cut[0]["reason"], cut


def check_random_access(program: str) -> None:
    """Update a small table, alone and on every core; a short budget makes fewer updates."""
    for mode, budget in (("single", "10"), ("star", "10"), ("single", "1e-9")):
        result = run(program, "random_access", "--size", "1M", "--mode", mode, "--budget", budget)
        assert result.returncode == 0, result
        points, cut = check_lines(result.stdout, "nodebench", "random_access")
        assert len(points) == 1 and not cut and points[0]["errors"] == 0, points
        whole = 4 * (1 << 20) // 8
        assert (points[0]["updates"] == whole) == (budget == "10"), points


def points_of(program: str, *arguments: str) -> list[dict[str, Any]]:
    """Run a benchmark and check its lines; no points where its library was not there to build."""
    result = run(program, *arguments)
    if "built without" in result.stderr:
        print(f"{arguments[0]}: not built, not tested")
        return []
    assert result.returncode == 0, result
    points, cut = check_lines(result.stdout, "nodebench", arguments[0])
    assert not cut, result.stdout
    return points


def check_arithmetic(program: str) -> None:
    """Multiply, solve and transform in every mode, also where the budget is spent at once."""
    for mode in ("single", "star", "all"):
        for point in points_of(program, "dgemm", "--n", "65", "--repeat", "3", "--mode", mode):
            assert point["point"] == {"n": 65} and point["iterations"] == 3, point
            assert 0 <= point["residual"] <= 1, point
            assert 0 < point["rate"]["median"] < 1.5 * point["peak_rate"] * point["peak_cores"]
            assert ("slowest_core_rate" in point) == (mode == "star"), point
    for size in (("--n", "65"), ("--memory-share", "1e-5")):
        for point in points_of(program, "linpack", *size, "--repeat", "3"):
            assert 0 < point["residual"] < 16, point
    (point,) = points_of(program, "linpack", "--n", "9", "--budget", "1e-9") or [{"iterations": 1}]
    assert point["iterations"] == 1, point
    too_large = run(program, "linpack", "--n", "3000000")
    assert too_large.returncode == 1 or "built without" in too_large.stderr, too_large
    assert too_large.stdout == "" and too_large.stderr.count("\n") == 1, too_large
    for mode in ("single", "all"):
        shape = ("--n", "96", "--n3", "10", "--plan", "estimate", "--mode", mode)
        said = [point["point"] for point in points_of(program, "fft", *shape)]
        assert said in ([], [{"transform": "1d", "length": 96}, {"transform": "3d", "length": 10}])
    sets = [point["point"]["instructions"] for point in points_of(program, "peak", "--repeat", "2")]
    assert sets and len(set(sets)) == len(sets), sets


def check_blas(program: str) -> None:
    """The header names the BLAS and the kernels that OpenBLAS runs: its own choice or a forced one.

    OpenBLAS has Nehalem's in every build for x86-64 that chooses at run time.
    """
    for benchmark in ("dgemm", "linpack"):
        result = run(program, benchmark, "--n", "65", "--repeat", "2")
        if "built without" in result.stderr:
            continue
        header = json.loads(result.stdout.splitlines()[0])
        assert header["blas_kernels"] and "blas" not in header["options"], header
        assert (header["blas_kernels"] == "not OpenBLAS") == (header["blas"] == "not OpenBLAS")
        if "DYNAMIC_ARCH" in header["blas"] and os.uname().machine == "x86_64":
            forced = subprocess.run(
                [program, benchmark, "--n", "65", "--repeat", "2"],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "OPENBLAS_CORETYPE": "Nehalem"},
                timeout=60,
            )
            assert json.loads(forced.stdout.splitlines()[0])["blas_kernels"] == "Nehalem", forced
    assert "blas" not in json.loads(run(program, "peak", "--repeat", "2").stdout.splitlines()[0])


def check_noise(program: str) -> None:
    """Time equal work; the bins cover the duration and hold no more than was lost."""
    for mode in ("single", "star"):
        (point,) = points_of(program, "noise", "--duration", "0.1", "--mode", mode)
        bins, quantum = point["lost_ns"], point["quantum"]
        assert len(bins) == round(0.1 / point["bin_s"]) and min(bins) >= 0, point
        lost_s = point["iterations"] * (quantum["mean"] - quantum["min"])
        assert sum(bins) * 1e-9 <= lost_s * 1.01 + 1e-6, (sum(bins), lost_s)
        assert 0 <= point["lost_share"] <= point["lost_share_max"], point


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
        ["dgemm", "--threads", "2"],
        ["linpack", "--mode", "star"],
        ["linpack", "--memory-share", "1.5"],
        ["noise", "--duration", "1e-4"],
        ["peak", "--n", "5"],
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
    check_refused_pages(sys.argv[1])
    check_random_access(sys.argv[1])
    check_arithmetic(sys.argv[1])
    check_blas(sys.argv[1])
    check_noise(sys.argv[1])
    check_errors(sys.argv[1])
