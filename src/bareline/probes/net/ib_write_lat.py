"""ib_write_lat: latency of RDMA writes by message size, below any MPI library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bareline.probes.net._perftest import Perftest
from bareline.vocabulary.model import Metric


class IbWriteLatency(Perftest):
    """Half the round trip of RDMA writes between the first and the last node."""

    name: ClassVar[str] = "net.ib_write_lat"
    title: ClassVar[str] = "RDMA write latency (ib_write_lat)"
    summary: ClassVar[str] = "perftest: latency of RDMA writes by message size"
    source: ClassVar[str] = "ib_write_lat of perftest 2 to 6"
    program: ClassVar[str] = "ib_write_lat"
    metrics: ClassVar[Mapping[str, Metric]] = {
        "latency": Metric("s", "lower"),
        "latency_mean": Metric("s", "lower", detail=True),
        "latency_min": Metric("s", "lower", detail=True),
        "latency_max": Metric("s", "lower", detail=True),
    }


PROBE = IbWriteLatency()
