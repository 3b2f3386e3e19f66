"""PerfKitBenchmarker's JSON lines: the samples of one run of a benchmark.

A run (``run_uri``) of a benchmark is a launch. Samples with the same metadata are one case; where
one metric comes several times with the same metadata, each time is a trial. The program writes 0
for a value that it does not have, so that a time or rate of 0 is left out.

References
----------
Google, "PerfKit Benchmarker", https://github.com/GoogleCloudPlatform/PerfKitBenchmarker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from bareline.formats.damage import Omission
from bareline.formats.document import Amount, JsonModel, find_object, read_object
from bareline.formats.foreign import ForeignFigure, figure, plain_name, scalar
from bareline.formats.importer import Importer, holding
from bareline.formats.reading import UNTOLD, Reading, outcome_of, unread
from bareline.formats.settings import Settings
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Sample, Scalar

_SAMPLE = re.compile(
    r'^\{(?=[^\n]*"metric"\s*:)(?=[^\n]*"run_uri"\s*:)(?=[^\n]*"sample_uri"\s*:)', re.MULTILINE
)
_KEYS = {
    key: re.compile(rf'"{key}"\s*:\s*"([^"\\\n]{{1,200}})"')
    for key in ("test", "run_uri", "sample_uri")
}
_TIMESTAMP = re.compile(r'"timestamp"\s*:\s*(\d{1,12}(?:\.\d{1,12})?)\b')
_VERSION = re.compile(r'"perfkitbenchmarker_version"\s*:\s*"([\w.+-]{1,60})"')
_LABEL = re.compile(r"\|([^|:]{1,200}):([^|]{0,2000})\|")
#: Samples that carry descriptions of the machine in their metadata; their value is always 0.
_DESCRIPTIONS = frozenset(
    (
        *("lscpu", "proccpu", "proccpu_mapping", "proc_meminfo", "cpu_vuln", "gcc_version"),
        *("glibc_version", "ulimit", "sysctl", "dmidecode", "lspci", "cpuid", "test_setup"),
    )
)
#: Metadata of the machines, with or without the name of their group before it.
_OF_PLATFORM = (
    *("cloud", "zone", "region", "machine_type", "image", "os_info", "os_type", "kernel_release"),
    *("cpu_arch", "cpu_version", "num_cpus", "vm_ids", "vm_names", "hostnames"),
    *("project", "network", "vpc"),
)
SETTINGS = Settings(
    labels=frozenset(
        (
            *("perfkitbenchmarker_version", "run_number", "run_stage_iterations", "id", "uuid"),
            *("tags", "user", "start_time", "end_time", "timestamp", "ip_address"),
            *("sending_vm", "receiving_vm", "log_path", "output_path", "cmd_path"),
        )
    ),
    results=frozenset(
        (
            *("histogram", "values", "timestamps", "interval", "ramp_up_ends", "ramp_down_starts"),
            *("samples", "stddev", "min", "max", "average", "raw_output", "errors"),
        )
    ),
)


class _Line(JsonModel):
    """A sample, as a line holds it; `labels` is its metadata where they are collapsed."""

    metric: str
    value: Amount
    unit: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    labels: str = ""
    test: str


@dataclass(slots=True)
class _Trial:
    """Samples of one case, in which each metric comes once; the keys are names of metrics."""

    samples: dict[str, tuple[ForeignFigure, float]] = field(default_factory=dict)


@dataclass(slots=True)
class _Case:
    """Trials of one case; `sources` are the metrics' names in the file."""

    platform: str
    params: Mapping[str, Scalar]
    ignored: tuple[str, ...]
    trials: list[_Trial] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, measured: ForeignFigure, value: float) -> None:
        """Add a value to the first trial that lacks its metric.

        Raises ParseError: two metrics of the file have the same name here.
        """
        if self.sources.setdefault(measured.name, source) != source:
            other = self.sources[measured.name]
            raise ParseError(f"'{source[:60]}' and '{other[:60]}' have the same name here")
        for trial in self.trials:
            if measured.name not in trial.samples:
                trial.samples[measured.name] = (measured, value)
                return
        self.trials.append(_Trial({measured.name: (measured, value)}))


def starts(text: str) -> Sequence[int]:
    """Return the offsets at which runs begin: at another run or benchmark, or a sample again."""
    offsets: list[int] = []
    current: tuple[str, str] | None = None
    seen: set[str] = set()
    offset = 0
    for line in text.splitlines(keepends=True):
        if _SAMPLE.match(line):
            run = (_key("test", line), _key("run_uri", line))
            sample = _key("sample_uri", line)
            if run != current or sample in seen:
                offsets.append(offset)
                seen = set()
            current = run
            seen.add(sample)
        elif line.strip():
            current = None  # of another program, which may begin a launch here
        offset += len(line)
    return offsets


def _key(name: str, line: str) -> str:
    match = _KEYS[name].search(line)
    return match[1] if match else ""


def read(text: str) -> Iterable[Reading]:
    """Read the samples of a run of a benchmark."""
    left_out: list[Omission] = []
    cases: dict[tuple[Any, ...], _Case] = {}
    test = _key("test", text) or "unknown"
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("{"):
            continue
        try:
            _take(line, cases)
        except ParseError as error:
            left_out.append(Omission(str(error), number))
    first = True
    for case in cases.values():
        for trial in case.trials:
            yield _reading(test, case, trial, left_out if first else [])
            first = False
    if first:
        reason = str(left_out[0]) if left_out else "the run has no sample with a value"
        yield Reading(
            probe=f"perfkit.{plain_name(test) or 'unknown'}",
            title=f"the benchmark {test} (PerfKitBenchmarker)",
            layer=Layer.APP,
            metrics=UNTOLD,
            outcome=unread(ParseError(reason)),
        )


def _take(line: str, cases: dict[tuple[Any, ...], _Case]) -> None:
    """Add the sample of a line to its case; raises ParseError where it is no measured value."""
    sample = read_object(_Line, find_object(line))
    if sample.metric in _DESCRIPTIONS:
        return
    measured = figure(sample.metric, sample.unit)
    if sample.value == 0 and measured.metric.directed:
        raise ParseError(f"'{sample.metric[:60]}' = 0 may be a value that the program lacks")
    given = sample.metadata or {key: scalar(text) for key, text in _LABEL.findall(sample.labels)}
    machines = {key: value for key, value in given.items() if _of_platform(key)}
    settings = {key: value for key, value in given.items() if key not in machines}
    params = SETTINGS.case(settings)
    platform = _platform(machines)
    key = (platform, *sorted((name, str(value)) for name, value in params.items()))
    if key not in cases:
        about = tuple(
            f"{name} = {str(value)[:60]}: the platform" for name, value in machines.items()
        )
        cases[key] = _Case(platform, params, (*about, *SETTINGS.ignored(settings)))
    cases[key].add(sample.metric, measured, sample.value * measured.factor)


def _of_platform(key: str) -> bool:
    return any(key == name or key.endswith(f"_{name}") for name in _OF_PLATFORM)


def _platform(machines: Mapping[str, Any]) -> str:
    """Return cloud, machine types and zones, those of all groups of machines; "" of none."""
    words = []
    for name in ("cloud", "machine_type", "zone"):
        values = [
            value
            for key, value in machines.items()
            if f"_{key}".endswith(f"_{name}") and isinstance(value, str) and value
        ]
        if values:
            words.append("+".join(dict.fromkeys(values)))
    return " ".join(words)


def _reading(test: str, case: _Case, trial: _Trial, left_out: list[Omission]) -> Reading:
    metrics = {name: measured.metric for name, (measured, _) in trial.samples.items()}
    samples = [Sample(name, value) for name, (_, value) in trial.samples.items()]
    name = plain_name(test) or "unknown"
    reading = Reading(
        probe=f"perfkit.{name}",
        title=f"the benchmark {name} (PerfKitBenchmarker)",
        layer=Layer.APP,
        metrics=metrics,
        params=case.params,
        platform=case.platform,
        ignored=case.ignored,
        outcome=outcome_of(metrics, lambda: samples),
    )
    return replace(reading, left_out=tuple(left_out))


def _started(text: str) -> datetime | None:
    match = _TIMESTAMP.search(text)
    try:
        return datetime.fromtimestamp(float(match[1]), UTC) if match else None
    except (OverflowError, OSError, ValueError):
        return None


def _facts(text: str) -> Mapping[str, Scalar]:
    match = _VERSION.search(text)
    return {"import.perfkit": match[1]} if match else {}


IMPORTER = Importer(
    name="perfkit",
    title="PerfKitBenchmarker's JSON lines",
    sniff=holding(_SAMPLE),
    starts=starts,
    parse=read,
    started=_started,
    identity=lambda text: f"{_key('test', text)} {_key('run_uri', text)}".strip(),
    facts=_facts,
)
