"""Describe errors in files that people write, with clear words instead of pydantic's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

#: The last part of a key's place in pydantic, if a value may have several types: the tried type.
_KIND = re.compile(
    r"(constrained-)?(int|float|str|bool|list|dict|tuple|none|date|datetime)"
    r"|(list|dict|tuple|set|frozenset|function|literal|lax-or-strict|json-or-python|tagged)"
    r"[^A-Za-z0-9_].*"
)
_SIZE = re.compile(r"(\d{1,12})\s*([KMGT])i?B?", re.IGNORECASE)
_POWERS = {"K": 10, "M": 20, "G": 30, "T": 40}
#: Largest number of characters of an invalid value that are shown.
_SHOWN = 40

#: Clauses by the kind of problem: {value} is from the file, and other names are from pydantic.
SENTENCES: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "no such key",
    "string_type": "{value} is not a text; write it in quotes",
    **dict.fromkeys(("bool_type", "bool_parsing"), "{value} is neither true nor false"),
    **dict.fromkeys(("list_type", "tuple_type"), "{value} is not a list; write it in brackets"),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"),
        "{value} is not a table",
    ),
    **dict.fromkeys(("float_type", "float_parsing"), "{value} is not a number"),
    "finite_number": "{value} is not a finite number",
    "greater_than": "{value} is not greater than {gt}",
    "greater_than_equal": "{value} is less than {ge}",
    "less_than": "{value} is not less than {lt}",
    "less_than_equal": "{value} is more than {le}",
    **dict.fromkeys(("literal_error", "enum"), "{value} is not one of {expected}"),
    "string_pattern_mismatch": "{value} is not of the form {pattern}",
    "string_too_short": "{value} is too short",
    "string_too_long": "it is longer than {max_length} characters",
    "too_short": "it has {actual_length}, and at least {min_length} are needed",
    "too_long": "it has {actual_length}, and at most {max_length} are possible",
    "path_type": "{value} is not a path; write it in quotes",
    "union_tag_invalid": "{tag} is not one of {expected_tags}",
    "union_tag_not_found": "{discriminator} is missing",
    "json_invalid": "it is not JSON: {error}",
}


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """The first problem in a file.

    - `kind`: the name that pydantic gives to the problem.
    - `clause`: a clause that describes the problem and follows the name of the key.
    - `error`: the error of the check in bareline that refused the value; None if pydantic itself
      refused it.
    """

    place: tuple[str, ...]
    kind: str
    clause: str
    error: Exception | None = None

    @property
    def key(self) -> str:
        """The keys that lead to the invalid value, joined as one text."""
        return ".".join(self.place)


def problem_of(error: ValidationError) -> InvalidValue:
    """Return the first problem of a validation error.

    If a value may have several types, it is the problem for the type that the value has.
    """
    problems = error.errors(include_url=False)
    first = problems[0]
    place = _place(first["loc"])
    rivals = [problem for problem in problems if _place(problem["loc"]) == place]
    types = ("_type", "_parsing", "_from_float")
    chosen = next((rival for rival in rivals if not rival["type"].endswith(types)), first)
    refusal = chosen.get("ctx", {}).get("error")
    own_error = refusal if isinstance(refusal, Exception) else None
    return InvalidValue(place, chosen["type"], _said(chosen), own_error)


def _place(keys: Sequence[int | str]) -> tuple[str, ...]:
    words = [str(key) for key in keys]
    while len(words) > 1 and (_KIND.fullmatch(words[-1]) or words[-1] == "[key]"):
        words.pop()
    return tuple(words)


def _said(problem: Mapping[str, Any]) -> str:
    kind = problem["type"]
    given = problem.get("input")
    if kind.startswith("int_"):
        size = _SIZE.fullmatch(given.strip()) if isinstance(given, str) else None
        step = f"; write {int(size[1]) << _POWERS[size[2].upper()]}" if size else ""
        return f"{_shown(given)} is not a whole number{step}"
    sentence = SENTENCES.get(kind)
    if sentence is None:
        return str(problem["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    context = {name: _shown(value) for name, value in problem.get("ctx", {}).items()}
    for listed in ("expected", "expected_tags", "pattern", "discriminator"):
        if listed in context:
            context[listed] = problem["ctx"][listed]
    return sentence.format_map({**context, "value": _shown(given)})


def _shown(value: object) -> str:
    if isinstance(value, str):
        text = f"'{value}'"
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, Mapping):
        return "a table"
    elif isinstance(value, list | tuple):
        return "a list"
    elif isinstance(value, float):
        text = f"{value:g}"
    else:
        try:
            text = str(value)
        except ValueError:  # thousands of digits
            return "a number of thousands of digits"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
