"""OSU micro-benchmarks, 5.x to 7.x.

Versions and options differ in the titles of the columns, never in their meaning, so the titles
alone say what a column is.

References
----------
The Ohio State University, "OSU Micro-Benchmarks", http://mvapich.cse.ohio-state.edu/benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from bareline.formats.importer import Importer, holding, version_in
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
from bareline.formats.table import (
    NumberedLine,
    PrintedTable,
    check_ascending,
    check_sizes,
    check_whole,
    integer,
    number,
    number_lines,
    quotient_range,
    read_table,
    rounding,
    split_before,
    split_titles,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Sample, Scalar
from bareline.vocabulary.units import format_size

TITLE = re.compile(
    r"^#\s*OSU MPI(?P<function>_\w+)?(?P<accelerator>-(?:CUDA|OPENACC|ROCM|CXL|MANAGED)\b)?"
    r"(?: MANAGED)? +(?P<test>.+?) Test(?: Test)?(?P<persistent> Persistent)?"
    r"(?: v(?P<version>\S+))?\s*$",
    re.MULTILINE,
)
_MS = r"(\d{1,15})(?: ms)?"
_INIT = re.compile(rf"^nprocs: (\d{{1,9}}), min: {_MS}, max: {_MS}, avg: {_MS}$", re.MULTILINE)
#: What osu_init of 5.3 and before prints, without a title.
_UNTITLED = re.compile(r"^nprocs: \d{1,9}, min: ", re.MULTILINE)

#: By titles without their spaces.
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
#: OSU prints so many of every measured value.
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
_PAIRS = re.compile(r"\[ pairs: (\d{1,9}) \](?: \[ window size: (\w{1,9}) \])?")
_BUFFERS = re.compile(
    r"(?:Send Buffer|Rank 0 Memory) on .*?\((\w+)\) and (?:Receive Buffer|Rank 1 Memory)"
    r" on .*?\((\w+)\)"
)
_SETTINGS = {
    "Window creation": "window_creation",
    "Synchronization": "synchronization",
    "Datatype": "datatype",
}


@dataclass(slots=True)
class _Block:
    params: dict[str, Scalar]
    ranks: int
    header: NumberedLine | None = None
    lines: list[NumberedLine] = field(default_factory=list)


def read(text: str) -> Iterable[Reading]:
    """Read the tables of one launch; there are several where several datatypes were asked."""
    match = TITLE.search(text)
    if match is None and not _UNTITLED.search(text):
        raise ParseError("there is no title of an OSU benchmark")
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
            if block.header is not None:
                yield block
                block = _Block(dict(params), block.ranks)
            block.header = line
            block.params = dict(params)
        elif line.text.startswith("#"):
            block.ranks = _setting(line.text, params) or block.ranks
        elif block.header is not None:
            block.lines.append(line)
    if block.header is None:
        block.params = dict(params)
    yield block


def _setting(comment: str, params: dict[str, Scalar]) -> int:
    """Take up a comment's setting; gives the number of ranks where it says that."""
    pairs = _PAIRS.search(comment)
    if pairs:
        if pairs[2]:
            window = pairs[2]
            params["window"] = int(window) if window.isascii() and window.isdecimal() else window
        return 2 * int(pairs[1])
    buffers = _BUFFERS.search(comment)
    if buffers:
        params["buffers"] = f"{buffers[1]}-{buffers[2]}"
    key, colon, value = comment.lstrip("# ").partition(":")
    if colon and key in _SETTINGS:
        params[_SETTINGS[key]] = value.strip().rstrip(".")
    return 0


def _imported(block: _Block, text: str, program: OsuProgram, words: str) -> Reading:
    usual = "MPI_FLOAT" if program.reduction else "MPI_CHAR"
    if block.params.get("datatype") == usual:
        del block.params["datatype"]  # 5.x uses it without saying so
    made = partial(
        Reading,
        probe=f"osu.{program.name}",
        title=f"{words} (osu_{program.name})",
        layer=Layer.MPI,
        params=block.params,
        ranks=block.ranks,
    )
    try:
        columns = _columns(block.header)
        metrics = metrics_of(
            [_column(title) for title in columns if title not in _PLAIN],
            "there is no column of latency or bandwidth",
        )
    except ParseError as error:
        rate = program.name.endswith("bw") or program.name == "mbw_mr"
        headline = {"bandwidth": BANDWIDTH} if rate else {"latency": LATENCY}
        return made(metrics=headline, outcome=unread(error))

    def read() -> Iterable[Sample]:
        check_whole(text)
        if program.pairs and not block.ranks:
            raise ParseError("the line with the number of pairs is missing")
        return _samples(read_table(columns, block.lines), program)

    return made(metrics=metrics, outcome=outcome_of(metrics, read))


def _columns(header: NumberedLine | None) -> list[str]:
    if header is None:
        raise ParseError("there is no line of column titles: the output is truncated")
    found = split_titles(header.text.lstrip("# "), _HEADER, f"line {header.number}: ")
    columns = ["".join(title.split()) for title in found]
    if len(set(columns)) < len(columns):
        raise ParseError(f"line {header.number}: a column title appears twice")
    return columns


def _column(title: str) -> Column:
    tail = _TAIL.fullmatch(title)
    if tail is None:
        return _COLUMNS[title]
    of = "AvgLatency(us)" if tail[2].startswith("Lat") else "Bandwidth(MB/s)"
    name, metric, scale = _COLUMNS[of]
    return f"{name}_p{tail[1].replace('.', '_')}", as_detail(metric), scale


def _samples(table: PrintedTable, program: OsuProgram) -> Iterator[Sample]:
    if "Validation" in table.titles and set(table.column("Validation")) != {"Pass"}:
        raise ParseError("the benchmark found its results wrong (column Validation)")
    for title in ("Iterations", "TransmitSize"):
        if title in table.titles:
            table.integers(title)
    points: list[dict[str, Scalar]] = [{}]
    caveats: tuple[str, ...] = ()
    if "Size" in table.titles:
        sizes = table.integers("Size")
        check_sizes(sizes, doubling=True)
        points = [{"size_bytes": size} for size in sizes]
        if program.largest_bytes and sizes[-1] < program.largest_bytes:
            ends = f"{format_size(sizes[-1])} instead of {format_size(program.largest_bytes)}"
            caveats = (f"the output ends at {ends}: so asked, or truncated",)
    elif len(table.rows) != 1:
        raise ParseError(f"{len(table.rows)} rows without message sizes instead of one")
    _check_order(table)
    _check_rates(table)
    _check_overlap(table)
    for title in table.titles:
        if title in _PLAIN:
            continue
        name, metric, scale = _column(title)
        for value, point in zip(table.numbers(title, decimals=_DECIMALS), points, strict=True):
            if value == 0 and not metric.detail and metric.unit != "%":
                raise ParseError(f"{title} = 0 is no measured value")
            yield Sample(name, value * scale, point, caveats)


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
        # What is not hidden; two of the three times are rounded in the numerator.
        least, most = quotient_range(whole_us - compute_us, pure_us, 0.0102)
        low, high = max(0.0, 100 - 100 * most), max(0.0, 100 - 100 * least)
        if not low - 0.006 <= percent <= high + 0.006:
            raise ParseError(f"line {line.number}: Overlap contradicts the times")


def _init(text: str) -> Reading:
    detail = as_detail(LATENCY)
    metrics = {"time": LATENCY, "time_min": detail, "time_max": detail}
    match = _INIT.search(text)

    def read() -> Iterable[Sample]:
        check_whole(text)
        if match is None:
            raise ParseError("the line with nprocs, min, max and avg is missing")
        low, high, mean = (number(part, "osu_init") for part in match.groups()[1:])
        if not low <= mean <= high or mean == 0:
            raise ParseError("the average is not between minimum and maximum")
        scaled = zip(metrics, (mean, low, high), strict=True)
        return [Sample(name, value * 1e-3) for name, value in scaled]

    return Reading(
        probe="osu.init",
        title="MPI_Init (osu_init)",
        layer=Layer.MPI,
        metrics=metrics,
        ranks=integer(match[1], "nprocs") if match else UNKNOWN_RANKS,
        outcome=outcome_of(metrics, read),
    )


IMPORTER = Importer(
    name="osu",
    title="OSU micro-benchmarks 5.x to 7.x",
    sniff=holding(TITLE, _UNTITLED),
    launches=lambda text: split_before(TITLE if TITLE.search(text) else _UNTITLED, text),
    parse=read,
    facts=version_in("import.osu", TITLE),
)
