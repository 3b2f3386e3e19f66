"""The probes of a user's installation of OSU's programs or IMB-MPI1, one program per trial.

The folder or environment module with the programs is on the nodes, so that only the nodes can find
the programs. The trials of these programs are interleaved with the trials of bareline's own
benchmarks, so that their results can be compared in the same way as the results of two platforms.

References
----------
The Ohio State University, "OSU Micro-Benchmarks", http://mvapich.cse.ohio-state.edu/benchmarks.
Intel, "Intel MPI Benchmarks User Guide".
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bareline.formats import imb, osu
from bareline.formats.reading import Reading
from bareline.probes._native import counted
from bareline.probes.base import Probe, ProbeReading, declared
from bareline.vocabulary.collectives import COLLECTIVES
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample
from bareline.vocabulary.sources import LOAD_MODULE

_NAME = "find-program.sh"
#: A script that runs on every rank. If the program is missing, one rank reports this.
_SCRIPT = """\
modules=$1 folder=$2 program=$3
shift 3
say() {
    [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}" = 0 ] && echo "$program: $1" >&2
    exit 2
}
if [ -n "$modules" ]; then
    find_modules || say "there are no environment modules on $(uname -n)"
    load_module "$modules" "${modules%%/*}" ||
        say "the module '$modules' cannot be loaded on $(uname -n)"
fi
if [ -z "$folder" ]; then
    command -v "$program" >/dev/null 2>&1 && exec "$program" "$@"
    say "not on the path of $(uname -n)"
fi
for file in "$folder/$program" "$folder"/*/"$program" "$folder"/*/*/"$program"; do
    [ -f "$file" ] && [ -x "$file" ] && exec "$file" "$@"
done
say "neither in the folder '$folder' on $(uname -n) nor two folders deep in it"
"""

_OSU_FOLDER = "BARELINE_OSU_FOLDER"
_IMB_FOLDER = "BARELINE_IMB_FOLDER"
#: Benchmarks of IMB for two ranks, which print one time instead of minimum, maximum and mean.
_PAIRS = ("PingPong", "PingPing")
_REDUCTIONS = tuple(each.imb for each in COLLECTIVES.values() if each.reduces)


def check_folder(folder: str) -> None:
    """Check that the path of a folder is absolute, because nodes start programs in other folders.

    Raises ValueError: the path is not absolute.
    """
    if folder and not PurePosixPath(folder).is_absolute():
        raise ValueError(f"folder = '{folder}' is not an absolute path")


def installed_command(program: str, options: Sequence[str], params: Any, variable: str) -> Command:
    """Return the command of an installed program under MPI.

    - `params`: the probe's parameters, with `folder` and `module`. `folder` is a folder on the
      nodes that contains the program, directly or at most two levels below. `module` is an
      environment module to load before. Both may be "".
    - `variable`: environment variable that contains the folder if `folder` is "". If the variable
      is also empty, the program must be on the path.
    """
    folder = params.folder or os.environ.get(variable, "")
    requires = ("sh",) if folder or params.module else ("sh", program)
    return Command(
        argv=("sh", f"{{workdir}}/{_NAME}", params.module, folder, program, *options),
        mpi=True,
        inputs=((_NAME, LOAD_MODULE + _SCRIPT),),
        requires=requires,
    )


def only_samples(
    readings: Iterable[Reading], probe: str, wanted: Container[str], largest_bytes: int
) -> tuple[Sample, ...]:
    """Return the samples of the wanted metrics from the only reading of an output.

    - `probe`: name of the reading's benchmark.
    - `largest_bytes`: the largest message size that the reading must have; 0 for any size.

    Raises ParseError: the output does not have exactly one reading of this benchmark, the
    benchmark failed, or the largest size is another size.
    """
    received = list(readings)
    if [reading.probe for reading in received] != [probe]:
        names = ", ".join(reading.probe for reading in received) or "nothing"
        raise ParseError(f"the output must have exactly one result of {probe}, but has: {names}")
    samples = received[0].samples
    last_bytes = max(int(sample.point.get("size_bytes", 0)) for sample in samples)
    if largest_bytes and last_bytes != largest_bytes:
        raise ParseError(f"the sizes end at {last_bytes} instead of {largest_bytes}")
    # An output that ends at the requested size has no caveat.
    return tuple(
        Sample(each.metric, each.value, each.point) for each in samples if each.metric in wanted
    )


@dataclass(frozen=True, slots=True)
class InstalledOsuParams:
    """Parameters of OSU's programs: their folder, sizes and iterations.

    - `min_bytes`: smallest message size; 0 leaves the program's default. OSU's ``-m``.
    - `max_bytes`: largest message size; 0 leaves the program's default. OSU's ``-m``.
    - `iterations`: measured iterations of each size; 0 leaves the program's default. OSU's ``-i``.
    - `warmup`: iterations of each size before the measured ones; 0 leaves the program's default.
      OSU's ``-x``.
    - `folder`: absolute path of a folder on the nodes that contains the programs, directly or at
      most two levels below. By default, the folder in the environment variable
      ``BARELINE_OSU_FOLDER``; without this variable, the folders in ``PATH``.
    - `module`: environment module that every rank loads before the program.
    """

    min_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 0
    max_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 0
    iterations: Annotated[int, Field(ge=0)] = 0
    warmup: Annotated[int, Field(ge=0)] = 0
    folder: str = ""
    module: str = ""

    def __post_init__(self) -> None:
        check_folder(self.folder)
        if self.max_bytes and self.min_bytes > self.max_bytes:
            raise ValueError(f"min_bytes = {self.min_bytes} is above max_bytes = {self.max_bytes}")

    def options(self) -> tuple[str, ...]:
        sizes = ("-m", f"{self.min_bytes or 1}:{self.max_bytes}") if self.max_bytes else ()
        return (*sizes, *counted(i=self.iterations, x=self.warmup))


@dataclass(frozen=True, slots=True)
class OsuParams(InstalledOsuParams):
    """Parameters of OSU's programs that report a time.

    - `program`: name of the program without ``osu_``.
    """

    program: Literal[
        "latency", "multi_lat", "allgather", "allreduce", "alltoall", "barrier", "bcast", "gather",
        "reduce", "reduce_scatter", "scatter",
    ] = "latency"  # fmt: skip


@dataclass(frozen=True, slots=True)
class OsuRateParams(InstalledOsuParams):
    """Parameters of OSU's programs that report a bandwidth.

    - `program`: name of the program without ``osu_``.
    """

    program: Literal["bw", "bibw", "mbw_mr"] = "bw"


class Osu(Probe[Any]):
    """The probe of one of OSU's programs, which report means over iterations and ranks."""

    layer: ClassVar[Layer] = Layer.MPI
    source: ClassVar[str] = "OSU micro-benchmarks 5 to 7"
    min_ranks: ClassVar[int] = 2

    def command(self, params: Any, layout: Layout) -> Command:
        # A barrier has no sizes, and refuses these options.
        options = () if params.program == "barrier" else params.options()
        return installed_command(f"osu_{params.program}", options, params, _OSU_FOLDER)

    def delivers(self, params: Any) -> Mapping[str, Metric]:
        """Return the metrics; only ``osu_mbw_mr`` has a message rate."""
        if params.program == "mbw_mr":
            return self.metrics
        return {name: metric for name, metric in self.metrics.items() if name != "message_rate"}

    def parse(self, params: Any, output: Output) -> ProbeReading:
        largest_bytes = 0 if params.program == "barrier" else params.max_bytes
        readings = osu.read(output.stdout)
        probe = f"osu.{params.program}"
        return ProbeReading(only_samples(readings, probe, self.metrics, largest_bytes))


@dataclass(frozen=True, slots=True)
class ImbParams:
    """Parameters of a benchmark of IMB-MPI1.

    - `benchmark`: name of the benchmark in IMB.
    - `max_bytes`: largest message, a power of two; 0 leaves IMB's default of 4 MiB. IMB's
      ``-msglog``.
    - `iterations`: limit for the repetitions of a size; 0 leaves the choice to IMB. IMB's
      ``-iter``.
    - `red_data_type`: data type of reductions: "double" as in `mpi.allreduce`; "float" is IMB's
      default.
    - `root_shift`: whether the root rank changes with every call. The default is IMB's since 2017.
    - `sync`: whether a barrier follows every call. The default is IMB's since 2017.
    - `folder`: absolute path of a folder on the nodes that contains IMB-MPI1, directly or at most
      two levels below. By default, the folder in the environment variable ``BARELINE_IMB_FOLDER``;
      without this variable, the folders in ``PATH``.
    - `module`: environment module that every rank loads before the program.
    """

    benchmark: Literal[
        "PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Reduce", "Reduce_scatter",
        "Allgather", "Alltoall", "Bcast", "Gather", "Scatter", "Barrier",
    ] = "PingPong"  # fmt: skip
    max_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 0
    iterations: Annotated[int, Field(ge=0)] = 0
    red_data_type: Literal["float", "double"] = "double"
    root_shift: Literal["off", "on"] = "off"
    sync: Literal["off", "on"] = "on"
    folder: str = ""
    module: str = ""

    def __post_init__(self) -> None:
        check_folder(self.folder)
        if self.max_bytes & (self.max_bytes - 1) or self.max_bytes == 1:
            raise ValueError(f"max_bytes = {self.max_bytes} is not a power of two above 1")

    def options(self, ranks: int) -> tuple[str, ...]:
        fewest_ranks = 2 if self.benchmark in _PAIRS else ranks
        words = ["-npmin", str(fewest_ranks)]
        if self.max_bytes:
            words += ("-msglog", str(self.max_bytes.bit_length() - 1))
        if self.iterations:
            words += ("-iter", str(self.iterations))
        if self.benchmark in _REDUCTIONS and self.red_data_type != "float":
            words += ("-red_data_type", self.red_data_type)
        if self.root_shift != "off":
            words += ("-root_shift", self.root_shift)
        if self.sync != "on":
            words += ("-sync", self.sync)
        return tuple(words)


class Imb(Probe[ImbParams]):
    """The probe of an installed IMB-MPI1: mean, smallest and greatest time over the ranks."""

    name: ClassVar[str] = "imb"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "the time that IMB-MPI1 reports"
    summary: ClassVar[str] = "your own IMB-MPI1, one benchmark of it (PingPong, Bcast ...)"
    source: ClassVar[str] = "Intel MPI Benchmarks 2017 to 2021"
    params = ImbParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "latency": Metric("s", "lower"),
        "latency_min": Metric("s", "lower", detail=True),
        "latency_max": Metric("s", "lower", detail=True),
    }
    min_ranks: ClassVar[int] = 2

    def command(self, params: ImbParams, layout: Layout) -> Command:
        options = (params.benchmark, *params.options(layout.ranks))
        return installed_command("IMB-MPI1", options, params, _IMB_FOLDER)

    def delivers(self, params: ImbParams) -> Mapping[str, Metric]:
        """Return the metrics; for a benchmark of two ranks, IMB reports only one time."""
        if params.benchmark in _PAIRS:
            return {"latency": self.metrics["latency"]}
        return self.metrics

    def parse(self, params: ImbParams, output: Output) -> ProbeReading:
        """Return the values of IMB's table.

        In a benchmark of two ranks, all other ranks wait.
        """
        if imb.END not in output.stdout:
            raise ParseError("the output is truncated: IMB's last line is missing")
        readings = list(imb.read(output.stdout))
        if not readings:
            raise ParseError("the output has no section of IMB")
        probe = f"imb.{params.benchmark.lower()}"
        if params.benchmark in _PAIRS:
            readings = readings[:1]
            probe = readings[0].probe if readings[0].probe == f"{probe}.subset" else probe
        data_type = readings[0].params.get("red_data_type", "float")
        if params.benchmark in _REDUCTIONS and data_type != params.red_data_type:
            raise ParseError(f"IMB reports red_data_type = {data_type}, not {params.red_data_type}")
        largest_bytes = 0 if params.benchmark == "Barrier" else params.max_bytes
        return ProbeReading(only_samples(readings, probe, self.metrics, largest_bytes))


PROBES = (
    declared(
        Osu,
        "osu",
        title="the time that OSU's own program reports",
        summary="your own OSU programs that report a time (osu_latency, osu_bcast ...)",
        params=OsuParams,
        metrics={"latency": Metric("s", "lower")},
    ),
    declared(
        Osu,
        "osu.rate",
        title="the bandwidth that OSU's own program reports",
        summary="your own OSU programs that report a bandwidth (osu_bw, osu_mbw_mr)",
        params=OsuRateParams,
        metrics={"bandwidth": Metric("B/s", "higher"), "message_rate": Metric("op/s", "higher")},
    ),
    Imb(),
)
