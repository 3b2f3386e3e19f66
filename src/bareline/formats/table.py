"""Printed tables, read by their column titles and held against themselves.

A row that lost or gained a column, a digit or a character is refused: every row must have as many
columns as there are titles, end in the same place as the others, and print each column with the
same number of decimals. Lines of the launcher between the rows are passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bareline.vocabulary.errors import ParseError

#: Longer digits than any of these programs prints; also keeps ``int`` from refusing the text.
_INTEGER = re.compile(r"0|[1-9]\d{0,14}")
_NUMBER = re.compile(r"(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,2})?")
_ROW_START = re.compile(r"[-+.]?\d")
_PADDED = re.compile(r"\S  +\S")

#: What launchers and batch systems print when a job dies.
_DEATH = re.compile(
    r"MPI_ABORT was invoked|exited on signal|BAD TERMINATION|Primary job +terminated"
    r"|non-zero (?:exit|status)|srun: error|slurmstepd: error|CANCELLED AT|DUE TO TIME LIMIT"
    r"|[Ss]egmentation fault|DATA VALIDATION ERROR|Killed\s*$|oom-kill|MPI_ERRORS_ARE_FATAL"
    r"|Fatal error in (?:P?MPI|internal)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a file with its number, from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """The rows of a printed table as texts, every row as long as `titles`."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[NumberedLine, ...]

    def column(self, title: str) -> list[str]:
        """Give a column's texts."""
        at = self.titles.index(title)
        return [row[at] for row in self.rows]

    def integers(self, title: str) -> list[int]:
        """Give a column of whole numbers, or raise ParseError: one is none."""
        return [
            integer(text, f"line {line.number}: {title}")
            for text, line in zip(self.column(title), self.lines, strict=True)
        ]

    def numbers(
        self, title: str, *, uniform: bool = True, decimals: int | None = None
    ) -> list[float]:
        """Give a column of numbers.

        - `uniform`: the program prints all of them with the same number of decimals.
        - `decimals`: that number, where the program always prints so many: points that are lost in
          all rows show, too.

        Raises ParseError: one is no number, or was printed with other decimals than the rest.
        """
        texts = self.column(title)
        usual = decimals
        if usual is None:
            usual = Counter(_decimals(text) for text in texts).most_common(1)[0][0]
        values = []
        for text, line in zip(texts, self.lines, strict=True):
            value = number(text, f"line {line.number}: {title}")
            if uniform and _decimals(text) != usual:
                raise ParseError(f"line {line.number}: '{text}' has not {usual} decimals as usual")
            values.append(value)
        return values


def split_before(title: re.Pattern[str], text: str) -> list[str]:
    """Split a text before every title but the first: what precedes that belongs to it."""
    starts = [match.start() for match in title.finditer(text)]
    return [text[low:high] for low, high in pairwise([0, *starts[1:], len(text)])]


def number_lines(text: str) -> list[NumberedLine]:
    """Split a text into numbered lines."""
    return [NumberedLine(number, line) for number, line in enumerate(text.splitlines(), 1)]


def is_row(text: str) -> bool:
    """Tell whether a line begins like a row of numbers; a launcher's words do not."""
    return _ROW_START.match(text.lstrip()) is not None


def split_titles(text: str, titles: re.Pattern[str], where: str) -> list[str]:
    """Split a line of column titles; they hold spaces, so their words decide.

    Raises ParseError: it holds something else, or a title twice.
    """
    if rest := titles.sub("", text).strip():
        raise ParseError(f"{where}unknown column title '{rest}'")
    columns = titles.findall(text)
    if len(set(columns)) < len(columns):
        raise ParseError(f"{where}a column title appears twice")
    return columns


def read_table(
    titles: Sequence[str], lines: Iterable[NumberedLine], *, aligned: bool = True
) -> PrintedTable:
    """Read the rows under a line of titles.

    - `aligned`: the program right-aligns its last column, so that all rows end in the same place.

    Raises ParseError: there is none, or one has other columns or ends in another place.
    """
    candidates = [line for line in lines if is_row(line.text)]
    rows = []
    for line in candidates:
        row = tuple(line.text.split())
        if len(row) != len(titles):
            raise ParseError(
                f"line {line.number} has {len(row)} columns, but there are {len(titles)} titles"
            )
        rows.append(row)
    if not rows:
        raise ParseError("there is no row under the column titles")
    if aligned:
        _check_edges(candidates)
    return PrintedTable(tuple(titles), tuple(rows), tuple(candidates))


def _check_edges(lines: Sequence[NumberedLine]) -> None:
    if not all(_PADDED.search(line.text) for line in lines):
        return
    ends = Counter(len(line.text.rstrip()) for line in lines)
    usual, count = ends.most_common(1)[0]
    for line in lines:
        if len(line.text.rstrip()) != usual and count > 1:
            raise ParseError(
                f"line {line.number} does not end where the other rows do: a character is lost "
                "or a column shifted"
            )


def check_sizes(sizes: Sequence[int], *, doubling: bool) -> None:
    """Refuse message sizes that do not ascend, or skip one where each doubles the last.

    Raises ParseError: a row is missing, doubled or out of order.
    """
    for before, size in pairwise(sizes):
        if size <= before:
            raise ParseError(f"the size {size} follows {before}: a row is doubled or displaced")
        after_zero = before == 0 and size <= 8 and size & (size - 1) == 0
        if doubling and not after_zero and size != 2 * before:
            raise ParseError(f"the size {size} follows {before}: a row is missing")


def check_ascending(table: PrintedTable, titles: Sequence[str], *, uniform: bool = True) -> None:
    """Refuse rows in which these columns, if a table has all, do not ascend from left to right.

    Raises ParseError: a column shifted or changed places.
    """
    if not set(titles) <= set(table.titles):
        return
    columns = [table.numbers(title, uniform=uniform) for title in titles]
    for line, *values in zip(table.lines, *columns, strict=True):
        if values != sorted(values):
            raise ParseError(f"line {line.number}: {', '.join(titles)} do not ascend")


def check_whole(text: str) -> None:
    """Refuse an output whose last line is torn or whose job died; raises ParseError where it is."""
    match = _DEATH.search(text)
    if match:
        raise ParseError(f"the job died: '{match[0].strip()}'")
    if not text.endswith("\n"):
        raise ParseError(
            "the last line has no end: the output is truncated (if it is not, end it with a "
            "line break)"
        )


def integer(text: str, what: str) -> int:
    """Read a whole number, or raise ParseError: it is none."""
    if not _INTEGER.fullmatch(text):
        raise ParseError(f"{what}: '{text}' is no whole number")
    return int(text)


def number(text: str, what: str) -> float:
    """Read a number that is not negative, or raise ParseError: it is none."""
    if not _NUMBER.fullmatch(text):
        raise ParseError(f"{what}: '{text}' is no number")
    return float(text)


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def quotient_range(numerator: float, denominator: float, off: float) -> tuple[float, float]:
    """Give the least and greatest quotient of two numbers that are each off by up to `off`."""
    least = max(0.0, numerator - off) / (denominator + off)
    if denominator <= off:
        return least, float("inf")
    return least, max(0.0, numerator + off) / (denominator - off)


def rounding(text: str) -> float:
    """Give half a unit of a printed number's last digit: how far it may be off."""
    mantissa, _, exponent = text.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - _decimals(mantissa))
