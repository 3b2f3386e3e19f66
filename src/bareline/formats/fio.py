"""fio 3 with ``--output-format=json``: every job, reads and writes apart.

References
----------
J. Axboe, "fio", https://fio.readthedocs.io.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
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
from bareline.formats.reading import BANDWIDTH, LATENCY, Reading, as_detail, outcome_of, unread
from bareline.vocabulary.errors import ParseError, UsageError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar
from bareline.vocabulary.units import parse_size

_VERSION = re.compile(r'"fio version"\s*:\s*"fio-([^"\s]{1,30})"')
_OPTIONS = ("rw", "bs", "iodepth", "numjobs", "ioengine", "direct", "sync", "fsync", "rwmixread")

METRICS: Mapping[str, Metric] = {
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
    io_bytes: Amount
    bw_bytes: Amount
    iops: Amount
    runtime: Amount
    total_ios: Amount
    lat_ns: _Latency


class _Named(JsonModel):
    jobname: str


class _Job(_Named):
    """fio prints all three ways; where one is gone, lines are."""

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
    """Read every job; those of one name run at once and are one case."""
    try:
        report = read_object(_Report, find_object(text))
        if not report.version.startswith("fio-3"):
            raise ParseError(f"{report.version} counts in other units than fio 3")
        groups: dict[str, list[dict[str, Any]]] = {}
        for content in report.jobs:
            groups.setdefault(read_object(_Named, content).jobname, []).append(content)
    except ParseError as error:
        yield _reading("read", {}, unread(error))
        return
    common = _options(report.common)
    for name, contents in groups.items():
        try:
            jobs = [read_object(_Job, content) for content in contents]
        except ParseError as error:
            yield _reading("read", {"job": name}, unread(error))
            continue
        params = {"job": name, **common, **_options(jobs[0].options)}
        ways = {"read": [job.read for job in jobs], "write": [job.write for job in jobs]}
        used = [way for way, parts in ways.items() if any(part.total_ios for part in parts)]
        for way in used or ["read"]:
            read = partial(_samples, jobs, ways[way], way)
            yield _reading(way, params, outcome_of(METRICS, read))


def _options(given: Mapping[str, Any]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {name: str(given[name]) for name in _OPTIONS if name in given}
    for name, text in found.items():
        with suppress(UsageError, ValueError):
            found[name] = parse_size(str(text)) if name == "bs" else int(text)
    return found


def _reading(way: str, params: Mapping[str, Scalar], outcome: Measured | Failed) -> Reading:
    return Reading(
        probe=f"fio.{way}",
        title=f"{'reading' if way == 'read' else 'writing'} (fio)",
        layer=Layer.IO,
        metrics=METRICS,
        params=params,
        caveats=() if params.get("direct") == 1 else ("page-cache",),
        outcome=outcome,
    )


def _samples(jobs: Sequence[_Job], parts: Sequence[_Way], way: str) -> Iterable[Sample]:
    """Add up jobs that ran at once; their latency is the mean over all operations."""
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
    weighted_ns = sum(part.lat_ns.mean * part.total_ios for part in used)
    yield Sample("latency", weighted_ns / operations * 1e-9)
    yield Sample("latency_max", max(part.lat_ns.max for part in used) * 1e-9)


def _check(part: _Way, way: str) -> None:
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
