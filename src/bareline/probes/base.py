"""Probes, and the way in which they are found.

A probe is one module of this package that ends in ``PROBE = ...``, or a row of one that ends in
``PROBES = (...)``. Plug-ins install theirs under the entry-point group ``bareline.probes``.
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
    """The content of one successful output.

    - `samples`: the measured values.
    - `caveats`: the reasons to doubt the whole trial, as codes of `CAVEATS`.
    - `facts`: the facts of the platform that only a running program finds out.
    - `arrays`: the size in bytes of each array, by the prefix of the metrics that it belongs to.
      The metrics of an array that fits into the platform's last-level cache get the caveat
      `in-cache`, because their rate is not the rate of memory.
    """

    samples: tuple[Sample, ...]
    caveats: tuple[str, ...] = ()
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    arrays: Mapping[str, int] = field(default_factory=dict)


class Probe(ABC, Generic[P]):
    """One benchmark or application that bareline can run and read.

    - `name`: layer and benchmark, e.g. ``mpi.allreduce``.
    - `layer`: its rung of the ladder.
    - `title`: its headline metric, as the subject of a sentence: "TCP throughput (nuttcp)".
    - `summary`: one line for ``bareline probes``.
    - `params`: frozen dataclass of parameters; every field has a default.
    - `metrics`: every metric that a successful trial delivers. The first is the headline: verdicts
      and adaptive stopping look at it.
    - `min_ranks`: fewest ranks it can run with.
    - `nodes`: nodes that it measures between; None where the layout gives their number. A study
      can set another number (``nodes = 1``: both ends on one node).
    - `collective`: it measures a function that all ranks call together: where simulated, its
      headline is the mean of a loop of calls.
    - `source`: where the benchmark is defined: the field's usual program or a publication.
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
        """Read the output of a successful launch; pure, and called once for an output.

        Samples without a `ProbeReading` are the form of version 0.3: the probe's methods
        `caveats`, `facts` and `arrays` then complete them.

        Raises ParseError: the output differs from a successful one.
        """

    def check_ranks(self, params: P, ranks: int, *, where: str | None = None) -> None:
        """Refuse a number of ranks that the benchmark cannot run with.

        Raises ProbeError: it cannot; the hint names numbers that it can.
        """
        if ranks < self.min_ranks:
            raise ProbeError(
                f"{self.name} needs at least {self.min_ranks} ranks, not {ranks}",
                where=where,
                hint=f"set ranks = {self.min_ranks}",
            )

    def delivers(self, params: P) -> Mapping[str, Metric]:
        """Return the metrics without which a trial with these parameters has failed.

        All of them, except where the program itself prints fewer with some option.
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
        """The metric that verdicts and adaptive stopping look at."""
        return next(iter(self.metrics))

    def make_params(self, given: Mapping[str, Scalar], *, where: str | None = None) -> P:
        """Turn a study's parameters into this probe's own, checked.

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
        """Return the parameters and their defaults."""
        return {
            field.name: field.default
            for field in fields(self.params)  # type: ignore[arg-type]
            if isinstance(field.default, str | int | float)
        }

    def declaration(self) -> dict[str, Any]:
        """Return the declaration of this probe for an analysis, as it is kept in a run."""
        return {
            "layer": self.layer.value,
            "title": self.title,
            "headline": self.headline,
            "defaults": self.defaults(),
            "metrics": {name: asdict(metric) for name, metric in self.metrics.items()},
        }

    def read(self, params: P, output: Output) -> ProbeReading:
        """Parse an output once and check the samples against the declared metrics.

        Raises ParseError: a declared metric is missing, an undeclared one is there, a value is not
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
                raise ParseError(f"{self.name} gave the undeclared metric '{sample.metric}'")
            unit = self.metrics[sample.metric].unit
            # A number without a unit may be a difference; times, sizes and rates have no sign.
            if not math.isfinite(sample.value) or (sample.value < 0 and unit != "1"):
                raise ParseError(f"{self.name} gave {sample.metric} = {sample.value!r}")
            key = (sample.metric, format_point(sample.point))
            if key in seen:
                raise ParseError(f"{self.name} gave {' '.join(key).strip()} twice")
            seen.add(key)
        missing = set(self.delivers(params)) - {sample.metric for sample in samples}
        if missing:
            raise ParseError(f"{self.name} gave no {', '.join(sorted(missing))}")


K = TypeVar("K", bound=Probe[Any])


def declared(kind: type[K], name: str, **row: Any) -> K:
    """Make the probe of a row of a table: the class of such probes leaves the rest open.

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
    """Return the checker of parameters; made once, since that takes milliseconds."""
    from pydantic import TypeAdapter

    return TypeAdapter(params)


@cache
def load_probes() -> Mapping[str, Probe[Any]]:
    """Find every probe of this package and of installed plug-ins, by name.

    Raises PluginError: two probes share a name, or a plug-in is not a probe.
    Raises ProbeError: one has a metric in a unit that is not stored.
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
    """Whether a probe has this name; of bareline's own probes, only its layer is imported."""
    if load_probes.cache_info().currsize or has_plugins(_PACKAGE):
        return name in load_probes()
    family = f"{_PACKAGE}.{name.partition('.')[0]}"
    return any(probe.name == name for _, probe in own(family, "PROBE", deep=True))


def find_probe(name: str, *, where: str | None = None) -> Probe[Any]:
    """Return the probe of this name.

    Raises ProbeError: there is none; the message names the closest.
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
    """List the probes, or one of them, with parameters and metrics.

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
    """Return the external programs that probes run, with their probes.

    The shell is not a benchmark.
    """
    needed: dict[str, list[str]] = {}
    for probe in load_probes().values():
        layout = Layout(nodes=2, ranks_per_node=max(1, probe.min_ranks // 2))
        for name in probe.command(probe.make_params({}), layout).requires:
            if name != "sh":
                needed.setdefault(name, []).append(probe.name)
    return {name: tuple(probes) for name, probes in needed.items()}
