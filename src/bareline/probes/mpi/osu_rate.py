"""OSU's own programs that report a bandwidth, as a user installed them: ``osu_bw`` and the rest.

References
----------
The Ohio State University, "OSU Micro-Benchmarks", http://mvapich.cse.ohio-state.edu/benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from bareline.formats import osu
from bareline.probes.base import Probe
from bareline.probes.mpi._installed import installed_command, only_samples
from bareline.probes.mpi.osu import FOLDER_VARIABLE, InstalledOsuParams
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


@dataclass(frozen=True, slots=True)
class OsuRateParams(InstalledOsuParams):
    """Which of OSU's programs that report a bandwidth.

    Attributes
    ----------
    program
        Its name without ``osu_``.
    """

    program: Literal["bw", "bibw", "mbw_mr"] = "bw"


class OsuRate(Probe[OsuRateParams]):
    """An installed ``osu_bw``, ``osu_bibw`` or ``osu_mbw_mr``."""

    name: ClassVar[str] = "osu.rate"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "the bandwidth that OSU's own program reports"
    summary: ClassVar[str] = "your own OSU programs that report a bandwidth (osu_bw, osu_mbw_mr)"
    source: ClassVar[str] = "OSU micro-benchmarks 5 to 7"
    params = OsuRateParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "bandwidth": Metric("B/s", "higher"),
        "message_rate": Metric("op/s", "higher"),
    }
    min_ranks: ClassVar[int] = 2

    def command(self, params: OsuRateParams, layout: Layout) -> Command:
        """Find the program on the nodes and run it under MPI."""
        return installed_command(
            f"osu_{params.program}",
            params.options(),
            folder=params.folder,
            module=params.module,
            variable=FOLDER_VARIABLE,
        )

    def delivers(self, params: OsuRateParams) -> Mapping[str, Metric]:
        """Only one of them counts messages."""
        if params.program == "mbw_mr":
            return self.metrics
        return {"bandwidth": self.metrics["bandwidth"]}

    def parse(self, params: OsuRateParams, output: Output) -> Iterable[Sample]:
        """Read OSU's table."""
        readings = osu.read(output.stdout)
        return only_samples(readings, f"osu.{params.program}", self.metrics, params.max_bytes)


PROBE = OsuRate()
