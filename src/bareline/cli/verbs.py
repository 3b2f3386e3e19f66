"""Declarations of a verb's options, arguments and printed rows."""

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
    """Declare an option with a value: ``option("-o --out", "FILE", "Page to write.")``."""
    return typer.Option(*names.split(), metavar=metavar, help=help, **more)


def flag(names: str, help: str, **more: Any) -> Any:
    """Declare an option without a value: ``flag("-q --quiet", "No progress.")``."""
    return typer.Option(*names.split(), help=help, **more)


def argument(metavar: str, help: str | None = None, **more: Any) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=metavar, help=help, **more)


JsonOption = Annotated[bool, flag("--json", "Tidy rows as JSON on stdout.", callback=print_json)]
FileOption = Annotated[
    Path | None,
    option("-o --out", "FILE", "Write to a file, not to stdout.", callback=write_to),
]


def prints(
    name: str, rows: str, *, alone: bool = False, to_file: bool = True
) -> Callable[[_Verb], _Verb]:
    """Declare the rows that a verb prints with ``--json``, an option that it then has.

    A parameter of the verb that is a dataclass becomes an option for each of its fields.

    - `name`: the verb; an option that changes its rows follows it.
    - `rows`: the type of its rows, by its module.
    - `alone`: whether one of them is printed, and no list.
    - `to_file`: whether it also has ``-o FILE``, if it has no ``--out`` of its own.
    """
    OUTPUTS[name] = rows, alone
    return lambda verb: verb if hasattr(verb, "__signature__") else _flat(verb, to_file=to_file)


def _flat(verb: _Verb, *, to_file: bool) -> _Verb:
    hints = get_type_hints(verb, include_extras=True)
    taken: dict[str, inspect.Parameter] = {}
    bundles: dict[str, type[Any]] = {}
    own = inspect.signature(verb).parameters
    for name, one in own.items():
        kind = hints[name]
        if is_dataclass(kind) and isinstance(kind, type):
            bundles[name] = kind
            hints |= get_type_hints(kind, include_extras=True)
            taken |= inspect.signature(kind).parameters
        else:
            taken[name] = one
    # Neither reaches the verb: parsed is all that they need, `emit` does the rest.
    emitting = {"as_json": JsonOption} | ({"_out": FileOption} if to_file else {})
    for name, hint in emitting.items():
        if name.removeprefix("_") not in taken:
            default = None if hint is FileOption else False
            taken[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            hints[name] = hint
    every = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, one in taken.items()
    ]

    @functools.wraps(verb)
    def flat(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given[field.name] for field in fields(kind)})
            for name, kind in bundles.items()
        }
        verb(**{name: made[name] if name in made else given[name] for name in own})

    flat.__annotations__ = {one.name: one.annotation for one in every} | {"return": None}
    flat.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    return flat  # type: ignore[return-value]
