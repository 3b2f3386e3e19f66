"""JSON outputs: found among a launcher's lines, and held against a model without guessing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bareline.formats.table import split_before
from bareline.vocabulary.documents import OUTPUT, json_decoder
from bareline.vocabulary.errors import ParseError

_START = re.compile(r"^\{", re.MULTILINE)

#: A measured value: a number that is finite and not negative, never a text or a truth value.
Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


class JsonModel(BaseModel):
    """What of a JSON object is read; other keys come and go with versions of its program."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)


M = TypeVar("M", bound=JsonModel)


def split_documents(text: str) -> list[str]:
    """Split a text before every JSON object that begins a line, but the first."""
    return split_before(_START, text)


def find_object(text: str) -> Mapping[str, Any]:
    """Read the JSON object that begins at the first line with a brace.

    Raises ParseError: there is none, it is torn, or says two different things under one name.
    """
    start = _START.search(text)
    if start is None:
        raise ParseError("there is no JSON object")
    try:
        content, _ = json_decoder(OUTPUT).raw_decode(text, start.start())
    except (ValueError, RecursionError) as error:
        raise ParseError(f"the JSON is damaged or truncated: {error}") from error
    assert isinstance(content, dict)
    return content


def read_object(model: type[M], content: Mapping[str, Any]) -> M:
    """Hold an object against its model.

    Raises ParseError: a value is missing or of another kind; the message names it by its path.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ParseError(_reason(first["loc"], first["type"], first["input"])) from error


def _reason(place: tuple[int | str, ...], kind: str, given: Any) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    name = path.removeprefix(".")
    if kind == "missing":
        return f"'{name}' is missing"
    if kind == "too_short":
        return f"'{name}' is empty"
    if isinstance(given, int | float | str | None):
        return f"'{name}' = {str(given)[:40]} is no measured value"
    return f"'{name}' contains something else than it should"


def check_quotient(rate: float, amount: float, time: float, what: str) -> None:
    """Refuse a rate that is not its amount over its time.

    Raises ParseError: it is off by more than one in a thousand, or nothing was measured.
    """
    if rate <= 0 or amount <= 0 or time <= 0:
        raise ParseError(f"{what}: nothing was transferred")
    if not math.isclose(rate, amount / time, rel_tol=1e-3):
        raise ParseError(f"{what}: rate, amount and time contradict each other")
