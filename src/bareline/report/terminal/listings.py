"""What there is: platforms and what they are, probes, studies, published and calibrated figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bareline.report.blocks import Column, Rows
from bareline.report.writers.columns import fitting_tables, print_table
from bareline.report.writers.console import clean
from bareline.report.writers.terminal import print_blocks
from bareline.vocabulary.units import count

if TYPE_CHECKING:  # what only lists loads no tables
    from bareline.published.model import PublishedStudy
    from bareline.report.content.facts import FactLine


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


def print_publications(studies: Sequence[PublishedStudy], console: Console) -> None:
    """Print what has been published, and which study repeats it."""
    rows = [
        [study.id, study.publication.study, str(study.count), study.publication.title]
        for study in studies
    ]
    heads = [Column("publication"), Column("study"), Column("figures", "number")]
    print_table([*heads, Column("title", "text")], rows, console)
    console.print("`bareline published NAME` lists the figures.", style="dim", highlight=False)


def print_published(
    studies: Sequence[PublishedStudy], rows: Sequence[Mapping[str, Any]], console: Console
) -> None:
    """Print every figure of publications, with what does not fit together below."""
    columns = [
        Column("benchmark", "text"),
        Column("at", "text"),
        Column("platform", "text"),
        Column("printed", "text"),
        Column("in", "text"),
    ]
    for number, study in enumerate(studies):
        if number:
            console.print()
        console.print(study.publication.short, style="bold", highlight=False)
        console.print(study.publication.source, style="dim", highlight=False)
        own = [row for row in rows if row["publication"] == study.id]
        doubts: dict[str, None] = dict.fromkeys(text for row in own for text in row["doubts"])
        marks = {text: f"[{place}]" for place, text in enumerate(doubts, 1)}
        print_table(columns, [_published_row(row, marks) for row in own], console)
        for text, mark in marks.items():
            console.print(f"{mark} {text}", style="dim", highlight=False, markup=False)
        for note in study.publication.notes:
            console.print(note, style="dim", highlight=False, markup=False)


def _published_row(row: Mapping[str, Any], marks: Mapping[str, str]) -> list[str]:
    text = " ".join([row["text"], *(marks[doubt] for doubt in row["doubts"])])
    against = f"{row['platform']} / {row['baseline']}" if row["baseline"] else row["platform"]
    what = f"{row['benchmark']}, {row['metric'].replace('_', ' ')}"
    return [what, row["conditions"], against, text, row["label"]]


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


def print_facts(
    rows: Sequence[FactLine], names: Sequence[str], console: Console, *, details: bool = False
) -> None:
    """Print the platforms' characteristics by group: what differs, and on demand the rest.

    Platforms that do not fit beside each other stand in further tables below.

    - `names`: the platforms, in the order of each row's values.
    - `details`: also details that differ, and what is the same everywhere.
    """
    shown = [row for row in rows if details or not (row.equal or row.detail)]
    if not shown and rows:
        console.print(f"Nothing differs between {count(len(names), 'platform')}.")
    if shown:
        fields = [[f"  {row.label}", *row.values] for row in shown]
        heads = [Column("characteristic"), *map(Column, names)]
        for index, places in enumerate(fitting_tables(heads, fields, console.width)):
            if index:
                console.print()
            own = [heads[0], *(heads[place] for place in places)]
            print_table(own, list(_grouped(shown, places)), console)
    same = sum(row.equal for row in rows)
    left_out = len(rows) - len(shown) - same
    folded = [f"{count(left_out, 'detail')} that differ"] if left_out and not details else []
    folded += (
        [f"{count(same, 'characteristic')} the same everywhere"] if not details and same else []
    )
    if folded:
        console.print(Text(f"{' and '.join(folded)}; --all shows them.", style="dim"))


def _grouped(rows: Sequence[FactLine], places: Sequence[int]) -> Iterator[list[Text | str]]:
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            yield [Text(clean(group), style="bold"), *("" for _ in places)]
        yield [f"  {row.label}", *(row.values[place - 1] for place in places)]
