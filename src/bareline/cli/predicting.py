"""What an application will do on another platform: predict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import (
    FileOption,
    JsonOption,
    PlatformsOption,
    QuietOption,
    run_path,
)
from bareline.cli.output import complain, console, emit_blocks, printing_measures, prints
from bareline.vocabulary.errors import StoreError, UsageError

if TYPE_CHECKING:
    from bareline.analysis.numbers.records import Records
    from bareline.predict.growth import Target
    from bareline.predict.prediction import Model

app = typer.Typer()


ProfilesArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PROFILE...",
        help="A profile, its trace beside it; or an application of --from. With --ranks: several.",
    ),
]
FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="RUN", parser=run_path, help="The ladder of the profile's platform."
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="P", help="Platform to predict for; with --ranks: P,P too."),
]
BaseOption = Annotated[
    str | None,
    typer.Option("--base", metavar="P", help="The profile's platform (default: the baseline)."),
]
LadderOption = Annotated[
    Path | None,
    typer.Option(
        "--ladder", metavar="RUN", parser=run_path, help="The ladder of --to, if not in --from."
    ),
]
CalibrateOption = Annotated[
    Path | None,
    typer.Option(
        "--calibrate", metavar="RUN", parser=run_path, help="One rank of the application on both."
    ),
]
WhatIfOption = Annotated[
    list[str] | None,
    typer.Option("--what-if", metavar="CHANGE", help="latency=x0.5, bandwidth=10Gb/s ..."),
]
RanksOption = Annotated[
    int | None,
    typer.Option("--ranks", metavar="N", min=2, help="More ranks than the profiles have."),
]
GridOption = Annotated[
    str | None, typer.Option("--grid", metavar="AxB", help="Their grid, the fastest side first.")
]
PerNodeOption = Annotated[
    int | None,
    typer.Option("--per-node", metavar="N", min=1, help="With --ranks: ranks of a node."),
]
ModelOption = Annotated[
    str, typer.Option("--model", metavar="MODEL", help="auto, replay or delta.")
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Write the study that measures the ladder it needs.")
]
ValidateOption = Annotated[
    Path | None,
    typer.Option(
        "--validate", metavar="RUN", parser=run_path, help="Predict what a run measured, all pairs."
    ),
]
MaxQueuedOption = Annotated[
    float,
    typer.Option(
        "--max-queued", metavar="SHARE", min=0, max=1, help="With --validate: launches left out."
    ),
]
FiguresOption = Annotated[
    Path | None,
    typer.Option(
        "--figures", metavar="DIR", help="With --validate or --ranks: also SVG and PNG files."
    ),
]


@app.command()
@prints("predict", "predict.prediction.Prediction")
@prints("predict-ranks", "predict.growth.GrownRanks")
@prints("predict-validate", "predict.validation.ValidationRow")
def predict(
    paths: ProfilesArgument = None,
    source: FromOption = None,
    to: ToOption = None,
    base: BaseOption = None,
    ladder: LadderOption = None,
    calibrate: CalibrateOption = None,
    what_if: WhatIfOption = None,
    ranks: RanksOption = None,
    grid: GridOption = None,
    per_node: PerNodeOption = None,
    platforms: PlatformsOption = None,
    model: ModelOption = "auto",
    plan: PlanOption = False,
    validate: ValidateOption = None,
    max_queued: MaxQueuedOption = 0.05,
    figures: FiguresOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """Say what a profiled application will take on another platform, and how sure that is."""
    path = paths[0] if paths else None
    if ranks is not None:
        targets = _targets(to, source or ladder, base, calibrate, platforms, per_node)
        _grow(paths or [], ranks, grid, targets, figures, as_json=as_json)
    elif paths and len(paths) > 1:
        hint = "name one, or add --ranks N for more ranks than these have"
        raise UsageError("several profiles are given", hint=hint)
    elif validate is not None:
        _validate(validate, max_queued, figures, quiet=quiet, as_json=as_json)
    elif path is None:
        raise UsageError("no profile is given", hint="write `bareline predict app.profile ...`")
    elif plan:
        _plan(path)
    else:
        _one(path, source, base, to, ladder, calibrate, what_if, model, as_json=as_json)


def _one(
    path: Path,
    source: Path | None,
    base: str | None,
    to: str | None,
    ladder: Path | None,
    calibrate: Path | None,
    what_if: list[str] | None,
    model: str,
    *,
    as_json: bool,
) -> None:
    from bareline.predict.questions import answer
    from bareline.report.terminal.predictions import prediction_blocks

    if source is None or (to is None and not what_if):
        hint = "add --from RUN and --to PLATFORM, or --what-if CHANGE"
        raise UsageError("a prediction needs two ladders", hint=hint)
    chosen = _model(model)
    with printing_measures():
        done = answer(
            path if _is_path(path) else str(path),
            _read(source),
            base=base,
            to=to,
            ladder=_read(ladder) if ladder is not None else None,
            calibration=_read(calibrate) if calibrate is not None else None,
            what_if=what_if or (),
            model=chosen,
        )
    emit_blocks(as_json, lambda: [asdict(done)], lambda: prediction_blocks(done))


def _grow(
    paths: list[Path],
    ranks: int,
    grid: str | None,
    targets: AbstractContextManager[list[Target]],
    figures: Path | None,
    *,
    as_json: bool,
) -> None:
    from bareline.predict.grid import parse_grid
    from bareline.predict.growth import grow
    from bareline.predict.ranks import scaled
    from bareline.profile.period import period_file, read_period
    from bareline.report.terminal.growth import growth_blocks

    sides = parse_grid(grid) if grid is not None else None
    own = scaled([read_period(period_file(path)) for path in paths])
    with targets as there:
        every = [grow(own, ranks, sides, target) for target in there]
    if figures is not None:
        from bareline.report.page.files import write_growth

        write_growth(every, figures)
    rows = [row for done in every for row in done.rows()]
    emit_blocks(as_json, lambda: rows, lambda: growth_blocks(every))


@contextmanager
def _targets(
    to: str | None,
    source: Path | None,
    base: str | None,
    calibrate: Path | None,
    platforms: Path | None,
    per_node: int | None,
) -> Iterator[list[Target]]:
    """Give what replays more ranks: the ladders of a run, or simulated platforms."""
    from bareline.predict.growth import Target
    from bareline.predict.reach import measured
    from bareline.session.simulation import simulated

    if to is None:
        hint = "add --to P, a simulated one or one measured in --from RUN"
        raise UsageError("no platform is named", hint=hint)
    names = to.split(",")
    if source is not None:
        ladders, calibration = _read(source), _read(calibrate) if calibrate is not None else None
        yield [measured(ladders, name, base, calibration, per_node) for name in names]
        return
    with ExitStack() as stack:
        runs = [stack.enter_context(simulated(name, platforms, per_node)) for name in names]
        yield [Target(name, run) for name, run in zip(names, runs, strict=True)]


def _is_path(path: Path) -> bool:
    """Tell a profile from an application of a run, such as ``app.ocean``."""
    return path.exists() or len(path.parts) > 1 or path.suffix == ".profile"


def _plan(path: Path) -> None:
    from bareline.predict.needs import plan_study
    from bareline.profile.files import read_profile

    print(plan_study(read_profile(path)), end="")


def _model(name: str) -> Model:
    if name not in ("auto", "replay", "delta"):
        raise UsageError(f"there is no model '{name[:40]}'", hint="use auto, replay or delta")
    chosen: Model = name  # type: ignore[assignment]
    return chosen


def _read(path: Path) -> Records:
    from bareline.analysis.numbers.records import read_runs
    from bareline.store.run import Run

    return read_runs([Run.open(path)])


def _validate(
    path: Path, max_queued: float, figures: Path | None, *, quiet: bool, as_json: bool
) -> None:
    from bareline.predict.pairs import validate
    from bareline.predict.predictions import look_closer
    from bareline.report.terminal.predictions import validation_blocks
    from bareline.report.terminal.progress import StepLines

    records = _read(path)
    shown = console(stderr=True, quiet=quiet)
    done = validate(records, max_queued=max_queued, note=StepLines("pair", shown))
    closer = StepLines("application", shown)
    predictions = look_closer(records, done, max_queued=max_queued, note=closer)
    try:
        records.runs[0].write_predictions(predictions.to_json())
    except StoreError as error:
        complain(f"the run directory does not keep them: {error}")
    if figures is not None:
        from bareline.report.page.files import write_validation

        write_validation(done, figures)
    emit_blocks(as_json, done.rows, lambda: validation_blocks(done))
