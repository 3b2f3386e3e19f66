"""The reader of STREAM 5.x in C, with threads or MPI: best rates of four loops over arrays.

A rate is the number of bytes that STREAM counts for a loop, divided by the loop's shortest time; a
MB is 10^6 bytes. The case consists of the size of the arrays, the ranks and the threads.

References
----------
J. D. McCalpin, "STREAM: Sustainable memory bandwidth in high performance computers",
https://www.cs.virginia.edu/stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from bareline.formats.importer import Importer, holding, starts_at, version_in
from bareline.formats.reading import BANDWIDTH, Reading, outcome_of
from bareline.formats.table import check_whole, number, rounding
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample, Scalar

TITLE = re.compile(r"^STREAM version \$Revision: *(?P<version>[\d.]+) *\$", re.MULTILINE)
#: The line above the title of a launch belongs to it.
_BEGIN = re.compile(r"^(?:-{20,}\n)?STREAM version \$Revision:", re.MULTILINE)
_ELEMENT = re.compile(
    r"^This system uses (\d{1,2}) bytes per (?:array element|DOUBLE PRECISION)", re.M
)
_ARRAY = re.compile(
    r"^(?:Total Aggregate )?Array size = (\d{1,18})(?: \(elements\))?(?:, Offset = (\d{1,18}))?",
    re.MULTILINE,
)
_THREADS = re.compile(r"^Number of Threads (?:counted|requested) = (\d{1,9})\s*$", re.MULTILINE)
_RANKS = re.compile(r"^ *Data (?:is )?distributed across (\d{1,9}) MPI ranks\s*$", re.MULTILINE)
_TITLES = re.compile(
    r"^Function +(?:Best )?Rate \(?MB/s\)? +(?:Avg|RMS) time +Min time +Max time\s*$", re.MULTILINE
)
_ROW = re.compile(r"^(Copy|Scale|Add|Triad): +(\S+) +(\S+) +(\S+) +(\S+)\s*$", re.MULTILINE)
_VALID = re.compile(r"^Solution Validates", re.MULTILINE)
_INVALID = re.compile(r"^(Failed Validation on .*|.*AvgRelAbsErr > Epsilon.*)$", re.MULTILINE)
#: Arrays that each loop reads or writes.
_ARRAYS = {"Copy": 2, "Scale": 2, "Add": 3, "Triad": 3}

METRICS: Mapping[str, Metric] = dict.fromkeys(("triad", "copy", "scale", "add"), BANDWIDTH)


def read(text: str) -> Iterable[Reading]:
    """Return the trial with the four rates of a launch."""
    array = _ARRAY.search(text)
    params: dict[str, Scalar] = {}
    if array is not None:
        params["elements"] = int(array[1])
        if array[2] and int(array[2]):
            params["offset"] = int(array[2])
    ranks_line = _RANKS.search(text)
    ranks = int(ranks_line[1]) if ranks_line else 1
    threads_lines = _THREADS.findall(text)
    threads = int(threads_lines[-1]) if threads_lines else 1
    yield Reading(
        probe="stream",
        title="the STREAM bandwidth",
        layer=Layer.MEMORY,
        metrics=METRICS,
        params=params,
        ranks=ranks,
        threads=threads,
        outcome=outcome_of(METRICS, partial(_samples, text)),
    )


def _samples(text: str) -> Iterable[Sample]:
    invalid = _INVALID.search(text)
    if invalid is not None:
        raise ParseError(f"STREAM found its results wrong: {invalid[1].strip()[:100]}")
    if _TITLES.search(text) is None or _VALID.search(text) is None:
        check_whole(text)
        raise ParseError(
            "the output is truncated: the table of rates or the check of the results is missing"
        )
    array = _ARRAY.search(text)
    element = _ELEMENT.search(text)
    if array is None or element is None:
        raise ParseError("the size of the arrays is missing")
    rows = _ROW.findall(text)
    if [row[0] for row in rows] != list(_ARRAYS):
        raise ParseError("the rows are not Copy, Scale, Add and Triad, in this order")
    array_bytes = int(array[1]) * int(element[1])
    for name, *fields in rows:
        moved_bytes = _ARRAYS[name] * array_bytes
        yield Sample(name.lower(), _checked_rate(name, fields, moved_bytes))


def _checked_rate(name: str, fields: list[str], moved_bytes: int) -> float:
    """Return a loop's rate in B/s, after a check with its shortest time and the bytes moved."""
    titles = ("rate", "mean time", "shortest time", "longest time")
    values = [number(text, f"{name}: {title}") for text, title in zip(fields, titles, strict=True)]
    rate, mean_s, least_s, most_s = values
    slack_s = 1.01 * rounding(fields[2])
    if not least_s - slack_s <= mean_s <= most_s + slack_s:
        raise ParseError(f"{name}: mean, shortest and longest time contradict each other")
    if rate <= 0 or least_s <= 0:
        raise ParseError(f"{name}: a rate or time of 0 is not a valid measurement")
    low = moved_bytes / (least_s + slack_s)
    high = moved_bytes / max(least_s - slack_s, 1e-12)
    slack = 1.01e6 * rounding(fields[0])
    if not low - slack <= rate * 1e6 <= high + slack:
        raise ParseError(f"{name}: the rate contradicts the time and the size of the arrays")
    return rate * 1e6


IMPORTER = Importer(
    name="stream",
    title="STREAM 5.x",
    sniff=holding(TITLE),
    starts=starts_at(_BEGIN, inside=_ELEMENT, last=_TITLES),
    parse=read,
    facts=version_in("import.stream", TITLE),
)
