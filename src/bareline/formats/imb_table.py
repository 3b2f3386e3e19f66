"""The tables of the Intel MPI Benchmarks: their columns, and consistency checks of rows.

Until 2017, a Mbyte was 2^20 bytes, later 10^6 bytes. The sizes and times of a table show which of
the two applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from bareline.formats.damage import Omission
from bareline.formats.reading import (
    BANDWIDTH,
    CONTEXT,
    LATENCY,
    MESSAGE_RATE,
    OVERLAP,
    Column,
    as_detail,
    metrics_of,
)
from bareline.formats.table import (
    PrintedTable,
    check_ascending,
    check_sizes,
    quotient_range,
    rounding,
    sieve,
    sieve_sizes,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Metric, Sample, Scalar

#: First year that counts a Mbyte as 10^6 bytes.
DECIMAL_SINCE = 2018
_MEGA = (1e6, float(1 << 20))

_COLUMNS: Mapping[str, Column] = {
    "t[usec]": ("latency", LATENCY, 1e-6),
    "t_avg[usec]": ("latency", LATENCY, 1e-6),
    "t_min[usec]": ("latency_min", as_detail(LATENCY), 1e-6),
    "t_max[usec]": ("latency_max", as_detail(LATENCY), 1e-6),
    "t_pure[usec]": ("latency", LATENCY, 1e-6),
    "t_ovrl[usec]": ("overall", as_detail(LATENCY), 1e-6),
    "t_CPU[usec]": ("compute", CONTEXT, 1e-6),
    "overlap[%]": ("overlap", OVERLAP, 1.0),
    "Mbytes/sec": ("bandwidth", BANDWIDTH, 1e6),
    "Msg/sec": ("message_rate", as_detail(MESSAGE_RATE), 1.0),
}
#: Number of decimals of every time, rate and share in IMB's tables.
_DECIMALS = 2
PLAIN = ("Group", "#bytes", "#repetitions", "defects")
_RATES = ("Uniband", "Biband")
#: Messages that a process sends and receives per iteration, by which IMB scales Mbytes/sec.
_FACTORS = (1.0, 2.0, 4.0)
#: Benchmarks that read and write files, of which IMB counts the bytes of one process.
_FILES = ("S_", "P_", "C_")
_FACTOR = {"PingPong": 1.0, "PingPing": 1.0, "Sendrecv": 2.0, "Exchange": 4.0}


@dataclass(frozen=True, slots=True)
class ImbLaunch:
    """Properties of a launch that apply to all its tables.

    - `free_sizes`: whether the user chose the message sizes, which then need not double.
    - `largest_bytes`: the largest size of every table; None if unknown.
    - `any_after_zero`: whether the user chose the size that follows 0 (``-msglog``).
    """

    year: int
    free_sizes: bool
    largest_bytes: int | None
    any_after_zero: bool = False


def expected_metrics(name: str) -> dict[str, Metric]:
    """Return the main metric of a benchmark, for a table whose column titles are missing."""
    return {"bandwidth": BANDWIDTH} if name in _RATES else {"latency": LATENCY}


def table_metrics(columns: Sequence[str]) -> dict[str, Metric]:
    """Return the metrics of the columns, the main one first.

    Raises ParseError: a title is unknown or appears twice, or no column is a main metric.
    """
    if not columns:
        raise ParseError("there is no line of column titles: the output is truncated")
    unknown = [title for title in columns if title not in PLAIN and title not in _COLUMNS]
    if unknown:
        raise ParseError(f"unknown column title '{unknown[0]}'")
    if len(set(columns)) < len(columns):
        raise ParseError("a column title appears twice")
    measured = [_COLUMNS[title] for title in columns if title not in PLAIN]
    return metrics_of(measured, "there is no column of time or Mbytes/sec")


def samples_of(
    table: PrintedTable, name: str, launch: ImbLaunch, left_out: list[Omission], *, cut: bool
) -> Iterator[Sample]:
    """Yield the values of a benchmark's table.

    - `cut`: whether the benchmark printed that it ended before the largest size.

    Raises ParseError: rows are missing, or their values contradict each other.
    """
    table = sieve(table, _check_row, left_out)
    if "#bytes" in table.titles and "Group" not in table.titles:
        table = sieve_sizes(
            table,
            "#bytes",
            left_out,
            doubling=not launch.free_sizes,
            any_after_zero=launch.any_after_zero,
        )
    if "defects" in table.titles and any(table.numbers("defects")):
        raise ParseError("the benchmark found its results wrong (column defects)")
    caveats = _ends(table, launch, cut)
    mega, table = _mega(table, name, launch.year, left_out)
    points = _points_of(table)
    for title in table.titles:
        if title not in PLAIN:
            for measured in _column_samples(table, title, mega, points, left_out):
                yield replace(measured, caveats=caveats)


def _points_of(table: PrintedTable) -> list[dict[str, Scalar]]:
    """Return the parameters of each row: message size and group of processes."""
    points: list[dict[str, Scalar]] = [{} for _ in table.rows]
    for title, key in (("#bytes", "size_bytes"), ("Group", "group")):
        if title in table.titles:
            for point, number in zip(points, table.integers(title), strict=True):
                point[key] = number
    return points


def _column_samples(
    table: PrintedTable,
    title: str,
    mega: float,
    points: Sequence[dict[str, Scalar]],
    left_out: list[Omission],
) -> Iterator[Sample]:
    """Yield the values of a column.

    - `mega`: the number of bytes of a Mbyte.
    """
    measured, metric, scale = _COLUMNS[title]
    scale = mega if title == "Mbytes/sec" else scale
    decimals = 0 if title == "Msg/sec" else _DECIMALS
    values = table.numbers(title, decimals=decimals)
    for value, point, line in zip(values, points, table.lines, strict=True):
        if title == "Mbytes/sec" and point.get("size_bytes") == 0:
            continue  # no bytes, no bandwidth
        if value == 0 and not metric.detail and metric.unit != "%":
            # A rate of 0.00 may be a rounded low rate, but no real time rounds to 0.00.
            lost = metric.unit == "s"
            reason = f"{title} = 0 is not a valid measurement"
            left_out.append(Omission(reason, line.number, lost))
            continue
        yield Sample(measured, value * scale, point)


def _check_row(row: PrintedTable) -> None:
    """Check that the cells of a row are numbers that do not contradict each other."""
    row.integers("#repetitions")
    for title in ("#bytes", "Group"):
        if title in row.titles:
            row.integers(title)
    for title in row.titles:
        if title not in PLAIN:
            decimals = 0 if title == "Msg/sec" else _DECIMALS
            row.numbers(title, decimals=decimals)
    check_ascending(row, ("t_min[usec]", "t_avg[usec]", "t_max[usec]"))
    _check_overlap(row)


def _ends(table: PrintedTable, launch: ImbLaunch, cut: bool) -> tuple[str, ...]:
    if "#bytes" not in table.titles:
        return ()
    sizes = table.integers("#bytes")
    if "Group" in table.titles:
        sizes = sorted(set(sizes))
        check_sizes(sizes, doubling=not launch.free_sizes)
    if cut:
        return ("cut",)
    largest = launch.largest_bytes
    if largest is not None and not launch.free_sizes and sizes[-1] < largest:
        raise ParseError(
            f"the sizes end at {sizes[-1]} instead of {largest} bytes: the output is truncated"
        )
    return ()


def _check_overlap(table: PrintedTable) -> None:
    """Check that the printed overlaps agree with the times.

    IMB divides the overlap by the longer of two times (communication, computation) since 2018, and
    by the shorter time before 2018.
    """
    titles = ("t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]")
    if not set(titles) <= set(table.titles):
        return
    together, pure, compute, overlap = (table.numbers(title) for title in titles)
    for line, *times, percent in zip(table.lines, together, pure, compute, overlap, strict=True):
        both_us, pure_us, compute_us = times
        hidden_us = pure_us + compute_us - both_us
        ranges = (quotient_range(hidden_us, base_us, 0.0152) for base_us in (pure_us, compute_us))
        if not any(
            100 * min(1.0, least) - 0.006 <= percent <= 100 * min(1.0, most) + 0.006
            for least, most in ranges
        ):
            raise ParseError(f"line {line.number}: overlap contradicts the times")


def _mega(
    table: PrintedTable, name: str, year: int, left_out: list[Omission]
) -> tuple[float, PrintedTable]:
    """Return the number of bytes of a Mbyte, and the rows whose columns agree with it.

    Raises ParseError: with either number of bytes, the columns contradict each other in most rows.
    """
    if "Mbytes/sec" not in table.titles or "#bytes" not in table.titles:
        if name in _FACTOR:
            raise ParseError(f"the table of {name} has no columns '#bytes' and 'Mbytes/sec'")
        return _MEGA[0], table
    timed = _time_column(table)
    megas = _MEGA if year >= DECIMAL_SINCE else _MEGA[::-1]  # the usual one first
    tries = [
        (mega, _contradictions(table, timed, mega, factor))
        for mega, factor in product(megas, _message_factors(name, timed))
    ]
    mega, wrong = min(tries, key=lambda pair: len(pair[1]))
    problem = f"Mbytes/sec contradicts {timed or 'Msg/sec'} and #bytes"
    numbers = [table.lines[position].number for position in wrong]
    if 2 * len(wrong) >= len(table.rows):
        raise ParseError(f"line {numbers[0]}: {problem}")
    left_out += [Omission(f"line {number}: {problem}", number) for number in numbers]
    return mega, table.only(
        position for position in range(len(table.rows)) if position not in wrong
    )


def _time_column(table: PrintedTable) -> str | None:
    """Return the time column that must agree with the rates; None if no such column exists."""
    if "Msg/sec" in table.titles:
        # IMB-P2P averages times and rates over ranks separately: only the two rates agree.
        return None
    return next((title for title in ("t_max[usec]", "t[usec]") if title in table.titles), None)


def _message_factors(name: str, timed: str | None) -> tuple[float, ...]:
    """Return the numbers of messages that a benchmark may count in its rate."""
    if timed is None:
        return (1.0,)
    if name in _FACTOR:
        return (_FACTOR[name],)
    return (1.0,) if name.startswith(_FILES) else _FACTORS


def _contradictions(
    table: PrintedTable, timed: str | None, mega: float, factor: float
) -> list[int]:
    """Return the indices of rows in which size, bandwidth and a third value contradict each other.

    - `timed`: the column of a time, which is the third value. With None, the third value is the
      message rate.
    """
    sizes = table.integers("#bytes")
    rates = table.column("Mbytes/sec")
    others = table.column(timed or "Msg/sec")
    wrong = []
    rows = zip(sizes, rates, others, strict=True)
    for position, (size, rate_text, other_text) in enumerate(rows):
        rate = float(rate_text)
        slack = 1.01 * rounding(rate_text)
        off = 1.01 * rounding(other_text)
        least = float(other_text) - off
        most = float(other_text) + off
        scale = size * factor / mega
        if timed:
            low = scale * 1e6 / most
            high = scale * 1e6 / least if least > 0 else float("inf")
        else:
            low = scale * least
            high = scale * most
        if not low - slack <= rate <= high + slack:
            wrong.append(position)
    return wrong
