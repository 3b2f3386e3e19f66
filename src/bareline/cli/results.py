"""What was measured and what follows from it: show, compare, explain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli import completing
from bareline.cli.options import (
    BaselineOption,
    DetailsOption,
    FailIfOption,
    FileOption,
    JsonOption,
    MarginOption,
    OnlyLayers,
    OnlyMetrics,
    OnlyPlatforms,
    OnlyProbes,
    RunsArgument,
    ShowControlOption,
    read_records,
    run_path,
    selection,
)
from bareline.cli.output import complain_of, emit_blocks, printing_measures, prints
from bareline.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bareline.analysis.numbers.records import Records
    from bareline.analysis.numbers.selection import Selection
    from bareline.analysis.words.comparison import Comparison
    from bareline.report.blocks import Block

app = typer.Typer()

JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Also what conditions found and failed, as XML."),
]


@app.command()
@prints("show", "analysis.numbers.summary.ShowRow")
@prints("show-facts", "report.content.facts.Fact")
@prints("show-profile", "profile.files.ProfileRow")
def show(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A run directory, @latest or a profile.",
            parser=run_path,
            autocompletion=completing.runs,
        ),
    ],
    probes: OnlyProbes = None,
    platforms: OnlyPlatforms = None,
    metrics: OnlyMetrics = None,
    layers: OnlyLayers = None,
    everything: DetailsOption = False,
    control: ShowControlOption = False,
    facts: Annotated[
        bool, typer.Option("--facts", help="The platforms' characteristics and differences.")
    ] = False,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """Show the medians of a run with their intervals, what its platforms are, or a profile."""
    from bareline.profile.files import is_profile

    if is_profile(path):
        _show_profile(path, everything=everything, as_json=as_json)
    elif facts:
        _show_facts(path, everything=everything, as_json=as_json)
    else:
        asked = selection(probes, platforms, metrics, layers)
        _show_summary(path, asked, everything=everything, control=control, as_json=as_json)


def _show_summary(
    path: Path, asked: Selection, *, everything: bool, control: bool, as_json: bool
) -> None:
    from bareline.analysis.numbers.summary import as_rows, failures, summarize
    from bareline.report.content.method import cost_texts
    from bareline.report.content.profiles import profile_lines
    from bareline.report.profile.terminal import profile_line_blocks
    from bareline.report.terminal.results import cost_blocks, failed_blocks, summary_blocks

    records = read_records([path])
    if control:
        records = records.with_controls
    summary = asked.of(summarize(records), records)
    failed = asked.of(failures(records), records)

    def blocks() -> Iterator[Block]:
        yield from summary_blocks(summary, details=everything)
        yield from failed_blocks(failed)
        if not asked:
            yield from profile_line_blocks(profile_lines(records))
            for run in records.runs:
                yield from cost_blocks(cost_texts(run))

    silent = failed.filter(n=0).drop("absent")
    emit_blocks(as_json, lambda: [*as_rows(summary), *as_rows(silent)], blocks)


def _show_profile(path: Path, *, everything: bool, as_json: bool) -> None:
    from bareline.profile.files import read_profile, to_rows
    from bareline.report.profile.terminal import profile_blocks

    found = read_profile(path)
    emit_blocks(
        as_json, lambda: to_rows(found), lambda: profile_blocks(found, everything=everything)
    )


def _show_facts(path: Path, *, everything: bool, as_json: bool) -> None:
    from bareline.report.content.facts import fact_lines, facts_by_machine, to_rows
    from bareline.report.terminal.listings import fact_blocks
    from bareline.store.run import Run

    facts = facts_by_machine(Run.open(path))
    emit_blocks(
        as_json,
        lambda: to_rows(facts),
        lambda: fact_blocks(fact_lines(facts), list(facts), details=everything),
    )


@app.command()
@prints("compare", "analysis.numbers.points.Compared")
@prints("compare-profiles", "profile.comparison.ComparisonRow")
def compare(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    everything: DetailsOption = False,
    control: ShowControlOption = False,
    fail_if: FailIfOption = None,
    probes: OnlyProbes = None,
    platforms: OnlyPlatforms = None,
    metrics: OnlyMetrics = None,
    layers: OnlyLayers = None,
    junit: JunitOption = None,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """Compare the platforms of one or several runs with a baseline, or two profiles."""
    from bareline.profile.files import is_profile

    if len(paths) == 2 and all(map(is_profile, paths)):
        _compare_profiles(*paths, as_json=as_json)
        return
    from bareline.analysis.judgements.conditions import parse_condition
    from bareline.analysis.numbers.summary import as_rows
    from bareline.analysis.words.comparison import Comparison
    from bareline.analysis.words.conditions import check
    from bareline.report.content.exporting import write_junit

    conditions = [parse_condition(text) for text in fail_if or ()]
    comparison = Comparison(read_records(paths), baseline, margin)
    outcomes = [check(condition, comparison) for condition in conditions]
    if asked := selection(probes, platforms, metrics, layers):
        _emit_selected(comparison, asked, details=everything, as_json=as_json)
    else:
        emit_blocks(
            as_json,
            lambda: as_rows(comparison.rows_with_controls),
            lambda: _compared(comparison, control=control, details=everything),
        )
    if junit is not None:
        write_junit(comparison.records, outcomes, junit)
    complain_of(outcomes)


def _emit_selected(
    comparison: Comparison, asked: Selection, *, details: bool, as_json: bool
) -> None:
    from bareline.analysis.numbers.summary import as_rows
    from bareline.report.terminal.results import selected_blocks

    every = comparison.rows_with_controls
    rows = asked.of(every, comparison.records)
    emit_blocks(
        as_json, lambda: as_rows(rows), lambda: selected_blocks(rows, every.height, details=details)
    )


def _compared(comparison: Comparison, *, control: bool, details: bool) -> Iterator[Block]:
    from bareline.report.terminal.results import comparison_blocks, control_blocks

    if not comparison.alone:
        yield from comparison_blocks(comparison, details=details)
    if control or comparison.alone:
        rows = comparison.control_table
        yield from control_blocks(comparison.controls, rows, details=details)


def _compare_profiles(before: Path, after: Path, *, as_json: bool) -> None:
    from bareline.profile.comparison import compare_profiles
    from bareline.profile.files import read_profile
    from bareline.report.profile.terminal import profile_pair_blocks

    both = compare_profiles(read_profile(before), read_profile(after))
    emit_blocks(as_json, both.rows, lambda: profile_pair_blocks(both))


@app.command()
@prints("explain", "analysis.words.rows.ExplainRow")
@prints("explain-app", "predict.shares.LossShare")
@prints("explain-why-not", "analysis.judgements.causes.why_not.WhyNotRow")
def explain(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    application: Annotated[
        str | None,
        typer.Option("--app", metavar="APP", help="Split the loss of a profiled application."),
    ] = None,
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="P", help="With --app: where it loses.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="With --app: the waterfall.")
    ] = None,
    why_not: Annotated[
        str | None,
        typer.Option("--why-not", metavar="CAUSE", help="Show each cause's needs and its result."),
    ] = None,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """Say in words how much each layer loses, how sure that is, and what the platforms suit."""
    if application is not None and why_not is not None:
        raise UsageError(
            "--app and --why-not ask different questions", hint="give one of them at a time"
        )
    if application is not None:
        _explain_application(
            read_records(paths), application, baseline, platform, figures, as_json=as_json
        )
        return
    from bareline.analysis.words.comparison import Comparison

    comparison = Comparison(read_records(paths), baseline, margin)
    if why_not is None:
        _explain_layers(comparison, as_json=as_json)
    else:
        _explain_why_not(comparison, why_not, as_json=as_json)


def _explain_layers(comparison: Comparison, *, as_json: bool) -> None:
    from bareline.report.content.compared import explained
    from bareline.report.terminal.results import control_blocks

    def blocks() -> Iterator[Block]:
        if comparison.alone and comparison.controls:
            yield from control_blocks(comparison.controls)
        yield from explained(comparison)

    emit_blocks(as_json, comparison.rows, blocks)


def _explain_why_not(comparison: Comparison, cause: str, *, as_json: bool) -> None:
    from bareline.report.terminal.why_not import why_not_blocks

    answers = comparison.why_not(cause)
    emit_blocks(
        as_json,
        lambda: [row for answer in answers for row in answer.rows()],
        lambda: why_not_blocks(answers),
    )


def _explain_application(
    records: Records,
    name: str,
    baseline: str | None,
    platform: str | None,
    figures: Path | None,
    *,
    as_json: bool,
) -> None:
    from bareline.predict.shares import explain_application
    from bareline.report.terminal.predictions import loss_blocks

    base = baseline or records.baseline
    others = [one for one in records.platforms if one != base]
    if platform is None and len(others) != 1:
        raise UsageError(
            "which platform loses is not said", hint=f"add --platform, one of {', '.join(others)}"
        )
    with printing_measures():
        loss = explain_application(records, name, base, platform or others[0])
    if figures is not None:
        from bareline.report.page.files import write_loss

        write_loss(loss, figures)
    emit_blocks(as_json, loss.rows, lambda: loss_blocks(loss, name))
