"""Axes for people: units, ticks and positions of labels.

The plotting library does not compute them, for two reasons: an axis of message sizes needs ticks
such as 1 B, 64 B and 4 KiB, and an axis of times needs one unit in its title.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bareline.vocabulary.units import format_size, grouped, plain, scale_of, whole

#: Ticks of a message size axis, in bytes.
SIZE_TICKS = (1, 64, 4096, 262_144, 16_777_216, 1_073_741_824)

#: The ends of an axis.
Domain = tuple[float, float]
Values = Iterable[float]


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit for display: `factor` converts a stored value to `unit`."""

    factor: float
    unit: str

    def show(self, value: float | None, digits: int = 3) -> str:
        """Format a stored value in this unit, without the name of the unit."""
        if value is None:
            return "–"
        return plain(value * self.factor, digits)

    def titled(self, name: str) -> str:
        """Format an axis title or column head, e.g. ``latency (µs)``."""
        if not self.unit:
            return name
        return f"{name} ({self.unit})"


@dataclass(frozen=True, slots=True)
class Ticks:
    """An axis: its domain, the positions of its ticks, and their labels."""

    domain: Domain
    values: tuple[float, ...]
    labels: tuple[str, ...]

    @classmethod
    def labelled(cls, domain: Domain, values: Values, label: Callable[[float], str]) -> Ticks:
        """Return an axis on which `label` makes the label of each tick."""
        ticks = tuple(values)
        labels = map(label, ticks)
        return cls(domain, ticks, tuple(labels))

    @classmethod
    def even(cls, domain: Domain, values: Values) -> Ticks:
        """Return an axis whose labels have the fewest decimals that distinguish its ticks."""
        ticks = tuple(values)
        for decimals in range(_MOST_DECIMALS + 1):
            if _are_exact(ticks, decimals):
                return cls.labelled(domain, ticks, _with_decimals(decimals))
        return cls.labelled(domain, ticks, "{:.6g}".format)

    @property
    def label_expression(self) -> str:
        """A Vega expression that returns the label of a tick."""
        choices: list[str] = []
        for value, label in zip(self.values, self.labels, strict=True):
            tolerance = abs(value) * 1e-9
            choices.append(f"abs(datum.value - {value!r}) <= {tolerance!r} ? '{label}' : ")
        return "".join(choices) + "''"


#: Labels of evenly spaced ticks have at most so many decimals.
_MOST_DECIMALS = 6


def _with_decimals(decimals: int) -> Callable[[float], str]:
    """Return a function that formats numbers with the given number of decimals."""
    return lambda value: grouped(f"{value:.{decimals}f}")


def _are_exact(ticks: Values, decimals: int) -> bool:
    """Whether all ticks are exact with the given number of decimals."""
    for tick in ticks:
        error = abs(tick - round(tick, decimals))
        if error > 1e-9 * abs(tick):
            return False
    return True


#: Units of rates, whose values readers compare: a long number is easier to read than a small one.
_RATES = ("B/s", "flop/s", "op/s", "Hz")
#: From this number on, a rate gets a larger unit.
_LONG = 1e5


def unit_scale(values: Iterable[float | None], unit: str) -> Scale:
    """Return the unit in which the geometric middle of the values is easiest to read."""
    sizes = [abs(value) for value in values if value]
    if not sizes:
        name = "" if unit == "1" else unit
        return Scale(1.0, name)
    smallest = min(sizes)
    largest = max(sizes)
    middle = math.sqrt(smallest) * math.sqrt(largest)
    factor, name = scale_of(middle, unit)
    if unit in _RATES and largest * factor >= _LONG:
        factor, name = scale_of(largest / 100, unit)
    return Scale(factor, name)


#: Steps within a decade, the coarsest first.
_DECADE_STEPS = ((1,), (1, 3), (1, 2, 5))
#: A logarithmic axis has at least so many decimal ticks; else it has even round numbers.
_FEWEST_TICKS = 3


def log_ticks(values: Values, *, most: int = 6, pad: float = 0.06) -> Ticks:
    """Return a log axis with at most `most` ticks.

    The ticks are decades if at least three of them are on the axis, otherwise 1-2-5 steps. If there
    are fewer than three decades and fewer than three steps, the ticks are round numbers at equal
    distances.
    """
    domain = _log_domain(values, pad)
    for steps in _DECADE_STEPS:
        ticks = _decimal_ticks(domain, steps)
        if len(ticks) >= _FEWEST_TICKS:
            return Ticks.labelled(domain, _thinned(ticks, most), _tick_label)
    return Ticks.even(domain, _positive(_round_steps(domain, 4)))


def _log_domain(values: Values, pad: float) -> Domain:
    """Return the ends of a log axis, with some room around the positive values."""
    positive = _positive(_finite(values))
    low = min(positive, default=1.0)
    high = max(positive, default=10.0)
    if high / low < 1.02:
        middle = math.sqrt(low * high)
        low = middle / 1.02
        high = middle * 1.02
    length = math.log(high / low)
    margin = max(length * pad, 0.01)
    return low * math.exp(-margin), high * math.exp(margin)


def _decimal_ticks(domain: Domain, steps: Sequence[int]) -> list[float]:
    """Return the ticks on an axis: each is one of `steps` times a power of ten."""
    low, high = domain
    first = math.floor(math.log10(low)) - 1
    last = math.ceil(math.log10(high))
    ticks = _decades(range(first, last + 1), steps)
    return _inside(domain, ticks)


def _decades(powers: Iterable[int], steps: Iterable[int]) -> list[float]:
    """Return each power of ten multiplied by each step."""
    ticks = []
    for power in powers:
        for step in steps:
            ticks.append(step * 10.0**power)
    return ticks


def _finite(values: Values) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _positive(values: Values) -> list[float]:
    return [value for value in values if value > 0]


def _inside(domain: Domain, ticks: Values) -> list[float]:
    """Return the ticks that are inside the domain."""
    low, high = domain
    return [float(tick) for tick in ticks if low <= tick <= high]


def _thinned(ticks: Sequence[float], most: int) -> Sequence[float]:
    """Return every second tick, repeatedly, until at most `most` are left."""
    while len(ticks) > most:
        ticks = ticks[::2]
    return ticks


def zero_ticks(values: Values) -> Ticks:
    """Return a linear axis from zero to a little above the largest value."""
    top = max(_finite(values), default=1.0)
    if top <= 1e-300:
        top = 1.0  # smaller numbers have no decimal steps
    steps = _round_steps((0.0, top), 4)
    ticks = [tick for tick in steps if tick <= top * 1.0001]
    return Ticks.even((0.0, top * 1.04), ticks)


def signed_ticks(values: Values) -> Ticks:
    """Return a linear axis that contains zero and all values."""
    ends = [0.0, *_finite(values)]
    low = min(ends)
    high = max(ends)
    if high - low < 1e-9:
        high = 1.0
    margin = 0.04 * (high - low)
    ticks = _round_steps((low, high), 5)
    return Ticks.even((low - margin, high + margin), ticks)


#: Ticks of an axis of ratios of less than a factor of five, and of more.
_NEAR_RATIOS = (0.2, 0.25, 0.33, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5)
_RATIOS = _decades(range(-2, 4), (1, 2, 5))
_FAR_RATIOS = _decades(range(-4, 6), (1,))


def ratio_ticks(values: Values) -> Ticks:
    """Return a logarithmic axis of ratios that always contains 1, with some room around 1."""
    ratios = [1.0, *_positive(_finite(values))]
    low = min(min(ratios) / 1.03, 0.95)
    high = max(max(ratios) * 1.05, 1.06)
    domain = (low, high)
    growth = high / low
    if growth < 2.2:
        steps = _positive(_round_steps(domain, 5))
        return Ticks.even(domain, sorted({1.0, *steps}))
    ladder: Sequence[float] = _RATIOS
    if growth < 5:
        ladder = _NEAR_RATIOS
    elif growth > 300:
        ladder = _FAR_RATIOS
    return Ticks.labelled(domain, _inside(domain, ladder), _tick_label)


def size_ticks(sizes: Sequence[float]) -> Ticks:
    """Return a log2 axis of message or file sizes."""
    low = min(sizes)
    high = max(sizes)
    ticks = _inside((low, high), SIZE_TICKS)
    for step in (4, 2, 1):
        if len(ticks) < _FEWEST_TICKS:
            ticks = _binary_ticks(low, high, step)
    if not ticks:
        ticks = [float(low)]
    return Ticks.labelled((low / 1.3, high * 1.3), ticks, _size_label)


def _size_label(size: float) -> str:
    return format_size(size).replace(" ", "\u00a0")


def _binary_ticks(low: float, high: float, step: int) -> list[float]:
    """Return the powers of two from `low` to `high` with exponents that are multiples of `step`."""
    first = math.ceil(math.log2(low) / step) * step
    last = math.floor(math.log2(high))
    return [2.0**exponent for exponent in range(first, last + 1, step)]


#: An axis of counts has at most so many ticks.
_MOST_COUNTS = 8


def count_ticks(counts: Sequence[float]) -> Ticks:
    """Return a log2 axis of ranks or other counts, with ticks at the measured counts."""
    measured = sorted(set(map(float, counts)))
    domain = (min(counts) / 1.15, max(counts) * 1.15)
    return Ticks.labelled(domain, _thinned(measured, _MOST_COUNTS), whole)


def dodge(wanted: Mapping[str, float], gap: float, low: float, high: float) -> dict[str, float]:
    """Return label positions that are at least `gap` apart, moved as little as possible.

    The sum of the squared moves is minimal. After the gaps are subtracted, this is an isotonic
    regression, which the pool-adjacent-violators algorithm solves.

    - `wanted`: the best position (px) of each label.
    - `gap`: least distance between two labels. If `low` to `high` is too short for all gaps, they
      become smaller.
    """
    order = sorted(wanted, key=wanted.__getitem__)
    gaps = len(order) - 1
    if gaps > 0:
        gap = min(gap, (high - low) / gaps)
    without_gaps = [wanted[name] - index * gap for index, name in enumerate(order)]
    levels = _nondecreasing(without_gaps)
    highest = high - gaps * gap
    places: dict[str, float] = {}
    for index, name in enumerate(order):
        level = max(levels[index], low)
        places[name] = min(level, highest) + index * gap
    return places


@dataclass(frozen=True, slots=True)
class _Pool:
    """A group of neighbouring values, which are replaced by their mean."""

    mean: float
    size: int = 1

    def joined(self, other: _Pool) -> _Pool:
        size = self.size + other.size
        total = self.mean * self.size + other.mean * other.size
        return _Pool(total / size, size)


def _nondecreasing(values: Values) -> list[float]:
    """Return the nearest values that do not decrease; neighbours out of order become their mean."""
    pools: list[_Pool] = []
    for value in values:
        pool = _Pool(value)
        while pools and pools[-1].mean > pool.mean:
            pool = pools.pop().joined(pool)
        pools.append(pool)
    levels: list[float] = []
    for pool in pools:
        levels += [pool.mean] * pool.size
    return levels


def _round_steps(domain: Domain, count: int) -> list[float]:
    """Return multiples of 1, 2, 2.5 or 5 times a power of ten, about `count` of them."""
    low, high = domain
    step = _round_step((high - low) / count)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]


def _round_step(least: float) -> float:
    """Return the smallest round number that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    for factor in (1, 2, 2.5, 5):
        step = factor * power
        if step >= least * 0.999:
            return step
    return 10 * power


def _tick_label(value: float) -> str:
    if value >= 1:
        return grouped(_short(f"{value:.2f}"))
    if value >= 1e-4:
        return _short(f"{value:.6f}")
    return f"{value:.3g}"


def _short(decimal: str) -> str:
    """Return a decimal number as text without zeros at its end."""
    return decimal.rstrip("0").rstrip(".")
