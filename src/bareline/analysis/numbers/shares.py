"""Shares of a peak: a measured rate divided by the peak of the network link or of the cores.

The rate is measured and the peak is a fact of the platform, so no benchmark prints the share. The
share is a separate metric, with a sample for each sample of the rate. It has no good direction,
because two platforms are compared by their rates. The share is only compared with shares that
publications print, such as "58 % of the wire".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from bareline.vocabulary.facts import positive_number
from bareline.vocabulary.model import Scalar

Facts = Mapping[str, Scalar]
_BITS = 8.0


def wire_bps(facts: Facts) -> float | None:
    """Return the rate of the link between nodes in bit/s; None if no fact contains it.

    If a rate limit is set on the device, this limit is the rate, even if the link is faster.
    """
    keys = ("net.shaped_bps", "net.speed_bps", "net.rdma.rate_bps")
    rates = (positive_number(facts, key) for key in keys)
    return next((rate for rate in rates if rate is not None), None)


def core_flops(facts: Facts) -> float | None:
    """Return the double-precision peak of a core at its nominal frequency in flop/s, or None."""
    return positive_number(facts, "cpu.peak_flops_per_core")


@dataclass(frozen=True, slots=True)
class PeakShare:
    """The rule that turns a rate of a probe into a share of a peak.

    - `metric`: the name of the share.
    - `of`: the name of the rate.
    - `peak`: returns the peak of one core or one link from a platform's facts, in the rate's unit.
    - `per_core`: the peak is multiplied by the number of cores, which is ranks multiplied by
      threads.
    """

    probe: str
    of: str
    metric: str
    peak: Callable[[Facts], float | None]
    per_core: bool = False


def _wire_bytes(facts: Facts) -> float | None:
    bits = wire_bps(facts)
    if bits is None:
        return None
    return bits / _BITS


WIRE = "share_of_wire"
SHARES = (
    PeakShare("net.nuttcp", "rate", WIRE, wire_bps),
    PeakShare("net.nuttcp_udp", "rate", WIRE, wire_bps),
    PeakShare("net.iperf3", "rate", WIRE, wire_bps),
    PeakShare("net.ib_write_bw", "bandwidth", WIRE, _wire_bytes),
    PeakShare("hpcc", "hpl_rate", "hpl_share_of_peak", core_flops, per_core=True),
)


def with_share_metrics(declarations: pl.DataFrame) -> pl.DataFrame:
    """Add rows for the shares of the declared rates."""
    described = {
        "unit": pl.lit("1"),
        "better": pl.lit("none"),
        "detail": pl.lit(value=True),
        "headline": pl.lit(value=False),
    }
    added = []
    for share in SHARES:
        rate = declarations.filter(probe=share.probe, metric=share.of)
        metric = rate.with_columns(metric=pl.lit(share.metric), **described)
        added.append(metric)
    return pl.concat([declarations, *added])


def share_values(
    trials: pl.DataFrame, values: pl.DataFrame, facts: Mapping[str, Facts]
) -> pl.DataFrame:
    """Return the samples of all shares, with the columns of `values`.

    A rate whose peak is not known has no share.

    - `facts`: the facts of each platform, by its name in `trials`.
    """
    probes = set(trials.get_column("probe").unique())
    parts = [values.clear()]
    for share in SHARES:
        if share.probe not in probes:
            continue
        peaks = _peaks(share, facts)
        on_known = pl.col("platform").is_in(list(peaks))
        of_probe = pl.col("probe") == share.probe
        with_peak = trials.filter(of_probe, on_known)
        if with_peak.is_empty():
            continue
        if share.per_core:
            cores = pl.col("ranks") * pl.col("threads")
        else:
            cores = pl.lit(1)
        each = pl.col("platform").replace_strict(peaks, return_dtype=pl.Float64)
        peaks_of_trials = with_peak.select("row", peak=each * cores)
        rates = values.filter(metric=share.of)
        metric = pl.lit(share.metric).cast(values.schema["metric"])
        shares = rates.join(peaks_of_trials, on="row").with_columns(
            pl.col("value") / pl.col("peak"),
            metric=metric,
        )
        parts.append(shares.select(values.columns))
    return pl.concat(parts)


def _peaks(share: PeakShare, facts: Mapping[str, Facts]) -> dict[str, float]:
    """Return the peak of a rate on each platform whose peak is known."""
    peaks = {}
    for platform, facts_of_platform in facts.items():
        peak = share.peak(facts_of_platform)
        if peak is not None:
            peaks[platform] = peak
    return peaks
