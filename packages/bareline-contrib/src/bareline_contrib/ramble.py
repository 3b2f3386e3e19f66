"""The importer of Ramble's, and thus Benchpark's, ``ramble workspace analyze -f json``.

Every experiment is a launch. Summaries over repeats are left out, because the file also contains
the repeats. Each figure of merit declares whether more or less is better.

References
----------
D. Jacobsen and R. Bird, "Ramble: a flexible, extensible, and composable experimentation
framework", SC-W 2023, doi:10.1145/3624062.3624205.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.document import JsonModel, document_starts, find_object, read_object
from bareline.formats.foreign import ForeignFigure, figure, plain_name
from bareline.formats.importer import Importer, holding
from bareline.formats.reading import UNTOLD, Reading, outcome_of
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Better, Failed, Layer, Measured, Sample, Scalar, Stage

_SNIFF = re.compile(r'"experiments"\s*:\s*\[(?s:.*)"RAMBLE_STATUS"\s*:')
_DIRECTIONS: Mapping[str, Better] = {"HIGHER": "higher", "LOWER": "lower"}
#: Stages of experiments that Ramble does not call a success; the rest ended badly.
_STAGES = {"TIMEOUT": Stage.TIMEOUT, "SETUP": Stage.ABSENT, "UNKNOWN": Stage.ABSENT}
#: Kinds of figures that are words about the experiment.
_WORDS = ("CATEGORY", "INFO")
NEGATIVE = "negative figures of merit were left out"


class _Kind(JsonModel):
    name: str = "MEASURE"
    better_direction: str = "INDETERMINATE"


class _Merit(JsonModel):
    """A figure of merit; its value is often a text."""

    name: str
    value: float | str | None
    units: str | None = ""
    origin: str = ""
    origin_type: str = "application"
    fom_type: _Kind = _Kind()

    @property
    def number(self) -> float | None:
        """The value of the figure of merit, if it is a number."""
        if self.value is None or self.fom_type.name in _WORDS:
            return None
        try:
            value = float(self.value)
        except ValueError:
            return None
        return value if math.isfinite(value) else None

    @property
    def figure(self) -> ForeignFigure:
        """The figure of merit as a metric; a modifier's figure has the modifier's name."""
        own = self.origin_type in ("application", "summary::mean")
        name = self.name if own else f"{self.origin}.{self.name}"
        return figure(name, self.units or "", _DIRECTIONS.get(self.fom_type.better_direction))


class _Context(JsonModel):
    name: str
    display_name: str | None = None
    foms: list[_Merit]


class _Experiment(JsonModel):
    name: str
    status: str = Field(alias="RAMBLE_STATUS")
    application_name: str | None = None
    workload_name: str | None = None
    n_ranks: int | str | None = None
    n_threads: int | str | None = None
    n_nodes: int | str | None = None
    repeats: int | str | None = Field(default=0, alias="N_REPEATS")
    variables: dict[str, Any] = Field(default_factory=dict, alias="RAMBLE_VARIABLES")
    contexts: list[_Context] = Field(default_factory=list, alias="CONTEXTS")

    @property
    def probe(self) -> str:
        """Application and workload, with which an experiment's full name begins."""
        told: tuple[str | None, ...] = (self.application_name, self.workload_name)
        if not any(told):
            told = (*self.repeated.split(".")[:2],)
        if not all(told):
            raise ParseError(f"{self.name}: its application or its workload is missing")
        return ".".join(plain_name(name or "") for name in told)

    @property
    def summary(self) -> bool:
        """Whether the experiment is a summary of repeats, which did not run itself."""
        return _count(self.repeats) > 0

    @property
    def repeated(self) -> str:
        """Name of the experiment without the number of the repeat."""
        index = _count(self.variables.get("repeat_index"))
        return self.name.removesuffix(f".{index}") if index else self.name


class _Report(JsonModel):
    experiments: Annotated[list[dict[str, Any]], Field(min_length=1)]


def split(text: str) -> Sequence[str]:
    """Return every experiment as separate results; damaged results stay whole."""
    try:
        content = find_object(text)
        experiments = _experiments(text)
    except ParseError:
        return (text,)
    if len(experiments) == 1:
        return (text,)
    return [
        json.dumps({**content, "experiments": [own]}, indent=1)
        for own in read_object(_Report, content).experiments
    ]


def read(text: str) -> Iterable[Reading]:
    """Return the trials of every experiment that is not a summary."""
    try:
        experiments = _experiments(text)
    except ParseError as error:
        yield _reading("unknown", {}, Failed(Stage.PARSE, str(error)))
        return
    yield from (_launch(one) for one in experiments if not one.summary)


def _experiments(text: str) -> list[_Experiment]:
    contents = read_object(_Report, find_object(text)).experiments
    experiments = [read_object(_Experiment, content) for content in contents]
    by_name = {one.name: one for one in experiments if one.probe}
    if len(by_name) < len(experiments):
        raise ParseError("an experiment stands twice")
    shown = {(one.name, one.display_name) for every in experiments for one in every.contexts}
    if not len(dict(shown)) == len({words for _, words in shown}) == len(shown):
        raise ParseError("a context has two names")
    repeats: dict[str, list[_Experiment]] = defaultdict(list)
    for one in experiments:
        if one.repeated != one.name:
            repeats[one.repeated].append(one)
    for name, own in repeats.items():
        if name in by_name:
            _check_summary(by_name[name], own)
    return experiments


def _check_summary(summary: _Experiment, repeats: Sequence[_Experiment]) -> None:
    """Check that the mean of repeats is Ramble's mean, within rounding."""
    good = [one for one in repeats if one.status == "SUCCESS"]
    told = _numbers(summary, "summary::mean")
    each = [_numbers(one, "application") for one in good]
    for key, mean in told.items():
        values = [numbers[key] for numbers in each if key in numbers]
        if len(values) == len(good) > 0 and not math.isclose(
            fmean(values), mean, rel_tol=0.01, abs_tol=0.01
        ):
            raise ParseError(f"'{key[1]}' of {summary.name}: its mean is not that of the repeats")


def _numbers(one: _Experiment, origin: str) -> dict[tuple[str, str], float]:
    return {
        (context.name, merit.name): merit.number
        for context in one.contexts
        for merit in context.foms
        if merit.origin_type == origin and merit.number is not None
    }


def _launch(one: _Experiment) -> Reading:
    probe = one.probe
    params: dict[str, Scalar] = {"experiment": one.repeated}
    if nodes := _count(one.n_nodes):
        params["nodes"] = nodes
    ranks, threads = _count(one.n_ranks), _count(one.n_threads) or 1
    if one.status != "SUCCESS":
        failed = Failed(_STAGES.get(one.status, Stage.EXIT), f"Ramble: {one.status}")
        return _reading(probe, params, failed, ranks=ranks, threads=threads)
    merits = [
        (context, merit, merit.number)
        for context in one.contexts
        for merit in context.foms
        if not merit.origin_type.startswith("summary::")
    ]
    samples = {}
    figures = {}
    for context, merit, number in merits:
        if number is None or number < 0:
            continue
        of = merit.figure
        figures[of.name] = of
        point = {} if context.name == "null" else {"context": context.display_name or context.name}
        samples[of.name, context.name] = Sample(of.name, number * of.factor, point)
    if not samples:
        failed = Failed(Stage.PARSE, "the experiment has no figure of merit that is a number")
        return _reading(probe, params, failed, ranks=ranks, threads=threads)
    negative = any(number is not None and number < 0 for _, _, number in merits)
    return _reading(
        probe,
        params,
        outcome_of({name: of.metric for name, of in figures.items()}, samples.values),
        figures=figures,
        ranks=ranks,
        threads=threads,
        caveats=(NEGATIVE,) if negative else (),
    )


def _count(value: Any) -> int:
    """Return a whole number that may be given as a text; 0 if there is none."""
    return int(value) if re.fullmatch(r"[1-9]\d{0,8}", str(value)) else 0


def _reading(
    probe: str,
    params: Mapping[str, Scalar],
    outcome: Measured | Failed,
    *,
    figures: Mapping[str, ForeignFigure] | None = None,
    ranks: int = 0,
    threads: int = 1,
    caveats: tuple[str, ...] = (),
) -> Reading:
    return Reading(
        probe=f"ramble.{probe}",
        title=f"{probe} (Ramble)",
        layer=Layer.APP,
        metrics={name: of.metric for name, of in (figures or {}).items()} or UNTOLD,
        params=params,
        ranks=ranks,
        threads=threads,
        outcome=outcome,
        caveats=caveats,
    )


IMPORTER = Importer(
    name="ramble",
    title="Ramble's or Benchpark's results in JSON",
    sniff=holding(_SNIFF),
    launches=split,
    starts=document_starts(_SNIFF),
    parse=read,
)
