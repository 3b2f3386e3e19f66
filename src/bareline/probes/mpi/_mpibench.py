"""Common parts of the probes of ``mpibench``, bareline's program for MPI functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, ClassVar

from pydantic import Field

from bareline.probes._native import (
    MeasuredPoint,
    Report,
    counted,
    native,
    read_report,
    spread_metrics,
    spread_samples,
)
from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

#: Names of the means that OSU, IMB and HPC Challenge report; see `MpiFunction`.
_MEANS = ("loop_mean", "loop_mean_max", "rank_mean", "rank_mean_max")


#: Limits of mpibench: the number of sizes in a list, and the size of a message.
MOST_SIZES = 32
LARGEST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class MpiParams:
    """Parameters of an MPI function by message size.

    - `min_bytes`: smallest message size; 0 adds the empty message. Message sizes are powers of two.
      OSU's ``-m``.
    - `max_bytes`: largest message size. OSU's ``-m``.
    - `iterations`: limit for the iterations of each size; 0 leaves the choice to the program. OSU's
      ``-i``.
    - `warmup`: iterations before the first measured iteration; 0 leaves the choice to the program.
      OSU's ``-x``.
    - `budget_s`: time limit for each size. A size is left out if it exceeds the limit even with the
      smallest number of iterations.
    - `between`: whether sizes halfway between two powers of two are also measured, from 24 bytes
      on. MPI libraries may change their protocol at such a size.
    - `sizes_bytes`: ascending message sizes, separated by commas, such as "8,65536". They replace
      the range, for instance by the sizes of an application.
    """

    min_bytes: Annotated[int, Field(ge=0)] = 0
    max_bytes: Annotated[int, Field(ge=1, le=1 << 30)] = 4 << 20
    iterations: Annotated[int, Field(ge=0)] = 0
    warmup: Annotated[int, Field(ge=0)] = 0
    budget_s: Annotated[float, Field(gt=0)] = 0.2
    between: bool = False
    sizes_bytes: str = ""

    def __post_init__(self) -> None:
        _check_list(self.sizes_bytes)
        if self.min_bytes > self.max_bytes:
            raise ValueError(f"min_bytes = {self.min_bytes} is above max_bytes = {self.max_bytes}")

    def sizes(self, smallest: int = 0) -> list[int]:
        """Return the message sizes in bytes: the list `sizes_bytes` or, if it is empty, the range.

        The range has no size below `smallest`. If the list has such sizes, the program leaves them
        out, and names them in its output.
        """
        if self.sizes_bytes:
            return [*map(int, self.sizes_bytes.split(","))]
        least = max(self.min_bytes, smallest)
        powers = [1 << power for power in range(self.max_bytes.bit_length())]
        middles = [3 * size // 2 for size in powers if size >= 16] if self.between else []
        sizes = sorted(size for size in powers + middles if least <= size <= self.max_bytes)
        return [0, *sizes] if least == 0 else sizes

    def options(self, smallest: int = 0) -> tuple[str, ...]:
        """Return the program's options; a range of sizes begins at `smallest` bytes or above."""
        effort = (*counted(i=self.iterations, x=self.warmup), "-t", f"{self.budget_s:g}")
        if self.sizes_bytes:
            return ("--sizes", self.sizes_bytes, *effort)
        sizes = f"{max(self.min_bytes, smallest)}:{self.max_bytes}"
        between = ("--between",) if self.between else ()
        return ("-m", sizes, *between, *effort)


def _check_list(text: str) -> None:
    """Check that a text is a list of message sizes.

    Raises ValueError: the text is not such a list.
    """
    words = text.split(",") if text else []
    if not all(word.isascii() and word.isdigit() for word in words):
        raise ValueError(f"sizes_bytes = '{text}' is not a list of sizes; write '8,65536'")
    sizes = [*map(int, words)]
    if sizes != sorted(set(sizes)):
        raise ValueError(f"sizes_bytes = '{text}' is not in ascending order")
    if len(sizes) > MOST_SIZES or (sizes and sizes[-1] > LARGEST_BYTES):
        raise ValueError(
            f"sizes_bytes = '{text}' has more than {MOST_SIZES} sizes, or one above 1 GiB"
        )


def latency_metrics() -> dict[str, Metric]:
    """Return the metrics of a time per iteration: the median, further quantiles, and means."""
    return {
        **spread_metrics("latency", "s", "lower"),
        **{f"latency_{name}": Metric("s", "lower", detail=True) for name in _MEANS},
    }


def rate_metrics(metric: str = "bandwidth", unit: str = "B/s") -> dict[str, Metric]:
    """Return the metrics of a rate per iteration: the median, further quantiles, and a mean."""
    return {
        **spread_metrics(metric, unit, "higher"),
        f"{metric}_loop_mean": Metric(unit, "higher", detail=True),
    }


def latency_samples(point: MeasuredPoint) -> Iterable[Sample]:
    """Yield the samples of `latency_metrics`."""
    yield from spread_samples(point, "time", "latency")
    for name in _MEANS:
        yield point.sample(f"latency_{name}", point.positive(name))


def mean_of_loop(samples: Iterable[Sample]) -> Iterable[Sample]:
    """Return a simulated collective's samples; ``latency`` becomes the mean over a plain loop.

    Simulated ranks enter each individually timed call at the same time, so that all these calls
    take the same time. In a loop, a rank enters a call when it leaves the previous call, as in
    applications and in published results.
    """
    sequence = tuple(samples)
    mean = next(sample.value for sample in sequence if sample.metric == "latency_loop_mean")
    for sample in sequence:
        if sample.metric == "latency":
            yield replace(sample, value=mean)
        else:
            yield sample


def rate_samples(
    point: MeasuredPoint, series: str = "rate", metric: str = "bandwidth"
) -> Iterable[Sample]:
    """Yield the samples of `rate_metrics`: quantiles of a series, and a mean over a loop."""
    yield from spread_samples(point, series, metric)
    mean = point.positive(f"loop_{series}")
    yield point.sample(f"{metric}_loop_mean", mean)


class MpiFunction(Probe[Any]):
    """The probe of an MPI function by message size, which runs a benchmark of mpibench.

    ``latency`` is the median over iterations of the slowest rank's time. Further metrics have the
    definitions of OSU, IMB and HPC Challenge:

    - ``latency_loop_mean``: mean over a plain loop of calls and over all ranks (OSU's latency;
      t_avg of IMB's PingPong, Sendrecv, Exchange and Barrier).
    - ``latency_loop_mean_max``: mean over a plain loop, of the slowest rank (IMB's t_max, HPC
      Challenge's rings).
    - ``latency_rank_mean``: mean over individually timed calls and over all ranks (collectives of
      OSU, and of IMB since 2017).
    - ``latency_rank_mean_max``: mean over individually timed calls, of the slowest rank
      (collectives of OSU, and of IMB since 2017).
    """

    layer: ClassVar[Layer] = Layer.MPI
    params: type[Any] = MpiParams
    metrics: ClassVar[Mapping[str, Metric]] = latency_metrics()
    min_ranks: ClassVar[int] = 2
    #: Name of the benchmark in mpibench, if it differs from the probe's; parameters are in braces.
    benchmark: ClassVar[str] = ""
    smallest_bytes: ClassVar[int] = 0

    def command(self, params: Any, layout: Layout) -> Command:
        options = params.options(self.smallest_bytes)
        return native("mpibench", self._benchmark(params), *options, mpi=True)

    def _benchmark(self, params: Any) -> str:
        benchmark = self.benchmark or self.name.removeprefix("mpi.")
        return benchmark.format_map(asdict(params))

    def parse(self, params: Any, output: Output) -> ProbeReading:
        report = read_report(output, "mpibench", self._benchmark(params))
        self.check_points(params, report)
        looped = self.collective and output.clock == "simulated"
        samples: list[Sample] = []
        for point in report.points:
            measured = self.point_samples(point)
            samples += mean_of_loop(measured) if looped else measured
        caveats = ("cut",) if report.cut else ()
        return ProbeReading(tuple(samples), caveats=caveats)

    def check_points(self, params: Any, report: Report) -> None:
        measured = report.coordinates("size_bytes")
        for cut in report.cut:
            coordinates = cut.get("point")
            if not isinstance(coordinates, dict):
                coordinates = {}
            measured.append(coordinates.get("size_bytes"))
        requested = params.sizes(self.smallest_bytes)
        if sorted(measured, key=str) != sorted(requested, key=str):
            raise ParseError(f"the output has the sizes {measured} instead of {requested}")

    @staticmethod
    def point_samples(point: MeasuredPoint) -> Iterable[Sample]:
        """Return the samples of a point; the table row of a probe may set another function."""
        return latency_samples(point)
