"""What a command leaves behind: rows or text on stdout, complaints on stderr, an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from bareline.analysis.conditions import Outcome

#: Exit codes, as docs/reference/command-line.md lists them.
EXIT_CONDITION = 1
EXIT_USAGE = 2
EXIT_TRIALS_FAILED = 3
EXIT_INTERRUPTED = 130


def complain(text: str) -> None:
    """Say in one line on stderr what is wrong."""
    print(f"bareline: {text}", file=sys.stderr)


@contextmanager
def printing_measures() -> Iterator[None]:
    """Print the measures that a refused ladder lacks before the one line that says so."""
    from bareline.predict.ladder import LadderGaps

    try:
        yield
    except LadderGaps as gaps:
        print("\n\n".join(gaps.measures), end="\n\n", file=sys.stderr)
        raise


def emit(as_json: bool, rows: Callable[[], Any], people: Callable[[Console], None]) -> None:
    """Print tidy rows as JSON and nothing else, or what people read.

    Parameters
    ----------
    as_json
        What ``--json`` says.
    rows
        Gives the rows; called for JSON only.
    people
        Prints for people on a console; called for them only.
    """
    if as_json:
        json.dump(rows(), sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
        sys.stdout.write("\n")
    else:
        people(console())


def console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Give the console of stdout or stderr, or one that prints nothing."""
    from bareline.report.terminal.console import make_console

    return make_console(stderr=stderr, quiet=quiet)


def complain_of(outcomes: Sequence[Outcome]) -> None:
    """Say what conditions found, and leave with their exit code if any is met."""
    for outcome in outcomes:
        complain(
            f"--fail-if '{outcome.condition}': {outcome.tested} rows tested, "
            f"{len(outcome.violations) or 'none'} meet it"
        )
        for line in outcome.violations:
            complain(f"condition met: {line}")
    if any(outcome.violations for outcome in outcomes):
        import typer

        raise typer.Exit(EXIT_CONDITION)
