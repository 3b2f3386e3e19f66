#!/usr/bin/env python3
"""Write the tables of columns of docs/reference/command-line.md from the rows' declarations.

::

    scripts/columns.py            writes them
    scripts/columns.py --check    exit code 1 if one is not as the program has it

A table stands between ``<!-- columns: NAME -->``, with a name as ``bareline schema`` lists it, and
``<!-- end of columns -->``. Meanings are the items of the docstring of the rows' class.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import bareline.cli.main  # noqa: F401  its commands declare what they print
from bareline.cli.output import printed_type

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "command-line.md"
_TABLE = re.compile(r"(<!-- columns: ([\w-]+) -->\n).*?(<!-- end of columns -->)", re.DOTALL)
_PLAIN = {str: "text", float: "number", int: "integer", bool: "boolean", NoneType: "null"}


def tables(name: str) -> str:
    """Write the tables of what a command prints: one for each type of row."""
    printed = printed_type(name)
    rows = get_args(printed)[0] if get_origin(printed) is list else printed
    every = get_args(rows) if isinstance(rows, UnionType) else (rows,)
    return "\n".join("".join(_table(row, titled=len(every) > 1)) for row in every)


def _table(row: type, *, titled: bool) -> Iterator[str]:
    if titled:
        yield f"{(inspect.getdoc(row) or '').partition(chr(10))[0].replace('``', '`')}\n\n"
    yield "| column | type | meaning |\n|---|---|---|\n"
    meanings = _meanings(row)
    group: list[str] = []
    before: tuple[str, str] | None = None
    for name, annotation in get_type_hints(row).items():
        own = (_words(annotation), meanings.get(name, ""))
        if group and own != before and before:
            yield _line(group, *before)
            group = []
        group.append(name)
        before = own
    if before:
        yield _line(group, *before)


def _line(names: list[str], kind: str, meaning: str) -> str:
    columns = ", ".join(f"`{name}`" for name in names)
    return f"| {columns} | {kind} | {meaning} |\n".replace("|  |", "| |")


def _meanings(row: type) -> dict[str, str]:
    """Read the items of the docstrings of a class and of those that it extends."""
    bases = [one for one in getattr(row, "__orig_bases__", row.__mro__) if isinstance(one, type)]
    found: dict[str, str] = {}
    for one in (row, *bases):
        for item in re.split(r"\n- (?=`)", inspect.getdoc(one) or "")[1:]:
            names, _, text = item.partition(": ")
            meaning = " ".join(text.split()).rstrip(".").replace("None", "null")
            found |= dict.fromkeys(set(re.findall(r"`(\w+)`", names)) - set(found), meaning)
    return found


def _words(annotation: Any) -> str:
    """Write a type in the words of JSON."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_words, inner)))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin is list:
        return f"list of {_words(inner[0])}"
    if origin is dict:
        return "object"
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return ", ".join(f"`{value}`" for value in annotation)
    return f"{{{', '.join(get_type_hints(annotation))}}}"


def page(text: str) -> str:
    """Return the page with the tables as they are declared."""
    return _TABLE.sub(lambda found: f"{found[1]}\n{tables(found[2])}\n{found[3]}", text)


def main() -> None:
    """Write the page, or say that it is not as the program has it."""
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new, encoding="utf-8")
    elif old != new:
        sys.exit(f"{PAGE.name} is not as the program has it: run scripts/columns.py")


if __name__ == "__main__":
    main()
