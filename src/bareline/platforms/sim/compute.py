"""Computing times in simulations: for a named processor, and recorded times of programs.

A computation on a named processor takes its time on this machine, multiplied by a ratio: the rates
of this machine divided by the published rates of the processor.

A program that was built for the simulator (``bl_compute.h``) can record the processor time of its
computation between two calls of MPI. In later simulations, the program still computes, but the
simulated time advances by the recorded times. Each recording is a TOML file in the cache folder; a
simulation that uses a recording is deterministic.

The simulator runs all ranks in turn on one core, so a recording does not include the effect of
shared caches or memory channels. If this machine has enough cores for the ranks, the real program
is also run, and the recorded time is scaled to the computing time that the real program reports.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

from bareline.facts.sections import pairs
from bareline.host.load import busy_cores, cores_since, read_load
from bareline.platforms.base import Context
from bareline.platforms.hosts.process import Finished
from bareline.platforms.localhost.local import LocalOptions, LocalPlatform
from bareline.vocabulary.errors import BarelineError, PlatformError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.instructions import kernel_set
from bareline.vocabulary.model import Command, Layout, Output
from bareline.vocabulary.platform import PlatformSpec

_BENCHMARKS = (
    ("dgemm", "--n", "512", "--repeat", "20", "--budget", "2"),
    ("stream", "--repeat", "10", "--threads", "1"),
)


@dataclass(frozen=True, slots=True)
class Rates:
    """Computing rates of one core: double-precision DGEMM and STREAM.

    - `busy_cores`: number of cores that other programs used during the measurement.
    """

    dgemm_flops_per_s: float
    stream_bytes_per_s: float
    busy_cores: float = 0.0

    @property
    def summary(self) -> str:
        """Return a text with the rates, for people."""
        return (
            f"DGEMM {self.dgemm_flops_per_s / 1e9:.3g} Gflop/s, "
            f"STREAM {self.stream_bytes_per_s / 1e9:.3g} GB/s on one core, measured with "
            f"{self.busy_cores:.1f} busy cores"
        )

    def times_slower(self, other: Rates) -> float:
        """Return the computing time with these rates divided by the time with `other`.

        The result is the geometric mean of the two rates' ratios.
        """
        dgemm_ratio = other.dgemm_flops_per_s / self.dgemm_flops_per_s
        stream_ratio = other.stream_bytes_per_s / self.stream_bytes_per_s
        return math.sqrt(dgemm_ratio * stream_ratio)


@cache
def processors() -> Mapping[str, Mapping[str, Any]]:
    """Return the processors in ``processors.toml``, by name."""
    file = resources.files("bareline.platforms.sim") / "processors.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def rates_of(name: str) -> Rates:
    """Return the published rates of a processor.

    Raises KeyError: there is no processor of this name.
    """
    table = processors()[name]
    return Rates(table["dgemm_flops_per_s"], table["stream_bytes_per_s"])


def rates_here(context: Context, processor: str) -> Rates:
    """Return the rates of a core of this machine; they are measured once and then cached."""
    name = "".join(letter if letter.isalnum() else "-" for letter in processor)
    path = context.cache / "compute" / f"rates-{name}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Rates(**stored["rates"], busy_cores=float(stored["busy_cores"]))
    before = read_load()
    dgemm, stream = (_best_rate(context, benchmark) for benchmark in _BENCHMARKS)
    measured = Rates(dgemm, stream, round(cores_since(before), 2))
    path.parent.mkdir(parents=True, exist_ok=True)
    rates = asdict(measured)
    busy = rates.pop("busy_cores")
    replace_file(path, json.dumps({"rates": rates, "busy_cores": busy}))
    return measured


def _best_rate(context: Context, benchmark: tuple[str, ...]) -> float:
    """Return the best rate of a matrix product or of STREAM's triad; noise only lowers a rate."""
    command = Command(argv=("{native}/nodebench", *benchmark))
    outputs = list(outputs_here(context, command, Layout(1, 1), 120.0))
    rates = []
    for row in chain.from_iterable(json_lines(output.stdout) for output in outputs):
        with suppress(ValueError, KeyError, TypeError):
            if row["point"].get("kernel", "triad") == "triad":
                rates.append(float(row["rate"]["max"]))
    if not rates:
        raise PlatformError(
            f"nodebench {benchmark[0]} gave no rate of this machine: "
            f"{outputs[-1].stderr.strip()[-200:]}",
            hint="give the platform a compute_factor instead of a processor",
        )
    return max(rates)


def outputs_here(
    context: Context, command: Command, layout: Layout, timeout_s: float
) -> Iterator[Output]:
    """Run a command three times on this machine with its MPI library, and yield the outputs."""
    spec = PlatformSpec("compute", "local", LocalOptions())
    with LocalPlatform(spec, context).acquire(layout) as here:
        for _ in range(3):
            yield here.run(command, layout, timeout_s=timeout_s)


def json_lines(text: str) -> Iterator[Any]:
    """Yield the values of the lines that are JSON, and skip all other lines."""
    for line in text.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def compute_factor(name: str | None, given: float, context: Context, processor: str) -> float:
    """Return the simulated computing time divided by this machine's computing time.

    - `name`: the simulated processor; None for this machine's processor.
    - `given`: an additional factor, from the platform's options.
    """
    if name is None:
        return given
    return given * rates_of(name).times_slower(rates_here(context, processor))


@cache
def _first_processor() -> Mapping[str, str]:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return dict(pairs(text.partition("\n\n")[0]))


def processor_here() -> str:
    """Return the name of this machine's processor, from the kernel."""
    return _first_processor().get("model name", "unknown processor")


def widest_set() -> str:
    """Return the widest instruction set here, which bareline's kernels therefore use."""
    return kernel_set(_first_processor().get("flags", "").split()).name


#: Number of recordings of a program; the lowest mean of each stretch is kept, because noise only
#: adds time.
_RECORDINGS = 3
_TIMED_PART = 1
#: Version of a recording's content; earlier versions lack the load of the machine.
_VERSION = "2"

#: Key of a stretch: stage, then function and count of the MPI call before and after it.
Kind = tuple[int, ...]
#: Number of stretches over all ranks, and mean seconds of one stretch, by kind.
Stretches = Mapping[Kind, tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Recording:
    """The recorded computing time of a program between its MPI calls.

    - `stretches`: for each kind of computation between two calls, how often it occurs over all
      ranks, and its mean time in s. The stage of the program, and the functions and counts of
      the two calls, determine the kind.
    - `scale`: factor for the seconds: the real program's time divided by the recorded time.
    - `source`: how the times were recorded, for people.
    - `busy_cores`: number of cores that other programs used during the recording.
    """

    stretches: Stretches
    scale: float
    source: str
    busy_cores: float = 0.0

    def timed_s(self, ranks: int) -> float:
        """Recorded computing time in the program's timed part, in s, as the mean over the ranks."""
        timed = (row for kind, row in self.stretches.items() if kind[0] == _TIMED_PART)
        return sum(calls * seconds for calls, seconds in timed) / ranks

    def to_inject(self, factor: float) -> str:
        """Return the lines that the program reads, with all seconds multiplied by a factor."""
        lines = []
        for kind, (calls, recorded_s) in self.stretches.items():
            key = " ".join(map(str, kind))
            seconds = recorded_s * self.scale * factor
            lines.append(f"{key} {calls} {seconds:.9g}\n")
        return "".join(lines)


def merge(recordings: Sequence[str]) -> dict[Kind, tuple[int, float]]:
    """Combine recordings: keep the lowest mean time of each kind of computation between calls."""
    merged: dict[Kind, tuple[int, float]] = {}
    for text in recordings:
        for kind, (calls, total_s) in _sums(text).items():
            mean_s = total_s / calls if calls else 0.0
            if kind in merged:
                _, least_s = merged[kind]
                mean_s = min(mean_s, least_s)
            merged[kind] = (calls, mean_s)
    return merged


def _sums(text: str) -> dict[Kind, tuple[int, float]]:
    """Return how often each kind of computation occurs over all ranks, and its total time in s."""
    sums: dict[Kind, tuple[int, float]] = {}
    for line in text.splitlines():
        try:
            *numbers, seconds = line.split()
            stage, before, before_count, after, after_count, calls = map(int, numbers)
            kind: Kind = (stage, before, before_count, after, after_count)
            earlier_calls, earlier_s = sums.get(kind, (0, 0.0))
            sums[kind] = (earlier_calls + calls, earlier_s + calls * float(seconds))
        except ValueError as error:
            raise PlatformError(
                f"the record of the computing times has the invalid line '{line}'"
            ) from error
    return sums


def load(path: Path) -> Recording | None:
    """Return the recorded times in a file; None if the file is missing or cannot be read."""
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        stretches = {}
        for *kind, calls, seconds in content["stretches"]:
            stretches[tuple(kind)] = (calls, float(seconds))
        return Recording(
            stretches=stretches,
            scale=float(content["scale"]),
            source=str(content["source"]),
            busy_cores=float(content["busy_cores"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(path: Path, recording: Recording, about: Mapping[str, Any]) -> None:
    """Write recorded times into a file, completely or not at all."""
    import tomli_w

    rows = []
    for kind, (calls, seconds) in recording.stretches.items():
        rows.append([*kind, calls, seconds])
    content = {
        **about,
        "scale": recording.scale,
        "source": recording.source,
        "busy_cores": recording.busy_cores,
        "stretches": rows,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, tomli_w.dumps(content))


def computation(
    command: Command,
    argv: Sequence[str],
    layout: Layout,
    context: Context,
    launch: Callable[[Mapping[str, str]], Finished],
    *,
    folded: bool,
    where: str,
) -> tuple[Recording, tuple[str, ...]]:
    """Return the recorded computation of a program, and remarks if it is recorded by this call.

    - `command`: the probe's command, which runs the real program.
    - `argv`: the argument vector of the program for the simulation.
    - `launch`: simulates the program with additional variables.
    - `folded`: whether all ranks share the memory of large arrays.
    """
    name = Path(argv[0]).name
    arguments = list(argv[1:])
    processor = processor_here()
    memory = "fold" if folded else ""
    parts = [*argv, memory, str(layout.ranks), processor, _VERSION]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    path = context.cache / "compute" / f"{digest[:16]}.toml"
    stored = load(path)
    if stored is not None:
        return stored, ()
    program = f"{name} {' '.join(arguments)} on {layout.ranks} ranks"
    before = read_load()
    texts = _record(launch, program, where, context.scratch)
    busy = round(cores_since(before), 2)
    stretches = merge(texts)
    source = f"{len(texts)} recordings in the simulator on one core, with {busy:.1f} busy cores"
    if folded:
        source += ", all ranks in one memory, of which caches contain more than of many"
    real_s = _real_compute_s(command, layout.ranks, context)
    total_s = Recording(stretches, 1.0, "").timed_s(layout.ranks)
    if real_s is None or total_s <= 0:
        made = Recording(stretches, 1.0, f"{source}, not compared with the real program", busy)
    else:
        scale = real_s / total_s
        source += f", times {scale:.3f} to agree with the real program"
        made = Recording(stretches, scale, source, busy)
    about = {"program": name, "arguments": arguments, "ranks": layout.ranks, "processor": processor}
    save(path, made, about)
    return made, (f"recorded the computation of {program}: {made.source}",)


def _record(
    launch: Callable[[Mapping[str, str]], Finished], program: str, where: str, folder: Path
) -> Sequence[str]:
    texts = []
    for number in range(_RECORDINGS):
        path = folder / f"recording-{number}"
        path.unlink(missing_ok=True)
        ended = launch({"BARELINE_COMPUTE": f"record:{path}"})
        if ended.exit_code != 0 or ended.timed_out:
            why = ended.stderr.strip()[-300:] or "no end"
            failed = f"the computation of {program} could not be recorded: {why}"
            raise PlatformError(failed, where=where)
        texts.append(path.read_text(encoding="utf-8") if path.exists() else "")
        path.unlink(missing_ok=True)
        if ended.duration_s > 20.0:  # so long a one is enough
            break
    return texts


def _real_compute_s(command: Command, ranks: int, context: Context) -> float | None:
    """Return the real program's computing time in s: the mean over ranks in the fastest run.

    The result is None if this machine has too few cores for the ranks, if other programs keep it
    busy and would disturb the time, if there is no MPI library, or if the program fails.
    """
    if ranks > len(os.sched_getaffinity(0)) or busy_cores(None) > 0:
        return None
    means_s = []
    real = Command(argv=command.argv, mpi=True)
    with suppress(BarelineError):
        for output in outputs_here(context, real, Layout(1, ranks), 600.0):
            if output.exit_code != 0:
                continue
            for row in json_lines(output.stdout):
                with suppress(ValueError, KeyError, TypeError):
                    means_s.append(float(row["compute_s"]["mean"]))
    return min(means_s, default=None)
