"""What if the network were faster: a ladder that nobody measured, made from one that was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bareline.predict.calls import INIT
from bareline.predict.ladder import Ladder
from bareline.vocabulary.errors import UsageError

_FACTOR = re.compile(r"x?(\d+(?:\.\d+)?)x?")
_RATE = re.compile(r"(\d+(?:\.\d+)?) ?(k|M|G|T)(b/s|bit)", re.IGNORECASE)
_POWERS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Changes of a platform.

    Attributes
    ----------
    latency, compute
        Factors on the smallest messages' time and on computing.
    bandwidth
        Factor on what a byte takes; `rate_bps` instead sets the link's rate.
    cores
        Factor on the cores that ranks share.
    """

    latency: float = 1.0
    bandwidth: float = 1.0
    rate_bps: float | None = None
    cores: float = 1.0
    compute: float = 1.0

    def applied(self, ladder: Ladder) -> Ladder:
        """Give the ladder with these changes; of a platform of several nodes, between them."""
        several = ladder.layout.nodes > 1
        byte = self.bandwidth
        if self.rate_bps is not None:
            byte = self._byte_factor(ladder)
        curves = {
            key: curve.scaled(self.latency, byte)
            if (key.nodes > 1) == several and key.probe != INIT
            else curve
            for key, curve in ladder.curves.items()
        }
        cores = ladder.cores
        if cores is not None:
            cores = round(cores * self.cores)
            if cores >= ladder.layout.ranks_per_node:
                cores = None
        return replace(ladder, curves=curves, cores=cores)

    def _byte_factor(self, ladder: Ladder) -> float:
        nodes = min(2, ladder.layout.nodes)
        curve = ladder.message("mpi.bandwidth", nodes) or ladder.message("mpi.pingpong", nodes)
        if curve is None or len(curve.sizes) < 2:
            raise UsageError(
                "the ladder has no curve that tells its bandwidth", hint="write bandwidth=x2"
            )
        per_byte = float(curve.times[-1] - curve.times[0]) / float(curve.sizes[-1])
        assert self.rate_bps is not None
        return 8 / self.rate_bps / per_byte


def parse_what_if(texts: Sequence[str]) -> WhatIf:
    """Read ``latency=x0.5``, ``bandwidth=10Gb/s``, ``cores=2x``, ``compute=x0.8``.

    Raises
    ------
    UsageError
        One of them is something else.
    """
    changes = WhatIf()
    for text in texts:
        name, _, value = text.partition("=")
        factor, rate = _FACTOR.fullmatch(value), _RATE.fullmatch(value)
        if name == "bandwidth" and rate is not None:
            bps = float(rate[1]) * _POWERS[rate[2].lower()]
            if bps > 0:
                changes = replace(changes, rate_bps=bps)
                continue
        number = float(factor[1]) if factor is not None else 0.0
        if name not in ("latency", "bandwidth", "cores", "compute") or not 0 < number < 1e6:
            raise UsageError(
                f"'{text[:60]}' is no change of a platform",
                hint="write latency=x0.5, bandwidth=10Gb/s, bandwidth=x2, cores=2x or compute=x0.8",
            )
        # Twice the bandwidth is half the time of a byte.
        number = 1 / number if name == "bandwidth" else number
        changes = replace(changes, **{name: number})
    return changes
