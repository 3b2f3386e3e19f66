"""The output of a command: rows or text on stdout, errors on stderr, an exit code.

`bareline schema` prints the JSON Schemas of the rows and of the files that people and programs
write. A schema is made from the class of the rows, or from the model that checks the file, whenever
it is requested. It can therefore never be outdated.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NotRequired

import typer
from typing_extensions import TypedDict

from bareline.vocabulary.errors import BarelineError, UsageError, did_you_mean
from bareline.vocabulary.files import replace_file, step_to_write
from bareline.vocabulary.finite import with_nulls
from bareline.vocabulary.sanitize import escaped_json
from bareline.vocabulary.source_place import place_of
from bareline.vocabulary.units import count

if TYPE_CHECKING:
    from rich.console import Console

    from bareline.analysis.words.conditions import ConditionOutcome
    from bareline.report.blocks import Block

#: Exit codes, as docs/reference/command-line.md lists them.
EXIT_CONDITION = 1
EXIT_USAGE = 2
EXIT_TRIALS_FAILED = 3
EXIT_UNDECIDED = 4
EXIT_INTERRUPTED = 130
#: Most rows that are printed for one condition.
_NAMED_ROWS = 10


#: Whether lines on stderr end with the code of their message.
_with_codes: ContextVar[bool] = ContextVar("with_codes", default=False)


def print_codes(wanted: bool) -> None:
    """Set whether messages on stderr end with their codes."""
    _with_codes.set(wanted)


def print_error(text: str) -> None:
    """Print a message in one line on stderr."""
    code = None
    if _with_codes.get():
        from bareline.vocabulary.message_codes import code_at

        code = code_at(place_of(sys._getframe(1)))
    _print_message(text, code)


def complain_of_end(error: BarelineError, *, as_json: bool) -> None:
    """Print on stderr the error that ends a command, with the next step, as text or as JSON."""
    if not as_json:
        code = _code_of(error) if _with_codes.get() else None
        _print_message(str(error), code)
        return
    end = {"error": error.what, "where": error.where, "hint": error.hint, "code": _code_of(error)}
    row = json.dumps({**end, "exit_code": error.exit_code}, ensure_ascii=False)
    print(escaped_json(row), file=sys.stderr)


def _code_of(error: BarelineError) -> str | None:
    from bareline.vocabulary.message_codes import code_of

    return code_of(error)


def _print_message(text: str, code: str | None) -> None:
    end = "" if code is None else f" [{code}]"
    print(f"bareline: {text}{end}", file=sys.stderr)


def complain_of(outcomes: Sequence[ConditionOutcome], undecided: str | None = None) -> None:
    """Print the result of each condition; exit with an error code unless all conditions pass.

    - `undecided`: the result of a condition that the launches cannot decide: "pass", "fail", or
      None, which means "fail" in continuous integration and "pass" elsewhere.
    """
    for outcome in outcomes:
        for line in _outcome_lines(outcome):
            print_error(line)
    if any(outcome.violations for outcome in outcomes):
        raise typer.Exit(EXIT_CONDITION)
    if not any(outcome.undecided for outcome in outcomes):
        return
    if fails_undecided(undecided):
        why = "" if undecided else ", as in continuous integration (CI is set)"
        print_error(
            f"undecided conditions end with exit code {EXIT_UNDECIDED}{why}; add `--undecided"
            " pass` to end with exit code 0"
        )
        raise typer.Exit(EXIT_UNDECIDED)
    print_error(
        "undecided conditions pass; they fail with `--undecided fail`, or if the variable CI is "
        "set in the environment"
    )


def fails_undecided(undecided: str | None) -> bool:
    """Return whether undecided conditions fail; for None, only in continuous integration.

    Raises UsageError: the text is neither "pass" nor "fail".
    """
    if undecided is None:
        return os.environ.get("CI", "").lower() not in ("", "0", "false")
    if undecided not in ("pass", "fail"):
        raise UsageError(
            f"'{undecided}' is not a valid value", where="--undecided", hint="give pass or fail"
        )
    return undecided == "fail"


def _outcome_lines(outcome: ConditionOutcome) -> Iterator[str]:
    """Yield lines about a condition: its result, then the rows that violate it or are undecided."""
    condition = f"{outcome.condition}: "
    tested = f"{count(outcome.tested, 'row')} tested"
    number = len(outcome.undecided)
    if outcome.violations:
        met = len(outcome.violations)
        verb = outcome.verb_of_one if met == 1 else outcome.verb
        others = f", {number} may" if number else ""
        yield f"FAIL {condition}{tested}, {met} {verb}{others}"
        yield from _some(outcome.head, outcome.violations)
    elif outcome.undecided:
        yield f"UNDECIDED {condition}{tested}, {number} cannot be decided; {outcome.remedy}"
        yield from _some("not decided", outcome.undecided)
    else:
        nearest = f"; {outcome.nearest}" if outcome.nearest else ""
        yield f"PASS {condition}{tested}, none {outcome.verb}{nearest}"


def _some(head: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:_NAMED_ROWS]:
        yield f"{head}: {line}"
    if len(lines) > _NAMED_ROWS:
        yield f"{head}: {len(lines) - _NAMED_ROWS} more rows, which --junit names"


@contextmanager
def printing_measures() -> Iterator[None]:
    """If the code in the context raises `LadderGaps`, print the benchmarks to measure.

    `LadderGaps` means that a prediction lacks measurements. It is raised again.
    """
    from bareline.predict.curves.platform_curves import LadderGaps

    try:
        yield
    except LadderGaps as gaps:
        print("\n\n".join(gaps.measures), end="\n\n", file=sys.stderr)
        raise


class Written(TypedDict):
    """A row of ``report``, ``export`` or ``new``: a file that was written."""

    file: str
    form: str
    samples: NotRequired[int]


def written(path: Path) -> Written:
    """Return the row of a file that was written."""
    return {"file": str(path), "form": path.suffix.removeprefix(".")}


#: Whether the running command prints JSON, and the file to which it prints (None for stdout).
_as_json: ContextVar[bool] = ContextVar("as_json", default=False)
_destination: ContextVar[Path | None] = ContextVar("destination", default=None)


def print_json(context: typer.Context, wanted: bool) -> None:
    """Make `emit` print JSON until the command ends."""
    token = _as_json.set(wanted)
    context.call_on_close(lambda: _as_json.reset(token))


def prints_json() -> bool:
    """Return whether the running command prints JSON."""
    return _as_json.get()


def write_to(context: typer.Context, path: Path | None) -> None:
    """Make `emit` write to a file until the command ends."""
    token = _destination.set(path)
    context.call_on_close(lambda: _destination.reset(token))


def emit(rows: Callable[[], Any], people: Callable[[Console], None]) -> None:
    """Print rows as JSON, or text for people, to stdout or to the file of `write_to`.

    - `rows`: a function that returns the rows; only called for JSON.
    - `people`: a function that prints text on a console; only called for text.

    Raises UsageError: the file cannot be written.
    """
    path = _destination.get()
    with nullcontext() if path is None else redirect_stdout(StringIO()) as text:
        if _as_json.get():
            as_json(rows())
        else:
            people(console())
    if path is None or text is None:
        return
    try:
        replace_file(path, text.getvalue())
    except OSError as error:
        raise unwritable(error, path) from error


def unwritable(error: OSError, path: Path) -> UsageError:
    """Return the error for an output that cannot be written, with the next step."""
    why = f"the file cannot be written: {error.strerror}"
    return UsageError(why, where=str(path), hint=step_to_write(error))


def as_json(rows: object) -> None:
    """Print rows, or a schema, as JSON.

    Numbers that are not finite become null, and a remark on stderr names them.
    """
    nulls: list[str] = []
    finite = with_nulls(rows, nulls)
    encoder = json.JSONEncoder(indent=1, ensure_ascii=False, allow_nan=False)
    for part in encoder.iterencode(finite):
        sys.stdout.write(escaped_json(part))
    sys.stdout.write("\n")
    if nulls:
        more = f" and {len(nulls) - 1} more" if nulls[1:] else ""
        print_error(
            "JSON cannot contain infinite or undefined numbers, so null replaces them: "
            f"{nulls[0]}{more} is null"
        )


def emit_blocks(rows: Callable[[], Any], blocks: Callable[[], Iterable[Block]]) -> None:
    """Print rows as JSON, or blocks for people, in the way of `emit`."""

    def people(console: Console) -> None:
        from bareline.report.writers.terminal import print_blocks

        print_blocks(blocks(), console)

    emit(rows, people)


def console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Return the console of stdout or stderr; with `quiet`, a console that prints nothing."""
    from bareline.report.writers.console import make_console

    return make_console(stderr=stderr, quiet=quiet)


_DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: By command: the type of the rows with its module, and whether a single row is printed. The
#: decorator `prints` fills it.
OUTPUTS: dict[str, tuple[str, bool]] = {}


def declared_outputs() -> Mapping[str, tuple[str, bool]]:
    """Import all verbs, and return their declared outputs (`OUTPUTS`)."""
    from bareline.cli.tasks import import_verbs

    import_verbs()
    return OUTPUTS


class SchemaListed(TypedDict):
    """A row of ``schema``: a schema, and its subject."""

    schema: str
    of: str


def printed_type(name: str) -> Any:
    """Return the type of the whole output of a command: a list of rows, or a single row."""
    where, alone = declared_outputs()[name]
    module, _, row = where.rpartition(".")
    printed = getattr(import_module(f"bareline.{module}"), row)
    return printed if alone else GenericAlias(list, printed)


def _files() -> dict[str, Callable[[], dict[str, Any]]]:
    from bareline.analysis.numbers.references import ReferenceFile
    from bareline.platforms.config import platforms_schema
    from bareline.store.schema import run_schemas
    from bareline.study.reading import study_schema

    lines = {name: lambda schema=schema: schema for name, schema in run_schemas().items()}
    written_by_people = {
        "study.toml": study_schema,
        "platforms.toml": platforms_schema,
        "reference.toml": ReferenceFile.model_json_schema,
    }
    return {**written_by_people, **lines}


def schema_rows() -> list[SchemaListed]:
    """Return the schemas of files, by file name, and of outputs, by command."""
    names_by_kind = {"a file": _files(), "--json": sorted(declared_outputs())}
    rows: list[SchemaListed] = []
    for kind, names in names_by_kind.items():
        rows += (SchemaListed(schema=name, of=kind) for name in names)
    return rows


def schema_of(name: str) -> dict[str, Any]:
    """Return a schema by name.

    Raises UsageError: there is no schema of that name.
    """
    from pydantic import TypeAdapter

    files = _files()
    if name in files:
        return {"$schema": _DIALECT, **files[name]()}
    outputs = declared_outputs()
    if name in outputs:
        title = f"bareline {name.replace('-', ' ', 1)} --json"
        definition = TypeAdapter(printed_type(name)).json_schema()
        return {"$schema": _DIALECT, "title": title, **definition}
    hint = did_you_mean(name, [*files, *outputs], "`bareline schema` lists them")
    raise UsageError(f"no schema is named '{name}'", hint=hint)
