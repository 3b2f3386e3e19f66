"""The cost of a message: simulator settings from a curve of one-way times.

Between two measured sizes, the curve is a straight line ``t = a + m * size``: a message waits for
``a`` seconds and then moves at ``1/m`` bytes per second. The processors' time for a message (the
overheads) is subtracted from the curve, because the simulator adds the overheads separately and
keeps the sender busy for them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np

#: Shortest time on the wire, if the overheads are as long as the time of the curve.
LEAST_S = 1e-9
#: The part that a port may add to the one-way time of a message.
_PORT_SHARE = 0.005
#: Bytes that SMPI adds to each message; the simulated cluster subtracts their time again.
_ENVELOPE_BYTES = 16
#: Smallest slope: 100 TB/s. A curve that does not rise there would divide by zero.
_LEAST_SLOPE = 1e-14

Curve = Sequence[tuple[int, float]]


def constant(seconds: float) -> Curve:
    """Return the curve that has the same time for every message size."""
    return ((0, seconds),)


def seconds_at(curve: Curve, size: int) -> float:
    """Return the time of a curve at a message size.

    The curve is linear between its points, and constant beyond the last point.
    """
    sizes, times = zip(*curve, strict=True)
    return float(np.interp(size, sizes, times))


def stretches(curve: Curve) -> str:
    """Return a curve in the simulator's format: for each size, the start and slope of a line."""
    texts = []
    for (size, time_s), (next_size, next_time_s) in pairwise(curve):
        slope = (next_time_s - time_s) / (next_size - size)
        texts.append(_stretch(size, slope, time_s))
    last_size, last_time_s = curve[-1]
    texts.append(_stretch(last_size, 0.0, last_time_s))
    return ";".join(texts)


def _stretch(size: int, slope: float, time_s: float) -> str:
    """Return the line that starts at a point of the curve, in the simulator's format."""
    start_s = time_s - slope * size
    return f"{size}:{start_s:.12f}:{slope:.9g}"


@dataclass(frozen=True, slots=True)
class _Line:
    """A stretch of a curve: the line ``start_s + s_per_byte * size`` between two sizes."""

    first_size: int
    last_size: int
    s_per_byte: float
    start_s: float


@dataclass(frozen=True, slots=True)
class SimulatedNetwork:
    """The costs of messages between two nodes of a simulated cluster.

    - `curve`: message sizes in bytes, ascending from 0, with one-way times in s that include the
      overheads.
    - `send_overhead_s`: the sending processor's time in s for a message, as a curve over the size.
    - `receive_overhead_s`: the same for the receiving processor.
    - `departure_s`: time from the start of a send until the message leaves, at most
      `send_overhead_s`. A system may deliver the message before it has finished the sender's work.
    - `eager_bytes`: message size from which a message waits until the receiver is ready.
    - `messages_per_s`: largest number of messages that a node's NIC sends, or receives, per second;
      None if no limit is known.
    """

    curve: tuple[tuple[int, float], ...]
    send_overhead_s: Curve
    receive_overhead_s: Curve
    departure_s: Curve
    eager_bytes: int
    source: str
    messages_per_s: float | None = None

    @property
    def bytes_per_s(self) -> float:
        """Rate of the largest message in bytes/s, without the latency of an empty message."""
        _, least_s = self.curve[0]
        size, most_s = self.curve[-1]
        if most_s <= least_s:
            return 1 / _LEAST_SLOPE
        return size / (most_s - least_s)

    @property
    def seconds_per_byte(self) -> float:
        """Time in s of each additional byte of the largest message."""
        *_, last = self._lines()
        return last.s_per_byte

    @property
    def latency_s(self) -> float:
        """One-way time of an empty message in s."""
        return self.curve[0][1]

    def wire(self) -> list[tuple[int, float]]:
        """Return the monotonically rising curve of times on the wire, without processor time.

        SMPI leaves out the overheads of messages for which sender and receiver synchronize. The
        curve therefore has a step at the size from which they synchronize. The curve has a point at
        each size at which the curve of an overhead has a point.
        """
        largest, _ = self.curve[-1]
        points = (*self.curve, *self.departure_s, *self.receive_overhead_s)
        given = {size for size, _ in points} | {self.eager_bytes - 1}
        sizes = sorted(size for size in given if size <= largest)
        times_s = [self._wire_s(size) for size in sizes]
        return list(zip(sizes, _rising(times_s), strict=True))

    def _wire_s(self, size: int) -> float:
        """Return the part of a message's time, in s, that is not processor time."""
        overhead_s = 0.0
        if size < self.eager_bytes:
            overhead_s += seconds_at(self.departure_s, size)
            overhead_s += seconds_at(self.receive_overhead_s, size)
        return max(seconds_at(self.curve, size) - overhead_s, LEAST_S)

    def busy_after(self) -> str:
        """Return the time that a sender stays busy after a message left, in the simulator's format.

        The time depends on the message size. It is zero if sender and receiver synchronize.
        """
        given = {size for size, _ in (*self.send_overhead_s, *self.departure_s)}
        given.add(self.eager_bytes - 1)
        points = []
        for size in sorted(given):
            if size < self.eager_bytes:
                sent_s = seconds_at(self.send_overhead_s, size)
                left_s = seconds_at(self.departure_s, size)
                points.append((size, max(sent_s - left_s, 0)))
        return f"{stretches(points)};{self.eager_bytes}:0:0"

    def busy_before(self) -> str:
        """Return the sender's overhead by message size, in the simulator's format.

        Messages that wait for the receiver have no overhead. In this format, a size that equals
        a threshold belongs to the range below the threshold.
        """
        last = self.eager_bytes - 1
        points = [point for point in self.send_overhead_s if point[0] < last]
        points.append((last, seconds_at(self.send_overhead_s, last)))
        return f"{stretches(points)};{last}:0:0"

    @property
    def port_bytes_per_s(self) -> float:
        """The lowest rate of a node's port, in bytes/s, that slows down no message of the curve.

        The rate is above that of the largest message if the curve is less steep at smaller sizes.
        Small messages, whose time hardly depends on size, are ignored.
        """
        rates = [self.bytes_per_s]
        for line in self._lines():
            last_s = line.start_s + line.s_per_byte * line.last_size
            port_s_per_byte = _PORT_SHARE * last_s / line.last_size
            rates.append(1 / (line.s_per_byte + port_s_per_byte))
        return max(rates)

    def costs(self) -> dict[str, str]:
        """Return the cost of a message between nodes, by its size, in the simulator's format."""
        waits = []
        bytes_s = []
        for line in self._lines():
            slope = line.s_per_byte
            if line.first_size == 0 and line.start_s < slope * _ENVELOPE_BYTES:
                slope = _LEAST_SLOPE  # the first byte costs more than the next: it is left out
            waits.append(f"{line.first_size}:{line.start_s:.12g}")
            bytes_s.append(f"{line.first_size}:{slope:.9g}")
        return {
            "latency_s": ";".join(waits),
            "seconds_per_byte": ";".join(bytes_s),
            "departure_s": stretches(self.departure_s),
            "send_s": self.busy_before(),
            "receive_s": stretches(self.receive_overhead_s),
        }

    def _lines(self) -> Iterator[_Line]:
        """Yield the lines of the curve, one for each stretch between two sizes."""
        for (size, time_s), (next_size, next_time_s) in pairwise(self.wire()):
            slope = max((next_time_s - time_s) / (next_size - size), _LEAST_SLOPE)
            start_s = time_s - slope * size
            if start_s < LEAST_S:
                start_s = LEAST_S
                slope = max((next_time_s - start_s) / next_size, _LEAST_SLOPE)
            yield _Line(size, next_size, slope, start_s)


def _rising(values: Sequence[float]) -> list[float]:
    """Return the closest series that never falls, by the algorithm "pool adjacent violators"."""
    means: list[float] = []
    counts: list[int] = []
    for value in values:
        means.append(value)
        counts.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            mean = means.pop()
            count = counts.pop()
            total = means[-1] * counts[-1] + mean * count
            counts[-1] += count
            means[-1] = total / counts[-1]
    rising: list[float] = []
    for mean, count in zip(means, counts, strict=True):
        rising += [mean] * count
    return rising


@cache
def presets() -> dict[str, dict[str, Any]]:
    """Return the networks in ``networks.toml``, by name."""
    file = resources.files("bareline.platforms.sim") / "networks.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def preset(name: str) -> SimulatedNetwork:
    """Return a network by name; its curve is a straight line, from a latency and a rate.

    Raises KeyError: there is no network of this name.
    """
    table = presets()[name]
    overhead = constant(table["overhead_s"])
    points = []
    for size in (0, table["eager_bytes"], 4 << 20):
        points.append((size, table["latency_s"] + size / table["bytes_per_s"]))
    return SimulatedNetwork(
        curve=tuple(points),
        send_overhead_s=overhead,
        receive_overhead_s=overhead,
        departure_s=overhead,
        eager_bytes=table["eager_bytes"],
        source=f"{name}: {table['source']}",
        messages_per_s=table["messages_per_s"],
    )
