"""The output of a comparison of commands, for `ab`, and for `continue` with a run of `ab`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bareline.cli.options import read_records
from bareline.cli.output import EXIT_TRIALS_FAILED, emit_blocks, print_error, unwritable

if TYPE_CHECKING:
    from bareline.analysis.words.commands import CommandRow
    from bareline.analysis.words.comparison import Comparison
    from bareline.session.trial_counts import TrialCounts
    from bareline.store.run import Run


def commands_compared(made: Run) -> Comparison:
    """Return the comparison of the commands that a run measured."""
    from bareline.analysis.words.comparison import Comparison

    return Comparison(read_records(made.path))


def emit_answer(
    comparison: Comparison, made: Run, titles: Mapping[str, str], markdown: Path | None = None
) -> None:
    """Print which command is better, and the `bareline` commands to type next.

    - `titles`: by name of the platform, the command line that it measures.
    """
    from bareline.analysis.words.commands import command_rows
    from bareline.report.terminal.commands import command_blocks, next_blocks
    from bareline.study.commands import PROBE

    rows = command_rows(comparison, PROBE, titles)
    if markdown is not None:
        _export(rows, comparison.margin, markdown)

    def blocks() -> list[object]:
        return [*command_blocks(rows, comparison.margin), *next_blocks(str(made.path))]

    emit_blocks(lambda: rows, blocks)  # type: ignore[arg-type]


def _export(rows: Sequence[CommandRow], margin: float, path: Path) -> None:
    from bareline.report.terminal.commands import command_blocks
    from bareline.report.writers.markdown import markdown
    from bareline.vocabulary.files import replace_file

    try:
        replace_file(path, "\n\n".join(markdown(command_blocks(rows, margin))) + "\n")
    except OSError as error:
        raise unwritable(error, path) from error


def end_if_failed(made: Run, tally: TrialCounts) -> None:
    """Exit with the code of failed trials if any launch failed."""
    if tally.wrong:
        print_error(
            f"{tally.failed} of {tally.planned} launches failed; `bareline show {made.path}`"
            " prints the reasons"
        )
        raise typer.Exit(EXIT_TRIALS_FAILED)
