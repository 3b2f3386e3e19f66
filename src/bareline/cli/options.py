"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Tidy rows as JSON on stdout.")]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
RunsArgument = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")]
PlatformsOption = Annotated[
    Path | None,
    typer.Option("--platforms", metavar="FILE", help="Platform file (default: platforms.toml)."),
]
BaselineOption = Annotated[
    str | None, typer.Option("--baseline", metavar="P", help="Platform to compare with.")
]
MarginOption = Annotated[
    float | None,
    typer.Option("--margin", min=0.0001, max=0.9999, help="Difference that does not matter."),
]
WaitQuietOption = Annotated[
    str | None,
    typer.Option(
        "--wait-quiet",
        metavar="[=TIME]",
        help="Begin when other programs let this machine alone, after TIME (30min) all the same.",
    ),
]
#: What options stand for that are given without a value.
OPTIONAL_VALUES = {"--wait-quiet": "30min"}
ShowControlOption = Annotated[
    bool, typer.Option("--control", help="Also the control: the baseline against itself.")
]
DetailsOption = Annotated[bool, typer.Option("--all", help="Also detail metrics.")]
