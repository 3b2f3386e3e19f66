"""Axes that people read: units, ticks and places for labels.

Everything is worked out here rather than left to the plotting library, because an axis of message
sizes wants ticks at 1 B, 64 B, 4 KiB, and an axis of times wants one unit in its title.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bareline.vocabulary.units import format_size, grouped, plain, scale_of, whole

#: Ticks of a message size axis, in bytes.
SIZE_TICKS = (1, 64, 4096, 262_144, 16_777_216, 1 << 30)


@dataclass(frozen=True, slots=True)
class Scale:
    """A display unit: multiply a stored value by `factor` to get it in `unit`."""

    factor: float
    unit: str

    def show(self, value: float | None, digits: int = 3) -> str:
        """Write a stored value in this unit, without the unit."""
        return "–" if value is None else plain(value * self.factor, digits)

    def titled(self, name: str) -> str:
        """Write an axis title or column head, e.g. ``latency (µs)``."""
        return f"{name} ({self.unit})" if self.unit else name


@dataclass(frozen=True, slots=True)
class Ticks:
    """An axis: its domain, where its ticks are, and what stands at them."""

    domain: tuple[float, float]
    values: tuple[float, ...]
    labels: tuple[str, ...]

    @property
    def label_expression(self) -> str:
        """The labels as a Vega expression over ``datum.index``-free tick values."""
        return (
            "".join(
                f"abs(datum.value - {value!r}) <= {abs(value) * 1e-9!r} ? '{label}' : "
                for value, label in zip(self.values, self.labels, strict=True)
            )
            + "''"
        )


def unit_scale(values: Iterable[float | None], unit: str) -> Scale:
    """Choose the one unit in which all values read best: that of their logarithmic middle."""
    sizes = [abs(value) for value in values if value is not None and value != 0]
    if not sizes:
        return Scale(1.0, "" if unit == "1" else unit)
    factor, name = scale_of(math.sqrt(min(sizes)) * math.sqrt(max(sizes)), unit)
    if unit in ("B/s", "flop/s", "op/s", "Hz") and max(sizes) * factor >= 1e5:
        factor, name = scale_of(max(sizes) / 100, unit)
    return Scale(factor, name)


def log_ticks(values: Iterable[float], *, most: int = 6, pad: float = 0.06) -> Ticks:
    """Lay out a log axis: decades when they suffice, else 1-2-5 steps, else even round numbers."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    low, high = min(positive, default=1.0), max(positive, default=10.0)
    if high / low < 1.02:
        middle = math.sqrt(low * high)
        low, high = middle / 1.02, middle * 1.02
    margin = max(math.log(high / low) * pad, 0.01)
    domain = (low * math.exp(-margin), high * math.exp(margin))
    powers = range(math.floor(math.log10(domain[0])) - 1, math.ceil(math.log10(domain[1])) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5)):
        every = (step * 10.0**power for power in powers for step in steps)
        ticks = tuple(tick for tick in every if domain[0] <= tick <= domain[1])
        if len(ticks) >= 3:
            while len(ticks) > most:
                ticks = ticks[::2]
            return Ticks(domain, ticks, tuple(map(_tick_label, ticks)))
    ticks = tuple(tick for tick in _round_steps(*domain, 4) if tick > 0)
    return Ticks(domain, ticks, _even_labels(ticks))


def zero_ticks(values: Iterable[float]) -> Ticks:
    """Lay out a linear axis from zero to a little above the largest value."""
    top = max([value for value in values if math.isfinite(value)], default=1.0)
    top = top if top > 1e-300 else 1.0  # what is smaller has no decimal steps
    ticks = tuple(tick for tick in _round_steps(0.0, top, 4) if tick <= top * 1.0001)
    return Ticks((0.0, top * 1.04), ticks, _even_labels(ticks))


def signed_ticks(values: Iterable[float]) -> Ticks:
    """Lay out a linear axis that holds zero and values on either side of it."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    high = 1.0 if high - low < 1e-9 else high
    margin, ticks = 0.04 * (high - low), tuple(_round_steps(low, high, 5))
    return Ticks((low - margin, high + margin), ticks, _even_labels(ticks))


def ratio_ticks(values: Iterable[float]) -> Ticks:
    """Lay out a logarithmic axis of ratios that always holds 1 and some room around it."""
    finite = [value for value in values if value > 0 and math.isfinite(value)]
    low, high = min([1.0, *finite]), max([1.0, *finite])
    low, high = min(low / 1.03, 0.95), max(high * 1.05, 1.06)
    if high / low < 2.2:
        ticks = tuple(sorted({*(tick for tick in _round_steps(low, high, 5) if tick > 0), 1.0}))
        return Ticks((low, high), ticks, _even_labels(ticks))
    ladder: Sequence[float] = [step * 10.0**power for power in range(-2, 4) for step in (1, 2, 5)]
    if high / low < 5:
        ladder = (0.2, 0.25, 0.33, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5)
    elif high / low > 300:
        ladder = [10.0**power for power in range(-4, 6)]
    ticks = tuple(float(tick) for tick in ladder if low <= tick <= high)
    return Ticks((low, high), ticks, tuple(map(_tick_label, ticks)))


def size_ticks(sizes: Sequence[float]) -> Ticks:
    """Lay out a log2 axis of message or file sizes; 0 B stands half a step before the rest."""
    low, high = min(sizes), max(sizes)
    domain = (low / 1.3, high * 1.3)
    ticks = [float(tick) for tick in SIZE_TICKS if low <= tick <= high]
    for step in (4, 2, 1):
        if len(ticks) < 3:
            first = math.ceil(math.log2(low) / step) * step
            ticks = [2.0**e for e in range(first, math.floor(math.log2(high)) + 1, step)]
    ticks = ticks or [float(low)]
    labels = tuple(format_size(tick).replace(" ", "\u00a0") for tick in ticks)
    return Ticks(domain, tuple(ticks), labels)


def count_ticks(counts: Sequence[float]) -> Ticks:
    """Lay out a log2 axis of ranks or other counts, with ticks at the measured ones."""
    values = sorted(set(counts))
    while len(values) > 8:
        values = values[::2]
    domain = (min(counts) / 1.15, max(counts) * 1.15)
    return Ticks(domain, tuple(map(float, values)), tuple(whole(value) for value in values))


def dodge(wanted: Mapping[str, float], gap: float, low: float, high: float) -> dict[str, float]:
    """Move label positions apart, as little as possible in the sense of least squares.

    With the gaps taken out, that is an isotonic regression, solved by pooling adjacent violators.

    - `wanted`: position (px) at which each label would stand best.
    - `gap`: least distance between two labels; less where `low` to `high` is too short for it.
    """
    order = sorted(wanted, key=lambda name: wanted[name])
    gap = min(gap, (high - low) / max(1, len(order) - 1))
    pools: list[tuple[float, int]] = []
    for index, name in enumerate(order):
        level, size = wanted[name] - index * gap, 1
        while pools and pools[-1][0] > level:
            before, count = pools.pop()
            level = (before * count + level * size) / (count + size)
            size += count
        pools.append((level, size))
    levels = [level for level, size in pools for _ in range(size)]
    highest = high - (len(order) - 1) * gap
    return {
        name: min(max(level, low), highest) + index * gap
        for index, (name, level) in enumerate(zip(order, levels, strict=True))
    }


def _round_steps(low: float, high: float, count: int) -> list[float]:
    """Return multiples of 1, 2, 2.5 or 5 times a power of ten, about `count` of them."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _even_labels(ticks: Sequence[float]) -> tuple[str, ...]:
    """Write ticks with the fewest decimals that tell them apart exactly."""
    for decimals in range(7):
        if all(abs(tick - round(tick, decimals)) <= 1e-9 * abs(tick) for tick in ticks):
            return tuple(grouped(f"{tick:.{decimals}f}") for tick in ticks)
    return tuple(f"{tick:.6g}" for tick in ticks)


def _tick_label(value: float) -> str:
    if value >= 1:
        return grouped(f"{value:.2f}".rstrip("0").rstrip("."))
    return f"{value:.6f}".rstrip("0").rstrip(".") if value >= 1e-4 else f"{value:.3g}"
