"""The values that all packages exchange: layouts, commands, trials, samples, records.

All of them are immutable. A trial is the unit of replication; its record is written once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from bareline.vocabulary.pinning import UNBOUND, Pinning
from bareline.vocabulary.sanitize import sanitized_name

Scalar = str | int | float | bool
Better = Literal["lower", "higher", "none"]
Clock = Literal["wall", "simulated"]

#: Environment variable that marks every process of a trial as ``<owner>-<run>-<trial index>``, so
#: that the processes of a killed bareline can be found and ended without touching the processes of
#: another one, even if it runs a copy of the same run.
TRIAL_VARIABLE = "BARELINE_TRIAL"


class Layer(StrEnum):
    """A layer between raw hardware and application; the order is the order of display."""

    COMPUTE = "compute"
    MEMORY = "memory"
    NETWORK = "network"
    MPI = "mpi"
    IO = "io"
    NPB = "npb"
    APP = "app"

    @property
    def words(self) -> str:
        """The name of the layer for people, as a heading or at the start of a sentence."""
        return _LAYER_WORDS.get(self, self.capitalize())


#: Layers of whole programs, whose time is computing and messages together.
PROGRAM_LAYERS = (Layer.NPB, Layer.APP)

_LAYER_WORDS = {
    Layer.MPI: "MPI",
    Layer.IO: "Storage",
    Layer.NPB: "NAS Parallel Benchmarks",
    Layer.APP: "Applications",
}


#: Layers whose figures depend on the processor: an emulated one is not evidence about hardware.
PROCESSOR_LAYERS = (Layer.COMPUTE, Layer.MEMORY, Layer.NPB, Layer.APP)


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity that a probe measures.

    - `unit`: one of `bareline.vocabulary.units.BASE_UNITS`.
    - `better`: the good direction of the metric; "none" if it has no good direction.
    - `detail`: the metric describes the spread, or repeats another metric. It is stored and shown
      on request, but neither compared by default nor part of a verdict.
    """

    unit: str
    better: Better
    detail: bool = False

    @property
    def directed(self) -> bool:
        """Whether the metric has a good direction."""
        return self.better != "none"

    def worse(self, value: float | None, base: float | None) -> float | None:
        """Return how many times worse than `base` a value is; None if undirected, absent or 0."""
        if not self.directed or not value or not base:
            return None
        return value / base if self.better == "lower" else base / value


class Placement(StrEnum):
    """How a study distributes ranks over the nodes of a platform."""

    SPREAD = "spread"
    PACK = "pack"


@dataclass(frozen=True, slots=True)
class Layout:
    """The numbers of nodes, of ranks per node and of threads per rank, and the pinning of ranks."""

    nodes: int = 1
    ranks_per_node: int = 1
    threads_per_rank: int = 1
    pinning: Pinning = UNBOUND

    @property
    def ranks(self) -> int:
        """The number of MPI ranks over all nodes."""
        return self.nodes * self.ranks_per_node

    @property
    def cores_per_node(self) -> int:
        """The number of cores that a node needs, so that no two ranks or threads share a core."""
        return self.ranks_per_node * self.threads_per_rank

    @classmethod
    def spread(cls, ranks: int, most: int) -> Layout:
        """Return a layout of `ranks` ranks, the same number (at most `most`) on each node."""
        each = max(n for n in range(1, min(most, ranks) + 1) if ranks % n == 0)
        return cls(ranks // each, each)

    def __str__(self) -> str:
        placed = "" if self.pinning == UNBOUND else f" {self.pinning}"
        return f"{self.nodes}x{self.ranks_per_node}x{self.threads_per_rank}{placed}"

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Parse a layout, e.g. ``2x1x1``; raises ValueError for any other text."""
        counts, space, placed = text.partition(" ")
        if not re.fullmatch(r"[1-9][0-9]{0,8}(x[1-9][0-9]{0,8}){2}", counts):
            raise ValueError(f"'{text[:40]}' is not a valid layout; write it like 2x4x1")
        nodes, ranks, threads = (int(part) for part in counts.split("x"))
        pinning = Pinning.parse(placed) if space else UNBOUND
        return cls(nodes, ranks, threads, pinning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A process that must listen on another node while a command runs.

    `argv` may contain the placeholders of `Command`. The platform chooses a free port, starts the
    server, waits until the port is open, and ends the server even if the command fails.
    """

    argv: tuple[str, ...]
    node: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The command of a probe, independent of any platform.

    - `argv`: the program and its arguments. In them and in the values of variables, the platform
      replaces ``{native}`` (the folder of bareline's own programs), ``{workdir}`` (a fresh
      directory on the node), ``{nodes}`` (the names of the nodes that get ranks, in their order),
      ``{server_host}``, ``{server_port}`` and ``{server_data_port}`` (a second free port).
    - `mpi`: launch one process per rank of the layout through the platform's MPI.
    - `node`: the node on which a command without MPI runs.
    - `inputs`: text files that are written into the working directory before the start, by name.
    - `outputs`: files of the working directory that are returned as `Output.files`.
    - `requires`: programs that must be on the path of every node that is used.
    - `storage_bytes`: the maximum that the command writes to measure the file system of the working
      directory, which must have as much free space; 0 if the command measures something else.
    """

    argv: tuple[str, ...]
    mpi: bool = False
    node: int = 0
    env: tuple[tuple[str, str], ...] = ()
    server: Server | None = None
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    storage_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The result of a command: everything that the parser of a probe may read.

    - `exit_code`: negative if a signal ended the command, as in `subprocess`.
    - `argv`: the command line as it was launched.
    - `caveats`: disturbances during the command, e.g. stolen processor time.
    - `cut`: the parts of the output and of the files that were not kept, in words.
    """

    stdout: str
    stderr: str
    exit_code: int
    duration_s: float
    timed_out: bool = False
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    argv: tuple[str, ...] = ()
    clock: Clock = "wall"
    caveats: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured value of a trial.

    - `value`: a finite number in the metric's unit.
    - `point`: the parameters of the point in the trial, e.g. ``{"size_bytes": 8}``.
    - `caveats`: codes of the reasons to doubt this value, in addition to the caveats of the trial.
    """

    metric: str
    value: float
    point: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One planned launch of one probe, with one set of parameters on one platform.

    - `index`: the position in the plan, from 0; with six digits it is the name of the raw folder.
    - `block`: the number of the randomised complete block, from 0; comparisons pair by blocks.
    - `layout`: the case's ranks on this platform's nodes; None if an import does not contain it.
    """

    index: int
    block: int
    platform: str
    case: Case
    layout: Layout | None
    timeout_s: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A measurement that is the same on every platform, so that it can be compared.

    - `params`: the canonical text of the probe's parameters (see `format_point`).
    - `profile`: the profiler is loaded; values with and without it are never compared.
    - `pinning`: the text of a `Pinning` that the study requests; empty for the platform's own
      pinning.
    """

    probe: str
    params: str = ""
    ranks: int = 1
    threads: int = 1
    nodes: int | None = None
    placement: Placement = Placement.SPREAD
    profile: bool = False
    pinning: str = ""

    @property
    def label(self) -> str:
        """A short name for people, e.g. ``mpi.allreduce, 2 ranks``."""
        parts = [self.probe]
        if self.ranks > 1:
            parts.append(f"{self.ranks} ranks")
        if self.threads > 1:
            parts.append(f"{self.threads} threads")
        if self.nodes is not None:
            noun = "node" if self.nodes == 1 else "nodes"
            parts.append(f"{self.nodes} {noun}")
        if self.params:
            parts.append(sanitized_name(self.params))
        if self.pinning:
            parts.append(Pinning.parse(self.pinning).words)
        if self.profile:
            parts.append("profiled")
        return ", ".join(parts)


class Stage(StrEnum):
    """The stage at which a trial failed.

    - If the layout caused the failure, no further trial with it is planned.
    - If the program is not installed, the trial was skipped: the platform has no measurement.
    - If the trial's own time budget was too short, the program ended well and measured nothing.
    - A trial that was given up was not started: trials before it had exceeded their time limit.
    """

    LAYOUT = "layout"
    ACQUIRE = "acquire"
    REQUIRE = "require"
    ABSENT = "absent"
    TIMEOUT = "timeout"
    GIVEN_UP = "given-up"
    SIGNAL = "signal"
    EXIT = "exit"
    PARSE = "parse"
    BUDGET = "budget"
    PLATFORM = "platform"


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a trial that measured every metric that its probe declares."""

    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """The result of a trial that measured nothing, with the reason.

    A failure is never dropped and never becomes a number.

    - `code`: the code of the error that was the reason, if the error has a code.
    """

    stage: Stage
    reason: str
    code: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The immutable outcome of one trial, one line of ``records.jsonl``.

    - `session`: number of the session in the run, from 1; `bareline continue` begins a session.
    - `boot`: the number of the platform's boot in which the trial ran, from 1; None if the platform
      does not boot.
    - `foreign_cores`: cores that other processes of this machine used on average; None if unknown.
    - `launch`: the hash of the launch to which an imported trial belongs; else empty.
    """

    trial: Trial
    outcome: Measured | Failed
    started: str
    duration_s: float
    caveats: tuple[str, ...] = ()
    clock: Clock = "wall"
    attempt: int = 1
    session: int = 1
    boot: int | None = None
    foreign_cores: float | None = None
    launch: str = ""

    @property
    def status(self) -> Literal["measured", "failed"]:
        """Whether the trial measured numbers."""
        return "measured" if isinstance(self.outcome, Measured) else "failed"

    @property
    def skipped(self) -> bool:
        """Whether the trial was not launched because a program is not installed."""
        return isinstance(self.outcome, Failed) and self.outcome.stage is Stage.ABSENT


_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/+*-]*")
_DECODER = json.JSONDecoder()


def format_point(point: Mapping[str, Scalar]) -> str:
    """Format parameters, sorted by name: ``size_bytes=8 mode="a b"``, texts quoted as in JSON."""
    return " ".join(f"{key}={_format_scalar(point[key])}" for key in sorted(point))


def _format_scalar(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _BARE.fullmatch(value) and value not in ("true", "false", "NaN", "Infinity")
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be the value of a parameter")
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def parse_point(text: str) -> dict[str, Scalar]:
    """Parse a text of `format_point`; raises ValueError if it is not a list of ``key=value``."""
    return dict(_scan_point(text))


@lru_cache(maxsize=4096)
def _scan_point(text: str) -> list[tuple[str, Scalar]]:
    """Parse a text, cached: a table has the same few texts in thousands of rows."""
    pairs: list[tuple[str, Scalar]] = []
    position = 0
    while position < len(text):
        key, equals, _ = text[position:].partition("=")
        if not equals or not _BARE.fullmatch(key):
            raise ValueError(f"{text!r} is not a list of parameters like a=1 b=2")
        position += len(key) + 1
        value, position = _scan_value(text, position)
        pairs.append((key, value))
        if position < len(text):
            if text[position] != " " or position + 1 == len(text):
                raise ValueError(f"{text!r} is not a list of parameters like a=1 b=2")
            position += 1
    return pairs


def _scan_value(text: str, position: int) -> tuple[Scalar, int]:
    """Return the value at a position, and the position after it."""
    bare = _BARE.match(text, position)
    if bare and bare[0] not in ("true", "false"):
        return bare[0], bare.end()
    value, end = _DECODER.raw_decode(text, position)
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"a value in {text!r} is neither a text nor a number nor true or false")
    return value, end
