"""The place in a source file where a piece of the program runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

#: The file of a package that keeps the codes of the messages that its places make.
CODES_FILE = "messages.toml"

#: The first line, first column, last line and last column of a piece of source, as Python has them.
Span = tuple[int, int, int, int]


class SourcePlace(NamedTuple):
    """A position in a source file, and the module in this file."""

    module: str
    file: str
    span: Span


def place_of(frame: FrameType) -> SourcePlace | None:
    """Return the place in the source that a frame executes; None if its position is unknown."""
    return _place(frame.f_code, frame.f_lasti, frame.f_globals)


def raise_place(error: BaseException) -> SourcePlace | None:
    """Return the place of the ``raise`` statement of an error; None if it was not raised."""
    trace: TracebackType | None = error.__traceback__
    if trace is None:
        return None
    while trace.tb_next is not None:
        trace = trace.tb_next
    return _place(trace.tb_frame.f_code, trace.tb_lasti, trace.tb_frame.f_globals)


def _place(code: CodeType, instruction: int, variables: Mapping[str, Any]) -> SourcePlace | None:
    # An instruction takes two bytes.
    position = next(islice(code.co_positions(), instruction // 2, None), None)
    if position is None:
        return None
    first_line, last_line, first_column, last_column = position
    if first_line is None or last_line is None or first_column is None or last_column is None:
        return None
    span = (first_line, first_column, last_line, last_column)
    return SourcePlace(str(variables.get("__name__", "")), code.co_filename, span)
