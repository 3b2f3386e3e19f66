"""A processor by name: how much longer it computes than this machine, from printed rates."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from bareline.facts.sections import pairs
from bareline.host.load import cores_since, read_load
from bareline.platforms.base import Context
from bareline.platforms.local import LocalOptions, LocalPlatform
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replacing
from bareline.vocabulary.instructions import kernel_set
from bareline.vocabulary.model import Command, Layout, Output
from bareline.vocabulary.platform import PlatformSpec

#: Noise only ever slows: of so many runs, and all repetitions in them, the best counts.
_RUNS = 3
_TIMEOUT_S = 120.0
_BENCHMARKS = (
    ("dgemm", "--n", "512", "--repeat", "20", "--budget", "2"),
    ("stream", "--repeat", "10", "--threads", "1"),
)


@dataclass(frozen=True, slots=True)
class Rates:
    """What one core does.

    - `dgemm_flops_per_s`: matrix product in double precision.
    """

    dgemm_flops_per_s: float
    stream_bytes_per_s: float

    def times_slower(self, other: Rates) -> float:
        """Give how many times as long computation takes as on another: the geometric mean."""
        return math.sqrt(
            (other.dgemm_flops_per_s / self.dgemm_flops_per_s)
            * (other.stream_bytes_per_s / self.stream_bytes_per_s)
        )


@cache
def processors() -> Mapping[str, Mapping[str, Any]]:
    """Give the processors that are known by name, as ``processors.toml`` holds them."""
    file = resources.files("bareline.platforms.sim") / "processors.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def rates_of(name: str) -> Rates:
    """Give the printed rates of a processor, or raise KeyError: there is none of this name."""
    table = processors()[name]
    return Rates(table["dgemm_flops_per_s"], table["stream_bytes_per_s"])


@dataclass(frozen=True, slots=True)
class Here:
    """What a core of this machine does, and beside how many busy cores that was measured."""

    rates: Rates
    busy_cores: float

    @property
    def summary(self) -> str:
        """Say it for people."""
        return (
            f"DGEMM {self.rates.dgemm_flops_per_s / 1e9:.3g} Gflop/s, "
            f"STREAM {self.rates.stream_bytes_per_s / 1e9:.3g} GB/s on one core, measured beside "
            f"{self.busy_cores:.1f} busy cores"
        )


def rates_here(context: Context, processor: str) -> Here:
    """Give what a core of this machine does; measured once for a processor, then known."""
    name = "".join(letter if letter.isalnum() else "-" for letter in processor)
    path = context.cache / "compute" / f"rates-{name}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(path.read_text(encoding="utf-8"))
        return Here(Rates(**known["rates"]), float(known["busy_cores"]))
    before = read_load()
    rates = Rates(*(_best_rate(context, benchmark) for benchmark in _BENCHMARKS))
    found = Here(rates, round(cores_since(before), 2))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_text(json.dumps(asdict(found)), encoding="utf-8")
    return found


def _best_rate(context: Context, benchmark: tuple[str, ...]) -> float:
    """Measure the best repetition of a matrix product, or of STREAM's triad."""
    command = Command(argv=("{native}/nodebench", *benchmark))
    outputs = list(outputs_here(context, command, Layout(1, 1), _TIMEOUT_S))
    found = []
    for row in (row for output in outputs for row in json_lines(output.stdout)):
        with suppress(ValueError, KeyError, TypeError):
            if row["point"].get("kernel", "triad") == "triad":
                found.append(float(row["rate"]["max"]))
    if not found:
        raise PlatformError(
            f"nodebench {benchmark[0]} gave no rate of this machine: "
            f"{outputs[-1].stderr.strip()[-200:]}",
            hint="give the platform a compute_factor instead of a processor",
        )
    return max(found)


def outputs_here(
    context: Context, command: Command, layout: Layout, timeout_s: float
) -> Iterator[Output]:
    """Run a command three times on this machine, with its own MPI library."""
    spec = PlatformSpec("compute", "local", LocalOptions())
    with LocalPlatform(spec, context).acquire(layout) as here:
        for _ in range(_RUNS):
            yield here.run(command, layout, timeout_s=timeout_s)


def json_lines(text: str) -> Iterator[Any]:
    """Read the lines of an output that are JSON."""
    for line in text.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def compute_factor(name: str | None, given: float, context: Context, processor: str) -> float:
    """Give how many times as long as here computation takes.

    - `name`: the simulated processor; None where it is this machine's.
    - `processor`: this machine's, as the kernel calls it.
    """
    if name is None:
        return given
    return given * rates_of(name).times_slower(rates_here(context, processor).rates)


@cache
def _first_processor() -> Mapping[str, str]:
    """Give what the kernel says of this machine's first processor."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return dict(pairs(text.partition("\n\n")[0]))


def processor_here() -> str:
    """Give this machine's processor, as the kernel calls it."""
    return _first_processor().get("model name", "unknown processor")


def widest_set() -> str:
    """Name the widest instruction set of this machine, as the kernels' launcher chooses it."""
    return kernel_set(_first_processor().get("flags", "").split()).name
