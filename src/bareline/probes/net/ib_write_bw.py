"""ib_write_bw: bandwidth of RDMA writes by message size, below any MPI library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bareline.probes.net._perftest import Perftest
from bareline.vocabulary.model import Metric


class IbWriteBandwidth(Perftest):
    """RDMA writes from the first node into the last one's memory."""

    name: ClassVar[str] = "net.ib_write_bw"
    title: ClassVar[str] = "RDMA write bandwidth (ib_write_bw)"
    summary: ClassVar[str] = "perftest: bandwidth of RDMA writes by message size"
    source: ClassVar[str] = "ib_write_bw of perftest 2 to 6"
    program: ClassVar[str] = "ib_write_bw"
    metrics: ClassVar[Mapping[str, Metric]] = {
        "bandwidth": Metric("B/s", "higher"),
        "bandwidth_peak": Metric("B/s", "higher", detail=True),
        "message_rate": Metric("op/s", "higher", detail=True),
    }


PROBE = IbWriteBandwidth()
