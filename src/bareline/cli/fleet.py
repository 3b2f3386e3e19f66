"""A cluster node by node: nodes."""

from __future__ import annotations

from typing import Annotated

import typer

from bareline.cli.options import FileOption, JsonOption, MarginOption, RunArgument
from bareline.cli.output import EXIT_CONDITION, emit_blocks, prints

app = typer.Typer()


@app.command()
@prints("nodes", "report.content.fleet.Deviation")
def nodes(
    path: RunArgument,
    margin: MarginOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="With --json: also every node that is as it should be.")
    ] = False,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 if anything deviates.")] = False,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """Name the nodes, links and switches of a cluster that are worse than the others."""
    from bareline.analysis.judgements.survey import survey
    from bareline.analysis.numbers.fleet import fleets
    from bareline.analysis.numbers.records import read_runs
    from bareline.report.content.fleet import deviating_rows, node_rows
    from bareline.report.terminal.fleet import survey_blocks
    from bareline.store.run import Run
    from bareline.vocabulary.errors import AnalysisError

    records = read_runs([Run.open(path)])
    found = [survey(fleet, margin or records.margin) for fleet in fleets(records)]
    if not found:
        raise AnalysisError(
            "no node was measured by itself",
            where=str(path),
            hint="`bareline run node-survey --on PLATFORM` measures each",
        )

    rows = (*(deviating_rows,), *((node_rows,) if everything else ()))
    emit_blocks(
        as_json,
        lambda: [row for one in found for give in rows for row in give(one)],
        lambda: [block for one in found for block in survey_blocks(one)],
    )
    if fail and any(one.deviating for one in found):
        raise typer.Exit(EXIT_CONDITION)
