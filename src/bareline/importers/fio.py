"""fio 3 with ``--output-format=json``: every job, reads and writes apart.

References
----------
J. Axboe, "fio", https://fio.readthedocs.io.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bareline.errors import ParseError, UsageError
from bareline.importers.base import BANDWIDTH, LATENCY, Imported, Importer, as_detail, outcome_of
from bareline.importers.document import Document, check_quotient, split_documents
from bareline.model import Layer, Metric, Sample, Scalar
from bareline.units import parse_size

_SNIFF = re.compile(r'"fio version"\s*:\s*"fio-')
_VERSION = re.compile(r'"fio version"\s*:\s*"fio-([^"\s]{1,30})"')
#: Options that make two jobs different cases.
_OPTIONS = ("rw", "bs", "iodepth", "numjobs", "ioengine", "direct", "sync", "fsync", "rwmixread")

_METRICS: Mapping[str, Metric] = {
    "bandwidth": BANDWIDTH,
    "operations": Metric("op/s", "higher"),
    "latency": LATENCY,
    "latency_max": as_detail(LATENCY),
}


class Fio(Importer):
    """fio's JSON."""

    name: ClassVar[str] = "fio"
    title: ClassVar[str] = "fio 3 --output-format=json"

    def sniff(self, text: str) -> bool:
        """Look for the version."""
        return _SNIFF.search(text) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split before each JSON object."""
        return split_documents(text)

    def parse(self, text: str) -> Iterable[Imported]:
        """Read every job; those of one name run at once and are one case."""
        try:
            document = Document.parse(text)
            version = document.text("fio version")
            if not version.startswith("fio-3"):
                raise ParseError(f"{version} counts in other units than fio 3")
            common = _options(document, "global options")
            groups: dict[str, list[Document]] = {}
            for job in document.each("jobs"):
                groups.setdefault(job.text("jobname"), []).append(job)
        except ParseError as error:
            yield _failed(error)
            return
        for name, jobs in groups.items():
            yield from _imported(name, jobs, common)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version."""
        match = _VERSION.search(text)
        return {"import.fio": match[1]} if match else {}


def _options(document: Document, key: str) -> dict[str, Scalar]:
    if key not in document:
        return {}
    given = document.at(key).content
    return {name: _option(name, str(given[name])) for name in _OPTIONS if name in given}


def _option(name: str, text: str) -> Scalar:
    try:
        return parse_size(text) if name == "bs" else int(text)
    except (UsageError, ValueError):
        return text


def _failed(error: ParseError) -> Imported:
    def read() -> Iterable[Sample]:
        raise error

    return Imported(
        probe="fio.read",
        title="reading (fio)",
        layer=Layer.IO,
        metrics=_METRICS,
        outcome=outcome_of(_METRICS, read),
    )


def _imported(
    name: str, jobs: Sequence[Document], common: Mapping[str, Scalar]
) -> Iterable[Imported]:
    params: dict[str, Scalar] = {"job": name}
    problem: ParseError | None = None
    try:
        params |= {**common, **_options(jobs[0], "job options")}
    except ParseError as error:
        problem = error
    caveats = () if params.get("direct") == 1 else ("page-cache",)
    used = [way for way in ("read", "write") if any(_moved(job, way) for job in jobs)]
    for way in used or ["read"]:

        def read(way: str = way) -> Iterable[Sample]:
            if problem is not None:
                raise problem
            return list(_samples(jobs, way))

        yield Imported(
            probe=f"fio.{way}",
            title=f"{'reading' if way == 'read' else 'writing'} (fio)",
            layer=Layer.IO,
            metrics=_METRICS,
            params=params,
            caveats=caveats,
            outcome=outcome_of(_METRICS, read),
        )


def _moved(job: Document, way: str) -> bool:
    """Tell whether a job did anything this way, or says something unreadable about it."""
    part = job.content.get(way)
    return not isinstance(part, dict) or part.get("total_ios") != 0


def _samples(jobs: Sequence[Document], way: str) -> Iterable[Sample]:
    """Add up jobs that ran at once; their latency is the mean over all operations."""
    bandwidth = rate = weighted_ns = operations = highest_ns = 0.0
    for job in jobs:
        if job.number("error"):
            raise ParseError(f"fio reports the error {job.content['error']}")
        for section in ("read", "write", "trim"):
            job.at(section)  # fio prints all three; where one is gone, lines are
        if not _moved(job, way):
            continue
        part = job.at(way)
        time_s = part.number("runtime") * 1e-3
        count = part.number("total_ios")
        check_quotient(part.number("bw_bytes"), part.number("io_bytes"), time_s, f"{way}: bw_bytes")
        check_quotient(part.number("iops"), count, time_s, f"{way}: iops")
        latency = part.at("lat_ns")
        if "N" in latency and not math.isclose(latency.number("N"), count, rel_tol=0.01):
            raise ParseError(f"{way}: the latencies are not of {count:g} operations")
        if not latency.number("min") <= latency.number("mean") <= latency.number("max"):
            raise ParseError(f"{way}: the mean latency is not between minimum and maximum")
        bandwidth += part.number("bw_bytes")
        rate += part.number("iops")
        weighted_ns += latency.number("mean") * count
        operations += count
        highest_ns = max(highest_ns, latency.number("max"))
    if not operations:
        raise ParseError("the job moved no data")
    yield Sample("bandwidth", bandwidth)
    yield Sample("operations", rate)
    yield Sample("latency", weighted_ns / operations * 1e-9)
    yield Sample("latency_max", highest_ns * 1e-9)


IMPORTER = Fio()
