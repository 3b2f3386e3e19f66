"""Compute a link's rate, and the share of this rate that remains for data, from facts."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.vocabulary.facts import positive_number
from bareline.vocabulary.model import Scalar

#: Bytes of a frame without payload: Ethernet's preamble, header and gap.
FRAME_BYTES = 38
#: Bytes of the headers of IP and TCP.
HEAD_BYTES = 52
_USUAL_MTU = 1500
LINK_FACTS = ("net.shaped_bps", "net.speed_bps")


def link_bps(facts: Mapping[str, Scalar]) -> float | None:
    """Return the rate of a link in bit/s, or its configured limit if lower; None if unknown."""
    rates = [positive_number(facts, key) for key in LINK_FACTS]
    return min((rate for rate in rates if rate is not None), default=None)


def payload(facts: Mapping[str, Scalar]) -> float:
    """Return the share of a link's rate that is left for data by the headers of TCP and frames."""
    frame_bytes = positive_number(facts, "net.mtu") or _USUAL_MTU
    mtu = max(frame_bytes, 2 * HEAD_BYTES)
    return (mtu - HEAD_BYTES) / (mtu + FRAME_BYTES)
