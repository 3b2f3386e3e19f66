"""The verb ab, which finds the better of several commands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.answer import commands_compared, emit_answer, end_if_failed
from bareline.cli.measuring import measure
from bareline.cli.options import (
    PLATFORM,
    FailIfOption,
    MarginOption,
    PlatformsOption,
    QuietOption,
    RunOptions,
    UndecidedOption,
    WaitQuietOption,
    seconds,
)
from bareline.cli.output import complain_of, emit_blocks, fails_undecided, print_error
from bareline.cli.planning import Planned, plan_on
from bareline.cli.verbs import argument, flag, option, prints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bareline.analysis.judgements.conditions import FailCondition
    from bareline.study.commands import CommandOptions
    from bareline.study.study import Study
    from bareline.vocabulary.model import Better
    from bareline.vocabulary.platform import PlatformSpec

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class AbOptions:
    """Options of a comparison of commands."""

    commands: Annotated[
        list[str],
        argument("-- COMMAND...", "Two or more, each in quotes; the first is the baseline."),
    ]
    launches: Annotated[
        int | None,
        option(
            "--launches",
            "N",
            "Number of launches of each command (default: 8 to 50, until the answer is clear).",
            min=1,
        ),
    ] = None
    ranks: Annotated[
        int | None,
        option(
            "--ranks",
            "N",
            "Start each command on N MPI ranks. Without it, the command starts mpirun itself.",
            min=1,
        ),
    ] = None
    on: Annotated[str, option("--on", help="Platform on which the commands run.", **PLATFORM)] = (
        "bare"
    )
    platforms: PlatformsOption = None
    metric: Annotated[
        str,
        option(
            "--metric",
            "REGEX",
            "Compare the printed number that the group matches, not the wall time.",
        ),
    ] = ""
    better: Annotated[
        str | None,
        option(
            "--better", "higher|lower", "Whether a higher or a lower number of --metric is better."
        ),
    ] = None
    unit: Annotated[str, option("--unit", "UNIT", "Unit of the number of --metric.")] = "1"
    margin: MarginOption = None
    fail_if: FailIfOption = None
    undecided: UndecidedOption = None
    markdown: Annotated[
        Path | None, option("--export-markdown", "FILE", "Also write the answer as Markdown.")
    ] = None
    plan: Annotated[bool, flag("--plan", "Print the comparison as a study file; run nothing.")] = (
        False
    )
    dry_run: Annotated[bool, flag("--dry-run", "Show the plan, run nothing.")] = False
    out: Annotated[Path | None, option("-o --out", "DIR", "Run directory to make.")] = None
    seed: Annotated[int | None, option("--seed", "N", "Seed of the launches' order.")] = None
    wait_quiet: WaitQuietOption = None
    quiet: QuietOption = False

    def for_run(self) -> RunOptions:
        """Return the options for the run of the comparison."""
        return RunOptions(
            "ab", on=[self.on], platforms=self.platforms, out=self.out, seed=self.seed
        )


@app.command()
@prints("ab", "analysis.words.commands.CommandRow")
@prints("ab-dry-run", "session.begin.PlannedTrial")
def ab(options: AbOptions) -> None:
    """Compare two or more commands: which is faster, or which prints the better value."""
    from bareline.platforms.config import choose_platforms
    from bareline.session.begin import refuse_unusable
    from bareline.session.pauses import wait_until_idle
    from bareline.study.commands import command_study

    settings = _options(options)
    study = command_study(options.commands, settings)
    if options.plan:
        _print_study(study, options)
        return
    conditions = _conditions(options.fail_if or ())
    fails_undecided(options.undecided)  # refuses another word before anything is measured
    specs = choose_platforms([options.on], options.platforms)
    if options.dry_run:
        planned = plan_on(options.for_run(), study, specs).tell()
        rows = planned.rows()
        emit_blocks(lambda: rows, lambda: planned.blocks(rows))
        return
    refuse_unusable(specs)
    planned = _warmed_up(options, study, specs, settings)
    made = planned.make()
    wait_s = seconds(options.wait_quiet)
    if wait_s is not None:  # else the answer reports disturbances
        wait_until_idle(planned.platforms, None, wait_s, print_error)
    tally = measure(made, quiet=options.quiet)
    comparison = commands_compared(made)
    titles = dict(zip(made.header.platforms, options.commands, strict=True))
    emit_answer(comparison, made, titles, options.markdown)
    end_if_failed(made, tally)
    if conditions:
        from bareline.analysis.words.conditions import check

        outcomes = [check(condition, comparison) for condition in conditions]
        complain_of(outcomes, options.undecided)


def _options(options: AbOptions) -> CommandOptions:
    from bareline.study.commands import CommandOptions, rate_words
    from bareline.vocabulary.errors import UsageError

    if options.better not in (None, "higher", "lower"):
        raise UsageError(
            f"'{options.better}' is not a valid direction of a metric",
            where="--better",
            hint="use higher or lower",
        )
    better: Better | None = options.better  # type: ignore[assignment]
    settings = CommandOptions(
        folder=Path.cwd(),
        ranks=options.ranks,
        metric=options.metric,
        better=better,
        unit=options.unit,
        margin=options.margin,
        launches=options.launches,
    )
    if words := rate_words(settings):
        print_error(words)
    return settings


def _conditions(texts: Sequence[str]) -> list[FailCondition]:
    """Return the parsed conditions.

    The parser is imported inside this function, because its import takes time.
    """
    if not texts:
        return []
    from bareline.analysis.judgements.conditions import parse_condition

    return [parse_condition(_whole_condition(text)) for text in texts]


def _whole_condition(text: str) -> str:
    """Return a condition with its subject.

    ``> 1.05`` and ``is slower`` have no subject. The probe of the commands is added as the subject.
    """
    from bareline.study.commands import PROBE

    stripped = text.strip()
    return f"{PROBE} {stripped}" if stripped.startswith((">", "<", "is ", "fails")) else text


def _print_study(study: Study, options: AbOptions) -> None:
    from bareline.study.commands import study_text

    print(f"# bareline run ab.toml --on {options.on}\n\n{study_text(study)}", end="")


def _warmed_up(
    options: AbOptions, study: Study, specs: list[PlatformSpec], settings: CommandOptions
) -> Planned:
    """Launch each command once, and plan the trials from the durations of these launches."""
    from bareline.session.pilot import warm_up
    from bareline.study.commands import command_study

    planned = plan_on(options.for_run(), study, specs).tell()
    took_s = warm_up(planned.study, planned.platforms)
    timed = command_study(options.commands, settings, took_s)
    return replace(planned, study=plan_on(options.for_run(), timed, specs).study)
