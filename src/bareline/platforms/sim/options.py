"""Options of a simulated cluster, as in a platform file."""

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
#: The same for every message, or by its size like the curve.
Overhead = (
    Seconds | Annotated[tuple[tuple[Size, Seconds], ...], Field(min_length=1, max_length=512)]
)

#: Programs of our Fortran harness, whose computation is recorded and injected.
RECORDED = re.compile(r"(npb|app)_\w+")
#: Programs whose computation does not depend on their fields, so that ranks may share them.
FOLDED = re.compile(r"npb_(mg|ft|bt|sp|lu)")


def runs_simulated(command: Command) -> bool:
    """Return whether a command is a program that is built for the simulator, or a trace."""
    program = command.argv[0]
    name = PurePath(program).name
    # An overlap of messages with computation needs computation that takes simulated time, and a
    # wait by the clock would never end.
    benchmark = name == "mpibench" and not command.argv[1].startswith(("overlap", "overhead"))
    is_simulated = benchmark or RECORDED.fullmatch(name) or program == REPLAY
    ours = program == f"{{native}}/{name}" and is_simulated
    return bool(ours) and command.mpi and command.server is None and not command.inputs


class SimOptions(Options):
    """Options of a simulated cluster.

    - `nodes`: number of nodes.
    - `cores`: cores of each; ranks beyond them share.
    - `network`: a network by name (`bareline platforms networks` lists them); or `curve`.
    - `curve`: one-way time by message size: pairs of bytes and seconds, rising from 0 bytes;
      `bareline calibrate` writes it.
    - `send_overhead_s`, `receive_overhead_s`: a processor's time for each message; part of the
      curve's times. One number, or by size like the curve. With a named network, its own.
    - `departure_s`: when a message leaves, after its send began; once the sender has done all for
      it without.
    - `eager_bytes`: from this size on sender and receiver meet before a message is sent.
    - `source`: where the curve comes from.
    - `link_bytes_per_s`: rate of the port of a node in each direction; the rate of the curve
      without it.
    - `both_ways_bytes_per_s`: its rate in both directions together; by default the rate of
      each direction alone.
    - `messages_per_s`: how many messages the NIC of a node takes in each direction, whatever their
      size: ranks of a node that send at once wait for each other there. With a named network, its
      own.
    - `loopback_latency_s`, `loopback_bytes_per_s`: one-way time of an empty message between ranks
      of one node, and its rate; the network has no part in them.
    - `loopback_overhead_s`: a processor's time for each message sent there, and again for each
      received.
    - `loopback_eager_bytes`: from which size on sender and receiver meet in a job on one node.
    - `oversubscription`: how many times more the ports of all nodes carry than the switch: 1 is a
      switch that never blocks, 4 one with a quarter of the capacity.
    - `library`: whose choice of algorithms the collective functions follow.
    - `algorithms`: other algorithms, by function in lower case, e.g. ``{ allreduce = "rdb" }``;
      SimGrid's names.
    - `processor`: a processor by name, with printed rates: computation takes as many times as long
      as on the machine that simulates as that is faster. Without one it is the machine's own.
    - `compute_factor`: computation takes this many times as long as on that processor.
    - `checks`: the measured and simulated values of the calibration, for the page.
    - `fold`: the large arrays of all ranks share one memory, for NPB's MG, FT, BT, SP and LU of
      large classes: none of their results is then right or verified.
    - `error`: the relative difference of calibration and measurements that `bareline calibrate`
      found.
    """

    #: All ranks are threads of the simulator, whose MPI functions no profiler can wrap.
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
        """Return the network that is meant."""
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
