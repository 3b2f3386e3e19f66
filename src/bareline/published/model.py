"""The classes that check the content of a file of published figures.

Figures are stored in the printed form: with all decimals, as a number, a range or a bound. Each
refers to the table, figure, slide or section that contains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bareline.published.findings import ClaimCheck, PublishedFinding
from bareline.published.quantities import UNITS, Condition
from bareline.vocabulary.model import Better

#: Kinds of published values: the measured value ("absolute"), or a comparison with a baseline.
Kind = Literal["absolute", "factor", "percent_decrease", "percent_increase", "efficiency"]
#: The baseline of a share of the hardware's limit; no platform of a document has this name.
PEAK = "peak"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Placed(_Table):
    """An entry that a part of the document prints; `where` is its place in this part, in words."""

    part: str
    where: str


class Printed(_Table):
    """A printed number: a value, a range with both ends, or a bound with one end.

    - `approx`: whether "about" or "around" is printed with the number.
    - `printed`: the words of the document if it uses no digits.
    """

    value: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    bound: Literal["at_least", "at_most"] | None = None
    approx: bool = False
    printed: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.value is None) == (self.low is None and self.high is None):
            raise ValueError("give either 'value' or 'low' and 'high'")
        if self.bound == "at_least" and self.low is None:
            raise ValueError("bound = \"at_least\" needs 'low'")
        if self.bound == "at_most" and self.high is None:
            raise ValueError("bound = \"at_most\" needs 'high'")
        if self.value is None and self.bound is None and None in (self.low, self.high):
            raise ValueError("a range needs both 'low' and 'high'; a limit needs 'bound'")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("'low' is above 'high'")
        return self

    @property
    def ends(self) -> tuple[Decimal | None, Decimal | None]:
        """The least and the greatest value of the printed number; None for an open end."""
        if self.value is not None:
            return self.value, self.value
        if self.bound == "at_most":
            return None, self.high
        if self.bound == "at_least":
            return self.low, None
        return self.low, self.high

    def __str__(self) -> str:
        if self.approx:
            return f"about {self._digits}"
        return self._digits

    @property
    def _digits(self) -> str:
        if self.value is not None:
            return str(self.value)
        if self.bound == "at_most":
            return f"at most {self.high}"
        if self.bound is None:
            return f"{self.low} to {self.high}"
        if self.high is None or self.low == self.high:
            return f"at least {self.low}"
        return f"at least {self.low} to {self.high}"


class Publication(_Table):
    """A ``[publication]``: the document, and the built-in study that repeats it.

    - `id`: the name in references (``nebula:table-4``); `short`: the name for people.
    - `title`: the title of the document; if it has none, of its source.
    - `notes`: remarks that apply to all its figures.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    short: str
    study: str
    title: str
    source: str
    authors: list[str] = []
    year: int | None = None
    venue: str | None = None
    notes: list[str] = []


class Part(_Table):
    """A ``[[part]]`` of the document: a table, figure, slide or section.

    - `id`: the name in references (``table-4``); `label`: the name in the document.
    - `plotted_only`: whether the part has no printed numbers, because the values are only plotted.
    - `weight`: the kind of its statements; statements of the abstract come first.
    """

    id: Annotated[str, Field(pattern=r"^[a-z]+(-[a-z0-9.]+)*$")]
    label: str
    shows: str = ""
    plotted_only: bool = False
    weight: Literal["abstract", "conclusions", "text"] = "text"


class PublishedPlatform(_Placed):
    """A ``[[platform]]`` of the document.

    - `against`: the platform to compare with if the document prints no ratio.
    - `variant_of`: the platform from which this platform differs only in settings.
    - `part_of`: the platform that contains this platform.
    """

    id: str
    name: str
    kind: Literal["hpc", "bare", "virtualized"]
    against: str | None = None
    variant_of: str | None = None
    part_of: str | None = None
    note: str = ""
    facts: dict[str, Any] = {}


class Likewise(_Table):
    """A ``[[benchmark.also]]``: another probe of the benchmark; its cases must also meet `at`."""

    probe: str
    metrics: dict[str, str]
    at: dict[str, Condition] = {}


class Benchmark(_Table):
    """A ``[[benchmark]]``: the probe that corresponds to a benchmark of the document.

    - `probe`: the name of the probe; ``*`` matches anything.
    - `metrics`: for each metric of the document, the probe's metric.
    - `shares`: for each metric that is a share of a peak, the probe's metric for the share.
    """

    name: str
    probe: str
    metrics: dict[str, str]
    shares: dict[str, str] = {}
    also: list[Likewise] = []


class Result(Printed, _Placed):
    """A ``[[result]]``: one published figure.

    - `platform`, `baseline`: ids of platforms. The baseline "peak" means the hardware's limit.
    - `also_platform`, `also_baseline`: a second pair of platforms with the same figure.
    - `selection`: the run that the document chose among several ("best", "worst", "average").
    - `unclear`: whether the document leaves open if a percentage is of the time or of the rate. The
      ratio is then the range over both readings.
    - `cited`: whether the figure comes from another study.
    - `restates`: ids of the results that this result repeats.
    - `members`: the programs that the range covers; `excludes`: the programs that it leaves out.
    """

    id: str
    benchmark: str
    metric: str
    unit: str
    better: Better
    kind: Kind = "absolute"
    relation: Literal["worse_by", "better_by"] | None = None
    platform: str
    baseline: str | None = None
    also_platform: str | None = None
    also_baseline: str | None = None
    selection: str | None = None
    unclear: bool = False
    cited: bool = False
    restates: list[str] = []
    members: list[str] = []
    excludes: list[str] = []
    at: dict[str, Condition] = {}
    note: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.unit not in UNITS:
            raise ValueError(f"'{self.unit}' is not a valid unit; use one of: {', '.join(UNITS)}")
        if (self.kind == "factor") != (self.relation is not None):
            raise ValueError("the key 'relation' is for kind = \"factor\", which needs it")
        if (self.kind == "absolute") != (self.baseline is None):
            raise ValueError("'baseline' is required, but not allowed for kind = \"absolute\"")
        return self

    @property
    def words(self) -> str:
        """The figure with its unit and direction, as a part of a sentence."""
        direction = "worse" if self.relation == "worse_by" else "better"
        behind: Mapping[Kind, str] = {
            "absolute": self.unit.replace("us", "µs"),
            "factor": f"times {direction}",
            "percent_decrease": "% less",
            "percent_increase": "% more",
            "efficiency": f"% of {self.baseline}",
        }
        return f"{self} {behind[self.kind]}"


class Trials(_Placed):
    """A ``[[trials]]``: all trials of one platform, as the document lists them.

    - `order`: "time" if the values are in the order of the trials, "sorted" if the document sorted
      them.
    - `values`: one per trial; `retransmissions`: one per trial, if they are listed.
    """

    id: str
    benchmark: str
    metric: str
    unit: str
    better: Better
    platform: str
    order: Literal["time", "sorted"]
    nodes: int
    values: list[Decimal]
    retransmissions: list[int] | None = None

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if self.retransmissions is not None and len(self.retransmissions) != len(self.values):
            raise ValueError("'values' and 'retransmissions' must have the same length")
        return self


class NotCompleted(_Placed):
    """A ``[[not_completed]]``: a benchmark without a result in the document, and the reason."""

    benchmark: str
    platform: str
    at: dict[str, Condition] = {}
    reason: str


class Inconsistency(_Table):
    """An ``[[inconsistency]]``: figures of one document that contradict each other."""

    results: Annotated[list[str], Field(min_length=1)]
    says: str


class Workload(_Placed):
    """A ``[[workload]]``: the parameters with which a benchmark or application was run."""

    name: str
    note: str = ""
    facts: dict[str, Any] = {}


class InstanceType(_Placed):
    """An ``[[instance_type]]``: a size of virtual machine that the cloud offered."""

    name: str
    cpus: int
    memory_gb: Decimal | None = None
    local_disk_gb: Decimal | None = None
    tenancy: str | None = None
    note: str = ""


class PrintedFact(Printed, _Placed):
    """A ``[[fact]]``: a printed number that was not measured."""

    quantity: str
    unit: str
    nominal: int | None = None
    note: str = ""


class PublishedStudy(_Table):
    """The content of a file of published figures."""

    publication: Publication
    parts: Annotated[list[Part], Field(alias="part")]
    benchmarks: Annotated[list[Benchmark], Field(alias="benchmark")]
    platforms: Annotated[list[PublishedPlatform], Field(alias="platform")]
    results: Annotated[list[Result], Field(alias="result")] = []
    trials: list[Trials] = []
    not_completed: list[NotCompleted] = []
    inconsistencies: Annotated[list[Inconsistency], Field(alias="inconsistency")] = []
    findings: Annotated[list[PublishedFinding], Field(alias="finding")] = []
    workloads: Annotated[list[Workload], Field(alias="workload")] = []
    instance_types: Annotated[list[InstanceType], Field(alias="instance_type")] = []
    facts: Annotated[list[PrintedFact], Field(alias="fact")] = []

    @property
    def id(self) -> str:
        """The id of the publication."""
        return self.publication.id

    @property
    def count(self) -> int:
        """The number of published figures; each listed trial counts as a figure."""
        return len(self.results) + sum(len(row.values) for row in self.trials)

    @model_validator(mode="after")
    def _refers_to_what_exists(self) -> Self:
        parts = _unique("part", [part.id for part in self.parts])
        platforms = _unique("platform", [platform.id for platform in self.platforms])
        results = [result.id for result in self.results]
        figures = _unique("result", results + [trials.id for trials in self.trials])
        placed: list[Any] = [
            *self.platforms, *self.results, *self.trials, *self.not_completed, *self.findings,
            *self.workloads, *self.instance_types, *self.facts,
        ]  # fmt: skip
        for row in placed:
            _check_known("part", [row.part], parts, f"'{row.where}'")
        for platform in self.platforms:
            others = (platform.against, platform.variant_of, platform.part_of)
            _check_known("platform", filter(None, others), platforms, f"'{platform.id}'")
        for row in self.inconsistencies:
            _check_known("result", row.results, set(results), "an inconsistency")
        for finding in self.findings:
            for check in finding.checks:
                self._check_references(check, platforms, figures)
        return self

    def _check_references(self, check: ClaimCheck, platforms: set[str], figures: set[str]) -> None:
        """Refuse a check that names unknown platforms, figures or trials; raises ValueError."""
        _check_known("platform", check.platforms, {*platforms, PEAK}, "a finding's check")
        _check_known("result", check.printed_first, figures, "a finding's check")
        _check_known("result", check.printed, figures, "a finding's check")
        if check.kind == "trials":
            self._check_trials(check)

    def _check_trials(self, check: ClaimCheck) -> None:
        """Refuse a check of trials if its platform has no listed trials; raises ValueError."""
        lists = {row.id: row for row in self.trials if row.platform == check.platform}
        listed = lists.get(check.printed[0])
        if listed is None or (check.below is None and listed.retransmissions is None):
            raise ValueError(
                f"'{check.printed[0]}' has no trials of '{check.platform}' that the check can use"
            )

    def part(self, name: str) -> Part:
        """Return the part with the given id.

        Raises KeyError: there is no such part.
        """
        return {part.id: part for part in self.parts}[name]

    def platform(self, name: str) -> PublishedPlatform | None:
        """Return the platform with an id; None if it has no entry."""
        return next((row for row in self.platforms if row.id == name), None)

    def benchmark(self, name: str) -> Benchmark | None:
        """Return the benchmark with a name; None if no probe measures that benchmark."""
        return next((row for row in self.benchmarks if row.name == name), None)

    def probe_of(self, figure: Result | Trials) -> str | None:
        """Return the probe that measures the quantity of a figure; None if no probe does."""
        benchmark = self.benchmark(figure.benchmark)
        return None if benchmark is None else benchmark.probe

    def probe_metric_of(self, figure: Result | Trials) -> str | None:
        """Return the probe's metric for the metric of a figure; None if there is none."""
        benchmark = self.benchmark(figure.benchmark)
        return None if benchmark is None else benchmark.metrics.get(figure.metric)

    def doubts(self, result: str) -> list[str]:
        """Return the descriptions of all inconsistencies that involve a result."""
        return [row.says for row in self.inconsistencies if result in row.results]


def _unique(noun: str, names: list[str]) -> set[str]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the {noun} '{name}' appears twice")
    return set(names)


def _check_known(noun: str, names: Iterable[str], declared: set[str], where: str) -> None:
    for name in names:
        if name not in declared:
            raise ValueError(f"{where} names the missing {noun} '{name}'")
