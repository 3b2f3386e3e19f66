"""Check that mpibench refuses, cuts and detects what it should."""

from __future__ import annotations

import argparse
import sys

from protocol import Launcher, check_lines

USAGE = [
    ([], "no benchmark named"),
    (["-i", "5"], "no benchmark named"),
    (["pingpnog"], "unknown benchmark 'pingpnog'"),
    (["pingpong", "--nope"], "unknown option '--nope'"),
    (["pingpong", "-Q"], "unknown option '-Q'"),
    (["pingpong", "-m"], "needs a value"),
    (["pingpong", "-m", "8:4"], "above the largest"),
    (["pingpong", "-m", "eight"], "not a size"),
    (["pingpong", "-m", "8:2G"], "above the limit"),
    (["pingpong", "--sizes", "8,"], "not a size"),
    (["pingpong", "--sizes", "64,8"], "ascending order"),
    (["pingpong", "--sizes", "8,2G"], "above the limit"),
    (["barrier", "--sizes", "8"], "has no message size"),
    (["pingpong", "-i", "0"], "not a count"),
    (["pingpong", "-t", "-1"], "not a time"),
    (["pingpong", "8"], "stray word '8'"),
    (["barrier", "-m", "8"], "has no message size"),
]

# Everything that moves data or waits, under a library that spoils it.
SPOILED = [
    *("pingpong", "bandwidth", "bibandwidth", "multi_pair", "overlap_p2p", "sendrecv", "exchange"),
    *("allreduce", "reduce", "reduce_scatter", "bcast", "scatter", "gather", "allgather"),
    *("alltoall", "barrier", "ring_natural", "ring_random"),
]


def ours(stderr: str) -> list[str]:
    """Keep the program's own lines: launchers add theirs."""
    return [line for line in stderr.splitlines() if line.startswith("mpibench: ")]


def check_usage(launcher: Launcher, program: str) -> None:
    """Give wrong command lines: one line each, nothing on stdout, exit 2."""
    for arguments, message in USAGE:
        result = launcher.run(2, program, *arguments)
        assert result.returncode == 2, (arguments, result)
        assert result.stdout == "", (arguments, result.stdout)
        lines = ours(result.stderr)
        assert len(lines) == 1 and message in lines[0], (arguments, result.stderr)
    result = launcher.run(1, program, "pingpong")
    assert result.returncode == 2 and "start more" in result.stderr, result


def check_spoiled(launcher: Launcher, program: str, library: str) -> None:
    """Spoil what is delivered: the header at most, one line, exit 3."""
    for benchmark in SPOILED:
        sizes = [] if benchmark == "barrier" else ["-m", "64:64"]
        preload = ["env", f"LD_PRELOAD={library}", program, benchmark, *sizes, "-i", "5"]
        result = launcher.run(2, *preload)
        assert result.returncode == 3, (benchmark, result)
        assert ours(result.stderr) and "delivered wrong data" in ours(result.stderr)[0], result
        assert len(result.stdout.splitlines()) <= 1, (benchmark, result.stdout)
        print(f"{benchmark}: {ours(result.stderr)[0]}")


def check_cuts(launcher: Launcher, program: str) -> None:
    """Ask for what does not fit: it is named, by size and reason."""
    result = launcher.run(2, program, "alltoall", "-m", "1:1M", "-M", "4K", "-i", "3")
    points, cut = check_lines(result.stdout, "mpibench", "alltoall")
    assert [p["point"]["size_bytes"] for p in points] == [2**k for k in range(11)], points
    assert [c["point"]["size_bytes"] for c in cut] == [2**k for k in range(11, 21)], cut
    assert all("limit (-M)" in c["reason"] for c in cut), cut

    result = launcher.run(2, program, "allreduce", "-m", "1:16", "-i", "3")
    points, cut = check_lines(result.stdout, "mpibench", "allreduce")
    assert [p["point"]["size_bytes"] for p in points] == [8, 16], points
    assert [c["point"]["size_bytes"] for c in cut] == [1, 2, 4], cut

    # A budget below any call: nothing is measured, everything is named, and it ends at once.
    result = launcher.run(2, program, "pingpong", "-m", "8:64", "-t", "1e-9")
    assert result.returncode == 0, result
    points, cut = check_lines(result.stdout, "mpibench", "pingpong")
    assert not points and [c["point"]["size_bytes"] for c in cut] == [8, 16, 32, 64], result.stdout
    assert "budget (-t)" in cut[0]["reason"] and "larger than" in cut[1]["reason"], cut

    # A budget that stops the iterations short of what was asked.
    asked = 10_000_000
    result = launcher.run(2, program, "pingpong", "-m", "8:8", "-t", "0.05", "-i", str(asked))
    points, _ = check_lines(result.stdout, "mpibench", "pingpong")
    assert 3 <= points[0]["iterations"] < asked == points[0]["iterations_asked"], points


def main() -> int:
    """Run all checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--spoil", required=True)
    parser.add_argument("program")
    arguments = parser.parse_args()
    launcher = Launcher(arguments.launcher)
    check_usage(launcher, arguments.program)
    check_cuts(launcher, arguments.program)
    check_spoiled(launcher, arguments.program, arguments.spoil)
    return 0


if __name__ == "__main__":
    sys.exit(main())
