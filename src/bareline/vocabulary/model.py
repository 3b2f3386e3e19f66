"""The values that everything else exchanges: layouts, commands, trials, samples, records.

All are immutable. A trial is the unit of replication; its record is written once.
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
    """Rung of the ladder from raw hardware to application, in the order of display."""

    COMPUTE = "compute"
    MEMORY = "memory"
    NETWORK = "network"
    MPI = "mpi"
    IO = "io"
    NPB = "npb"
    APP = "app"

    @property
    def words(self) -> str:
        """Name of the layer for people, as a heading or the start of a sentence."""
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
    - `better`: which way the metric is good; "none" for context that has no good direction.
    - `detail`: a metric that describes the spread or restates another one: stored and shown on
      demand, but neither compared by default nor part of a verdict.
    """

    unit: str
    better: Better
    detail: bool = False

    @property
    def directed(self) -> bool:
        """Whether more of it is better or worse at all."""
        return self.better != "none"

    def worse(self, value: float | None, base: float | None) -> float | None:
        """Return how many times worse (above 1) a value is; None if undirected, missing or zero."""
        if not self.directed or not value or not base:
            return None
        return value / base if self.better == "lower" else base / value


class Placement(StrEnum):
    """How a study's ranks are laid over the nodes of a platform."""

    SPREAD = "spread"
    PACK = "pack"


@dataclass(frozen=True, slots=True)
class Layout:
    """Nodes x ranks per node x threads per rank, and where on a node they are."""

    nodes: int = 1
    ranks_per_node: int = 1
    threads_per_rank: int = 1
    pinning: Pinning = UNBOUND

    @property
    def ranks(self) -> int:
        """Number of MPI ranks over all nodes."""
        return self.nodes * self.ranks_per_node

    @property
    def cores_per_node(self) -> int:
        """Cores that a node must have so that no rank or thread shares one."""
        return self.ranks_per_node * self.threads_per_rank

    @classmethod
    def spread(cls, ranks: int, most: int) -> Layout:
        """Put as many ranks on each node, at most so many."""
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
            raise ValueError(f"'{text[:40]}' is not a layout such as 2x4x1")
        nodes, ranks, threads = (int(part) for part in counts.split("x"))
        pinning = Pinning.parse(placed) if space else UNBOUND
        return cls(nodes, ranks, threads, pinning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A process that must listen on another node while a command runs.

    `argv` may contain the placeholders of `Command`. The platform picks a free port, starts the
    server, waits until something listens there, and ends it whatever happens to the command.
    """

    argv: tuple[str, ...]
    node: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The command of a probe, independent of any platform.

    - `argv`: program and arguments. In them and in variables' values the platform replaces
      ``{native}`` (folder of bareline's own programs), ``{workdir}`` (a fresh directory on the
      node), ``{nodes}`` (names of the nodes that get ranks, in their order), ``{server_host}``,
      ``{server_port}`` and ``{server_data_port}`` (a second free port).
    - `mpi`: launch one process per rank of the layout through the platform's MPI.
    - `node`: the node on which a command without MPI runs.
    - `inputs`: text files written into the working directory before the start, by name.
    - `outputs`: files of the working directory brought back as `Output.files`.
    - `requires`: programs that must be on the path of every node that is used.
    - `storage_bytes`: most that it writes to measure the file system of the working directory,
      on which so much must be free; 0 when it measures something else.
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
    """The result of a command: everything that a probe's parser may read.

    `exit_code` is negative for death by a signal, as in `subprocess`. `argv` is the command line as
    launched. `caveats` are the disturbances during the command, e.g. stolen processor time. `cut`
    lists in words the parts of its output and its files that were not kept.
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
    """One measured value inside a trial.

    - `value`: finite, in the metric's unit.
    - `point`: parameters of the point inside the trial, e.g. ``{"size_bytes": 8}``.
    - `caveats`: codes of the reasons to doubt this value, in addition to the caveats of the trial.
    """

    metric: str
    value: float
    point: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One planned launch of one probe with one parameter set on one platform.

    - `index`: position in the plan, from 0; with six digits the name of its raw folder.
    - `block`: the randomised complete block it belongs to, from 0; comparisons pair by it.
    - `layout`: the case's ranks on this platform's nodes; None where an import does not say.
    """

    index: int
    block: int
    platform: str
    case: Case
    layout: Layout | None
    timeout_s: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A measurement that is the same on every platform and is thus compared.

    `params` is the canonical text of the probe's parameters (see `format_point`). `profile`:
    the profiler is loaded; values with and without it are never compared. `pinning`
    is the text of a `Pinning` that the study asks for, empty where the platform's own applies.
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
        """Short name for people, e.g. ``mpi.allreduce, 2 ranks``."""
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
    """Where a trial failed; no trial is planned any more that fails by its layout.

    A trial whose program is not installed where it should run was skipped: the
    platform has no fault and no measurement. A trial that ran out of its own time budget ended
    well and measured nothing. A trial that was given up was not started either: the
    trials before it met their time limit, one after the other.
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
    """A trial that delivered every metric that its probe declares."""

    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A trial that delivered nothing, and why; never dropped, never a number.

    - `code`: the code of the error that was the reason, if it has one.
    """

    stage: Stage
    reason: str
    code: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The immutable outcome of one trial, one line of ``records.jsonl``.

    - `session`: which time that bareline sat at the run, from 1; `bareline continue` begins one.
    - `boot`: which boot of its platform it ran in, from 1; None where nodes are the same each time.
    - `foreign_cores`: cores that other processes of this machine used on average; None if unknown.
    - `launch`: hash of the launch that an imported trial belongs to; empty where it was measured.
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
        """Whether the trial delivered numbers."""
        return "measured" if isinstance(self.outcome, Measured) else "failed"

    @property
    def skipped(self) -> bool:
        """Whether nothing was tried, since a program is not installed."""
        return isinstance(self.outcome, Failed) and self.outcome.stage is Stage.ABSENT


_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/+*-]*")
_DECODER = json.JSONDecoder()


def format_point(point: Mapping[str, Scalar]) -> str:
    """Write parameters sorted by name, ``size_bytes=8 mode="a b"``: texts are quoted as in JSON."""
    return " ".join(f"{key}={_format_scalar(point[key])}" for key in sorted(point))


def _format_scalar(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _BARE.fullmatch(value) and value not in ("true", "false", "NaN", "Infinity")
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be a parameter")
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def parse_point(text: str) -> dict[str, Scalar]:
    """Parse a text of `format_point`; raises ValueError if it is not a list of ``key=value``."""
    return dict(_scan_point(text))


@lru_cache(maxsize=4096)
def _scan_point(text: str) -> list[tuple[str, Scalar]]:
    """Read a text once: a table has the same few in thousands of rows."""
    pairs: list[tuple[str, Scalar]] = []
    position = 0
    while position < len(text):
        key, equals, _ = text[position:].partition("=")
        if not equals or not _BARE.fullmatch(key):
            raise ValueError(f"not a parameter list: {text!r}")
        position += len(key) + 1
        value, position = _scan_value(text, position)
        pairs.append((key, value))
        if position < len(text):
            if text[position] != " " or position + 1 == len(text):
                raise ValueError(f"not a parameter list: {text!r}")
            position += 1
    return pairs


def _scan_value(text: str, position: int) -> tuple[Scalar, int]:
    """Return the value at a position, and the position behind it."""
    bare = _BARE.match(text, position)
    if bare and bare[0] not in ("true", "false"):
        return bare[0], bare.end()
    value, end = _DECODER.raw_decode(text, position)
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"not a scalar in {text!r}")
    return value, end
