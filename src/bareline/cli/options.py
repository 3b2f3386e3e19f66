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
ShowControlOption = Annotated[
    bool, typer.Option("--control", help="Also the control: the baseline against itself.")
]
DetailsOption = Annotated[bool, typer.Option("--all", help="Also detail metrics.")]
