"""Options of the netns platform type."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, field_validator

from bareline.platforms.hosts.layers.filesystem.options import Networked
from bareline.platforms.localhost.allocation import LocalhostOptions

Shaper = Literal["htb", "tbf"]
_RATE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(k|m|g)bit")
_SCALE = {"k": 10**3, "m": 10**6, "g": 10**9}


def parse_rate(text: str) -> int:
    """Return a rate such as ``10gbit`` in bits per second.

    Raises ValueError: the text is not a rate.
    """
    match = _RATE.fullmatch(text)
    rate = round(float(match[1]) * _SCALE[match[2]]) if match else 0
    if not 1_000_000 <= rate <= 10**13:
        raise ValueError(
            f"'{text[:40]}' is not a rate between 1mbit and 10000gbit, such as 1gbit or 10gbit"
        )
    return rate


class NetnsOptions(LocalhostOptions):
    """Options of a platform of network namespaces.

    - `hosts`: number of hosts.
    - `rate`: rate of each link in each direction, e.g. ``1gbit``; not limited by default.
    - `shaper`: the shaper that limits the rate: ``htb`` limits the rate from the second packet on;
      ``tbf``, the simple token bucket, lets two packets exceed the rate after every pause.
    - `mtu`: largest packet of the links, in bytes.
    - `offloads`: whether the links accept packets of up to 64 KiB, as a NIC with segmentation
      offload does. By default, a limited link accepts packets that it carries in 12 us, because the
      shaper does not limit a single packet. If this machine cannot fill the link with such packets,
      packets of up to 60 us are accepted.
    - `transport`: ``auto`` (TCP between hosts, shared memory inside a host) or ``tcp``
      (everywhere).
    - `cores`: numbers of the cores that are divided among the hosts; by default all cores that this
      process may use. Every host is pinned to its own cores.
    - `filesystem`: a file system on which trials work; it is mounted for the trials only. All hosts
      use the same file system. Its data is stored in `io_folder`.
    """

    hosts: Annotated[int, Field(ge=2, le=16)] = 2
    rate: str | None = None
    shaper: Shaper = "htb"
    mtu: Annotated[int, Field(ge=576, le=65_535)] = 1500
    offloads: bool | None = None
    transport: Literal["auto", "tcp"] = "auto"
    filesystem: Networked | None = None

    @property
    def node_count(self) -> int:
        return self.hosts

    @property
    def cores_per_node(self) -> int:
        cores = self.cores or tuple(sorted(os.sched_getaffinity(0)))
        return len(share_cores(cores, self.hosts)[0])

    @property
    def rate_bits_per_s(self) -> int | None:
        """Rate of a link in bits per second; None if it is not limited."""
        return None if self.rate is None else parse_rate(self.rate)

    @field_validator("rate")
    @classmethod
    def _check_rate(cls, value: str | None) -> str | None:
        if value is not None:
            parse_rate(value)
        return value


def share_cores(cores: Sequence[int], hosts: int) -> tuple[tuple[int, ...], ...]:
    """Divide cores among hosts in equal parts; with too few cores, hosts share a core."""
    each = len(cores) // hosts
    if each == 0:
        return tuple((cores[host % len(cores)],) for host in range(hosts))
    return tuple(tuple(cores[host * each : (host + 1) * each]) for host in range(hosts))
