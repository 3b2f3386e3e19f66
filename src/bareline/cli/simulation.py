"""Simulated platforms: calibrate one from a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bareline.cli.options import JsonOption, QuietOption, run_path
from bareline.cli.output import complain, emit_blocks, prints

app = typer.Typer()

NodesOption = Annotated[int, typer.Option("--nodes", metavar="N", min=2, help="Nodes to simulate.")]
EagerOption = Annotated[
    int,
    typer.Option(
        "--eager", metavar="BYTES", min=1, help="Size from which sender and receiver meet."
    ),
]
FromOption = Annotated[
    list[Path],
    typer.Option(
        "--from",
        metavar="RUN",
        parser=run_path,
        help="Run with a ping-pong between two nodes; again for what it lacks.",
    ),
]


@app.command()
@prints("calibrate", "session.simulation.Agreement")
def calibrate(
    from_: FromOption,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="NAME.toml", help="Platform file to write.")
    ],
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="P", help="Which platform of the run.")
    ] = None,
    nodes: NodesOption = 16,
    cores: Annotated[
        int, typer.Option("--cores", metavar="N", min=1, help="Cores of each node.")
    ] = 8,
    eager_bytes: EagerOption = 65_536,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a simulated platform from a run, and say how well it agrees with that run."""
    import tomli_w

    from bareline.report.terminal.listings import calibration_blocks
    from bareline.session.calibration import calibrate as calibrate_run
    from bareline.store.run import Run
    from bareline.vocabulary.errors import UsageError

    done = calibrate_run(
        [Run.open(path) for path in from_],
        platform=platform,
        nodes=nodes,
        cores=cores,
        eager_bytes=eager_bytes,
        tell=lambda what: None if quiet else complain(f"simulating {what}"),
    )
    name = out.stem
    try:
        out.write_text(tomli_w.dumps({"platform": {name: done.table}}), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(out)) from error
    emit_blocks(as_json, done.rows, lambda: calibration_blocks(done.rows(), done.left_out))
    if not as_json:
        print(f"bareline run STUDY --on {name} --platforms {out}")
