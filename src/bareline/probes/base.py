"""The interface of probes, and the search for them.

A probe is a module of this package that ends in ``PROBE = ...``, or a table row of a module that
ends in ``PROBES = (...)``. Plug-ins install probes under the entry-point group ``bareline.probes``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from inspect import getdoc, isfunction
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

from typing_extensions import TypedDict

from bareline.vocabulary.errors import ParseError, ProbeError, did_you_mean
from bareline.vocabulary.model import (
    Better,
    Command,
    Layer,
    Layout,
    Metric,
    Output,
    Sample,
    Scalar,
    format_point,
)
from bareline.vocabulary.plugins import brought, checked, has_plugins, named, own
from bareline.vocabulary.rows import Params, row_of
from bareline.vocabulary.units import BASE_UNITS
from bareline.vocabulary.validation_errors import problem_of

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """The content of a successful output.

    - `samples`: the measured values.
    - `caveats`: the reasons to doubt the whole trial, as codes of `CAVEATS`.
    - `facts`: facts of the platform that only a running program can find.
    - `arrays`: the size in bytes of each array, by the prefix of the array's metrics. The metrics
      of an array that fits into the platform's last-level cache get the caveat `in-cache`, because
      their rate is not the rate of memory.
    """

    samples: tuple[Sample, ...]
    caveats: tuple[str, ...] = ()
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    arrays: Mapping[str, int] = field(default_factory=dict)


class Probe(ABC, Generic[P]):
    """A benchmark or application whose program bareline runs and whose output it reads.

    - `name`: layer and benchmark, e.g. ``mpi.allreduce``.
    - `layer`: layer of the system that the probe measures, for example the processor or MPI.
    - `title`: name of the main metric, as the subject of a sentence: "TCP throughput (nuttcp)".
    - `summary`: one line for ``bareline probes``.
    - `params`: frozen dataclass of parameters; every field has a default.
    - `metrics`: every metric that a successful trial delivers. The first is the main metric, which
      verdicts and adaptive stopping use.
    - `min_ranks`: least number of ranks.
    - `nodes`: number of nodes between which the probe measures; None if the layout defines it. A
      study can set another number (with ``nodes = 1``, both ends are on one node).
    - `collective`: whether the probe measures a function that all ranks call together. On a
      simulated platform, its main metric is then the mean of a loop of calls.
    - `source`: definition of the benchmark: the usual program of the field, or a publication.
    """

    name: ClassVar[str]
    layer: ClassVar[Layer]
    title: ClassVar[str]
    summary: ClassVar[str]
    params: type[P]
    metrics: ClassVar[Mapping[str, Metric]]
    min_ranks: ClassVar[int] = 1
    nodes: ClassVar[int | None] = None
    collective: ClassVar[bool] = False
    source: ClassVar[str] = ""

    @abstractmethod
    def command(self, params: P, layout: Layout) -> Command:
        """Return the command to execute."""

    @abstractmethod
    def parse(self, params: P, output: Output) -> ProbeReading | Iterable[Sample]:
        """Return the values in the output of a successful launch.

        The method is a pure function and is called once for each output.

        A probe that was written for bareline 0.3 returns samples without a `ProbeReading`. In this
        case, its methods `caveats`, `facts` and `arrays` are also called.

        Raises ParseError: the output differs from a successful one.
        """

    def check_ranks(self, params: P, ranks: int, *, where: str | None = None) -> None:
        """Check that the benchmark can run with a number of ranks.

        Raises ProbeError: the benchmark cannot run with this number; the hint names valid numbers.
        """
        if ranks < self.min_ranks:
            raise ProbeError(
                f"{self.name} needs at least {self.min_ranks} ranks, not {ranks}",
                where=where,
                hint=f"set ranks = {self.min_ranks}",
            )

    def delivers(self, params: P) -> Mapping[str, Metric]:
        """Return the metrics without which a trial with these parameters has failed.

        By default, these are all metrics. With some options, a program prints fewer metrics.
        """
        return self.metrics

    def caveats(self, params: P, output: Output) -> Iterable[str]:
        """Return `ProbeReading.caveats`, if `parse` returns only samples."""
        return ()

    def facts(self, params: P, output: Output) -> Mapping[str, Scalar]:
        """Return `ProbeReading.facts`, if `parse` returns only samples."""
        return {}

    def arrays(self, params: P, output: Output) -> Mapping[str, int]:
        """Return `ProbeReading.arrays`, if `parse` returns only samples."""
        return {}

    @property
    def headline(self) -> str:
        """The name of the main metric, which verdicts and adaptive stopping use."""
        return next(iter(self.metrics))

    def make_params(self, given: Mapping[str, Scalar], *, where: str | None = None) -> P:
        """Check the parameters that a study sets, and return them as an instance of `params`.

        Raises ProbeError: a parameter is unknown, of the wrong type or out of range.
        """
        from pydantic import ValidationError

        kind: Any = self.params
        names = [field.name for field in fields(kind)]
        for key in given:
            if key not in names:
                hint = did_you_mean(key, names, f"it takes: {', '.join(names)}")
                raise ProbeError(f"{self.name} has no parameter '{key}'", where=where, hint=hint)
        try:
            checked: P = _adapter_of(kind).validate_python(dict(given))
        except ValidationError as error:
            problem = problem_of(error)
            raise ProbeError(
                f"{self.name}: parameter '{problem.key}': {problem.clause}",
                where=where,
                hint=f"see `bareline probes {self.name}`",
            ) from error
        except ValueError as error:
            raise ProbeError(f"{self.name}: {error}", where=where) from error
        return checked

    def defaults(self) -> dict[str, Scalar]:
        """Return the parameters with their default values."""
        return {
            field.name: field.default
            for field in fields(self.params)  # type: ignore[arg-type]
            if isinstance(field.default, str | int | float)
        }

    def declaration(self) -> dict[str, Any]:
        """Return the declaration of this probe, which a run stores for its analysis."""
        return {
            "layer": self.layer.value,
            "title": self.title,
            "headline": self.headline,
            "defaults": self.defaults(),
            "metrics": {name: asdict(metric) for name, metric in self.metrics.items()},
        }

    def read(self, params: P, output: Output) -> ProbeReading:
        """Return the content of an output, checked against the declared metrics.

        Raises ParseError: a declared metric is missing, a metric is not declared, a value is not
        finite, a time or rate is negative, or a point appears twice.
        """
        parsed = self.parse(params, output)
        if isinstance(parsed, ProbeReading):
            self._check_samples(params, parsed.samples)
            return parsed
        samples = tuple(parsed)
        self._check_samples(params, samples)
        return ProbeReading(
            samples,
            caveats=tuple(self.caveats(params, output)),
            facts=self.facts(params, output),
            arrays=self.arrays(params, output),
        )

    def _check_samples(self, params: P, samples: tuple[Sample, ...]) -> None:
        seen: set[tuple[str, str]] = set()
        for sample in samples:
            if sample.metric not in self.metrics:
                raise ParseError(
                    f"the probe {self.name} gave the metric '{sample.metric}', which it does not"
                    " declare"
                )
            unit = self.metrics[sample.metric].unit
            # A number without a unit may be a difference; times, sizes and rates have no sign.
            if not math.isfinite(sample.value) or (sample.value < 0 and unit != "1"):
                raise ParseError(
                    f"the probe {self.name} gave the invalid value {sample.metric} ="
                    f" {sample.value!r}"
                )
            key = (sample.metric, format_point(sample.point))
            if key in seen:
                raise ParseError(f"the probe {self.name} gave {' '.join(key).strip()} twice")
            seen.add(key)
        missing = set(self.delivers(params)) - {sample.metric for sample in samples}
        if missing:
            raise ParseError(f"the probe {self.name} gave no value of {', '.join(sorted(missing))}")


K = TypeVar("K", bound=Probe[Any])


def declared(kind: type[K], name: str, **row: Any) -> K:
    """Return the probe of a table row; the row sets the attributes that the class leaves open.

    Raises TypeError: the row has an attribute that the class lacks.
    """
    attributes: set[str] = set()
    for ancestor in kind.__mro__:
        attributes.update(vars(ancestor), vars(ancestor).get("__annotations__", ()))
    if unknown := sorted(row.keys() - attributes):
        raise TypeError(f"{name}: a {kind.__name__} has no {', '.join(unknown)}")
    namespace: dict[str, Any] = {"name": name, "__doc__": kind.__doc__}
    for key, value in row.items():
        # A function of a row gets no self, as one that a class defines would.
        namespace[key] = staticmethod(value) if isfunction(value) else value
    made = type(kind.__name__, (kind,), namespace)()
    assert isinstance(made, kind)
    return made


#: Where bareline's own probes are, and the entry-point group of plug-ins.
_PACKAGE = "bareline.probes"


@cache
def _adapter_of(params: Any) -> Any:
    """Return the checker of parameters; it is cached, because its creation takes milliseconds."""
    from pydantic import TypeAdapter

    return TypeAdapter(params)


@cache
def load_probes() -> Mapping[str, Probe[Any]]:
    """Return every probe of this package and of installed plug-ins, by name.

    Raises PluginError: two probes have the same name, or a plug-in is not a probe.
    Raises ProbeError: a probe has a metric in a unit that cannot be stored.
    """
    plugins = chain(own(_PACKAGE, "PROBE", deep=True), brought(_PACKAGE))
    probes = list(checked("probe", plugins, Probe))
    for where, probe in probes:
        for metric, declared_metric in probe.metrics.items():
            if declared_metric.unit not in BASE_UNITS:
                raise ProbeError(
                    f"metric '{metric}' of {probe.name} has the unit '{declared_metric.unit}'",
                    where=where,
                    hint=f"use one of {', '.join(sorted(BASE_UNITS))}",
                )
    order = list(Layer)
    probes.sort(key=lambda pair: (order.index(pair[1].layer), pair[1].name))
    return named("probe", probes, lambda probe: probe.name)


def is_probe(name: str) -> bool:
    """Return whether a probe has this name.

    Without plug-ins, only the package of the name's first part is imported, to save time.
    """
    if load_probes.cache_info().currsize or has_plugins(_PACKAGE):
        return name in load_probes()
    family = f"{_PACKAGE}.{name.partition('.')[0]}"
    return any(probe.name == name for _, probe in own(family, "PROBE", deep=True))


def find_probe(name: str, *, where: str | None = None) -> Probe[Any]:
    """Return the probe of this name.

    Raises ProbeError: there is no such probe; the message contains similar names.
    """
    probes = load_probes()
    if name in probes:
        return probes[name]
    hint = did_you_mean(name, probes, "`bareline probes` lists them")
    raise ProbeError(f"no probe is named '{name}'", where=where, hint=hint)


class MetricDeclared(TypedDict):
    """A metric of a probe."""

    metric: str
    unit: str
    better: Better
    detail: bool


class ProbeListed(TypedDict):
    """``probes``: a probe with parameters and metrics."""

    probe: str
    layer: Layer
    title: str
    summary: str
    source: str
    min_ranks: int
    nodes: int | None
    headline: str
    params: Params
    metrics: list[MetricDeclared]
    about: str


def probe_rows(name: str | None = None) -> list[ProbeListed]:
    """Return all probes, or the named one, with parameters and metrics.

    Raises ProbeError: there is no probe of that name.
    """
    chosen = list(load_probes().values()) if name is None else [find_probe(name)]
    return [_probe_row(probe) for probe in chosen]


def _probe_row(probe: Probe[Any]) -> ProbeListed:
    metrics = [row_of(MetricDeclared, metric, metric=key) for key, metric in probe.metrics.items()]
    return row_of(
        ProbeListed,
        probe,
        probe=probe.name,
        params=probe.defaults(),
        metrics=metrics,
        about=getdoc(probe.params) or "",
    )


def required_programs() -> Mapping[str, tuple[str, ...]]:
    """Return the external programs that probes run, each with its probes.

    The shell is left out, because it is not a benchmark.
    """
    needed: dict[str, list[str]] = {}
    for probe in load_probes().values():
        layout = Layout(nodes=2, ranks_per_node=max(1, probe.min_ranks // 2))
        for name in probe.command(probe.make_params({}), layout).requires:
            if name != "sh":
                needed.setdefault(name, []).append(probe.name)
    return {name: tuple(probes) for name, probes in needed.items()}
