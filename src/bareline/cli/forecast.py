"""The verb forecast, which predicts the time of a program on another platform."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.measuring import measure
from bareline.cli.options import PLATFORM, PlatformsOption, QuietOption, read_records, run_path
from bareline.cli.output import EXIT_TRIALS_FAILED, emit_blocks, print_error, printing_measures
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import AnalysisError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bareline.report.blocks import Block
    from bareline.session.forecast import Forecast, ForecastStep, Question, StepRow
    from bareline.store.run import Run

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class ForecastOptions:
    """Options of a forecast."""

    command: Annotated[
        list[str],
        argument(
            "-- COMMAND...",
            "mpirun -n N and a program; with --from: the name of the program in that run.",
        ),
    ]
    to: Annotated[
        list[str], option("--to", help="Platform to predict for; repeat for more.", **PLATFORM)
    ]
    on: Annotated[
        str | None, option("--on", help="Platform on which the program is profiled.", **PLATFORM)
    ] = None
    source: Annotated[
        Path | None,
        option(
            "--from",
            "RUN",
            "Use the profile and the ladder of this run; measure neither again.",
            parser=run_path,
        ),
    ] = None
    check: Annotated[
        bool,
        flag(
            "--check",
            "Also measure the program on the other platform, and print the error of the forecast.",
        ),
    ] = False
    max_age: Annotated[
        str,
        option(
            "--max-age",
            "TIME",
            "Measure the ladder again if the existing one is older than TIME (default: 7d).",
        ),
    ] = "7d"
    platforms: PlatformsOption = None
    dry_run: Annotated[bool, flag("--dry-run", "Show the steps and their time.")] = False
    quiet: QuietOption = False


@app.command()
@prints("forecast", "session.forecast.Forecast")
@prints("forecast-dry-run", "session.forecast.StepRow")
def forecast(options: ForecastOptions) -> None:
    """Forecast the time of a program on another platform: profile, measure, predict."""
    if options.source is not None:
        _of_run(options, options.source)
        return
    question = _question(options)
    max_age_s = _max_age_s(options.max_age)
    if options.dry_run:
        rows = _step_rows(question, max_age_s, check=options.check)
        emit_blocks(lambda: rows, lambda: _step_blocks(rows))
        return
    from bareline.session.begin import refuse_unusable
    from bareline.session.forecast import launches_of

    refuse_unusable([question.base, *question.targets])
    base = question.base.name
    profiled = _run_of(question.profiling, base, max_age_s, quiet=options.quiet)
    launch = launches_of(profiled, base).typical
    ladder = _run_of(question.ladder(launch.profile), base, max_age_s, quiet=options.quiet)
    checked = None
    if options.check:
        first = question.targets[0].name
        checked = _run_of(question.checking, first, max_age_s, quiet=options.quiet)
    try:
        answers = _answers(launch.path, ladder, base, options.to, checked)
    except AnalysisError:
        print_error(
            "if other programs disturbed the measurements, measure again on a quiet machine"
            " with `--max-age 0d`"
        )
        raise
    by_hand = _by_hand(options, launch.path, ladder)
    _print(answers, by_hand)


def _question(options: ForecastOptions) -> Question:
    from bareline.platforms.config import choose_platforms
    from bareline.session.forecast import Question
    from bareline.study.launch import parse_launch

    program = parse_launch(options.command)
    base, *targets = choose_platforms([options.on or "bare", *options.to], options.platforms)
    return Question(program, Path.cwd(), base, tuple(targets))


def _max_age_s(text: str) -> float:
    """Return an age in s from a text such as ``7d``, or a time in the format of `--wait-quiet`."""
    from bareline.vocabulary.units import parse_duration

    days = text.removesuffix("d")
    if text.endswith("d") and days.isdecimal():
        return int(days) * 86_400.0
    return parse_duration(text)


def _run_of(step: ForecastStep, baseline: str, max_age_s: float, *, quiet: bool) -> Run:
    """Return the measured run of a step of the forecast: a recent, a continued, or a new run."""
    standing = step.standing(max_age_s)
    if not standing.measures and standing.run is not None:
        print_error(f"{step.title}: {standing.words}")
        return standing.run
    print_error(f"{step.title}: {standing.words}; {step.estimate}")
    run = standing.run or step.begin(baseline)
    tally = measure(run, quiet=quiet)
    if not tally.measured:
        print_error(
            f"{step.title}: nothing was measured; `bareline show {run.path}` prints the reason"
        )
        raise typer.Exit(EXIT_TRIALS_FAILED)
    return run


def _answers(
    profile: Path, ladder: Run, base: str, to: Sequence[str], check: Run | None
) -> list[Forecast]:
    from bareline.predict.changes import call_changes
    from bareline.session.forecast import Forecast, predicted

    records = read_records(ladder.path, unlike=False)
    check_path = None if check is None else str(check.path)
    answers = []
    for name in to:
        with printing_measures():
            prediction = predicted(profile, ladder, base, name, check)
        answers.append(
            Forecast(
                profile=str(profile),
                ladder=str(ladder.path),
                check=check_path,
                prediction=prediction,
                changes=call_changes(profile, records, base, name),
            )
        )
    return answers


def _print(answers: Sequence[Forecast], by_hand: Sequence[Sequence[str]]) -> None:
    def blocks() -> Iterator[Block]:
        from bareline.report.terminal.forecasts import forecast_blocks, same_by_hand

        for answer in answers:
            yield from forecast_blocks(answer["prediction"], answer["changes"])
        yield from same_by_hand(by_hand)

    def rows() -> list[dict[str, object]]:
        return [{**answer, "prediction": asdict(answer["prediction"])} for answer in answers]

    emit_blocks(rows, blocks)


def _by_hand(options: ForecastOptions, profile: Path, ladder: Run) -> list[list[str]]:
    """Return the separate commands that are equivalent to the forecast."""
    base = options.on or "bare"
    of_ladder = str(ladder.path)
    on: list[str] = []
    for name in (base, *options.to):
        on += ("--on", name)
    predict = ["bareline", "predict", str(profile), "--from", of_ladder, "--base", base, "--to"]
    return [
        ["bareline", "profile", "--trace", "-o", "app.profile", "--", *options.command],
        ["bareline", "predict", "--plan", str(profile), ">", "ladder.toml"],
        ["bareline", "run", "ladder.toml", *on, "--out", of_ladder],
        *([*predict, name] for name in options.to),
    ]


def _step_rows(question: Question, max_age_s: float, *, check: bool) -> list[StepRow]:
    from bareline.session.forecast import launches_of

    base = question.base.name
    profiling = question.profiling
    rows = [_row(profiling, max_age_s)]
    standing = profiling.standing(max_age_s)
    if standing.run is not None and not standing.measures:
        profile = launches_of(standing.run, base).typical.profile
        rows.append(_row(question.ladder(profile), max_age_s))
    else:
        names = [base, *(spec.name for spec in question.targets)]
        state = "its size follows from the profile"
        rows.append(_unknown("ladder", names, state))
    if check:
        rows.append(_row(question.checking, max_age_s))
    return rows


def _unknown(step: str, platforms: list[str], state: str) -> StepRow:
    from bareline.session.forecast import StepRow

    return StepRow(
        step=step,
        platforms=platforms,
        run=None,
        measures=True,
        state=state,
        expected_s=None,
        at_least_s=None,
        at_most_s=None,
        time="known after the profile: mostly one to five minutes",
    )


def _row(step: ForecastStep, max_age_s: float) -> StepRow:
    from bareline.session.forecast import StepRow

    standing = step.standing(max_age_s)
    run = None if standing.run is None else str(standing.run.path)
    time = step.estimate if standing.measures else None
    time_words = "" if time is None else str(time)
    expected_s: float | None = None
    at_least_s: float | None = None
    at_most_s: float | None = None
    if time is not None and not time.undeclared:
        expected_s = round(time.middle_s, 1)
        at_least_s = round(time.lo_s, 1)
        at_most_s = round(time.hi_s, 1)
    return StepRow(
        step=step.title,
        platforms=[spec.name for spec in step.platforms],
        run=run,
        measures=standing.measures,
        state=standing.words,
        expected_s=expected_s,
        at_least_s=at_least_s,
        at_most_s=at_most_s,
        time=time_words,
    )


def _step_blocks(rows: Sequence[StepRow]) -> Iterator[Block]:
    from bareline.report.blocks import Rows

    table = Rows(rows).text("step", lambda row: row["step"])
    table.text("on", lambda row: ", ".join(row["platforms"]))
    table.text("state", lambda row: row["state"], wrap=True)
    table.text("wall time", lambda row: row["time"], wrap=True)
    yield table.table()


def _of_run(options: ForecastOptions, source: Path) -> None:
    """Print the forecast from a run that contains the profiled program and the MPI benchmarks."""
    from bareline.predict.applications import applications, name_of, usable
    from bareline.store.run import Run

    if len(options.command) != 1:
        raise UsageError(
            "--from needs the name of exactly one program of the run", hint="add e.g. app.ocean"
        )
    records = read_records(source, unlike=False)
    base = options.on or records.baseline
    programs = applications(records)
    name = name_of(programs, options.command[0])
    (program,) = usable(records, name, programs[name], (base,))
    run = Run.open(source)
    answers = _answers_of_run(name, program.typical.path, run, base, options.to)
    predict = ["bareline", "predict", options.command[0]]
    by_hand = [
        [*predict, "--from", str(source), "--base", base, "--to", platform]
        for platform in options.to
    ]
    _print(answers, by_hand)


def _answers_of_run(
    name: str, profile: Path, run: Run, base: str, to: Sequence[str]
) -> list[Forecast]:
    from bareline.predict.changes import call_changes
    from bareline.predict.questions import answer
    from bareline.session.forecast import Forecast

    records = read_records(run.path, unlike=False)
    answers = []
    for platform in to:
        with printing_measures():
            prediction = answer(name, records, base=base, to=platform)
        changes = call_changes(profile, records, base, platform)
        check = str(run.path) if prediction.measured_s else None
        answers.append(
            Forecast(
                profile=str(profile),
                ladder=str(run.path),
                check=check,
                prediction=prediction,
                changes=changes,
            )
        )
    return answers
