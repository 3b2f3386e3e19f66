"""fio 3 with ``--output-format=json``: every job, reads and writes apart.

References
----------
J. Axboe, "fio", https://fio.readthedocs.io.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.document import (
    Amount,
    JsonModel,
    check_quotient,
    find_object,
    read_object,
    split_documents,
)
from bareline.formats.importer import Importer, holding, version_in
from bareline.formats.reading import BANDWIDTH, LATENCY, Reading, as_detail, outcome_of
from bareline.vocabulary.errors import ParseError, UsageError
from bareline.vocabulary.model import Failed, Layer, Metric, Sample, Scalar, Stage
from bareline.vocabulary.units import parse_size

_VERSION = re.compile(r'"fio version"\s*:\s*"fio-([^"\s]{1,30})"')
#: Options that make two jobs different cases.
_OPTIONS = ("rw", "bs", "iodepth", "numjobs", "ioengine", "direct", "sync", "fsync", "rwmixread")

_METRICS: Mapping[str, Metric] = {
    "bandwidth": BANDWIDTH,
    "operations": Metric("op/s", "higher"),
    "latency": LATENCY,
    "latency_max": as_detail(LATENCY),
}


class _Latency(JsonModel):
    min: Amount
    max: Amount
    mean: Amount
    N: Amount | None = None


class _Way(JsonModel):
    """What a job read, wrote or trimmed."""

    io_bytes: Amount
    bw_bytes: Amount
    iops: Amount
    runtime: Amount
    total_ios: Amount
    lat_ns: _Latency


class _Job(JsonModel):
    """fio prints all three ways; where one is gone, lines are."""

    jobname: str
    error: int
    read: _Way
    write: _Way
    trim: _Way
    options: dict[str, Any] = Field(default_factory=dict, alias="job options")

    def way(self, name: str) -> _Way:
        """Give what the job did one way."""
        return self.read if name == "read" else self.write


class _Report(JsonModel):
    version: str = Field(alias="fio version")
    common: dict[str, Any] = Field(default_factory=dict, alias="global options")
    jobs: Annotated[list[dict[str, Any]], Field(min_length=1)]


class _Name(JsonModel):
    jobname: str


def read(text: str) -> Iterable[Reading]:
    """Read every job; those of one name run at once and are one case."""
    try:
        report = read_object(_Report, find_object(text))
        if not report.version.startswith("fio-3"):
            raise ParseError(f"{report.version} counts in other units than fio 3")
        groups: dict[str, list[dict[str, Any]]] = {}
        for content in report.jobs:
            groups.setdefault(read_object(_Name, content).jobname, []).append(content)
    except ParseError as error:
        yield _reading("read", {}, Failed(Stage.PARSE, str(error)))
        return
    common = _options(report.common)
    for name, contents in groups.items():
        try:
            jobs = [read_object(_Job, content) for content in contents]
        except ParseError as error:
            yield _reading("read", {"job": name}, Failed(Stage.PARSE, str(error)))
            continue
        yield from _readings(name, jobs, common)


def _options(given: Mapping[str, Any]) -> dict[str, Scalar]:
    return {name: _option(name, str(given[name])) for name in _OPTIONS if name in given}


def _option(name: str, text: str) -> Scalar:
    try:
        return parse_size(text) if name == "bs" else int(text)
    except (UsageError, ValueError):
        return text


def _readings(name: str, jobs: Sequence[_Job], common: Mapping[str, Scalar]) -> Iterable[Reading]:
    params: dict[str, Scalar] = {"job": name, **common, **_options(jobs[0].options)}
    used = [way for way in ("read", "write") if any(job.way(way).total_ios for job in jobs)]
    for way in used or ["read"]:

        def samples(way: str = way) -> Iterable[Sample]:
            return list(_samples(jobs, way))

        yield _reading(way, params, outcome_of(_METRICS, samples))


def _reading(way: str, params: Mapping[str, Scalar], outcome: Any) -> Reading:
    return Reading(
        probe=f"fio.{way}",
        title=f"{'reading' if way == 'read' else 'writing'} (fio)",
        layer=Layer.IO,
        metrics=_METRICS,
        params=params,
        caveats=() if params.get("direct") == 1 else ("page-cache",),
        outcome=outcome,
    )


def _samples(jobs: Sequence[_Job], way: str) -> Iterable[Sample]:
    """Add up jobs that ran at once; their latency is the mean over all operations."""
    bandwidth = rate = weighted_ns = operations = highest_ns = 0.0
    for job in jobs:
        if job.error:
            raise ParseError(f"fio reports the error {job.error}")
        part = job.way(way)
        if not part.total_ios:
            continue
        _check(part, way)
        bandwidth += part.bw_bytes
        rate += part.iops
        weighted_ns += part.lat_ns.mean * part.total_ios
        operations += part.total_ios
        highest_ns = max(highest_ns, part.lat_ns.max)
    if not operations:
        raise ParseError("the job moved no data")
    yield Sample("bandwidth", bandwidth)
    yield Sample("operations", rate)
    yield Sample("latency", weighted_ns / operations * 1e-9)
    yield Sample("latency_max", highest_ns * 1e-9)


def _check(part: _Way, way: str) -> None:
    """Refuse numbers that contradict each other."""
    time_s, count = part.runtime * 1e-3, part.total_ios
    check_quotient(part.bw_bytes, part.io_bytes, time_s, f"{way}: bw_bytes")
    check_quotient(part.iops, count, time_s, f"{way}: iops")
    latency = part.lat_ns
    if latency.N is not None and not math.isclose(latency.N, count, rel_tol=0.01):
        raise ParseError(f"{way}: the latencies are not of {count:g} operations")
    if not latency.min <= latency.mean <= latency.max:
        raise ParseError(f"{way}: the mean latency is not between minimum and maximum")


IMPORTER = Importer(
    name="fio",
    title="fio 3 --output-format=json",
    sniff=holding(re.compile(r'"fio version"\s*:\s*"fio-')),
    launches=split_documents,
    parse=read,
    facts=version_in("import.fio", _VERSION),
)
