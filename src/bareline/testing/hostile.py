"""Damaged copies of a document, each with one value that is odd, missing or of another type.

The copies test readers of untrusted files: for any value, a reader must end soon, with a result or
with an error of bareline.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from bareline.vocabulary.errors import BarelineError

#: More digits than Python converts to an integer; they replace a mark in the JSON text.
_DIGITS = "9" * 6000
_DIGITS_MARK = "@digits@"
#: Replacements of a value.
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0.5,
    10**30,
    float("nan"),
    float("inf"),
    _DIGITS_MARK,
    "",
    " ",
    "\t\n",
    "-",
    "1" * 5000,
    "9" * 6000 + "h",
    "'",
    '"',
    "'a b",
    "\ud800",
    "a\ud800b",
    "\x1b[31m\x9b\x07\x00",
    "\u202egnp.exe",
    "../../x",
    "$(reboot); `reboot`",
    "n[1-999999]",
    "n[1-9999]x[1-9999]",
    [],
    [None],
    ["\ud800", " "],
    [[[]]],
    {},
    {"a": None},
    {"\ud800": {"\x1b": []}},
    {" ": " "},
)
#: Replacements of a key.
ODD_KEYS: tuple[str, ...] = ("", " ", "\ud800", "\x1b[2J", "a" * 5000, "<<", "=", "__class__")


def damaged(document: Any) -> Iterator[tuple[str, str]]:
    """Yield pairs: a description of a damage, and the document with this damage.

    The damaged document is a text in JSON, which is also valid YAML.
    """
    for path in _paths(document):
        for value in ODD_VALUES:
            yield f"{_named(path)} = {value!r:.60}", as_text(_replaced(document, path, value))
        if path:
            yield f"{_named(path)} is missing", as_text(_removed(document, path))
        if path and isinstance(path[-1], str):
            for key in ODD_KEYS:
                yield (
                    f"{_named(path)} is called {key!r:.20}",
                    as_text(_renamed(document, path, key)),
                )
    text = as_text(document)
    for part in range(1, 20):
        yield f"cut after {part}/20", text[: len(text) * part // 20]


def as_text(document: Any) -> str:
    """Return a document as JSON, with lone surrogates as escapes."""
    return json.dumps(document).replace(f'"{_DIGITS_MARK}"', _DIGITS)


def _paths(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _paths(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document[:3]):
            yield from _paths(value, (*path, index))


def _named(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path)) or "everything"


def _parent(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document


def _replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(document)
    _parent(changed, path)[path[-1]] = value
    return changed


def _removed(document: Any, path: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(document)
    del _parent(changed, path)[path[-1]]
    return changed


def _renamed(document: Any, path: tuple[Any, ...], key: str) -> Any:
    changed = copy.deepcopy(document)
    table = _parent(changed, path)
    table[key] = table.pop(path[-1])
    return changed


def survives(read: Callable[[], object], description: str, *, most_s: float = 5.0) -> bool:
    """Return whether a reader returns a result instead of raising a one-line BarelineError.

    Raises
    ------
    AssertionError
        The reader raises another exception, or takes more processor time than `most_s`.
    """
    began_s = time.process_time()
    try:
        read()
        refusal = ""
    except BarelineError as error:
        refusal = str(error)
    except Exception as error:
        raise AssertionError(f"{description}: {type(error).__name__}: {error!s:.300}") from error
    assert not refusal or refusal.isprintable(), description
    assert time.process_time() - began_s < most_s, f"{description}: takes too long"
    return not refusal
