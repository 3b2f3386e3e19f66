"""Check a Fortran kernel: does it verify, refuse and notice what it should."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from calls import CALLS_ON_4
from protocol import Launcher

#: What the launcher says where the processor lacks an instruction set.
NOT_HERE = "this processor does not have it"


@dataclass(frozen=True)
class Benchmark:
    """A program under test."""

    launcher: Launcher
    program: str
    suite: str
    name: str

    def run(self, ranks: int, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Start it with these words on its command line."""
        setting = [f"{key}={value}" for key, value in environment.items()]
        prefix = ["env", *setting] if setting else []
        return self.launcher.run(ranks, *prefix, self.program, *words)

    def own_lines(self, stderr: str) -> list[str]:
        """Keep the program's own lines: launchers add theirs."""
        return [
            line for line in stderr.splitlines() if line.startswith(f"{self.suite}_{self.name}: ")
        ]


def reject_constant(constant: str) -> float:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{constant} is not JSON")


def read_output(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the header and the point of an output of three lines."""
    rows = [json.loads(line, parse_constant=reject_constant) for line in text.splitlines()]
    assert len(rows) == 3, text
    header, point, end = rows
    assert end == {"end": True, "points": 1, "cut": []}, end
    assert point["point"] == {}, point
    return header, point


def check_header(header: dict[str, Any], benchmark: Benchmark, ranks: int) -> None:
    """Check what a header says of the run."""
    assert header["bareline"] == 1 and header["program"] == benchmark.suite, header
    assert header["benchmark"] == benchmark.name and header["class"] == "S", header
    assert header["ranks"] == ranks and header["threads"] >= 1, header
    assert header["mpi_library"] and header["instruction_set"] and header["problem"], header
    says_its_blas = bool(header.get("blas")) and bool(header.get("blas_kernels"))
    assert says_its_blas == (benchmark.name == "planewave"), header


def check_point(point: dict[str, Any], benchmark: str, ranks: int) -> None:
    """Check that a point's times fit together, its quantities passed and its messages are right."""
    assert point["verified"] is True, point
    assert point["verification"], point
    for quantity in point["verification"]:
        assert quantity["passed"] is True, quantity
        assert quantity["deviation"] <= quantity["tolerance"], quantity
    assert point["time_s"] > 0 and point["iterations"] >= 1, point
    assert math.isclose(point["rate_op_s"], point["operations"] / point["time_s"]), point
    for part in ("compute_s", "communication_s"):
        spread = point[part]
        assert 0 <= spread["min"] <= spread["mean"] * (1 + 1e-9), (part, spread)
        assert spread["mean"] <= spread["max"] * (1 + 1e-9), (part, spread)
    assert point["compute_s"]["max"] <= point["time_s"] * (1 + 1e-9), point
    expected = point["compute_s"]["max"] / point["compute_s"]["mean"]
    assert math.isclose(point["imbalance"], expected, rel_tol=1e-6), point
    functions = point["mpi_s"]
    assert all(f["calls"] >= 1 for f in functions.values()), functions
    assert functions or ranks == 1, point
    if ranks == 4:
        calls = {name: function["calls"] for name, function in functions.items()}
        assert calls == CALLS_ON_4[benchmark], (calls, CALLS_ON_4[benchmark])
    together = sum(f["mean"] for f in functions.values())
    assert math.isclose(together, point["communication_s"]["mean"], abs_tol=1e-9), point


def check_verifies(benchmark: Benchmark, ranks: int, **environment: str) -> None:
    """Class S passes; the output is complete and consistent."""
    result = benchmark.run(ranks, "S", **environment)
    if NOT_HERE in result.stderr:
        print(f"{environment}: not on this processor")
        return
    assert result.returncode == 0, result
    assert not benchmark.own_lines(result.stderr), result.stderr
    header, point = read_output(result.stdout)
    check_header(header, benchmark, ranks)
    wanted = environment.get("BARELINE_INSTRUCTION_SET", header["instruction_set"])
    assert header["instruction_set"] == wanted, header
    check_point(point, benchmark.name, ranks)


def check_part(benchmark: Benchmark, ranks: int) -> None:
    """One iteration: nothing is verified, the output says so, and its operations are its share."""
    whole, part = benchmark.run(ranks, "S"), benchmark.run(ranks, "S", "-i", "1")
    assert part.returncode == 0, part
    _, all_of_it = read_output(whole.stdout)
    _, point = read_output(part.stdout)
    count = all_of_it["iterations"]
    assert point["not_verified"] == f"1 of {count} iterations", point
    assert "verified" not in point and point["verification"] == [], point
    assert point["iterations"] == 1, point
    assert math.isclose(point["operations"], all_of_it["operations"] / count, rel_tol=1e-9), point
    for words, message in (
        (["S", "-i", str(count + 1)], f"has {count} iterations"),
        (["S", "-i", "1.5"], "a whole number above 0"),
    ):
        check_refused(benchmark, ranks, words, message)


def check_refused(benchmark: Benchmark, ranks: int, words: list[str], message: str) -> None:
    """One line on stderr, nothing on stdout, exit code 2."""
    result = benchmark.run(ranks, *words)
    assert result.returncode == 2, (words, ranks, result)
    assert result.stdout == "", (words, result.stdout)
    lines = benchmark.own_lines(result.stderr)
    assert len(lines) == 1 and message in lines[0], (words, ranks, result.stderr)


def check_spoiled(benchmark: Benchmark, ranks: int, library: str, **environment: str) -> None:
    """What MPI delivers is wrong: the point says so, a line on stderr, exit code 3."""
    result = benchmark.run(ranks, "S", LD_PRELOAD=library, **environment)
    assert result.returncode == 3, result
    _, point = read_output(result.stdout)
    assert point["verified"] is False, point
    assert any(not quantity["passed"] for quantity in point["verification"]), point
    assert any("deviates" in line for line in benchmark.own_lines(result.stderr)), result.stderr


def main() -> int:
    """Run all checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--spoil", required=True)
    parser.add_argument("--spoil-functions", nargs="*", default=[])
    parser.add_argument("--program", required=True)
    parser.add_argument("--suite", required=True)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", required=True)
    parser.add_argument("--wrong-ranks", type=int, nargs="*", default=[])
    parser.add_argument("--too-large")
    parser.add_argument("--in-part", action="store_true", help="it runs part of its iterations")
    parser.add_argument("--instruction-sets", nargs="*", default=[])
    options = parser.parse_args()
    os.environ.pop("BARELINE_INSTRUCTION_SET", None)
    benchmark = Benchmark(
        Launcher(options.launcher), options.program, options.suite, options.benchmark
    )

    for ranks in options.ranks:
        check_verifies(benchmark, ranks)
    for chosen in options.instruction_sets:
        check_verifies(benchmark, options.ranks[0], BARELINE_INSTRUCTION_SET=chosen)
    for ranks in options.wrong_ranks:
        check_refused(benchmark, ranks, ["S"], "the number of processes must be")
    check_refused(benchmark, options.ranks[0], ["Q"], "unknown class 'Q'")
    check_refused(benchmark, options.ranks[1], ["SS"], "unknown class 'SS'")
    check_refused(benchmark, options.ranks[1], [], "one word is expected")
    check_refused(benchmark, options.ranks[1], ["S", "W"], "one word is expected")
    if options.in_part:
        check_part(benchmark, options.ranks[0])
    else:
        words = ["S", "-i", "1"]
        check_refused(benchmark, options.ranks[0], words, "no part of its iterations can run")
    if options.too_large:
        check_refused(benchmark, 1, [options.too_large], "available; take a smaller class")
    check_spoiled(benchmark, options.ranks[-1], options.spoil)
    for function in options.spoil_functions:
        check_spoiled(benchmark, options.ranks[-1], options.spoil, SPOIL=function)
    return 0


if __name__ == "__main__":
    sys.exit(main())
