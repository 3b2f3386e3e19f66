"""The cost of a message: from a curve of one-way times to the settings of the simulator.

Between two measured sizes the curve is taken as a straight line a + m s: a message waits a seconds
and then moves at 1/m bytes a second. The processors' time for a message (overheads) is taken out
of the curve first, because the simulator adds it again, and lets it keep the sender busy.
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

#: Shortest time that is left for the wire where overheads leave nothing of the curve.
LEAST_S = 1e-9
#: The part that a port may add to the one-way time of a message.
_PORT_SHARE = 0.005
#: SMPI's addition to each message; the simulated cluster takes the time for it out again.
_ENVELOPE_BYTES = 16
#: Smallest slope: 100 TB/s. A curve that does not rise there would divide by zero.
_LEAST_SLOPE = 1e-14

Curve = Sequence[tuple[int, float]]


def constant(seconds: float) -> Curve:
    """Return the curve of a constant time."""
    return ((0, seconds),)


def seconds_at(curve: Curve, size: int) -> float:
    """Read a curve at a size: straight between its points, constant beyond the last one."""
    sizes, times = zip(*curve, strict=True)
    return float(np.interp(size, sizes, times))


def stretches(curve: Curve) -> str:
    """Write a curve as the simulator takes it: thresholds, each with a start and a slope."""
    lines = [
        (size, (next_time - time) / (next_size - size), time)
        for (size, time), (next_size, next_time) in pairwise(curve)
    ]
    lines.append((curve[-1][0], 0.0, curve[-1][1]))
    return ";".join(f"{size}:{time - slope * size:.12f}:{slope:.9g}" for size, slope, time in lines)


@dataclass(frozen=True, slots=True)
class SimulatedNetwork:
    """How two nodes of a simulated cluster exchange messages.

    - `curve`: message sizes in bytes, rising from 0, with their one-way times in s, overheads
      included.
    - `send_overhead_s`, `receive_overhead_s`: a processor's time for a message, by its size like
      `curve`; constant beyond the last one.
    - `departure_s`: when a message leaves, after its send began: at most `send_overhead_s`. A
      system may deliver it and then have more to do for the sender.
    - `eager_bytes`: from this size on a message waits until the receiver is ready.
    - `messages_per_s`: how many messages the NIC of a node takes in each direction; None where that
      is not known to bound anything.
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
        """Rate of the largest message, beyond the latency of an empty one."""
        (_, least), (size, most) = self.curve[0], self.curve[-1]
        return size / (most - least) if most > least else 1 / _LEAST_SLOPE

    @property
    def seconds_per_byte(self) -> float:
        """The additional time of another byte of the largest message."""
        *_, (_, _, slope, _) = self._lines()
        return slope

    @property
    def latency_s(self) -> float:
        """One-way time of an empty message."""
        return self.curve[0][1]

    def wire(self) -> list[tuple[int, float]]:
        """Return the curve without the processors' time, made to rise.

        SMPI leaves out the overheads of messages that sender and receiver meet for: the wire has a
        step there, and a point wherever an overhead has one.
        """
        overheads = (*self.departure_s, *self.receive_overhead_s)
        given = {size for size, _ in (*self.curve, *overheads)} | {self.eager_bytes - 1}
        sizes = sorted(size for size in given if size <= self.curve[-1][0])
        times = []
        for size in sizes:
            at_once = size < self.eager_bytes
            spent = (self.departure_s, self.receive_overhead_s) if at_once else ()
            overhead_s = sum(seconds_at(curve, size) for curve in spent)
            times.append(max(seconds_at(self.curve, size) - overhead_s, LEAST_S))
        return list(zip(sizes, _rising(times), strict=True))

    def busy_after(self) -> str:
        """Write how long a sender stays busy after a message left; nothing where both ends meet."""
        given = {size for size, _ in (*self.send_overhead_s, *self.departure_s)}
        sizes = sorted(size for size in given | {self.eager_bytes - 1} if size < self.eager_bytes)
        sent, left = self.send_overhead_s, self.departure_s
        busy = [(size, max(seconds_at(sent, size) - seconds_at(left, size), 0)) for size in sizes]
        return f"{stretches(busy)};{self.eager_bytes}:0:0"

    def busy_before(self) -> str:
        """Write for how long a sender that goes on at once is busy with a message, likewise.

        Here, as in all settings of the simulated cluster, a stretch begins above its threshold.
        """
        last = self.eager_bytes - 1
        points = [point for point in self.send_overhead_s if point[0] < last]
        points.append((last, seconds_at(self.send_overhead_s, last)))
        return f"{stretches(points)};{last}:0:0"

    @property
    def port_bytes_per_s(self) -> float:
        """The rate that the port of a node needs, so that it slows down no message of the curve.

        That is more than the rate of the largest message where the curve rises less before. Small
        messages, of which hardly anything is their size, do not count.
        """
        slopes = (
            slope + _PORT_SHARE * (start + slope * size) / size
            for _, size, slope, start in self._lines()
        )
        return max(self.bytes_per_s, *(1 / slope for slope in slopes))

    def costs(self) -> dict[str, str]:
        """Return the cost of a message between nodes, by its size, in the simulator's format."""
        waits, bytes_s = [], []
        for size, _, slope, start in self._lines():
            if size == 0 and start < slope * _ENVELOPE_BYTES:
                slope = _LEAST_SLOPE  # the first byte costs more than the next: it is left out
            waits.append(f"{size}:{start:.12g}")
            bytes_s.append(f"{size}:{slope:.9g}")
        return {
            "latency_s": ";".join(waits),
            "seconds_per_byte": ";".join(bytes_s),
            "departure_s": stretches(self.departure_s),
            "send_s": self.busy_before(),
            "receive_s": stretches(self.receive_overhead_s),
        }

    def _lines(self) -> Iterator[tuple[int, int, float, float]]:
        """Yield each stretch of the curve: first and last size, slope, and start at size 0."""
        for (size, time), (next_size, next_time) in pairwise(self.wire()):
            slope = max((next_time - time) / (next_size - size), _LEAST_SLOPE)
            start = time - slope * size
            if start < LEAST_S:
                start = LEAST_S
                slope = max((next_time - start) / next_size, _LEAST_SLOPE)
            yield size, next_size, slope, start


def _rising(values: Sequence[float]) -> list[float]:
    """Return the closest series that never falls (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (last, last_n), (before, before_n) = pools.pop(), pools.pop()
            n = before_n + last_n
            pools.append(((before * before_n + last * last_n) / n, n))
    return [value for value, n in pools for _ in range(n)]


@cache
def presets() -> dict[str, dict[str, Any]]:
    """Return the networks in ``networks.toml``, by name."""
    file = resources.files("bareline.platforms.sim") / "networks.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def preset(name: str) -> SimulatedNetwork:
    """Return a network by name, a line of latency and rate, or raise KeyError: there is none."""
    table = presets()[name]
    sizes, overhead = (0, table["eager_bytes"], 4 << 20), constant(table["overhead_s"])
    return SimulatedNetwork(
        tuple((size, table["latency_s"] + size / table["bytes_per_s"]) for size in sizes),
        *(overhead, overhead, overhead),
        eager_bytes=table["eager_bytes"],
        source=f"{name}: {table['source']}",
        messages_per_s=table["messages_per_s"],
    )
