"""Axes that people read: units, ticks and places for labels.

Everything is worked out here rather than left to the plotting library, because an axis of message
sizes wants ticks at 1 B, 64 B, 4 KiB, and an axis of times wants one unit in its title.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from bareline.vocabulary.units import format_size, grouped, plain, scale_of, whole

#: Ticks of a message size axis, in bytes.
SIZE_TICKS = (1, 64, 4096, 262_144, 16_777_216, 1 << 30)


@dataclass(frozen=True, slots=True)
class Scale:
    """A display unit: multiply a stored value by `factor` to get it in `unit`."""

    factor: float
    unit: str

    def show(self, value: float | None, digits: int = 3) -> str:
        """Format a stored value in this unit, without the unit."""
        return "–" if value is None else plain(value * self.factor, digits)

    def titled(self, name: str) -> str:
        """Format an axis title or column head, e.g. ``latency (µs)``."""
        return f"{name} ({self.unit})" if self.unit else name


@dataclass(frozen=True, slots=True)
class Ticks:
    """An axis: its domain, where its ticks are, and their labels."""

    domain: tuple[float, float]
    values: tuple[float, ...]
    labels: tuple[str, ...]

    @property
    def label_expression(self) -> str:
        """The labels as a Vega expression over ``datum.index``-free tick values."""
        choices: list[str] = []
        for value, label in zip(self.values, self.labels, strict=True):
            tolerance = abs(value) * 1e-9
            choices.append(f"abs(datum.value - {value!r}) <= {tolerance!r} ? '{label}' : ")
        return "".join(choices) + "''"


#: Units whose values are compared by eye: a long number reads better than a small one.
_RATES = ("B/s", "flop/s", "op/s", "Hz")
#: From here on a number of a rate is too long for its unit.
_LONG = 1e5


def unit_scale(values: Iterable[float | None], unit: str) -> Scale:
    """Choose the one unit in which all values read best: that of their logarithmic middle."""
    sizes = [abs(value) for value in values if value is not None and value != 0]
    if not sizes:
        name = "" if unit == "1" else unit
        return Scale(1.0, name)
    largest = max(sizes)
    middle = math.sqrt(min(sizes)) * math.sqrt(largest)
    factor, name = scale_of(middle, unit)
    if unit in _RATES and largest * factor >= _LONG:
        factor, name = scale_of(largest / 100, unit)
    return Scale(factor, name)


#: Steps within a decade, the coarsest first.
_DECADE_STEPS = ((1,), (1, 3), (1, 2, 5))
#: A logarithmic axis has at least so many decimal ticks; else it has even round numbers.
_FEWEST_TICKS = 3


def log_ticks(values: Iterable[float], *, most: int = 6, pad: float = 0.06) -> Ticks:
    """Return a log axis: decades when they suffice, else 1-2-5 steps, else even round numbers."""
    domain = _log_domain(values, pad)
    for steps in _DECADE_STEPS:
        ticks = _decimal_ticks(domain, steps)
        if len(ticks) >= _FEWEST_TICKS:
            ticks = _thinned(ticks, most)
            labels = tuple(map(_tick_label, ticks))
            return Ticks(domain, ticks, labels)
    even = tuple(tick for tick in _round_steps(*domain, 4) if tick > 0)
    return Ticks(domain, even, _even_labels(even))


def _log_domain(values: Iterable[float], pad: float) -> tuple[float, float]:
    """Return the ends of a log axis with some room around the positive values."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    low = min(positive, default=1.0)
    high = max(positive, default=10.0)
    if high / low < 1.02:
        middle = math.sqrt(low * high)
        low = middle / 1.02
        high = middle * 1.02
    margin = max(math.log(high / low) * pad, 0.01)
    return low * math.exp(-margin), high * math.exp(margin)


def _decimal_ticks(domain: tuple[float, float], steps: Sequence[int]) -> tuple[float, ...]:
    """Return the multiples of powers of ten by some steps that are on an axis."""
    low, high = domain
    first = math.floor(math.log10(low)) - 1
    last = math.ceil(math.log10(high))
    ticks = []
    for power in range(first, last + 1):
        for step in steps:
            tick = step * 10.0**power
            if low <= tick <= high:
                ticks.append(tick)
    return tuple(ticks)


def _thinned(ticks: tuple[float, ...], most: int) -> tuple[float, ...]:
    """Leave out every second tick until there are few enough."""
    while len(ticks) > most:
        ticks = ticks[::2]
    return ticks


def zero_ticks(values: Iterable[float]) -> Ticks:
    """Return a linear axis from zero to a little above the largest value."""
    top = max([value for value in values if math.isfinite(value)], default=1.0)
    if top <= 1e-300:
        top = 1.0  # smaller numbers have no decimal steps
    ticks = tuple(tick for tick in _round_steps(0.0, top, 4) if tick <= top * 1.0001)
    return Ticks((0.0, top * 1.04), ticks, _even_labels(ticks))


def signed_ticks(values: Iterable[float]) -> Ticks:
    """Return a linear axis with zero and values on either side of it."""
    finite = [value for value in values if math.isfinite(value)]
    low = min([0.0, *finite])
    high = max([0.0, *finite])
    if high - low < 1e-9:
        high = 1.0
    margin = 0.04 * (high - low)
    ticks = tuple(_round_steps(low, high, 5))
    return Ticks((low - margin, high + margin), ticks, _even_labels(ticks))


#: Ticks of an axis of ratios of less than a factor of five, and of more.
_NEAR_RATIOS = (0.2, 0.25, 0.33, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5)
_RATIOS = tuple(step * 10.0**power for power, step in product(range(-2, 4), (1, 2, 5)))
_FAR_RATIOS = tuple(10.0**power for power in range(-4, 6))


def ratio_ticks(values: Iterable[float]) -> Ticks:
    """Return a logarithmic axis of ratios that always contains 1 and some room around it."""
    finite = [value for value in values if value > 0 and math.isfinite(value)]
    low = min(min([1.0, *finite]) / 1.03, 0.95)
    high = max(max([1.0, *finite]) * 1.05, 1.06)
    if high / low < 2.2:
        even = {tick for tick in _round_steps(low, high, 5) if tick > 0}
        ticks = tuple(sorted(even | {1.0}))
        return Ticks((low, high), ticks, _even_labels(ticks))
    ladder: Sequence[float] = _RATIOS
    if high / low < 5:
        ladder = _NEAR_RATIOS
    elif high / low > 300:
        ladder = _FAR_RATIOS
    ticks = tuple(float(tick) for tick in ladder if low <= tick <= high)
    return Ticks((low, high), ticks, tuple(map(_tick_label, ticks)))


def size_ticks(sizes: Sequence[float]) -> Ticks:
    """Return a log2 axis of message or file sizes; 0 B is half a step before the rest."""
    low = min(sizes)
    high = max(sizes)
    ticks = [float(tick) for tick in SIZE_TICKS if low <= tick <= high]
    for step in (4, 2, 1):
        if len(ticks) < _FEWEST_TICKS:
            ticks = _binary_ticks(low, high, step)
    ticks = ticks or [float(low)]
    labels = tuple(format_size(tick).replace(" ", "\u00a0") for tick in ticks)
    return Ticks((low / 1.3, high * 1.3), tuple(ticks), labels)


def _binary_ticks(low: float, high: float, step: int) -> list[float]:
    """Return the powers of two on an axis whose exponents are multiples of a step."""
    first = math.ceil(math.log2(low) / step) * step
    last = math.floor(math.log2(high))
    return [2.0**exponent for exponent in range(first, last + 1, step)]


#: An axis of counts has at most so many ticks.
_MOST_COUNTS = 8


def count_ticks(counts: Sequence[float]) -> Ticks:
    """Return a log2 axis of ranks or other counts, with ticks at the measured ones."""
    values = _thinned(tuple(map(float, sorted(set(counts)))), _MOST_COUNTS)
    domain = (min(counts) / 1.15, max(counts) * 1.15)
    return Ticks(domain, values, tuple(map(whole, values)))


def dodge(wanted: Mapping[str, float], gap: float, low: float, high: float) -> dict[str, float]:
    """Move label positions apart, as little as possible in the sense of least squares.

    With the gaps taken out, that is an isotonic regression, solved by pooling adjacent violators.

    - `wanted`: the best position (px) of each label.
    - `gap`: least distance between two labels; less where `low` to `high` is too short for it.
    """
    order = sorted(wanted, key=wanted.__getitem__)
    gap = min(gap, (high - low) / max(1, len(order) - 1))
    without_gaps = [wanted[name] - index * gap for index, name in enumerate(order)]
    levels = _nondecreasing(without_gaps)
    highest = high - (len(order) - 1) * gap
    places: dict[str, float] = {}
    for index, (name, level) in enumerate(zip(order, levels, strict=True)):
        places[name] = min(max(level, low), highest) + index * gap
    return places


def _nondecreasing(values: Sequence[float]) -> list[float]:
    """Return the nearest values that do not decrease: neighbours out of order take their mean."""
    pools: list[tuple[float, int]] = []
    for value in values:
        level = value
        size = 1
        while pools and pools[-1][0] > level:
            before, number = pools.pop()
            level = (before * number + level * size) / (number + size)
            size += number
        pools.append((level, size))
    levels: list[float] = []
    for level, size in pools:
        levels += [level] * size
    return levels


def _round_steps(low: float, high: float, count: int) -> list[float]:
    """Return multiples of 1, 2, 2.5 or 5 times a power of ten, about `count` of them."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10))
    step = next(step for step in steps if step >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]


def _even_labels(ticks: Sequence[float]) -> tuple[str, ...]:
    """Format ticks with the fewest decimals that distinguish them exactly."""
    for decimals in range(7):
        if all(_is_exact(tick, decimals) for tick in ticks):
            return tuple(grouped(f"{tick:.{decimals}f}") for tick in ticks)
    return tuple(f"{tick:.6g}" for tick in ticks)


def _is_exact(tick: float, decimals: int) -> bool:
    return abs(tick - round(tick, decimals)) <= 1e-9 * abs(tick)


def _tick_label(value: float) -> str:
    if value >= 1:
        return grouped(f"{value:.2f}".rstrip("0").rstrip("."))
    if value >= 1e-4:
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"
