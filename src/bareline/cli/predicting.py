"""What an application will do on another platform: predict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import JsonOption
from bareline.cli.output import emit, printing_measures
from bareline.vocabulary.errors import StoreError, UsageError

if TYPE_CHECKING:
    from bareline.analysis.records import Records
    from bareline.predict.prediction import Model

app = typer.Typer()


@app.command()
def predict(
    path: Annotated[
        Path | None, typer.Argument(metavar="PROFILE", help="A profile; its trace beside it.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="The ladder of the profile's platform."),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="P", help="Platform to predict for.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="P", help="The profile's platform (default: the baseline)."),
    ] = None,
    ladder: Annotated[
        Path | None,
        typer.Option("--ladder", metavar="RUN", help="The ladder of --to, if not in --from."),
    ] = None,
    calibrate: Annotated[
        Path | None,
        typer.Option("--calibrate", metavar="RUN", help="One rank of the application on both."),
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="CHANGE", help="latency=x0.5, bandwidth=10Gb/s ..."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", metavar="MODEL", help="auto, replay or delta.")
    ] = "auto",
    plan: Annotated[
        bool, typer.Option("--plan", help="Write the study that measures the ladder it needs.")
    ] = False,
    validate: Annotated[
        Path | None,
        typer.Option("--validate", metavar="RUN", help="Predict what a run measured, all pairs."),
    ] = None,
    max_queued: Annotated[
        float,
        typer.Option("--max-queued", min=0, max=1, help="With --validate: launches left out."),
    ] = 0.05,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="With --validate: also SVG and PNG files."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a profiled application will take on another platform, and how sure that is."""
    if validate is not None:
        _validate(validate, max_queued, figures, as_json=as_json)
        return
    if path is None:
        raise UsageError("no profile is given", hint="write `bareline predict app.profile ...`")
    if plan:
        from bareline.predict.needs import plan_study
        from bareline.profile.files import read_profile

        print(plan_study(read_profile(path)), end="")
        return
    if source is None or (to is None and not what_if):
        raise UsageError(
            "a prediction needs two ladders",
            hint="add --from RUN and --to PLATFORM, or --what-if CHANGE",
        )
    if model not in ("auto", "replay", "delta"):
        raise UsageError(f"there is no model '{model[:40]}'", hint="use auto, replay or delta")
    from bareline.predict.questions import Request, answer
    from bareline.report.terminal.predictions import print_prediction

    chosen: Model = model  # type: ignore[assignment]
    request = Request(
        profile=path,
        source=_read(source),
        base=base,
        to=to,
        ladder=_read(ladder) if ladder is not None else None,
        calibration=_read(calibrate) if calibrate is not None else None,
        what_if=tuple(what_if or ()),
        model=chosen,
    )
    with printing_measures():
        done = answer(request)
    emit(as_json, lambda: [done.row()], lambda console: print_prediction(done, console))


def _read(path: Path) -> Records:
    from bareline.analysis.records import read_runs
    from bareline.store.run import Run

    return read_runs([Run.open(path)])


def _validate(path: Path, max_queued: float, figures: Path | None, *, as_json: bool) -> None:
    from bareline.predict.kept import look_closer
    from bareline.predict.pairs import validate
    from bareline.report.terminal.predictions import print_validation

    def note(text: str) -> None:
        print(f"bareline: {text}", file=sys.stderr)

    records = _read(path)
    done = validate(records, max_queued=max_queued, note=note)
    kept = look_closer(records, done, max_queued=max_queued, note=note)
    try:
        records.runs[0].write_predictions(kept.to_json())
    except StoreError as error:
        note(f"the run directory does not keep them: {error}")
    if figures is not None:
        from bareline.report.page.predictions import write_validation

        write_validation(done, figures)
    emit(as_json, done.rows, lambda console: print_validation(done, console))
