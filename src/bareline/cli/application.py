"""Verbs for an application's use of MPI and its time on another platform: profile, predict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import PlatformsOption, QuietOption, read_records, run_path
from bareline.cli.output import EXIT_USAGE, console, emit_blocks, print_error, printing_measures
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import StoreError, UsageError

if TYPE_CHECKING:
    from bareline.analysis.numbers.records import Records
    from bareline.predict.scaling.prediction import Target
    from bareline.session.profiling import ProfiledRun

app = typer.Typer()


@app.command(context_settings={"ignore_unknown_options": True})
def profile(
    out: Annotated[Path, option("-o --out", "FILE", "Profile to write.")],
    command: Annotated[
        list[str],
        argument(
            "-- COMMAND...",
            "The command that starts the program: mpirun, its options, the program.",
        ),
    ],
    mpi: Annotated[
        str,
        option("--mpi", "M", "MPI library of the program: auto, the name of a library, or a path."),
    ] = "auto",
    split: Annotated[
        bool, flag("--split", "Measure waiting separately, by a barrier before each collective.")
    ] = False,
    trace: Annotated[
        bool, flag("--trace", "Also write every call, for a replay, to FILE.trace.")
    ] = False,
    period: Annotated[
        bool,
        flag(
            "--period",
            "Also write one period of the calls of each rank, for predictions with more ranks.",
        ),
    ] = False,
    limit: Annotated[str, option("--limit", "SIZE", "Largest size of the trace.")] = "64MB",
    region: Annotated[
        list[str] | None,
        option(
            "--region", "N=NAME", "Name a region of the program: N is its number in MPI_Pcontrol."
        ),
    ] = None,
    wait: Annotated[
        int | None,
        option(
            "--wait",
            "S",
            "Seconds to wait for a rank (default: 20; at its end 600).",
            min=1,
            max=1000000,
        ),
    ] = None,
) -> None:
    """Run an MPI program and write a profile of its MPI calls; its exit code is kept."""
    from bareline.session.profiling import parse_limit, parse_regions, profile_command

    profiling = profile_command(
        command,
        out,
        mpi=mpi,
        split=split,
        trace=trace,
        period=period,
        trace_limit_bytes=parse_limit(limit),
        regions=parse_regions(region or []),
        wait_s=wait,
    )
    _print_profiles(profiling)
    exit_code = profiling.exit_code
    if not exit_code and profiling.path is None:
        exit_code = EXIT_USAGE
    raise typer.Exit(exit_code)


def _print_profiles(profiling: ProfiledRun) -> None:
    """Print the paths of the profiles on stderr, because stdout belongs to the program."""
    if profiling.problem:
        print_error(profiling.problem)
    if len(profiling.launches) > 1:
        print_error(
            f"{len(profiling.launches)} launches were profiled, and each of them has its "
            "own profile"
        )
    for launch in profiling.launches:
        if not launch.complete:
            print_error(launch.ended)
        if launch.without_period:
            print_error(f"the period of {launch.path} was not stored: {launch.without_period}")
        print_error(f"profile: {launch.path}")


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """Options of a prediction."""

    paths: Annotated[
        list[Path] | None,
        argument(
            "PROFILE...",
            "A profile with a trace, or an application of --from; several with --ranks.",
        ),
    ] = None
    source: Annotated[
        Path | None,
        option(
            "--from",
            "RUN",
            "Run with the MPI benchmarks (the ladder) of the profile's platform.",
            parser=run_path,
        ),
    ] = None
    to: Annotated[
        str | None, option("--to", "P", "Platform to predict for; with --ranks also several: P,P.")
    ] = None
    base: Annotated[
        str | None,
        option("--base", "P", "Platform of the profile (default: the baseline of --from)."),
    ] = None
    ladder: Annotated[
        Path | None,
        option(
            "--ladder",
            "RUN",
            "Run with the ladder of the platform of --to, if it is not in --from.",
            parser=run_path,
        ),
    ] = None
    calibrate: Annotated[
        Path | None,
        option(
            "--calibrate",
            "RUN",
            "Run of the program with one rank on both platforms, for the ratio of computing.",
            parser=run_path,
        ),
    ] = None
    what_if: Annotated[
        list[str] | None,
        option(
            "--what-if",
            "CHANGE",
            "Change the network in the prediction, e.g. latency=x0.5 or bandwidth=10Gb/s.",
        ),
    ] = None
    ranks: Annotated[
        int | None,
        option("--ranks", "N", "Predict for N ranks, more than the profiles have.", min=2),
    ] = None
    grid: Annotated[
        str | None,
        option(
            "--grid",
            "AxB",
            "Grid of the N ranks, e.g. 8x4, the fastest-varying side first.",
        ),
    ] = None
    messages: Annotated[
        bool,
        flag(
            "--messages",
            "With --ranks: print the predicted calls by MPI function; no platform is needed.",
        ),
    ] = False
    unchecked: Annotated[
        float,
        option(
            "--unchecked",
            "SHARE",
            "With --ranks: refuse if a larger share of calls and bytes cannot be checked.",
            min=0,
            max=1,
        ),
    ] = 0.25
    per_node: Annotated[
        int | None, option("--per-node", "N", "With --ranks: number of ranks on each node.", min=1)
    ] = None
    platforms: PlatformsOption = None
    model: Annotated[
        str, option("--model", "MODEL", "Model of the prediction: auto, replay or delta.")
    ] = "auto"
    plan: Annotated[
        bool, flag("--plan", "Write the study that measures the needed ladder; predict nothing.")
    ] = False
    cross_validate: Annotated[
        Path | None,
        option(
            "--validate",
            "RUN",
            "Predict the applications of a run between all its platforms; print the errors.",
            parser=run_path,
        ),
    ] = None
    max_queued: Annotated[
        float,
        option(
            "--max-queued",
            "SHARE",
            "With --validate: leave out launches that waited longer for cores than this share.",
            min=0,
            max=1,
        ),
    ] = 0.05
    figures: Annotated[
        Path | None,
        option(
            "--figures",
            "DIR",
            "With --validate or --ranks: also write the figures as SVG and PNG files.",
        ),
    ] = None
    quiet: QuietOption = False


@app.command()
@prints("predict", "predict.prediction.Prediction")
@prints("predict-ranks", "predict.scaling.prediction.GrownRanks")
@prints("predict-messages", "predict.scaling.messages.MessageRow")
@prints("predict-validate", "predict.validation.scores.ValidationRow")
def predict(options: PredictOptions) -> None:
    """Predict the time of a profiled application on another platform, with its interval."""
    paths = options.paths or []
    if options.ranks is not None:
        _grow(options, paths, options.ranks)
    elif len(paths) > 1:
        hint = "give one profile, or add --ranks N to predict more ranks than the profiles have"
        raise UsageError(
            "several profiles are given, but this prediction needs exactly one", hint=hint
        )
    elif options.cross_validate is not None:
        _validate(options, _read(options.cross_validate))
    elif not paths:
        raise UsageError("no profile is given", hint="write `bareline predict app.profile ...`")
    elif options.plan:
        from bareline.predict.curves.requirements import plan_study
        from bareline.profile.files import read_profile

        print(plan_study(read_profile(paths[0])), end="")
    else:
        _answer(options, paths[0])


def _answer(options: PredictOptions, path: Path) -> None:
    from bareline.predict.questions import answer
    from bareline.report.terminal.predictions import prediction_blocks

    if options.source is None or (options.to is None and not options.what_if):
        hint = "add --from RUN and --to PLATFORM, or --what-if CHANGE"
        raise UsageError(
            "a prediction needs the MPI benchmarks (the ladder) of two platforms", hint=hint
        )
    if options.model not in ("auto", "replay", "delta"):
        raise UsageError(
            f"there is no model '{options.model[:40]}'", hint="use auto, replay or delta"
        )
    # If it is not a path, it is an application of the run, such as `app.ocean`.
    is_path = path.exists() or len(path.parts) > 1 or path.suffix == ".profile"
    application = path if is_path else str(path)
    with printing_measures():
        source = _read(options.source)
        ladder = _read(options.ladder) if options.ladder else None
        calibration = _read(options.calibrate) if options.calibrate else None
        prediction = answer(
            application,
            source,
            base=options.base,
            to=options.to,
            ladder=ladder,
            calibration=calibration,
            what_if=options.what_if or (),
            model=options.model,  # type: ignore[arg-type]
        )
    emit_blocks(lambda: [asdict(prediction)], lambda: prediction_blocks(prediction))


def _grow(options: PredictOptions, paths: list[Path], ranks: int) -> None:
    from bareline.predict.scaling.grid import parse_grid
    from bareline.predict.scaling.messages import message_rows
    from bareline.predict.scaling.prediction import grow, grown_period
    from bareline.predict.scaling.ranks import scaled
    from bareline.profile.period import period_file, read_period
    from bareline.report.terminal.scaling import growth_blocks, message_blocks

    sides = parse_grid(options.grid) if options.grid is not None else None
    periods = scaled([read_period(period_file(path)) for path in paths])
    if options.messages:
        grown = grown_period(periods, ranks, sides, options.unchecked)
        functions = list(message_rows(periods, grown))
        rows = [asdict(row) for row in functions]
        emit_blocks(lambda: rows, lambda: message_blocks(periods, grown, functions))
        return
    with _targets(options) as targets:
        forecasts = [grow(periods, ranks, sides, target, options.unchecked) for target in targets]
    if options.figures is not None:
        from bareline.report.page.files import write_growth

        write_growth(forecasts, options.figures)
    rows = list(chain.from_iterable(forecast.rows() for forecast in forecasts))
    emit_blocks(lambda: rows, lambda: growth_blocks(forecasts))


@contextmanager
def _targets(options: PredictOptions) -> Iterator[list[Target]]:
    from bareline.predict.scaling.prediction import Target
    from bareline.predict.scaling.scaling_target import scaling_target
    from bareline.session.simulation import simulated

    if options.to is None:
        hint = "add --to P: a simulated platform, or a platform that the run of --from measured"
        raise UsageError("no platform is given for the prediction", hint=hint)
    names = options.to.split(",")
    per_node = options.per_node
    if source := options.source or options.ladder:
        ladders = _read(source)
        calibration = _read(options.calibrate) if options.calibrate else None
        yield [scaling_target(ladders, name, options.base, calibration, per_node) for name in names]
        return
    with ExitStack() as stack:
        runs = [stack.enter_context(simulated(name, options.platforms, per_node)) for name in names]
        yield [Target(name, run) for name, run in zip(names, runs, strict=True)]


def _read(path: Path) -> Records:
    """Return the records of a run without its disturbed trials; print the number of these."""
    from bareline.analysis.numbers.disturbance import without_disturbed_trials
    from bareline.analysis.words.disturbance import exclusion_words

    records, seen = without_disturbed_trials(read_records(path, unlike=False))
    if words := exclusion_words(seen):
        print_error(f"{path}: {words}")
    return records


def _validate(options: PredictOptions, records: Records) -> None:
    from bareline.predict.validation.cross_validation import cross_validate
    from bareline.predict.validation.predictions import analyse_losses
    from bareline.report.terminal.predictions import validation_blocks
    from bareline.report.terminal.progress import StepLines

    progress_console = console(stderr=True, quiet=options.quiet)
    validation = cross_validate(
        records, max_queued=options.max_queued, note=StepLines("pair", progress_console)
    )
    closer = StepLines("application", progress_console)
    predictions = analyse_losses(records, validation, max_queued=options.max_queued, note=closer)
    try:
        records.runs[0].write_predictions(predictions.to_json())
    except StoreError as error:
        print_error(f"the predictions cannot be stored in the run directory: {error}")
    if options.figures is not None:
        from bareline.report.page.files import write_validation

        write_validation(validation, options.figures)
    emit_blocks(validation.rows, lambda: validation_blocks(validation))
