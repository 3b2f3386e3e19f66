"""Declarations of the options, arguments and printed rows of verbs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from bareline.cli.output import OUTPUTS, print_json, write_to

_Verb = TypeVar("_Verb", bound=Callable[..., None])


def option(names: str, metavar: str, help: str, **more: Any) -> Any:
    """Return the declaration of an option with a value, from names, value and help.

    For example ``option("-o --out", "FILE", "Page to write.")``.
    """
    return typer.Option(*names.split(), metavar=metavar, help=help, **more)


def flag(names: str, help: str, **more: Any) -> Any:
    """Return the declaration of an option without a value, from names and help.

    For example ``flag("-q --quiet", "No progress.")``.
    """
    return typer.Option(*names.split(), help=help, **more)


def argument(metavar: str, help: str | None = None, **more: Any) -> Any:
    """Return the declaration of an argument."""
    return typer.Argument(metavar=metavar, help=help, **more)


JsonOption = Annotated[
    bool, flag("--json", "Print the result as JSON, one object per row.", callback=print_json)
]
FileOption = Annotated[
    Path | None,
    option("-o --out", "FILE", "Write to a file instead of stdout.", callback=write_to),
]


def prints(
    name: str, rows: str, *, alone: bool = False, to_file: bool = True
) -> Callable[[_Verb], _Verb]:
    """Return a decorator that adds the option ``--json`` to a verb and declares its rows.

    A parameter of the verb that is a dataclass becomes an option for each of its fields.

    - `name`: name of the verb, followed by an option if this option changes the rows.
    - `rows`: the type of the rows, with its module.
    - `alone`: whether a single row is printed instead of a list.
    - `to_file`: whether the verb also gets the option ``-o FILE``, if it does not have ``--out``.
    """
    OUTPUTS[name] = rows, alone

    def declare(verb: _Verb) -> _Verb:
        # A verb that prints several kinds of rows is decorated several times, and made flat once.
        if hasattr(verb, "__signature__"):
            return verb
        return _flat(verb, to_file=to_file)

    return declare


def _flat(verb: _Verb, *, to_file: bool) -> _Verb:
    """Return a verb in the form that typer needs: each field of a dataclass becomes a parameter."""
    parameters = inspect.signature(verb).parameters
    hints = get_type_hints(verb, include_extras=True)
    bundles = {name: hints[name] for name in parameters if is_dataclass(hints[name])}
    flat_parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in parameters.items():
        if name in bundles:
            hints |= get_type_hints(bundles[name], include_extras=True)
            flat_parameters |= inspect.signature(bundles[name]).parameters
        else:
            flat_parameters[name] = parameter
    # These options are not passed to the verb: their callbacks set up `emit`.
    _add(flat_parameters, hints, "as_json", JsonOption, False)
    if to_file:
        _add(flat_parameters, hints, "out", FileOption, None)

    @functools.wraps(verb)
    def call(**values: Any) -> None:
        given = {name: value for name, value in values.items() if name in parameters}
        for name, kind in bundles.items():
            given[name] = kind(**{field.name: values[field.name] for field in fields(kind)})
        verb(**given)

    signature = inspect.Signature(
        [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
            for name, parameter in flat_parameters.items()
        ]
    )
    call.__annotations__ = {name: hints[name] for name in flat_parameters} | {"return": None}
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _add(
    parameters: dict[str, inspect.Parameter],
    hints: dict[str, Any],
    name: str,
    hint: Any,
    default: object,
) -> None:
    """Add a parameter, unless the verb has one of this name."""
    if name not in parameters:
        parameters[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        hints[name] = hint
