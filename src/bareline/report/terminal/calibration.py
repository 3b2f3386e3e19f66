"""What `bareline calibrate` found, for people."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def print_calibration(
    rows: Sequence[Mapping[str, Any]], left_out: Sequence[str], console: Console
) -> None:
    """Print how far simulation and measurements lie apart, a line a probe, the worst point named.

    - `rows`: as of ``--json``: probe, ranks, params, measured, simulated, error.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("probe", overflow="fold")
    for title in ("ranks", "points", "median error", "worst"):
        table.add_column(title, justify="right")
    table.add_column("at", overflow="fold")
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["probe"], row["ranks"]), []).append(row)
    for (probe, ranks), group in groups.items():
        worst = max(group, key=lambda row: abs(row["error"]))
        median = statistics.median(abs(row["error"]) for row in group)
        at = ", ".join(f"{key} {value}" for key, value in worst["params"].items())
        table.add_row(
            probe, str(ranks), str(len(group)), f"{median:.1%}", f"{worst['error']:+.1%}", at
        )
    console.print(table)
    for line in left_out:
        console.print(f"not simulated: {line}", highlight=False, markup=False)
