"""Verbs that print measurements and their comparison: show, compare, explain."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bareline.cli import completing
from bareline.cli.options import (
    BaselineOption,
    DetailsOption,
    Gates,
    MarginOption,
    ReferenceOption,
    RowFilter,
    RunsArgument,
    ShowControlOption,
    SidesArgument,
    read_records,
    records_of,
    run_path,
)
from bareline.cli.output import (
    complain_of,
    emit_blocks,
    fails_undecided,
    print_error,
    printing_measures,
)
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bareline.analysis.numbers.records import Records
    from bareline.analysis.numbers.selection import Selection
    from bareline.analysis.words.comparison import Comparison
    from bareline.report.blocks import Block

app = typer.Typer()


@app.command()
@prints("show", "analysis.numbers.summary.ShowRow")
@prints("show-facts", "report.content.facts.Fact")
@prints("show-profile", "profile.files.ProfileRow")
def show(
    path: Annotated[
        Path,
        argument(
            "RUN",
            "A run directory, @latest or a profile.",
            parser=run_path,
            autocompletion=completing.runs,
        ),
    ],
    only: RowFilter,
    everything: DetailsOption = False,
    control: ShowControlOption = False,
    reference: ReferenceOption = None,
    facts: Annotated[
        bool, flag("--facts", "Show the platforms' characteristics and their differences.")
    ] = (False),
) -> None:
    """Show the medians of a run with their intervals, its platforms, or a profile."""
    from bareline.profile.files import is_profile, read_profile, to_rows

    if is_profile(path):
        from bareline.report.profile.terminal import profile_blocks

        profile = read_profile(path)
        emit_blocks(
            lambda: to_rows(profile), lambda: profile_blocks(profile, everything=everything)
        )
    elif facts:
        _show_facts(path, everything=everything)
    else:
        view = _Shown(only.selection(), everything, sizes=False, control=control)
        _show_summary(path, view, reference or ())


def _show_summary(path: Path, view: _Shown, references: Sequence[Path]) -> None:
    from bareline.analysis.numbers.summary import as_rows, failures, summarize
    from bareline.analysis.words.references import reference_outcomes
    from bareline.report.content.method import cost_texts
    from bareline.report.content.profiles import profile_lines
    from bareline.report.profile.terminal import profile_line_blocks
    from bareline.report.terminal.results import cost_blocks, failed_blocks, summary_blocks

    selection = view.selection
    records = read_records(path)
    outcomes = reference_outcomes(references, records)
    if view.control:
        records = records.with_controls
    summary = selection.of(summarize(records), records)
    failed = selection.of(failures(records), records)

    def blocks() -> Iterator[Block]:
        yield from summary_blocks(summary, details=view.details)
        yield from failed_blocks(failed)
        if not selection:
            yield from profile_line_blocks(profile_lines(records))
            for run in records.runs:
                yield from cost_blocks(cost_texts(run))

    silent = failed.filter(n=0).drop("absent")
    emit_blocks(lambda: [*as_rows(summary), *as_rows(silent)], blocks)
    complain_of(outcomes)


def _show_facts(path: Path, *, everything: bool) -> None:
    from bareline.report.content.facts import fact_lines, facts_by_machine, to_rows
    from bareline.report.terminal.listings import fact_blocks
    from bareline.store.run import Run

    facts = facts_by_machine(Run.open(path))
    emit_blocks(
        lambda: to_rows(facts),
        lambda: fact_blocks(fact_lines(facts), list(facts), details=everything),
    )


@app.command()
@prints("compare", "analysis.numbers.points.Compared")
@prints("compare-profiles", "profile.comparison.ComparisonRow")
def compare(
    paths: SidesArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    everything: DetailsOption = False,
    sizes: Annotated[
        bool, flag("--sizes", "Show every message size with both values, in OSU's units.")
    ] = False,
    control: ShowControlOption = False,
    ranks: Annotated[
        int | None,
        option("--ranks", "N", "Number of ranks, for outputs that do not contain it.", min=1),
    ] = None,
    *,
    gates: Gates,
    only: RowFilter,
) -> None:
    """Compare two runs (OLD and NEW), platforms with a baseline, or two profiles.

    OLD and NEW are runs, or outputs that `import` reads, or folders of them.
    """
    from bareline.profile.files import begins_like_profile
    from bareline.session.sides import open_sides

    if len(paths) == 2 and all(map(begins_like_profile, paths)):
        _compare_profiles(*paths)
        return
    from bareline.analysis.judgements.conditions import parse_condition
    from bareline.analysis.words.comparison import Comparison
    from bareline.analysis.words.conditions import check
    from bareline.analysis.words.references import reference_outcomes
    from bareline.report.content.exporting import write_junit

    conditions = [parse_condition(text) for text in gates.fail_if or ()]
    fails = fails_undecided(gates.undecided)
    with open_sides(paths, print_error, ranks=ranks) as runs:
        comparison = Comparison.of_runs(records_of(runs), baseline, margin)
        outcomes = [check(condition, comparison) for condition in conditions]
        outcomes += reference_outcomes(gates.reference or (), comparison.records)
        view = _Shown(only.selection(), everything, sizes, control)
        _emit_comparison(comparison, view)
        if gates.junit is not None:
            write_junit(comparison.records, outcomes, gates.junit, fails_undecided=fails)
    complain_of(outcomes, gates.undecided)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The parts of a comparison to print: some rows, details, every size, the control."""

    selection: Selection
    details: bool
    sizes: bool
    control: bool


def _emit_comparison(comparison: Comparison, view: _Shown) -> None:
    from bareline.analysis.numbers.row import read_rows
    from bareline.analysis.numbers.summary import as_rows
    from bareline.report.terminal.results import headline_blocks, selected_blocks
    from bareline.report.terminal.sizes import size_blocks

    def blocks() -> Iterator[Block]:
        if view.sizes:
            for part in comparison.parts:
                yield from headline_blocks(part)
            yield from size_blocks(read_rows(None, rows))
        elif view.selection:
            yield from selected_blocks(rows, all_rows, details=view.details)
        else:
            for part in comparison.parts:
                yield from _compared(part, control=view.control, details=view.details)

    if not view.selection and not view.sizes:
        emit_blocks(lambda: as_rows(comparison.rows_with_controls), blocks)
        return
    table = comparison.rows_with_controls
    all_rows = table.height
    rows = view.selection.of(table, comparison.records)
    emit_blocks(lambda: as_rows(rows), blocks)


def _compare_profiles(before: Path, after: Path) -> None:
    from bareline.profile.comparison import compare_profiles
    from bareline.profile.files import read_profile
    from bareline.report.profile.terminal import profile_pair_blocks

    both = compare_profiles(read_profile(before), read_profile(after))
    emit_blocks(both.rows, lambda: profile_pair_blocks(both))


def _compared(comparison: Comparison, *, control: bool, details: bool) -> Iterator[Block]:
    from bareline.report.terminal.results import comparison_blocks, control_blocks

    if not comparison.alone:
        yield from comparison_blocks(comparison, details=details)
    if control or comparison.alone:
        rows = comparison.control_table
        yield from control_blocks(comparison.controls, rows, details=details)


@app.command()
@prints("explain", "analysis.words.rows.ExplainRow")
@prints("explain-app", "predict.shares.LossShare")
@prints("explain-why-not", "analysis.judgements.causes.why_not.WhyNotRow")
def explain(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    application: Annotated[
        str | None, option("--app", "APP", "Divide the loss of a profiled application.")
    ] = None,
    platform: Annotated[
        str | None,
        option("--platform", "P", "With --app: platform on which the application loses."),
    ] = None,
    figures: Annotated[
        Path | None,
        option("--figures", "DIR", "With --app: write the waterfall figure to this folder."),
    ] = None,
    why_not: Annotated[
        str | None,
        option(
            "--why-not",
            "CAUSE",
            "Show the facts that the cause needs, and why it explains each loss or not.",
        ),
    ] = None,
    everything: Annotated[
        bool, flag("--all", "Also show every finding and the suitability of the platforms.")
    ] = False,
) -> None:
    """Explain the loss of each layer, its certainty and its cause."""
    if application is not None and why_not is not None:
        raise UsageError(
            "--app and --why-not cannot be used together", hint="give one of them at a time"
        )
    records = read_records(*paths)
    if application is not None:
        _explain_application(records, application, baseline, platform, figures)
        return
    from bareline.analysis.words.comparison import Comparison
    from bareline.report.terminal.results import explained_blocks
    from bareline.report.terminal.why_not import why_not_blocks

    comparison = Comparison(records, baseline, margin)
    if why_not is None:
        emit_blocks(comparison.rows, lambda: explained_blocks(comparison, details=everything))
        return
    answers = comparison.why_not(why_not)

    def rows() -> list[dict[str, Any]]:
        return list(chain.from_iterable(answer.rows() for answer in answers))

    emit_blocks(rows, lambda: why_not_blocks(answers))


def _explain_application(
    records: Records, name: str, baseline: str | None, platform: str | None, figures: Path | None
) -> None:
    from bareline.predict.shares import explain_application
    from bareline.report.terminal.predictions import loss_blocks

    base = baseline or records.baseline
    others = [other for other in records.platforms if other != base]
    if platform is None and len(others) != 1:
        raise UsageError(
            "several platforms were compared, but only one can be explained at a time",
            hint=f"add --platform, one of {', '.join(others)}",
        )
    with printing_measures():
        loss = explain_application(records, name, base, platform or others[0])
    if figures is not None:
        from bareline.report.page.files import write_loss

        write_loss(loss, figures)
    emit_blocks(loss.rows, lambda: loss_blocks(loss, name))
