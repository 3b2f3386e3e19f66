"""The reader of fio 3 with ``--output-format=json``: the reads and the writes of every job.

References
----------
J. Axboe, "fio", https://fio.readthedocs.io.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.damage import Omission
from bareline.formats.document import (
    Amount,
    JsonModel,
    SeveralValues,
    check_quotient,
    document_starts,
    find_object,
    read_object,
    split_documents,
)
from bareline.formats.importer import Importer, holding, version_in
from bareline.formats.reading import BANDWIDTH, LATENCY, Reading, as_detail, outcome_of, unread
from bareline.formats.settings import Settings
from bareline.vocabulary.errors import ParseError, UsageError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar
from bareline.vocabulary.units import parse_size

_VERSION = re.compile(r'"fio version"\s*:\s*"fio-([^"\s]{1,30})"')
_MARK = re.compile(r'"fio version"\s*:\s*"fio-')
#: Options of a job; one that is not listed belongs to the case.
_SETTINGS = Settings(
    # Paths, output and logs, and actions before and after the measurement.
    labels=frozenset(
        (
            *("name", "description", "filename", "directory", "filename_format", "opendir"),
            *("output", "output-format", "status-interval", "group_reporting", "new_group"),
            *("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "write_iolog"),
            *("log_avg_msec", "log_hist_msec", "log_unix_epoch", "log_offset", "log_max_value"),
            *("per_job_logs", "disk_util", "bwavgtime", "iopsavgtime", "percentile_list"),
            *(
                "lat_percentiles",
                "clat_percentiles",
                "slat_percentiles",
                "unlink",
                "unlink_each_loop",
            ),
            *("exec_prerun", "exec_postrun", "startdelay", "stonewall", "wait_for", "hostname"),
            *("mountpoint", "significant_figures", "unit_base", "kb_base", "aux-path"),
            *("randseed", "allrandrepeat", "verify_state_save", "write_barrier_log"),
        )
    ),
    names={"blocksize": "bs", "readwrite": "rw"},
)
#: Options whose values are sizes.
_SIZES = ("bs", "size", "filesize", "io_size", "offset", "blocksize")
#: Resolution of fio's time stamps: starts that differ by less may be equal.
_STAMP_S = 1.0

_STAMP = re.compile(r'"timestamp"\s*:\s*(\d{1,11})\b')
_NOT_TAKEN = "fio took no latencies (gtod_reduce or disable_lat)"

METRICS: Mapping[str, Metric] = {
    "bandwidth": BANDWIDTH,
    "operations": Metric("op/s", "higher"),
    "latency": LATENCY,
    "latency_max": as_detail(LATENCY),
}


class _Latency(JsonModel):
    """The latencies of a job; `N` is 0 if fio measured no latency (``gtod_reduce=1``)."""

    min: Amount
    max: Amount
    mean: Amount
    N: Amount | None = None

    @property
    def none_taken(self) -> bool:
        """Whether fio measured no latency."""
        return self.N == 0


class _Way(JsonModel):
    io_bytes: Amount
    bw_bytes: Amount
    iops: Amount
    runtime: Amount
    total_ios: Amount
    lat_ns: Any = None


class _Named(JsonModel):
    jobname: str


class _Job(_Named):
    """A job; fio always prints read, write and trim, so that it is an error if one is missing."""

    error: int
    read: _Way
    write: _Way
    trim: _Way
    options: dict[str, Any] = Field(default_factory=dict, alias="job options")


class _Report(JsonModel):
    version: str = Field(alias="fio version")
    common: dict[str, Any] = Field(default_factory=dict, alias="global options")
    jobs: Annotated[list[dict[str, Any]], Field(min_length=1)]


def read(text: str) -> Iterable[Reading]:
    """Return the trials of all jobs; jobs of the same name ran together and are one case.

    If ``--status-interval`` printed several states of the jobs, only the last one is read.
    """
    try:
        report = read_object(_Report, find_object(split_documents(text)[-1]))
        groups = _groups_of(report)
    except ParseError as error:
        yield _reading("read", {}, unread(error))
        return
    for name, contents in groups.items():
        try:
            jobs = [read_object(_Job, content) for content in contents]
        except ParseError as error:
            yield _reading("read", {"job": name}, unread(error))
            continue
        yield from _readings_of(name, jobs, report.common)


def _groups_of(report: _Report) -> dict[str, list[dict[str, Any]]]:
    """Return the jobs of a report by name.

    Raises ParseError: another version wrote the report, or a job has no name.
    """
    if not report.version.startswith("fio-3"):
        raise ParseError(f"{report.version} uses other units than fio 3, and bareline reads fio 3")
    groups: dict[str, list[dict[str, Any]]] = {}
    for content in report.jobs:
        groups.setdefault(read_object(_Named, content).jobname, []).append(content)
    return groups


def _readings_of(name: str, jobs: Sequence[_Job], common: Mapping[str, Any]) -> Iterator[Reading]:
    """Yield a result for each direction (read or write) that the jobs of one name used.

    If the jobs moved no data, yield a failed result for the direction "read".
    """
    given = _options({**common, **jobs[0].options})
    params = {"job": name, **_SETTINGS.case(given)}
    ways = {"read": [job.read for job in jobs], "write": [job.write for job in jobs]}
    used = [way for way, parts in ways.items() if _moved_data(parts)]
    for way in used or ["read"]:
        left_out: list[Omission] = []
        samples = partial(_samples, jobs, ways[way], way, left_out)
        metrics = _metrics(ways[way], left_out)
        yield replace(
            _reading(way, params, outcome_of(metrics, samples, left_out)),
            metrics=metrics,
            ignored=_SETTINGS.ignored(given),
            left_out=tuple(left_out),
        )


def _moved_data(parts: Iterable[_Way]) -> bool:
    return any(part.total_ios for part in parts)


def _options(given: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return options, as numbers if possible.

    If an option appears several times, fio uses its last value.
    """
    options: dict[str, Scalar] = {}
    for name, value in given.items():
        last = value[-1] if isinstance(value, SeveralValues) else value
        text = str(last)
        options[name] = text
        with suppress(UsageError, ValueError):
            options[name] = parse_size(text) if name in _SIZES else int(text)
    return options


def _metrics(parts: Sequence[_Way], left_out: list[Omission]) -> dict[str, Metric]:
    """Return the metrics of jobs.

    The latency metrics are left out if the latencies of a job are missing or wrong.
    """
    wrong = next((reason for part in parts if (reason := _wrong_latency(part))), None)
    if wrong is None:
        return dict(METRICS)
    left_out.append(Omission(wrong, lost=wrong != _NOT_TAKEN))
    return {name: metric for name, metric in METRICS.items() if not name.startswith("latency")}


def _wrong_latency(part: _Way) -> str | None:
    """Return the error in the latencies of a job; None if there is none."""
    if not part.total_ios:
        return None
    content = part.lat_ns if isinstance(part.lat_ns, dict) else {}
    try:
        latency = read_object(_Latency, content)
    except ParseError as error:
        return f"lat_ns: {error}"
    if latency.none_taken:
        return _NOT_TAKEN
    if latency.N is not None and not math.isclose(latency.N, part.total_ios, rel_tol=0.01):
        return f"the latencies are not of {part.total_ios:g} operations"
    if not latency.min <= latency.mean <= latency.max:
        return "the mean latency is not between minimum and maximum"
    return None


def _reading(way: str, params: Mapping[str, Scalar], outcome: Measured | Failed) -> Reading:
    activity = "reading" if way == "read" else "writing"
    caveats = () if _is_direct(params) else ("page-cache",)
    return Reading(
        probe=f"fio.{way}",
        title=f"{activity} (fio)",
        layer=Layer.IO,
        metrics=METRICS,
        params=params,
        caveats=caveats,
        outcome=outcome,
    )


def _samples(
    jobs: Sequence[_Job], parts: Sequence[_Way], way: str, left_out: Sequence[Omission]
) -> Iterable[Sample]:
    """Yield the rates of jobs that ran together, as sums, and the latencies of their operations."""
    for job, part in zip(jobs, parts, strict=True):
        if job.error:
            raise ParseError(f"fio reports the error {job.error}")
        if part.total_ios:
            _check(part, way)
    used = [part for part in parts if part.total_ios]
    if not used:
        raise ParseError("the job moved no data")
    operations = sum(part.total_ios for part in used)
    yield Sample("bandwidth", sum(part.bw_bytes for part in used))
    yield Sample("operations", sum(part.iops for part in used))
    if left_out:  # has the reason why there is no latency
        return
    latencies = [read_object(_Latency, part.lat_ns) for part in used]
    weighted_ns = sum(
        latency.mean * part.total_ios for latency, part in zip(latencies, used, strict=True)
    )
    yield Sample("latency", weighted_ns / operations * 1e-9)
    yield Sample("latency_max", max(latency.max for latency in latencies) * 1e-9)


def _check(part: _Way, way: str) -> None:
    time_s = part.runtime * 1e-3
    count = part.total_ios
    # fio computes in microseconds and prints whole milliseconds, and whole bytes per second.
    off = 1e-3 + 1.0 / max(part.runtime, 1.0)
    check_quotient(part.bw_bytes, part.io_bytes, time_s, f"{way}: bw_bytes", off)
    check_quotient(part.iops, count, time_s, f"{way}: iops", off)


def _is_direct(params: Mapping[str, Scalar]) -> bool:
    return params.get("direct") == 1 or params.get("buffered") == 0


def _starts(text: str) -> Sequence[int]:
    """Return the offsets of launches.

    ``--status-interval`` prints several states of a launch. These states are one launch.
    """
    starts: list[int] = []
    last: _State | None = None
    documents = document_starts(_MARK)(text)
    ends = [*documents[1:], len(text)][: len(documents)]
    for begin, end in zip(documents, ends, strict=True):
        state = _state_of(text[begin:end])
        if last is None or state is None or not state.continues(last):
            starts.append(begin)
        last = state
    return starts


@dataclass(frozen=True, slots=True)
class _State:
    """The state of a document's jobs at one time; `counters` never decrease during a launch."""

    jobs: tuple[str, ...]
    begins: tuple[int, ...]
    stamp_s: float
    runtime_s: float
    counters: tuple[float, ...]

    def continues(self, earlier: _State) -> bool:
        """Return whether this is a later state of the same launch as an earlier state."""
        if self.jobs != earlier.jobs or self == earlier:
            return False
        pairs = list(zip(self.counters, earlier.counters, strict=True))
        if any(now < before for now, before in pairs):
            return False
        if self.begins and earlier.begins:
            return self.begins == earlier.begins
        # In the same launch, time stamps and run times grow by the same amount. Another launch
        # began after the earlier state.
        passed_s = self.stamp_s - earlier.stamp_s
        ran_s = self.runtime_s - earlier.runtime_s
        short = earlier.runtime_s < 2.5 * _STAMP_S
        off_s = abs(passed_s - ran_s)
        return off_s < _STAMP_S or (off_s <= 1.5 * _STAMP_S and not short)


def _state_of(document: str) -> _State | None:
    """Return the state of the jobs in a document; None if the document is damaged."""
    try:
        content = find_object(document)
        report = read_object(_Report, content)
        jobs = [read_object(_Job, job) for job in report.jobs]
    except ParseError:
        return None
    ways: list[_Way] = []
    counters: list[float] = []
    for job in jobs:
        ways += (job.read, job.write, job.trim)
    for way in ways:
        counters += (way.io_bytes, way.total_ios, way.runtime)
    stamp = content.get("timestamp")
    stamp_s = float(stamp) if isinstance(stamp, int | float) else 0.0
    begins = tuple(begin for job in report.jobs if isinstance(begin := job.get("job_start"), int))
    return _State(
        jobs=tuple(f"{job.jobname} {_options(job.options)}" for job in jobs),
        begins=begins,
        stamp_s=stamp_s,
        runtime_s=max(way.runtime for way in ways) * 1e-3,
        counters=tuple(counters),
    )


def _started(text: str) -> datetime | None:
    """Return the date of the launch: the time at which fio printed the output, after the jobs."""
    match = _STAMP.search(text)
    return datetime.fromtimestamp(int(match[1]), UTC) if match else None


IMPORTER = Importer(
    name="fio",
    title="fio 3 --output-format=json",
    sniff=holding(_MARK),
    starts=_starts,
    started=_started,
    parse=read,
    facts=version_in("import.fio", _VERSION),
)
