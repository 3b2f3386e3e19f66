"""An application's use of MPI, and its time on another platform: profile, predict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import PlatformsOption, QuietOption, read_records, run_path
from bareline.cli.output import EXIT_USAGE, complain, console, emit_blocks, printing_measures
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import StoreError, UsageError

if TYPE_CHECKING:
    from bareline.analysis.numbers.records import Records
    from bareline.predict.growth import Target

app = typer.Typer()


@app.command(context_settings={"ignore_unknown_options": True})
def profile(
    out: Annotated[Path, option("-o --out", "FILE", "Profile to write.")],
    command: Annotated[list[str], argument("-- COMMAND...", "mpirun, its options, a program.")],
    mpi: Annotated[
        str, option("--mpi", "M", "The program's library: auto, a flavour or a path.")
    ] = "auto",
    split: Annotated[
        bool, flag("--split", "Time waiting apart, by a barrier before each.")
    ] = False,
    trace: Annotated[bool, flag("--trace", "Also every call, for a replay: FILE.trace.")] = False,
    period: Annotated[
        bool, flag("--period", "Also one period of its calls, for more ranks.")
    ] = False,
    limit: Annotated[str, option("--limit", "SIZE", "Most that the trace may take.")] = "64MB",
    region: Annotated[list[str] | None, option("--region", "N=NAME", "Name of a region.")] = None,
    wait: Annotated[
        int | None,
        option("--wait", "S", "Longest wait for a rank (20; at the end 600).", min=1, max=1000000),
    ] = None,
) -> None:
    """Run an MPI program and write a profile of its MPI calls; its exit code is kept."""
    from bareline.session.profiling import parse_limit, parse_regions, profile_command

    done = profile_command(
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
    if done.problem:
        complain(done.problem)
    if len(done.launches) > 1:
        complain(f"{len(done.launches)} launches were profiled, each has a profile of its own")
    for launch in done.launches:
        if not launch.complete:
            complain(launch.ended)
        if launch.without_period:
            complain(f"no period of {launch.path} is kept: {launch.without_period}")
        complain(f"profile: {launch.path}")  # stdout is the program's own
    raise typer.Exit(done.exit_code or (EXIT_USAGE if done.path is None else 0))


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """Options of a prediction."""

    paths: Annotated[
        list[Path] | None,
        argument(
            "PROFILE...",
            "A profile with its trace, or an application of --from. With --ranks: several.",
        ),
    ] = None
    source: Annotated[
        Path | None,
        option("--from", "RUN", "The ladder of the profile's platform.", parser=run_path),
    ] = None
    to: Annotated[
        str | None, option("--to", "P", "Platform to predict for; with --ranks: P,P too.")
    ] = None
    base: Annotated[
        str | None, option("--base", "P", "The profile's platform (default: the baseline).")
    ] = None
    ladder: Annotated[
        Path | None,
        option("--ladder", "RUN", "The ladder of --to, if not in --from.", parser=run_path),
    ] = None
    calibrate: Annotated[
        Path | None,
        option("--calibrate", "RUN", "Run with one rank of it on both platforms.", parser=run_path),
    ] = None
    what_if: Annotated[
        list[str] | None, option("--what-if", "CHANGE", "latency=x0.5, bandwidth=10Gb/s ...")
    ] = None
    ranks: Annotated[
        int | None, option("--ranks", "N", "More ranks than the profiles have.", min=2)
    ] = None
    grid: Annotated[str | None, option("--grid", "AxB", "Their grid, the fastest side first.")] = (
        None
    )
    messages: Annotated[
        bool, flag("--messages", "With --ranks: the calls by function, without a platform.")
    ] = False
    unchecked: Annotated[
        float,
        option(
            "--unchecked",
            "SHARE",
            "With --ranks: largest unchecked share of calls and bytes.",
            min=0,
            max=1,
        ),
    ] = 0.25
    per_node: Annotated[
        int | None, option("--per-node", "N", "With --ranks: ranks of a node.", min=1)
    ] = None
    platforms: PlatformsOption = None
    model: Annotated[str, option("--model", "MODEL", "auto, replay or delta.")] = "auto"
    plan: Annotated[bool, flag("--plan", "Write the study that measures the ladder it needs.")] = (
        False
    )
    validate: Annotated[
        Path | None,
        option(
            "--validate", "RUN", "Predict the applications of a run, all pairs.", parser=run_path
        ),
    ] = None
    max_queued: Annotated[
        float,
        option("--max-queued", "SHARE", "With --validate: launches left out.", min=0, max=1),
    ] = 0.05
    figures: Annotated[
        Path | None,
        option("--figures", "DIR", "With --validate or --ranks: also SVG and PNG files."),
    ] = None
    quiet: QuietOption = False


@app.command()
@prints("predict", "predict.prediction.Prediction")
@prints("predict-ranks", "predict.growth.GrownRanks")
@prints("predict-messages", "predict.messages.MessageRow")
@prints("predict-validate", "predict.validation.ValidationRow")
def predict(asked: PredictOptions) -> None:
    """Predict the time of a profiled application on another platform, with its interval."""
    paths = asked.paths or []
    if asked.ranks is not None:
        _grow(asked, paths, asked.ranks)
    elif len(paths) > 1:
        hint = "name one, or add --ranks N for more ranks than these have"
        raise UsageError("several profiles are given", hint=hint)
    elif asked.validate is not None:
        _validate(asked, _read(asked.validate))
    elif not paths:
        raise UsageError("no profile is given", hint="write `bareline predict app.profile ...`")
    elif asked.plan:
        from bareline.predict.needs import plan_study
        from bareline.profile.files import read_profile

        print(plan_study(read_profile(paths[0])), end="")
    else:
        _answer(asked, paths[0])


def _answer(asked: PredictOptions, path: Path) -> None:
    from bareline.predict.questions import answer
    from bareline.report.terminal.predictions import prediction_blocks

    if asked.source is None or (asked.to is None and not asked.what_if):
        hint = "add --from RUN and --to PLATFORM, or --what-if CHANGE"
        raise UsageError("a prediction needs two ladders", hint=hint)
    if asked.model not in ("auto", "replay", "delta"):
        raise UsageError(
            f"there is no model '{asked.model[:40]}'", hint="use auto, replay or delta"
        )
    # Else it is an application of the run, such as `app.ocean`.
    is_path = path.exists() or len(path.parts) > 1 or path.suffix == ".profile"
    with printing_measures():
        done = answer(
            path if is_path else str(path),
            _read(asked.source),
            base=asked.base,
            to=asked.to,
            ladder=_read(asked.ladder) if asked.ladder else None,
            calibration=_read(asked.calibrate) if asked.calibrate else None,
            what_if=asked.what_if or (),
            model=asked.model,  # type: ignore[arg-type]
        )
    emit_blocks(lambda: [asdict(done)], lambda: prediction_blocks(done))


def _grow(asked: PredictOptions, paths: list[Path], ranks: int) -> None:
    from bareline.predict.grid import parse_grid
    from bareline.predict.growth import grow, grown_period
    from bareline.predict.messages import message_rows
    from bareline.predict.ranks import scaled
    from bareline.profile.period import period_file, read_period
    from bareline.report.terminal.growth import growth_blocks, message_blocks

    sides = parse_grid(asked.grid) if asked.grid is not None else None
    own = scaled([read_period(period_file(path)) for path in paths])
    if asked.messages:
        grown = grown_period(own, ranks, sides, asked.unchecked)
        functions = list(message_rows(own, grown))
        rows = [asdict(row) for row in functions]
        emit_blocks(lambda: rows, lambda: message_blocks(own, grown, functions))
        return
    with _targets(asked) as targets:
        every = [grow(own, ranks, sides, target, asked.unchecked) for target in targets]
    if asked.figures is not None:
        from bareline.report.page.files import write_growth

        write_growth(every, asked.figures)
    rows = [row for done in every for row in done.rows()]
    emit_blocks(lambda: rows, lambda: growth_blocks(every))


@contextmanager
def _targets(asked: PredictOptions) -> Iterator[list[Target]]:
    from bareline.predict.growth import Target
    from bareline.predict.reach import measured
    from bareline.session.simulation import simulated

    if asked.to is None:
        hint = "add --to P, a simulated one or one measured in --from RUN"
        raise UsageError("no platform is named", hint=hint)
    names, per_node = asked.to.split(","), asked.per_node
    if source := asked.source or asked.ladder:
        ladders = _read(source)
        calibration = _read(asked.calibrate) if asked.calibrate else None
        yield [measured(ladders, name, asked.base, calibration, per_node) for name in names]
        return
    with ExitStack() as stack:
        runs = [stack.enter_context(simulated(name, asked.platforms, per_node)) for name in names]
        yield [Target(name, run) for name, run in zip(names, runs, strict=True)]


def _read(path: Path) -> Records:
    """Read a ladder without its disturbed trials; their number is printed."""
    from bareline.analysis.numbers.disturbance import without_disturbed_trials
    from bareline.analysis.words.disturbance import exclusion_words

    records, seen = without_disturbed_trials(read_records(path, unlike=False))
    if words := exclusion_words(seen):
        complain(f"{path}: {words}")
    return records


def _validate(asked: PredictOptions, records: Records) -> None:
    from bareline.predict.pairs import validate
    from bareline.predict.predictions import look_closer
    from bareline.report.terminal.predictions import validation_blocks
    from bareline.report.terminal.progress import StepLines

    shown = console(stderr=True, quiet=asked.quiet)
    done = validate(records, max_queued=asked.max_queued, note=StepLines("pair", shown))
    closer = StepLines("application", shown)
    predictions = look_closer(records, done, max_queued=asked.max_queued, note=closer)
    try:
        records.runs[0].write_predictions(predictions.to_json())
    except StoreError as error:
        complain(f"the run directory does not keep them: {error}")
    if asked.figures is not None:
        from bareline.report.page.files import write_validation

        write_validation(done, asked.figures)
    emit_blocks(done.rows, lambda: validation_blocks(done))
