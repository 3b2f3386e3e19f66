"""The importer of PerfKitBenchmarker's JSON lines: the samples of a run of a benchmark.

A run (``run_uri``) of a benchmark is a launch. Samples with the same metadata are one case. If a
metric occurs several times with the same metadata, the run is split, so that each occurrence is a
trial. The program writes 0 for a missing value, so a time or rate of 0 is left out.

References
----------
Google, "PerfKit Benchmarker", https://github.com/GoogleCloudPlatform/PerfKitBenchmarker.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
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
    """A sample in a line; `labels` is its metadata in collapsed form."""

    metric: str
    value: Amount
    unit: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    labels: str = ""
    test: str


@dataclass(frozen=True, slots=True)
class _Sample:
    """A measured sample; `source` is the name of its metric in the file."""

    source: str
    measured: ForeignFigure
    value: float
    platform: str
    params: Mapping[str, Scalar]
    ignored: tuple[str, ...]

    @property
    def case(self) -> tuple[str, ...]:
        """The properties that all samples of a case share."""
        params = sorted((name, str(value)) for name, value in self.params.items())
        return (self.platform, *(word for pair in params for word in pair))


def starts(text: str) -> Sequence[int]:
    """Return the offsets of runs: at another run or benchmark, or at a repeated sample."""
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


def split(text: str) -> Sequence[str]:
    """Return the runs of a text, split so that a metric of a case occurs once in each."""
    later = starts(text)[1:]
    runs = [text[low:high] for low, high in pairwise([0, *later, len(text)])]
    return [launch for run in runs for launch in _rounds(run)]


def _rounds(run: str) -> list[str]:
    """Return the samples of a run as texts with each metric of a case at most once.

    A line that is not a sample stays in the first text, at its line number.
    """
    first: list[str] = []
    others: dict[int, list[str]] = defaultdict(list)
    times: Counter[tuple[str, ...]] = Counter()
    for line in run.splitlines(keepends=True):
        try:
            sample = _sample(line) if _SAMPLE.match(line) else None
        except ParseError:
            sample = None
        position = 0
        if sample is not None:
            key = (sample.source, *sample.case)
            position = times[key]
            times[key] += 1
        if position:
            others[position].append(line)
        first.append("\n" if position else line)
    return ["".join(first), *("".join(lines) for _, lines in sorted(others.items()))]


def read(text: str) -> Iterable[Reading]:
    """Return the trials of the samples of a run."""
    left_out: list[Omission] = []
    cases: dict[tuple[str, ...], dict[str, _Sample]] = {}
    test = _key("test", text) or "unknown"
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("{"):
            continue
        try:
            sample = _sample(line)
            if sample is not None:
                _add(cases.setdefault(sample.case, {}), sample)
        except ParseError as error:
            left_out.append(Omission(str(error), number))
    for position, samples in enumerate(cases.values()):
        yield _reading(test, list(samples.values()), () if position else tuple(left_out))
    if not cases:
        reason = str(left_out[0]) if left_out else "the run has no sample with a value"
        yield Reading(
            probe=f"perfkit.{plain_name(test) or 'unknown'}",
            title=f"the benchmark {test} (PerfKitBenchmarker)",
            layer=Layer.APP,
            metrics=UNTOLD,
            outcome=unread(ParseError(reason)),
        )


def _add(samples: dict[str, _Sample], sample: _Sample) -> None:
    """Add a sample to its case.

    Raises ParseError: the case already has the metric.
    """
    name = sample.measured.name
    if name in samples:
        other = samples[name].source
        raise ParseError(f"'{sample.source[:60]}' and '{other[:60]}' have the same name here")
    samples[name] = sample


def _sample(line: str) -> _Sample | None:
    """Return the sample in a line; None for a description of the machine.

    Raises ParseError: the line is not a valid measurement.
    """
    content = read_object(_Line, find_object(line))
    if content.metric in _DESCRIPTIONS:
        return None
    measured = figure(content.metric, content.unit)
    if content.value == 0 and measured.metric.directed:
        raise ParseError(f"'{content.metric[:60]}' = 0 may be a value that the program lacks")
    labels = {key: scalar(text) for key, text in _LABEL.findall(content.labels)}
    given = content.metadata or labels
    machines = {key: value for key, value in given.items() if _of_platform(key)}
    settings = {key: value for key, value in given.items() if key not in machines}
    about = [f"{name} = {str(value)[:60]}: the platform" for name, value in machines.items()]
    return _Sample(
        source=content.metric,
        measured=measured,
        value=content.value * measured.factor,
        platform=_platform(machines),
        params=SETTINGS.case(settings),
        ignored=(*about, *SETTINGS.ignored(settings)),
    )


def _of_platform(key: str) -> bool:
    return any(key == name or key.endswith(f"_{name}") for name in _OF_PLATFORM)


def _platform(machines: Mapping[str, Any]) -> str:
    """Return cloud, machine types and zones of all groups of machines; "" if there are none."""
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


def _reading(test: str, samples: Sequence[_Sample], left_out: tuple[Omission, ...]) -> Reading:
    metrics = {sample.measured.name: sample.measured.metric for sample in samples}
    values = [Sample(sample.measured.name, sample.value) for sample in samples]
    name = plain_name(test) or "unknown"
    return Reading(
        probe=f"perfkit.{name}",
        title=f"the benchmark {name} (PerfKitBenchmarker)",
        layer=Layer.APP,
        metrics=metrics,
        params=samples[0].params,
        platform=samples[0].platform,
        ignored=samples[0].ignored,
        outcome=outcome_of(metrics, lambda: values),
        left_out=left_out,
    )


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
    launches=split,
    starts=starts,
    parse=read,
    started=_started,
    identity=lambda text: f"{_key('test', text)} {_key('run_uri', text)}".strip(),
    facts=_facts,
)
