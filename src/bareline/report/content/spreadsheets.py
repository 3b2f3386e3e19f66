"""Tables as CSV in which a spreadsheet executes nothing.

A spreadsheet may treat a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end as a
formula. Titles and names come from runs, which may be from an unknown source. So an apostrophe is
put before a text that begins with such a character. A number is not changed, with or without a unit
(``-5``, ``-3 %``).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import IO

import polars as pl

from bareline.vocabulary.sanitize import cleaned

_FORMULA = r"(?s)^[=+\-@\t\r\n]."
_NUMBER = r"^[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?: ?%| ?[A-Za-z]{1,6})?$"
#: The characters that `cleaned` replaces, for Polars' regular expressions without half characters.
_UNFIT = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{061c}\x{200e}\x{200f}\x{202a}-\x{202e}"
    r"\x{2066}-\x{2069}\x{fdd0}-\x{fdef}\x{fffe}\x{ffff}]"
)


def harmless_cell(value: object) -> object:
    """Return the cell of a CSV file, without control characters and never a formula."""
    if not isinstance(value, str):
        return value
    is_formula = re.match(_FORMULA, value) and not re.match(_NUMBER, value)
    return f"'{cleaned(value)}" if is_formula else cleaned(value)


def csv_of_rows(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV whose cells are not formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([harmless_cell(cell) for cell in row])
    return text.getvalue()


def write_table(table: pl.DataFrame, file: IO[bytes]) -> None:
    """Write a table as CSV whose cells and column names are not formulas."""
    texts = table.select(pl.col(pl.String, pl.Categorical)).columns
    cells = (_harmless(pl.col(name).cast(pl.String)).alias(name) for name in texts)
    harmless = table.with_columns(cells)
    names = {name: str(harmless_cell(name)) for name in table.columns}
    harmless.rename(names).write_csv(file)


def _harmless(cells: pl.Expr) -> pl.Expr:
    printable = cells.str.replace_all(_UNFIT, "\ufffd")
    is_formula = cells.str.contains(_FORMULA) & ~cells.str.contains(_NUMBER)
    quoted = pl.concat_str(pl.lit("'"), printable)
    return pl.when(is_formula).then(quoted).otherwise(printable)
