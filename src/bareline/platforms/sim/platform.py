"""The platform type ``sim`` and its allocation: smpirun's command line, facts and caveats."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from bareline.build.native import build_native, ensure_native
from bareline.build.record import NativeBuild
from bareline.host.load import BUSY_CORES, memory_bytes
from bareline.host.tools import require
from bareline.platforms.base import Allocation, Context, Platform
from bareline.platforms.hosts.process import Finished, local_environment, run_process
from bareline.platforms.sim import cluster, compute, replay
from bareline.platforms.sim.network import Curve, SimulatedNetwork, stretches
from bareline.platforms.sim.options import FOLDED, RECORDED, SimOptions, runs_simulated
from bareline.profile.trace import Trace, read_trace
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import Command, Layout, Output, Scalar
from bareline.vocabulary.platform import REPLAY, PlatformSpec


@dataclass(frozen=True, slots=True)
class Simulator:
    """SimGrid's SMPI, which takes the role of an MPI library in the build of the programs."""

    version: str
    mpicc: str
    flavour: str = "simgrid"
    #: These make shared objects, which smpirun loads once for each rank.
    variables: ClassVar[Mapping[str, str]] = {"CC": "smpicc", "FC": "smpif90"}

    @property
    def title(self) -> str:
        """Name and version of the simulator, for people."""
        return f"SimGrid {self.version} SMPI"

    def check_library(self, library: str) -> None:
        """Accept any library, because simulated programs run without an installed MPI library."""

    @property
    def choices(self) -> Mapping[str, str]:
        """CMake's options for a build that only has kernels for this machine's processor.

        All ranks run on this machine. The options save two thirds of the compilation time.
        """
        return {"BARELINE_SIMULATED_SET": compute.widest_set()}


@cache
def find_simulator() -> Simulator:
    """Return SimGrid's compiler wrapper and launcher."""
    wrapper = require("smpirun", "c++", "smpicc")
    line = ["smpirun", "--version"]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    match = re.search(r"SimGrid version ([\d.]+)", ended.stdout)
    version = match[1] if match else "unknown"
    return Simulator(version, wrapper)


class SimAllocation(Allocation):
    """The allocation of a simulated cluster; the cluster is only a description in a file."""

    def __init__(self, name: str, options: SimOptions, context: Context) -> None:
        self._name = name
        self._options = options
        self._context = context
        self._network: SimulatedNetwork = options.resolve()
        self._events: list[str] = []
        self._description = context.scratch / "cluster.xml"
        xml = cluster.cluster_xml(options, self._network)
        replace_file(self._description, xml, durable=False)
        self._temporary = context.scratch / "smpi"
        self._temporary.mkdir(exist_ok=True)

    def facts(self) -> Mapping[str, Scalar]:
        options = self._options
        facts: dict[str, Scalar | None] = {
            "sim.simulator": find_simulator().title,
            "sim.nodes": options.nodes,
            "sim.cores_per_node": options.cores,
            "sim.compute_factor": self._compute_factor(),
            **self._processor_facts(),
            "sim.instruction_set": compute.widest_set(),
        }
        if options.fold:
            facts["sim.folded_memory"] = "MG, FT, BT, SP, LU: not verified"
        facts |= self._network_facts()
        facts |= self._collective_facts()
        return {key: value for key, value in facts.items() if value is not None}

    def _network_facts(self) -> dict[str, Scalar | None]:
        options = self._options
        network = self._network
        costs = network.costs()
        both_ways = options.both_ways_bytes_per_s
        return {
            "sim.network_from": network.source,
            "sim.latency_s": network.latency_s,
            "sim.rate_bits_per_s": 8 * network.bytes_per_s,
            "sim.send_overhead_s": network.send_overhead_s[0][1],
            "sim.departure_s": network.departure_s[0][1],
            "sim.receive_overhead_s": network.receive_overhead_s[0][1],
            "sim.send_overhead_by_size": _by_size(network.send_overhead_s),
            "sim.departure_by_size": _by_size(network.departure_s),
            "sim.receive_overhead_by_size": _by_size(network.receive_overhead_s),
            "sim.eager_bytes": network.eager_bytes,
            "sim.oversubscription": options.oversubscription,
            "sim.both_ways_bits_per_s": None if both_ways is None else 8 * both_ways,
            "sim.loopback_latency_s": options.loopback_latency_s,
            "sim.loopback_bits_per_s": 8 * options.loopback_bytes_per_s,
            "sim.loopback_overhead_s": options.loopback_overhead_s,
            "sim.loopback_eager_bytes": options.loopback_eager_bytes,
            "sim.nic_messages_per_s": network.messages_per_s,
            "sim.latency_by_size": costs["latency_s"],
            "sim.seconds_per_byte_by_size": costs["seconds_per_byte"],
            "sim.calibration_error_ratio": options.error,
        }

    def _collective_facts(self) -> dict[str, Scalar | None]:
        options = self._options
        algorithms = cluster.collectives(options.library, options.algorithms)
        names = [f"{key.removeprefix('smpi/')}={value}" for key, value in algorithms.items()]
        counted = cluster.made_anew(options.library, options.algorithms)
        return {
            "sim.library": f"collectives as in {options.library}",
            "sim.algorithms": " ".join(names),
            "sim.algorithms_as_counted": " ".join(counted),
        }

    def _processor_facts(self) -> dict[str, Scalar]:
        name = self._options.processor
        if name is None:
            return {}
        processor = compute.processors()[name]
        rates = compute.rates_here(self._context, compute.processor_here())
        return {
            "sim.processor": processor["title"],
            "sim.processor_from": processor["source"],
            "sim.processor_here": rates.summary,
        }

    def _compute_factor(self) -> float:
        options = self._options
        here = compute.processor_here()
        return compute.compute_factor(
            options.processor, options.compute_factor, self._context, here
        )

    def events(self) -> tuple[str, ...]:
        events = tuple(self._events)
        self._events.clear()
        return events

    def prepare(self, command: Command) -> None:
        if runs_simulated(command):
            ensure_native(find_simulator(), self._context.cache)

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        if not runs_simulated(command):
            raise PlatformError(
                "only bareline's own MPI programs can be simulated",
                where=self._name,
                hint="leave this probe to other platforms (`platforms = [...]` in its measure)",
            )
        if command.argv[0] == REPLAY:
            return self._replay(Path(command.argv[1]), layout, timeout_s)
        program = Path(command.argv[0]).name
        folder = ensure_native(find_simulator(), self._context.cache)
        argv = [str(folder / program), *command.argv[1:]]
        if program == "mpibench":
            # The simulator repeats exactly, so that more repetitions are useless. The time limit is
            # very high, because simulated seconds cost nothing and must not make the benchmark
            # leave out a size.
            if "-i" not in argv:
                argv += ["-i", "3", "-x", "0"]
            # The buffers of all ranks may take half of this machine's memory; mpibench's own limit
            # expects each node's ranks on a separate machine.
            buffers_bytes = min(512 << 20, memory_bytes() // 2 // layout.ranks)
            argv += ["-t", "1e9", "-M", str(buffers_bytes)]
        variables = dict(command.env)
        caveats: tuple[str, ...] = ("simulated",)
        if self._options.fold and FOLDED.fullmatch(program):
            variables["BARELINE_FOLD"] = "65536"  # arrays from so many bytes on are shared
        if RECORDED.fullmatch(program):
            caveats += self._inject(command, argv, variables, layout)
        line = self._line(argv, layout)
        ended = self._execute(line, variables, layout, timeout_s)
        return ended.output(line, clock="simulated", caveats=caveats)

    def _inject(
        self, command: Command, argv: list[str], variables: dict[str, str], layout: Layout
    ) -> tuple[str, ...]:
        """Add the variables that set a program's recorded computation; return caveats about it."""

        def launch(more: Mapping[str, str]) -> Finished:
            line = self._line(argv, layout)
            return self._execute(line, {**variables, **more}, layout, 3600.0)

        folded = "BARELINE_FOLD" in variables
        recording, events = compute.computation(
            command, argv, layout, self._context, launch, folded=folded, where=self._name
        )
        self._events += events
        seconds = self._context.scratch / "inject"
        replace_file(seconds, recording.to_inject(self._compute_factor()), durable=False)
        variables |= {
            "BARELINE_COMPUTE": f"inject:{seconds}",
            "BARELINE_BUSY_AFTER_SEND": self._network.busy_after(),
            "BARELINE_RANKS_PER_NODE": str(layout.ranks_per_node),
        }
        if recording.busy_cores > BUSY_CORES:
            return ("recorded-busy",)
        return ()

    def _replay(self, path: Path, layout: Layout, timeout_s: float) -> Output:
        trace = read_trace(path)
        if trace.ranks != layout.ranks:
            raise PlatformError(
                f"the trace has {trace.ranks} ranks, but {layout.ranks} ranks are requested",
                where=str(path),
                hint=f"write ranks = {trace.ranks}, or trace the program on {layout.ranks}",
            )
        line, ended = self._acted(trace, layout, timeout_s)
        stdout = ""
        if ended.exit_code == 0 and not ended.timed_out:
            stdout = json.dumps({"time_s": replay.seconds_of(ended.stderr)})
        return ended.output(line, stdout=stdout, clock="simulated", caveats=("simulated",))

    def replayed_s(self, trace: Trace, layout: Layout, *, timeout_s: float) -> float:
        """Replay a trace from memory, and return its simulated time."""
        _, ended = self._acted(trace, layout, timeout_s)
        return replay.seconds_of(ended.stderr)

    def _acted(self, trace: Trace, layout: Layout, timeout_s: float) -> tuple[list[str], Finished]:
        """Simulate a trace; return the command line and the result of the process."""
        actions = replay.write(trace, self._compute_factor(), self._context.scratch / "replay")
        # Traced computation takes its time; computation of the replaying process itself takes none.
        computing = ["--cfg=smpi/simulate-computation:yes", "--cfg=smpi/cpu-threshold:-1"]
        words = ["--log=smpi_replay.thres:info", *computing, "-replay", str(actions)]
        line = self._line(words, layout)
        return line, self._execute(line, {}, layout, timeout_s)

    def run_as_it_is(
        self, argv: list[str], variables: Mapping[str, str], layout: Layout, *, timeout_s: float
    ) -> Finished:
        """Simulate a program that was compiled for the simulator, with given variables."""
        return self._execute(self._line(argv, layout), variables, layout, timeout_s)

    def _execute(
        self, line: list[str], variables: Mapping[str, str], layout: Layout, timeout_s: float
    ) -> Finished:
        settings = self._context.scratch / f"cluster-{layout.nodes}.txt"
        text = cluster.settings(self._options, self._network, layout.nodes, self._description)
        replace_file(settings, text, durable=False)
        env = local_environment({**variables, "BARELINE_CLUSTER": str(settings)})
        return run_process(line, env=env, timeout_s=timeout_s, cwd=self._context.scratch)

    def _line(self, argv: list[str], layout: Layout) -> list[str]:
        options = self._options
        hosts = self._context.scratch / f"hosts-{layout}"
        ranks = (f"n{node}\n" * layout.ranks_per_node for node in range(layout.nodes))
        replace_file(hosts, "".join(ranks), durable=False)
        eager = str(cluster.eager_bytes(options, self._network, layout.nodes))
        library = ensure_native(find_simulator(), self._context.cache).parent
        chosen = {
            "smpi/host-speed": cluster.SPEED,
            "smpi/simulate-computation": "no",
            "smpi/cpu-threshold": "0",
            "smpi/shared-malloc": "local",
            # A read of the clock takes no simulated time, because SMPI's 10 ns need a context
            # switch.
            "smpi/wtime": "0",
            "smpi/tmpdir": str(self._temporary),
            "smpi/async-small-thresh": eager,
            "smpi/send-is-detached-thresh": eager,
            # Each direction of a link has its full rate; acknowledgements take no part of it.
            "network/crosstraffic": "0",
            "network/TCP-gamma": "0",
            **cluster.collectives(options.library, options.algorithms),
        }
        return [
            "smpirun", "-np", str(layout.ranks),
            "-platform", str(library / "lib" / "libbareline_cluster.so"),
            "-hostfile", str(hosts), "--log=root.thres:critical",
            *(f"--cfg={key}:{value}" for key, value in chosen.items()), *argv,
        ]  # fmt: skip

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        if layout.ranks_per_node > self._options.cores:
            return ("oversubscribed",)
        return ()


class SimPlatform(Platform[SimOptions]):
    """The platform type of a simulated cluster."""

    type_name: ClassVar[str] = "sim"
    summary: ClassVar[str] = "a simulated cluster (SimGrid): its times are marked as simulated"
    options = SimOptions
    exact: ClassVar[bool] = True

    @classmethod
    def check(cls, spec: PlatformSpec[SimOptions]) -> None:
        find_simulator()

    @classmethod
    def build(cls, spec: PlatformSpec[SimOptions], cache: Path) -> NativeBuild:
        return build_native(find_simulator(), cache)

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[Allocation]:
        find_simulator()
        yield SimAllocation(self.spec.name, self.spec.options, self.context)


def _by_size(overhead: Curve) -> str | None:
    return stretches(overhead) if len(overhead) > 1 else None


PLATFORM = SimPlatform
