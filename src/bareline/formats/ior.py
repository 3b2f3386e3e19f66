"""The reader of IOR, 3.2 to 4.x: write and read bandwidths of each test of a launch.

The repetitions of ``-i`` run in one launch, so the value of a trial is their median.

References
----------
H. Shan and J. Shalf, "Using IOR to analyze the I/O performance for HPC platforms", Cray User
Group, 2007.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean, median

from bareline.formats.ends import death_caveat
from bareline.formats.importer import Importer, holding, moment_in, starts_at, version_in
from bareline.formats.reading import BANDWIDTH, LATENCY, Reading, as_detail, outcome_of, unread
from bareline.formats.settings import Settings
from bareline.formats.table import (
    check_last_line,
    check_whole,
    number,
    rounding,
    split_before,
)
from bareline.vocabulary.errors import ParseError, UsageError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar
from bareline.vocabulary.units import parse_size

_MIB = 1 << 20
_START = re.compile(r"^IOR-(\d+\.\d+\S*): MPI Coordinated Test of Parallel I/O", re.MULTILINE)
_TEST = re.compile(r"^TestID +: ", re.MULTILINE)
_OPTION = re.compile(r"^([a-zA-Z][\w ]{2,20}?) *: (.*)$", re.MULTILINE)
_BEGAN = re.compile(r"^Began +: +(.*)$", re.MULTILINE)
_TITLES = re.compile(r"^access +bw\(MiB/s\).*$", re.MULTILINE)
_ROW = re.compile(r"^(write|read) +(\S.*?) *$", re.MULTILINE)
_SUMMARY = re.compile(r"^Summary of all tests:$", re.MULTILINE)
_FINISHED = re.compile(r"^Finished +: .*\d\n", re.MULTILINE)
_OPTIONS_BEGIN = re.compile(r"^Options: *$", re.MULTILINE)
_OLD = re.compile(r"^IOR-((?:2|3\.[01])\.\S+): ", re.MULTILINE)
#: Files that were shorter than expected: IOR prints the amount that was really moved.
_ACTUAL = re.compile(r"Using actual aggregate bytes moved *= *(\d{1,20})")
#: Options of a test; one that is not listed belongs to the case.
_SETTINGS = Settings(
    results=frozenset(("aggregate filesize",)),
    labels=frozenset(
        (
            *("test filename", "apiVersion", "clients per node", "repetitions", "verbose"),
            *("Machine", "TestID", "StartTime", "Path", "FS", "Task offset", "remove file"),
        )
    ),
    # The number of tasks is that of the ranks.
    names={
        "ordering in a file": "order",
        "ordering inter file": "order_between_files",
        "xfersize": "transfer_bytes",
        "blocksize": "block_bytes",
        "stonewallingTime": "stonewall_s",
        "stonewallingWearOut": "stonewall_wear_out",
    },
)
_SIZES = ("xfersize", "blocksize")
_NEEDED = ("api", "access", "tasks", "repetitions", "xfersize", "blocksize", "aggregate filesize")
_METRICS: Mapping[str, Metric] = {
    "bandwidth": BANDWIDTH,
    "bandwidth_min": as_detail(BANDWIDTH),
    "bandwidth_max": as_detail(BANDWIDTH),
    "open_time": as_detail(LATENCY),
    "close_time": as_detail(LATENCY),
}


def read(text: str) -> Iterable[Reading]:
    """Return the trials of every test of a launch; a summary of all tests follows the last one."""
    tests = split_before(_TEST, text)
    if len(tests) > 1:
        tests = [tests[0] + tests[1], *tests[2:]] if not _TEST.search(tests[0]) else tests
    command = dict(_OPTION.findall(text)).get("Command line", "")
    for test in tests:
        yield from _test(test, text, command.split())


def _test(test: str, text: str, command: Sequence[str]) -> Iterable[Reading]:
    options = _options_of(test)
    try:
        caveats = _check_launch(text)
        params, ranks = _case(options, command)
        rows = _rows(test)
    except ParseError as error:
        yield _reading("write", {}, unread(error))
        return
    for way in dict.fromkeys(name for name, _ in rows):
        cells = [row for name, row in rows if name == way]
        read = partial(_samples, cells, options, text, way)
        reading = _reading(way, params, outcome_of(_METRICS, read), ranks)
        yield replace(
            reading,
            caveats=(*reading.caveats, *caveats),
            ignored=_SETTINGS.ignored(options),
        )


def _check_launch(text: str) -> tuple[str, ...]:
    """Return the caveats of a launch.

    Raises ParseError: the launch did not finish, or another version printed the output.
    """
    old = _OLD.search(text)
    if old:
        raise ParseError(f"IOR {old[1]} prints another format; bareline reads IOR 3.2 and later")
    check_last_line(text)
    if not _FINISHED.search(text):
        check_whole(text)
        raise ParseError("IOR did not finish, or the output is truncated")
    return death_caveat(text)


def _options_of(test: str) -> dict[str, str]:
    """Return the options of a test, which are printed between its title and its results."""
    begin = _OPTIONS_BEGIN.search(test)
    end = _TITLES.search(test)
    first = begin.end() if begin else 0
    last = end.start() if end else len(test)
    return {key: value.strip() for key, value in _OPTION.findall(test[first:last])}


def _case(options: Mapping[str, str], command: Sequence[str]) -> tuple[dict[str, Scalar], int]:
    missing = [name for name in _NEEDED if name not in options]
    if missing:
        raise ParseError(f"the option '{missing[0]}' is missing")
    given = {name: _setting(name, value) for name, value in options.items()}
    params = _SETTINGS.case({key: value for key, value in given.items() if key != "tasks"})
    params = {key: value for key, value in params.items() if value != ""}
    flags = "".join(word[1:] for word in command if re.fullmatch(r"-[A-Za-z]+", word))
    params["fsync"] = "e" in flags
    params["direct"] = any("odirect" in word.lower() or "O_DIRECT=1" in word for word in command)
    return params, _whole(options["tasks"], "tasks")


def _setting(name: str, text: str) -> Scalar:
    """Return the value of an option: a size in bytes, an integer, or its text."""
    if name in _SIZES:
        return _size(text, name)
    if text.isdecimal() and len(text) < 16:
        return int(text)
    return text


def _size(text: str, subject: str) -> int:
    try:
        return parse_size(text.removesuffix(" bytes"))
    except UsageError as error:
        raise ParseError(f"{subject}: '{text}' is not a size") from error


def _whole(text: str, subject: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", text):
        raise ParseError(f"{subject}: '{text}' is not a number")
    return int(text)


def _rows(test: str) -> list[tuple[str, dict[str, str]]]:
    titles = _TITLES.search(test)
    if titles is None:
        raise ParseError("there are no results")
    names = titles[0].split()
    summary = _SUMMARY.search(test)
    end = summary.start() if summary else len(test)
    rows = []
    for match in _ROW.finditer(test, titles.end(), end):
        cells = match[2].split()
        if len(cells) != len(names) - 1:
            raise ParseError(
                f"the row of {match[1]} has another number of columns than there are titles"
            )
        rows.append((match[1], dict(zip(names[1:], cells, strict=True))))
    if not rows:
        raise ParseError("the results have no row: the test did not end")
    return rows


def _samples(
    rows: Sequence[Mapping[str, str]], options: Mapping[str, str], text: str, way: str
) -> Iterable[Sample]:
    start = _SUMMARY.search(text)
    if start is None:
        raise ParseError("there is no summary: IOR did not finish")
    summaries = re.findall(rf"^{way} +(.*)$", text[start.end() :], re.MULTILINE)
    repetitions = _whole(options["repetitions"], "repetitions")
    if [row.get("iter") for row in rows] != list(map(str, range(repetitions))):
        raise ParseError("the numbers of rows and of repetitions differ")
    amounts = _amounts(options, text)
    figures = [_bandwidth(row, amounts, options) for row in rows]
    rates = [rate for rate, _ in figures]
    off = max(slack for _, slack in figures)
    ends = (max(rates), min(rates), fmean(rates))
    if not any(_alike(summary, ends, off) for summary in summaries):
        raise ParseError("the summary does not match the results")
    yield Sample("bandwidth", median(rates) * _MIB)
    yield Sample("bandwidth_min", min(rates) * _MIB)
    yield Sample("bandwidth_max", max(rates) * _MIB)
    for name in ("open", "close"):
        times_s = [number(row.get(f"{name}(s)", ""), f"{name}(s)") for row in rows]
        yield Sample(f"{name}_time", median(times_s))


def _amounts(options: Mapping[str, str], text: str) -> list[tuple[float, float]]:
    """Return the possible numbers of bytes of a row, each with its possible deviation.

    IOR prints the amount with two decimals; the exact amount follows from tasks, segments and block
    size. If files were shorter, IOR prints the amount that was really transferred.
    """
    printed = options["aggregate filesize"]
    amount = _size(printed, "aggregate filesize")
    figure = printed.split()[0]
    off = amount * rounding(figure) / max(number(figure, "aggregate filesize"), 1e-9)
    segments = options.get("segments", "1")
    exact = _whole(options["tasks"], "tasks") * _size(options["blocksize"], "blocksize")
    exact *= int(segments) if segments.isdecimal() else 1
    amounts = [(float(exact), 0.0)] if abs(exact - amount) <= off else [(float(amount), off)]
    return amounts + [(float(actual), 0.0) for actual in _ACTUAL.findall(text)]


def _bandwidth(
    row: Mapping[str, str], amounts: Sequence[tuple[float, float]], options: Mapping[str, str]
) -> tuple[float, float]:
    """Return a row's bandwidth in MiB/s and its rounding error, after a check with its time."""
    text = row.get("bw(MiB/s)", "")
    total = row.get("total(s)", "")
    rate = number(text, "bw(MiB/s)")
    time_s = number(total, "total(s)")
    if not rate or not time_s:
        raise ParseError("nothing was transferred")
    slack = rounding(text) / rate + rounding(total) / time_s + 1e-3
    # Stonewalling ends a test before all is moved: only the summary has the real amount.
    stonewalled = int(options.get("stonewallingTime", "0") or 0) > 0
    agrees = any(
        abs(rate * _MIB * time_s / amount - 1) <= slack + off / amount for amount, off in amounts
    )
    if not stonewalled and not agrees:
        raise ParseError("bandwidth, size and time contradict each other")
    return rate, rounding(text)


def _alike(summary: str, ends: Sequence[float], off: float) -> bool:
    figures = [number(cell, "summary") for cell in summary.split()[:3]]
    return len(figures) == 3 and all(
        abs(figure - end) <= off + 0.006 for figure, end in zip(figures, ends, strict=True)
    )


def _reading(
    way: str, params: Mapping[str, Scalar], outcome: Measured | Failed, ranks: int = 0
) -> Reading:
    activity = "reading" if way == "read" else "writing"
    caveats = () if params.get("direct") else ("page-cache",)
    return Reading(
        probe=f"ior.{way}",
        title=f"{activity} (IOR)",
        layer=Layer.IO,
        metrics=_METRICS,
        params=params,
        ranks=ranks,
        caveats=caveats,
        outcome=outcome,
    )


IMPORTER = Importer(
    name="ior",
    title="IOR 3.2 to 4.x",
    sniff=holding(_START),
    starts=starts_at(_START),
    parse=read,
    started=moment_in(_BEGAN, "%a %b %d %H:%M:%S %Y"),
    facts=version_in("import.ior", _START),
)
