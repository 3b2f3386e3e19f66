"""What there is: platforms, probes, studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from bareline.report.blocks import Rows
from bareline.report.writers.columns import Column, print_table
from bareline.report.writers.console import clean
from bareline.report.writers.terminal import print_blocks


def print_platforms(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the platforms: those available here first, then why the others are not."""
    ready = [row for row in rows if row["available"]]
    heads = [Column("platform"), Column("type"), Column("nodes", "number")]
    print_table(
        [*heads, Column("")],
        [[row["platform"], row["type"], str(row["nodes"]), _titled(row)] for row in ready],
        console,
    )
    others = [row for row in rows if not row["available"]]
    if others:
        console.print()
        console.print(Text("not available here", style="bold"))
        print_table(
            [*heads, Column("why, and what to do")],
            [
                [
                    row["platform"],
                    row["type"],
                    str(row["nodes"]),
                    "; ".join(filter(None, [row["reason"], row["hint"]])),
                ]
                for row in others
            ],
            console,
        )


def _titled(row: Mapping[str, Any]) -> str:
    """Give a platform's title, and what it costs just now."""
    now = f"runs now: {row['running']}" if row["running"] else ""
    return "; ".join(filter(None, [row["title"], now]))


def print_probes(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the probes by layer."""
    print_blocks(
        [
            Rows(rows)
            .text("probe", lambda row: row["probe"])
            .text("layer", lambda row: row["layer"])
            .text("", lambda row: row["summary"])
            .table()
        ],
        console,
    )


def print_probe(row: Mapping[str, Any], console: Console) -> None:
    """Print one probe with its parameters and metrics."""
    console.print(Text(clean(row["probe"]), style="bold") + Text(f"  {clean(row['summary'])}"))
    if row["source"]:
        console.print(Text(f"source: {clean(row['source'])}"))
    if row["min_ranks"] > 1:
        console.print(f"needs at least {row['min_ranks']} ranks")
    if row["nodes"]:
        console.print(f"measures between {row['nodes']} nodes")
    console.print()
    if row["params"]:
        print_table(
            [Column("parameter"), Column("default")],
            [[name, str(value)] for name, value in row["params"].items()],
            console,
        )
        console.print()
    print_blocks(
        [
            Rows(row["metrics"])
            .text("metric", lambda metric: metric["metric"])
            .text("unit", lambda metric: metric["unit"])
            .text("better", lambda metric: metric["better"])
            .text(
                "",
                lambda metric: (
                    "headline"
                    if metric["metric"] == row["headline"]
                    else "detail"
                    if metric["detail"]
                    else ""
                ),
            )
            .table()
        ],
        console,
    )


def print_studies(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the built-in studies."""
    print_blocks(
        [
            Rows(rows)
            .text("study", lambda row: row["study"])
            .figure("cases", lambda row: str(row["cases"]))
            .figure("trials of each", lambda row: str(row["launches"]))
            .text("scales", lambda row: ", ".join(row["scales"]))
            .text("", lambda row: row["title"])
            .table()
        ],
        console,
    )


def print_schemas(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the names of schemas."""
    heads = [Column("schema"), Column("of")]
    print_table(heads, [[row["schema"], row["of"]] for row in rows], console)
