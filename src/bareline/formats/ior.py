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
from bareline.formats.rounded import Rounded
from bareline.formats.settings import Settings
from bareline.formats.table import (
    check_last_line,
    check_whole,
    number,
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
#: If files were shorter than expected, IOR prints the amount that was really moved.
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
    # The option with the number of tasks is the number of ranks.
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
    """Return the trials of every test of a launch."""
    tests = split_before(_TEST, text)
    if len(tests) > 1 and not _TEST.search(tests[0]):
        tests[:2] = [tests[0] + tests[1]]
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
        raise ParseError(f"IOR's list of options lacks '{missing[0]}'")
    given = {name: _setting(name, value) for name, value in options.items()}
    del given["tasks"]
    params = {key: value for key, value in _SETTINGS.case(given).items() if value != ""}
    flags = [word for word in command if re.fullmatch(r"-[A-Za-z]+", word)]
    params["fsync"] = any("e" in flag for flag in flags)
    params["direct"] = any(map(_requests_direct, command))
    return params, _whole(options["tasks"], "tasks")


def _requests_direct(word: str) -> bool:
    return "odirect" in word.lower() or "O_DIRECT=1" in word


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
                f"the row of '{match[1]}' has {len(cells) + 1} columns, but there are"
                f" {len(names)} titles"
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
        raise ParseError(
            f"the results do not have one row of '{way}' for each of the {repetitions} repetitions"
        )
    bandwidths = _bandwidths(rows, options, text)
    rates = [bandwidth.value for bandwidth in bandwidths]
    off = max(bandwidth.off for bandwidth in bandwidths)
    expected = (max(rates), min(rates), fmean(rates))
    if not any(_is_summary(summary, expected, off) for summary in summaries):
        raise ParseError(f"the summary of '{way}' does not match the results")
    yield Sample("bandwidth", median(rates) * _MIB)
    yield Sample("bandwidth_min", min(rates) * _MIB)
    yield Sample("bandwidth_max", max(rates) * _MIB)
    for name in ("open", "close"):
        times_s = [number(row.get(f"{name}(s)", ""), f"{name}(s)") for row in rows]
        yield Sample(f"{name}_time", median(times_s))


def _bandwidths(
    rows: Iterable[Mapping[str, str]], options: Mapping[str, str], text: str
) -> list[Rounded]:
    """Return the bandwidth of each row in MiB/s, and check that it agrees with the row's time."""
    amounts = _amounts(options, text)
    # Stonewalling ends a test before all data is moved; only the summary has the real amount.
    stonewalled = int(options.get("stonewallingTime", "0") or 0) > 0
    bandwidths: list[Rounded] = []
    for row in rows:
        bandwidth = Rounded.of(row.get("bw(MiB/s)", ""), "bw(MiB/s)")
        time_s = Rounded.of(row.get("total(s)", ""), "total(s)")
        if not bandwidth.value or not time_s.value:
            raise ParseError("nothing was transferred")
        if not stonewalled and not _agree(bandwidth, time_s, amounts):
            raise ParseError("bandwidth, size and time contradict each other")
        bandwidths.append(bandwidth)
    return bandwidths


def _amounts(options: Mapping[str, str], text: str) -> list[Rounded]:
    """Return the possible numbers of bytes of a row.

    IOR prints the amount with two decimals; the exact amount follows from tasks, segments and block
    size. If files were shorter, IOR prints the amount that was really transferred.
    """
    name = "aggregate filesize"
    amount = _size(options[name], name)
    figure = Rounded.of(options[name].split()[0], name)
    off = amount * figure.off / max(figure.value, 1e-9)
    exact = _whole(options["tasks"], "tasks") * _size(options["blocksize"], "blocksize")
    segments = options.get("segments", "1")
    if segments.isdecimal():
        exact *= int(segments)
    amounts = [Rounded(float(amount), off)]
    if abs(exact - amount) <= off:
        amounts = [Rounded(float(exact))]
    amounts += (Rounded(float(actual)) for actual in _ACTUAL.findall(text))
    return amounts


def _agree(bandwidth: Rounded, time_s: Rounded, amounts: Iterable[Rounded]) -> bool:
    """Return whether a row's bandwidth in MiB/s times its time is one of the amounts."""
    moved_bytes = bandwidth.value * _MIB * time_s.value
    off_share = bandwidth.off_share + time_s.off_share + 1e-3
    return any(
        abs(moved_bytes / amount.value - 1) <= off_share + amount.off_share for amount in amounts
    )


def _is_summary(summary: str, expected: Sequence[float], off: float) -> bool:
    figures = [number(cell, "summary") for cell in summary.split()[:3]]
    if len(figures) != len(expected):
        return False
    pairs = zip(figures, expected, strict=True)
    return all(abs(figure - value) <= off + 0.006 for figure, value in pairs)


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
