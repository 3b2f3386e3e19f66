"""What many runs show over time: trend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import (
    DetailsOption,
    FailIfOption,
    FileOption,
    JsonOption,
    MarginOption,
    OnlyLayers,
    OnlyMetrics,
    OnlyPlatforms,
    OnlyProbes,
    run_path,
    selection,
)
from bareline.cli.output import complain_of, emit_blocks, prints

if TYPE_CHECKING:
    from bareline.store.run import Run

app = typer.Typer()


@app.command()
@prints("trend", "analysis.judgements.trend.SeriesRow")
def trend(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Run directories, or folders of them.", parser=run_path
        ),
    ],
    margin: MarginOption = None,
    everything: DetailsOption = False,
    fail_if: FailIfOption = None,
    probes: OnlyProbes = None,
    platforms: OnlyPlatforms = None,
    metrics: OnlyMetrics = None,
    layers: OnlyLayers = None,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """Show metrics over runs in the order of their dates, and which changed certainly, and when."""
    from bareline.analysis.judgements.conditions import parse_condition
    from bareline.analysis.judgements.trend import trend_of
    from bareline.analysis.words.conditions import check_trend
    from bareline.report.terminal.trend import trend_blocks

    conditions = [parse_condition(text) for text in fail_if or []]
    asked = selection(probes, platforms, metrics, layers)
    found = trend_of(_runs(paths), margin, asked)
    outcomes = [check_trend(found, condition) for condition in conditions]
    emit_blocks(as_json, found.rows, lambda: trend_blocks(found, details=everything))
    complain_of(outcomes)


def _runs(paths: list[Path]) -> list[Run]:
    """Open runs; a folder that is none stands for those right below it."""
    from bareline.store.header import HEADER_FILE
    from bareline.store.naming import list_runs
    from bareline.store.run import Run

    found = []
    for path in paths:
        below = [] if (path / HEADER_FILE).exists() else list_runs(path)
        found += below or [Run.open(path)]
    return list({run.path: run for run in found}.values())
