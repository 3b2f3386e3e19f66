"""Limits that may only fall: the scripts that count read and lower ``scripts/limits.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

LIMITS = Path(__file__).resolve().with_name("limits.toml")
HEADER = """\
# Limits of what `make lint` counts, for the whole of the source and of the documentation.
# `scripts/prose.py --lower` and `scripts/density.py --lower` write what has fallen, with the slack
# that parallel branches need. Raise a limit by hand, with the reason in the commit.
"""

Counts = Mapping[str, float]


def read_limits(path: Path = LIMITS) -> dict[str, dict[str, float]]:
    """Return the limits of each section, by the name of the count."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def exceeded(counts: Counts, limits: Counts) -> Iterator[str]:
    """Describe each count above its limit; a count without a limit must be 0."""
    for name, count in counts.items():
        limit = limits.get(name, 0)
        if count > limit:
            yield f"{name}: {count:g}, and the limit is {limit:g}"


def lowered(counts: Counts, limits: Counts, slack: Counts) -> dict[str, float]:
    """Return the new limits: the count and its slack where this is below the present limit."""
    new = {}
    for name, count in counts.items():
        allowed = round(count + slack[name], 2)
        new[name] = min(limits.get(name, allowed), allowed)
    return new


def write_limits(sections: Mapping[str, Counts], path: Path = LIMITS) -> None:
    """Write all sections."""
    lines = [HEADER.rstrip()]
    for section, limits in sections.items():
        lines += ["", f"[{section}]"]
        lines += [f'"{name}" = {limit:g}' for name, limit in limits.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
