"""DGEMM: the rate of a matrix product in double precision, by the platform's own OpenBLAS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.model import Command, Layer, Layout, Metric, Output, Sample
from bareline.probes.base import Probe
from bareline.probes.native import QUANTILES, read_report, spread_samples


@dataclass(frozen=True, slots=True)
class DgemmParams:
    """Parameters of DGEMM.

    Attributes
    ----------
    n
        Order of the square matrices.
    repeat
        Repetitions inside a trial; the median counts.
    """

    n: Annotated[int, Field(ge=16, le=65_536)] = 1024
    repeat: Annotated[int, Field(ge=2, le=10_000)] = 10


class Dgemm(Probe[DgemmParams]):
    """C = A B + C on square matrices; 2 n^3 operations; result checked."""

    name: ClassVar[str] = "compute.dgemm"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the DGEMM rate"
    summary: ClassVar[str] = "DGEMM through OpenBLAS: floating-point rate"
    source: ClassVar[str] = "HPCC DGEMM"
    params = DgemmParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "rate": Metric("flop/s", "higher"),
        **{f"rate_{name}": Metric("flop/s", "higher", detail=True) for name in QUANTILES},
    }

    def command(self, params: DgemmParams, layout: Layout) -> Command:
        """Run nodebench on one node with the layout's threads."""
        return Command(
            argv=(
                "{native}/nodebench",
                "dgemm",
                "--n",
                str(params.n),
                "--repeat",
                str(params.repeat),
                "--threads",
                str(layout.threads_per_rank),
            )
        )

    def parse(self, params: DgemmParams, output: Output) -> Iterable[Sample]:
        """Read nodebench's JSON lines."""
        for point in read_report(output, "nodebench", "dgemm").points:
            # The order is a parameter of the trial already.
            yield from spread_samples(point, "rate", "rate", {})


PROBE = Dgemm()
