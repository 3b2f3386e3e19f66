"""The entry point of the command line.

A group of verbs is a module with its own ``app``. `bareline.cli.tasks` lists the modules, and
imports a module when one of its verbs is used. Imports are inside the functions of the verbs, so
that ``bareline --help`` is fast.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, NoReturn

import typer
import typer.main

from bareline.cli.completing import VARIABLE
from bareline.cli.options import OPTIONAL_VALUES
from bareline.cli.output import EXIT_INTERRUPTED, complain_of_end, print_codes, print_error
from bareline.cli.tasks import VerbsByTask
from bareline.report.writers.encoding import allow_any_text
from bareline.vocabulary.errors import BarelineError, UsageError
from bareline.vocabulary.files import step_to_read

#: Errors of missing resources: no fault of bareline, so that no traceback is printed.
_SCARCE = {errno.EAGAIN, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
           errno.ENOSPC}  # fmt: skip
#: Errors of a path that the user gave.
_OF_THE_PATH = {errno.EACCES, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR,
                errno.EPERM, errno.EROFS, errno.ESTALE}  # fmt: skip

_NOTHING_LOST = "what was recorded is kept"

#: An option that may be at any place of the command line; click accepts it only before the verb.
_VERBOSE = "--verbose"

#: Options that can have only one value.
_ONCE = ("--baseline", "--margin", "--out", "--seed")

app = typer.Typer(
    name="bareline",
    cls=VerbsByTask,
    help="What does a platform cost an MPI application? Measure, compare, explain.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@cache
def command() -> Any:
    """Return the click command that contains all verbs."""
    return typer.main.get_command(app)


def main() -> NoReturn:
    """Run the command line, and print each error of bareline as one line on stderr."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    allow_any_text()
    arguments = _with_values(_without_verbose(sys.argv[1:]))
    try:
        _refuse_two(arguments)
        command()(args=arguments, standalone_mode=True)
    except BarelineError as error:
        complain_of_end(error, as_json="--json" in arguments)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print_error("bareline was interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except MemoryError:
        full = BarelineError("bareline has no more memory", hint=_NOTHING_LOST)
        complain_of_end(full, as_json="--json" in arguments)
        sys.exit(BarelineError.exit_code)
    except BrokenPipeError:
        # The reader of the output has ended, e.g. `| head`; this is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno in _SCARCE:
            end = _lack(error)
        elif error.errno in _OF_THE_PATH:
            end = _wrong_path(error)
        else:
            raise
        complain_of_end(end, as_json="--json" in arguments)
        sys.exit(BarelineError.exit_code)
    sys.exit(0)


def _lack(error: OSError) -> BarelineError:
    return BarelineError(
        f"the machine lacks a resource: {error.strerror or error}", hint=_NOTHING_LOST
    )


def _wrong_path(error: OSError) -> BarelineError:
    step = step_to_read(error, "check the path")
    why = f"the path cannot be used: {error.strerror or error}"
    return BarelineError(why, where=str(error.filename), hint=step)


def _without_verbose(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without ``--verbose``; if they had it, turn on codes of messages."""
    own_arguments = len(arguments)
    if "--" in arguments:
        own_arguments = arguments.index("--")
    if "profile" in arguments[:2]:  # the options of the program may follow without --
        own_arguments = arguments.index("profile")
    others = [text for text in arguments[:own_arguments] if text != _VERBOSE]
    print_codes(len(others) < own_arguments)
    return [*others, *arguments[own_arguments:]]


def _refuse_two(arguments: Sequence[str]) -> None:
    """Refuse an option that is given twice and can have only one value.

    Without this check, the last value would be used.

    Raises UsageError: such an option is given twice.
    """
    if arguments[:1] == ["profile"]:  # the options of the program may follow without --
        return
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    names = [text.partition("=")[0] for text in ours]
    for name in _ONCE:
        if names.count(name) > 1:
            raise UsageError(f"{name} is given twice", hint="give it once")


def _with_values(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, with the default value after each option that is given without a value.

    Otherwise click would take the next argument for the value.
    """
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    alone = {name: f"{name}={value}" for name, value in OPTIONAL_VALUES.items()}
    return [*(alone.get(text, text) for text in ours), *arguments[len(ours) :]]


def _print_version(wanted: bool) -> None:
    if wanted:
        from bareline import __version__

        print(f"bareline {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    verbose: Annotated[  # `_without_verbose` takes it from the line
        bool,
        typer.Option(_VERBOSE, help="End each message on stderr with its code."),
    ] = False,
) -> None:
    """What does a platform cost an MPI application? Measure, compare, explain."""
