"""What a command leaves behind: rows or text on stdout, complaints on stderr, an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NotRequired, TypeVar

from typing_extensions import TypedDict

from bareline.vocabulary.errors import BarelineError, UsageError
from bareline.vocabulary.files import replacing

if TYPE_CHECKING:
    from rich.console import Console

    from bareline.analysis.words.conditions import ConditionOutcome
    from bareline.report.blocks import Block

#: Exit codes, as docs/reference/command-line.md lists them.
EXIT_CONDITION = 1
EXIT_USAGE = 2
EXIT_TRIALS_FAILED = 3
EXIT_INTERRUPTED = 130


def complain(text: str) -> None:
    """Say in one line on stderr what is wrong."""
    print(f"bareline: {text}", file=sys.stderr)


def complain_of_end(error: BarelineError, *, as_json: bool) -> None:
    """Say on stderr what ended a command, and what to do: in words, or as an object of JSON."""
    if not as_json:
        complain(str(error))
        return
    end = {"error": error.what, "where": error.where, "hint": error.hint}
    print(json.dumps({**end, "exit_code": error.exit_code}, ensure_ascii=False), file=sys.stderr)


@contextmanager
def printing_measures() -> Iterator[None]:
    """Print the measures that a refused ladder lacks before the one line that says so."""
    from bareline.predict.ladder import LadderGaps

    try:
        yield
    except LadderGaps as gaps:
        print("\n\n".join(gaps.measures), end="\n\n", file=sys.stderr)
        raise


#: Where the command that runs writes what it emits; stdout without it.
_destination: ContextVar[Path | None] = ContextVar("destination", default=None)


#: Where the type of each command's rows is, as `prints` says, and whether one row is printed alone.
OUTPUTS: dict[str, tuple[str, bool]] = {}
_Verb = TypeVar("_Verb", bound=Callable[..., None])


def prints(name: str, rows: str, *, alone: bool = False) -> Callable[[_Verb], _Verb]:
    """Declare the type of the rows that a command prints with ``--json``, by its module.

    - `name`: the command; an option that changes its rows follows it.
    """
    OUTPUTS[name] = rows, alone
    return lambda verb: verb


def printed_type(name: str) -> Any:
    """Give the type of all that a command prints: a list of rows, or a row alone."""
    where, alone = OUTPUTS[name]
    module, _, row = where.rpartition(".")
    found = getattr(import_module(f"bareline.{module}"), row)
    return found if alone else GenericAlias(list, found)


class Written(TypedDict):
    """``report``, ``export`` and ``new``: a file that was written."""

    file: str
    form: str
    samples: NotRequired[int]


def written(path: Path) -> Written:
    """Give the row of a file that was written."""
    return {"file": str(path), "form": path.suffix.removeprefix(".")}


def write_to(path: Path | None) -> Callable[[], None]:
    """Let `emit` write to a file; what is given back ends that."""
    token = _destination.set(path)
    return lambda: _destination.reset(token)


def emit(as_json: bool, rows: Callable[[], Any], people: Callable[[Console], None]) -> None:
    """Print tidy rows as JSON and nothing else, or what people read; or write it (`write_to`).

    - `as_json`: what ``--json`` says.
    - `rows`: gives the rows; called for JSON only.
    - `people`: prints for people on a console; called for them only.

    Raises UsageError: the file cannot be written.
    """
    path = _destination.get()
    if path is None:
        _print(as_json, rows, people)
        return
    with redirect_stdout(StringIO()) as text:
        _print(as_json, rows, people)
    try:
        with replacing(path) as made:
            made.write_text(text.getvalue(), encoding="utf-8")
    except OSError as error:
        hint = "make room or choose another --out"
        raise UsageError(
            f"cannot be written: {error.strerror}", where=str(path), hint=hint
        ) from error


def emit_blocks(
    as_json: bool, rows: Callable[[], Any], blocks: Callable[[], Iterable[Block]]
) -> None:
    """Print tidy rows as `emit` does, or blocks for people."""

    def people(console: Console) -> None:
        from bareline.report.writers.terminal import print_blocks

        print_blocks(blocks(), console)

    emit(as_json, rows, people)


def _print(as_json: bool, rows: Callable[[], Any], people: Callable[[Console], None]) -> None:
    if as_json:
        json.dump(rows(), sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
        sys.stdout.write("\n")
    else:
        people(console())


def console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Give the console of stdout or stderr, or one that prints nothing."""
    from bareline.report.writers.console import make_console

    return make_console(stderr=stderr, quiet=quiet)


def complain_of(outcomes: Sequence[ConditionOutcome]) -> None:
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
