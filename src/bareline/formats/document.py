"""JSON documents in outputs: their search among other lines, and strict checks of their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bareline.formats.table import split_before
from bareline.vocabulary.documents import OUTPUT, json_decoder
from bareline.vocabulary.errors import ParseError

_START = re.compile(r"^\{", re.MULTILINE)
#: Numbers that C prints and JSON does not have: -nan, inf.
_NO_NUMBER = re.compile(r"(?<=[:\[,])(\s*)-?(?:nan|inf(?:inity)?)(?=\s*[,\]}])", re.IGNORECASE)

#: A measured value: a number that is finite and not negative, never a text or a truth value.
Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


class JsonModel(BaseModel):
    """A model of a JSON object with the keys that a reader uses.

    Further keys are ignored, because they depend on the version of the program.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)


M = TypeVar("M", bound=JsonModel)


class SeveralValues(list[Any]):
    """The different values of a name that appears more than once in a JSON object, in order."""


def document_starts(mark: re.Pattern[str]) -> Callable[[str], Sequence[int]]:
    """Return a function that returns the offsets of the JSON objects in which a pattern appears."""

    def starts(text: str) -> Sequence[int]:
        offsets = [match.start() for match in _START.finditer(text)]
        ends = [*offsets[1:], len(text)][: len(offsets)]
        return [
            low for low, high in zip(offsets, ends, strict=True) if mark.search(text, low, high)
        ]

    return starts


def split_documents(text: str) -> list[str]:
    """Return the parts of a text, each with one JSON object.

    The text is split before every JSON object that begins a line, except the first.
    """
    return split_before(_START, text)


def find_object(text: str) -> Mapping[str, Any]:
    """Return the JSON object that begins at the first line with a brace.

    If a name appears with several different values, its value becomes a `SeveralValues`, which no
    model accepts. The invalid number ``-nan`` becomes NaN.

    Raises ParseError: the text has no JSON object, or the object is incomplete.
    """
    start = _START.search(text)
    if start is None:
        raise ParseError("there is no JSON object")
    try:
        content = _decoded(text, start.start())
    except (ValueError, RecursionError) as error:
        raise ParseError(f"the JSON is damaged or truncated: {error}") from error
    assert isinstance(content, dict)
    return content


def _decoded(text: str, start: int) -> Any:
    decoder = json_decoder(OUTPUT, pairs=_with_several_values)
    try:
        return decoder.raw_decode(text, start)[0]
    except ValueError:
        finite = _NO_NUMBER.sub(r"\1NaN", text[start:])
        if finite == text[start:]:
            raise
        return decoder.raw_decode(finite)[0]


def read_object(model: type[M], content: Mapping[str, Any]) -> M:
    """Return a JSON object as an instance of its model.

    Raises ParseError: a value is missing or of another kind; the message contains the path of the
    value.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ParseError(_reason(first["loc"], first["type"], first["input"])) from error


def _path_of(place: tuple[int | str, ...]) -> str:
    """Return the path of a value in its document, such as ``jobs[0].read``."""
    path = ""
    for step in place:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".")


def _reason(place: tuple[int | str, ...], kind: str, given: Any) -> str:
    name = _path_of(place)
    if kind == "missing":
        return f"'{name}' is missing"
    if kind == "too_short":
        return f"'{name}' is empty"
    if isinstance(given, SeveralValues):
        return f"'{name}' appears twice with different values"
    if isinstance(given, int | float | str | None):
        return f"'{name}' = {str(given)[:40]} is not a valid measurement"
    return f"'{name}' has a value of another type than expected"


def _with_several_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        earlier = values.get(key, value)
        if isinstance(earlier, SeveralValues):
            earlier.append(value)
        elif key in values and earlier != value:
            values[key] = SeveralValues([earlier, value])
        else:
            values[key] = value
    return values


def check_quotient(rate: float, amount: float, time: float, where: str, off: float = 1e-3) -> None:
    """Check that a rate is an amount divided by a time.

    - `off`: the largest relative deviation of the rate that the rounding of the printed numbers
      explains.

    Raises ParseError: the rate deviates by more, or one of the three numbers is not positive.
    """
    if rate <= 0 or amount <= 0 or time <= 0:
        raise ParseError(f"{where}: nothing was transferred")
    if not math.isclose(rate, amount / time, rel_tol=off):
        raise ParseError(f"{where}: rate, amount and time contradict each other")
