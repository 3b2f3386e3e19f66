"""The option `neighbours`: other tenants of the measured machines, and checks of their loads."""

from __future__ import annotations

import contextlib
import os
import select
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bareline.host.tools import require
from bareline.platforms.hosts.nodes import Nodes
from bareline.platforms.hosts.process import holding
from bareline.platforms.hosts.serving import Ports, serving
from bareline.platforms.hosts.workdir import folder_name
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar

Load = Literal["idle", "cpu", "memory", "network", "disk", "same"]
#: Loads of a tenant: arithmetic in registers; STREAM's four loops over arrays that fit into no
#: cache; repeated writes of a file with fsync.
_STRESSES: Mapping[str, tuple[str, ...]] = {
    "cpu": ("--cpu-method", "double", "--cpu"),
    "memory": ("--stream-l3-size", "32M", "--stream"),
    "disk": ("--hdd-bytes", "64M", "--hdd-opts", "wr-seq,fsync", "--hdd"),
}


class Neighbours(BaseModel):
    """Other tenants of the measured nodes, busy only while a trial runs.

    Platforms that differ only in `count` show the cost of a neighbour.

    - `count`: number of neighbours on every node.
    - `load`: the work of each neighbour while a trial runs: ``cpu`` (arithmetic), ``memory``
      (bandwidth), ``disk`` (writes into the measured folder), ``network`` (TCP streams from every
      node to the next node, and back), ``same`` (the measured command, repeatedly), or ``idle``.
    - `workers`: number of programs or TCP streams of each neighbour on every node; by default the
      number of a node's cores, so that a neighbour is as large as the measured tenant.
    - `cores`: numbers of this machine's cores on which neighbours run; by default the cores of the
      measured nodes, which nodes and neighbours then share.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    count: Annotated[int, Field(ge=0, le=64)] = 0
    load: Load = "cpu"
    workers: Annotated[int, Field(ge=1, le=512)] | None = None
    cores: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Neighbours:
        if self.load in ("idle", "same") and (self.workers or self.cores):
            raise ValueError(
                f'neighbours of load = "{self.load}" take neither the key workers nor the key cores'
            )
        return self

    @property
    def busy(self) -> bool:
        """Whether any neighbour runs during a trial."""
        return self.count > 0 and self.load != "idle"

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that the neighbours' load needs.

        A platform with a `count` of 0 also requires them, so that platforms that differ only in
        `count` have the same programs.
        """
        if self.load in ("idle", "same"):
            return ()
        if self.load == "network":
            return ("iperf3",)
        return ("stress-ng",)

    def check(self) -> None:
        """Check that the programs of the neighbours' load are installed here."""
        if self.busy:
            require(*self.programs, why="which keeps neighbours busy")

    def stress_argv(self, workers: int, folder: str) -> list[str]:
        """Return the command line of one neighbour on a node, for a load that stress-ng makes."""
        argv = ["stress-ng", "--quiet", *_STRESSES[self.load], str(workers)]
        return [*argv, "--temp-path", folder] if folder else argv

    def sharing(self, cores_per_node: int) -> dict[str, Scalar]:
        """Return facts: the neighbours' cores, and the number of promised processors per core.

        The promised processors are those of the node, and one more for each worker of a neighbour.
        """
        facts: dict[str, Scalar] = {}
        if self.busy:
            cores = ", ".join(map(str, self.cores or ()))
            facts["neighbours.cores"] = cores or "those of the nodes"
        promised = cores_per_node
        if self._shares_cores:
            promised += self.count * (self.workers or cores_per_node)
        facts["neighbours.processors_per_core"] = round(promised / cores_per_node, 3)
        return facts

    @property
    def _shares_cores(self) -> bool:
        """Whether the neighbours work on the cores of the measured nodes."""
        return self.busy and self.cores is None

    def caveats(self) -> tuple[str, ...]:
        """Return the reasons to doubt numbers that are measured next to the neighbours."""
        if self._shares_cores:
            return ("cores-with-neighbours",)
        return ()


_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
#: A load works if it has used this processor time.
_READY_TICKS = 1
#: The same for a load that only computes.
_READY_TICKS_ARITHMETIC = 3
_READY_S = 30.0
_ANSWER_S = 30.0
_POLL_S = 0.02
#: A load that only computes must have had this part of its fair share of a core: other programs
#: may also use the machine.
_LEAST_OF_FAIR = 0.02
#: Limit for the wait until the kernel has counted a tick, as a trial may end earlier.
_LATE_S = 10.0
_TAIL_BYTES = 4096


@contextmanager
def busy_neighbours(
    tenants: Sequence[Nodes], neighbours: Neighbours | None, token: str
) -> Iterator[None]:
    """Keep neighbours busy during the context, and check afterwards that they were busy."""
    with _working(tenants, neighbours, token) as loads:
        yield
        for load in loads:
            load.must_have_worked()


def facts_of(tenants: Sequence[Nodes], neighbours: Neighbours, cores: int) -> dict[str, Scalar]:
    """Return the facts of the neighbours; make a short test of their load."""
    facts: dict[str, Scalar] = {"neighbours.count": neighbours.count}
    if neighbours.count:
        facts["neighbours.load"] = neighbours.load
    if neighbours.busy and neighbours.load != "same":
        facts["neighbours.workers"] = neighbours.workers or cores
        with _working(tenants, neighbours, "") as loads:
            readings = [load.read() for load in loads]
            time.sleep(0.3)
            pairs = zip(loads, readings, strict=True)
            shares = [load.share_since(reading) for load, reading in pairs]
        facts["neighbours.busy_cores"] = round(sum(shares), 2)
    return facts


@contextmanager
def _working(
    tenants: Sequence[Nodes], neighbours: Neighbours | None, token: str
) -> Iterator[Sequence[_Load]]:
    if neighbours is None or not neighbours.busy:
        yield ()
        return
    with ExitStack() as stack:
        loads = []
        for number, places in enumerate(tenants, 1):
            for node in range(len(places.nodes)):
                loads.append(_Load(places, neighbours, token, stack, number, node))
        for load in loads:
            load.wait_working()
        yield loads


@dataclass(frozen=True, slots=True)
class _Reading:
    """Processor time and number of processes of a load, at one time of the monotonic clock."""

    at_s: float
    processes: int
    ticks: int


class _Load:
    """The load of one neighbour on one node; the load reports the processor time that it used."""

    def __init__(
        self,
        places: Nodes,
        neighbours: Neighbours,
        token: str,
        stack: ExitStack,
        number: int,
        node: int,
    ) -> None:
        self._places = places
        self._neighbours = neighbours
        self._stack = stack
        self._mark = {TRIAL_VARIABLE: token} if token else {}
        self._env = places.server_environment(self._mark)
        workers = neighbours.workers or places.nodes[node].cores
        folder = ""
        if neighbours.load == "disk":
            name = f"{folder_name(token)}-neighbour{number}-{node}"
            folder = f"{places.work_folder()}/{name}"
        if neighbours.load == "network":
            argv = self._streams(node, workers)
        else:
            argv = neighbours.stress_argv(workers, folder)
        self._name = f"neighbour {number} on {places.nodes[node].name}"
        self._errors = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        line = self._line(node, argv, folder)
        holder = holding(line, env=self._env, errors=self._errors)
        self._process = stack.enter_context(holder)
        # The smallest permitted share of a processor for a load that only computes; else 0.
        self._least = 0.0
        if neighbours.load in ("cpu", "memory"):
            self._least = _LEAST_OF_FAIR / (neighbours.count + 1)
        self._began = _Reading(0.0, 0, 0)

    def _streams(self, node: int, streams: int) -> list[str]:
        """Start the receiver of a node's streams on the next node.

        Return the command line of the sender.
        """
        to = (node + 1) % len(self._places.nodes)

        def server(chosen: Mapping[str, str]) -> list[str]:
            return self._line(to, ["iperf3", "-s", "-p", chosen["server_port"]])

        taken = partial(self._places.listening_ports, to)
        ports = Ports(taken, lambda port: port in taken())
        serves = serving("iperf3", server, ports, env=self._env, hold=True)
        port = self._stack.enter_context(serves)["server_port"]
        argv = ["iperf3", "-c", self._places.nodes[to].address, "-p", port, "--bidir"]
        return [*argv, "-P", str(streams), "-t", "86400", "-i", "0"]

    def _line(self, node: int, argv: Sequence[str], folder: str = "") -> list[str]:
        """Return the command line that runs a load on a node until its standard input ends."""
        script = (resources.files(__package__) / "keep_busy").read_text(encoding="utf-8")
        line = ["sh", "-c", script, "sh", folder, *argv]
        if self._neighbours.cores:
            cores = ",".join(map(str, self._neighbours.cores))
            line = ["taskset", "--cpu-list", cores, *line]
        return self._places.node_argv(node, line, self._mark)

    def read(self) -> _Reading:
        popen = self._process
        assert popen.stdin is not None and popen.stdout is not None
        words: list[bytes] = []
        with contextlib.suppress(OSError):
            popen.stdin.write(b"\n")
            popen.stdin.flush()
            readable, _, _ = select.select([popen.stdout], [], [], _ANSWER_S)
            # So short a line is written, and read, at once.
            if readable:
                words = os.read(popen.stdout.fileno(), 4096).split()
        if len(words) != 2:
            raise self._failure(f"the load program of {self._name} did not answer")
        return _Reading(time.monotonic(), int(words[0]), int(words[1]))

    def wait_working(self) -> None:
        deadline = time.monotonic() + _READY_S
        enough = _READY_TICKS_ARITHMETIC if self._least else _READY_TICKS
        while (now := self.read()).ticks < enough:
            if now.processes == 0 or time.monotonic() > deadline:
                raise self._failure(f"the load program of {self._name} did not start its work")
            time.sleep(_POLL_S)
        self._began = now

    def must_have_worked(self) -> None:
        deadline = time.monotonic() + _LATE_S
        while True:
            now = self.read()
            if now.processes < self._began.processes:
                raise self._failure(f"the load program of {self._name} ended during the trial")
            if now.ticks > self._began.ticks:
                break
            if time.monotonic() > deadline:
                raise self._failure(f"the load program of {self._name} was idle during the trial")
            time.sleep(_POLL_S)
        share = self.share_since(self._began, now)
        least = self._least
        if share < least:
            raise self._failure(
                f"the load program of {self._name} got only {share:.1%} of a processor's time"
                f" during the trial instead of at least {least:.1%}"
            )

    def share_since(self, before: _Reading, now: _Reading | None = None) -> float:
        """Return the mean number of processors that the load kept busy since a reading.

        - `now`: the later reading; by default, a reading is made by this call.
        """
        now = now or self.read()
        used_s = (now.ticks - before.ticks) * _TICK_S
        return used_s / (now.at_s - before.at_s)

    def _failure(self, sentence: str) -> PlatformError:
        """Return the error of a failed load: a sentence, and the load's last error line."""
        size_bytes = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size_bytes - _TAIL_BYTES))
        tail = self._errors.read(_TAIL_BYTES).decode(errors="replace")
        lines = tail.strip().splitlines()
        reason = f": {lines[-1]}" if lines else ""
        return PlatformError(
            f"{sentence}{reason}; the trial was not measured next to a busy neighbour",
            hint="measure it again with `bareline continue`",
        )


class Tenant(Protocol):
    """A tenant that can run commands on the nodes."""

    @property
    def run(self) -> Callable[..., Output]:
        """Execute a command; see `Allocation.run`."""

    def end_marked(self, token: str) -> None:
        """Kill all processes with the mark of a trial."""


def _end_copies(threads: Sequence[threading.Thread], tenants: Sequence[Tenant], token: str) -> None:
    """Kill the marked processes of tenants until all threads have ended."""
    while any(thread.is_alive() for thread in threads):
        if token:
            for tenant in tenants:
                tenant.end_marked(token)
        for thread in threads:
            thread.join(0.5)


def run_against_copies(
    run: Callable[..., Output],
    tenants: Sequence[Tenant],
    command: Command,
    layout: Layout,
    timeout_s: float,
) -> Output:
    """Return the output of a command while every neighbour runs the same command repeatedly."""
    over = threading.Event()
    failed: list[str] = []
    token = dict(command.env).get(TRIAL_VARIABLE, "")

    def keep_running(number: int, tenant: Tenant) -> None:
        while not over.is_set():
            try:
                output = tenant.run(command, layout, timeout_s=timeout_s)
                reason = f"exit code {output.exit_code}" if output.exit_code else ""
            except PlatformError as error:
                reason = str(error)
            if reason and not over.is_set():
                failed.append(f"neighbour {number} failed during the trial: {reason}")
                return

    threads = [
        threading.Thread(target=keep_running, args=numbered, daemon=True)
        for numbered in enumerate(tenants, 1)
    ]
    for thread in threads:
        thread.start()
    try:
        output = run(command, layout, timeout_s=timeout_s)
    finally:
        over.set()
        _end_copies(threads, tenants, token)
    if failed and output.exit_code == 0:
        raise PlatformError(f"{failed[0]}; the trial was not measured next to a busy neighbour")
    return output
