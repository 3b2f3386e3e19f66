"""OSU's own programs that report a time, as a user installed them: ``osu_latency`` and the rest.

They run in the same blocks as bareline's own benchmarks, so that both can be compared like two
platforms are. `bareline.formats.osu` reads them, as it reads outputs that exist already.

References
----------
The Ohio State University, "OSU Micro-Benchmarks", http://mvapich.cse.ohio-state.edu/benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.formats import osu
from bareline.probes.base import Probe
from bareline.probes.mpi._installed import check_folder, installed_command, only_samples
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

FOLDER_VARIABLE = "BARELINE_OSU_FOLDER"


@dataclass(frozen=True, slots=True)
class InstalledOsuParams:
    """Where OSU's programs are, and for how long one runs.

    Attributes
    ----------
    min_bytes, max_bytes
        Message sizes; 0 leaves the program's own. OSU's ``-m``.
    iterations, warmup
        Iterations that count and that do not, of each size; 0 leaves the program's own. OSU's
        ``-i`` and ``-x``.
    folder
        Folder of the nodes with the programs, or up to two folders above them, as an absolute
        path. Without it, the environment variable ``BARELINE_OSU_FOLDER`` says it, else the path.
    module
        Environment module that is loaded on every rank before.
    """

    min_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 0
    max_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 0
    iterations: Annotated[int, Field(ge=0)] = 0
    warmup: Annotated[int, Field(ge=0)] = 0
    folder: str = ""
    module: str = ""

    def __post_init__(self) -> None:
        """Refuse sizes without an order, and a relative folder."""
        check_folder(self.folder)
        if self.max_bytes and self.min_bytes > self.max_bytes:
            raise ValueError(f"min_bytes = {self.min_bytes} is above max_bytes = {self.max_bytes}")

    def options(self) -> tuple[str, ...]:
        """Give OSU's options."""
        sizes = ("-m", f"{self.min_bytes or 1}:{self.max_bytes}") if self.max_bytes else ()
        counts = ("-i", str(self.iterations)) if self.iterations else ()
        skipped = ("-x", str(self.warmup)) if self.warmup else ()
        return (*sizes, *counts, *skipped)


@dataclass(frozen=True, slots=True)
class OsuParams(InstalledOsuParams):
    """Which of OSU's programs that report a time.

    Attributes
    ----------
    program
        Its name without ``osu_``.
    """

    program: Literal[
        "latency", "multi_lat", "allgather", "allreduce", "alltoall", "barrier", "bcast", "gather",
        "reduce", "reduce_scatter", "scatter",
    ] = "latency"  # fmt: skip


class Osu(Probe[OsuParams]):
    """An installed ``osu_*`` that reports a time: the mean over its iterations and ranks."""

    name: ClassVar[str] = "osu"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "the time that OSU's own program reports"
    summary: ClassVar[str] = "your own OSU programs that report a time (osu_latency, osu_bcast ...)"
    source: ClassVar[str] = "OSU micro-benchmarks 5 to 7"
    params = OsuParams
    metrics: ClassVar[Mapping[str, Metric]] = {"latency": Metric("s", "lower")}
    min_ranks: ClassVar[int] = 2

    def command(self, params: OsuParams, layout: Layout) -> Command:
        """Find the program on the nodes and run it under MPI."""
        # A barrier has no sizes, and refuses to be told some.
        options = () if params.program == "barrier" else params.options()
        return installed_command(
            f"osu_{params.program}",
            options,
            folder=params.folder,
            module=params.module,
            variable=FOLDER_VARIABLE,
        )

    def parse(self, params: OsuParams, output: Output) -> Iterable[Sample]:
        """Read OSU's table."""
        largest_bytes = 0 if params.program == "barrier" else params.max_bytes
        readings = osu.read(output.stdout)
        return only_samples(readings, f"osu.{params.program}", self.metrics, largest_bytes)


PROBE = Osu()
