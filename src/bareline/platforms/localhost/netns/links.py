"""The links between hosts and switch, by ip(8), tc(8) and ethtool(8), and their rate limits.

A shaper sends packets when a timer of the kernel fires. If timers fire late, a link loses part of
its rate, unless the shaper may send more afterwards. If a packet costs the machine more time than
the link needs to carry it, short packets cannot fill the link. Both the lateness and the cost of a
packet are measured, because they differ between machines by an order of magnitude.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bareline.platforms.base import Allocation
from bareline.platforms.localhost.netns.namespaces import Namespaces
from bareline.platforms.localhost.netns.options import NetnsOptions, Shaper
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Command, Layout, Scalar, Server

#: The part of its rate that a link must carry; TCP's headers alone take 5 % at 1500 bytes a frame.
CARRIES = 0.8
_SLEEPS = 100
_SLEEP_S = 50e-6
_SLACK = Path("/proc/self/timerslack_ns")

_RECEIVER = """
import socket, sys, time
connection = socket.create_server(("", int(sys.argv[1]))).accept()[0]
block, count = bytearray(1 << 18), 0
connection.recv_into(block)
start = end = time.perf_counter()
while got := connection.recv_into(block):
    count, end = count + got, time.perf_counter()
connection.sendall(b"%r" % (8 * count / (end - start) if count else 0.0))
"""
_SENDER = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
block, end = bytes(1 << 16), time.perf_counter() + float(sys.argv[3])
while time.perf_counter() < end:
    connection.sendall(block)
connection.shutdown(socket.SHUT_WR)
print(connection.recv(100).decode())
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """The packet size of a limited link, and the rate that it reaches.

    - `packet_bytes`: largest packet that a host gives to its link.
    - `carried_bits_per_s`: the rate of a TCP stream over the link; None if the measurement failed.
    """

    lateness_s: float
    packet_bytes: int
    carried_bits_per_s: float | None

    def facts(self) -> dict[str, Scalar]:
        """Return the facts of the links."""
        carried = self.carried_bits_per_s
        return {
            "netns.timer_lateness_s": self.lateness_s,
            "netns.packet_bytes": self.packet_bytes,
            **({} if carried is None else {"netns.carried_bps": carried}),
        }


def timer_lateness_s() -> float:
    """Return the lateness of this machine's timers, in s: the median of a hundred short sleeps.

    During the measurement, the kernel does not merge this thread's timers with other timers (by
    default it does so within 50 us).
    """
    late = []
    try:
        slack = _SLACK.read_text(encoding="ascii")
        _SLACK.write_text("1", encoding="ascii")
    except OSError:
        slack = ""
    for _ in range(_SLEEPS):
        start = time.perf_counter()
        time.sleep(_SLEEP_S)
        late.append(time.perf_counter() - start - _SLEEP_S)
    if slack:
        _SLACK.write_text(slack, encoding="ascii")
    return max(0.0, median(late))


def carried_bits_per_s(allocation: Allocation) -> float | None:
    """Return the rate of a TCP stream between two hosts: the higher rate of two short streams."""
    to = ("{server_host}", "{server_port}", "0.15")
    command = Command(
        argv=(sys.executable, "-I", "-c", _SENDER, *to),
        server=Server(argv=(sys.executable, "-I", "-c", _RECEIVER, "{server_port}")),
    )
    rates = []
    for _ in range(2):
        with contextlib.suppress(PlatformError, ValueError):
            rates.append(float(allocation.run(command, Layout(2, 1, 1), timeout_s=20.0).stdout))
    return max(rates, default=None)


def choose_packet(
    shortest: int, longest: int, rate_bits_per_s: int, carried: Callable[[int], float | None]
) -> tuple[int, float | None]:
    """Return the shortest packet with which a link reaches its rate limit, and the reached rate.

    - `carried`: sets the link's largest packet, in bytes, and returns the reached rate.

    Longer packets let small messages exceed the rate of the link. The packet length is therefore
    only doubled as long as the reached rate increases.
    """
    packet = shortest
    reached = carried(shortest)
    while reached is not None and reached < CARRIES * rate_bits_per_s and packet < longest:
        longer = min(2 * packet, longest)
        more = carried(longer)
        if more is None or more < 1.05 * reached:
            break
        packet = longer
        reached = more
    return packet, reached


#: Name of the interface in every host.
HOST_DEVICE = "eth0"
_BRIDGE = "br0"
_PREFIX = "10.94.0"
SUBNET = f"{_PREFIX}.0/24"
SWITCH_ADDRESS = f"{_PREFIX}.254"

#: Bytes that the kernel hands over at once when it leaves segmentation to the device.
_LARGEST_PACKET_BYTES = 65_536
_FRAME_BYTES = 14
#: The longest time that one packet may keep a limited link busy. A shaper lets a whole packet pass
#: and delays the next packet, so that one packet is faster than the link. The value is the time of
#: a full frame at 1 Gb/s. The latency of a message is about as long and hides it.
_PACKET_S = 12e-6
#: The same if the machine needs more time for a packet than the link, so that short packets cannot
#: fill the link. A message of one packet is then faster than the link.
_LONG_PACKET_S = 60e-6
#: Limits for the tokens that a link saves during a pause, as time at full rate. They make up for
#: late timers of the kernel. With more tokens, messages would be faster than the link; with fewer,
#: the link would lose rate. The value within these limits is the measured lateness.
_LEAST_SAVED_S = 5e-6
_MOST_SAVED_S = 40e-6
#: Packets that the switch lets pass at once. The sender's link has already spaced them. The
#: switch's link only has to delay them if several senders send to one host.
_SWITCH_PACKETS = 4
#: The bytes of a frame on a wire that the kernel does not count: preamble, checksum, gap. And the
#: shortest frame with them.
_WIRE = "overhead 24 mpu 84"
#: Features that a simple NIC lacks: segmentation and merging of packets, checksums.
_PLAIN = ("tso", "off", "gso", "off", "gro", "off", "tx", "off", "rx", "off")
#: How long a packet may wait in the shaper before it is dropped, as in a switch's buffer.
_QUEUE_S = 0.020


def host_address(index: int) -> str:
    """Return the address of a host by its index, from 0."""
    return f"{_PREFIX}.{index + 1}"


def port(index: int) -> str:
    """Return the name of the network device of the switch to which a host's link leads."""
    return f"port{index + 1}"


def connect(switch: Namespaces, hosts: Sequence[Namespaces], options: NetnsOptions) -> None:
    """Connect every host to a bridge in the switch."""
    mtu = options.mtu
    lines = [
        f"link add {_BRIDGE} type bridge forward_delay 0 mcast_snooping 0",
        f"link set {_BRIDGE} addrgenmode none up",
        f"address add {SWITCH_ADDRESS}/24 dev {_BRIDGE}",
    ]
    for index, host in enumerate(hosts):
        lines += [
            f"link add {port(index)} mtu {mtu} type veth "
            f"peer name {HOST_DEVICE} mtu {mtu} netns {host.pid_in_switch}",
            f"link set {port(index)} addrgenmode none master {_BRIDGE} up",
        ]
    switch.run_checked(["ip", "-batch", "-"], lines)
    for index, host in enumerate(hosts):
        # No IPv6 address: its discovery would send packets in the middle of a measurement.
        up = f"link set {HOST_DEVICE} addrgenmode none up"
        address = f"address add {host_address(index)}/24 dev {HOST_DEVICE}"
        host.run_checked(["ip", "-batch", "-"], [up, address])
        if options.offloads is False:
            host.run_checked(["ethtool", "-K", HOST_DEVICE, *_PLAIN])
            switch.run_checked(["ethtool", "-K", port(index), *_PLAIN])


def shape(
    switch: Namespaces, hosts: Sequence[Namespaces], options: NetnsOptions, rate: int, pace: Pace
) -> None:
    """Limit both directions of every host's link; earlier limits are replaced."""
    packet = pace.packet_bytes

    def lines(device: str) -> list[str]:
        limit = shaper_lines(device, rate, options.shaper, packet, pace.lateness_s)
        # Replacing the root removes an earlier limit, and also works without an earlier limit.
        return [f"qdisc replace dev {device} root pfifo", *limit]

    # Turning segmentation offload off would not shorten packets for the shaper: the kernel splits a
    # packet after the shaper.
    frames = max(1, packet // (options.mtu + _FRAME_BYTES))
    for host in hosts:
        sizes = f"link set {HOST_DEVICE} gso_max_size {packet} gso_max_segs {frames}"
        host.run_checked(["ip", "-batch", "-"], [sizes])
        host.run_checked(["tc", "-batch", "-"], lines(HOST_DEVICE))
    ports = [line for index in range(len(hosts)) for line in lines(port(index))]
    switch.run_checked(["tc", "-batch", "-"], ports)


def packet_range(rate_bits_per_s: int, mtu: int, offloads: bool | None) -> tuple[int, int]:
    """Return the lower and upper limit for the largest packet of a limited link, in bytes.

    By default, the lower limit is the packet that the link carries in 12 us, the time of a full
    frame at 1 Gb/s. The upper limit, for a slow machine, is the packet that it carries in 60 us.
    Both limits are at least a full frame and at most 64 KiB.
    """
    frame = mtu + _FRAME_BYTES
    if offloads is not None:
        packet = _LARGEST_PACKET_BYTES if offloads else frame
        return packet, packet
    least, most = (
        min(_LARGEST_PACKET_BYTES, max(frame, round(rate_bits_per_s / 8 * seconds)))
        for seconds in (_PACKET_S, _LONG_PACKET_S)
    )
    return least, most


def shaper_lines(
    device: str, rate_bits_per_s: int, shaper: Shaper, packet: int, lateness_s: float
) -> list[str]:
    """Return the commands that limit a device's output rate.

    - `packet`: the largest packet, in bytes.

    The token bucket (tbf) splits packets that are larger than its saved tokens, and the splitting
    reduces the rate. The bucket must therefore save tokens for more than the largest packet. htb
    lets the packet pass and waits longer afterwards. Tokens that are saved during a pause
    compensate for late timers.
    """
    rate_bytes_per_s = rate_bits_per_s / 8
    saved = round(rate_bytes_per_s * min(max(lateness_s, _LEAST_SAVED_S), _MOST_SAVED_S))
    if device != HOST_DEVICE:
        saved = max(saved, _SWITCH_PACKETS * packet)
    limit = max(round(rate_bytes_per_s * _QUEUE_S), 4 * _LARGEST_PACKET_BYTES)
    rate = f"rate {rate_bits_per_s}bit"
    if shaper == "tbf":
        burst = max(saved, 2 * packet)
        bounds = f"burst {burst} limit {limit + burst}"
        return [f"qdisc replace dev {device} root tbf {rate} {bounds} {_WIRE}"]
    return [
        f"qdisc replace dev {device} root handle 1: htb default 1",
        f"class add dev {device} parent 1: classid 1:1 htb {rate} burst {saved} cburst {saved} "
        f"quantum {_LARGEST_PACKET_BYTES} {_WIRE}",
        f"qdisc add dev {device} parent 1:1 handle 10: bfifo limit {limit}",
    ]
