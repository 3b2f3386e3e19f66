"""Units: SI base units in the store, scaled for people on display.

Bandwidth is decimal (MB/s is 10^6 B/s, Gb/s is 10^9 bit/s), sizes are binary (KiB is 1024 B).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from bareline.vocabulary.errors import UsageError

HOUR_S = 3600
#: Units in which samples are stored. "1" is a pure number.
BASE_UNITS = frozenset({"s", "B", "B/s", "bit/s", "flop/s", "op/s", "1", "%", "Hz"})

_DECIMAL = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def _prefixed(unit: str) -> list[tuple[float, str]]:
    """Return the size and the name of a unit with each decimal prefix."""
    return [(size, f"{prefix}{unit}") for size, prefix in _DECIMAL]


#: In which units values of a base unit are shown, the largest first.
_SCALES: Mapping[str, Sequence[tuple[float, str]]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")),
    "B/s": _prefixed("B/s"),
    "bit/s": _prefixed("b/s"),
    "flop/s": _prefixed("flop/s"),
    "op/s": _prefixed("op/s"),
    "Hz": _prefixed("Hz"),
}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h)?\s*")
_DURATION_S = {"s": 1, "min": 60, "h": HOUR_S}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B?|B)?\s*", re.IGNORECASE)


#: The dimension of each unit without prefix, and its ratio to the dimension's first unit.
_DIMENSIONS: Mapping[str, tuple[str, float]] = {
    "s": ("time", 1.0),
    **dict.fromkeys(("bit", "b"), ("data", 0.125)),
    "B": ("data", 1.0),
    **dict.fromkeys(("bit/s", "b/s"), ("data rate", 0.125)),
    "B/s": ("data rate", 1.0),
    "flop/s": ("flop rate", 1.0),
    "op/s": ("rate", 1.0),
    "Hz": ("frequency", 1.0),
    "1": ("number", 1.0),
    "%": ("number", 0.01),
}
_PREFIXES: Mapping[str, float] = {
    **{"n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3},
    **{"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15},
    **{"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40},
}


def conversion(unit: str, into: str) -> float | None:
    """Return the factor from a unit to another one; None if they differ in kind or are unknown."""
    if unit == into:
        return 1.0
    dimension, size = _measure(unit)
    other_dimension, other_size = _measure(into)
    if not dimension or dimension != other_dimension:
        return None
    return size / other_size


def _measure(unit: str) -> tuple[str, float]:
    """Return the dimension of a unit ("" if unknown), and the size of the unit."""
    if unit in _DIMENSIONS:
        return _DIMENSIONS[unit]
    for length in (1, 2):
        factor = _PREFIXES.get(unit[:length])
        dimension, size = _DIMENSIONS.get(unit[length:], ("number", 0.0))
        if factor and dimension != "number":
            return dimension, factor * size
    return "", 0.0


def significant(value: float, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, without an exponent if readable."""
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if abs(round(value, digits - 1 - exponent)) >= 10 ** (exponent + 1):
        exponent += 1  # 9.996 becomes 10.0, not 10.00
    if exponent >= 6 or exponent < -4:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def percent(share: float, digits: int | None = None) -> str:
    """Format a share in per cent: ``2 %``, or with `digits` significant digits: ``2.00 %``."""
    return f"{100 * share:g} %" if digits is None else f"{significant(100 * share, digits)} %"


def percent_tenths(share: float) -> str:
    """Write a share in per cent with one decimal, for columns of shares: ``12.3 %``."""
    return f"{100 * share:.1f} %"


def plain(value: float, digits: int = 3) -> str:
    """Write a number with `digits` significant digits and grouped thousands, no exponent."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 10 ** (digits - 1):
        return grouped(str(round(float(f"{value:.{digits - 1}e}"))))
    return significant(value, digits)


def whole(value: float) -> str:
    """Write a number that is a count or a setting: integers exactly, fractions to six digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return grouped(str(int(value)))
    return f"{value:.6g}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun, e.g. ``1 trial``, ``6 trials``."""
    if number != 1:
        noun = plural or f"{noun}s"
    return f"{whole(number)} {noun}"


def grouped(text: str) -> str:
    """Put narrow no-break spaces between thousands, if there are five digits or more."""
    whole, point, fraction = text.partition(".")
    sign = "-" if whole.startswith("-") else ""
    digits = whole.removeprefix("-")
    if len(digits) > 4:
        head = len(digits) % 3 or 3
        starts = range(head, len(digits), 3)
        groups = [digits[start : start + 3] for start in starts]
        digits = "\u202f".join([digits[:head], *groups])
    return f"{sign}{digits}{point}{fraction}"


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """Return the factor and the unit in which a stored value reads best, e.g. ``(1e6, "µs")``."""
    if unit == "1":
        return 1.0, ""
    if unit not in _SCALES:
        return 1.0, unit
    for size, name in _SCALES[unit]:
        if abs(value) >= size:
            return 1 / size, name
    return (1e9, "ns") if unit == "s" and value else (1.0, unit.replace("bit", "b"))


def format_value(value: float | None, unit: str, digits: int = 3) -> str:
    """Write a stored value with its unit for display, e.g. ``12.3 µs`` or ``1.19 GB/s``."""
    if value is None or not math.isfinite(value):
        return "-"
    factor, name = scale_of(value, unit)
    scaled = value * factor
    if unit == "B" and scaled == int(scaled):
        return f"{int(scaled)} {name}"
    return f"{significant(scaled, digits)} {name}".rstrip()


def format_size(size_bytes: float) -> str:
    """Write a message or file size in binary units, e.g. ``64 KiB``."""
    return format_value(size_bytes, "B")


def format_duration(seconds: float) -> str:
    """Write an elapsed or remaining time for people, e.g. ``3 min 20 s``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < HOUR_S:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // HOUR_S} h {whole % HOUR_S // 60:02d} min"


def parse_duration(text: str) -> float:
    """Parse a time in seconds: ``90``, ``90s``, ``10min``, ``2h``; raises UsageError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise UsageError(f"'{text}' is not a time", hint="write e.g. 90s, 10min or 2h")
    unit = match[2] or "s"
    return float(match[1]) * _DURATION_S[unit]


def parse_size(text: str | int) -> int:
    """Parse a size in bytes: ``4096``, ``64KiB`` or ``64K``, both binary; raises UsageError."""
    if isinstance(text, int):
        return text
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(f"'{text}' is not a size", hint="write bytes or a unit, e.g. 64KiB")
    power = "BKMGT".index((match[2] or "B").upper()[0])
    return round(float(match[1]) * float(1 << (10 * power)))


def joined(*parts: str | None, by: str = ", ") -> str:
    """Join the parts that are not empty."""
    return by.join(filter(None, parts))


def listing(parts: Sequence[str]) -> str:
    """List names as a sentence does: ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
