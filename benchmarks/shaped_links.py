"""Whether shaped links of network namespaces carry what they say, at every message size.

    python benchmarks/shaped_links.py [--rate 1gbit --rate 10gbit] [--launches 5]

For each rate it measures an MPI ping-pong between two hosts and the throughput of TCP. A link of
rate R delivers a message of S bytes S/R after its first bit at the earliest, and on top comes the
latency, that of 8 bytes. The table gives the measured one-way time over S/R, its median over the
launches, and the bounds that it should lie between: 0.95, and 1.3 plus latency over S/R. Exit
code 1: it does not.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bareline.platforms.base import Allocation, Context
from bareline.platforms.config import make_spec
from bareline.platforms.localhost.netns.options import parse_rate
from bareline.platforms.localhost.netns.platform import NetnsPlatform
from bareline.probes.base import find_probe
from bareline.vocabulary.model import Command, Layout, Server

SIZES_BYTES = (1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10)
SMALLEST_BYTES = 8
FASTEST, SLOWEST = 0.95, 1.3
TWO = Layout(2, 1, 1)
METRIC = "latency"


def one_way_s(allocation: Allocation) -> dict[int, float]:
    """Launch one ping-pong; give the median one-way time of each size."""
    probe = find_probe("mpi.pingpong")
    params = probe.make_params(
        {"min_bytes": SMALLEST_BYTES, "max_bytes": SIZES_BYTES[-1], "budget_s": 0.3}
    )
    output = allocation.run(probe.command(params, TWO), TWO, timeout_s=120)
    return {
        int(sample.point["size_bytes"]): sample.value
        for sample in probe.read(params, output).samples
        if sample.metric == METRIC
    }


def throughput_bits_per_s(allocation: Allocation) -> float:
    """Send a TCP stream for a second."""
    ports = ("-P", "{server_port}", "-p", "{server_data_port}")
    server = Server(argv=("nuttcp", "-S", "--nofork", "-P", "{server_port}"))
    command = Command(argv=("nuttcp", "-T1", *ports, "{server_host}"), server=server)
    said = allocation.run(command, TWO, timeout_s=30).stdout
    match = re.search(r"([\d.]+) Mbps", said)
    return 1e6 * float(match[1]) if match else float("nan")


def measure(options: dict[str, Any], launches: int) -> tuple[dict[int, list[float]], list[float]]:
    """Return one-way times by size and throughputs, a value a launch."""
    spec = make_spec("shaped", {"type": "netns", **options}, where=__file__)
    times: dict[int, list[float]] = {}
    rates = []
    with tempfile.TemporaryDirectory() as scratch:
        platform = NetnsPlatform(spec, Context(Path(scratch)))
        with platform.acquire(TWO) as allocation:
            for _ in range(launches):
                for size, value in one_way_s(allocation).items():
                    times.setdefault(size, []).append(value)
                if shutil.which("nuttcp"):
                    rates.append(throughput_bits_per_s(allocation))
    return times, rates


def rows(rate: int, times: dict[int, list[float]]) -> list[dict[str, Any]]:
    """Hold each size against what the wire alone needs."""
    latency_s = median(times[SMALLEST_BYTES])
    found = []
    for size in SIZES_BYTES:
        wire_s, one_way = size / (rate / 8), median(times[size])
        highest = SLOWEST + latency_s / wire_s
        found.append(
            {
                "size_bytes": size,
                "wire_us": 1e6 * wire_s,
                "one_way_us": 1e6 * one_way,
                "least_us": 1e6 * min(times[size]),
                "ratio": one_way / wire_s,
                "highest": highest,
                "holds": FASTEST <= one_way / wire_s <= highest,
            }
        )
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the table; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", action="append", help="of the links; may be repeated")
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--options", default="{}", help="more options of the platform, as JSON")
    given = parser.parse_args(arguments)
    holds = True
    for rate in given.rate or ("1gbit", "10gbit"):
        options = {"rate": rate, "mpi": "openmpi", **json.loads(given.options)}
        times, rates = measure(options, given.launches)
        print(f"\n{rate}: latency of 8 B {1e6 * median(times[SMALLEST_BYTES]):.1f} us", end="")
        if rates:
            print(f", TCP {100 * median(rates) / parse_rate(rate):.0f} % of the rate", end="")
        print(f", {given.launches} launches\n   KiB  wire/us  one way/us    least  ratio  bounds")
        for row in rows(parse_rate(rate), times):
            holds &= row["holds"]
            print(
                f"{row['size_bytes'] >> 10:6d} {row['wire_us']:8.1f} {row['one_way_us']:11.1f} "
                f"{row['least_us']:8.1f} {row['ratio']:6.2f}  {FASTEST} to {row['highest']:.2f}"
                + ("" if row["holds"] else "  MISSED")
            )
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
