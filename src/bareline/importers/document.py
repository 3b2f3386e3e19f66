"""JSON outputs: found among a launcher's lines, and read value by value without guessing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.errors import ParseError
from bareline.importers.table import split_before

_START = re.compile(r"^\{", re.MULTILINE)


def split_documents(text: str) -> list[str]:
    """Split a text before every JSON object that begins a line, but the first."""
    return split_before(_START, text)


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object whose values are asked for by path.

    Attributes
    ----------
    path
        Where it stands in the whole document, for messages.
    """

    content: Mapping[str, Any]
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Document:
        """Read the object that begins at the first line with a brace.

        Raises
        ------
        ParseError
            There is none, or it is torn.
        """
        start = _START.search(text)
        if start is None:
            raise ParseError("there is no JSON object")
        try:
            decoder = json.JSONDecoder(object_pairs_hook=_unique)
            content, _ = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            raise ParseError(f"the JSON is damaged or truncated: {error}") from error
        return cls(content)

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def at(self, *keys: str) -> Document:
        """Give an object inside.

        Raises
        ------
        ParseError
            It is missing.
        """
        found = self
        for key in keys:
            value = found.content.get(key)
            if not isinstance(value, dict):
                raise ParseError(f"'{found._name(key)}' is missing")
            found = Document(value, found._name(key))
        return found

    def each(self, key: str) -> Sequence[Document]:
        """Give the objects of a list.

        Raises
        ------
        ParseError
            It is missing or empty, or holds something else.
        """
        value = self.content.get(key)
        if not isinstance(value, list) or not value:
            raise ParseError(f"'{self._name(key)}' is missing or empty")
        if not all(isinstance(item, dict) for item in value):
            raise ParseError(f"'{self._name(key)}' holds something else than objects")
        return [Document(item, f"{self._name(key)}[{at}]") for at, item in enumerate(value)]

    def number(self, key: str) -> float:
        """Give a number that is finite and not negative.

        Raises
        ------
        ParseError
            It is missing or something else.
        """
        value = self.content.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParseError(f"'{self._name(key)}' is no number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or number < 0:
            raise ParseError(f"'{self._name(key)}' = {value} is no measured value")
        return number

    def text(self, key: str) -> str:
        """Give a text.

        Raises
        ------
        ParseError
            It is missing or something else.
        """
        value = self.content.get(key)
        if not isinstance(value, str):
            raise ParseError(f"'{self._name(key)}' is no text")
        return value

    def _name(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says two different things under one name."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ParseError(f"'{key}' stands twice with different values")
        found[key] = value
    return found


def check_quotient(rate: float, amount: float, time: float, what: str) -> None:
    """Refuse a rate that is not its amount over its time.

    Raises
    ------
    ParseError
        It is off by more than one in a thousand, or nothing was measured.
    """
    if rate <= 0 or amount <= 0 or time <= 0:
        raise ParseError(f"{what}: nothing was transferred")
    if not math.isclose(rate, amount / time, rel_tol=1e-3):
        raise ParseError(f"{what}: rate, amount and time contradict each other")
