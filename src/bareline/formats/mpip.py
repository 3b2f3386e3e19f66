"""The reader of mpiP's report: time of a program, MPI's part, and time of each MPI function.

The numbers in the report have three significant digits. Its table of call sites has a row for each
site and rank. The reader returns one time for each function, the sum over its sites and the mean
over ranks, because the numbers of the sites change with the program's code.

References
----------
J. S. Vetter, M. O. McCracken, "Statistical scalability analysis of communication operations in
distributed applications", PPoPP 2001, doi:10.1145/379539.379590.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.formats.damage import Omission
from bareline.formats.ends import death_caveat, death_in
from bareline.formats.foreign import plain_command
from bareline.formats.importer import Importer, holding, moment_in, starts_at, version_in
from bareline.formats.reading import UNKNOWN_RANKS, Reading, as_detail, outcome_of, unread
from bareline.formats.rounded import Rounded
from bareline.formats.table import NumberedLine, integer, number_lines
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar

TITLE = re.compile(r"^@ mpiP[ \r]*$", re.MULTILINE)
_VERSION = re.compile(r"^@ Version +: (?P<version>\d[\w.]*)[ \r]*$", re.MULTILINE)
_COMMAND = re.compile(r"^@ Command +: (\S.*)$", re.MULTILINE)
_START = re.compile(r"^@ Start time +: (\d{4} \d\d \d\d \d\d:\d\d:\d\d)[ \r]*$", re.MULTILINE)
_TASK = re.compile(r"^@ MPI Task Assignment +: (\d{1,9}) (\S{1,255})[ \r]*$", re.MULTILINE)
_SECTION = re.compile(r"@--- (\S.*?) -+[ \r]*")
#: The last line of a whole report.
_END = re.compile(r"^@--- End of Report -+[ \r]*$", re.MULTILINE)
_TIMES = "MPI Time (seconds)"
_SITES = re.compile(r"Callsites: (\d{1,9})")
_SITE_TIMES = re.compile(r"Callsite Time statistics \(all, milliseconds\)(?:: \d{1,9})?")
_TIME_ROW = re.compile(r" *(\d+|\*) +(\S+) +(\S+) +(\S+) *")
_SITE_ROW = re.compile(
    r"([A-Za-z]\w{0,40}) +(\d+) +(\d+|\*) +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) *"
)

_TIME = Metric("s", "lower")
_METRICS: Mapping[str, Metric] = {
    "time": _TIME,
    "mpi_time": _TIME,
    "mpi_time_max": as_detail(_TIME),
    "mpi_share": Metric("%", "lower"),
}
_CALL_TIME: Mapping[str, Metric] = {"call_time": as_detail(_TIME)}


@dataclass(frozen=True, slots=True)
class _RankTimes:
    """A row of the table of times; `rank` is None in the row of the whole program."""

    rank: int | None
    app: Rounded
    mpi: Rounded
    percent: float


@dataclass(frozen=True, slots=True)
class _Site:
    """The calls from one call site by one rank, or, if `rank` is None, by all ranks."""

    call: str
    number: int
    rank: int | None
    count: int
    most: Rounded
    mean: Rounded
    least: Rounded

    @property
    def total_ms(self) -> Rounded:
        """The time of all calls from the site together."""
        return Rounded(self.count * self.mean.value, self.count * self.mean.off)


def _amount(text: str, where: str) -> Rounded:
    """Return a number of three significant digits, or of three decimals.

    Raises ParseError: the text is not such a number.
    """
    amount = Rounded.of(text, where)
    off = amount.off
    if amount.value > 0:  # %g prints 3e+04 for a number between 29950 and 30050.
        first_digit = math.floor(math.log10(amount.value))
        off = min(off, 0.5 * 10.0 ** (first_digit - 2))
    return Rounded(amount.value, 1.01 * off)


def _sum(amounts: Iterable[Rounded]) -> Rounded:
    summands = list(amounts)
    value = math.fsum(amount.value for amount in summands)
    return Rounded(value, math.fsum(amount.off for amount in summands))


def read(text: str) -> Iterable[Reading]:
    """Return the trial of a program's report."""
    command = _COMMAND.search(text)
    params: dict[str, Scalar] = {}
    if command is not None:
        params["command"] = plain_command(command[1])
    nodes = {host for _, host in _TASK.findall(text)}
    if nodes:
        params["nodes"] = len(nodes)
    left_out: list[Omission] = []
    try:
        if command is None:
            raise ParseError("the report names no command: lines are missing")
        if _END.search(text) is None:
            death = death_in(text)
            died = f": the job died: '{death.words}'" if death else ""
            raise ParseError(f"the report has no end: it is truncated{died}")
        sections = _sections(text)
        *ranks, total = _times(sections)
        _check_ranks(text, len(ranks))
        samples = list(_samples(ranks, total))
    except ParseError as error:
        yield _reading(params, UNKNOWN_RANKS, _METRICS, unread(error))
        return
    calls = _calls(sections, len(ranks), total, left_out)
    samples += calls
    metrics = {**_METRICS, **_CALL_TIME} if calls else _METRICS
    outcome = outcome_of(metrics, lambda: samples, left_out)
    reading = _reading(params, len(ranks), metrics, outcome)
    yield replace(reading, left_out=tuple(left_out), caveats=death_caveat(text))


def _sections(text: str) -> dict[str, list[NumberedLine]]:
    """Return the lines of each section, by its title.

    Raises ParseError: two sections have the same title.
    """
    sections: dict[str, list[NumberedLine]] = {}
    lines: list[NumberedLine] = []
    for line in number_lines(text):
        match = _SECTION.fullmatch(line.text)
        if match is None:
            lines.append(line)
            continue
        if match[1] in sections:
            raise ParseError(f"the section '{match[1][:60]}' appears twice")
        lines = []
        sections[match[1]] = lines
    return sections


def _times(sections: Mapping[str, Sequence[NumberedLine]]) -> list[_RankTimes]:
    """Return the rows of times, with the program's row last.

    Raises ParseError: a rank is missing, or the rows contradict each other.
    """
    rows = []
    for line in sections.get(_TIMES, ()):
        match = _TIME_ROW.fullmatch(line.text)
        if match is not None:
            try:
                rows.append(_rank_times(match.groups()))
            except ParseError as error:
                raise ParseError(f"line {line.number}: {error}") from error
    if len(rows) < 2 or [row.rank for row in rows] != [*range(len(rows) - 1), None]:
        raise ParseError(
            "the table of times does not have one row for each rank and a last row for the program"
        )
    *ranks, total = rows
    _check_total("app", total.app, _sum(row.app for row in ranks))
    _check_total("mpi", total.mpi, _sum(row.mpi for row in ranks))
    return rows


def _check_total(name: str, total: Rounded, of_ranks: Rounded) -> None:
    if abs(total.value - of_ranks.value) > total.off + of_ranks.off:
        raise ParseError(
            f"the {name} times of the ranks do not add up to the {name} time of the program"
        )


def _rank_times(texts: Sequence[str]) -> _RankTimes:
    rank, app_text, mpi_text, percent_text = texts
    app = _amount(app_text, "AppTime")
    mpi = _amount(mpi_text, "MPITime")
    percent = _amount(percent_text, "MPI%")
    if app.value <= 0:
        raise ParseError("AppTime is 0, but must be above 0")
    low = 100 * max(0.0, mpi.low) / app.high
    high = 100 * mpi.high / app.low
    if not low - 0.0051 <= percent.value <= high + 0.0051:
        raise ParseError("MPI% contradicts AppTime and MPITime")
    number_of_rank = None if rank == "*" else integer(rank, "Task")
    return _RankTimes(number_of_rank, app, mpi, percent.value)


def _check_ranks(text: str, ranks: int) -> None:
    """Check that the table of times agrees with the list of tasks, if the report has a list."""
    tasks = [int(rank) for rank, _ in _TASK.findall(text)]
    if tasks and tasks != list(range(ranks)):
        raise ParseError(
            f"the report assigns {len(tasks)} tasks to nodes, but its table of times has {ranks}"
            " ranks"
        )


def _samples(ranks: Sequence[_RankTimes], total: _RankTimes) -> Iterable[Sample]:
    yield Sample("time", max(row.app.value for row in ranks))
    yield Sample("mpi_time", math.fsum(row.mpi.value for row in ranks) / len(ranks))
    yield Sample("mpi_time_max", max(row.mpi.value for row in ranks))
    yield Sample("mpi_share", total.percent)


def _calls(
    sections: Mapping[str, Sequence[NumberedLine]],
    ranks: int,
    total: _RankTimes,
    left_out: list[Omission],
) -> list[Sample]:
    """Return the time of each function; empty if the report's sites are incomplete."""
    title = next(filter(_SITE_TIMES.fullmatch, sections), None)
    if title is None:
        left_out.append(Omission("the report has no times of all callsites", lost=False))
        return []
    try:
        sites = _whole_sites(sections, title, total)
    except ParseError as error:
        first_line = sections[title][0].number if sections[title] else 0
        left_out.append(Omission(f"the times of calls: {error}", first_line))
        return []
    sites_of_call: dict[str, list[_Site]] = defaultdict(list)
    for site in sites:
        sites_of_call[site.call].append(site)
    samples: list[Sample] = []
    for call in sorted(sites_of_call):
        total_ms = _sum(site.total_ms for site in sites_of_call[call])
        samples.append(Sample("call_time", total_ms.value / 1e3 / ranks, {"call": call}))
    return samples


def _whole_sites(
    sections: Mapping[str, Sequence[NumberedLine]], title: str, total: _RankTimes
) -> list[_Site]:
    """Return for each call site the row with the sum over all ranks, after a check.

    Raises ParseError: a site is missing or damaged, or the sum of the sites' times is not the
    program's time in MPI.
    """
    rows = [_site(line) for line in sections[title] if _is_site(line)]
    sums = [row for row in rows if row.rank is None]
    listed = next(filter(None, map(_SITES.fullmatch, sections)), None)
    numbers = sorted(site.number for site in sums)
    if numbers != sorted({row.number for row in rows}):
        raise ParseError("each call site needs exactly one row with its sum over all ranks")
    if listed is None or len(numbers) != int(listed[1]):
        raise ParseError("the list of call sites is incomplete")
    ranks_of_site: dict[int, list[_Site]] = defaultdict(list)
    for row in rows:
        if row.rank is not None:
            ranks_of_site[row.number].append(row)
    for site in sums:
        _check_sum(site, ranks_of_site[site.number])
    sum_ms = _sum(site.total_ms for site in sums)
    if abs(sum_ms.value / 1e3 - total.mpi.value) > sum_ms.off / 1e3 + total.mpi.off:
        raise ParseError("the times of all call sites do not add up to the MPITime of the program")
    return sums


def _is_site(line: NumberedLine) -> bool:
    words = line.text.split()
    return len(words) > 1 and words[0] not in ("Name", "Call") and not words[0].startswith("-")


def _site(line: NumberedLine) -> _Site:
    match = _SITE_ROW.fullmatch(line.text)
    if match is None:
        raise ParseError(f"line {line.number} is not a row of a callsite")
    where = f"line {line.number}"
    most, mean, least = (_amount(text, where) for text in match.groups()[4:7])
    if not least.low <= mean.value <= most.high:
        raise ParseError(f"{where}: Max, Mean and Min contradict each other")
    rank = None if match[3] == "*" else integer(match[3], where)
    return _Site(
        call=match[1],
        number=integer(match[2], where),
        rank=rank,
        count=integer(match[4], where),
        most=most,
        mean=mean,
        least=least,
    )


def _check_sum(site: _Site, ranks: Sequence[_Site]) -> None:
    """Check that the row of a site for all ranks agrees with its rows for single ranks.

    A threshold of mpiP may omit rows of single ranks; the times are then not compared.

    Raises ParseError: the rows contradict each other.
    """
    if any(row.call != site.call for row in ranks):
        raise ParseError(f"the call site {site.number} has calls of two functions")
    count = sum(row.count for row in ranks)
    if count > site.count:
        raise ParseError(
            f"the call site {site.number} has {site.count} calls, but its ranks made {count} calls "
            "in total"
        )
    if count < site.count:
        return
    of_ranks = _sum(row.total_ms for row in ranks)
    of_site = site.total_ms
    if abs(of_ranks.value - of_site.value) > of_ranks.off + of_site.off:
        raise ParseError(
            f"the mean of the call site {site.number} contradicts the means of its ranks"
        )


def _reading(
    params: Mapping[str, Scalar],
    ranks: int,
    metrics: Mapping[str, Metric],
    outcome: Measured | Failed,
) -> Reading:
    return Reading(
        probe="mpip.program",
        title="the time of a program (mpiP)",
        layer=Layer.APP,
        metrics=metrics,
        params=params,
        ranks=ranks,
        outcome=outcome,
    )


IMPORTER = Importer(
    name="mpip",
    title="mpiP 2.x and 3.x, its report",
    sniff=holding(TITLE),
    starts=starts_at(TITLE, inside=_COMMAND, last=_END),
    parse=read,
    started=moment_in(_START, "%Y %m %d %H:%M:%S"),
    facts=version_in("import.mpip", _VERSION),
)
