"""A measured curve: the times of one kind of message exchange by size and launch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bareline.analysis.numbers.messages import beyond_start, start_of, time_at

FloatArray = npt.NDArray[np.float64]

#: A fall on which launches agree is the platform's: libraries choose a collective's algorithm by
#: size, and TCP carries 32 KiB sooner than 24 KiB over some links. This share of the launches must
#: agree on a collective's fall, and there must be at least this number of launches; all launches
#: must agree on a fall between two ranks, where an algorithm does not change.
_AGREED = 0.8
_FEWEST_AGREED = 4
_NEAR = 1.5
_BETWEEN_TWO = ("mpi.pingpong", "mpi.bandwidth", "mpi.sendrecv", "mpi.overhead")
#: Spread of the launches at one size beyond which they contradict each other.
_SPREAD = 1.0
#: Launches have two speeds where they form two groups, of at least two launches each, whose times
#: differ by at least this factor, and by twice the range within a group.
_TWO_SPEEDS = 1.1
_FEWEST_OF_A_SPEED = 2
_APART = 2.0
#: A launch that takes more than this multiple of the median was disturbed; and the largest share
#: of disturbed launches.
_LOST = 3.0
_MOST_LOST = 1 / 3
#: If a message takes less than this share of a smaller message's time, one of them was disturbed.
_LEAST_SHARE = 0.65
#: Messages of at least this size show the rate of a wire.
_LARGE_BYTES = 1 << 17


@dataclass(frozen=True, slots=True, order=True)
class CurveKey:
    """The key of a curve: the probe, the number of ranks, and the number of nodes."""

    probe: str
    ranks: int
    nodes: int

    def __str__(self) -> str:
        where = "one node" if self.nodes == 1 else f"{self.nodes} nodes"
        return f"{self.probe} of {self.ranks} ranks on {where}"


@dataclass(frozen=True)
class Curve:
    """The times of a message exchange by size.

    - `sizes`: in bytes, ascending.
    - `launches`: one row per launch, one column per size, in s; NaN if a launch lacks a size.
    """

    key: CurveKey
    sizes: FloatArray
    launches: FloatArray

    @cached_property
    def raw(self) -> FloatArray:
        """The time at each size, in s: the mean over the launches near the median.

        TCP between hosts has two speeds, which differ by launch and within a launch: a program that
        runs for seconds gets a mixture of both. A launch that differs by a factor of more than
        `_NEAR` was disturbed, and is left out.
        """
        middle = _median(self.launches)
        with np.errstate(invalid="ignore"):
            near = (self.launches <= _NEAR * middle) & (self.launches >= middle / _NEAR)
        total = np.where(near, self.launches, 0.0).sum(axis=0)
        count = near.sum(axis=0)
        # Where the launches form two distant halves, none is near: then the median is taken.
        return np.asarray(np.where(count > 0, total / np.maximum(count, 1), middle))

    @cached_property
    def times(self) -> FloatArray:
        """The times of `raw`, made monotone.

        A longer message never takes less time, unless the launches agree that it does.
        """
        return np.concatenate([_isotonic(part) for part in self._parts])

    @cached_property
    def _parts(self) -> list[FloatArray]:
        """Return the times of `raw`, as parts in the order of their sizes.

        A new part begins where the launches agree that a larger message is faster.
        """
        n = self.launches.shape[0]
        if n < _FEWEST_AGREED:
            return [self.raw]
        agreed = n if self.key.probe.startswith(_BETWEEN_TWO) else _AGREED * n
        with np.errstate(invalid="ignore"):
            falls = (self.launches[:, 1:] < self.launches[:, :-1]).sum(axis=0)
        return np.split(self.raw, np.flatnonzero(falls >= agreed) + 1)

    @property
    def latency_s(self) -> float:
        """The time of the smallest message, in s."""
        return start_of(self.times)

    def at(self, size: float) -> float:
        """Return the time of a message in s, interpolated linearly between measured sizes.

        Beyond the largest size, the slope of the last two sizes continues; `covers` is false there.
        """
        return time_at(self.sizes, self.times, size)

    def beyond_start(self, size: float) -> float:
        """Return the time of a message minus the time of the smallest message, in s."""
        return beyond_start(self.sizes, self.times, size)

    def covers(self, size: float) -> bool:
        """Whether a size is within the measured sizes, or the curve has only one size."""
        return len(self.sizes) == 1 or size <= self.sizes[-1]

    @cached_property
    def spread(self) -> float:
        """The largest relative interquartile range of the launches over all sizes."""
        if self.launches.shape[0] < 3:
            return 0.0
        low, high = np.nanpercentile(self.launches, [25, 75], axis=0)
        return float(np.max((high - low) / self.raw))

    @cached_property
    def two_speeds(self) -> tuple[float, int]:
        """The time of slow launches divided by that of fast ones, and the number of slow launches.

        (1, 0) if the launches do not have two speeds.
        """
        # A launch may have lost every size; it has no speed.
        is_lost = np.isnan(self.launches).all(axis=1)
        launches = self.launches[~is_lost]
        if launches.shape[0] < 2 * _FEWEST_OF_A_SPEED:
            return 1.0, 0
        ratios = np.log(launches / _median(launches))
        quick, slow = _widest_split(np.sort(np.nanmedian(ratios, axis=1)))
        within = max(float(np.ptp(quick)), float(np.ptp(slow)))
        between = float(slow[0] - quick[-1])
        times = float(np.exp(np.median(slow) - np.median(quick)))
        if times > _TWO_SPEEDS and between > _APART * within:
            return times, len(slow)
        return 1.0, 0

    def faults(self, wire_bps: float | None) -> list[str]:
        """Return the reasons why the curve is unusable: it falls, or is faster than the wire."""
        faults = (self._fall(), self._beaten_wire(wire_bps))
        return [fault for fault in faults if fault]

    def _fall(self) -> str:
        """Describe the deepest fall of the curve; "" if a disturbance may explain it."""
        peak = np.concatenate([np.maximum.accumulate(part) for part in self._parts])
        share = self.raw / peak
        worst = int(np.argmin(share))
        # A smaller fall has a protocol as its cause, not a disturbance.
        is_deep = self.raw[worst] < _LEAST_SHARE * peak[worst]
        if not is_deep:
            return ""
        return (
            f"{self.sizes[worst]:.0f} B take {share[worst]:.2f} times what a smaller message takes"
        )

    def _beaten_wire(self, wire_bps: float | None) -> str:
        """Describe the wire if large messages seem to be faster than its rate, else return ""."""
        if wire_bps is None or self.key.probe not in ("mpi.pingpong", "mpi.bandwidth"):
            return ""
        large = self.sizes >= _LARGE_BYTES
        # Bursts and rounding may make a transfer seem faster than its wire.
        least_s = 8 * self.sizes[large] / wire_bps * 0.75
        if not np.any(self.raw[large] < least_s):
            return ""
        return f"messages are faster than the wire of {wire_bps / 1e9:g} Gb/s"

    @property
    def contradicts(self) -> bool:
        """Whether the launches differ so much that no median represents them."""
        return self.spread > _SPREAD

    def resampled(self, chosen: npt.NDArray[np.int64]) -> Curve:
        """Return the curve of the chosen launches, some of which may be chosen several times."""
        rows = self.launches[chosen % self.launches.shape[0]]
        # A draw may lack a size that only other launches have.
        lost = np.isnan(rows).all(axis=0)
        if lost.any():
            rows = rows.copy()
            rows[:, lost] = self.raw[lost]
        return Curve(self.key, self.sizes, rows)

    def scaled(self, latency: float, bandwidth: float) -> Curve:
        """Return the curve with another latency and another time of bytes.

        The time of the smallest message is multiplied by `latency`, and the additional time of
        larger messages by `bandwidth`. At each size, all launches are multiplied by the same
        factor.
        """
        base = self.latency_s
        times = self.times
        start = np.minimum(times, base)
        additions = np.maximum(times - base, 0.0)
        scaled = latency * start + bandwidth * additions
        return Curve(self.key, self.sizes, np.asarray(self.launches * (scaled / times)))


def without_disturbed(launches: FloatArray) -> FloatArray:
    """Return the launches with NaN in place of times in which a rank had lost its core.

    A rank without a core waits for milliseconds, a time slice of the scheduler, while messages take
    microseconds. Such a time is not a variation of the platform. If more than a third of the
    launches at a size are so slow, all launches stay, and `Curve.contradicts` is true.

    - `launches`: one row per launch, one column per size, in s; NaN if a launch lacks a size.
    """
    with np.errstate(invalid="ignore"):
        lost = launches > _LOST * _median(launches)
    few = lost.sum(axis=0) <= _MOST_LOST * launches.shape[0]
    return np.where(lost & few, np.nan, launches)


def _median(launches: FloatArray) -> FloatArray:
    """Return the median over the launches, ignoring NaN, in 1/30 of the time of `np.nanmedian`."""
    ordered = np.sort(launches, axis=0)  # missing values come last
    n = launches.shape[0] - np.isnan(launches).sum(axis=0)
    sizes = np.arange(launches.shape[1])
    below = ordered[(n - 1) // 2, sizes]
    above = ordered[n // 2, sizes]
    return np.asarray((below + above) / 2)


def _widest_split(levels: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the levels of launches below and above the widest gap between two levels.

    Only gaps with at least `_FEWEST_OF_A_SPEED` launches on both sides are considered.

    - `levels`: ln of each launch's time divided by the median time, ascending.
    """
    least = _FEWEST_OF_A_SPEED
    gaps = np.diff(levels)[least - 1 : len(levels) - least]
    cut = least + int(np.argmax(gaps))
    return levels[:cut], levels[cut:]


def _isotonic(values: FloatArray) -> FloatArray:
    """Return the values after neighbours in falling order were replaced by their mean."""
    if np.all(values[1:] >= values[:-1]):
        return values
    pools: list[_Pool] = []
    for value in values.tolist():
        pool = _Pool(value, 1)
        while pools and pools[-1].mean > pool.mean:
            pool = pools.pop().joined(pool)
        pools.append(pool)
    return np.concatenate([np.full(pool.n, pool.mean) for pool in pools])


@dataclass(frozen=True, slots=True)
class _Pool:
    """Neighbouring values that have a common mean."""

    mean: float
    n: int

    def joined(self, right: _Pool) -> _Pool:
        n = self.n + right.n
        return _Pool((self.mean * self.n + right.mean * right.n) / n, n)
