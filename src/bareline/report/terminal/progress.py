"""The progress of a run on stderr: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bareline.report.writers.console import clean
from bareline.vocabulary.model import Failed, Record, Trial
from bareline.vocabulary.units import count, format_duration

#: The least time between two plain lines, so that a log of a long run stays readable.
_LINE_EVERY_S = 10.0
#: The least time between two steps of long work. Work that ends sooner prints nothing.
_STEP_EVERY_S = 2.0
#: Longest wait for the user's answer; then the run goes on, as without a terminal.
_ANSWER_S = 60.0


class StepLines:
    """Progress lines for long work other than a run: the current step, and the time left."""

    def __init__(self, step: str, console: Console) -> None:
        self._step = step
        self._console = console
        self._started_s = 0.0
        self._last_s = 0.0

    def __call__(self, text: str, position: int, steps: int) -> None:
        """Print the step that begins now, unless a line was printed a moment ago."""
        now_s = time.monotonic()
        if position == 1:
            self._started_s = now_s
            self._last_s = now_s
        if now_s - self._last_s < _STEP_EVERY_S:
            return
        self._last_s = now_s
        elapsed_s = now_s - self._started_s
        step_s = elapsed_s / (position - 1)
        left = format_duration(step_s * (steps - position + 1))
        times = f"{format_duration(elapsed_s)} elapsed, about {left} left"
        _say(self._console, f"{self._step} {position} of {steps}: {text} ({times})")


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(clean(text), style), soft_wrap=True)


class PlainProgress:
    """Progress lines for logs: events of platforms, the running trial, and every failure."""

    def __init__(self, console: Console, *, stop_on_failure: bool = False) -> None:
        self._console = console
        self._stop = stop_on_failure
        self._planned = 0
        self._last_s = 0.0
        self._started_s = time.monotonic()

    def begin(self, planned: int, completed: int) -> None:
        """Print the number of trials to run."""
        self._planned = planned
        text = f"{count(planned, 'trial')} planned"
        if completed:
            text += f", {completed} done before"
        self._say(text)

    def note(self, platform: str, text: str) -> None:
        """Print an event of a platform."""
        self._say(f"{platform}: {text}")

    def trial(self, trial: Trial, position: int, eta_s: float | None) -> None:
        """Print the trial that runs now, unless a line was printed a moment ago."""
        now_s = time.monotonic()
        if now_s - self._last_s < _LINE_EVERY_S and position > 1:
            return
        self._last_s = now_s
        eta = f", about {format_duration(eta_s)} left" if eta_s is not None else ""
        times = f"{format_duration(now_s - self._started_s)} elapsed{eta}"
        where = f"{trial.case.label} on {trial.platform}"
        self._say(f"trial {position} of {self._planned}: {where} ({times})")

    def repeat(self, trial: Trial, number: int, repeats: int) -> None:
        """Print the repetition that runs now; repetitions are not trials of the plan."""
        self._say(f"repeat {number} of {repeats}: {trial.case.label} on {trial.platform}")

    def finished(self, record: Record) -> None:
        """Print why a trial failed; nothing if it did not fail."""
        if isinstance(record.outcome, Failed):
            self._say(failure_line(record), "yellow")

    def skipped(self, number: int, reason: str) -> None:
        """Print the number of trials that are not needed any more, and the reason."""
        self._planned -= number
        self._say(f"skipping {count(number, 'trial')}: {reason}", "dim")

    def failing(self, problem: str) -> bool:
        """Print that a program fails on all platforms; return whether the run continues."""
        more = "" if self._stop else "; it goes on: --stop-on-failure would end the run here"
        # A failure is also printed with --quiet.
        print(clean(f"attention: {problem}{more}"), file=self._console.file)
        return not self._stop

    def _say(self, text: str, style: str = "") -> None:
        _say(self._console, text, style)


class LiveProgress(PlainProgress):
    """A progress bar that shows the running trial, its platform, and the time left."""

    def __init__(self, progress: Progress, *, stop_on_failure: bool = False) -> None:
        super().__init__(progress.console, stop_on_failure=stop_on_failure)
        self._progress = progress
        self._task = progress.add_task("starting", total=None)

    def begin(self, planned: int, completed: int) -> None:
        """Set the length of the bar."""
        self._progress.update(self._task, total=planned, completed=completed)

    def note(self, platform: str, text: str) -> None:
        """Print an event of a platform above the bar."""
        self._console.print(Text.assemble((clean(platform), "bold"), clean(f": {text}")))

    def trial(self, trial: Trial, position: int, eta_s: float | None) -> None:
        """Show the trial that runs now."""
        eta = f" · {format_duration(eta_s)} left" if eta_s is not None else ""
        name = f"{trial.case.probe} on [bold]{escape(trial.platform)}[/]{eta}"
        self._progress.update(self._task, description=name)

    def finished(self, record: Record) -> None:
        """Advance the bar; print a failure above it."""
        self._progress.advance(self._task)
        super().finished(record)

    def skipped(self, number: int, reason: str) -> None:
        """Remove trials from the bar."""
        task = self._progress.tasks[0]
        if task.total is not None:
            self._progress.update(self._task, total=task.total - number)
        super().skipped(number, reason)

    def failing(self, problem: str) -> bool:
        """Print that a program fails on all platforms, and ask whether the run continues.

        Return the answer.
        """
        self._console.print(Text.assemble(("attention:", "bold red"), clean(f" {problem}")))
        if self._stop or not sys.stdin.isatty():
            return not self._stop
        self._progress.stop()
        question = f"Go on? [Y/n] (yes by itself in {_ANSWER_S:.0f} s) "
        self._console.print(Text(question), end="")
        answered, _, _ = select.select([sys.stdin], [], [], _ANSWER_S)
        answer = ""
        if answered:
            answer = sys.stdin.readline()
            self._console.print("")
        else:
            self._console.print("it goes on")
        self._progress.start()
        return not answer.strip().lower().startswith("n")


def failure_line(record: Record) -> str:
    """Describe in one line a trial that failed or was skipped: its stage, and the reason."""
    assert isinstance(record.outcome, Failed)
    reason = " ".join(record.outcome.reason.split())
    if len(reason) > 240:
        reason = reason[:237] + "..."
    where = f"{record.trial.case.label} on {record.trial.platform}"
    if record.skipped:
        return clean(f"skipped: {where}: {reason}")
    return clean(f"failed: {where} [{record.outcome.stage.value}] {reason}")


class _LogLines(logging.Handler):
    """A handler that prints log messages, e.g. that a part of bareline is built."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        _say(self._console, record.getMessage())


@contextmanager
def progress_on(console: Console, *, stop_on_failure: bool = False) -> Iterator[PlainProgress]:
    """Yield the progress display of a console.

    - `stop_on_failure`: whether a run ends if the display would ask a question.
    """
    log = logging.getLogger("bareline")
    handler = _LogLines(console)
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    try:
        if console.quiet or not console.is_terminal:
            yield PlainProgress(console, stop_on_failure=stop_on_failure)
        else:
            with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
                yield LiveProgress(bar, stop_on_failure=stop_on_failure)
    finally:
        log.removeHandler(handler)
