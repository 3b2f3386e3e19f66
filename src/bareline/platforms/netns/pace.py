"""How finely this machine can pace a limited link: its timers, and its way from host to host.

A shaper lets packets go when a timer of the kernel fires. Where timers fire late, a link that saves
up nothing loses its rate; where a packet costs the machine more time than the link would need for
it, short packets cannot fill the link. Both differ from machine to machine by an order of
magnitude, most of all where the machine is itself a guest, so they are measured.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bareline.platforms.base import Allocation
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Command, Layout, Scalar, Server

#: What a link must carry of its rate; TCP's headers alone take 5 % at 1500 bytes a frame.
CARRIES = 0.8
#: A longer packet must carry so much more, or it only outruns the link.
_GAIN = 1.05
_SLEEPS, _SLEEP_S = 100, 50e-6
_SLACK = Path("/proc/self/timerslack_ns")
_STREAM_S = 0.15
_TRIES = 2
_TWO = Layout(2, 1, 1)

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
    """How a limited link is paced.

    - `packet_bytes`: largest packet that a host hands to its link.
    - `carried_bits_per_s`: what a TCP stream reached over it; None when it could not be measured.
    """

    lateness_s: float
    packet_bytes: int
    carried_bits_per_s: float | None

    def falls_short(self, rate_bits_per_s: int | None) -> bool:
        """Tell whether the links carry clearly less than their rate."""
        carried = self.carried_bits_per_s
        return bool(carried is not None and rate_bits_per_s and carried < CARRIES * rate_bits_per_s)

    def facts(self) -> dict[str, Scalar]:
        """Describe the links."""
        carried = self.carried_bits_per_s
        return {
            "netns.timer_lateness_s": self.lateness_s,
            "netns.packet_bytes": self.packet_bytes,
            **({} if carried is None else {"netns.carried_bps": carried}),
        }


def timer_lateness_s() -> float:
    """Measure how late a timer of this machine fires: the median of a hundred short sleeps.

    Meanwhile the kernel does not put this thread's timers together with others (50 us by default).
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
    """Measure what a TCP stream reaches between two hosts, the better of two short ones."""
    to = ("{server_host}", "{server_port}", str(_STREAM_S))
    command = Command(
        argv=(sys.executable, "-I", "-c", _SENDER, *to),
        server=Server(argv=(sys.executable, "-I", "-c", _RECEIVER, "{server_port}")),
    )
    found = []
    for _ in range(_TRIES):
        with contextlib.suppress(PlatformError, ValueError):
            found.append(float(allocation.run(command, _TWO, timeout_s=20.0).stdout))
    return max(found, default=None)


def choose_packet(
    shortest: int, longest: int, rate_bits_per_s: int, carried: Callable[[int], float | None]
) -> tuple[int, float | None]:
    """Choose the shortest packet with which a link carries its rate; give what it carries too.

    `carried` paces the link with packets of so many bytes and tells what it carries then. Packets
    are doubled as long as that gains something: each of them passes as a whole, so longer ones let
    small messages outrun the link.
    """
    packet, reached = shortest, carried(shortest)
    while reached is not None and reached < CARRIES * rate_bits_per_s and packet < longest:
        longer = min(2 * packet, longest)
        more = carried(longer)
        if more is None or more < _GAIN * reached:
            break
        packet, reached = longer, more
    return packet, reached
