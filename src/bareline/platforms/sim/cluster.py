"""The input of the simulator: SimGrid's description of the cluster, and the cost of messages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bareline.platforms.sim.network import LEAST_S, SimulatedNetwork
from bareline.platforms.sim.options import SimOptions
from bareline.vocabulary.collectives import COLLECTIVES

#: Speed of every simulated core. Its value has no effect, because computing times are converted to
#: operations with the same speed.
SPEED = "1Gf"


def made_anew(library: str, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """Return the collective functions that bareline's simulator implements itself.

    Functions for which the user has chosen an algorithm are left out. SimGrid's own algorithms for
    the returned functions differ from Open MPI's.
    """
    if library != "openmpi":
        return ()
    names = (function.name for function in COLLECTIVES.values() if function.anew)
    return tuple(name for name in names if name not in chosen)


def collectives(library: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return SMPI's options for the algorithms of collective functions.

    An algorithm is the user's choice, or else the choice of the MPI library.
    """
    selector = "ompi" if library == "openmpi" else library
    options = {"smpi/coll-selector": selector}
    for function, name in sorted(chosen.items()):
        options[f"smpi/{function}"] = name
    return options


def _port_rate(options: SimOptions, network: SimulatedNetwork) -> float:
    return options.link_bytes_per_s or network.port_bytes_per_s


def _link_s(network: SimulatedNetwork) -> str:
    """Return the latency of a simulated link: half the wire time of an empty message."""
    _, empty_s = network.wire()[0]
    return f"{empty_s / 2:.12f}"


def cluster_xml(options: SimOptions, network: SimulatedNetwork) -> str:
    """Return SimGrid's description of the cluster.

    A message between two nodes passes two links; each link has half of the latency.
    """
    rate = _port_rate(options, network)
    backbone = limiter = ""
    if options.both_ways_bytes_per_s is not None:
        # A message at its full speed uses the whole rate of the port, and as much of the limiter.
        ratio = options.both_ways_bytes_per_s * network.seconds_per_byte
        both_ways = max(ratio, 1.0) * rate
        limiter = f' limiter_link="{both_ways:.6f}Bps"'
    if options.oversubscription > 1:
        shared = options.nodes * rate / options.oversubscription
        backbone = f' bb_bw="{shared:.6f}Bps" bb_lat="0s"'
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="n" suffix="" radical="0-{options.nodes - 1}" speed="{SPEED}"
    core="{options.cores}" bw="{rate:.6f}Bps" lat="{_link_s(network)}s" sharing_policy="SPLITDUPLEX"
    loopback_bw="{options.loopback_bytes_per_s:.6f}Bps"
    loopback_lat="{options.loopback_latency_s:.12f}s"{backbone}{limiter}/>
</platform>
"""


def eager_bytes(options: SimOptions, network: SimulatedNetwork, nodes: int) -> int:
    """Return the message size, in bytes, from which sender and receiver of a job synchronize.

    SMPI has a single size for all messages of a job. In a job on one node, the size is that of
    shared memory, which does not depend on the network.
    """
    if nodes == 1:
        return options.loopback_eager_bytes
    return network.eager_bytes


def costs_within(options: SimOptions, eager_bytes: int) -> dict[str, str]:
    """Return the cost of a message within a node, in the simulator's format.

    - `eager_bytes`: message size from which sender and receiver synchronize. For larger
      messages, the simulator leaves out the processor's overheads. The latency of larger messages
      therefore includes the overheads, so that the total time has no step at this size.
    """
    latency_s = options.loopback_latency_s
    overhead_s = options.loopback_overhead_s
    eager_latency_s = max(latency_s - 2 * overhead_s, LEAST_S)
    last = eager_bytes - 1
    overhead = f"0:{overhead_s:.12g};{last}:0"
    return {
        "latency_s": f"0:{eager_latency_s:.12g};{last}:{latency_s:.12g}",
        "seconds_per_byte": f"0:{1 / options.loopback_bytes_per_s:.9g}",
        "departure_s": overhead,
        "send_s": overhead,
        "receive_s": overhead,
    }


def settings(options: SimOptions, network: SimulatedNetwork, nodes: int, description: Path) -> str:
    """Return the simulator's settings for messages, in a job on a number of nodes."""
    within = costs_within(options, eager_bytes(options, network, nodes))
    gap_s = 1 / network.messages_per_s if network.messages_per_s else 0.0
    lines = {
        "description": str(description),
        "collectives": " ".join(made_anew(options.library, options.algorithms)),
        "port_bytes_per_s": f"{_port_rate(options, network):.6f}",
        "loopback_bytes_per_s": f"{options.loopback_bytes_per_s:.6f}",
        "latency_s": f"{2 * float(_link_s(network)):.12g}",
        "loopback_latency_s": f"{options.loopback_latency_s:.12f}",
        "message_gap_s": f"{gap_s:.12g}",
        **{f"within.{name}": text for name, text in within.items()},
        **{f"between.{name}": text for name, text in network.costs().items()},
    }
    return "".join(f"{key} {value}\n" for key, value in lines.items())
