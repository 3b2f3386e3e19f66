"""FFT: the rate of complex Fourier transforms in double precision, by the platform's FFTW.

References
----------
M. Frigo, S. G. Johnson, "The Design and Implementation of FFTW3", Proc. IEEE 93(2), 2005,
doi:10.1109/JPROC.2004.840301.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import native, options, read_report, spread_samples
from bareline.probes.base import Probe
from bareline.probes.compute._rates import check_options, count_of, rate_metrics, thread_options
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


@dataclass(frozen=True, slots=True)
class FftParams:
    """Parameters of the FFT.

    - `n`: points of the one-dimensional transform.
    - `n3`: points along each edge of the three-dimensional transform.
    - `repeat`: repetitions inside a trial; the median counts.
    - `mode`: "single" uses one core, "all" every core. The study's ``threads`` above 1 says how
      many.
    - `plan`: whether FFTW measures or estimates which algorithm is fastest.
    - `budget_s`: longest time of a transform's repetitions, and of its planning.
    """

    n: Annotated[int, Field(ge=2, le=1 << 30)] = 1 << 18
    n3: Annotated[int, Field(ge=2, le=1000)] = 64
    repeat: Annotated[int, Field(ge=2, le=10_000)] = 20
    mode: Literal["single", "all"] = "single"
    plan: Literal["measure", "estimate"] = "measure"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 5.0


class Fft(Probe[FftParams]):
    """A long line and a cube of complex numbers; 5 N log2 N operations; result checked."""

    name: ClassVar[str] = "compute.fft"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the FFT rate"
    summary: ClassVar[str] = "FFTW: complex transforms of a line and of a cube"
    source: ClassVar[str] = "HPCC FFT; benchFFT"
    params = FftParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **rate_metrics(),
        "cores": Metric("1", "none", detail=True),
    }

    def command(self, params: FftParams, layout: Layout) -> Command:
        return native(
            "nodebench",
            "fft",
            *options(params, "n", "n3", "repeat", "plan"),
            *thread_options(params.mode, layout),
            *options(params, "budget_s"),
        )

    def parse(self, params: FftParams, output: Output) -> Iterable[Sample]:
        report = read_report(output, "nodebench", "fft")
        check_options(report, {"mode": params.mode, "plan": params.plan})
        asked = [("1d", params.n), ("3d", params.n3)]
        said = [(point.at.get("transform"), point.at.get("length")) for point in report.points]
        if said != asked:
            raise ParseError(f"transforms {said} instead of {asked}")
        for point in report.points:
            # The length is a parameter of the trial already.
            yield from spread_samples(point, "rate", "rate", {"transform": point.at["transform"]})
        yield Sample("cores", count_of(report, "threads"))


PROBE = Fft()
