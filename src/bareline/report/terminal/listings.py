"""What there is: platforms, probes, studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from bareline.report.writers.columns import Column, print_table
from bareline.report.writers.console import clean


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
    print_table(
        [Column("probe"), Column("layer"), Column("")],
        [[row["probe"], row["layer"], row["summary"]] for row in rows],
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
    print_table(
        [Column("metric"), Column("unit"), Column("better"), Column("")],
        [
            [
                metric["metric"],
                metric["unit"],
                metric["better"],
                "headline"
                if metric["metric"] == row["headline"]
                else "detail"
                if metric["detail"]
                else "",
            ]
            for metric in row["metrics"]
        ],
        console,
    )


def print_studies(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the built-in studies."""
    print_table(
        [Column("study"), Column("cases", "number"), Column("trials of each", "number"),
         Column("scales"), Column("")],
        [[row["study"], str(row["cases"]), str(row["launches"]), ", ".join(row["scales"]),
          row["title"]] for row in rows],
        console,
    )  # fmt: skip


def print_schemas(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the names of schemas."""
    heads = [Column("schema"), Column("of")]
    print_table(heads, [[row["schema"], row["of"]] for row in rows], console)
