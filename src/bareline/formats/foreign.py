"""Results of other tools: conversion of their names, units and parameters.

A value of another tool may have any name and any unit; it becomes a metric in a base unit. The tool
may declare whether a higher or a lower value is better. Otherwise, less time is better and a higher
rate is better; for values of other dimensions, the direction is unknown. An unknown unit becomes
part of the name, so that no information is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bareline.vocabulary.model import Better, Metric, Scalar
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import BASE_UNITS, conversion

#: bareline's spelling of a unit, by other spellings in small letters.
_SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("", "count", "counts", "ratio", "factor"), "1"),
        **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
        **dict.fromkeys(("millisecond", "milliseconds", "msec"), "ms"),
        **dict.fromkeys(("microsecond", "microseconds", "usec"), "us"),
        **dict.fromkeys(("nanosecond", "nanoseconds", "nsec"), "ns"),
        **dict.fromkeys(("byte", "bytes"), "B"),
        **dict.fromkeys(("iops", "ops", "ops/sec", "it/s", "items/s", "requests/s"), "op/s"),
        **dict.fromkeys(("percent", "percentage"), "%"),
    }
)
#: Spellings of rates after their prefix: GFLOPS, Mop/s, Gbps, MiB/sec, GBps.
_RATES = (
    (re.compile(r"(?:flops?/s(?:ec)?|flops|f/s)", re.IGNORECASE), "flop/s"),
    (re.compile(r"(?:ops?/s(?:ec)?|iops)", re.IGNORECASE), "op/s"),
    (re.compile(r"(?:bits?/s(?:ec)?|b/s(?:ec)?|bps)"), "bit/s"),
    (re.compile(r"(?:bytes?/s(?:ec)?|B/s(?:ec)?|Bps)"), "B/s"),
    (re.compile(r"(?:B|bytes?)"), "B"),
    (re.compile(r"hz", re.IGNORECASE), "Hz"),
)
_PREFIX = re.compile(r"([kKMGTP]i?|)(.*)", re.DOTALL)
#: The better direction of values in a base unit, if the tool does not declare a direction.
_DIRECTIONS: Mapping[str, Better] = MappingProxyType(
    {"s": "lower", "B/s": "higher", "bit/s": "higher", "flop/s": "higher", "op/s": "higher"}
)
_UNFIT = re.compile(r"[^A-Za-z0-9_.]+")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d{0,17})\.\d{1,17}")


@dataclass(frozen=True, slots=True)
class ForeignFigure:
    """A performance value of another tool, as a metric.

    - `name`: name of the metric. It contains the tool's unit if this unit is unknown.
    - `factor`: the factor from the tool's values to the metric's unit.
    """

    name: str
    metric: Metric
    factor: float


def figure(
    name: str, unit: str, better: Better | None = None, *, detail: bool = False
) -> ForeignFigure:
    """Return the metric for a tool's value with this name and unit.

    - `better`: the direction that the tool declares; None if it declares no direction.
    """
    base, factor = _into_base(unit.strip())
    label = plain_name(name) or "value"
    if not base:
        label = f"{label}_{plain_name(unit) or 'unit'}"
        base = "1"
    direction = better or _DIRECTIONS.get(base, "none")
    return ForeignFigure(label, Metric(base, direction, detail=detail), factor)


def plain_name(text: str) -> str:
    """Return any text as a name that consists of letters, digits, dots and underscores."""
    return sanitized_name(_UNFIT.sub("_", text).strip("_."))


def plain_key(text: str) -> str:
    """Return any text as a valid key of a parameter."""
    key = plain_name(text).replace(".", "_")
    return key if key[:1].isalpha() or key.startswith("_") else f"p_{key}"


def plain_command(command: str) -> str:
    """Return a command line without the folder of its program.

    The folder does not change the measurement.
    """
    program, _, arguments = " ".join(command.split()).partition(" ")
    return f"{program.rpartition('/')[2] or program} {arguments}".strip()


def scalar(text: str) -> Scalar:
    """Return a text as a number, or unchanged if it is not a number."""
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _into_base(unit: str) -> tuple[str, float]:
    """Return the base unit of a unit in any spelling, and the factor to the base unit.

    The base unit is "" for an unknown unit.
    """
    spelled = _spelled(unit)
    for base in sorted(BASE_UNITS - {"1", "%"}, key=lambda name: -len(name)):
        # Bits stay bits: the tool did not print bytes.
        if spelled.endswith(base) and (factor := conversion(spelled, base)):
            return base, factor
    return (spelled, 1.0) if spelled in BASE_UNITS else ("", 1.0)


def _spelled(unit: str) -> str:
    if unit in BASE_UNITS:
        return unit
    if (word := _SPELLINGS.get(unit.lower())) is not None:
        return word
    match = _PREFIX.fullmatch(unit)
    assert match is not None
    prefix = "k" if match[1] == "K" else match[1]
    for spelling, rate in _RATES:
        if spelling.fullmatch(match[2]):
            return prefix + rate
    return unit.replace("µ", "u")
