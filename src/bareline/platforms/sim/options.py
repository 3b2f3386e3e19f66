"""Options of a simulated cluster in a platform file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from bareline.platforms.sim.compute import processors
from bareline.platforms.sim.network import Curve, SimulatedNetwork, constant, preset, presets
from bareline.vocabulary.errors import did_you_mean
from bareline.vocabulary.model import Command
from bareline.vocabulary.platform import REPLAY, Options

#: Probe, ranks, parameters, unit, measured and simulated value.
CheckRow = tuple[str, int, str, str, float, float]

Seconds = Annotated[float, Field(ge=0, le=10)]
Size = Annotated[int, Field(ge=0, le=1 << 40)]
Point = tuple[Size, Annotated[float, Field(gt=0, le=1e4)]]
#: One number for all messages, or pairs of size and seconds like the curve.
Overhead = (
    Seconds | Annotated[tuple[tuple[Size, Seconds], ...], Field(min_length=1, max_length=512)]
)

#: Programs of bareline's Fortran harness, whose computation is recorded and replayed.
RECORDED = re.compile(r"(npb|app)_\w+")
#: Programs whose computation does not depend on their fields, so that ranks may share them.
FOLDED = re.compile(r"npb_(mg|ft|bt|sp|lu)")


def runs_simulated(command: Command) -> bool:
    """Return whether a command can be simulated: a program built for the simulator, or a trace."""
    program = command.argv[0]
    name = PurePath(program).name
    # Benchmarks of overlap need computation that takes simulated time. Benchmarks of overhead wait
    # by the clock, which would never end.
    benchmark = name == "mpibench" and not command.argv[1].startswith(("overlap", "overhead"))
    is_simulated = benchmark or RECORDED.fullmatch(name) or program == REPLAY
    ours = program == f"{{native}}/{name}" and is_simulated
    return bool(ours) and command.mpi and command.server is None and not command.inputs


class SimOptions(Options):
    """Options of a simulated cluster.

    - `nodes`: number of nodes.
    - `cores`: number of cores of each node; if a node has more ranks, its ranks share cores.
    - `network`: name of a network in the list of `bareline platforms networks`; the alternative is
      `curve`.
    - `curve`: one-way time by message size: pairs of bytes and seconds, ascending from 0 bytes;
      `bareline calibrate` writes the curve.
    - `send_overhead_s`: the sending processor's time for each message, which the curve's times
      include. The value is one number, or pairs as in the curve. By default, it is that of the
      named network.
    - `receive_overhead_s`: the receiving processor's time for each message, in the same form as
      `send_overhead_s`.
    - `departure_s`: time from the start of a send until the message leaves; by default the whole
      `send_overhead_s`.
    - `eager_bytes`: message size from which sender and receiver synchronize before a message is
      sent.
    - `source`: origin of the curve.
    - `link_bytes_per_s`: rate of the port of a node in each direction; by default the rate of the
      curve.
    - `both_ways_bytes_per_s`: rate of the port in both directions together; by default, only the
      rate of each direction is limited.
    - `messages_per_s`: largest number of messages of any size that a node's NIC sends, or receives,
      per second. Ranks of a node that send at the same time then wait for each other. By default,
      the limit is that of the named network.
    - `loopback_latency_s`: one-way time of an empty message between ranks of one node.
    - `loopback_bytes_per_s`: rate of large messages between ranks of one node.
    - `loopback_overhead_s`: the processor time that the sender needs for each message inside a
      node; the receiver needs the same time.
    - `loopback_eager_bytes`: message size from which sender and receiver synchronize in a job on
      one node.
    - `oversubscription`: sum of the rates of all nodes' ports, divided by the rate of the switch.
      With 1, the switch never blocks; with 4, it has a quarter of the capacity that the ports could
      use.
    - `library`: the MPI library whose choice of algorithms the collective functions follow.
    - `algorithms`: algorithms that replace the library's choice, by function in lower case, with
      SimGrid's names: e.g. ``{ allreduce = "rdb" }``.
    - `processor`: name of a processor with published rates. Computing times of this machine are
      scaled to these rates. By default, computing times are not scaled.
    - `compute_factor`: additional factor by which computing times are multiplied.
    - `checks`: the measured and simulated values of the calibration, which the result page shows.
    - `fold`: whether the large arrays of all ranks share the same memory, so that large classes of
      NPB's MG, FT, BT, SP and LU fit on this machine. The programs' results are then wrong and not
      verified.
    - `error`: the relative difference between simulation and measurements after the calibration by
      `bareline calibrate`.
    """

    #: All ranks are threads of the simulator, so that no profiler can wrap their MPI functions.
    profiles: ClassVar[bool] = False

    nodes: Annotated[int, Field(ge=1, le=65_536)] = 16
    cores: Annotated[int, Field(ge=1, le=4096)] = 8
    network: str | None = None
    curve: Annotated[tuple[Point, ...], Field(min_length=2, max_length=512)] | None = None
    send_overhead_s: Overhead = 0.0
    receive_overhead_s: Overhead = 0.0
    departure_s: Overhead | None = None
    eager_bytes: Annotated[int, Field(ge=1, le=1 << 40)] = 65_536
    source: str = ""
    link_bytes_per_s: Annotated[float, Field(gt=0, le=1e15)] | None = None
    both_ways_bytes_per_s: Annotated[float, Field(gt=0, le=1e15)] | None = None
    messages_per_s: Annotated[float, Field(gt=0, le=1e12)] | None = None
    loopback_latency_s: Annotated[float, Field(gt=0, le=10)] = 0.4e-6
    loopback_bytes_per_s: Annotated[float, Field(gt=0, le=1e15)] = 5e9
    loopback_overhead_s: Seconds = 0.1e-6
    loopback_eager_bytes: Annotated[int, Field(ge=1, le=1 << 40)] = 4096
    oversubscription: Annotated[float, Field(ge=1, le=1e6)] = 1.0
    library: Literal["openmpi", "mpich"] = "openmpi"
    algorithms: Annotated[dict[str, str], Field(default_factory=dict)]
    processor: str | None = None
    compute_factor: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    checks: tuple[CheckRow, ...] = ()
    fold: bool = False
    error: Annotated[float, Field(ge=0, le=10)] | None = None

    @property
    def node_count(self) -> int:
        return self.nodes

    @property
    def cores_per_node(self) -> int:
        return self.cores

    @field_validator("network", "processor")
    @classmethod
    def _known(cls, name: str | None, info: ValidationInfo) -> str | None:
        names = list(presets() if info.field_name == "network" else processors())
        if name is not None and name not in names:
            hint = did_you_mean(name, names, f"use one of: {', '.join(names)}")
            raise ValueError(f"no {info.field_name} is named '{name}'; {hint}")
        return name

    @field_validator("curve", "send_overhead_s", "receive_overhead_s", "departure_s")
    @classmethod
    def _rising_sizes(cls, curve: Overhead | None) -> Overhead | None:
        if isinstance(curve, tuple):
            sizes = [size for size, _ in curve]
            if sizes[0] != 0 or sizes != sorted(set(sizes)):
                raise ValueError("the sizes must ascend from 0 bytes, without repetition")
        return curve

    @model_validator(mode="after")
    def _fits_together(self) -> SimOptions:
        if 2 * self.loopback_overhead_s > self.loopback_latency_s:
            raise ValueError("loopback_overhead_s is more than half of loopback_latency_s")
        if (self.network is None) == (self.curve is None):
            raise ValueError(f"give either 'network' (one of: {', '.join(presets())}) or 'curve'")
        return self

    def refuses(self, command: Command) -> str:
        return "" if runs_simulated(command) else "does not run simulated"

    def resolve(self) -> SimulatedNetwork:
        """Return the network that the options define."""
        if self.curve is None:
            assert self.network is not None
            named = preset(self.network)
            given = self.messages_per_s
            return named if given is None else replace(named, messages_per_s=given)
        departs = self.send_overhead_s if self.departure_s is None else self.departure_s
        return SimulatedNetwork(
            curve=self.curve,
            send_overhead_s=_by_size(self.send_overhead_s),
            receive_overhead_s=_by_size(self.receive_overhead_s),
            departure_s=_by_size(departs),
            eager_bytes=self.eager_bytes,
            source=self.source or "a curve of the platform file",
            messages_per_s=self.messages_per_s,
        )


def _by_size(overhead: Overhead) -> Curve:
    return overhead if isinstance(overhead, tuple) else constant(overhead)
