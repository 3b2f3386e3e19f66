"""The reader of the OSU micro-benchmarks, 5.x to 7.x.

Versions and options change the set of column titles, but never the meaning of a title, so a title
alone identifies a column.

References
----------
The Ohio State University, "OSU Micro-Benchmarks", http://mvapich.cse.ohio-state.edu/benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from bareline.formats.damage import Omission
from bareline.formats.ends import death_caveat, death_in
from bareline.formats.foreign import scalar
from bareline.formats.importer import Importer, holding, lost_titles, version_in
from bareline.formats.osu_programs import OsuProgram, program_of, words_of
from bareline.formats.reading import (
    BANDWIDTH,
    CONTEXT,
    LATENCY,
    MESSAGE_RATE,
    OVERLAP,
    UNKNOWN_RANKS,
    Column,
    Reading,
    as_detail,
    metrics_of,
    outcome_of,
    unread,
)
from bareline.formats.settings import Settings
from bareline.formats.table import (
    NumberedLine,
    PrintedTable,
    check_ascending,
    check_last_line,
    integer,
    is_row,
    number,
    number_lines,
    quotient_range,
    read_table,
    rounding,
    sieve,
    sieve_sizes,
    split_titles,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample, Scalar
from bareline.vocabulary.units import format_size

TITLE = re.compile(
    r"^#\s*OSU MPI(?P<function>_\w+)?(?P<accelerator>-(?:CUDA|OPENACC|ROCM|CXL|MANAGED)\b)?"
    r"(?: MANAGED)? +(?P<test>.+?) Test(?: Test)?(?P<persistent> Persistent)?"
    r"(?: v(?P<version>\S+))?\s*$",
    re.MULTILINE,
)
_MS = r"(\d{1,15})(?: ms)?"
_INIT = re.compile(rf"^nprocs: (\d{{1,9}}), min: {_MS}, max: {_MS}, avg: {_MS}$", re.MULTILINE)
#: The output of osu_init of 5.3 and before, without a title.
_UNTITLED = re.compile(r"^nprocs: \d{1,9}, min: ", re.MULTILINE)

#: The columns by their titles, without the spaces in the titles.
_COLUMNS: Mapping[str, Column] = {
    "Latency(us)": ("latency", LATENCY, 1e-6),
    "AvgLatency(us)": ("latency", LATENCY, 1e-6),
    "MinLatency(us)": ("latency_min", as_detail(LATENCY), 1e-6),
    "MaxLatency(us)": ("latency_max", as_detail(LATENCY), 1e-6),
    "PureComm.(us)": ("latency", LATENCY, 1e-6),
    "MinComm.(us)": ("latency_min", as_detail(LATENCY), 1e-6),
    "MaxComm.(us)": ("latency_max", as_detail(LATENCY), 1e-6),
    "Overall(us)": ("overall", as_detail(LATENCY), 1e-6),
    "Compute(us)": ("compute", CONTEXT, 1e-6),
    "Coll.Init(us)": ("call", CONTEXT, 1e-6),
    "MPI_Test(us)": ("test", CONTEXT, 1e-6),
    "MPI_Wait(us)": ("wait", CONTEXT, 1e-6),
    "Overlap(%)": ("overlap", OVERLAP, 1.0),
    "Bandwidth(MB/s)": ("bandwidth", BANDWIDTH, 1e6),
    "MB/s": ("bandwidth", BANDWIDTH, 1e6),
    "Messages/s": ("message_rate", as_detail(MESSAGE_RATE), 1.0),
}
#: Number of decimals of every measured value in OSU's tables.
_DECIMALS = 2
_PLAIN = ("Size", "Iterations", "Validation", "TransmitSize")
_TAIL = re.compile(r"P(\d{1,2}(?:\.\d{1,3})?)Tail(Lat\(us\)|BW\(MB/s\))")
_HEADER = re.compile(
    r"P\d{1,2}(?:\.\d{1,3})? +Tail +(?:Lat ?\(us\)|BW ?\(MB/s\))"
    r"|(?:(?:Avg|Min|Max) +)?Latency ?\(us\)|(?:Pure|Min|Max) +Comm\. ?\(us\)|Coll\. +Init ?\(us\)"
    r"|(?:Overall|Compute|MPI_Test|MPI_Wait) ?\(us\)|Overlap ?\(%\)|Bandwidth ?\(MB/s\)"
    r"|Transmit +Size|Size|MB/s|Messages/s|Iterations|Validation"
)
_HEADER_START = re.compile(
    r"#\s*(?:Size\s|(?:Avg )?Latency ?\(us\)|Overall ?\(us\)|Bandwidth ?\(MB/s\)|MB/s)"
    r"|\s+Overall ?\(us\)"  # 5.x, where there is no size
)
#: Titles of columns above a row; this pattern searches a whole text.
_TABLE = re.compile(rf"^(?:{_HEADER_START.pattern})[^\n]*\n\s*\d", re.MULTILINE)
_PAIRS = re.compile(r"\[ pairs: (\d{1,9}) \](?: \[ window size: (\w{1,9}) \])?")
_BUFFERS = re.compile(
    r"(?:Send Buffer|Rank 0 Memory) on .*?\((\w+)\) and (?:Receive Buffer|Rank 1 Memory)"
    r" on .*?\((\w+)\)"
)
#: A setting above a table: ``# Number of Receiver threads: 2``.
_COMMENT = re.compile(r"#\s*([A-Za-z][A-Za-z ()/_-]{1,40}?)\s*:\s+(\S.*?)[\s.]*$")
#: Comments that precede the title of the launch to which they belong.
_BEFORE_TITLE = re.compile(r"(?:^# *Number of [^\n]*\n\s*)+\Z", re.MULTILINE)
_LONGEST_COMMENTS = 1000
_WRONG_RESULTS = "DATA VALIDATION ERROR"
_SETTINGS = Settings(
    labels=frozenset(("Date", "Time", "Host", "Hostname", "Command", "Command line", "Job")),
    names={
        "Window creation": "window_creation",
        "Synchronization": "synchronization",
        "Datatype": "datatype",
        "Number of Sender threads": "sender_threads",
        "Number of Receiver threads": "receiver_threads",
        "Number of forked processes in sender": "sender_processes",
        "Number of forked processes in receiver": "receiver_processes",
    },
)


@dataclass(slots=True)
class _Block:
    params: dict[str, Scalar]
    ranks: int
    header: NumberedLine | None = None
    lines: list[NumberedLine] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    last: bool = True


def read(text: str) -> Iterable[Reading]:
    """Return the trials of one launch, one for the table of each requested datatype."""
    match = TITLE.search(text)
    if match is None and not _UNTITLED.search(text):
        raise ParseError("the output has no title line of an OSU benchmark")
    if match is None or program_of(match).name == "init":
        yield _init(text)
    else:
        program = program_of(match)
        for block in _blocks(text, program, match["accelerator"]):
            yield _imported(block, text, program, words_of(match))


def _blocks(text: str, program: OsuProgram, accelerator: str | None) -> Iterator[_Block]:
    params: dict[str, Scalar] = {}
    if accelerator:
        params["accelerator"] = accelerator[1:].lower()
    block = _Block(params, program.ranks)
    for line in number_lines(text):
        if _HEADER_START.match(line.text):
            if block.header is not None and _is_begun(block, params):
                block.last = False
                yield block
                block = _Block(dict(params), block.ranks)
            block.header = line
            block.params = dict(params)
        elif line.text.startswith("#"):
            block.ranks = _setting(line.text, params, block.ignored) or block.ranks
        elif block.header is not None:
            block.lines.append(line)
    if block.header is None:
        block.params = dict(params)
    yield block


def _is_begun(block: _Block, params: Mapping[str, Scalar]) -> bool:
    """Return whether a block has rows, or other settings than `params`."""
    return any(is_row(line.text) for line in block.lines) or block.params != params


def _setting(comment: str, params: dict[str, Scalar], ignored: list[str]) -> int:
    """Record the setting in a comment; return the number of ranks, if the comment contains it."""
    pairs = _PAIRS.search(comment)
    if pairs:
        if pairs[2]:
            window = pairs[2]
            params["window"] = int(window) if window.isascii() and window.isdecimal() else window
        return 2 * int(pairs[1])
    buffers = _BUFFERS.search(comment)
    if buffers:
        params["buffers"] = f"{buffers[1]}-{buffers[2]}"
    setting = _COMMENT.match(comment)
    if setting and not buffers:
        given = {setting[1]: scalar(setting[2])}
        params |= _SETTINGS.case(given)
        ignored += _SETTINGS.ignored(given)
    return 0


def _imported(block: _Block, text: str, program: OsuProgram, words: str) -> Reading:
    usual = "MPI_FLOAT" if program.reduction else "MPI_CHAR"
    if block.params.get("datatype") == usual:
        del block.params["datatype"]  # 5.x uses it without saying so
    left_out: list[Omission] = []
    made = partial(
        Reading,
        probe=f"osu.{program.name}",
        title=f"{words} (osu_{program.name})",
        layer=Layer.MPI,
        params=block.params,
        ranks=block.ranks,
        ignored=tuple(block.ignored),
    )
    try:
        columns = _columns(block, left_out)
        measured = [_column(title) for title in columns if _is_measured(title)]
        metrics = metrics_of(measured, "there is no column of latency or bandwidth")
        table = read_table(columns, block.lines, left_out=left_out)
    except ParseError as error:
        reason = ParseError(f"the table cannot be read: {left_out[0]}") if left_out else error
        return made(metrics=_headline(program), outcome=unread(reason))
    block.params |= _derived_datatype(table)

    def read() -> Iterable[Sample]:
        check_last_line(text)
        if _WRONG_RESULTS in text:
            raise ParseError(f"the benchmark found its results wrong ({_WRONG_RESULTS})")
        if program.pairs and not block.ranks:
            raise ParseError("the line with the number of pairs is missing")
        return _samples(table, program, _death_of(block, text), left_out)

    outcome = outcome_of(metrics, read, left_out)
    return made(metrics=metrics, outcome=outcome, left_out=tuple(left_out))


def _headline(program: OsuProgram) -> dict[str, Metric]:
    """Return the main metric of a program whose table cannot be read."""
    if program.name.endswith("bw") or program.name == "mbw_mr":
        return {"bandwidth": BANDWIDTH}
    return {"latency": LATENCY}


def _is_measured(title: str) -> bool:
    """Return whether a column has measured values."""
    return title in _COLUMNS or _TAIL.fullmatch(title) is not None


def _derived_datatype(table: PrintedTable) -> dict[str, Scalar]:
    """Return the sent and the whole size of the largest message of a derived datatype, if any."""
    if "TransmitSize" not in table.titles or "Size" not in table.titles:
        return {}
    return {"derived_datatype": f"{table.column('TransmitSize')[-1]}/{table.column('Size')[-1]}"}


def _death_of(block: _Block, text: str) -> str:
    """Return the message that the job of a block died; "" if another table follows the block."""
    death = death_in(text) if block.last else None
    return death.words if death else ""


def _columns(block: _Block, left_out: list[Omission]) -> list[str]:
    header = block.header
    if header is None:
        raise ParseError("there is no line of column titles: the output is truncated")
    where = f"line {header.number}: "
    try:
        titles = split_titles(header.text.lstrip("# "), _HEADER, where)
    except ParseError as error:
        titles = _spaced_titles(block, header.text)
        if not titles:
            raise
        left_out.append(Omission(str(error), header.number))
    columns = ["".join(title.split()) for title in titles]
    if len(set(columns)) < len(columns):
        raise ParseError(f"{where}a column title appears twice")
    return columns


def _spaced_titles(block: _Block, header: str) -> list[str]:
    """Return column titles that are separated by at least two blanks.

    Return an empty list if no title is known, or if the number of columns differs.
    """
    titles = re.split(r"\s{2,}", header.lstrip("# ").rstrip())
    widths = {len(line.text.split()) for line in block.lines if is_row(line.text)}
    recognised = any(_HEADER.fullmatch(title) for title in titles)
    return titles if recognised and widths == {len(titles)} else []


def _column(title: str) -> Column:
    tail = _TAIL.fullmatch(title)
    if tail is None:
        return _COLUMNS[title]
    column = "AvgLatency(us)" if tail[2].startswith("Lat") else "Bandwidth(MB/s)"
    name, metric, scale = _COLUMNS[column]
    return f"{name}_p{tail[1].replace('.', '_')}", as_detail(metric), scale


def _samples(
    table: PrintedTable, program: OsuProgram, death: str, left_out: list[Omission]
) -> Iterator[Sample]:
    if "Validation" in table.titles and set(table.column("Validation")) != {"Pass"}:
        raise ParseError("the benchmark found its results wrong (column Validation)")
    table = sieve(table, _check_row, left_out)
    points: list[dict[str, Scalar]] = [{}]
    caveats: tuple[str, ...] = ()
    complete = True
    if "Size" in table.titles:
        table = sieve_sizes(table, "Size", left_out, doubling=True)
        sizes = table.integers("Size")
        points = [{"size_bytes": size} for size in sizes]
        complete = program.largest_bytes is not None and sizes[-1] >= program.largest_bytes
        caveats = _end_caveat(sizes[-1], program.largest_bytes)
    elif len(table.rows) != 1:
        raise ParseError(
            f"{len(table.rows)} rows have no message size, but only one row may lack it"
        )
    if death and not complete:
        raise ParseError(f"the job died: '{death}'")
    if death:
        caveats += death_caveat(death)
    for title in filter(_is_measured, table.titles):
        for sample in _column_samples(table, title, points, left_out):
            yield replace(sample, caveats=caveats)


def _end_caveat(last_bytes: int, largest_bytes: int | None) -> tuple[str, ...]:
    """Return the caveat of a table that ends before the largest size of its program."""
    if not largest_bytes or last_bytes >= largest_bytes:
        return ()
    ends = f"{format_size(last_bytes)} instead of {format_size(largest_bytes)}"
    return (f"the output ends at {ends}: so asked, or truncated",)


def _column_samples(
    table: PrintedTable,
    title: str,
    points: Sequence[dict[str, Scalar]],
    left_out: list[Omission],
) -> Iterator[Sample]:
    """Yield the values of a column, without impossible values."""
    name, metric, scale = _column(title)
    values = table.numbers(title, decimals=_DECIMALS)
    for value, point, line in zip(values, points, table.lines, strict=True):
        if value == 0 and not metric.detail and metric.unit != "%":
            # A rate of 0.00 may be a rounded low rate, but no real time rounds to 0.00.
            lost = metric.unit == "s"
            reason = f"{title} = 0 is not a valid measurement"
            left_out.append(Omission(reason, line.number, lost))
            continue
        yield Sample(name, value * scale, point)


def _check_row(row: PrintedTable) -> None:
    """Check that the cells of a row are numbers that do not contradict each other."""
    for title in ("Size", "Iterations", "TransmitSize"):
        if title in row.titles:
            row.integers(title)
    for title in row.titles:
        if _is_measured(title):
            row.numbers(title, decimals=_DECIMALS)
    _check_order(row)
    _check_rates(row)
    _check_overlap(row)


def _check_order(table: PrintedTable) -> None:
    tails = sorted(
        (float(tail[1]), title) for title in table.titles if (tail := _TAIL.fullmatch(title))
    )
    orders = (
        ("MinLatency(us)", "AvgLatency(us)", "MaxLatency(us)"),
        ("MinLatency(us)", "Latency(us)", "MaxLatency(us)"),
        ("MinComm.(us)", "PureComm.(us)", "MaxComm.(us)"),
        tuple(title for _, title in tails),
    )
    for titles in orders:
        check_ascending(table, titles)


def _check_rates(table: PrintedTable) -> None:
    if "Messages/s" not in table.titles or "Size" not in table.titles:
        return
    columns = (table.integers("Size"), table.column("MB/s"), table.column("Messages/s"))
    for line, size, rate, messages in zip(table.lines, *columns, strict=True):
        bandwidth = number(rate, f"line {line.number}: MB/s")
        product = number(messages, f"line {line.number}: Messages/s") * size * 1e-6
        if abs(bandwidth - product) > 1.01 * (rounding(rate) + rounding(messages) * size * 1e-6):
            raise ParseError(f"line {line.number}: MB/s and Messages/s contradict each other")


def _check_overlap(table: PrintedTable) -> None:
    titles = ("Overall(us)", "Compute(us)", "PureComm.(us)", "Overlap(%)")
    if not all(title in table.titles for title in titles):
        return
    overall, compute, pure, overlap = (table.numbers(title) for title in titles)
    for line, *times, percent in zip(table.lines, overall, compute, pure, overlap, strict=True):
        whole_us, compute_us, pure_us = times
        # The part that is not hidden; two of the three times are rounded in the numerator.
        least, most = quotient_range(whole_us - compute_us, pure_us, 0.0102)
        low = max(0.0, 100 - 100 * most)
        high = max(0.0, 100 - 100 * least)
        if not low - 0.006 <= percent <= high + 0.006:
            raise ParseError(f"line {line.number}: Overlap contradicts the times")


def _init(text: str) -> Reading:
    detail = as_detail(LATENCY)
    metrics = {"time": LATENCY, "time_min": detail, "time_max": detail}
    match = _INIT.search(text)

    def read() -> Iterable[Sample]:
        check_last_line(text)
        death = death_in(text)
        if match is None and death is not None:
            raise ParseError(f"the job died: '{death.words}'")
        if match is None:
            raise ParseError("the line with nprocs, min, max and avg is missing")
        low, high, mean = (number(part, "osu_init") for part in match.groups()[1:])
        if not low <= mean <= high or mean == 0:
            raise ParseError("the average is not between minimum and maximum")
        scaled = zip(metrics, (mean, low, high), strict=True)
        caveats = death_caveat(text)
        return [Sample(name, value * 1e-3, {}, caveats) for name, value in scaled]

    ranks = integer(match[1], "nprocs") if match else UNKNOWN_RANKS
    return Reading(
        probe="osu.init",
        title="MPI_Init (osu_init)",
        layer=Layer.MPI,
        metrics=metrics,
        ranks=ranks,
        outcome=outcome_of(metrics, read),
    )


def _starts(text: str) -> Sequence[int]:
    """Return the offsets of launches: at titles, or at comments before titles.

    A table whose title is lost also begins a launch.
    """
    starts: list[int] = []
    titles = list(TITLE.finditer(text))
    after_previous = 0
    for title in titles:
        earliest = max(after_previous, title.start() - _LONGEST_COMMENTS)
        beginning = _BEFORE_TITLE.search(text, earliest, title.start()) or title
        starts.append(beginning.start())
        after_previous = beginning.start() + 1
    untitled = _untitled_starts(text, titles)
    return sorted([*starts, *untitled, *lost_titles(text, TITLE, inside=_TABLE)])


def _untitled_starts(text: str, titles: Sequence[re.Match[str]]) -> Iterator[int]:
    """Yield the offset of each line of osu_init's results whose title is missing."""
    ends = [title.end() for title in titles if program_of(title).name == "init"]
    for line in _UNTITLED.finditer(text):
        if ends and ends[0] < line.start():
            ends.pop(0)
        else:
            yield line.start()


IMPORTER = Importer(
    name="osu",
    title="OSU micro-benchmarks 5.x to 7.x",
    sniff=holding(TITLE, _UNTITLED),
    starts=_starts,
    parse=read,
    facts=version_in("import.osu", TITLE),
)
