"""The JSON lines of bareline's native programs, checked; and how to launch them under test."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

SUMMARY = ("min", "q1", "median", "q3", "p95", "p99", "max")


def _reject(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def check_lines(text: str, program: str, benchmark: str) -> tuple[list[dict[str, Any]], list[Any]]:
    """Check an output that ended well; give its points and what was cut."""
    assert text.endswith("\n"), "last line is torn"
    lines = [json.loads(line, parse_constant=_reject) for line in text.splitlines()]
    header, *points, end = lines
    assert header["bareline"] == 1 and header["program"] == program, header
    assert header["benchmark"] == benchmark, header
    assert 0 < header["timer_resolution_s"] < 1e-3, header
    assert end["end"] is True and end["points"] == len(points), end
    for point in points:
        check_point(point)
    seen = [json.dumps(point["point"]) for point in points]
    assert len(set(seen)) == len(seen), "a point twice"
    return points, end["cut"]


def check_point(point: dict[str, Any]) -> None:
    """Check one point: verified, and every series in order and above zero."""
    assert point["verified"] is True, point
    assert point["iterations"] >= 1, point
    series = [key for key, value in point.items() if isinstance(value, dict) and key != "point"]
    assert series, f"no series: {point}"
    for key in series:
        summary = point[key]
        values = [summary[name] for name in SUMMARY]
        assert values == sorted(values) and values[0] > 0, (key, summary)
        tolerance = 1e-9 * values[-1]
        assert values[0] - tolerance <= summary["mean"] <= values[-1] + tolerance, (key, summary)
    for key, value in point.items():
        if key.startswith(("loop_", "rank_")) and "overlap" not in key:
            assert value > 0, (key, point)
        if "overlap" in key:
            assert 0 <= value <= 1, (key, point)


@dataclass(frozen=True)
class Launcher:
    """An mpiexec, told to start more ranks than there are cores."""

    path: str

    def command(self, ranks: int, *program: str) -> list[str]:
        """Give the argument vector that starts so many ranks."""
        version = subprocess.run(
            [self.path, "--version"], capture_output=True, text=True, check=False
        ).stdout
        oversubscribe = ["--oversubscribe"] if "Open" in version else []
        return [self.path, *oversubscribe, "-n", str(ranks), *program]

    def run(self, ranks: int, *program: str) -> subprocess.CompletedProcess[str]:
        """Start so many ranks and wait for them."""
        environment = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1")
        if os.geteuid() == 0:
            environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(
            self.command(ranks, *program),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=environment,
        )
