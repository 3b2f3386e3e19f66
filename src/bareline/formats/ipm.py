"""The reader of IPM 2.x's banner at the end of a program: time, and MPI's part of the time.

A launch has a table of the whole program and of each region that the program marked. IPM prints
sums over ranks as times of calls; the reader returns means over ranks.

References
----------
D. Skinner, "Performance monitoring of parallel scientific applications", LBNL-PUB-5503, 2005.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.formats.damage import Omission
from bareline.formats.ends import death_caveat
from bareline.formats.foreign import plain_command
from bareline.formats.importer import Importer, holding, moment_in, starts_at, version_in
from bareline.formats.reading import UNKNOWN_RANKS, Reading, as_detail, outcome_of, unread
from bareline.formats.table import NumberedLine, integer, number, number_lines
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar

TITLE = re.compile(r"^##IPMv(?P<version>2[\w.]*)#+[ \r]*$", re.MULTILINE)
_COMMAND = re.compile(r"^# command   : (\S.*)$", re.MULTILINE)
_START = re.compile(r"^# start     : (\w{3} \w{3} \d{2} \d\d:\d\d:\d\d \d{4})\b", re.MULTILINE)
_WALL = re.compile(r"^# stop      : .*\bwallclock : (\S+) *$", re.MULTILINE)
_TASKS = re.compile(
    r"^# mpi_tasks : (\d{1,9}) on (\d{1,9}) nodes +%comm     : (\S+) *$", re.MULTILINE
)
_THREADS = re.compile(r"^# omp_thrds : (\d{1,9})\b", re.MULTILINE)
#: The last line that occurs only once in the output of a launch.
_MEMORY = re.compile(r"^# mem \[GB\]  : .*\bgflop/sec :", re.MULTILINE)
_RULE = re.compile(r"#{20,}\s*")
_REGION = re.compile(r"# region    :'(.*)'\s*")
_TITLES = re.compile(r"#           : +\[total\] +<avg> +min +max\s*")
_ROW = re.compile(r"# (\S[^:]{0,20}?) *: +(\S+) +(\S+) +(\S+) +(\S+)\s*")
_CALL_TITLES = re.compile(r"# +\[time\] +\[count\] +<%wall>\s*")
_CALL = re.compile(r"# (\w{1,40}) +(\S+) +(\S+) +(\S+)\s*")
_TWO_DECIMALS = re.compile(r"\d{1,15}\.\d{2}")
#: IPM prints seconds, GiB and shares with two decimals.
_OFF = 0.0051
_GIB = float(1 << 30)

_TIME = Metric("s", "lower")
#: Two metrics for each row of a table: the mean and the maximum over the ranks.
_ROWS: Mapping[str, tuple[str, str]] = {
    "wallclock": ("time_mean", "time"),
    "MPI": ("mpi_time", "mpi_time_max"),
    "OMP": ("omp_time", "omp_time_max"),
    "I/O": ("io_time", "io_time_max"),
}
_FIRST: Mapping[str, Metric] = {"time": _TIME}


@dataclass(frozen=True, slots=True)
class _Launch:
    """The head of a banner.

    - `wall_text`: the printed time of the slowest rank.
    """

    ranks: int
    params: Mapping[str, Scalar]
    threads: int
    wall_text: str
    comm_text: str


@dataclass(frozen=True, slots=True)
class _Figures:
    """A row of a table, in the row's unit: total, mean, least and greatest value of the ranks."""

    total: float
    mean: float
    least: float
    most: float


def read(text: str) -> Iterable[Reading]:
    """Return the trials of the program's table and of its regions' tables."""
    try:
        launch = _head(text)
        tables = _tables(text)
    except ParseError as error:
        yield _reading(None, {}, _FIRST, unread(error))
        return
    for position, lines in enumerate(tables):
        yield _table(text, launch, lines, is_program=not position)


def _head(text: str) -> _Launch:
    command = _COMMAND.search(text)
    tasks = _TASKS.search(text)
    wall = _WALL.search(text)
    if command is None or tasks is None or wall is None:
        raise ParseError("the banner has no command, mpi_tasks or wallclock: lines are missing")
    ranks = integer(tasks[1], "mpi_tasks")
    if not ranks:
        raise ParseError("mpi_tasks is 0, but must be above 0")
    threads = _THREADS.search(text)
    params: dict[str, Scalar] = {
        "command": plain_command(command[1]),
        "nodes": integer(tasks[2], "nodes"),
    }
    threads_of_rank = max(1, integer(threads[1], "omp_thrds")) if threads else 1
    return _Launch(ranks, params, threads_of_rank, wall[1], tasks[3])


def _tables(text: str) -> list[list[NumberedLine]]:
    """Return the lines of each table of a banner; a line of # ends each table.

    Raises ParseError: there is no table, or the last table has no end.
    """
    tables: list[list[NumberedLine]] = []
    lines: list[NumberedLine] = []
    for line in number_lines(text):
        if _RULE.fullmatch(line.text):
            if any(_TITLES.fullmatch(each.text) for each in lines):
                tables.append(lines)
            lines = []
        elif line.text.startswith("#"):
            lines.append(line)
    if any(_TITLES.fullmatch(each.text) for each in lines):
        raise ParseError("the banner is truncated: a table has no end")
    if not tables:
        raise ParseError("the output is truncated: no table follows the banner")
    return tables


def _table(
    text: str, launch: _Launch, lines: Sequence[NumberedLine], *, is_program: bool
) -> Reading:
    """Return the trial of a table: of the whole program, or of a region."""
    params = dict(launch.params)
    named = [match for line in lines if (match := _REGION.fullmatch(line.text))]
    expected_names = 0 if is_program else 1
    if named and not is_program:
        params["region"] = named[0][1]
    left_out: list[Omission] = []
    try:
        if len(named) != expected_names:
            raise ParseError(
                "only the first table may be without a region: it is the table of the whole program"
            )
        rows = _rows(lines, launch.ranks, left_out)
        if is_program:
            _check_head(launch, rows)
        samples = list(_samples(rows))
        samples += _calls(lines, launch.ranks, rows["wallclock"].total, left_out)
    except ParseError as error:
        return _reading(launch, params, _FIRST, unread(error))
    metrics = {sample.metric: _metric(sample.metric) for sample in samples}
    outcome = outcome_of(metrics, lambda: samples, left_out)
    reading = _reading(launch, params, metrics, outcome)
    return replace(reading, left_out=tuple(left_out), caveats=death_caveat(text))


def _metric(name: str) -> Metric:
    if name == "mpi_share":
        return Metric("%", "lower")
    if name == "memory":
        return as_detail(Metric("B", "lower"))
    return _TIME if name in ("time", "mpi_time") else as_detail(_TIME)


def _rows(
    lines: Sequence[NumberedLine], ranks: int, left_out: list[Omission]
) -> dict[str, _Figures]:
    """Return the undamaged rows of times by name.

    Raises ParseError: the time of the program is missing or damaged.
    """
    rows: dict[str, _Figures] = {}
    begun = False
    for line in lines:
        begun = begun or _TITLES.fullmatch(line.text) is not None
        match = _ROW.fullmatch(line.text)
        if begun and match is not None and match[1] in (*_ROWS, "mem [GB]"):
            _add_row(rows, match, line, ranks, left_out)
    if "wallclock" not in rows or rows["wallclock"].total <= 0:
        raise ParseError("there is no measured wallclock")
    if "MPI" not in rows and not left_out:
        left_out.append(Omission("the table has no row of MPI", lost=False))
    return rows


def _add_row(
    rows: dict[str, _Figures],
    match: re.Match[str],
    line: NumberedLine,
    ranks: int,
    left_out: list[Omission],
) -> None:
    """Add a row, or leave it out if it is damaged or repeated.

    Raises ParseError: the damaged row is the wallclock time.
    """
    name, *texts = match.groups()
    try:
        if name in rows:
            raise ParseError(f"the row '{name}' appears twice")
        rows[name] = _figures(name, texts, ranks)
    except ParseError as error:
        if name == "wallclock":
            raise ParseError(f"line {line.number}: {error}") from error
        rows.pop(name, None)
        left_out.append(Omission(str(error), line.number))


def _figures(name: str, texts: Sequence[str], ranks: int) -> _Figures:
    """Return the values of a row, after a check that the values agree with each other.

    Raises ParseError: the values contradict each other, or one is not a number with two decimals.
    """
    for text in texts:
        if not _TWO_DECIMALS.fullmatch(text):
            raise ParseError(f"{name}: '{text[:40]}' is not a number with two decimals")
    row = _Figures(*(float(text) for text in texts))
    if not row.least - _OFF <= row.mean <= row.most + _OFF:
        raise ParseError(f"{name}: the mean is not between min and max")
    if abs(row.total - ranks * row.mean) > _OFF * (ranks + 1):
        raise ParseError(
            f"{name}: the total is not the mean multiplied by the number of ranks ({ranks})"
        )
    return row


def _check_head(launch: _Launch, rows: Mapping[str, _Figures]) -> None:
    """Check that the program's table agrees with the head of the banner.

    Raises ParseError: table and head contradict each other.
    """
    wall = rows["wallclock"]
    if number(launch.wall_text, "wallclock") != wall.most:
        raise ParseError(
            "the wallclock in the banner's head differs from the wallclock in its table"
        )
    mpi = rows.get("MPI")
    if mpi is not None:
        share = number(launch.comm_text, "%comm")
        _check_share("%comm", share, mpi.total, wall.total)


def _check_share(name: str, percent: float, part_s: float, whole_s: float) -> None:
    low = 100 * max(0.0, part_s - _OFF) / (whole_s + _OFF)
    high = 100 * (part_s + _OFF) / max(whole_s - _OFF, 1e-9)
    if not low - _OFF <= percent <= high + _OFF:
        raise ParseError(f"{name}: {percent:g} % contradicts the times of the table")


def _samples(rows: Mapping[str, _Figures]) -> Iterable[Sample]:
    for name, (mean_name, most_name) in _ROWS.items():
        if name in rows:
            yield Sample(most_name, rows[name].most)
            yield Sample(mean_name, rows[name].mean)
    if "MPI" in rows:
        yield Sample("mpi_share", 100 * rows["MPI"].total / rows["wallclock"].total)
    if "mem [GB]" in rows:
        yield Sample("memory", rows["mem [GB]"].total * _GIB)


def _calls(
    lines: Sequence[NumberedLine], ranks: int, whole_s: float, left_out: list[Omission]
) -> list[Sample]:
    """Return the time of each function that the banner lists, as a mean over ranks."""
    samples: dict[str, Sample] = {}
    begun = False
    for line in lines:
        if not begun:
            begun = _CALL_TITLES.fullmatch(line.text) is not None
            continue
        match = _CALL.fullmatch(line.text)
        if match is None:
            continue
        name, *texts = match.groups()
        try:
            time_s = _call_time(name, texts, whole_s)
        except ParseError as error:
            left_out.append(Omission(str(error), line.number))
            continue
        if name in samples:
            left_out.append(Omission(f"{name} appears twice", line.number))
            continue
        samples[name] = Sample("call_time", time_s / ranks, {"call": name})
    return list(samples.values())


def _call_time(name: str, texts: Sequence[str], whole_s: float) -> float:
    time_text, count_text, share_text = texts
    integer(count_text, f"{name}: count")
    for text in (time_text, share_text):
        if not _TWO_DECIMALS.fullmatch(text):
            raise ParseError(f"{name}: '{text[:40]}' is not a number with two decimals")
    _check_share(name, float(share_text), float(time_text), whole_s)
    return float(time_text)


def _reading(
    launch: _Launch | None,
    params: Mapping[str, Scalar],
    metrics: Mapping[str, Metric],
    outcome: Measured | Failed,
) -> Reading:
    ranks = launch.ranks if launch else UNKNOWN_RANKS
    threads = launch.threads if launch else 1
    return Reading(
        probe="ipm.program",
        title="the time of a program (IPM)",
        layer=Layer.APP,
        metrics=metrics,
        params=params,
        ranks=ranks,
        threads=threads,
        outcome=outcome,
    )


IMPORTER = Importer(
    name="ipm",
    title="IPM 2.x, its banner",
    sniff=holding(TITLE, _TASKS),
    starts=starts_at(TITLE, inside=_COMMAND, last=_MEMORY),
    parse=read,
    started=moment_in(_START, "%a %b %d %H:%M:%S %Y"),
    facts=version_in("import.ipm", TITLE),
)
