"""Printed tables, read by their column titles and checked for consistency.

A row that lost or gained a column, a digit or a character is bad. For this check, every row must
have one cell for each title, all rows must end at the same position, and all cells of a column must
have the same number of decimals. Lines of the launcher between the rows are ignored.

By default, one bad row makes the table unreadable. If a reader passes a list for omissions, only
the bad rows are left out. If most rows are bad, the titles do not belong to the rows, and the table
is always unreadable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bareline.formats.damage import Omission
from bareline.formats.ends import death_in
from bareline.vocabulary.errors import ParseError

#: More digits than any of these programs prints, but few enough for ``int``.
_INTEGER = re.compile(r"0|[1-9]\d{0,14}")
_NUMBER = re.compile(r"(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,2})?")
_ROW_START = re.compile(r"[-+.]?\d")
_PADDED = re.compile(r"\S  +\S")

#: Words that may be in a cell of a row; a row with any other word is a launcher's line.
_CELL_WORDS = frozenset(("pass", "fail", "nan", "inf", "infinity"))
_WORD = re.compile(r"[A-Za-z]{3,}")
#: Exit codes: a line below a table with only such a number is the exit code of a command.
_EXIT_CODES = range(256)


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
        """Return the texts of a column."""
        position = self.titles.index(title)
        return [row[position] for row in self.rows]

    def only(self, positions: Iterable[int]) -> PrintedTable:
        """Return the table with only some of its rows, given by their indices from 0."""
        chosen = tuple(positions)
        rows = tuple(self.rows[position] for position in chosen)
        lines = tuple(self.lines[position] for position in chosen)
        return PrintedTable(self.titles, rows, lines)

    def integers(self, title: str) -> list[int]:
        """Return a column of integers.

        Raises ParseError: a cell is not an integer.
        """
        cells = zip(self.column(title), self.lines, strict=True)
        return [integer(text, f"line {line.number}: {title}") for text, line in cells]

    def omission(self, position: int, reason: str, *, lost: bool = True) -> Omission:
        """Return the omission of the row at a position."""
        return Omission(reason, self.lines[position].number, lost=lost)

    def numbers(
        self, title: str, *, uniform: bool = True, decimals: int | None = None
    ) -> list[float]:
        """Return a column of numbers.

        - `uniform`: whether the program prints all numbers with the same number of decimals.
        - `decimals`: the number of decimals, if it is always the same; this also reveals decimal
          points that are lost in all rows.

        Raises ParseError: a cell is not a number, or (with `uniform`) has more or fewer decimals
        than `decimals` or, by default, than most cells.
        """
        texts = self.column(title)
        usual = decimals
        if usual is None:
            usual = Counter(_decimals(text) for text in texts).most_common(1)[0][0]
        values = []
        for text, line in zip(texts, self.lines, strict=True):
            value = number(text, f"line {line.number}: {title}")
            if uniform and _decimals(text) != usual:
                raise ParseError(
                    f"line {line.number}: '{text}' does not have {usual} decimals, which most"
                    " rows have"
                )
            values.append(value)
        return values


def split_before(title: re.Pattern[str], text: str) -> list[str]:
    """Return the parts of a text, split before every title but the first.

    The text before the first title belongs to the first part.
    """
    starts = [match.start() for match in title.finditer(text)]
    return [text[low:high] for low, high in pairwise([0, *starts[1:], len(text)])]


def number_lines(text: str) -> list[NumberedLine]:
    """Return the numbered lines of a text."""
    return [NumberedLine(number, line) for number, line in enumerate(text.splitlines(), 1)]


def is_row(text: str) -> bool:
    """Return whether a line begins like a row of numbers and, unlike a message, has no words."""
    stripped = text.strip()
    if _ROW_START.match(stripped) is None:
        return False
    if stripped.endswith(",") and " " not in stripped:  # a number of a JSON document
        return False
    return all(word.lower() in _CELL_WORDS for word in _WORD.findall(text))


def split_titles(text: str, titles: re.Pattern[str], where: str) -> list[str]:
    """Return the column titles in a line; the pattern `titles` finds them.

    Raises ParseError: the line contains other text, or a title twice.
    """
    if rest := titles.sub("", text).strip():
        raise ParseError(f"{where}unknown column title '{rest}'")
    columns = titles.findall(text)
    if len(set(columns)) < len(columns):
        raise ParseError(f"{where}a column title appears twice")
    return columns


def read_table(
    titles: Sequence[str],
    lines: Iterable[NumberedLine],
    *,
    aligned: bool = True,
    left_out: list[Omission] | None = None,
) -> PrintedTable:
    """Return the rows under a line of titles.

    - `aligned`: whether the program right-aligns its last column, so that all rows end at the same
      position.
    - `left_out`: collects damaged rows; without this list, one damaged row makes the table invalid.

    Raises ParseError: there is no row, or a row (with `left_out`: most rows) has other columns or
    ends at another position.
    """
    candidates = [line for line in lines if is_row(line.text)]
    candidates = _without_exit_codes(candidates, len(titles), left_out)
    rows = tuple(tuple(line.text.split()) for line in candidates)
    table = PrintedTable(tuple(titles), rows, tuple(candidates))
    if not rows:
        raise ParseError("there is no row under the column titles")
    table = sieve(table, _check_width, left_out)
    if aligned:
        table = _with_usual_edges(table, left_out)
    return table


def _without_exit_codes(
    lines: Sequence[NumberedLine], width: int, left_out: list[Omission] | None
) -> list[NumberedLine]:
    """Return the lines of a table without the exit codes that follow it."""
    rows = list(lines)
    while left_out is not None and width > 1 and len(rows) > 1:
        text = rows[-1].text
        if not re.fullmatch(r"\d{1,3}", text) or int(text) not in _EXIT_CODES:
            break
        code = rows.pop()
        left_out.append(Omission("a number behind the table", code.number, lost=False))
    return rows


def _check_width(table: PrintedTable) -> None:
    for line, row in zip(table.lines, table.rows, strict=True):
        if len(row) != len(table.titles):
            raise ParseError(
                f"line {line.number} has {len(row)} columns, but there are {len(table.titles)} "
                "titles"
            )


def _with_usual_edges(table: PrintedTable, left_out: list[Omission] | None) -> PrintedTable:
    if not all(_PADDED.search(line.text) for line in table.lines):
        return table
    ends = Counter(len(line.text.rstrip()) for line in table.lines)
    usual, count = ends.most_common(1)[0]

    def check(row: PrintedTable) -> None:
        for line in row.lines:
            if len(line.text.rstrip()) != usual and count > 1:
                raise ParseError(
                    f"line {line.number} does not end where the other rows do: a character is "
                    "lost or a column shifted"
                )

    return sieve(table, check, left_out)


def sieve(
    table: PrintedTable,
    check: Callable[[PrintedTable], None],
    left_out: list[Omission] | None,
) -> PrintedTable:
    """Return the table without the rows that a check refuses.

    - `check`: gets a table of one row, and raises ParseError if the row is damaged.
    - `left_out`: collects the refused rows; without this list, the error of the first refused row
      is raised.

    Raises ParseError: at least half of the rows are refused. This is the error of the first refused
    row.
    """
    good: list[int] = []
    bad: list[Omission] = []
    first: ParseError | None = None
    for position in range(len(table.rows)):
        try:
            check(table.only((position,)))
        except ParseError as error:
            first = first or error
            bad.append(table.omission(position, str(error)))
        else:
            good.append(position)
    if first is None:
        return table
    if left_out is None or 2 * len(bad) >= len(table.rows):
        raise first
    left_out += bad
    return table.only(good)


def sieve_sizes(
    table: PrintedTable,
    title: str,
    left_out: list[Omission],
    *,
    doubling: bool,
    any_after_zero: bool = False,
) -> PrintedTable:
    """Return the table without rows of repeated sizes; record missing and displaced rows.

    - `doubling`: whether each size is twice the previous size.
    - `any_after_zero`: whether the user chose the size that follows 0.
    """
    table = _without_copies(table, left_out)
    all_sizes = table.integers(title)
    table = _without_repeated_sizes(table, all_sizes, left_out)
    for position, (before, size) in enumerate(pairwise(table.integers(title)), 1):
        if size < before:
            raise ParseError(f"the size {size} follows {before}: a row is displaced")
        if not doubling or _follows(before, size, any_after_zero=any_after_zero):
            continue
        if not any(before < other < size for other in all_sizes):
            reason = f"no row between the sizes {before} and {size}"
            left_out.append(table.omission(position, reason))
    return table


def _without_repeated_sizes(
    table: PrintedTable, sizes: Sequence[int], left_out: list[Omission]
) -> PrintedTable:
    counts = Counter(sizes)
    for size, count in counts.items():
        if count > 1:
            reason = f"{count} different rows of the size {size}"
            left_out.append(table.omission(sizes.index(size), reason))
    places = [position for position, size in enumerate(sizes) if counts[size] == 1]
    if 2 * len(places) <= len(sizes):
        raise ParseError("most sizes appear twice: rows of several tables are mixed")
    return table.only(places)


def _without_copies(table: PrintedTable, left_out: list[Omission]) -> PrintedTable:
    places: list[int] = []
    seen: set[tuple[str, ...]] = set()
    for position, row in enumerate(table.rows):
        if row in seen:
            left_out.append(table.omission(position, "a copy of another row", lost=False))
        else:
            seen.add(row)
            places.append(position)
    return table.only(places)


def _follows(before: int, size: int, *, any_after_zero: bool) -> bool:
    """Return whether a size may follow another size in a table of doubling sizes."""
    if before:
        return size == 2 * before
    power_of_two = size & (size - 1) == 0
    return power_of_two and (size <= 8 or any_after_zero)


def check_sizes(sizes: Sequence[int], *, doubling: bool) -> None:
    """Check that message sizes ascend and, with `doubling`, that no size is missing.

    Raises ParseError: a row is missing, repeated or out of order.
    """
    for before, size in pairwise(sizes):
        if size <= before:
            raise ParseError(f"the size {size} follows {before}: a row is doubled or displaced")
        if doubling and not _follows(before, size, any_after_zero=False):
            raise ParseError(f"the size {size} follows {before}: a row is missing")


def check_ascending(table: PrintedTable, titles: Sequence[str], *, uniform: bool = True) -> None:
    """Check that these columns, if the table has all of them, ascend in each row.

    Raises ParseError: the values of a row do not ascend: a column is shifted or swapped.
    """
    if not set(titles) <= set(table.titles):
        return
    columns = [table.numbers(title, uniform=uniform) for title in titles]
    for line, *values in zip(table.lines, *columns, strict=True):
        if values != sorted(values):
            raise ParseError(f"line {line.number}: {', '.join(titles)} do not ascend")


def check_whole(text: str) -> None:
    """Check that an output's last line is complete and that its job did not die.

    Raises ParseError otherwise.
    """
    death = death_in(text)
    if death is not None:
        raise ParseError(f"the job died: '{death.words}'")
    check_last_line(text)


def check_last_line(text: str) -> None:
    """Check that the last line of an output is complete.

    Raises ParseError otherwise.
    """
    if not text.endswith("\n"):
        raise ParseError(
            "the last line has no end: the output is truncated (if it is not, end it with a "
            "line break)"
        )


def integer(text: str, where: str) -> int:
    """Return the integer in a text.

    Raises ParseError: the text is not an integer.
    """
    if not _INTEGER.fullmatch(text):
        raise ParseError(f"{where}: '{text}' is not a whole number")
    return int(text)


def number(text: str, where: str) -> float:
    """Return the number in a text, which must not be negative.

    Raises ParseError: the text is not a number, or the number is negative.
    """
    if not _NUMBER.fullmatch(text):
        raise ParseError(f"{where}: '{text}' is not a number")
    return float(text)


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def quotient_range(numerator: float, denominator: float, off: float) -> tuple[float, float]:
    """Return the least and greatest quotient of two numbers with an error of up to `off` each."""
    least = max(0.0, numerator - off) / (denominator + off)
    if denominator <= off:
        return least, float("inf")
    return least, max(0.0, numerator + off) / (denominator - off)


def rounding(text: str) -> float:
    """Return the largest rounding error of a printed number: half a unit of its last digit."""
    mantissa, _, exponent = text.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - _decimals(mantissa))
