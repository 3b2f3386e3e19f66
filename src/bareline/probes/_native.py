"""The reader of bareline's own programs: JSON lines with a header, points and an end.

::

    {"bareline": 1, "program": "mpibench", "benchmark": "pingpong", ...}
    {"point": {"size_bytes": 8}, "iterations": 1000, "verified": true, "time": {"median": ...}}
    {"end": true, "points": 1, "cut": []}

The end line distinguishes a complete output from a truncated one. ``cut`` names points that were
left out because they exceeded their time budget.
"""

from __future__ import annotations

import json
import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard, TypeVar

from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import OutOfTime, ParseError
from bareline.vocabulary.facts import NO_FLAGS
from bareline.vocabulary.instructions import BLAS_KERNELS
from bareline.vocabulary.model import Better, Command, Layout, Metric, Output, Sample, Scalar

P = TypeVar("P")

_PROTOCOL = 1
_UNIT = re.compile(r"_(s|bytes)$")
#: Quantiles that every per-iteration series carries; "median" is the value of a trial.
QUANTILES = ("min", "q1", "q3", "p95", "p99", "max")


def native(program: str, *words: str, mpi: bool = False, storage_bytes: int = 0) -> Command:
    """Return the command of one of bareline's own programs."""
    argv = (f"{{native}}/{program}", *words)
    return Command(argv=argv, mpi=mpi, storage_bytes=storage_bytes)


def options(params: object, *names: str) -> tuple[str, ...]:
    """Return parameters as a program's options.

    An option is named without the unit of its parameter: ``budget_s`` becomes ``--budget``.
    """
    words: list[str] = []
    for name in names:
        value = getattr(params, name)
        without_unit = _UNIT.sub("", name)
        words.append("--" + without_unit.replace("_", "-"))
        if isinstance(value, float):
            words.append(f"{value:g}")
        else:
            words.append(str(value))
    return tuple(words)


def counted(**counts: int) -> tuple[str, ...]:
    """Return numbers as one-letter options; a 0 is left out, so that the program chooses."""
    words: list[str] = []
    for letter, count in counts.items():
        if count:
            words += (f"-{letter}", str(count))
    return tuple(words)


def spread_metrics(metric: str, unit: str, better: Better) -> dict[str, Metric]:
    """Return the metrics of the samples that `spread_samples` yields."""
    details = {f"{metric}_{name}": Metric(unit, better, detail=True) for name in QUANTILES}
    return {metric: Metric(unit, better), **details}


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """A measured point: its parameters and the fields of its line."""

    coordinates: Mapping[str, Scalar]
    fields: Mapping[str, Any]

    def number(self, name: str) -> float:
        """Return a numeric field.

        Raises ParseError: the field is missing or not a number.
        """
        return self._number(self.fields, name)

    def positive(self, name: str, quantile: str = "") -> float:
        """Return a positive time or rate, or a positive quantile of its series.

        Raises ParseError: the value is missing, not a number, zero or negative.
        """
        value = self.quantile(name, quantile) if quantile else self.number(name)
        return positive(value, name, self)

    def quantile(self, series: str, name: str) -> float:
        """Return a quantile of a series over iterations; raises ParseError as in `number`."""
        values = self.fields.get(series)
        if not isinstance(values, Mapping):
            raise ParseError(
                f"the output's point {dict(self.coordinates)} has no series '{series}'"
            )
        return self._number(values, name)

    def _number(self, fields: Mapping[str, Any], name: str) -> float:
        value = fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParseError(f"the point {dict(self.coordinates)} has no number '{name}'")
        return float(value)

    def sample(self, metric: str, value: float, caveats: tuple[str, ...] = ()) -> Sample:
        """Return a sample of a metric at this point."""
        return Sample(metric, value, self.coordinates, caveats)


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a complete output.

    - `cut`: the points that were left out because they exceeded their time budget.
    """

    header: Mapping[str, Any]
    points: tuple[MeasuredPoint, ...]
    cut: tuple[Mapping[str, Any], ...]

    @property
    def point(self) -> MeasuredPoint:
        """The only point of the output.

        Raises ParseError: the output has another number of points.
        """
        if len(self.points) != 1:
            raise ParseError(f"the output has {len(self.points)} points instead of one")
        return self.points[0]

    def coordinates(self, name: str) -> list[Scalar | None]:
        """Return the coordinate of each point; None for a point without this coordinate."""
        return [point.coordinates.get(name) for point in self.points]

    def count(self, name: str) -> int:
        """Return a positive count of the header.

        Raises ParseError: the header has no such count.
        """
        value = self.header.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParseError(
                f"the output's header has {name} = {value!r} instead of a whole number above 0"
            )
        return value

    @property
    def requested_bytes(self) -> int:
        """The size of an array, in bytes, from the options in the header.

        Raises ParseError: the options have no size.
        """
        options = self.header.get("options")
        size_bytes = options.get("size_bytes") if isinstance(options, Mapping) else None
        if isinstance(size_bytes, bool) or not isinstance(size_bytes, int):
            raise ParseError("the header does not give the size of the arrays")
        return size_bytes

    def check(self, params: object, *names: str) -> None:
        """Check that the parameters in the program's output are the requested parameters.

        Raises ParseError: the program used other parameters.
        """
        printed_values = self.header.get("options")
        for name in names:
            wanted = getattr(params, name)
            printed = printed_values.get(name) if isinstance(printed_values, Mapping) else None
            if not _same_value(printed, wanted):
                raise ParseError(f"the program reports {name} = {printed!r} instead of {wanted!r}")


def _same_value(printed: object, wanted: object) -> bool:
    """Return whether a program printed the requested value, which it may have rounded."""
    if isinstance(wanted, float) and isinstance(printed, int | float):
        return math.isclose(printed, wanted, rel_tol=1e-9)
    return printed == wanted


def read_report(output: Output, program: str, benchmark: str) -> Report:
    """Return the content of a complete output of one of bareline's own programs.

    Raises ParseError: the output is empty, truncated or damaged, it is of another program or
    benchmark, or the program did not verify the result of a point.
    """
    lines = output.stdout.splitlines()
    if not lines:
        raise ParseError("the output is empty")
    rows = [read_object(line, number) for number, line in enumerate(lines, 1)]
    header = rows[0]
    end = rows[-1]
    if header.get("bareline") != _PROTOCOL:
        raise ParseError("the first line is not the header of a bareline program")
    source = (header.get("program"), header.get("benchmark"))
    if source != (program, benchmark):
        raise ParseError(f"the output is of {source[0]} {source[1]}, not of {program} {benchmark}")
    if end.get("end") is not True:
        raise ParseError("the output is truncated: its last line is missing")
    points = tuple(_point(row) for row in rows[1:-1])
    if end.get("points") != len(points):
        raise ParseError(
            f"the output has {len(points)} points, but its last line reports {end.get('points')}"
        )
    cut = end.get("cut", [])
    if not points and cut:
        raise OutOfTime(
            "no point was measured: at every point, even the fewest iterations took longer"
            " than its budget",
            hint="raise `budget_s` of the [[measure]], or measure when the machine is quiet",
        )
    if not points:
        raise ParseError("the output has no measured point")
    return Report(header, points, tuple(cut))


def read_object(line: str, number: int) -> dict[str, Any]:
    """Return the JSON object in a line of a program.

    Raises ParseError: the line is not a JSON object.
    """
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ParseError(f"line {number} is not JSON: {line[:80]!r}") from error
    if not isinstance(row, dict):
        raise ParseError(f"line {number} is not a JSON object: {line[:80]!r}")
    return row


def _are_coordinates(content: object) -> TypeGuard[dict[str, Scalar]]:
    if not isinstance(content, dict):
        return False
    return all(isinstance(value, str | int | float | bool) for value in content.values())


def _point(row: Mapping[str, Any]) -> MeasuredPoint:
    coordinates = row.get("point")
    if not _are_coordinates(coordinates):
        raise ParseError(f"a line of the output is not a measured point: {str(dict(row))[:80]}")
    if row.get("verified") is False:
        raise ParseError(f"the result of the point {coordinates} is wrong")
    return MeasuredPoint(coordinates, row)


def positive(value: float, name: str, point: MeasuredPoint) -> float:
    """Return a time or rate unchanged, if it is positive.

    Raises ParseError: the value is zero or negative.
    """
    if value <= 0:
        raise ParseError(
            f"the point {dict(point.coordinates)} has {name} = {value}, which must be above 0"
        )
    return value


def spread_samples(
    point: MeasuredPoint,
    series: str,
    metric: str,
    *,
    coordinates: Mapping[str, Scalar] | None = None,
) -> Iterable[Sample]:
    """Yield a series' median as `metric`, and its other quantiles as ``metric_min`` etc.

    - `coordinates`: the coordinates of the samples; the point's own by default.
    """
    if coordinates is None:
        coordinates = point.coordinates
    median = positive(point.quantile(series, "median"), metric, point)
    yield Sample(metric, median, coordinates)
    for name in QUANTILES:
        yield Sample(f"{metric}_{name}", point.quantile(series, name), coordinates)


#: Longer texts of compiler flags are truncated to this length.
_MOST_FLAGS = 300
#: Makes OpenBLAS print its choice of kernels on standard error when it is loaded.
TELL_KERNELS = ("OPENBLAS_VERBOSE", "2")
_PRINTED = re.compile(r"^Core: (\w+)$", re.MULTILINE)


def kernels_of_header(header: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return the BLAS kernels that a program's header names, as a fact; empty without kernels."""
    kernels = header.get("blas_kernels")
    return {BLAS_KERNELS: kernels} if isinstance(kernels, str) and kernels else {}


def build_of_header(header: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return a program's compilers and flags, as facts; empty if its header has none."""
    compiled = header.get("compiled")
    if not isinstance(compiled, dict):
        return {}
    texts = {name: compiled.get(name) for name in ("c", "fortran", "flags")}
    printed = {name: text for name, text in texts.items() if isinstance(text, str)}
    if "flags" in printed:
        printed["flags"] = printed["flags"] or NO_FLAGS
    return {f"native.{name}": text[:_MOST_FLAGS] for name, text in printed.items() if text}


def kernels_printed(output: Output) -> dict[str, Scalar]:
    """Return the BLAS kernels that a program printed, as a fact; empty without kernels.

    The program prints them if its environment contains `TELL_KERNELS`. The processes may use
    different kernels.
    """
    kernels = sorted(set(_PRINTED.findall(output.stderr)))
    return {BLAS_KERNELS: ", ".join(kernels)} if kernels else {}


class Nodebench(Probe[P]):
    """The probe of a benchmark of nodebench; ``memory.stream`` runs the benchmark ``stream``.

    - `options`: parameters that are options of the program, in order. If the layout has more than
      one thread, the option ``--threads`` follows the option ``mode``; otherwise, the mode decides
      the number of threads.
    - `repeated`: parameters that the program must repeat in the header of its output.
    """

    options: ClassVar[tuple[str, ...]] = ()
    repeated: ClassVar[tuple[str, ...]] = ()

    def words(self, params: P) -> Iterable[str]:
        """Return the names of the parameters that are options of the program."""
        return self.options

    def command(self, params: P, layout: Layout) -> Command:
        threads = layout.threads_per_rank
        words: list[str] = []
        for name in self.words(params):
            words += options(params, name)
            if name == "mode" and threads > 1:
                words += ("--threads", str(threads))
        return native("nodebench", self.benchmark, *words)

    @property
    def benchmark(self) -> str:
        """Name of the benchmark in the program."""
        return self.name.partition(".")[2]

    def parse(self, params: P, output: Output) -> ProbeReading:
        """Return the samples, and facts: the compilers, their flags, and printed BLAS kernels."""
        report = read_report(output, "nodebench", self.benchmark)
        report.check(params, *self.repeated)
        return ProbeReading(
            samples=tuple(self.samples(params, report)),
            caveats=self.caveats_of(report),
            facts={**build_of_header(report.header), **kernels_of_header(report.header)},
            arrays=self.arrays_of(report),
        )

    @abstractmethod
    def samples(self, params: P, report: Report) -> Iterable[Sample]:
        """Return the samples of a complete output of a run with these parameters."""

    def caveats_of(self, report: Report) -> tuple[str, ...]:
        """Return the reasons to doubt all values of the output."""
        return ()

    def arrays_of(self, report: Report) -> Mapping[str, int]:
        """Return the size in bytes of each array; see `ProbeReading`."""
        return {}
