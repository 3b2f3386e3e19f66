"""The reader of perftest (``ib_write_bw``, ``ib_send_lat``, ...), 2.x to 6.x.

A MB of perftest is 2^20 bytes, even in versions whose column title is MB instead of MiB. With
``--report_gbits``, perftest prints decimal gigabits. The message rate must agree with the
bandwidth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import dropwhile, takewhile

from bareline.formats.damage import Omission
from bareline.formats.ends import death_caveat
from bareline.formats.foreign import scalar
from bareline.formats.importer import Importer, facts_in, holding, starts_at
from bareline.formats.reading import (
    BANDWIDTH,
    LATENCY,
    MESSAGE_RATE,
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
    is_row,
    number_lines,
    read_table,
    rounding,
    sieve,
    sieve_sizes,
    split_titles,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Sample, Scalar

_TITLE = re.compile(
    r"^ +(?P<verb>RDMA_Write|RDMA_Read|Send|(?:RDMA_)?Atomic\w*|Fetch_And_Add|Compare_And_Swap)"
    r"(?P<both> Bidirectional)?(?P<posts> Post List)? (?P<kind>BW|Latency) Test *$",
    re.MULTILINE,
)
_HEADER = re.compile(r"^ *#bytes +#iterations ", re.MULTILINE)
_PROGRAMS = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send"}
_FACTS = {
    "net.rdma.device": re.compile(r"\bDevice +: (\S+)"),
    "net.rdma.link": re.compile(r"\bLink type +: (\S+)"),
}
#: A setting in the head; a line may contain two settings.
_SETTING = re.compile(r"(?:^|\t)[ \t]*([A-Z][\w. *-]*?[\w*])[ \t]*: (\S+)", re.MULTILINE)
_NO_SETTINGS = frozenset(("GID", "WARNING", "Note"))
_SETTINGS = Settings(
    # The platform, the connection of the two ends, and the requests for completions.
    labels=frozenset(
        (
            *("Device", "Transport type", "Link type", "GID index", "ibv_wr* API"),
            *("PCIe relax order", "Data ex. method", "rdma_cm QPs", "Lock-free"),
        )
    ),
    defaults={
        "Dual-port": ("OFF",),
        "Number of qps": (1,),
        "Using SRQ": ("OFF",),
        "TX depth": (128, 1),
        "RX depth": (512,),
        "CQ Moderation": (1, 100),
        "Max inline data": (0, 220, 236),
        "Outstand reads": (16,),
        "Post List": (1,),
    },
    names={
        "Connection type": "connection",
        "Number of qps": "queue_pairs",
        "Using SRQ": "shared_receive_queue",
        "TX depth": "tx_depth",
        "RX depth": "rx_depth",
        "CQ Moderation": "cq_moderation",
        "Mtu": "mtu_bytes",
        "Max inline data": "inline_bytes",
        "Outstand reads": "outstanding_reads",
        "Post List": "post_list",
    },
)
#: Packet sequence numbers (PSN) are random, so that two launches have different numbers.
_ADDRESS = re.compile(r"^ *(?:local|remote) address: .*PSN 0x\w+.*$", re.MULTILINE)
_RULE = re.compile(r"-{20,}")

_RATES = {"MB/sec": float(1 << 20), "MiB/sec": float(1 << 20), "Gb/sec": 1e9 / 8}
_DETAIL = as_detail(LATENCY)
_COLUMNS: Mapping[str, Column] = {
    **{f"BW peak[{u}]": ("bandwidth_peak", as_detail(BANDWIDTH), n) for u, n in _RATES.items()},
    **{f"BW average[{u}]": ("bandwidth", BANDWIDTH, n) for u, n in _RATES.items()},
    "MsgRate[Mpps]": ("message_rate", as_detail(MESSAGE_RATE), 1e6),
    "t_typical[usec]": ("latency", LATENCY, 1e-6),
    "t_avg[usec]": ("latency_mean", _DETAIL, 1e-6),
    "t_min[usec]": ("latency_min", _DETAIL, 1e-6),
    "t_max[usec]": ("latency_max", _DETAIL, 1e-6),
    "tps average": ("transactions", as_detail(MESSAGE_RATE), 1.0),
    "t_stdev[usec]": ("latency_stdev", _DETAIL, 1e-6),
    "99% percentile[usec]": ("latency_p99", _DETAIL, 1e-6),
    "99.9% percentile[usec]": ("latency_p99_9", _DETAIL, 1e-6),
}
_PLAIN = ("#bytes", "#iterations")
_PERCENTILES = ("99% percentile[usec]", "99.9% percentile[usec]")
_ORDER = ("t_min[usec]", "t_typical[usec]", *_PERCENTILES, "t_max[usec]")
_TITLES = re.compile("|".join(re.escape(title) for title in (*_PLAIN, *_COLUMNS)))


def read(text: str) -> Iterable[Reading]:
    """Return the trial in the table of one test."""
    title = _TITLE.search(text)
    if title is None:
        raise ParseError("there is no title of a perftest program")
    made = _maker(title, _settings_of(text))
    try:
        columns, lines = _table(number_lines(text))
        titles = _value_columns(columns, lines)
        metrics = metrics_of(
            [_column(title, titles) for title in titles],
            "there is no column of average bandwidth, typical or average latency",
        )
    except ParseError as error:
        usual = {"bandwidth": BANDWIDTH} if title["kind"] == "BW" else {"latency": LATENCY}
        yield made(metrics=usual, outcome=unread(error))
        return

    left_out: list[Omission] = []

    def read() -> Iterable[Sample]:
        check_last_line(text)
        caveats = death_caveat(text)  # the table has its end
        table = read_table(columns, lines, aligned=False, left_out=left_out)
        for sample in _samples(table, titles, left_out):
            yield replace(sample, caveats=caveats)

    outcome = outcome_of(metrics, read, left_out)
    yield made(metrics=metrics, outcome=outcome, left_out=tuple(left_out))


def _maker(title: re.Match[str], settings: Mapping[str, str]) -> partial[Reading]:
    """Return a function that makes the result of a test from metrics and an outcome."""
    quantity = "latency"
    ending = "lat"
    if title["kind"] == "BW":
        quantity = "bandwidth"
        ending = "bw"
    verb = _PROGRAMS.get(title["verb"], "atomic")
    program = f"ib_{verb}_{ending}"
    return partial(
        Reading,
        probe=f"perftest.{program}",
        title=f"RDMA {quantity} ({program})",
        layer=Layer.NETWORK,
        params=_params(title, settings),
        ignored=_SETTINGS.ignored(settings),
    )


def _identity(text: str) -> str:
    """Return the lines of addresses, which contain random packet sequence numbers."""
    return "\n".join(_ADDRESS.findall(text))


def _column(title: str, titles: Sequence[str]) -> Column:
    """Return the metric of a column; without a median, the mean is the main metric.

    In a test of fixed duration, perftest prints only the mean latency.
    """
    if title == "t_avg[usec]" and "t_typical[usec]" not in titles:
        return ("latency_mean", LATENCY, 1e-6)
    return _COLUMNS[title]


def _settings_of(text: str) -> dict[str, str]:
    """Return the settings in the head of a test, which precedes the column titles."""
    header = _HEADER.search(text)
    head = text[: header.start()] if header else text
    return {key: value for key, value in _SETTING.findall(head) if key not in _NO_SETTINGS}


def _params(title: re.Match[str], given: Mapping[str, str]) -> dict[str, Scalar]:
    params: dict[str, Scalar] = {}
    if title["verb"] not in _PROGRAMS:
        params["operation"] = title["verb"]
    if title["both"]:
        params["direction"] = "both"
    if title["posts"]:
        params["posts"] = "list"
    # The usual MTU depends on the link type and is not a parameter. A different MTU is a parameter:
    # the user requested it, or the network has jumbo frames.
    usual_mtu = "1024[B]" if given.get("Link type") == "Ethernet" else "4096[B]"
    numbers = {
        key: scalar(value.removesuffix("[B]"))
        for key, value in given.items()
        if (key, value) != ("Mtu", usual_mtu)
    }
    return params | _SETTINGS.case(numbers)


def _table(lines: Sequence[NumberedLine]) -> tuple[list[str], list[NumberedLine]]:
    after = list(dropwhile(lambda line: not _HEADER.match(line.text), lines))
    if not after:
        raise ParseError("there is no line of column titles: the output is truncated")
    header, *lines = after
    columns = split_titles(header.text, _TITLES, f"line {header.number}: ")
    rows = list(takewhile(lambda line: not _RULE.match(line.text.strip()), lines))
    if len(rows) == len(lines):
        raise ParseError("the table has no end: the output is truncated")
    return columns, rows


def _value_columns(columns: Sequence[str], lines: Sequence[NumberedLine]) -> list[str]:
    """Return the columns of values, without a peak bandwidth that is 0.00 in every row.

    In a test of fixed duration, perftest prints 0.00 as peak.
    """
    titles = [title for title in columns if title not in _PLAIN]
    peak = next((title for title in titles if title.startswith("BW peak")), None)
    if peak is not None:
        position = columns.index(peak)
        texts = [line.text.split()[position : position + 1] for line in lines if is_row(line.text)]
        if all(text == ["0.00"] for text in texts):
            titles.remove(peak)
    return titles


def _samples(
    table: PrintedTable, titles: Sequence[str], left_out: list[Omission]
) -> Iterable[Sample]:
    table = sieve(table, _check_row, left_out)
    table = sieve_sizes(table, "#bytes", left_out, doubling=True)
    sizes = table.integers("#bytes")
    for title in titles:
        name, metric, _ = _column(title, titles)
        for row, value in enumerate(_values(table, title, titles, sizes)):
            if value == 0 and title.startswith("BW peak"):
                continue  # below the precision of two decimals
            if value == 0 and not metric.detail:
                lost = metric.unit == "s"
                line = table.lines[row].number
                left_out.append(Omission(f"{title} = 0 is not a valid measurement", line, lost))
                continue
            yield Sample(name, value, {"size_bytes": sizes[row]})


def _values(
    table: PrintedTable, title: str, titles: Sequence[str], sizes: Sequence[int]
) -> list[float]:
    """Return the values of a column in base units."""
    _, _, scale = _column(title, titles)
    values = [printed * scale for printed in table.numbers(title, uniform=False)]
    if title.startswith("BW average") and "MsgRate[Mpps]" in table.titles:
        return _sharpened(values, table.column(title), table.column("MsgRate[Mpps]"), sizes)
    return values


def _sharpened(
    values: Sequence[float], texts: Sequence[str], rates: Sequence[str], sizes: Sequence[int]
) -> list[float]:
    """Return bandwidths in B/s; some are computed from the message rate, which is more precise.

    perftest prints bandwidths with two decimals, so that a small message's bandwidth on a slow
    fabric may be 0.00. Such a bandwidth is replaced by the product of message rate and size, if
    the rate has at least three digits.

    - `values`: the printed bandwidths in B/s.
    - `texts`: the printed bandwidths as texts.
    - `rates`: the printed message rates in millions per second, as texts.
    """
    sharpened = list(values)
    for row, rate in enumerate(rates):
        is_short = float(texts[row]) < 100 * rounding(texts[row])
        if is_short and float(rate) > 100 * rounding(rate):
            sharpened[row] = float(rate) * 1e6 * sizes[row]
    return sharpened


def _check_row(row: PrintedTable) -> None:
    """Check that the cells of a row are numbers that do not contradict each other."""
    row.integers("#bytes")
    row.integers("#iterations")
    for title in row.titles:
        row.numbers(title, uniform=False)
    _check_rates(row)
    check_ascending(row, [name for name in _ORDER if name in row.titles], uniform=False)
    check_ascending(row, ("t_min[usec]", "t_avg[usec]", "t_max[usec]"), uniform=False)


def _check_rates(table: PrintedTable) -> None:
    """Check that each row's bandwidth is the product of its message rate and size."""
    average = next((title for title in table.titles if title.startswith("BW average")), None)
    peak = next((title for title in table.titles if title.startswith("BW peak")), None)
    if average is None:
        return
    means = table.numbers(average, uniform=False)
    if "MsgRate[Mpps]" in table.titles:
        _check_message_rates(table, average)
    if peak is not None:
        peaks = table.numbers(peak, uniform=False)
        for line, highest, value in zip(table.lines, peaks, means, strict=True):
            if highest and highest < 0.99 * value:
                raise ParseError(f"line {line.number}: the peak is below the average")


def _check_message_rates(table: PrintedTable, average: str) -> None:
    """Check that each row's message rate agrees with the bandwidth in the column `average`."""
    rates = table.column("MsgRate[Mpps]")
    table.numbers("MsgRate[Mpps]", uniform=False)
    rows = zip(table.lines, table.integers("#bytes"), table.column(average), rates, strict=True)
    for line, size, mean, rate in rows:
        unit = 1e6 * size / _COLUMNS[average][2]
        slack = rounding(mean) + rounding(rate) * unit
        if abs(float(mean) - float(rate) * unit) > 1.01 * slack + 1e-4 * float(mean):
            raise ParseError(f"line {line.number}: bandwidth and MsgRate contradict each other")


IMPORTER = Importer(
    name="perftest",
    title="perftest (ib_write_bw, ib_write_lat, ...)",
    sniff=holding(_TITLE),
    starts=starts_at(_TITLE, last=_HEADER),
    identity=_identity,
    parse=read,
    facts=facts_in(_FACTS),
)
