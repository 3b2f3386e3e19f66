"""The result of a reader: a measurement of a launch with its case, or the reason of a failure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from bareline.formats.damage import Omission
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.message_codes import code_of
from bareline.vocabulary.model import (
    Case,
    Failed,
    Layer,
    Measured,
    Metric,
    Sample,
    Scalar,
    Stage,
    format_point,
)
from bareline.vocabulary.sanitize import cleaned, sanitized_name, short_name

#: Number of ranks of a case whose output does not contain the number.
UNKNOWN_RANKS = 0

LATENCY = Metric("s", "lower")
BANDWIDTH = Metric("B/s", "higher")
MESSAGE_RATE = Metric("op/s", "higher")
OVERLAP = Metric("%", "higher")
#: The metrics of a benchmark that failed before it printed its metrics.
UNTOLD: Mapping[str, Metric] = MappingProxyType({"value": Metric("1", "none")})
#: A time for which neither less nor more is better, such as the time of overlapped computation.
CONTEXT = Metric("s", "none", detail=True)


def as_detail(metric: Metric) -> Metric:
    """Return a metric marked as a detail: it describes another metric's spread, or repeats it."""
    return Metric(metric.unit, metric.better, detail=True)


#: A column of a table: its title, its metric, and the factor to the metric's unit.
Column = tuple[str, Metric, float]


#: The main metric of a table is the first of these metrics that the table has.
_HEADLINES = ("latency", "bandwidth", "latency_mean")


def metrics_of(columns: Sequence[Column], missing: str) -> dict[str, Metric]:
    """Return the metrics of a table's columns.

    The latency is first; if the table has no latency, the bandwidth is first.

    Raises ParseError: there is neither a latency nor a bandwidth, or a metric twice.
    """
    metrics = {name: metric for name, metric, _ in columns}
    if len(metrics) < len(columns):
        raise ParseError("two columns have the same metric")
    first = next((name for name in _HEADLINES if name in metrics), None)
    if first is None:
        raise ParseError(missing)
    return {first: metrics[first], **metrics}


def unread(error: ParseError) -> Failed:
    """Return the outcome of an unreadable output."""
    return Failed(Stage.PARSE, str(error), code_of(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One measurement found in the output of one launch.

    - `probe`: program and benchmark, e.g. ``osu.latency``; never the name of a probe of bareline.
    - `title`: the measurement as a part of a sentence: "the latency".
    - `metrics`: every metric of the trial, the main one first.
    - `params`: the other parameters that identify the case.
    - `ranks`: number of MPI ranks; `UNKNOWN_RANKS` if the output does not contain it.
    - `platform`: name of the platform in the output, "" if it has none.
    - `left_out`: rows and values that the reader left out.
    - `ignored`: settings that do not belong to the case, each with the reason.
    """

    probe: str
    title: str
    layer: Layer
    metrics: Mapping[str, Metric]
    outcome: Measured | Failed
    params: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    ranks: int = 1
    threads: int = 1
    caveats: tuple[str, ...] = ()
    platform: str = ""
    left_out: tuple[Omission, ...] = ()
    ignored: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        metrics = {
            short_name(name): replace(metric, unit=sanitized_name(metric.unit))
            for name, metric in self.metrics.items()
        }
        set_field = object.__setattr__
        set_field(self, "probe", short_name(self.probe))
        if metrics != self.metrics:
            set_field(self, "metrics", metrics)
            if isinstance(self.outcome, Measured):
                samples = (
                    replace(sample, metric=short_name(sample.metric))
                    for sample in self.outcome.samples
                )
                set_field(self, "outcome", Measured(tuple(samples)))

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The measured samples.

        Raises ParseError: the measurement failed.
        """
        if isinstance(self.outcome, Failed):
            raise ParseError(self.outcome.reason)
        return self.outcome.samples

    def case(self, ranks: int | None = None) -> Case:
        """Return the case of the measurement; only trials of the same case are compared.

        - `ranks`: number of ranks, if the output does not contain it.
        """
        used_ranks = self.ranks or ranks or UNKNOWN_RANKS
        params = cleaned(format_point(self.params))
        return Case(probe=self.probe, params=params, ranks=used_ranks, threads=self.threads)

    def declaration(self) -> dict[str, Any]:
        """Return the declaration of the probe, in the form in which a run stores declarations."""
        return {
            "layer": self.layer.value,
            "title": cleaned(self.title),
            "headline": next(iter(self.metrics)),
            "metrics": {name: asdict(metric) for name, metric in self.metrics.items()},
        }


def outcome_of(
    metrics: Mapping[str, Metric],
    read: Callable[[], Iterable[Sample]],
    left_out: list[Omission] | None = None,
) -> Measured | Failed:
    """Return the samples of an output, checked against its metrics, or the failure.

    - `metrics`: exactly the metrics that the samples must have.
    - `read`: yields the samples; raises `ParseError` if the output is not a successful one.
    - `left_out`: collects values that are not measurements; without this list, a single such value
      makes the output unreadable. The first of `metrics` is always required.
    """
    try:
        samples = _finite(read(), left_out)
        seen = {sample.metric for sample in samples}
        wrong = seen ^ set(metrics)
        if left_out:
            headline = next(iter(metrics))
            wrong = (seen - set(metrics)) | ({headline} - seen)
            if headline in wrong and all(not each.lost for each in left_out):
                raise ParseError(f"there is no measured {headline}: {left_out[0]}")
            if headline in wrong:
                lost = next(each for each in left_out if each.lost)
                raise ParseError(f"{headline} cannot be read: {lost}")
        if wrong:
            raise ParseError(
                f"the output has no values, or no complete values, of {', '.join(sorted(wrong))}"
            )
    except ParseError as error:
        return unread(error)
    return Measured(samples)


def _finite(samples: Iterable[Sample], left_out: list[Omission] | None) -> tuple[Sample, ...]:
    """Return the samples that are finite and not negative.

    Raises ParseError: a sample appears twice.
    """
    finite: list[Sample] = []
    seen: set[tuple[str, str]] = set()
    for sample in samples:
        if not math.isfinite(sample.value) or sample.value < 0:
            reason = f"{sample.metric} = {sample.value} is not a valid measurement"
            if left_out is None:
                raise ParseError(reason)
            left_out.append(Omission(reason))
            continue
        key = (sample.metric, format_point(sample.point))
        if key in seen:
            raise ParseError(f"{' '.join(key).strip()} appears twice")
        seen.add(key)
        finite.append(sample)
    return tuple(finite)
