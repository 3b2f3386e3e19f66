"""A sweep of mpibench over message sizes, split into simulations and joined again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def sizes_of(argv: Sequence[str]) -> tuple[int, int] | None:
    """Give the smallest and largest message that mpibench is asked for; None without ``-m``."""
    if "-m" not in argv:
        return None
    low, colon, high = argv[list(argv).index("-m") + 1].partition(":")
    if not colon or not low.isdigit() or not high.isdigit():
        return None
    return int(low), int(high)


def with_sizes(argv: Sequence[str], sizes: tuple[int, int]) -> list[str]:
    """Give the command line for other sizes."""
    line = list(argv)
    line[line.index("-m") + 1] = f"{sizes[0]}:{sizes[1]}"
    return line


def join(outputs: Sequence[str]) -> str:
    """Join what mpibench printed in several parts of a sweep into what one run prints.

    An output that does not end as it should makes the whole one end early, so that whoever reads
    it sees that something is missing.
    """
    header: list[str] = []
    points: list[str] = []
    cut: list[Any] = []
    for output in outputs:
        lines = output.splitlines()
        try:
            end = json.loads(lines[-1]) if lines else {}
        except ValueError:
            end = {}
        header = header or lines[:1]
        points += [line for line in lines[1:] if line.startswith('{"point"')]
        if not isinstance(end, dict) or end.get("end") is not True:
            return "\n".join([*header, *points]) + "\n"
        cut += end.get("cut", [])
    last = json.dumps({"end": True, "points": len(points), "cut": cut}, separators=(",", ":"))
    return "\n".join([*header, *points, last]) + "\n"
