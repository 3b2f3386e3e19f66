"""The measurement of a run's remaining trials, for `run`, `continue`, `ab` and `forecast`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from bareline.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_TRIALS_FAILED,
    console,
    emit,
    print_error,
)
from bareline.vocabulary.errors import LimitReached, Stopped, TimeUp

if TYPE_CHECKING:
    from bareline.session.trial_counts import TrialCounts
    from bareline.store.run import Run
    from bareline.vocabulary.limits import Limits

#: Early ends of a run: how to continue it, whether its state is printed, and the exit code.
_EARLY: Mapping[type[BaseException], tuple[str, bool, int]] = {
    KeyboardInterrupt: ("`bareline continue {}` goes on where it stopped", False, EXIT_INTERRUPTED),
    LimitReached: ("`bareline continue --max-core-hours N {}` goes on", True, EXIT_INTERRUPTED),
    TimeUp: ("`bareline continue {}` in another job goes on", False, EXIT_INTERRUPTED),
    Stopped: ("`bareline continue {}` goes on where it stopped", True, EXIT_TRIALS_FAILED),
}


def measure(
    made: Run,
    *,
    retry_failed: bool = False,
    anyway: bool = False,
    limits: Limits | None = None,
    stop_on_failure: bool = False,
    quiet: bool,
) -> TrialCounts:
    """Measure the remaining trials of a run, with progress on stderr.

    If the measurement ends early, exit with the code of the reason.
    """
    from bareline.report.terminal.progress import progress_on
    from bareline.session.runner import execute

    try:
        progress_console = console(stderr=True, quiet=quiet)
        with progress_on(progress_console, stop_on_failure=stop_on_failure) as progress:
            return execute(made, progress, retry_failed=retry_failed, anyway=anyway, limits=limits)
    except tuple(_EARLY) as end:
        step, is_told, code = _EARLY[type(end)]
        why = "interrupted" if isinstance(end, KeyboardInterrupt) else end
        print_error(f"{why}; {step.format(shlex.quote(str(made.path)))}")
        if is_told:
            emit_state(made)
        raise typer.Exit(code) from None


def emit_state(made: Run) -> None:
    """Print the state of a run as JSON, or the path of the run for people."""
    from bareline.session.status import status_of

    emit(lambda: [status_of(made)], lambda _: print(made.path))
