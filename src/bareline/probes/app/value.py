"""The position of a value in a program's output; a value may also be the wall time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from bareline.vocabulary.documents import OUTPUT, parse_json
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Output
from bareline.vocabulary.units import BASE_UNITS

#: Fortran writes 1.0D+02, some codes 1.5E3.
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


class _Described(BaseModel):
    """A part of the description of a program."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


def compiled(text: str) -> re.Pattern[str]:
    """Return a compiled regular expression.

    Raises ValueError: the text is not a regular expression.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"the value is not a valid regular expression: {error}") from error


_TAKEN: Mapping[str, Callable[[list[float]], float]] = {
    **dict.fromkeys(("only", "first"), itemgetter(0)),
    "last": itemgetter(-1),
    **{"min": min, "max": max, "sum": sum, "count": len},
    "mean": lambda numbers: sum(numbers) / len(numbers),
}


class Value(_Described):
    """The position of a number in a program's output: `regex`, `json_path` or `wall`.

    - `regex`: regular expression whose only group is the number. ``^`` and ``$`` match at the start
      and end of each line.
    - `json_path`: keys and indices in a JSON document, e.g. ``"results.0.time_s"``.
    - `wall`: whether the number is the wall time of the whole launch.
    - `file`: file of the working directory that contains the number; by default the printed output.
    - `take`: the result if `regex` matches several numbers: "first", "last", "min" or "max" of
      them, their "sum", "mean" or "count", or an error ("only").
    - `scale`: factor from the number's unit to the metric's unit.
    """

    regex: str = ""
    json_path: str = ""
    wall: bool = False
    file: str = ""
    take: Literal["only", "first", "last", "min", "max", "sum", "mean", "count"] = "only"
    scale: float = 1.0

    @field_validator("regex")
    @classmethod
    def _one_group(cls, text: str) -> str:
        if text and compiled(text).groups != 1:
            raise ValueError(
                "the regular expression needs exactly one group: put the number in parentheses"
            )
        return text

    @model_validator(mode="after")
    def _one_way(self) -> Value:
        if [bool(self.regex), bool(self.json_path), self.wall].count(True) != 1:
            raise ValueError("give exactly one of the keys regex, json_path and wall")
        return self

    def read(self, name: str, output: Output) -> float:
        """Return the number in an output.

        Raises ParseError: the file or the number is missing, the text is not a number, or several
        numbers match although `take` is "only".
        """
        if self.wall:
            return output.duration_s * self.scale
        text = output.files.get(self.file) if self.file else output.stdout
        where = self.file or "the output"
        if text is None:
            raise ParseError(f"{name} cannot be read: the program did not write {where}")
        if self.json_path:
            numbers = [_at(name, text, self.json_path)]
        else:
            matches = re.findall(self.regex, text, re.MULTILINE)
            numbers = [_number(name, match) for match in matches]
        if not numbers:
            raise ParseError(f"{name} cannot be read: nothing in {where} matches '{self.regex}'")
        if self.take == "only" and len(numbers) > 1:
            raise ParseError(
                f"{name} is ambiguous: {len(numbers)} places in {where} match '{self.regex}'; set"
                " the key take"
            )
        return _TAKEN[self.take](numbers) * self.scale


class FigureOfMerit(Value):
    """A metric: a value with its unit.

    - `unit`: s, B, B/s, bit/s, flop/s, op/s, Hz, % or 1.
    - `better`: the direction that is an improvement.
    - `detail`: whether the metric only describes another metric.
    """

    unit: str = "s"
    better: Literal["lower", "higher", "none"] = "lower"
    detail: bool = False

    @field_validator("unit")
    @classmethod
    def _known(cls, unit: str) -> str:
        if unit not in BASE_UNITS:
            raise ValueError(f"'{unit}' is not one of {', '.join(sorted(BASE_UNITS))}")
        return unit


def _at(name: str, text: str, path: str) -> float:
    try:
        value = parse_json(text, OUTPUT)
        for key in path.split("."):
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (ValueError, LookupError, TypeError) as error:
        raise ParseError(f"{name} cannot be read: the JSON document has no '{path}'") from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParseError(f"{name} cannot be read: '{path}' of the JSON document is not a number")
    return float(value)


def _number(name: str, text: str) -> float:
    if not _NUMBER.fullmatch(text.strip()):
        raise ParseError(f"{name} cannot be read: '{text[:30]}' is not a number")
    return float(text.strip().lower().replace("d", "e"))
